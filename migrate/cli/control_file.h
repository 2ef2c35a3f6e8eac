/* control_file — what can be changed while a run goes on. A file beside it says so, one setting a
 * line; what stands behind a '#' is a comment:
 *
 *   max-rcu 500    capacity units a second, or a share of what is provisioned: 50%
 *   max-wcu 25%
 *   pause          nothing more is read or written until the line is gone; the lease is kept
 *   abort          as SIGINT: what is in flight is finished, the same command goes on later
 *
 * What the file does not say is as the options say, so an absent or empty file changes nothing. */
#ifndef MIGRATE_CLI_CONTROL_FILE_H
#define MIGRATE_CLI_CONTROL_FILE_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <stdbool.h>

struct control_settings {
    struct store_limits limits; /* units 0: as the options say */
    bool pauses;
    bool aborts;
};

/* ERROR_USAGE: a line that is no setting, or stands twice; says which line. */
MUST_CHECK bool control_settings_parse(struct str text, struct control_settings *out,
                                       struct error *err);

/* Reads --max-rcu and --max-wcu of a command that has both. ERROR_USAGE. */
MUST_CHECK bool control_limits_read(const struct invocation *invocation, struct store_limits *out,
                                    struct error *err);

/* All borrowed. */
struct control_watch {
    struct invocation *invocation; /* its messages are told, its stop and paused are set */
    struct store *store;
    struct store_limits limits; /* of the options */
    const char *path;           /* --control; NULL: beside the run */
};

struct control_file;

/* Sets the limits, looks at the file, and from now on again whenever it has changed, from a thread
 * of its own. A file that is wrong is told of once, and what held before goes on to hold.
 * ERROR_USAGE: the options' limits do not fit the table. ERROR_STORE: no thread can be made. */
MUST_CHECK bool control_file_open(const struct control_watch *watch, struct control_file **out,
                                  struct error *err);

/* Before the store is closed. NULL is fine. */
void control_file_close(struct control_file *file);

#endif

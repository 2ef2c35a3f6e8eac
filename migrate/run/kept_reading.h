/* kept_reading — how far a reading of a whole table has come that writes nothing to it: the search
 * for collisions, the check before an index. On a server's table it costs hours and capacity; a
 * pass has checkpoints, and this has files in the folder of --state: a manifest, and what the
 * reader sorts. After a kill the same command on the same host goes on from there.
 *
 * Nothing is believed that is not what was written, or was written for anything else. The table
 * itself has a record that the reading has begun, with a number drawn then: it goes with the
 * verdicts, so that files which stayed behind somewhere are never taken for those of a later one.
 */
#ifndef MIGRATE_RUN_KEPT_READING_H
#define MIGRATE_RUN_KEPT_READING_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/scan/scan.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/runner_session.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct kept_purpose {
    const char *what; /* for messages: "the search for collisions"; borrowed, as all of it */
    uint32_t version; /* of the plan */
    struct str hash;
    uint32_t stage;
    uint64_t pass;
    uint32_t segments;
};

/* Of the record's plan, at its stage and pass. */
struct kept_purpose kept_purpose_of(const char *what, const struct runner_session *session,
                                    const struct ledger_record *record);

struct kept_reading;

/* Finds what an attempt before has kept. *out is NULL where nothing is: a table in a file is read
 * in seconds. Then kept_reading_part() says whether there is something to go on with; who cannot,
 * calls kept_reading_begin(). ERROR_STORE: the folder cannot be used, or the table cannot be asked.
 */
MUST_CHECK bool kept_reading_open(const struct runner_session *session,
                                  const struct kept_purpose *purpose, struct kept_reading **out,
                                  struct error *err);
void kept_reading_close(struct kept_reading *kept); /* NULL is fine; the files stay */

/* What was saved with it; NULL: it begins anew. */
const cJSON *kept_reading_part(const struct kept_reading *kept);

/* Begins anew, and says so where there was something: for the reason that was found, or for `why`
 * (NULL: none). To be saved at once, as what was there is gone. */
MUST_CHECK bool kept_reading_begin(struct kept_reading *kept, const char *why, struct error *err);

/* Says that it goes on. */
void kept_reading_say(const struct kept_reading *kept);

/* Of a file beside the manifest that is its own: "….NAME". */
const char *kept_reading_path(const struct kept_reading *kept, const char *name);

/* Any thread; see scan_task.next: segments that are left, from where they were. */
bool kept_reading_next(struct kept_reading *kept, struct scan_turn *out);

/* The committer's thread: the page is read, and what came of it is what is saved next. */
void kept_reading_page(struct kept_reading *kept, const struct scan_page *page);
uint64_t kept_reading_items(const struct kept_reading *kept);
uint32_t kept_reading_segments(const struct kept_reading *kept);

/* True when so much was done since it was saved that it ought to be again; `pages` more were done,
 * or what costs as much. */
bool kept_reading_is_due(struct kept_reading *kept, unsigned pages);

/* Saves it, durably; what `part` tells of must be so before. Takes `part`. ERROR_FULL, ERROR_STORE.
 */
MUST_CHECK bool kept_reading_save(struct kept_reading *kept, cJSON *part, struct error *err);

/* Its end is durable elsewhere: removes the files. */
void kept_reading_forget(const struct runner_session *session, uint32_t version);

#endif

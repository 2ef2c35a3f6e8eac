/* index_progress — shows how far a store is with making an index. One that fills it itself reads
 * the items first: that is a phase of its own. */
#ifndef MIGRATE_CLI_INDEX_PROGRESS_H
#define MIGRATE_CLI_INDEX_PROGRESS_H

#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <stdint.h>

struct index_progress;

/* In the invocation's arena. */
struct index_progress *index_progress_new(struct invocation *invocation);

/* As report_voice(), and with the growth of what index_progress_begin() has named. */
struct store_voice index_progress_voice(struct index_progress *progress);

/* What is made until index_progress_end(), where nothing is shown any more.
 *   what     "index ByN"; borrowed until then
 *   entries  about how many it will have, if the store does not know; 0: nobody does */
void index_progress_begin(struct index_progress *progress, const char *what, uint64_t entries,
                          bool is_estimate);
void index_progress_end(struct index_progress *progress);

#endif

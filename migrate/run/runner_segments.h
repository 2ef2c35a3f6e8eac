/* runner_segments — how far each segment of a pass has come, and which is read next. Where several
 * processes take part, a segment is taken by writing its checkpoint with a greater token than it
 * had: of two who try, one succeeds, and who had it before can write it no more. */
#ifndef MIGRATE_RUN_RUNNER_SEGMENTS_H
#define MIGRATE_RUN_RUNNER_SEGMENTS_H

#include "engine/base/error.h"
#include "engine/scan/scan.h"
#include "migrate/ledger/ledger_checkpoint.h"
#include "migrate/run/runner_session.h"

#include <stdbool.h>
#include <stdint.h>

struct runner_segments;

/* Reads the checkpoints of the run. Where processes share it, the one that leads makes those that
 * are missing; before it has made all, the others have nothing to read.
 *   run  borrowed
 * Fails as checkpoint_read() does; *out is to be closed in any case. */
MUST_CHECK bool runner_segments_open(const struct runner_session *session,
                                     const struct checkpoint_run *run, struct runner_segments **out,
                                     struct error *err);
void runner_segments_close(struct runner_segments *segments);

/* Whether anything is left to read; for the one that leads, also to wait for. */
bool runner_segments_left(const struct runner_segments *segments);

/* Any thread; see scan_task.next. The one that leads waits while others have what is left: they may
 * die, and it has the pass to end. ERROR_STOPPED: asked to stop, and something is left. */
MUST_CHECK bool runner_segments_next(struct runner_segments *segments, struct scan_turn *out,
                                     struct error *err);

/* A worker's thread; see scan_task.advance. The rest of a collection that has filled page after
 * page becomes ranges, which are taken as segments are: the segment goes on behind it. */
MUST_CHECK bool runner_segments_advance(struct runner_segments *segments, struct scan_turn *turn,
                                        struct error *err);

/* After a scan that has not come to its end: reads what others have written. */
MUST_CHECK bool runner_segments_look(struct runner_segments *segments, struct error *err);

/* Numbers of segments and ranges are below this. */
uint32_t runner_segments_count(const struct runner_segments *segments);

/* The checkpoint of a segment or range; the committer's while its segment is being read. After the
 * scan all of them are as they were last seen. */
struct checkpoint *runner_segments_at(struct runner_segments *segments, uint32_t segment);

#endif

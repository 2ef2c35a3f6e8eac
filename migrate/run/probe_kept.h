/* probe_kept — what a probe of a server's table keeps in files, so that a kill costs little: claims
 * with the places that segments have come to, then the holders that were looked up.
 *
 * A probe that is taken up is no weaker than one that took as long without a break. Every probe
 * meets each item as it is at one moment, at another each, and looks holders up later; what others
 * write in between, it does not see. That is why verdicts are obeyed only while what they went by
 * is so (probe_basis()), and why a move finds out by itself what has come under its key since. A
 * break makes that time longer and changes nothing else: nothing of the run itself is written
 * before the verdicts are. */
#ifndef MIGRATE_RUN_PROBE_KEPT_H
#define MIGRATE_RUN_PROBE_KEPT_H

#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/scan/scan.h"
#include "engine/sort/sorter.h"
#include "migrate/run/kept_reading.h"
#include "migrate/run/probe_claims.h"
#include "migrate/run/probe_groups.h"

#include <stdbool.h>
#include <stdint.h>

struct probe_kept;

/* Takes up what was kept, or begins anew.
 *   reading     borrowed
 *   with_items  rules compare attributes of holders
 * ERROR_STORE, ERROR_FULL: the files cannot be written; ERROR_STOPPED. */
MUST_CHECK bool probe_kept_open(struct kept_reading *reading, const struct sorter_options *options,
                                bool with_items, struct probe_kept **out, struct error *err);
void probe_kept_close(struct probe_kept *kept); /* NULL is fine */

/* Where claims go; filled by probe_kept_page(). */
struct sorter *probe_kept_claims(struct probe_kept *kept);

/* See scan_task.next, scan_options.segments. */
bool probe_kept_next(struct probe_kept *kept, struct scan_turn *out);
uint32_t probe_kept_segments(const struct probe_kept *kept);

/* Any thread: a claim, added to the note of its item. */
void probe_kept_note(const struct claim_pair *pair, struct buffer *note);

/* Takes the page's notes, and saves when it is time. After an error nothing more is saved. */
MUST_CHECK bool probe_kept_page(struct probe_kept *kept, const struct scan_page *page,
                                struct error *err);

/* All that was read is saved, or will not be. */
void probe_kept_break_off(struct probe_kept *kept);

/* The table is read. Saves that, and lets the claims be read. */
MUST_CHECK bool probe_kept_turn(struct probe_kept *kept, struct error *err);

/* ---------------------------------------------------------------- holders
 * Of targets in ascending order, from the first: each is either known, or looked up and then told.
 */

MUST_CHECK bool probe_kept_holders_open(struct probe_kept *kept, struct error *err);
void probe_kept_holders_close(struct probe_kept *kept);

/* The order of the last target that is known; empty: none is. */
struct str probe_kept_known(const struct probe_kept *kept);

/* The holder of a target that is known, valid until the next call; *held is false where it is free.
 */
MUST_CHECK bool probe_kept_holder(struct probe_kept *kept, struct str order,
                                  struct probe_holder *out, bool *held, struct error *err);

/* It was looked up; NULL: it is free. */
MUST_CHECK bool probe_kept_tell(struct probe_kept *kept, struct str order,
                                const struct probe_holder *holder, struct error *err);

/* Before many more are looked up: saves, when it is time. */
MUST_CHECK bool probe_kept_rest(struct probe_kept *kept, struct error *err);

#endif

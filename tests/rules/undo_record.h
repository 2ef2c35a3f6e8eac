/* undo_record — the laws of undo, shared by the Check suite and the fuzz target. */
#ifndef TESTS_RULES_UNDO_RECORD_H
#define TESTS_RULES_UNDO_RECORD_H

#include "tests/support/property.h"

#include <stdbool.h>

/* Whatever a write turned into whatever, its record turns back; and a second time does nothing. */
bool rule_undo_restores_the_item(struct draw *draw);

/* Where somebody changed an attribute since, it stays and is counted; the others go back. */
bool rule_undo_leaves_what_was_changed_since(struct draw *draw);

/* Records come out of a frame as they went in; a frame with a changed byte is refused. */
bool rule_undo_frames_keep_their_records(struct draw *draw);

/* Any bytes, and true records with a changed byte, are read or refused as damaged; what is read
 * can be decided. */
bool rule_undo_reads_any_bytes(struct draw *draw);

#endif

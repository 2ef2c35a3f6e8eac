#include "tests/rules/undo_record.h"
#include "tests/support/property.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static property_rule *const rules[] = {rule_undo_reads_any_bytes, rule_undo_restores_the_item,
                                           rule_undo_leaves_what_was_changed_since,
                                           rule_undo_frames_keep_their_records};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct draw draw = {data, size};
        if (!rules[i](&draw)) {
            abort();
        }
    }
    return 0;
}

#include "tests/rules/item_edit.h"
#include "tests/support/property.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static property_rule *const rules[] = {
        rule_edits_at_once_are_edits_in_turn,
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct draw draw = {data, size};
        if (!rules[i](&draw)) {
            abort();
        }
    }
    return 0;
}

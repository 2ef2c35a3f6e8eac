#include "tests/rules/postgres_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static property_rule *const rules[] = {
        rule_any_text_converts_or_is_refused,
        rule_copy_row_comes_back,
        rule_composite_comes_back,
        rule_array_comes_back,
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct draw draw = {data, size};
        if (!rules[i](&draw)) {
            abort();
        }
    }
    return 0;
}

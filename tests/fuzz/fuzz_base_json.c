#include "tests/rules/base_json.h"
#include "tests/rules/base_utf8.h"
#include "tests/support/property.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static property_rule *const rules[] = {
        rule_json_takes_or_refuses_any_bytes,
        rule_json_strings_come_back,
        rule_utf8_prefix_is_valid_and_the_rest_is_not,
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct draw draw = {data, size};
        if (!rules[i](&draw)) {
            abort();
        }
    }
    return 0;
}

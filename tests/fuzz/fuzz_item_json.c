#include "tests/rules/item_text.h"
#include "tests/support/property.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static property_rule *const rules[] = {
        rule_item_json_takes_or_refuses_any_text,
        rule_item_json_comes_back,
        rule_item_json_plain_comes_back,
        rule_base64_comes_back,
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct draw draw = {data, size};
        if (!rules[i](&draw)) {
            abort();
        }
    }
    return 0;
}

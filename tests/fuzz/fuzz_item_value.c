#include "tests/rules/item_key_middle.h"
#include "tests/rules/item_number.h"
#include "tests/rules/item_value.h"
#include "tests/support/property.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static property_rule *const rules[] = {
        rule_value_check_takes_only_canonical_bytes,
        rule_value_check_sees_damage,
        rule_value_is_what_it_is_built_of,
        rule_value_members_are_found,
        rule_value_order_of_members_does_not_matter,
        rule_number_decodes_only_canonical_bytes,
        rule_number_encoding_keeps_order,
        rule_number_parses_any_text_or_refuses,
        rule_number_arithmetic_obeys_its_laws,
        rule_key_middle_lies_between_or_none_does,
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct draw draw = {data, size};
        if (!rules[i](&draw)) {
            abort();
        }
    }
    return 0;
}

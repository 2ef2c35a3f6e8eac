#include "tests/rules/expr_language.h"
#include "tests/support/property.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first bytes say whether the rest is the text of an expression or draws one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw draw = {data, size};
    property_rule *rule = draw_below(&draw, 2) == 0 ? rule_any_text_is_taken_or_refused
                                                    : rule_expressions_print_as_themselves;
    if (!rule(&draw)) {
        abort();
    }
    return 0;
}

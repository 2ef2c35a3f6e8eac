#include "tests/rules/plans_scaffold.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw draw = {data, size};
    if (!rule_scaffold_folds_any_schema(&draw)) {
        abort();
    }
    return 0;
}

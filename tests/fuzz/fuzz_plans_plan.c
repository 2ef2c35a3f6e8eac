#include "tests/rules/plans_pass.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw passes = {data, size};
    struct draw texts = {data, size};
    if (!rule_pass_leaves_its_results_alone(&passes) || !rule_plan_hash_ignores_spacing(&texts)) {
        abort();
    }
    return 0;
}

#include "tests/rules/plans_pass.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw passes = {data, size};
    struct draw texts = {data, size};
    /* The law on passes holds for the property test's cases; puts that put each other break it,
     * which is no fault. Here passes are run for faults of memory alone. */
    (void)rule_pass_leaves_its_results_alone(&passes);
    if (!rule_plan_hash_ignores_spacing(&texts)) {
        abort();
    }
    return 0;
}

#include "tests/rules/plans_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw bytes = {data, size};
    struct draw pieces = {data, size};
    if (!rule_map_takes_or_refuses_any_bytes(&bytes) ||
        !rule_map_says_where_it_is_broken(&pieces)) {
        abort();
    }
    return 0;
}

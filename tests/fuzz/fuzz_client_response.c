#include "engine/base/str.h"
#include "engine/store/dynamodb/client/ddb_response_internal.h"
#include "tests/rules/client_response.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes draw a reply, and are one themselves. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct draw draw = {data, size};
    if (!rule_replies_are_read_alike_however_they_come(&draw)) {
        abort();
    }
    struct ddb_response response = {.body_max = 1000};
    (void)ddb_response_take(&response, (struct str){(const char *)data, size});
    ddb_response_end(&response);
    if (!ddb_response_is_over(&response) || response.body.len > response.body_max) {
        abort();
    }
    ddb_response_free(&response);
    return 0;
}

#include "tests/rules/base_utf8.h"

#include "engine/base/str.h"
#include "engine/base/utf8.h"

#include <stddef.h>
#include <stdint.h>

bool rule_utf8_put_and_next_are_inverse(struct draw *draw)
{
    uint32_t character = draw_below(draw, 0x110000 - 0x800);
    character += character >= 0xd800 ? 0x800 : 0;
    char bytes[4];
    size_t size = utf8_put(bytes, character);
    struct str text = {bytes, size};
    size_t at = 0;
    return utf8_is_valid(text) && utf8_next(text, &at) == character && at == size &&
           utf8_count(text) == 1;
}

bool rule_utf8_prefix_is_valid_and_the_rest_is_not(struct draw *draw)
{
    struct str text = {(const char *)draw->next, draw->left};
    size_t valid = utf8_valid_prefix(text);
    if (valid > text.len || !utf8_is_valid((struct str){text.ptr, valid})) {
        return false;
    }
    for (size_t len = valid + 1; len <= text.len && len <= valid + 4; len++) {
        if (utf8_is_valid((struct str){text.ptr, len})) {
            return false;
        }
    }
    return true;
}

#include "engine/item/item.h"

#include "engine/base/str.h"
#include "engine/item/number.h"

enum { CONTAINER_BYTES = 3, MEMBER_BYTES = 1 };

static size_t set_size(struct value set)
{
    size_t size = 0;
    struct str member;
    bool numbers = value_type(set) == VALUE_NS;
    for (struct value_iter iter = value_members(set); value_next_member(&iter, &member);) {
        size += numbers ? number_size_bytes(member) : member.len;
    }
    return size;
}

static size_t value_size(struct value v);

static size_t members_size(struct value v, size_t each)
{
    size_t size = 0;
    struct attribute member;
    for (struct value_iter iter = value_members(v); value_next(&iter, &member);) {
        size += each + item_attribute_bytes(&member);
    }
    return size;
}

static size_t value_size(struct value v)
{
    switch (value_type(v)) {
    case VALUE_S:
    case VALUE_B:
        return value_bytes(v).len;
    case VALUE_N:
        return number_size_bytes(value_bytes(v));
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return set_size(v);
    case VALUE_L:
    case VALUE_M:
        return CONTAINER_BYTES + members_size(v, MEMBER_BYTES);
    default:
        return 1;
    }
}

size_t item_attribute_bytes(const struct attribute *attribute)
{
    return attribute->name.len + value_size(attribute->value);
}

size_t item_size_bytes(struct value item)
{
    return members_size(item, 0);
}

/* `depth` counts the containers around the members of v, the item not. */
static bool check_members(struct value v, int depth, struct error *err)
{
    if (depth > VALUE_MAX_DEPTH) {
        return error_set(err, ERROR_LIMIT, "nested over %d levels", VALUE_MAX_DEPTH);
    }
    struct attribute member;
    for (struct value_iter iter = value_members(v); value_next(&iter, &member);) {
        if (member.name.len > ATTRIBUTE_NAME_MAX_BYTES) {
            return error_set(err, ERROR_LIMIT,
                             "an attribute name has %zu bytes, over the limit of %d",
                             member.name.len, ATTRIBUTE_NAME_MAX_BYTES);
        }
        if (value_type(member.value) >= VALUE_L && !check_members(member.value, depth + 1, err)) {
            return false;
        }
    }
    return true;
}

/* No value counts for more than twice its encoded bytes: a member of a list is the worst, with one
 * byte of its own and one for its place. */
static bool may_be_too_large(struct value item)
{
    return item.len > ITEM_MAX_BYTES / 2;
}

bool item_check_limits(struct value item, struct error *err)
{
    size_t size = may_be_too_large(item) ? item_size_bytes(item) : 0;
    if (size > ITEM_MAX_BYTES) {
        return error_set(err, ERROR_LIMIT, "the item has %zu bytes, over the limit of %d", size,
                         ITEM_MAX_BYTES);
    }
    return check_members(item, 0, err);
}

#include "migrate/key_only.h"

#include "engine/item/key.h"
#include "migrate/table_walk.h"

#include <stddef.h>

struct looking {
    const struct key_schema *keys;
    struct arena *arena;
    struct key_only *found;
};

static bool look_at_page(void *context, const struct page *page, struct error *err)
{
    const struct looking *looking = context;
    const struct key_schema *keys = looking->keys;
    struct key_only *found = looking->found;
    for (size_t i = 0; i < page->count; i++) {
        struct value item = page->items[i].item;
        struct key key;
        if (value_count(item) > keys->partition_count + keys->sort_count) {
            continue;
        }
        if (!key_of_item(keys, item, &key, err)) {
            return false;
        }
        if (found->count < KEY_ONLY_EXAMPLES) {
            found->examples[found->count] = key_print(keys, &key, looking->arena);
        }
        found->count++;
    }
    return true;
}

bool key_only_find(struct invocation *invocation, struct store_reader *reader,
                   const struct table_desc *table, struct key_only *out, struct error *err)
{
    struct key_only found = {.count = 0};
    struct looking looking = {&table->keys, invocation->arena, &found};
    struct table_walk walk = {.invocation = invocation,
                              .reader = reader,
                              .table = table,
                              .phase = "looking at items",
                              .limits = {.may_be_stale = true},
                              .page = look_at_page,
                              .context = &looking};
    if (!table_walk(&walk, err)) {
        return false;
    }
    *out = found;
    return true;
}

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/store.h"
#include "migrate/query_merge.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A store of scripts: the partition key says what a query answers. Each letter is an item with that
 * sort key, '|' ends a page, '!' is an error. The cursor is the place in the script. */
struct scripted {
    struct store store;
    struct store_reader reader;
    struct arena *arena;
};

static struct value item_of(struct arena *arena, struct value partition, char sort)
{
    struct value item;
    struct error err;
    struct attribute members[] = {{STR("PK"), partition},
                                  {STR("SK"), value_string(arena, (struct str){&sort, 1})}};
    ck_assert(value_map(arena, members, 2, &item, &err));
    return item;
}

static bool answer(struct store_reader *reader, const struct query *query, struct page *out,
                   struct error *err)
{
    struct arena *arena = ((struct scripted *)(void *)reader->store)->arena;
    struct str script = value_bytes(query->partition[0]);
    size_t at = 0;
    if (query->cursor.len > 0) {
        memcpy(&at, query->cursor.ptr, sizeof at);
    }
    struct stored_item *items = arena_alloc(arena, (script.len + 1) * sizeof *items);
    size_t count = 0;
    while (at < script.len && script.ptr[at] != '|') {
        if (script.ptr[at] == '!') {
            return error_set(err, ERROR_DAMAGED, "scripted");
        }
        items[count].item = item_of(arena, query->partition[0], script.ptr[at]);
        count++;
        at++;
    }
    *out = (struct page){.items = items, .count = count, .last = at == script.len};
    at++;
    out->cursor = arena_copy(arena, (struct str){(const char *)&at, sizeof at});
    return true;
}

static void release(struct store_reader *reader)
{
    (void)reader;
}

static const struct store_ops ops = {.query = answer, .release = release};

enum { QUERIES_MAX = 3 };

static const struct {
    const char *says;
    const char *scripts[QUERIES_MAX];
    bool descending, has_sort;
    const char *order;
    bool ok;
} merges[] = {
    {"one query", {"abc"}, false, true, "abc", true},
    {"pages follow", {"a|b|c"}, false, true, "abc", true},
    {"empty pages are pages", {"a|||b|"}, false, true, "ab", true},
    {"nothing at all", {"|"}, false, true, "", true},
    {"in sort order", {"adg", "be", "cf"}, false, true, "abcdefg", true},
    {"over pages", {"a|dg", "be", "|c||f"}, false, true, "abcdefg", true},
    {"from the greatest", {"gda", "eb", "fc"}, true, true, "gfedcba", true},
    {"one is empty", {"", "ab"}, false, true, "ab", true},
    {"without a sort key, one after the other", {"ba", "dc"}, false, false, "badc", true},
    {"an error ends it", {"a|!", "b"}, false, true, "a", false},
};

START_TEST(query_merge_next_follows_the_table)
{
    struct arena *arena = arena_new();
    struct scripted scripted = {.store = {.ops = &ops}, .arena = arena};
    scripted.reader.store = &scripted.store;
    struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                              .partition_count = 1,
                              .sort = {{STR_INIT("SK"), VALUE_S}},
                              .sort_count = merges[_i].has_sort ? 1 : 0};
    struct query queries[QUERIES_MAX] = {0};
    size_t count = 0;
    for (; count < QUERIES_MAX && merges[_i].scripts[count] != NULL; count++) {
        const char *script = merges[_i].scripts[count];
        queries[count].partition[0] = value_string(arena, (struct str){script, strlen(script)});
        queries[count].descending = merges[_i].descending;
    }
    struct query_merge *merge = query_merge_open(&scripted.reader, &keys, queries, count);
    struct buffer order = {0};
    struct error err = {0};
    struct value item;
    bool ok = query_merge_next(merge, &item, &err);
    for (; ok && !value_is_missing(item); ok = query_merge_next(merge, &item, &err)) {
        buffer_add(&order, value_bytes(value_member(item, STR("SK"))));
    }
    buffer_add_char(&order, '\0');
    ck_assert_msg(strcmp(order.bytes, merges[_i].order) == 0, "%s: %s", merges[_i].says,
                  order.bytes);
    ck_assert_msg(ok == merges[_i].ok, "%s: %s", merges[_i].says, err.text);
    buffer_free(&order);
    query_merge_close(merge);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *merging = tcase_create("merging");
    tcase_add_loop_test(merging, query_merge_next_follows_the_table, 0, ROWS(merges));
    Suite *suite = suite_create("migrate/query_merge");
    suite_add_tcase(suite, merging);
    return suite_run(suite);
}

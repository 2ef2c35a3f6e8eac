#include "tests/rules/lmdb_fixture.h"

#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/item/item_json.h"
#include "engine/store/lmdb/lmdb_store.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct str text_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

struct key_schema fixture_keys(const char *partition, const char *sort)
{
    struct error err;
    struct key_schema keys = {.partition_count = 1, .sort_count = sort == NULL ? 0 : 1};
    ck_assert(key_attribute_parse(text_of(partition), &keys.partition[0], &err));
    ck_assert(sort == NULL || key_attribute_parse(text_of(sort), &keys.sort[0], &err));
    return keys;
}

struct value fixture_item(struct arena *arena, const char *json)
{
    struct error err = {0};
    struct json *root = NULL;
    struct value item = {NULL, 0};
    struct json_options options = {.file = "item"};
    ck_assert_msg(json_parse(text_of(json), &options, arena, &root, &err), "%s", err.text);
    ck_assert_msg(item_json_item(root, arena, &item, &err), "%s", err.text);
    return item;
}

struct index_desc fixture_index(const char *name, const char *partition, const char *sort)
{
    return (struct index_desc){.name = text_of(name), .keys = fixture_keys(partition, sort)};
}

void fixture_make_indexed(struct fixture *fixture, const char *partition, const char *sort,
                          const struct index_desc *indexes, size_t count)
{
    /* In memory where that is possible: tests flush all the time. */
    bool memory = access("/dev/shm", W_OK) == 0;
    *fixture = (struct fixture){.arena = arena_new()};
    (void)snprintf(fixture->folder, sizeof fixture->folder, "%s/refold-lmdb-XXXXXX",
                   memory ? "/dev/shm" : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(fixture->folder));
    (void)snprintf(fixture->path, sizeof fixture->path, "%s/t.refold", fixture->folder);
    fixture->keys = fixture_keys(partition, sort);
    struct table_desc table = {
        .name = STR("t"), .keys = fixture->keys, .indexes = indexes, .index_count = count};
    struct store_options options = {.mode = STORE_CREATE, .create = &table};
    ck_assert_msg(lmdb_store_open(fixture->path, &options, &fixture->store, &fixture->err), "%s",
                  fixture->err.text);
    ck_assert(store_reader_open(fixture->store, &fixture->reader, &fixture->err));
}

void fixture_make(struct fixture *fixture, const char *partition, const char *sort)
{
    fixture_make_indexed(fixture, partition, sort, NULL, 0);
}

void fixture_close(struct fixture *fixture)
{
    store_reader_close(fixture->reader);
    store_close(fixture->store);
    fixture->reader = NULL;
    fixture->store = NULL;
}

bool fixture_open(struct fixture *fixture, enum store_mode mode)
{
    struct store_options options = fixture->options;
    options.mode = mode;
    return lmdb_store_open(fixture->path, &options, &fixture->store, &fixture->err) &&
           (mode == STORE_READ || store_lease_take(fixture->store, "test", &fixture->err)) &&
           store_reader_open(fixture->store, &fixture->reader, &fixture->err);
}

void fixture_remove(struct fixture *fixture)
{
    static const char *const ends[] = {"", "-lock", "-run"};
    fixture_close(fixture);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        (void)unlink(arena_format(fixture->arena, "%s%s", fixture->path, ends[i]).ptr);
    }
    ck_assert_int_eq(rmdir(fixture->folder), 0);
    arena_free(fixture->arena);
}

enum outcome fixture_write(struct fixture *fixture, struct write write)
{
    struct effect effect = {.writes = &write, .count = 1};
    struct batch batch = {.effects = &effect, .count = 1, .pass = 1, .arena = fixture->arena};
    ck_assert_msg(store_commit(fixture->store, &batch, &fixture->err), "%s", fixture->err.text);
    if (effect.refusal != NULL) {
        (void)snprintf(fixture->err.text, sizeof fixture->err.text, "%s", effect.refusal);
    }
    return effect.outcome;
}

enum outcome fixture_put(struct fixture *fixture, struct value item)
{
    return fixture_write(fixture, (struct write){.kind = WRITE_PUT, .item = item});
}

bool fixture_flush(struct fixture *fixture)
{
    return store_flush(fixture->store, &fixture->err);
}

struct ordered {
    struct str order;
    struct value item;
};

static int compare_ordered(const void *a, const void *b)
{
    struct str left = ((const struct ordered *)a)->order;
    struct str right = ((const struct ordered *)b)->order;
    int order = memcmp(left.ptr, right.ptr, left.len < right.len ? left.len : right.len);
    return order != 0 ? order : (left.len > right.len) - (left.len < right.len);
}

bool fixture_load(struct fixture *fixture, const struct value *items, size_t count)
{
    struct ordered *ordered = arena_alloc(fixture->arena, (count + 1) * sizeof *ordered);
    for (size_t i = 0; i < count; i++) {
        struct buffer order = {0};
        struct key key = fixture_key(fixture, items[i]);
        store_order_key(fixture->store, &key, &order);
        ordered[i] = (struct ordered){arena_copy(fixture->arena, buffer_str(&order)), items[i]};
        buffer_free(&order);
    }
    qsort(ordered, count, sizeof *ordered, compare_ordered);
    if (!store_load_open(fixture->store, 1, &fixture->err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct key key = fixture_key(fixture, ordered[i].item);
        if (!store_load_item(fixture->store, &key, ordered[i].item, &fixture->err)) {
            return false;
        }
    }
    return store_load_close(fixture->store, &fixture->err);
}

struct key fixture_key(struct fixture *fixture, struct value item)
{
    struct key key;
    ck_assert_msg(key_of_item(&fixture->keys, item, &key, &fixture->err), "%s", fixture->err.text);
    return key;
}

struct stored_item fixture_get(struct fixture *fixture, struct value item)
{
    struct stored_item out = {0};
    struct key key = fixture_key(fixture, item);
    ck_assert_msg(
        store_get(fixture->reader, (struct key_list){&key, 1}, fixture->arena, &out, &fixture->err),
        "%s", fixture->err.text);
    return out;
}

static void keep(struct fixture *fixture, const struct page *page, struct buffer *items)
{
    for (size_t i = 0; i < page->count; i++) {
        struct value copy = value_copy(fixture->arena, page->items[i].item);
        buffer_add(items, (struct str){(const char *)&copy, sizeof copy});
    }
}

static size_t finish(struct fixture *fixture, struct buffer *items, struct value **out)
{
    size_t count = items->len / sizeof **out;
    *out = arena_alloc(fixture->arena, items->len + 1);
    if (count > 0) {
        memcpy(*out, items->bytes, items->len);
    }
    buffer_free(items);
    return count;
}

size_t fixture_scan(struct fixture *fixture, uint32_t segments, size_t page_items,
                    struct value **out)
{
    struct buffer items = {0};
    struct page_limits limits = {.items = page_items};
    for (uint32_t i = 0; i < segments; i++) {
        struct segment segment = {i, segments};
        struct page page = {0};
        while (!page.last) {
            struct str cursor = arena_copy(fixture->arena, page.cursor);
            ck_assert_msg(store_read_page(fixture->reader,
                                          &(struct page_place){segment, cursor, &limits}, &page,
                                          &fixture->err),
                          "%s", fixture->err.text);
            keep(fixture, &page, &items);
        }
    }
    store_release(fixture->reader);
    return finish(fixture, &items, out);
}

size_t fixture_query(struct fixture *fixture, struct query query, struct value **out)
{
    struct buffer items = {0};
    struct page page = {0};
    while (!page.last) {
        query.cursor = arena_copy(fixture->arena, page.cursor);
        ck_assert_msg(store_query(fixture->reader, &query, &page, &fixture->err), "%s",
                      fixture->err.text);
        keep(fixture, &page, &items);
    }
    store_release(fixture->reader);
    return finish(fixture, &items, out);
}

static void count_finding(void *context, const char *text)
{
    size_t *count = context;
    (*count)++;
    (void)fprintf(stderr, "finding: %s\n", text);
}

size_t fixture_verify(struct fixture *fixture)
{
    size_t count = 0;
    return store_verify(fixture->store, count_finding, &count, &fixture->err) ? count : SIZE_MAX;
}

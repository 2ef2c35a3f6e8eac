#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/number.h"
#include "migrate/run/overlay.h"
#include "tests/support/memory_store.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of items; each either stands below, in the overlay, or both, or is gone. */
enum { IDS = 400, SEGMENTS = 3 };

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .partition_count = 1};

struct fixture {
    struct arena *arena;
    struct store *under;
    struct store *overlay;
    struct store_reader *reader;
    struct table_desc table;
    struct error err;
};

static struct value make_item(struct arena *arena, size_t id, int64_t n)
{
    struct number number = number_from_int(n);
    struct attribute members[] = {
        {STR("PK"), value_string(arena, arena_format(arena, "C#%zu", id))},
        {STR("N"), value_from_number(arena, &number)}};
    struct value item = {NULL, 0};
    struct error err = {0};
    ck_assert(value_map(arena, members, 2, &item, &err));
    return item;
}

static int64_t n_of(struct value item)
{
    int64_t n = -1;
    if (!value_is_missing(item)) {
        struct number number = value_number(value_member(item, STR("N")));
        ck_assert(number_to_int(&number, &n));
    }
    return n;
}

static size_t id_of(struct value item)
{
    struct str text = value_bytes(value_member(item, STR("PK")));
    size_t id = 0;
    for (size_t i = 2; i < text.len; i++) {
        id = 10 * id + (size_t)(text.ptr[i] - '0');
    }
    return id;
}

static struct key key_of(struct arena *arena, size_t id)
{
    struct key key = {.count = 1};
    key.parts[0] = value_string(arena, arena_format(arena, "C#%zu", id));
    return key;
}

/* Below stand ids 0, 2, 4, … with N = id. */
static void set_up(struct fixture *f)
{
    *f = (struct fixture){
        .arena = arena_new(), .under = memory_store_new(&keys, NULL), .table = {.keys = keys}};
    for (size_t id = 0; id < IDS; id += 2) {
        memory_store_put(f->under, make_item(f->arena, id, (int64_t)id));
    }
    ck_assert_msg(overlay_open(f->under, &f->table, "/tmp", &f->overlay, &f->err), "%s",
                  f->err.text);
    ck_assert(store_reader_open(f->overlay, &f->reader, &f->err));
}

static void tear_down(struct fixture *f)
{
    store_reader_close(f->reader);
    store_close(f->overlay);
    store_close(f->under);
    arena_free(f->arena);
}

static void commit(struct fixture *f, struct write *writes, size_t count)
{
    struct effect effect = {.writes = writes, .count = count};
    struct batch batch = {.effects = &effect, .count = 1, .pass = 9, .arena = f->arena};
    ck_assert_msg(store_commit(f->overlay, &batch, &f->err), "%s", f->err.text);
    ck_assert_int_eq(effect.outcome, OUTCOME_APPLIED);
}

/* N of every id by whole scans, -1 where there is none; each item must be met once. */
static void scan(struct fixture *f, size_t page_items, int64_t *out)
{
    for (size_t id = 0; id < IDS; id++) {
        out[id] = -1;
    }
    for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
        struct page_limits limits = {.items = page_items};
        struct page page = {.last = false};
        struct str cursor = {NULL, 0};
        while (!page.last) {
            ck_assert_msg(store_read_page(f->reader,
                                          &(struct page_place){(struct segment){segment, SEGMENTS},
                                                               cursor, &limits},
                                          &page, &f->err),
                          "%s", f->err.text);
            for (size_t i = 0; i < page.count; i++) {
                size_t id = id_of(page.items[i].item);
                ck_assert_msg(out[id] == -1, "id %zu is met twice", id);
                out[id] = n_of(page.items[i].item);
            }
            cursor = arena_copy(f->arena, page.cursor);
            store_release(f->reader);
        }
    }
}

static void check(struct fixture *f, const int64_t *model)
{
    for (size_t page_items = 1; page_items < 300; page_items += 97) {
        int64_t found[IDS];
        scan(f, page_items, found);
        for (size_t id = 0; id < IDS; id++) {
            ck_assert_msg(found[id] == model[id], "id %zu: %lld, expected %lld", id,
                          (long long)found[id], (long long)model[id]);
        }
    }
    for (size_t id = 0; id < IDS; id++) {
        struct key key = key_of(f->arena, id);
        struct stored_item item;
        ck_assert(store_get(f->reader, (struct key_list){&key, 1}, f->arena, &item, &f->err));
        ck_assert_int_eq(n_of(item.item), model[id]);
    }
}

/* One write that is allowed as things stand; the model follows. */
static void write_one(struct fixture *f, uint64_t random, int64_t *model)
{
    size_t id = random % IDS;
    size_t other = random / IDS % IDS;
    int64_t n = (int64_t)(random >> 40);
    struct write write = {.key = key_of(f->arena, id)};
    if (model[id] < 0) {
        write.kind = WRITE_PUT;
        write.item = make_item(f->arena, id, n);
        model[id] = n;
    } else if (random % 3 == 0) {
        write.kind = WRITE_DELETE;
        model[id] = -1;
    } else if (random % 3 == 1 && model[other] < 0) {
        write.kind = WRITE_MOVE;
        write.item = make_item(f->arena, other, n);
        model[id] = -1;
        model[other] = n;
    } else {
        write.kind = WRITE_UPDATE;
        write.item = make_item(f->arena, id, n);
        model[id] = n;
    }
    commit(f, &write, 1);
}

START_TEST(an_overlay_reads_as_if_it_had_been_written)
{
    struct fixture f;
    int64_t model[IDS];
    set_up(&f);
    for (size_t id = 0; id < IDS; id++) {
        model[id] = id % 2 == 0 ? (int64_t)id : -1;
    }
    check(&f, model);
    uint64_t random = 1;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 200; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            write_one(&f, random >> 8, model);
        }
        ck_assert(store_flush(f.overlay, &f.err));
        check(&f, model);
    }
    ck_assert_uint_eq(memory_store_count(f.under), IDS / 2);
    tear_down(&f);
}
END_TEST

START_TEST(what_is_overwritten_and_moved_in_one_effect)
{
    struct fixture f;
    set_up(&f);
    struct write writes[] = {
        {.kind = WRITE_DELETE, .key = key_of(f.arena, 4)},
        {.kind = WRITE_MOVE, .key = key_of(f.arena, 2), .item = make_item(f.arena, 4, 77)}};
    commit(&f, writes, 2);
    ck_assert(store_flush(f.overlay, &f.err));
    int64_t found[IDS];
    scan(&f, 50, found);
    ck_assert_int_eq(found[2], -1);
    ck_assert_int_eq(found[4], 77);
    tear_down(&f);
}
END_TEST

int main(void)
{
    TCase *overlay = tcase_create("overlay");
    tcase_add_test(overlay, an_overlay_reads_as_if_it_had_been_written);
    tcase_add_test(overlay, what_is_overwritten_and_moved_in_one_effect);
    Suite *suite = suite_create("migrate/run/overlay");
    suite_add_tcase(suite, overlay);
    return suite_run(suite);
}

#include "tests/rules/lmdb_damage.h"

#include "tests/rules/lmdb_fixture.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ITEMS = 60, GROUPS = 3, LONG_BYTES = 6000, PAGE_BYTES = 4096, PLACES_MAX = 4, RUN_MAX = 64 };

static struct value numbered(struct fixture *table, size_t i)
{
    char *text = arena_bytes(table->arena, LONG_BYTES);
    struct value item = {NULL, 0};
    memset(text, 'v', LONG_BYTES);
    size_t len = i % 20 == 0 ? LONG_BYTES : 200;
    struct attribute members[] = {
        {STR("PK"), value_string(table->arena, arena_format(table->arena, "k%zu", i))},
        {STR("G"), value_string(table->arena, arena_format(table->arena, "g%zu", i % GROUPS))},
        {STR("V"), value_string(table->arena, (struct str){text, len})}};
    ck_assert(value_map(table->arena, members, 3, &item, &table->err));
    return item;
}

static void spoil(const struct fixture *table, struct draw *draw)
{
    struct stat stat_buffer;
    int fd = open(table->path, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(fstat(fd, &stat_buffer), 0);
    uint32_t places = 1 + draw_below(draw, PLACES_MAX);
    for (uint32_t i = 0; i < places; i++) {
        unsigned char bytes[RUN_MAX];
        uint32_t page = draw_below(draw, (uint32_t)(stat_buffer.st_size / PAGE_BYTES));
        uint32_t at = draw_below(draw, 2) == 0 ? draw_below(draw, 64) : draw_below(draw, 4032);
        uint32_t len = 1 + draw_below(draw, draw_below(draw, 2) == 0 ? 1 : RUN_MAX);
        for (uint32_t j = 0; j < len; j++) {
            bytes[j] = (unsigned char)draw_below(draw, 256);
        }
        off_t place = (off_t)page * PAGE_BYTES + (off_t)at;
        ck_assert_int_eq(pwrite(fd, bytes, len, place), (ssize_t)len);
    }
    (void)close(fd);
}

static bool is_one_of_ours(struct fixture *table, struct value item)
{
    for (size_t i = 0; i < ITEMS; i++) {
        if (value_equal(item, numbered(table, i))) {
            return true;
        }
    }
    return false;
}

static bool all_ours(struct fixture *table, const struct page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        if (!is_one_of_ours(table, page->items[i].item)) {
            return false;
        }
    }
    return true;
}

/* An error is fine; what comes without one must be all there. */
static bool scan_is_right(struct fixture *table)
{
    struct page page = {0};
    struct segment all = {0, 1};
    size_t count = 0;
    while (!page.last) {
        struct str cursor = arena_copy(table->arena, page.cursor);
        if (!store_read_page(table->reader, &(struct page_place){all, cursor, NULL}, &page,
                             &table->err)) {
            return true;
        }
        if (!all_ours(table, &page)) {
            return false;
        }
        count += page.count;
    }
    return count == ITEMS;
}

/* Of an index entry that was led astray only verify() can know: it may be wanting here. */
static bool query_is_right(struct fixture *table)
{
    struct page page = {0};
    struct query query = {.index = STR("by-g"),
                          .partition = {value_string(table->arena, STR("g1"))}};
    while (!page.last) {
        query.cursor = arena_copy(table->arena, page.cursor);
        if (!store_query(table->reader, &query, &page, &table->err)) {
            return true;
        }
        if (!all_ours(table, &page)) {
            return false;
        }
    }
    return true;
}

static void ignore(void *context, const char *text)
{
    (void)context;
    (void)text;
}

bool rule_damage_is_an_error(struct draw *draw)
{
    struct fixture table;
    struct index_desc index = fixture_index("by-g", "G:S", NULL);
    fixture_make_indexed(&table, "PK:S", NULL, &index, 1);
    for (size_t i = 0; i < ITEMS; i++) {
        ck_assert_int_eq(fixture_put(&table, numbered(&table, i)), OUTCOME_APPLIED);
    }
    ck_assert(fixture_flush(&table));
    fixture_close(&table);
    spoil(&table, draw);
    bool ok = true;
    if (fixture_open(&table, STORE_READ)) {
        ok = scan_is_right(&table) && query_is_right(&table);
        store_release(table.reader);
        /* Whether it finds something or fails, it comes back. */
        (void)!store_verify(table.store, ignore, NULL, &table.err);
    }
    fixture_remove(&table);
    return ok;
}

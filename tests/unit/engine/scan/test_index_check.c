#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/item/item_json.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/scan/index_check.h"
#include "tests/support/memory_store.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct key_schema table_keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                             .partition_count = 1};
static const struct key_schema index_keys = {.partition = {{STR_INIT("GSI1PK"), VALUE_S}},
                                             .partition_count = 1,
                                             .sort = {{STR_INIT("GSI1SK"), VALUE_N}},
                                             .sort_count = 1};
enum { FINDINGS_MAX = 16 };

struct findings {
    struct arena *arena;
    struct str texts[FINDINGS_MAX];
    size_t count;
};

static void report(void *context, struct str finding)
{
    struct findings *findings = context;
    ck_assert_uint_lt(findings->count, FINDINGS_MAX);
    findings->texts[findings->count++] = arena_copy(findings->arena, finding);
}

static void put(struct store *store, const char *text, struct arena *arena)
{
    struct json_options options = {.file = "item"};
    struct json *json = NULL;
    struct value item;
    struct error err = {0};
    ck_assert(json_parse((struct str){text, strlen(text)}, &options, arena, &json, &err));
    ck_assert(item_json_plain(json, arena, &item, &err));
    memory_store_put(store, item);
}

static struct index_counts check(struct store *store, size_t report_max, struct findings *findings)
{
    struct scan_options scan = {.store = store, .workers = 2, .segments = 3};
    struct index_check check = {&index_keys, report_max, report, findings, NULL};
    struct index_counts counts = {0};
    struct error err = {0};
    ck_assert_msg(index_check_run(&scan, &check, &counts, &err), "%s", err.text);
    return counts;
}

static const struct {
    const char *says;
    const char *item;
    struct index_counts counts;
    const char *finding;
} cases[] = {
    {"both parts", "{\"PK\":\"a\",\"GSI1PK\":\"x\",\"GSI1SK\":1}", {.whole = 1}, NULL},
    {"one part", "{\"PK\":\"a\",\"GSI1SK\":1}", {.partial = 1}, NULL},
    {"no part", "{\"PK\":\"a\",\"GSI\":1}", {.without = 1}, NULL},
    {"a wrong type",
     "{\"PK\":\"a\",\"GSI1PK\":\"x\",\"GSI1SK\":\"1\"}",
     {.violating = 1},
     "GSI1SK"},
    {"an empty part", "{\"PK\":\"a\",\"GSI1PK\":\"\",\"GSI1SK\":1}", {.violating = 1}, "GSI1PK"},
    {"a wrong type alone", "{\"PK\":\"a\",\"GSI1SK\":\"1\"}", {.violating = 1}, "GSI1SK"},
};

START_TEST(an_item_counts_by_its_index_key)
{
    struct arena *arena = arena_new();
    struct store *store = memory_store_new(&table_keys, NULL);
    struct findings findings = {.arena = arena};
    put(store, cases[_i].item, arena);
    struct index_counts counts = check(store, FINDINGS_MAX, &findings);
    ck_assert_msg(memcmp(&counts, &cases[_i].counts, sizeof counts) == 0, "%s", cases[_i].says);
    ck_assert_msg(findings.count == (cases[_i].finding == NULL ? 0 : 1), "%s", cases[_i].says);
    if (cases[_i].finding != NULL) {
        ck_assert_msg(strncmp(findings.texts[0].ptr, "PK='a': ", 8) == 0, "%s",
                      findings.texts[0].ptr);
        ck_assert_msg(strstr(findings.texts[0].ptr, cases[_i].finding) != NULL, "%s: %s",
                      cases[_i].says, findings.texts[0].ptr);
    }
    store_close(store);
    arena_free(arena);
}
END_TEST

START_TEST(all_violations_count_and_some_are_reported)
{
    struct arena *arena = arena_new();
    struct store *store = memory_store_new(&table_keys, NULL);
    struct findings findings = {.arena = arena};
    for (int i = 0; i < 300; i++) {
        struct str text = arena_format(arena, "{\"PK\":\"%d\",\"GSI1PK\":%d}", i, i);
        put(store, text.ptr, arena);
    }
    struct index_counts counts = check(store, 5, &findings);
    ck_assert_uint_eq(counts.violating, 300);
    ck_assert_uint_eq(findings.count, 5);
    store_close(store);
    arena_free(arena);
}
END_TEST

enum { CHECKED = 300, SEGMENTS = 3 };

/* A check that is broken off after some pages, and what it had come to. */
struct broken {
    struct arena *arena;
    struct index_counts so_far;
    struct str cursors[SEGMENTS];
    bool done[SEGMENTS];
    atomic_uint turns;
    unsigned pages; /* until it breaks */
};

static bool next_left(void *context, struct scan_turn *out, struct error *err)
{
    (void)err;
    struct broken *broken = context;
    unsigned turn = 0;
    do {
        turn = atomic_fetch_add(&broken->turns, 1);
    } while (turn < SEGMENTS && broken->done[turn]);
    out->none = turn >= SEGMENTS;
    out->segment = out->none ? 0 : turn;
    out->cursor = broken->cursors[out->segment];
    return true;
}

static bool count_page(void *context, const struct scan_page *page,
                       const struct index_counts *so_far, struct error *err)
{
    struct broken *broken = context;
    if (broken->pages == 0) {
        return error_set(err, ERROR_STORE, "broken off");
    }
    broken->pages--;
    broken->so_far = *so_far;
    broken->cursors[page->segment] = arena_copy(broken->arena, page->cursor);
    broken->done[page->segment] = page->last;
    return true;
}

START_TEST(a_check_goes_on_where_it_was_broken_off)
{
    struct arena *arena = arena_new();
    struct store *store = memory_store_new(&table_keys, NULL);
    struct findings findings = {.arena = arena};
    struct broken broken = {
        .arena = arena, .pages = 4, .cursors = {STR_INIT(""), STR_INIT(""), STR_INIT("")}};
    for (int i = 0; i < CHECKED; i++) {
        put(store, arena_format(arena, "{\"PK\":\"%d\",\"GSI1PK\":%d}", i, i).ptr, arena);
    }
    struct index_resume resume = {.context = &broken, .next = next_left, .page = count_page};
    struct index_check check = {&index_keys, FINDINGS_MAX, report, &findings, &resume};
    struct scan_options scan = {
        .store = store, .workers = 1, .segments = SEGMENTS, .limits = {.items = 3}};
    struct index_counts counts = {0};
    struct error err = {0};
    ck_assert(!index_check_run(&scan, &check, &counts, &err));
    ck_assert_uint_eq(broken.so_far.violating, 12);
    findings.count = 12; /* of the page that broke it, nobody was told */
    resume.before = broken.so_far;
    resume.reported = findings.count;
    broken.pages = CHECKED;
    atomic_store(&broken.turns, 0);
    ck_assert_msg(index_check_run(&scan, &check, &counts, &err), "%s", err.text);
    ck_assert_uint_eq(counts.violating, CHECKED);
    ck_assert_uint_eq(findings.count, FINDINGS_MAX);
    store_close(store);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *index = tcase_create("index");
    tcase_add_loop_test(index, an_item_counts_by_its_index_key, 0, ROWS(cases));
    tcase_add_test(index, all_violations_count_and_some_are_reported);
    tcase_add_test(index, a_check_goes_on_where_it_was_broken_off);
    Suite *suite = suite_create("engine/scan/index_check");
    suite_add_tcase(suite, index);
    return suite_run(suite);
}

#include "engine/scan/scan.h"
#include "engine/store/store.h"
#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

static const char a1[] = "{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"1\"}}";
static const char b1[] = "{\"PK\":{\"S\":\"b\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"1\"}}";

/* A pass over a1, which goes between being read and being written. */
static const struct {
    const char *says;
    enum write_kind kind;
    const char *result;
} passes[] = {
    {"an update that sets", WRITE_UPDATE,
     "{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"1\"},\"W\":{\"N\":\"1\"}}"},
    {"an update that removes", WRITE_UPDATE, "{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"1\"}}"},
    {"a move", WRITE_MOVE, b1},
};

struct passing {
    struct fixture table;
    size_t row;
    size_t pages;
    size_t gone;
};

static bool meet(void *context, const struct stored_item *item, struct scan_result *out,
                 struct error *err)
{
    (void)err;
    struct passing *passing = context;
    out->writes = arena_zero(out->arena, sizeof *out->writes);
    out->write_count = 1;
    *out->writes = (struct write){.kind = passes[passing->row].kind,
                                  .key = fixture_key(&passing->table, item->item),
                                  .stamp = item->stamp,
                                  .item = fixture_item(out->arena, passes[passing->row].result)};
    return true;
}

/* Just before the page's writes. */
static bool delete_it(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                      struct error *err)
{
    (void)page;
    (void)out;
    (void)err;
    struct passing *passing = context;
    struct value item = fixture_item(passing->table.arena, a1);
    struct write write = {.kind = WRITE_DELETE,
                          .key = fixture_key(&passing->table, item),
                          .stamp = fixture_get(&passing->table, item).stamp};
    if (passing->pages++ == 0) {
        ck_assert_int_eq(fixture_write(&passing->table, write), OUTCOME_APPLIED);
    }
    return true;
}

static bool count_gone(void *context, const struct effect *effect, const struct key *gone,
                       struct error *err)
{
    (void)err;
    struct passing *passing = context;
    ck_assert_int_eq(effect->outcome, OUTCOME_STALE);
    struct value item = fixture_item(passing->table.arena, a1);
    struct key key = fixture_key(&passing->table, item);
    passing->gone += gone != NULL && key_equal(gone, &key) ? 1 : 0;
    return true;
}

START_TEST(an_item_that_is_gone_stays_gone)
{
    struct passing passing = {.row = (size_t)_i};
    struct fixture *table = &passing.table;
    fixture_make(table, "PK:S", "SK:S");
    ck_assert_int_eq(fixture_put(table, fixture_item(table->arena, a1)), OUTCOME_APPLIED);
    ck_assert(fixture_flush(table));
    struct scan_options options = {.store = table->store, .workers = 1, .segments = 1, .pass = 2};
    struct scan_task task = {
        .context = &passing, .item = meet, .page = delete_it, .not_applied = count_gone};
    struct value *items = NULL;
    ck_assert_msg(scan_run(&options, &task, &table->err), "%s", table->err.text);
    ck_assert_msg(passing.gone == 1, "%s", passes[_i].says);
    ck_assert_msg(fixture_scan(table, 1, 10, &items) == 0, "%s", passes[_i].says);
    fixture_remove(table);
}
END_TEST

int main(void)
{
    TCase *scan = tcase_create("scan");
    tcase_add_loop_test(scan, an_item_that_is_gone_stays_gone, 0, ROWS(passes));
    Suite *suite = suite_create("engine/store/lmdb/lmdb_scan");
    suite_add_tcase(suite, scan);
    return suite_run(suite);
}

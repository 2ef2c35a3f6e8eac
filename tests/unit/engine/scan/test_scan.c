#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/number.h"
#include "engine/item/value.h"
#include "engine/scan/scan.h"
#include "engine/store/store.h"
#include "engine/undo/undo.h"
#include "tests/support/memory_store.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The pass under test counts an item's visits in it: N goes up by one. */
enum { ITEMS = 1000, SEGMENTS_MAX = 64, PASS = 7, LOG = 3 };

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .partition_count = 1};

static struct value make_item(struct arena *arena, int64_t id, int64_t visits)
{
    struct number n = number_from_int(visits);
    struct attribute members[] = {
        {STR("PK"), value_string(arena, arena_format(arena, "C#%lld", (long long)id))},
        {STR("N"), value_from_number(arena, &n)}};
    struct value item = {NULL, 0};
    struct error err = {0};
    ck_assert_msg(value_map(arena, members, 2, &item, &err), "%s", err.text);
    return item;
}

static int64_t visits_of(struct value item)
{
    struct number n = value_number(value_member(item, STR("N")));
    int64_t visits = -1;
    (void)number_to_int(&n, &visits);
    return visits;
}

static int64_t id_of(struct value item)
{
    struct str key = value_bytes(value_member(item, STR("PK")));
    int64_t id = 0;
    for (size_t i = 2; i < key.len; i++) {
        id = 10 * id + (key.ptr[i] - '0');
    }
    return id;
}

/* What goes wrong, and where. */
enum fault { NO_FAULT, AT_OPEN, AT_READ, AT_ITEM, AT_PAGE, AT_COMMIT };

struct tally {
    size_t met;
    size_t written;
};

/* One table and all that a test watches. What workers touch is atomic. */
struct fixture {
    struct arena *arena;
    struct store *store;
    struct tally total;
    size_t pages;
    size_t notes;
    size_t not_applied[OUTCOME_REJECTED + 1];
    struct str cursors[SEGMENTS_MAX];
    bool done[SEGMENTS_MAX];
    enum fault fault;
    unsigned fault_after; /* calls that go well before */
    atomic_uint calls;
    atomic_uint opened;
    atomic_uint in_flight;
    atomic_uint most_in_flight;
    atomic_bool stop;
    size_t stop_after; /* pages; 0: never */
    int64_t disturbed; /* id of the item that somebody else writes before each commit; -1: none */
    unsigned disturbances;
    bool removes; /* instead of writing it */
    enum write_kind kind;
    int64_t put_id; /* WRITE_PUT: all items put this one */
};

static bool strike(struct fixture *fixture, enum fault place, struct error *err)
{
    if (fixture->fault != place) {
        return true;
    }
    return atomic_fetch_add(&fixture->calls, 1) < fixture->fault_after ||
           error_set(err, ERROR_DAMAGED, "struck");
}

static bool before_page(void *context, struct segment segment, struct error *err)
{
    (void)segment;
    struct fixture *fixture = context;
    unsigned now = atomic_fetch_add(&fixture->in_flight, 1) + 1;
    unsigned most = atomic_load(&fixture->most_in_flight);
    while (now > most && !atomic_compare_exchange_weak(&fixture->most_in_flight, &most, now)) {
    }
    return strike(fixture, AT_READ, err);
}

static void disturb(struct fixture *fixture, struct store *store)
{
    struct key key = {{value_string(fixture->arena, arena_format(fixture->arena, "C#%lld",
                                                                 (long long)fixture->disturbed))},
                      1};
    if (fixture->removes) {
        memory_store_remove(store, &key);
    } else {
        memory_store_put(store, make_item(fixture->arena, fixture->disturbed, 100));
    }
}

/* Only a batch that is about to write the item is disturbed. */
static bool writes_it(const struct batch *batch, int64_t id)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (id_of(batch->effects[i].writes[0].item) == id) {
            return true;
        }
    }
    return false;
}

static bool before_commit(void *context, struct store *store, const struct batch *batch,
                          struct error *err)
{
    struct fixture *fixture = context;
    if (fixture->disturbances > 0 && writes_it(batch, fixture->disturbed)) {
        fixture->disturbances--;
        disturb(fixture, store);
    }
    return strike(fixture, AT_COMMIT, err);
}

static bool open_worker(void *context, struct store_reader *reader, void **worker,
                        struct error *err)
{
    struct fixture *fixture = context;
    ck_assert_ptr_nonnull(reader);
    if (!strike(fixture, AT_OPEN, err)) {
        return false;
    }
    atomic_fetch_add(&fixture->opened, 1);
    *worker = fixture;
    return true;
}

static void close_worker(void *worker)
{
    struct fixture *fixture = worker;
    atomic_fetch_sub(&fixture->opened, 1);
}

static bool visit(void *worker, const struct stored_item *item, struct scan_result *out,
                  struct error *err)
{
    struct fixture *fixture = worker;
    struct tally *tally = out->tally;
    tally->met++;
    tally->written++;
    struct write *write = arena_zero(out->arena, sizeof *write);
    write->kind = fixture->kind;
    if (fixture->kind == WRITE_PUT) {
        write->item = make_item(out->arena, fixture->put_id, id_of(item->item));
    } else {
        write->key = (struct key){{value_member(item->item, STR("PK"))}, 1};
        write->stamp = item->stamp;
        write->item = make_item(out->arena, id_of(item->item), visits_of(item->item) + 1);
    }
    out->writes = write;
    out->write_count = 1;
    out->tag = STR("tag");
    out->note = arena_format(out->arena, "met %lld", (long long)id_of(item->item));
    return strike(fixture, AT_ITEM, err);
}

static bool add_page(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                     struct error *err)
{
    struct fixture *fixture = context;
    const struct tally *tally = page->tally;
    fixture->total.met += tally->met;
    fixture->total.written += tally->written;
    fixture->pages++;
    fixture->notes += page->note_count;
    ck_assert_uint_eq(page->items, tally->met);
    ck_assert_uint_eq(page->note_count, tally->met);
    fixture->cursors[page->segment] = arena_copy(fixture->arena, page->cursor);
    fixture->done[page->segment] = page->last;
    if (fixture->stop_after > 0 && fixture->pages >= fixture->stop_after) {
        atomic_store(&fixture->stop, true);
    }
    struct control *control = arena_zero(out->arena, sizeof *control);
    control->name = arena_format(out->arena, "segment %u", (unsigned)page->segment);
    control->value = page->cursor.len == 0 ? STR("empty") : page->cursor;
    out->controls = control;
    out->count = 1;
    atomic_fetch_sub(&fixture->in_flight, 1);
    return strike(fixture, AT_PAGE, err);
}

static bool not_applied(void *context, const struct effect *effect, struct error *err)
{
    (void)err;
    struct fixture *fixture = context;
    ck_assert_int_ne(effect->outcome, OUTCOME_APPLIED);
    ck_assert_int_eq(memcmp(effect->tag, "tag", 3), 0);
    fixture->not_applied[effect->outcome]++;
    fixture->total.met--;
    fixture->total.written--;
    return true;
}

static struct fixture *fixture_new(void)
{
    struct fixture *fixture = heap_alloc(sizeof *fixture);
    struct memory_store_hooks hooks = {fixture, before_page, before_commit};
    fixture->arena = arena_new();
    fixture->store = memory_store_new(&keys, &hooks);
    fixture->kind = WRITE_UPDATE;
    fixture->disturbed = -1;
    for (int64_t id = 0; id < ITEMS; id++) {
        memory_store_put(fixture->store, make_item(fixture->arena, id, 0));
    }
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    ck_assert_msg(atomic_load(&fixture->opened) == 0, "workers stay open");
    store_close(fixture->store);
    arena_free(fixture->arena);
    heap_free(fixture);
}

static struct scan_options options_of(struct fixture *fixture)
{
    return (struct scan_options){.store = fixture->store,
                                 .workers = 2,
                                 .segments = 5,
                                 .limits = {.items = 20},
                                 .pass = PASS,
                                 .stop = &fixture->stop};
}

static bool run(struct fixture *fixture, const struct scan_options *options, struct error *err)
{
    struct scan_task task = {.context = fixture,
                             .tally_bytes = sizeof(struct tally),
                             .worker_open = open_worker,
                             .worker_close = close_worker,
                             .item = visit,
                             .page = add_page,
                             .not_applied = not_applied};
    return scan_run(options, &task, err);
}

static void expect_run(struct fixture *fixture, const struct scan_options *options)
{
    struct error err = {0};
    ck_assert_msg(run(fixture, options, &err), "%s", err.text);
}

/* How many items have this many visits. */
static size_t count_visits(const struct fixture *fixture, int64_t visits)
{
    size_t count = 0;
    for (size_t i = 0; i < memory_store_count(fixture->store); i++) {
        count += visits_of(memory_store_at(fixture->store, i).item) == visits ? 1 : 0;
    }
    return count;
}

static const struct {
    const char *says;
    unsigned workers;
    uint32_t segments;
    size_t page_items;
    size_t pages_in_flight;
} shapes[] = {
    {"one of all", 1, 1, 2000, 1},
    {"small pages", 1, 1, 1, 3},
    {"one page in flight", 3, 7, 10, 1},
    {"more segments than pages", 2, 64, 100, 4},
    {"more workers than segments", 4, 2, 7, 0},
    {"the store's own pages", 2, 8, 0, 0},
};

START_TEST(every_item_is_met_once)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    options.workers = shapes[_i].workers;
    options.segments = shapes[_i].segments;
    options.limits.items = shapes[_i].page_items;
    options.pages_in_flight = shapes[_i].pages_in_flight;
    expect_run(fixture, &options);
    ck_assert_msg(count_visits(fixture, 1) == ITEMS, "%s", shapes[_i].says);
    ck_assert_uint_eq(fixture->total.met, ITEMS);
    ck_assert_uint_eq(fixture->total.written, ITEMS);
    ck_assert_uint_eq(fixture->notes, ITEMS);
    for (uint32_t i = 0; i < options.segments; i++) {
        ck_assert_msg(fixture->done[i], "%s: segment %u ends", shapes[_i].says, (unsigned)i);
    }
    size_t limit =
        options.pages_in_flight == 0 ? (size_t)4 * options.workers : options.pages_in_flight;
    ck_assert_uint_le(atomic_load(&fixture->most_in_flight), limit);
    ck_assert_uint_ge(atomic_load(&fixture->most_in_flight), 1);
    fixture_free(fixture);
}
END_TEST

START_TEST(records_carry_the_pass_and_a_pass_skips_its_own)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    options.skip_own_pass = true;
    expect_run(fixture, &options);
    ck_assert_uint_eq(memory_store_at(fixture->store, 0).pass, PASS);
    expect_run(fixture, &options);
    ck_assert_uint_eq(count_visits(fixture, 1), ITEMS);
    ck_assert_uint_eq(fixture->total.met, ITEMS);
    options.pass++;
    expect_run(fixture, &options);
    ck_assert_uint_eq(count_visits(fixture, 2), ITEMS);
    fixture_free(fixture);
}
END_TEST

START_TEST(a_dry_run_counts_the_same_and_writes_nothing)
{
    struct fixture *fixture = fixture_new();
    fixture->fault = AT_COMMIT; /* any commit would fail */
    struct scan_options options = options_of(fixture);
    options.read_only = true;
    expect_run(fixture, &options);
    ck_assert_uint_eq(count_visits(fixture, 0), ITEMS);
    ck_assert_uint_eq(fixture->total.written, ITEMS);
    fixture_free(fixture);
}
END_TEST

START_TEST(a_stopped_scan_goes_on_where_it_was)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    fixture->stop_after = 5;
    struct error err = {0};
    unsigned runs = 1;
    while (!run(fixture, &options, &err)) {
        ck_assert_int_eq(err.code, ERROR_STOPPED);
        ck_assert_uint_eq(count_visits(fixture, 1), fixture->total.written);
        fixture->pages = 0;
        atomic_store(&fixture->stop, false);
        options.cursors = fixture->cursors;
        options.done = fixture->done;
        runs++;
    }
    ck_assert_uint_gt(runs, 2);
    ck_assert_uint_eq(count_visits(fixture, 1), ITEMS);
    ck_assert_uint_eq(fixture->total.met, ITEMS);
    fixture_free(fixture);
}
END_TEST

START_TEST(a_stop_after_the_last_page_is_no_stop)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    options.segments = 1;
    options.limits.items = ITEMS;
    fixture->stop_after = 1;
    expect_run(fixture, &options);
    fixture_free(fixture);
}
END_TEST

static const struct {
    const char *says;
    enum fault fault;
    unsigned after;
} faults[] = {
    {"the first worker does not open", AT_OPEN, 0},
    {"the second worker does not", AT_OPEN, 1},
    {"the first page cannot be read", AT_READ, 0},
    {"a later page cannot be read", AT_READ, 9},
    {"an item ends it", AT_ITEM, 123},
    {"the runner ends it", AT_PAGE, 4},
    {"the first commit fails", AT_COMMIT, 0},
    {"a later commit fails", AT_COMMIT, 8},
};

START_TEST(an_error_ends_the_scan_and_keeps_what_is_committed)
{
    struct fixture *fixture = fixture_new();
    fixture->fault = faults[_i].fault;
    fixture->fault_after = faults[_i].after;
    struct scan_options options = options_of(fixture);
    struct error err = {0};
    bool ok = run(fixture, &options, &err);
    ck_assert_msg(!ok && err.code == ERROR_DAMAGED, "%s: %s", faults[_i].says, err.text);
    ck_assert_msg(strstr(err.text, "struck") != NULL, "%s: %s", faults[_i].says, err.text);
    if (fixture->fault != AT_OPEN) {
        ck_assert_msg(strncmp(err.text, "segment ", 8) == 0, "%s: %s", faults[_i].says, err.text);
    }
    size_t written = count_visits(fixture, 1);
    ck_assert_uint_eq(written + count_visits(fixture, 0), ITEMS);
    ck_assert_uint_lt(written, ITEMS);
    if (fixture->fault == AT_READ || fixture->fault == AT_ITEM) {
        ck_assert_uint_eq(written, fixture->total.written);
    }
    if (fixture->fault == AT_COMMIT) {
        ck_assert_uint_eq(written, faults[_i].after * options.limits.items);
    }
    fixture_free(fixture);
}
END_TEST

static const struct {
    const char *says;
    bool removes;
    unsigned times;
    int64_t visits; /* in the end; -1: the item is gone */
    size_t stale;
} writers[] = {
    {"a write between is not lost", false, 1, 101, 1},
    {"nor are three", false, 3, 101, 3},
    {"an item that is removed stays away", true, 1, -1, 1},
};

START_TEST(a_stale_item_is_met_again)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    fixture->disturbed = 500;
    fixture->removes = writers[_i].removes;
    fixture->disturbances = writers[_i].times;
    expect_run(fixture, &options);
    bool gone = writers[_i].visits < 0;
    ck_assert_msg(fixture->not_applied[OUTCOME_STALE] == writers[_i].stale, "%s", writers[_i].says);
    ck_assert_msg(count_visits(fixture, 1) == ITEMS - 1, "%s", writers[_i].says);
    ck_assert_msg(count_visits(fixture, writers[_i].visits) == (gone ? 0 : 1), "%s",
                  writers[_i].says);
    ck_assert_msg(fixture->total.written == (gone ? ITEMS - 1 : ITEMS), "%s", writers[_i].says);
    fixture_free(fixture);
}
END_TEST

START_TEST(an_item_that_never_rests_is_an_error)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    fixture->disturbed = 500;
    fixture->disturbances = 1000;
    struct error err = {0};
    ck_assert(!run(fixture, &options, &err));
    ck_assert_int_eq(err.code, ERROR_STORE);
    fixture_free(fixture);
}
END_TEST

START_TEST(what_does_not_apply_is_taken_out_of_the_count)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    options.skip_own_pass = true;
    fixture->kind = WRITE_PUT;
    fixture->put_id = ITEMS; /* stands nowhere: the first put applies */
    expect_run(fixture, &options);
    ck_assert_uint_eq(memory_store_count(fixture->store), ITEMS + 1);
    ck_assert_uint_eq(fixture->not_applied[OUTCOME_CONFLICT], ITEMS - 1);
    ck_assert_uint_eq(fixture->total.written, 1);
    fixture_free(fixture);
}
END_TEST

START_TEST(the_checkpoint_is_the_end_of_each_segment)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    expect_run(fixture, &options);
    struct store_reader *reader = NULL;
    struct error err = {0};
    ck_assert(store_reader_open(fixture->store, &reader, &err));
    for (uint32_t i = 0; i < options.segments; i++) {
        struct str name = arena_format(fixture->arena, "segment %u", (unsigned)i);
        struct str value;
        ck_assert(store_control_get(reader, name, fixture->arena, &value, &err));
        ck_assert(str_equal(value, fixture->cursors[i]));
    }
    store_reader_close(reader);
    fixture_free(fixture);
}
END_TEST

/* Reads the newest frame of the log and checks that its records turn visits back to 0. */
START_TEST(each_write_has_its_undo_record)
{
    struct fixture *fixture = fixture_new();
    struct scan_options options = options_of(fixture);
    options.undo_log = LOG;
    expect_run(fixture, &options);
    struct store_reader *reader = NULL;
    struct error err = {0};
    ck_assert(store_reader_open(fixture->store, &reader, &err));
    size_t records = 0;
    struct str frame = {NULL, 0};
    uint64_t sequence = UINT64_MAX;
    ck_assert(store_undo_last(reader, LOG, sequence, fixture->arena, &frame, &sequence, &err));
    while (frame.ptr != NULL) {
        struct str rest;
        ck_assert(undo_unpack(frame, 1 << 20, fixture->arena, &rest, &err));
        while (rest.len > 0) {
            struct undo_record record;
            size_t size = 0;
            ck_assert(undo_read(&keys, rest, fixture->arena, &record, &size, &err));
            ck_assert_int_eq(record.kind, UNDO_UPDATE);
            ck_assert_uint_eq(record.attribute_count, 1);
            struct number before = value_number(record.attributes[0].before);
            ck_assert_uint_eq(before.count, 0);
            rest = (struct str){rest.ptr + size, rest.len - size};
            records++;
        }
        ck_assert(store_undo_last(reader, LOG, sequence, fixture->arena, &frame, &sequence, &err));
    }
    ck_assert_uint_eq(records, ITEMS);
    store_reader_close(reader);
    fixture_free(fixture);
}
END_TEST

int main(void)
{
    TCase *scan = tcase_create("scan");
    tcase_add_loop_test(scan, every_item_is_met_once, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(scan, records_carry_the_pass_and_a_pass_skips_its_own);
    tcase_add_test(scan, a_dry_run_counts_the_same_and_writes_nothing);
    tcase_add_test(scan, a_stopped_scan_goes_on_where_it_was);
    tcase_add_test(scan, a_stop_after_the_last_page_is_no_stop);
    tcase_add_loop_test(scan, an_error_ends_the_scan_and_keeps_what_is_committed, 0,
                        sizeof faults / sizeof *faults);
    TCase *commits = tcase_create("commits");
    tcase_add_loop_test(commits, a_stale_item_is_met_again, 0, sizeof writers / sizeof *writers);
    tcase_add_test(commits, an_item_that_never_rests_is_an_error);
    tcase_add_test(commits, what_does_not_apply_is_taken_out_of_the_count);
    tcase_add_test(commits, the_checkpoint_is_the_end_of_each_segment);
    tcase_add_test(commits, each_write_has_its_undo_record);
    Suite *suite = suite_create("engine/scan/scan");
    suite_add_tcase(suite, scan);
    suite_add_tcase(suite, commits);
    tcase_set_timeout(scan, 30);
    tcase_set_timeout(commits, 30);
    return suite_run(suite);
}

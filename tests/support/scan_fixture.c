#include "tests/support/scan_fixture.h"

#include "engine/item/number.h"
#include "tests/support/memory_store.h"

#include <check.h>
#include <string.h>

const struct key_schema scan_fixture_keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
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

int64_t scan_fixture_visits(struct value item)
{
    struct number n = value_number(value_member(item, STR("N")));
    int64_t visits = -1;
    (void)number_to_int(&n, &visits);
    return visits;
}

int64_t scan_fixture_id(struct value item)
{
    struct str key = value_bytes(value_member(item, STR("PK")));
    int64_t id = 0;
    for (size_t i = 2; i < key.len; i++) {
        id = 10 * id + (key.ptr[i] - '0');
    }
    return id;
}

static bool strike(struct scan_fixture *fixture, enum scan_fault place, struct error *err)
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
    struct scan_fixture *fixture = context;
    unsigned now = atomic_fetch_add(&fixture->in_flight, 1) + 1;
    unsigned most = atomic_load(&fixture->most_in_flight);
    while (now > most && !atomic_compare_exchange_weak(&fixture->most_in_flight, &most, now)) {
    }
    return strike(fixture, AT_READ, err);
}

static void disturb(struct scan_fixture *fixture, struct store *store)
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
        if (scan_fixture_id(batch->effects[i].writes[0].item) == id) {
            return true;
        }
    }
    return false;
}

static bool before_commit(void *context, struct store *store, const struct batch *batch,
                          struct error *err)
{
    struct scan_fixture *fixture = context;
    if (fixture->disturbances > 0 && writes_it(batch, fixture->disturbed)) {
        fixture->disturbances--;
        disturb(fixture, store);
    }
    return strike(fixture, AT_COMMIT, err);
}

static bool open_worker(void *context, struct store_reader *reader, void **worker,
                        struct error *err)
{
    struct scan_fixture *fixture = context;
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
    struct scan_fixture *fixture = worker;
    atomic_fetch_sub(&fixture->opened, 1);
}

/* Of the item at hand; a moved one gets another id. */
static void write_item(const struct scan_fixture *fixture, const struct stored_item *item,
                       struct arena *arena, struct write *out)
{
    out->kind = fixture->kind;
    if (out->kind == WRITE_PUT) {
        out->item = make_item(arena, fixture->put_id, scan_fixture_id(item->item));
        return;
    }
    out->key = (struct key){{value_member(item->item, STR("PK"))}, 1};
    out->stamp = item->stamp;
    if (out->kind != WRITE_DELETE) {
        int64_t id = scan_fixture_id(item->item) + (out->kind == WRITE_MOVE ? ITEMS : 0);
        out->item = make_item(arena, id, scan_fixture_visits(item->item) + 1);
    }
}

static bool visit(void *worker, const struct stored_item *item, struct scan_result *out,
                  struct error *err)
{
    struct scan_fixture *fixture = worker;
    struct scan_tally *tally = out->tally;
    tally->met++;
    tally->written++;
    struct write *write = arena_zero(out->arena, sizeof *write);
    write_item(fixture, item, out->arena, write);
    out->writes = write;
    out->write_count = 1;
    out->tag = STR("tag");
    out->note = arena_format(out->arena, "met %lld", (long long)scan_fixture_id(item->item));
    return strike(fixture, AT_ITEM, err);
}

/* Segments in their order, each from where the last run left it. */
static bool next_segment(void *context, struct scan_turn *out, struct error *err)
{
    (void)err;
    struct scan_fixture *fixture = context;
    uint32_t segment = atomic_fetch_add(&fixture->turns, 1);
    while (segment < SEGMENTS && fixture->done[segment]) {
        segment = atomic_fetch_add(&fixture->turns, 1);
    }
    out->none = segment >= SEGMENTS;
    out->segment = segment;
    out->cursor = out->none ? STR("") : fixture->cursors[segment];
    return true;
}

static bool add_page(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                     struct error *err)
{
    struct scan_fixture *fixture = context;
    const struct scan_tally *tally = page->tally;
    fixture->total.met += tally->met;
    fixture->total.written += tally->written;
    fixture->pages++;
    fixture->notes += page->note_count;
    fixture->items += page->items;
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

static bool not_applied(void *context, const struct effect *effect, const struct key *gone,
                        struct error *err)
{
    (void)err;
    struct scan_fixture *fixture = context;
    ck_assert_int_ne(effect->outcome, OUTCOME_APPLIED);
    ck_assert(gone == NULL || effect->outcome == OUTCOME_STALE);
    fixture->gone += gone != NULL ? 1 : 0;
    ck_assert_int_eq(memcmp(effect->tag, "tag", 3), 0);
    fixture->not_applied[effect->outcome]++;
    fixture->total.met--;
    fixture->total.written--;
    return true;
}

struct scan_fixture *scan_fixture_new(void)
{
    struct scan_fixture *fixture = heap_alloc(sizeof *fixture);
    struct memory_store_hooks hooks = {fixture, before_page, before_commit};
    fixture->arena = arena_new();
    fixture->store = memory_store_new(&scan_fixture_keys, &hooks);
    fixture->kind = WRITE_UPDATE;
    fixture->disturbed = -1;
    for (int64_t id = 0; id < ITEMS; id++) {
        memory_store_put(fixture->store, make_item(fixture->arena, id, 0));
    }
    return fixture;
}

void scan_fixture_free(struct scan_fixture *fixture)
{
    ck_assert_msg(atomic_load(&fixture->opened) == 0, "workers stay open");
    store_close(fixture->store);
    arena_free(fixture->arena);
    heap_free(fixture);
}

struct scan_options scan_fixture_options(struct scan_fixture *fixture)
{
    return (struct scan_options){.store = fixture->store,
                                 .workers = 2,
                                 .segments = SEGMENTS,
                                 .limits = {.items = 20},
                                 .pass = PASS,
                                 .stop = &fixture->stop};
}

struct scan_task scan_fixture_task(struct scan_fixture *fixture)
{
    return (struct scan_task){.context = fixture,
                              .tally_bytes = sizeof(struct scan_tally),
                              .worker_open = open_worker,
                              .worker_close = close_worker,
                              .next = fixture->resumes ? next_segment : NULL,
                              .item = visit,
                              .page = add_page,
                              .not_applied = not_applied};
}

bool scan_fixture_run(struct scan_fixture *fixture, const struct scan_options *options,
                      struct error *err)
{
    struct scan_task task = scan_fixture_task(fixture);
    return scan_run(options, &task, err);
}

void scan_fixture_expect_run(struct scan_fixture *fixture, const struct scan_options *options)
{
    struct error err = {0};
    ck_assert_msg(scan_fixture_run(fixture, options, &err), "%s", err.text);
}

size_t scan_fixture_count(const struct scan_fixture *fixture, int64_t visits)
{
    size_t count = 0;
    for (size_t i = 0; i < memory_store_count(fixture->store); i++) {
        count += scan_fixture_visits(memory_store_at(fixture->store, i).item) == visits ? 1 : 0;
    }
    return count;
}

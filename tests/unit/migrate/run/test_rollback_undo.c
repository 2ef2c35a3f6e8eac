#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/undo/undo.h"
#include "migrate/run/rollback_undo.h"
#include "tests/support/memory_store.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LOG = 3, CHANGES_MAX = 6 };

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .partition_count = 1};

struct fixture {
    struct arena *arena;
    struct store *store;
    struct store_reader *reader;
    struct ledger_record record;
    struct error err;
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){.arena = arena_new(), .store = memory_store_new(&keys, NULL)};
    f->record = (struct ledger_record){
        .version = LOG, .name = STR("p"), .hash = STR("1:a"), .state = RUN_ROLLING_BACK};
    ck_assert(store_reader_open(f->store, &f->reader, &f->err));
}

static void tear_down(struct fixture *f)
{
    store_reader_close(f->reader);
    store_close(f->store);
    arena_free(f->arena);
}

/* "k=text" is an item with PK k and V text; "" is none. */
static struct value make_item(struct arena *arena, const char *spelled)
{
    struct value item = {NULL, 0};
    struct error err = {0};
    if (spelled[0] == '\0') {
        return item;
    }
    struct attribute members[] = {
        {STR("PK"), value_string(arena, (struct str){spelled, 1})},
        {STR("V"), value_string(arena, (struct str){spelled + 2, strlen(spelled + 2)})}};
    ck_assert(value_map(arena, members, 2, &item, &err));
    return item;
}

static struct key key_of(struct arena *arena, char name)
{
    struct key key = {.count = 1};
    key.parts[0] = value_string(arena, (struct str){&name, 1});
    return key;
}

/* What stands, "a=x b=y", in the order of names. */
static struct str spell(struct fixture *f)
{
    struct buffer text = {0};
    for (char name = 'a'; name <= 'z'; name++) {
        struct key key = key_of(f->arena, name);
        struct stored_item item;
        ck_assert(store_get(f->reader, (struct key_list){&key, 1}, f->arena, &item, &f->err));
        if (!value_is_missing(item.item)) {
            struct str content = value_bytes(value_member(item.item, STR("V")));
            buffer_format(&text, "%s%c=%.*s", text.len > 0 ? " " : "", name, STR_ARG(content));
        }
    }
    struct str copy = arena_copy(f->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

/* One write as a pass makes it, with its undo record. */
static struct write make_write(struct fixture *f, const char *before, const char *after)
{
    struct value old = make_item(f->arena, before);
    struct value new = make_item(f->arena, after);
    struct buffer undo = {0};
    struct write write = {.item = new};
    undo_append(&keys, old, new, &undo);
    write.undo = arena_copy(f->arena, buffer_str(&undo));
    buffer_free(&undo);
    if (value_is_missing(old)) {
        write.kind = WRITE_PUT;
        return write;
    }
    struct stored_item standing;
    write.key = key_of(f->arena, before[0]);
    ck_assert(store_get(f->reader, (struct key_list){&write.key, 1}, f->arena, &standing, &f->err));
    write.stamp = standing.stamp;
    write.kind = WRITE_UPDATE;
    if (value_is_missing(new)) {
        write.kind = WRITE_DELETE;
    } else if (before[0] != after[0]) {
        write.kind = WRITE_MOVE;
    }
    return write;
}

struct change {
    const char *before;
    const char *after;
};

/* Writes of one pass, all in one commit: one frame of the log. */
static void write_frame(struct fixture *f, const struct change *changes)
{
    struct effect effects[CHANGES_MAX] = {{0}};
    size_t count = 0;
    for (; count < CHANGES_MAX && changes[count].before != NULL; count++) {
        struct write *write = arena_alloc(f->arena, sizeof *write);
        *write = make_write(f, changes[count].before, changes[count].after);
        effects[count] = (struct effect){.writes = write, .count = 1};
    }
    struct batch batch = {
        .effects = effects, .count = count, .pass = 1, .undo_log = LOG, .arena = f->arena};
    ck_assert_msg(store_commit(f->store, &batch, &f->err), "%s", f->err.text);
    ck_assert(store_flush(f->store, &f->err));
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(effects[i].outcome == OUTCOME_APPLIED, "change %zu: %d", i,
                      effects[i].outcome);
    }
}

static bool roll_back(struct fixture *f, const atomic_bool *stop)
{
    struct rollback_undo undo = {.store = f->store,
                                 .reader = f->reader,
                                 .keys = &keys,
                                 .record = &f->record,
                                 .arena = f->arena,
                                 .pause = {NULL, stop}};
    return rollback_undo_run(&undo, &f->err);
}

static const struct {
    const char *says;
    const char *start[3]; /* items before the pass */
    struct change first[CHANGES_MAX];
    struct change second[CHANGES_MAX];
    const char *since[2]; /* items that somebody writes after the pass */
    const char *text;     /* what stands in the end */
    unsigned undone, left;
} cases[] = {
    {"each kind of write",
     {"a=1", "b=2", "c=3"},
     {{"a=1", "a=x"}, {"b=2", ""}, {"c=3", "d=3"}, {"", "e=5"}},
     {{NULL, NULL}},
     {NULL},
     "a=1 b=2 c=3",
     4,
     0},
    {"two frames, the newest first",
     {"a=1"},
     {{"a=1", "a=2"}},
     {{"a=2", "b=2"}},
     {NULL},
     "a=1",
     2,
     0},
    {"what is overwritten by a move stands under one key twice",
     {"a=1", "b=2"},
     {{"b=2", ""}, {"a=1", "b=1"}},
     {{NULL, NULL}},
     {NULL},
     "a=1 b=2",
     2,
     0},
    {"one key put, and put back, in one frame",
     {"a=1"},
     {{"a=1", ""}, {"", "a=9"}},
     {{NULL, NULL}},
     {NULL},
     "a=1",
     2,
     0},
    {"what was changed since is left",
     {"a=1"},
     {{"a=1", "a=2"}},
     {{NULL, NULL}},
     {"a=7"},
     "a=7",
     0,
     1},
    {"a put item that was changed since is left",
     {NULL},
     {{"", "a=2"}},
     {{NULL, NULL}},
     {"a=7"},
     "a=7",
     0,
     1},
    {"another item has taken a deleted one's key",
     {"a=1", "b=2"},
     {{"a=1", ""}, {"b=2", "b=3"}},
     {{NULL, NULL}},
     {"a=7"},
     "a=7 b=2",
     1,
     1},
};

START_TEST(writes_are_taken_back_by_the_table)
{
    struct fixture f;
    set_up(&f);
    for (size_t i = 0; i < 3 && cases[_i].start[i] != NULL; i++) {
        memory_store_put(f.store, make_item(f.arena, cases[_i].start[i]));
    }
    write_frame(&f, cases[_i].first);
    write_frame(&f, cases[_i].second);
    for (size_t i = 0; i < 2 && cases[_i].since[i] != NULL; i++) {
        memory_store_put(f.store, make_item(f.arena, cases[_i].since[i]));
    }
    ck_assert(rollback_undo_begin(f.reader, &f.record, &f.err));
    ck_assert_msg(roll_back(&f, NULL), "%s: %s", cases[_i].says, f.err.text);
    struct str text = spell(&f);
    ck_assert_msg(strcmp(text.ptr, cases[_i].text) == 0, "%s: %s", cases[_i].says, text.ptr);
    ck_assert_msg(f.record.undone == cases[_i].undone && f.record.left == cases[_i].left,
                  "%s: %u undone, %u left", cases[_i].says, (unsigned)f.record.undone,
                  (unsigned)f.record.left);
    ck_assert_uint_eq(f.record.faults.count, cases[_i].left);
    tear_down(&f);
}
END_TEST

START_TEST(a_rollback_that_was_stopped_goes_on_from_its_record)
{
    static const struct change frames[][2] = {{{"a=1", "a=2"}, {NULL, NULL}},
                                              {{"a=2", "a=3"}, {NULL, NULL}},
                                              {{"a=3", "a=4"}, {NULL, NULL}}};
    struct fixture f;
    atomic_bool stop = true;
    set_up(&f);
    memory_store_put(f.store, make_item(f.arena, "a=1"));
    for (size_t i = 0; i < 3; i++) {
        write_frame(&f, frames[i]);
    }
    ck_assert(rollback_undo_begin(f.reader, &f.record, &f.err));
    ck_assert(!roll_back(&f, &stop));
    ck_assert_int_eq(f.err.code, ERROR_STOPPED);
    struct ledger ledger;
    ck_assert(ledger_write(f.store, &f.record, &f.err));
    ck_assert(ledger_read(f.reader, f.arena, &ledger, &f.err));
    f.record = ledger.records[0];
    ck_assert(roll_back(&f, NULL));
    ck_assert_str_eq(spell(&f).ptr, "a=1");
    ck_assert_uint_eq(f.record.undone, 3);
    tear_down(&f);
}
END_TEST

START_TEST(progress_is_part_of_each_commit)
{
    static const struct change changes[] = {{"a=1", "a=2"}, {NULL, NULL}};
    struct fixture f;
    struct ledger ledger;
    set_up(&f);
    memory_store_put(f.store, make_item(f.arena, "a=1"));
    write_frame(&f, changes);
    ck_assert(rollback_undo_begin(f.reader, &f.record, &f.err));
    uint64_t before = f.record.undo_before;
    ck_assert(roll_back(&f, NULL));
    ck_assert(ledger_read(f.reader, f.arena, &ledger, &f.err));
    ck_assert_uint_eq(ledger.count, 1);
    ck_assert_uint_lt(ledger.records[0].undo_before, before);
    ck_assert_uint_eq(ledger.records[0].undone, 1);
    tear_down(&f);
}
END_TEST

int main(void)
{
    TCase *undo = tcase_create("undo");
    tcase_add_loop_test(undo, writes_are_taken_back_by_the_table, 0, ROWS(cases));
    tcase_add_test(undo, a_rollback_that_was_stopped_goes_on_from_its_record);
    tcase_add_test(undo, progress_is_part_of_each_commit);
    Suite *suite = suite_create("migrate/run/rollback_undo");
    suite_add_tcase(suite, undo);
    return suite_run(suite);
}

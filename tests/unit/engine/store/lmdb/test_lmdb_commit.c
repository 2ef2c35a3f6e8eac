#include "engine/undo/undo.h"
#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static const char a1[] = "{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"1\"}}";
static const char a1_changed[] = "{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"2\"}}";
static const char b1[] = "{\"PK\":{\"S\":\"b\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"1\"}}";
static const char b1_changed[] = "{\"PK\":{\"S\":\"b\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"2\"}}";

enum { ITEM_BYTES = 2 + 1 + 2 + 1 + 1 + 2 };

static struct fixture table;

static void make(void)
{
    fixture_make(&table, "PK:S", "SK:S");
}

static void destroy(void)
{
    fixture_remove(&table);
}

static struct value item(const char *json)
{
    return fixture_item(table.arena, json);
}

/* A write onto what stands now under the key of `json`. */
static struct write onto(enum write_kind kind, const char *json, const char *result)
{
    struct value source = item(json);
    struct write write = {.kind = kind,
                          .key = fixture_key(&table, source),
                          .stamp = fixture_get(&table, source).stamp};
    if (result != NULL) {
        write.item = item(result);
    }
    return write;
}

static void expect(const char *json, const char *standing)
{
    struct stored_item got = fixture_get(&table, item(json));
    if (standing == NULL) {
        ck_assert(value_is_missing(got.item));
    } else {
        ck_assert(value_equal(got.item, item(standing)));
    }
}

static void stand(const char *json)
{
    ck_assert_int_eq(fixture_put(&table, item(json)), OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
}

static const struct {
    const char *says;
    const char *standing[2]; /* before */
    enum write_kind kind;
    bool overwrite;
    bool wrong_stamp;
    const char *source; /* UPDATE, DELETE, MOVE */
    const char *result;
    enum outcome outcome;
    const char *after[2]; /* under the keys of a1 and b1 */
} writes[] = {
    {"a put of a new item", {NULL}, WRITE_PUT, false, false, NULL, a1, OUTCOME_APPLIED, {a1, NULL}},
    {"a put of what stands",
     {a1},
     WRITE_PUT,
     false,
     false,
     NULL,
     a1,
     OUTCOME_UNCHANGED,
     {a1, NULL}},
    {"a put onto another",
     {a1},
     WRITE_PUT,
     false,
     false,
     NULL,
     a1_changed,
     OUTCOME_CONFLICT,
     {a1, NULL}},
    {"an overwriting put",
     {a1},
     WRITE_PUT,
     true,
     false,
     NULL,
     a1_changed,
     OUTCOME_APPLIED,
     {a1_changed, NULL}},
    {"an update",
     {a1},
     WRITE_UPDATE,
     false,
     false,
     a1,
     a1_changed,
     OUTCOME_APPLIED,
     {a1_changed, NULL}},
    {"an update that changes nothing",
     {a1},
     WRITE_UPDATE,
     false,
     false,
     a1,
     a1,
     OUTCOME_UNCHANGED,
     {a1, NULL}},
    {"an update already done",
     {a1_changed},
     WRITE_UPDATE,
     false,
     true,
     a1,
     a1_changed,
     OUTCOME_UNCHANGED,
     {a1_changed, NULL}},
    {"an update of another version",
     {a1},
     WRITE_UPDATE,
     false,
     true,
     a1,
     a1_changed,
     OUTCOME_STALE,
     {a1, NULL}},
    {"an update of nothing",
     {NULL},
     WRITE_UPDATE,
     false,
     false,
     a1,
     a1_changed,
     OUTCOME_STALE,
     {NULL, NULL}},
    {"a delete", {a1}, WRITE_DELETE, false, false, a1, NULL, OUTCOME_APPLIED, {NULL, NULL}},
    {"a delete of nothing",
     {NULL},
     WRITE_DELETE,
     false,
     false,
     a1,
     NULL,
     OUTCOME_UNCHANGED,
     {NULL, NULL}},
    {"a delete of another version",
     {a1},
     WRITE_DELETE,
     false,
     true,
     a1,
     NULL,
     OUTCOME_STALE,
     {a1, NULL}},
    {"a move", {a1}, WRITE_MOVE, false, false, a1, b1, OUTCOME_APPLIED, {NULL, b1}},
    {"a move onto its equal",
     {a1, b1},
     WRITE_MOVE,
     false,
     false,
     a1,
     b1,
     OUTCOME_APPLIED,
     {NULL, b1}},
    {"a move onto another",
     {a1, b1_changed},
     WRITE_MOVE,
     false,
     false,
     a1,
     b1,
     OUTCOME_CONFLICT,
     {a1, b1_changed}},
    {"an overwriting move",
     {a1, b1_changed},
     WRITE_MOVE,
     true,
     false,
     a1,
     b1,
     OUTCOME_APPLIED,
     {NULL, b1}},
    {"a move already done", {b1}, WRITE_MOVE, false, false, a1, b1, OUTCOME_UNCHANGED, {NULL, b1}},
    {"a move of nothing", {NULL}, WRITE_MOVE, false, false, a1, b1, OUTCOME_STALE, {NULL, NULL}},
    {"a move of another version", {a1}, WRITE_MOVE, false, true, a1, b1, OUTCOME_STALE, {a1, NULL}},
    {"a key of the wrong type",
     {NULL},
     WRITE_PUT,
     false,
     false,
     NULL,
     "{\"PK\":{\"N\":\"1\"},\"SK\":{\"S\":\"1\"}}",
     OUTCOME_REJECTED,
     {NULL, NULL}},
    {"an empty key",
     {NULL},
     WRITE_PUT,
     false,
     false,
     NULL,
     "{\"PK\":{\"S\":\"\"},\"SK\":{\"S\":\"1\"}}",
     OUTCOME_REJECTED,
     {NULL, NULL}},
};

START_TEST(a_write_follows_the_table)
{
    for (size_t i = 0; i < 2 && writes[_i].standing[i] != NULL; i++) {
        stand(writes[_i].standing[i]);
    }
    struct write write = {.kind = writes[_i].kind};
    if (writes[_i].source != NULL) {
        write = onto(writes[_i].kind, writes[_i].source, writes[_i].result);
    } else {
        write.item = item(writes[_i].result);
    }
    write.overwrite = writes[_i].overwrite;
    write.stamp ^= writes[_i].wrong_stamp ? 1 : 0;
    ck_assert_msg(fixture_write(&table, write) == writes[_i].outcome, "%s", writes[_i].says);
    ck_assert(fixture_flush(&table));
    expect(a1, writes[_i].after[0]);
    expect(b1, writes[_i].after[1]);
    ck_assert_uint_eq(fixture_verify(&table), 0);
}
END_TEST

START_TEST(an_effect_applies_as_a_whole_or_not_at_all)
{
    stand(a1);
    stand(b1_changed);
    struct write two[] = {onto(WRITE_UPDATE, a1, a1_changed),
                          {.kind = WRITE_PUT, .item = item(b1)}};
    struct effect effect = {.writes = two, .count = 2};
    struct batch batch = {.effects = &effect, .count = 1, .pass = 2, .arena = table.arena};
    ck_assert(store_commit(table.store, &batch, &table.err));
    ck_assert_int_eq(effect.outcome, OUTCOME_CONFLICT);
    ck_assert_ptr_nonnull(strstr(effect.refusal, "PK='b' SK='1'"));
    two[1].overwrite = true;
    ck_assert(store_commit(table.store, &batch, &table.err));
    ck_assert_int_eq(effect.outcome, OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
    expect(a1, a1_changed);
    expect(b1, b1);
    ck_assert_uint_eq(fixture_get(&table, item(a1)).pass, 2);
}
END_TEST

START_TEST(two_writes_of_an_effect_cannot_want_one_key)
{
    struct write two[] = {{.kind = WRITE_PUT, .item = item(a1)},
                          {.kind = WRITE_PUT, .item = item(a1_changed)}};
    struct effect effect = {.writes = two, .count = 2};
    struct batch batch = {.effects = &effect, .count = 1, .pass = 1, .arena = table.arena};
    ck_assert(store_commit(table.store, &batch, &table.err));
    ck_assert_int_eq(effect.outcome, OUTCOME_CONFLICT);
    two[1].item = item(a1);
    ck_assert(store_commit(table.store, &batch, &table.err));
    ck_assert_int_eq(effect.outcome, OUTCOME_APPLIED);
}
END_TEST

START_TEST(what_is_stale_can_be_read_at_once)
{
    stand(a1);
    struct write update = onto(WRITE_UPDATE, a1, a1_changed);
    ck_assert_int_eq(fixture_write(&table, update), OUTCOME_APPLIED);
    expect(a1, a1);
    update.item = item("{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"1\"},\"V\":{\"N\":\"3\"}}");
    ck_assert_int_eq(fixture_write(&table, update), OUTCOME_STALE);
    expect(a1, a1_changed);
}
END_TEST

START_TEST(what_was_not_flushed_is_gone)
{
    stand(a1);
    ck_assert_int_eq(fixture_put(&table, item(b1)), OUTCOME_APPLIED);
    fixture_close(&table);
    ck_assert_msg(fixture_open(&table, STORE_WRITE), "%s", table.err.text);
    expect(a1, a1);
    expect(b1, NULL);
}
END_TEST

START_TEST(counts_are_exact)
{
    stand(a1);
    stand(b1);
    struct table_desc desc;
    ck_assert(store_describe(table.store, table.arena, &desc, &table.err));
    ck_assert_uint_eq(desc.item_count, 2);
    ck_assert_uint_eq(desc.size_bytes, 2UL * ITEM_BYTES);
    ck_assert_int_eq(fixture_write(&table, onto(WRITE_DELETE, a1, NULL)), OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
    ck_assert(store_describe(table.store, table.arena, &desc, &table.err));
    ck_assert_uint_eq(desc.item_count, 1);
    ck_assert_uint_eq(desc.size_bytes, ITEM_BYTES);
}
END_TEST

static struct value last_undo(uint64_t log, uint64_t *sequence, enum undo_kind *kind)
{
    struct undo_frame frame;
    struct str records;
    struct undo_record record;
    struct key_schema keys = fixture_keys("PK:S", "SK:S");
    ck_assert(store_undo_last(table.reader, (struct undo_place){log, *sequence}, table.arena,
                              &frame, &table.err));
    if (frame.bytes.ptr == NULL) {
        return (struct value){NULL, 0};
    }
    *sequence = frame.sequence;
    ck_assert(undo_unpack(frame.bytes, 1 << 20, table.arena, &records, &table.err));
    ck_assert(undo_read(&keys, records, table.arena, &record, &table.err));
    *kind = record.kind;
    return record.image;
}

START_TEST(an_overwrite_keeps_what_it_took_away)
{
    stand(a1);
    struct buffer undo = {0};
    struct key_schema keys = fixture_keys("PK:S", "SK:S");
    undo_append(&keys, (struct value){NULL, 0}, item(a1_changed), &undo);
    struct write put = {
        .kind = WRITE_PUT, .overwrite = true, .item = item(a1_changed), .undo = buffer_str(&undo)};
    struct effect effect = {.writes = &put, .count = 1};
    struct batch batch = {
        .effects = &effect, .count = 1, .pass = 1, .undo_log = 7, .arena = table.arena};
    ck_assert(store_commit(table.store, &batch, &table.err));
    ck_assert(fixture_flush(&table));
    buffer_free(&undo);
    uint64_t sequence = UINT64_MAX;
    enum undo_kind kind = UNDO_PUT;
    ck_assert(value_equal(last_undo(7, &sequence, &kind), item(a1)));
    ck_assert_int_eq(kind, UNDO_DELETE);
    ck_assert_uint_eq(sequence, 1);
    ck_assert(value_is_missing(last_undo(7, &sequence, &kind)));
    sequence = UINT64_MAX;
    ck_assert(value_is_missing(last_undo(8, &sequence, &kind)));
    ck_assert(store_undo_drop(table.store, 7, &table.err));
    ck_assert(fixture_flush(&table));
    ck_assert(value_is_missing(last_undo(7, &sequence, &kind)));
}
END_TEST

static bool commit_control(struct control control)
{
    struct batch batch = {.controls = &control, .control_count = 1, .arena = table.arena};
    return store_commit(table.store, &batch, &table.err) && fixture_flush(&table);
}

START_TEST(control_records_are_written_under_their_condition)
{
    struct str value;
    ck_assert(store_control_get(table.reader, STR("run"), table.arena, &value, &table.err));
    ck_assert_ptr_null(value.ptr);
    struct control first = {.name = STR("run"), .value = STR("1"), .conditional = true};
    ck_assert(commit_control(first));
    ck_assert(!commit_control(first));
    ck_assert_int_eq(table.err.code, ERROR_BUSY);
    ck_assert(commit_control((struct control){
        .name = STR("run"), .value = STR(""), .conditional = true, .expected = STR("1")}));
    ck_assert(store_control_get(table.reader, STR("run"), table.arena, &value, &table.err));
    ck_assert_ptr_nonnull(value.ptr);
    ck_assert_uint_eq(value.len, 0);
    ck_assert(commit_control((struct control){.name = STR("run")}));
    ck_assert(store_control_get(table.reader, STR("run"), table.arena, &value, &table.err));
    ck_assert_ptr_null(value.ptr);
}
END_TEST

START_TEST(a_failed_condition_takes_the_batch_with_it)
{
    stand(a1);
    struct write update = onto(WRITE_UPDATE, a1, a1_changed);
    struct effect effect = {.writes = &update, .count = 1};
    struct control control = {
        .name = STR("run"), .value = STR("2"), .conditional = true, .expected = STR("1")};
    struct batch batch = {.effects = &effect,
                          .count = 1,
                          .controls = &control,
                          .control_count = 1,
                          .pass = 1,
                          .arena = table.arena};
    ck_assert(!store_commit(table.store, &batch, &table.err));
    ck_assert(fixture_flush(&table));
    expect(a1, a1);
}
END_TEST

/* Puts onto a1, which is refused, and others, with a control that counts on all of them. */
static void commit_but_one(const char *const *others, size_t count)
{
    struct write *puts = arena_zero(table.arena, (count + 1) * sizeof *puts);
    struct effect *effects = arena_zero(table.arena, (count + 1) * sizeof *effects);
    for (size_t i = 0; i <= count; i++) {
        puts[i] =
            (struct write){.kind = WRITE_PUT, .item = item(i == 0 ? a1_changed : others[i - 1])};
        effects[i] = (struct effect){.writes = &puts[i], .count = 1};
    }
    struct control control = {.name = STR("run"), .value = STR("wrong")};
    struct batch batch = {.effects = effects,
                          .count = count + 1,
                          .controls = &control,
                          .control_count = 1,
                          .pass = 1,
                          .arena = table.arena};
    ck_assert(store_commit(table.store, &batch, &table.err));
    ck_assert_int_eq(effects[0].outcome, OUTCOME_CONFLICT);
    ck_assert_int_eq(effects[count].outcome, OUTCOME_APPLIED);
}

static struct str flushed_control(void)
{
    struct str value;
    ck_assert(store_control_get(table.reader, STR("run"), table.arena, &value, &table.err));
    return value;
}

START_TEST(controls_wait_until_all_effects_have_applied)
{
    const char *const others[] = {b1};
    stand(a1);
    commit_but_one(others, 1);
    ck_assert(fixture_flush(&table));
    ck_assert_ptr_null(flushed_control().ptr);
    ck_assert(commit_control((struct control){.name = STR("run"), .value = STR("right")}));
    ck_assert(fixture_flush(&table));
    ck_assert(str_equal(flushed_control(), STR("right")));
}
END_TEST

START_TEST(a_full_transaction_waits_for_its_controls)
{
    enum { LARGE = 130, LARGE_BYTES = 390 * 1024 };
    const char *others[LARGE];
    char *filling = arena_alloc(table.arena, LARGE_BYTES);
    memset(filling, 'x', LARGE_BYTES);
    for (int i = 0; i < LARGE; i++) {
        others[i] =
            arena_format(table.arena,
                         "{\"PK\":{\"S\":\"%d\"},\"SK\":{\"S\":\"1\"},\"V\":{\"S\":\"%.*s\"}}", i,
                         LARGE_BYTES, filling)
                .ptr;
    }
    stand(a1);
    commit_but_one(others, LARGE);
    expect(others[0], NULL);
    ck_assert(commit_control((struct control){.name = STR("run"), .value = STR("right")}));
    expect(others[0], others[0]);
    ck_assert(str_equal(flushed_control(), STR("right")));
}
END_TEST

START_TEST(control_records_are_listed_by_prefix)
{
    static const char *const names[] = {"plan/2", "plan/1", "plan", "pland", "a"};
    for (size_t i = 0; i < 5; i++) {
        ck_assert(commit_control(
            (struct control){.name = {names[i], strlen(names[i])}, .value = STR("x")}));
    }
    struct control_list found = {NULL, 0};
    ck_assert(store_control_list(table.reader, STR("plan/"), table.arena, &found, &table.err));
    ck_assert_uint_eq(found.count, 2);
    ck_assert(str_equal(found.list[0].name, STR("plan/1")));
    ck_assert(store_control_list(table.reader, STR(""), table.arena, &found, &table.err));
    ck_assert_uint_eq(found.count, 5);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("commit");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_add_loop_test(cases, a_write_follows_the_table, 0, ROWS(writes));
    tcase_add_test(cases, an_effect_applies_as_a_whole_or_not_at_all);
    tcase_add_test(cases, two_writes_of_an_effect_cannot_want_one_key);
    tcase_add_test(cases, what_is_stale_can_be_read_at_once);
    tcase_add_test(cases, what_was_not_flushed_is_gone);
    tcase_add_test(cases, counts_are_exact);
    tcase_add_test(cases, an_overwrite_keeps_what_it_took_away);
    tcase_add_test(cases, control_records_are_written_under_their_condition);
    tcase_add_test(cases, a_failed_condition_takes_the_batch_with_it);
    tcase_add_test(cases, controls_wait_until_all_effects_have_applied);
    tcase_add_test(cases, a_full_transaction_waits_for_its_controls);
    tcase_add_test(cases, control_records_are_listed_by_prefix);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_commit");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}

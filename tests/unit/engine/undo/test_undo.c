#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/item/item_json.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/undo/undo.h"
#include "tests/rules/undo_record.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct key_schema schema = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                         .partition_count = 1,
                                         .sort = {{STR_INIT("SK"), VALUE_S}},
                                         .sort_count = 1};

/* An item from plain JSON; NULL: missing. */
static struct value item_from(const char *text, struct arena *arena)
{
    struct value item = {NULL, 0};
    struct json_options options = {.file = "item"};
    struct json *json = NULL;
    struct error err = {0};
    if (text != NULL) {
        struct str whole = {text, strlen(text)};
        ck_assert_msg(json_parse(whole, &options, arena, &json, &err), "%s", err.text);
        ck_assert_msg(item_json_plain(json, arena, &item, &err), "%s", err.text);
    }
    return item;
}

static struct undo_record record_of(struct value before, struct value after, struct arena *arena)
{
    struct buffer bytes = {0};
    struct undo_record record = {0};
    struct error err = {0};
    undo_append(&schema, before, after, &bytes);
    undo_append(&schema, before, after, &bytes); /* a record ends where the next begins */
    struct str copy = arena_copy(arena, buffer_str(&bytes));
    buffer_free(&bytes);
    ck_assert_msg(undo_read(&schema, copy, arena, &record, &err), "%s", err.text);
    ck_assert_uint_eq(2 * record.len, copy.len);
    return record;
}

#define OLD  "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"a\",\"Gone\":1}"
#define NEW  "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"b\",\"More\":2}"
#define AWAY "{\"PK\":\"C#1\",\"SK\":\"O#9\",\"Name\":\"a\",\"Gone\":1}"

static const struct {
    const char *says;
    const char *before, *after;
    const char *current, *occupant;
    enum undo_kind kind;
    enum undo_action action;
    const char *item;
    size_t left;
    const char *reason;
} decisions[] = {
    {"a put item goes", NULL, NEW, NEW, NULL, UNDO_PUT, UNDO_DELETE_ITEM, NULL, 0, ""},
    {"a put item that is gone stays gone", NULL, NEW, NULL, NULL, UNDO_PUT, UNDO_NOTHING, NULL, 0,
     ""},
    {"a put item that was changed stays", NULL, NEW, OLD, NULL, UNDO_PUT, UNDO_NOTHING, NULL, 1,
     "the item was changed since"},
    {"a deleted item comes back", OLD, NULL, NULL, NULL, UNDO_DELETE, UNDO_PUT_ITEM, OLD, 0, ""},
    {"a deleted item that is back is left", OLD, NULL, OLD, OLD, UNDO_DELETE, UNDO_NOTHING, NULL, 0,
     ""},
    {"a deleted item never replaces another", OLD, NULL, NULL, NEW, UNDO_DELETE, UNDO_NOTHING, NULL,
     1, "another item was put there since"},
    {"attributes go back", OLD, NEW, NEW, NULL, UNDO_UPDATE, UNDO_PUT_ITEM, OLD, 0, ""},
    {"restored attributes are no work", OLD, NEW, OLD, NULL, UNDO_UPDATE, UNDO_NOTHING, NULL, 0,
     ""},
    {"a new attribute is kept", OLD, NEW,
     "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"b\",\"More\":2,\"Their\":3}", NULL, UNDO_UPDATE,
     UNDO_PUT_ITEM, "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"a\",\"Gone\":1,\"Their\":3}", 0, ""},
    {"a changed attribute is left", OLD, NEW,
     "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"c\",\"More\":2}", NULL, UNDO_UPDATE, UNDO_PUT_ITEM,
     "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"c\",\"Gone\":1}", 1, "Name was changed since"},
    {"nothing is ours any more", OLD, NEW,
     "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"c\",\"More\":7,\"Gone\":7}", NULL, UNDO_UPDATE,
     UNDO_NOTHING, NULL, 3, "Gone and 2 more were changed since"},
    {"an updated item that is gone stays gone", OLD, NEW, NULL, NULL, UNDO_UPDATE, UNDO_NOTHING,
     NULL, 1, "the item was deleted since"},
    {"a moved item goes back", OLD, AWAY, AWAY, NULL, UNDO_MOVE, UNDO_MOVE_BACK, OLD, 0, ""},
    {"a moved item takes changes along", OLD, AWAY,
     "{\"PK\":\"C#1\",\"SK\":\"O#9\",\"Name\":\"c\",\"Gone\":1}", NULL, UNDO_MOVE, UNDO_MOVE_BACK,
     "{\"PK\":\"C#1\",\"SK\":\"O#1\",\"Name\":\"c\",\"Gone\":1}", 0, ""},
    {"an occupied old key is left", OLD, AWAY, AWAY, NEW, UNDO_MOVE, UNDO_NOTHING, NULL, 1,
     "another item stands under its old key"},
    {"a moved item that is gone stays gone", OLD, AWAY, NULL, NULL, UNDO_MOVE, UNDO_NOTHING, NULL,
     1, "the item was deleted since"},
    {"a move broken off half way leaves the old item alone", OLD, AWAY, AWAY, OLD, UNDO_MOVE,
     UNDO_DELETE_ITEM, NULL, 0, ""},
    {"a move that is undone is no work", OLD, AWAY, NULL, OLD, UNDO_MOVE, UNDO_NOTHING, NULL, 0,
     ""},
};

START_TEST(what_still_stands_is_put_back)
{
    struct arena *arena = arena_new();
    struct value before = item_from(decisions[_i].before, arena);
    struct value after = item_from(decisions[_i].after, arena);
    struct undo_record record = record_of(before, after, arena);
    struct undo_decision decision = {0};
    undo_decide(&record, item_from(decisions[_i].current, arena),
                item_from(decisions[_i].occupant, arena), arena, &decision);
    const char *says = decisions[_i].says;
    ck_assert_msg(record.kind == decisions[_i].kind, "%s: kind %d", says, record.kind);
    ck_assert_msg(decision.action == decisions[_i].action, "%s: %d", says, decision.action);
    ck_assert_msg(decision.left == decisions[_i].left, "%s: %zu left", says, decision.left);
    ck_assert_msg(value_equal(decision.item, item_from(decisions[_i].item, arena)), "%s", says);
    struct str reason = {decisions[_i].reason, strlen(decisions[_i].reason)};
    ck_assert_msg(str_equal(decision.reason, reason), "%s: %.*s", says, STR_ARG(decision.reason));
    arena_free(arena);
}
END_TEST

START_TEST(an_update_keeps_only_what_changed)
{
    struct arena *arena = arena_new();
    struct undo_record record = record_of(item_from(OLD, arena), item_from(NEW, arena), arena);
    ck_assert(value_is_missing(record.image));
    ck_assert_uint_eq(record.attribute_count, 3);
    static const char *const names[] = {"Gone", "More", "Name"};
    for (size_t i = 0; i < 3; i++) {
        ck_assert(str_equal(record.attributes[i].name, (struct str){names[i], 4}));
    }
    ck_assert_uint_eq(record.attributes[0].after_digest, 0);
    ck_assert(value_is_missing(record.attributes[1].before));
    ck_assert_uint_ne(record.attributes[2].after_digest, 0);
    arena_free(arena);
}
END_TEST

START_TEST(a_move_knows_both_keys)
{
    struct arena *arena = arena_new();
    struct undo_record record = record_of(item_from(OLD, arena), item_from(AWAY, arena), arena);
    ck_assert(str_equal(value_bytes(record.key.parts[1]), STR("O#1")));
    ck_assert(str_equal(value_bytes(record.new_key.parts[1]), STR("O#9")));
    ck_assert(value_equal(record.image, item_from(OLD, arena)));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    property_rule *rule;
} laws[] = {
    {"undo_restores_the_item", rule_undo_restores_the_item},
    {"undo_leaves_what_was_changed_since", rule_undo_leaves_what_was_changed_since},
    {"undo_frames_keep_their_records", rule_undo_frames_keep_their_records},
    {"undo_reads_any_bytes", rule_undo_reads_any_bytes},
};

START_TEST(undo_obeys_its_laws)
{
    property_check(laws[_i].says, laws[_i].rule);
}
END_TEST

int main(void)
{
    TCase *undo = tcase_create("undo");
    tcase_add_loop_test(undo, what_still_stands_is_put_back, 0, ROWS(decisions));
    tcase_add_test(undo, an_update_keeps_only_what_changed);
    tcase_add_test(undo, a_move_knows_both_keys);
    tcase_add_loop_test(undo, undo_obeys_its_laws, 0, ROWS(laws));
    Suite *suite = suite_create("engine/undo/undo");
    suite_add_tcase(suite, undo);
    return suite_run(suite);
}

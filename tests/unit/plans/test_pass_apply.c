#include "plans/pass.h"

#include "tests/rules/plans_fixture.h"
#include "tests/rules/plans_pass.h"
#include "tests/support/suite.h"

/* What a lookup finds in these tests: PK "gone": nothing; PK "broken": the store fails. */
static bool look_up(void *context, const struct key *key, struct arena *arena, struct value *out,
                    struct error *err)
{
    size_t *calls = context;
    struct str partition = value_bytes(key->parts[0]);
    (*calls)++;
    if (str_equal(partition, STR("broken"))) {
        return error_set(err, ERROR_STORE, "the disk is gone");
    }
    *out = (struct value){NULL, 0};
    if (!str_equal(partition, STR("gone"))) {
        struct str text = arena_format(arena,
                                       "{\"PK\": \"%.*s\", \"SK\": \"%.*s\", \"Name\": "
                                       "\"Ada\"}",
                                       STR_ARG(partition), STR_ARG(value_bytes(key->parts[1])));
        *out = plans_value(text.ptr, arena);
    }
    return true;
}

struct applied {
    struct arena *arena;
    const struct pass *pass;
    struct pass_result result;
    size_t lookups;
};

static struct applied apply(const char *steps, const char *item, const bool *skip)
{
    struct applied applied = {.arena = arena_new()};
    struct error err = {0};
    ck_assert_msg(plans_pass(steps, 0, applied.arena, &applied.pass, &err), "%s: %s", steps,
                  err.text);
    struct pass_input input = {plans_value(item, applied.arena), look_up, &applied.lookups, skip};
    ck_assert_msg(pass_apply(applied.pass, &input, applied.arena, &applied.result, &err), "%s",
                  err.text);
    return applied;
}

/* One letter a step: - not matched, W written, U unchanged, S skipped, F failed. */
static const char *outcomes_of(const struct applied *applied)
{
    char *text = arena_bytes(applied->arena, 16);
    size_t count = pass_facts(applied->pass)->step_count;
    for (size_t i = 0; i < count; i++) {
        text[i] = "-WUSF"[applied->result.outcomes[i]];
    }
    text[count] = '\0';
    return text;
}

/* The step and the item without their braces and the item's key. */
#define KEY           "\"PK\": \"p\", \"SK\": \"s\""
#define ITEM(members) "{" KEY ", " members "}"

/* result: the new item, or the reason of PASS_FAILED. */
static const struct {
    const char *says;
    const char *steps;
    const char *item;
    enum pass_fate fate;
    const char *outcomes;
    const char *result;
} applies[] = {
    {"set", "{\"set\": {\"A\": \"${N}#${PK}\", \"C\": 1}}", ITEM("\"N\": 2"), PASS_UPDATE, "W",
     ITEM("\"N\": 2, \"A\": \"2#p\", \"C\": 1")},
    {"where holds it back", "{\"where\": \"N = 1\", \"set\": {\"A\": 1}}", ITEM("\"N\": 2"),
     PASS_UNCHANGED, "-", NULL},
    {"as it stands already", "{\"set\": {\"A\": 1.0, \"T\": {\"NS\": [\"2\", \"1e0\"]}}}",
     ITEM("\"A\": 1, \"T\": {\"NS\": [\"1.0\", \"2\"]}"), PASS_UNCHANGED, "U", NULL},
    {"an attribute of another type changes", "{\"set\": {\"A\": 1}}", ITEM("\"A\": \"1\""),
     PASS_UPDATE, "W", ITEM("\"A\": 1")},
    {"a swap, with a marker",
     "{\"where\": \"attribute_not_exists(done)\", \"set\": {\"a\": \"${b}\", \"b\": \"${a}\", "
     "\"done\": true}}",
     ITEM("\"a\": 1, \"b\": 2"), PASS_UPDATE, "W", ITEM("\"a\": 2, \"b\": 1, \"done\": true")},
    {"a swap without one", "{\"set\": {\"a\": \"${b}\", \"b\": \"${a}\"}}",
     ITEM("\"a\": 1, \"b\": 2"), PASS_FAILED, "F",
     "does not converge: applied to its own result, the pass would change a"},
    {"a swap of equals", "{\"set\": {\"a\": \"${b}\", \"b\": \"${a}\"}}",
     ITEM("\"a\": 1, \"b\": 1"), PASS_UNCHANGED, "U", NULL},
    {"a set reads a renamed attribute by its old name",
     "{\"rename\": {\"a\": \"b\"}, \"set\": {\"c\": \"${a}!\"}, \"where\": "
     "\"attribute_exists(a)\"}",
     ITEM("\"a\": \"x\""), PASS_UPDATE, "W", ITEM("\"b\": \"x\", \"c\": \"x!\"")},
    {"each step sees what the one before has left",
     "{\"set\": {\"a\": 1}}, {\"where\": \"a = 1\", \"set\": {\"b\": \"${a + 1}\"}}",
     ITEM("\"a\": 0"), PASS_UPDATE, "WW", ITEM("\"a\": 1, \"b\": 2")},
    {"changes that come to nothing", "{\"set\": {\"a\": 1}}, {\"set\": {\"a\": 0}}",
     ITEM("\"a\": 0"), PASS_UNCHANGED, "UU", NULL},
    {"a missing value", "{\"set\": {\"a\": 1}}, {\"set\": {\"b\": \"x${Gone}\"}}", ITEM("\"a\": 0"),
     PASS_FAILED, "-F", "b: Gone is missing"},
    {"a value that cannot be", "{\"set\": {\"b\": {\"N\": \"${a}\"}}}", ITEM("\"a\": [1]"),
     PASS_FAILED, "F", "b: expected a value that makes N, found L"},
    {"an error in where", "{\"where\": \"number(a) = 1\", \"delete\": true}", ITEM("\"a\": \"x\""),
     PASS_FAILED, "F", "where: "},
    {"a missing where is no match", "{\"where\": \"number(b) = 1\", \"delete\": true}",
     ITEM("\"a\": \"x\""), PASS_UNCHANGED, "-", NULL},
    {"an empty set removes", "{\"set\": {\"T\": {\"SS\": []}}}", ITEM("\"T\": {\"SS\": [\"a\"]}"),
     PASS_UPDATE, "W", "{" KEY "}"},
    {"an empty set of what is not there", "{\"set\": {\"T\": {\"SS\": []}}}", "{" KEY "}",
     PASS_UNCHANGED, "U", NULL},
    {"a document path", "{\"set\": {\"M.b\": 1, \"L[1]\": 2}}",
     ITEM("\"M\": {\"a\": 0}, \"L\": [0, 0]"), PASS_UPDATE, "W",
     ITEM("\"M\": {\"a\": 0, \"b\": 1}, \"L\": [0, 2]")},
    {"past the end of a list", "{\"where\": \"size(L) < 2\", \"set\": {\"L[9]\": 2}}",
     ITEM("\"L\": [0]"), PASS_UPDATE, "W", ITEM("\"L\": [0, 2]")},
    {"past the end of a list again and again", "{\"set\": {\"L[9]\": 2}}", ITEM("\"L\": [0]"),
     PASS_FAILED, "F", "does not converge: applied to its own result, the pass would change L"},
    {"a parent that is not there", "{\"set\": {\"M.b\": 1}}", "{" KEY "}", PASS_FAILED, "F",
     "M: expected M, found missing"},
    {"a remove whose parent is not there", "{\"remove\": [\"M.b\"]}", "{" KEY "}", PASS_FAILED, "F",
     "M: expected M, found missing"},
    {"a remove whose parent is another thing", "{\"remove\": [\"M.b\"]}", ITEM("\"M\": 1"),
     PASS_FAILED, "F", "M: expected M, found N"},
    {"a remove of nothing", "{\"remove\": [\"a\", \"M.b\"]}", ITEM("\"M\": {}"), PASS_UNCHANGED,
     "U", NULL},
    {"a remove", "{\"remove\": [\"a\", \"M.b\", \"\\\"my attr\\\"\"]}",
     ITEM("\"a\": 1, \"M\": {\"b\": 1, \"c\": 2}, \"my attr\": 3"), PASS_UPDATE, "W",
     ITEM("\"M\": {\"c\": 2}")},
    {"a rename of nothing", "{\"rename\": {\"a\": \"b\", \"M.c\": \"d\"}}", ITEM("\"b\": 1"),
     PASS_UNCHANGED, "U", NULL},
    {"a rename onto a standing one", "{\"rename\": {\"a\": \"b\"}}", ITEM("\"a\": 1, \"b\": 1"),
     PASS_FAILED, "F", "rename of a: b stands already"},
    {"a delete", "{\"where\": \"a = 1\", \"delete\": true}, {\"set\": {\"b\": 1}}",
     ITEM("\"a\": 1"), PASS_DELETE, "W-", NULL},
    {"a delete after a set", "{\"set\": {\"a\": 1}}, {\"where\": \"a = 1\", \"delete\": true}",
     ITEM("\"a\": 0"), PASS_DELETE, "WW", NULL},
    {"an index key is converted", "{\"set\": {\"GSI1PK\": \"${N}\", \"GSI1SK\": \"${D}\"}}",
     ITEM("\"N\": 7, \"D\": \"08\""), PASS_UPDATE, "W",
     ITEM("\"N\": 7, \"D\": \"08\", \"GSI1PK\": \"7\", \"GSI1SK\": 8")},
    {"an index key that does not convert", "{\"set\": {\"GSI1SK\": \"${D}\"}}",
     ITEM("\"D\": \"x\""), PASS_FAILED, "F", "GSI1SK: "},
    {"an empty index key", "{\"set\": {\"GSI1PK\": \"${D}\"}}", ITEM("\"D\": \"\""), PASS_FAILED,
     "F", "GSI1PK: expected a value for a key attribute, found an empty S"},
    {"a renamed index key of the wrong type", "{\"rename\": {\"D\": \"GSI1PK\"}}", ITEM("\"D\": 1"),
     PASS_FAILED, "F", "index: key attribute GSI1PK: expected S, found N"},
    {"a bad index key stays in another change", "{\"set\": {\"a\": 1}}", ITEM("\"GSI1PK\": 1"),
     PASS_UPDATE, "W", ITEM("\"GSI1PK\": 1, \"a\": 1")},
    {"a bad index key and a change of it", "{\"set\": {\"GSI1SK\": 1}}", ITEM("\"GSI1PK\": 1"),
     PASS_FAILED, "F", "index: key attribute GSI1PK: expected S, found N"},
    {"a bad index key and no change", "{\"set\": {\"a\": 1}}", ITEM("\"GSI1PK\": 1, \"a\": 1"),
     PASS_UNCHANGED, "U", NULL},
    {"a lookup",
     "{\"lookup\": {\"c\": {\"PK\": \"${U}\", \"SK\": \"X\"}}, \"where\": \"attribute_exists(U)\", "
     "\"set\": {\"b\": \"${c.Name} ${c.SK}\"}}",
     ITEM("\"U\": \"u\""), PASS_UPDATE, "W", ITEM("\"U\": \"u\", \"b\": \"Ada X\"")},
    {"a lookup of nothing",
     "{\"lookup\": {\"c\": {\"PK\": \"${U}\", \"SK\": \"X\"}}, \"set\": {\"b\": \"${c.Name}\"}}",
     ITEM("\"U\": \"gone\""), PASS_FAILED, "F", "b: c.Name is missing"},
    {"a lookup by what is missing",
     "{\"lookup\": {\"c\": {\"PK\": \"${V}\", \"SK\": \"X\"}}, \"set\": {\"b\": "
     "\"${coalesce(c.Name, "
     "'none')}\"}}",
     ITEM("\"U\": \"u\""), PASS_UPDATE, "W", ITEM("\"U\": \"u\", \"b\": \"none\"")},
    {"a lookup by an empty key",
     "{\"lookup\": {\"c\": {\"PK\": \"${U}\", \"SK\": \"X\"}}, \"set\": {\"b\": \"${c.Name}\"}}",
     ITEM("\"U\": \"\""), PASS_FAILED, "F",
     "lookup c: expected a value for a key attribute, found an empty S"},
    {"a where that reads the lookup",
     "{\"lookup\": {\"c\": {\"PK\": \"${U}\", \"SK\": \"X\"}}, \"where\": \"c.Name = 'Ada'\", "
     "\"set\": {\"b\": 1}}",
     ITEM("\"U\": \"u\""), PASS_UPDATE, "W", ITEM("\"U\": \"u\", \"b\": 1")},
};

START_TEST(pass_apply_follows_the_table)
{
    struct applied applied = apply(applies[_i].steps, applies[_i].item, NULL);
    const struct pass_result *result = &applied.result;
    ck_assert_msg(result->fate == applies[_i].fate, "%s: %d %.*s", applies[_i].says,
                  (int)result->fate, STR_ARG(result->reason));
    ck_assert_msg(strcmp(outcomes_of(&applied), applies[_i].outcomes) == 0, "%s: %s",
                  applies[_i].says, outcomes_of(&applied));
    const char *wanted = applies[_i].result;
    if (result->fate == PASS_FAILED && wanted != NULL) {
        size_t len = strlen(wanted);
        bool open = strcmp(wanted + len - 2, ": ") == 0;
        ck_assert_msg(open ? strncmp(result->reason.ptr, wanted, len) == 0
                           : strcmp(result->reason.ptr, wanted) == 0,
                      "%s: %s", applies[_i].says, result->reason.ptr);
    } else if (wanted != NULL) {
        ck_assert_msg(value_equal(result->item, plans_value(wanted, applied.arena)), "%s: %s",
                      applies[_i].says, plans_show(result->item, applied.arena));
    }
    arena_free(applied.arena);
}
END_TEST

/* result: the item under its new key, or the reason. */
static const struct {
    const char *says;
    const char *steps;
    const char *item;
    bool skip;
    enum pass_fate fate;
    const char *outcomes;
    const char *result;
    size_t rekey_step;
} moves[] = {
    {"a move", "{\"rekey\": {\"PK\": \"U#${Id}\"}}", ITEM("\"Id\": 1"), false, PASS_MOVE, "W",
     "{\"PK\": \"U#1\", \"SK\": \"s\", \"Id\": 1}", 0},
    {"both parts, and a set beside",
     "{\"rekey\": {\"PK\": \"${Id}\", \"SK\": \"S\"}, \"set\": "
     "{\"Old\": \"${PK}\"}, \"where\": \"PK = 'p'\"}",
     ITEM("\"Id\": 1"), false, PASS_MOVE, "W",
     "{\"PK\": \"1\", \"SK\": \"S\", \"Id\": 1, \"Old\": \"p\"}", 0},
    {"onto its own key", "{\"rekey\": {\"PK\": \"${lower(PK)}\"}}", ITEM("\"Id\": 1"), false,
     PASS_UNCHANGED, "U", NULL, 0},
    {"there and back",
     "{\"rekey\": {\"PK\": \"q\"}}, {\"rekey\": {\"PK\": \"p\"}, \"set\": {\"a\": "
     "1}}",
     ITEM("\"a\": 0"), false, PASS_UPDATE, "WW", ITEM("\"a\": 1"), 1},
    {"later steps see the new key",
     "{\"where\": \"PK = 'p'\", \"rekey\": {\"PK\": \"q\"}}, {\"where\": \"PK = 'q'\", \"set\": "
     "{\"a\": \"${PK}\"}}",
     "{" KEY "}", false, PASS_MOVE, "WW", "{\"PK\": \"q\", \"SK\": \"s\", \"a\": \"q\"}", 0},
    {"a key that grows", "{\"rekey\": {\"PK\": \"${PK}x\"}}", "{" KEY "}", false, PASS_FAILED, "F",
     "does not converge: applied to its own result, the pass would change PK", 0},
    {"a key that is too long", "{\"rekey\": {\"SK\": \"${pad(1, 1024)}x\"}}", "{" KEY "}", false,
     PASS_FAILED, "F", "key attribute SK: 1025 bytes, over the limit of 1024", 0},
    {"a key of the wrong type", "{\"rekey\": {\"PK\": \"${A}\"}}", ITEM("\"A\": true"), false,
     PASS_FAILED, "F", "PK: expected S for a key attribute, found BOOL", 0},
    {"a verdict keeps the key and the other changes",
     "{\"rekey\": {\"PK\": \"q\"}, \"set\": {\"a\": 1}, \"on_collision\": \"skip\"}", "{" KEY "}",
     true, PASS_UPDATE, "S", ITEM("\"a\": 1"), 0},
    {"a verdict that has nothing to keep",
     "{\"rekey\": {\"PK\": \"p\"}, \"on_collision\": \"skip\"}", "{" KEY "}", true, PASS_UNCHANGED,
     "U", NULL, 0},
    {"a verdict and no other change", "{\"rekey\": {\"PK\": \"q\"}, \"on_collision\": \"skip\"}",
     "{" KEY "}", true, PASS_UNCHANGED, "S", NULL, 0},
};

START_TEST(pass_apply_moves_items)
{
    static const bool skip[] = {true, true};
    struct applied applied = apply(moves[_i].steps, moves[_i].item, moves[_i].skip ? skip : NULL);
    const struct pass_result *result = &applied.result;
    ck_assert_msg(result->fate == moves[_i].fate, "%s: %d %.*s", moves[_i].says, (int)result->fate,
                  STR_ARG(result->reason));
    ck_assert_msg(strcmp(outcomes_of(&applied), moves[_i].outcomes) == 0, "%s: %s", moves[_i].says,
                  outcomes_of(&applied));
    if (result->fate == PASS_FAILED) {
        ck_assert_str_eq(result->reason.ptr, moves[_i].result);
    } else if (moves[_i].result != NULL) {
        ck_assert_msg(value_equal(result->item, plans_value(moves[_i].result, applied.arena)),
                      "%s: %s", moves[_i].says, plans_show(result->item, applied.arena));
    }
    if (result->fate == PASS_MOVE) {
        ck_assert_uint_eq(result->rekey_step, moves[_i].rekey_step);
        ck_assert(value_equal(result->key.parts[0], value_member(result->item, STR("PK"))));
        ck_assert(value_equal(result->key.parts[1], value_member(result->item, STR("SK"))));
    }
    arena_free(applied.arena);
}
END_TEST

/* put: the only item that is put, or NULL; or the reason. */
static const struct {
    const char *says;
    const char *steps;
    const char *item;
    bool skip;
    enum pass_fate fate;
    const char *outcomes;
    const char *put;
} put_cases[] = {
    {"a put",
     "{\"where\": \"begins_with(PK, 'U#')\", \"put\": {\"PK\": \"${SK}\", \"SK\": "
     "\"${PK}\", \"Role\": \"${Role}\"}}",
     "{\"PK\": \"U#1\", \"SK\": \"T#1\", \"Role\": \"x\"}", false, PASS_UNCHANGED, "W",
     "{\"PK\": \"T#1\", \"SK\": \"U#1\", \"Role\": \"x\"}"},
    {"an empty set is left out",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": "
     "\"${SK}\", \"T\": {\"SS\": []}}}",
     "{" KEY "}", false, PASS_UNCHANGED, "W", "{\"PK\": \"q\", \"SK\": \"s\"}"},
    {"what is missing", "{\"put\": {\"PK\": \"q\", \"SK\": \"${Gone}\"}}", "{" KEY "}", false,
     PASS_FAILED, "F", "SK: Gone is missing"},
    {"a bad index key",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\", "
     "\"GSI1PK\": \"${A}\"}}",
     ITEM("\"A\": true"), false, PASS_FAILED, "F",
     "GSI1PK: expected S for a key attribute, found BOOL"},
    {"it puts again", "{\"put\": {\"PK\": \"x${PK}\", \"SK\": \"s\"}}", "{" KEY "}", false,
     PASS_FAILED, "F",
     "does not converge: applied to its own result, the pass would put another item"},
    {"it is changed by another step",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}}, {\"set\": {\"a\": 1}}",
     ITEM("\"a\": 1"), false, PASS_FAILED, "-F",
     "does not converge: applied to its own result, the pass would change a"},
    {"it is deleted by another step",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}}, {\"where\": \"PK = "
     "'q'\", "
     "\"delete\": true}",
     "{" KEY "}", false, PASS_FAILED, "-F",
     "does not converge: applied to its own result, the pass would delete it"},
    {"a put and its mirror", "{\"put\": {\"PK\": \"${SK}\", \"SK\": \"${PK}\"}}", "{" KEY "}",
     false, PASS_UNCHANGED, "W", "{\"PK\": \"s\", \"SK\": \"p\"}"},
    {"a mirror of less", "{\"put\": {\"PK\": \"${SK}\", \"SK\": \"${PK}\"}}", ITEM("\"a\": 1"),
     false, PASS_FAILED, "F",
     "does not converge: applied to its own result, the pass would put another item"},
    {"onto itself, equal", "{\"put\": {\"PK\": \"${PK}\", \"SK\": \"${SK}\"}}", "{" KEY "}", false,
     PASS_UNCHANGED, "U", NULL},
    {"onto itself, other", "{\"put\": {\"PK\": \"${PK}\", \"SK\": \"${SK}\"}}", ITEM("\"a\": 1"),
     false, PASS_FAILED, "F", "puts another item under the key of the item itself"},
    {"twice the same",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}}, "
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}}",
     "{" KEY "}", false, PASS_UNCHANGED, "WU", "{\"PK\": \"q\", \"SK\": \"s\"}"},
    {"twice, differing",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}}, "
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\", \"a\": "
     "1}}",
     "{" KEY "}", false, PASS_FAILED, "-F", "puts a second item under the key of another put"},
    {"before a delete",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}}, "
     "{\"where\": \"PK = 'p'\", \"delete\": true}",
     "{" KEY "}", false, PASS_DELETE, "WW", "{\"PK\": \"q\", \"SK\": \"s\"}"},
    {"a verdict",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}, "
     "\"on_collision\": \"skip\"}",
     "{" KEY "}", true, PASS_UNCHANGED, "S", NULL},
    {"a verdict on what a later step puts too",
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}, "
     "\"on_collision\": \"skip\"}, "
     "{\"where\": \"PK = 'p'\", \"put\": {\"PK\": \"q\", \"SK\": \"s\"}}",
     "{" KEY "}", true, PASS_UNCHANGED, "SS", NULL},
};

START_TEST(pass_apply_puts_items)
{
    static const bool skip[] = {true, false};
    struct applied applied =
        apply(put_cases[_i].steps, put_cases[_i].item, put_cases[_i].skip ? skip : NULL);
    const struct pass_result *result = &applied.result;
    ck_assert_msg(result->fate == put_cases[_i].fate, "%s: %d %.*s", put_cases[_i].says,
                  (int)result->fate, STR_ARG(result->reason));
    ck_assert_msg(strcmp(outcomes_of(&applied), put_cases[_i].outcomes) == 0, "%s: %s",
                  put_cases[_i].says, outcomes_of(&applied));
    if (result->fate == PASS_FAILED) {
        ck_assert_str_eq(result->reason.ptr, put_cases[_i].put);
        ck_assert_uint_eq(result->put_count, 0);
    } else {
        ck_assert_uint_eq(result->put_count, put_cases[_i].put == NULL ? 0 : 1);
    }
    if (result->put_count == 1) {
        ck_assert_msg(
            value_equal(result->puts[0].item, plans_value(put_cases[_i].put, applied.arena)),
            "%s: %s", put_cases[_i].says, plans_show(result->puts[0].item, applied.arena));
        ck_assert_uint_eq(result->puts[0].step, 0);
        ck_assert(value_equal(result->puts[0].key.parts[0],
                              value_member(result->puts[0].item, STR("PK"))));
    }
    arena_free(applied.arena);
}
END_TEST

START_TEST(pass_apply_refuses_an_item_that_grows_too_large)
{
    enum { ROOM = 20 }; /* for the keys and names */
    struct arena *arena = arena_new();
    char *bytes = memset(arena_bytes(arena, ITEM_MAX_BYTES), 'a', ITEM_MAX_BYTES);
    const char *text =
        arena_format(arena, ITEM("\"A\": \"%.*s\""), ITEM_MAX_BYTES - ROOM, bytes).ptr;
    struct applied applied = apply("{\"set\": {\"B\": \"${pad(1, 100)}\"}}", text, NULL);
    ck_assert_int_eq(applied.result.fate, PASS_FAILED);
    ck_assert_str_eq(applied.result.reason.ptr,
                     "the item has 409688 bytes, over the limit of 409600");
    arena_free(applied.arena);
    applied = apply("{\"set\": {\"B\": \"x\"}}", text, NULL);
    ck_assert_int_eq(applied.result.fate, PASS_UPDATE);
    arena_free(applied.arena);
    arena_free(arena);
}
END_TEST

START_TEST(pass_apply_looks_up_only_for_items_that_match)
{
    struct applied applied = apply(
        "{\"where\": \"a = 1\", \"lookup\": {\"c\": {\"PK\": \"u\", \"SK\": \"X\"}}, \"set\": "
        "{\"b\": \"${c.Name}\"}}",
        ITEM("\"a\": 2"), NULL);
    ck_assert_uint_eq(applied.lookups, 0);
    arena_free(applied.arena);
}
END_TEST

START_TEST(pass_apply_fails_where_a_lookup_fails)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    size_t calls = 0;
    ck_assert(plans_pass("{\"lookup\": {\"c\": {\"PK\": \"broken\", \"SK\": \"X\"}}, \"set\": "
                         "{\"b\": \"${c.Name}\"}}",
                         0, arena, &pass, &err));
    struct pass_input input = {plans_value("{" KEY "}", arena), look_up, &calls, NULL};
    struct pass_result result = {.fate = PASS_MOVE};
    ck_assert(!pass_apply(pass, &input, arena, &result, &err));
    ck_assert_int_eq(err.code, ERROR_STORE);
    ck_assert_int_eq(result.fate, PASS_MOVE);
    arena_free(arena);
}
END_TEST

START_TEST(pass_apply_leaves_planned_indexes_to_their_step)
{
    struct applied applied =
        apply("{\"set\": {\"a\": 1}}, {\"create_index\": {\"name\": \"two\", \"partition\": "
              "\"X:S\"}}",
              ITEM("\"X\": 1"), NULL);
    ck_assert_int_eq(applied.result.fate, PASS_UPDATE);
    arena_free(applied.arena);
}
END_TEST

START_TEST(pass_leaves_its_results_alone)
{
    property_check("pass_leaves_its_results_alone", rule_pass_leaves_its_results_alone);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/pass_apply");
    TCase *tcase = tcase_create("pass_apply");
    tcase_add_loop_test(tcase, pass_apply_follows_the_table, 0, ROWS(applies));
    tcase_add_loop_test(tcase, pass_apply_moves_items, 0, ROWS(moves));
    tcase_add_loop_test(tcase, pass_apply_puts_items, 0, ROWS(put_cases));
    tcase_add_test(tcase, pass_leaves_its_results_alone);
    tcase_add_test(tcase, pass_apply_refuses_an_item_that_grows_too_large);
    tcase_add_test(tcase, pass_apply_looks_up_only_for_items_that_match);
    tcase_add_test(tcase, pass_apply_fails_where_a_lookup_fails);
    tcase_add_test(tcase, pass_apply_leaves_planned_indexes_to_their_step);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}

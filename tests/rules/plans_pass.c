#include "tests/rules/plans_pass.h"

#include "engine/base/buffer.h"
#include "tests/rules/plans_fixture.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const char *const wheres[] = {
    "", /* every item */
    "\"where\": \"attribute_not_exists(A)\", ",
    "\"where\": \"attribute_not_exists(D)\", ",
    "\"where\": \"attribute_exists(A) AND B = 1\", ",
    "\"where\": \"NOT attribute_exists(M.x)\", ",
    "\"where\": \"attribute_type(B, 'S')\", ",
    "\"where\": \"attribute_type(A, 'N') AND attribute_not_exists(B)\", ",
    "\"where\": \"begins_with(PK, 'a')\", ",
    "\"where\": \"A = 'x' OR B = 2\", ",
    "\"where\": \"A = 1\", ",
    "\"where\": \"B <> 1\", ",
    "\"where\": \"SK = 's'\", ",
};

static const char *const actions[] = {
    "\"set\": {\"A\": 1}",
    "\"set\": {\"B\": 1, \"A\": \"${B}\"}",
    "\"set\": {\"A\": \"d\", \"D\": 1}",
    "\"set\": {\"A\": \"${A}x\"}",
    "\"set\": {\"A\": \"${lower(A)}\", \"C\": \"${A}\"}",
    "\"set\": {\"B\": {\"N\": \"${A}\"}}",
    "\"set\": {\"B\": {\"S\": \"${A}\"}}",
    "\"set\": {\"A\": \"${coalesce(B, 2)}\"}",
    "\"set\": {\"C\": {\"SS\": \"${list(A)}\"}}",
    "\"set\": {\"A\": {\"SS\": []}, \"B\": 2}",
    "\"set\": {\"M.x\": \"${B}\"}",
    "\"set\": {\"M\": {\"x\": 1, \"y\": \"${A}\"}}",
    "\"set\": {\"L[3]\": \"${PK}\"}",
    "\"set\": {\"A\": \"${C}\"}, \"rename\": {\"B\": \"C\"}",
    "\"rename\": {\"A\": \"B\"}",
    "\"rename\": {\"B\": \"A\"}",
    "\"rename\": {\"M.x\": \"A\"}",
    "\"remove\": [\"A\"]",
    "\"remove\": [\"M.x\", \"B\"]",
    "\"remove\": [\"L[0]\"]",
    "\"rekey\": {\"PK\": \"b${B}\"}",
    "\"rekey\": {\"PK\": \"${SK}\", \"SK\": \"${PK}\"}",
    "\"rekey\": {\"SK\": \"s\"}, \"set\": {\"A\": \"${A + 1}\"}",
    "\"rekey\": {\"PK\": \"b\"}, \"set\": {\"B\": \"${B + 1}\"}, \"on_collision\": \"skip\"",
    "\"put\": {\"PK\": \"${SK}\", \"SK\": \"${PK}\"}",
    "\"put\": {\"PK\": \"a${B}\", \"SK\": \"s\", \"A\": \"${A}\"}",
    "\"put\": {\"PK\": \"c\", \"SK\": \"${SK}\", \"B\": 1}, \"on_collision\": \"skip\"",
    "\"delete\": true",
};

static const char *const attributes[] = {
    "",
    ", \"A\": 1",
    ", \"A\": \"x\", \"B\": 1",
    ", \"B\": \"X\", \"M\": {}",
    ", \"A\": \"5\", \"B\": 2, \"M\": {\"x\": 1}",
    ", \"A\": 2, \"B\": \"7\", \"C\": 3, \"L\": [1, 2]",
    ", \"L\": [1, 2], \"C\": \"c\", \"M\": {\"x\": \"y\", \"z\": 1}",
};

static const char *const keys[] = {"a", "b", "s", "ab"};

enum { STEPS_MAX = 4 };

static const char *draw_steps(struct draw *draw, struct arena *arena)
{
    struct buffer text = {0};
    size_t count = 1 + draw_below(draw, STEPS_MAX);
    for (size_t i = 0; i < count; i++) {
        buffer_format(&text, "%s{%s%s}", i == 0 ? "" : ", ",
                      wheres[draw_below(draw, COUNT(wheres))],
                      actions[draw_below(draw, COUNT(actions))]);
    }
    const char *steps = arena_copy(arena, buffer_str(&text)).ptr;
    buffer_free(&text);
    return steps;
}

static struct value draw_item(struct draw *draw, struct arena *arena)
{
    struct str text = arena_format(
        arena, "{\"PK\": \"%s\", \"SK\": \"%s\"%s}", keys[draw_below(draw, COUNT(keys))],
        keys[draw_below(draw, COUNT(keys))], attributes[draw_below(draw, COUNT(attributes))]);
    return plans_value(text.ptr, arena);
}

static bool is_result(const struct pass_result *result, struct value left, struct value item)
{
    bool found = value_equal(left, item);
    for (size_t i = 0; i < result->put_count; i++) {
        found = found || value_equal(result->puts[i].item, item);
    }
    return found;
}

/* `item`, one of the results, comes out as it is, and puts nothing that is no result already. */
static bool is_left_alone(const struct pass *pass, const struct pass_input *again,
                          struct value left, const struct pass_result *result, struct arena *arena)
{
    struct error err = {0};
    struct pass_result second;
    if (!pass_apply(pass, again, arena, &second, &err) || second.fate != PASS_UNCHANGED) {
        return false;
    }
    for (size_t i = 0; i < second.put_count; i++) {
        if (!is_result(result, left, second.puts[i].item)) {
            return false;
        }
    }
    return true;
}

/* An item error leaves the item as it was too: what a put puts in turn may converge with the item
 * that it came of, and not on its own. */
static bool is_an_error(const struct pass *pass, const struct pass_input *again,
                        struct arena *arena)
{
    struct error err = {0};
    struct pass_result second;
    return pass_apply(pass, again, arena, &second, &err) && second.fate == PASS_FAILED;
}

static bool leaves_alone(const struct pass *pass, const struct pass_input *input,
                         struct arena *arena)
{
    struct error err = {0};
    struct pass_result result;
    if (!pass_apply(pass, input, arena, &result, &err)) {
        return false;
    }
    if (result.fate == PASS_FAILED) {
        return result.put_count == 0 && result.reason.len > 0 &&
               result.outcomes[result.failed_step] == STEP_FAILED;
    }
    struct value left = result.fate == PASS_UNCHANGED ? input->item : result.item;
    struct pass_input again = {.item = left, .skip = input->skip};
    if (result.fate != PASS_DELETE && !is_left_alone(pass, &again, left, &result, arena)) {
        return false;
    }
    for (size_t i = 0; i < result.put_count; i++) {
        again = (struct pass_input){.item = result.puts[i].item, .skip = input->skip};
        if (!is_left_alone(pass, &again, left, &result, arena) &&
            !is_an_error(pass, &again, arena)) {
            return false;
        }
    }
    return true;
}

bool rule_pass_leaves_its_results_alone(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    bool skip[STEPS_MAX];
    bool skips = draw_below(draw, 2) == 1;
    const char *steps = draw_steps(draw, arena);
    bool holds = true;
    if (!plans_pass(steps, 0, arena, &pass, &err)) {
        holds = err.code == ERROR_PLAN;
    } else {
        /* One verdict for all: equal puts of two steps are one, and so is what becomes of them. */
        for (size_t i = 0; i < pass_facts(pass)->step_count; i++) {
            skip[i] = pass_facts(pass)->steps[i].collision == COLLISION_SKIP;
        }
        struct pass_input input = {.item = draw_item(draw, arena), .skip = skips ? skip : NULL};
        holds = leaves_alone(pass, &input, arena);
    }
    arena_free(arena);
    return holds;
}

/* --- texts --- */

static const char *const tokens[] = {
    "{\"steps\": [",
    "]}",
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    " ",
    "\n",
    "/* c */",
    "\"set\": {",
    "\"remove\": [",
    "\"rename\": {",
    "\"rekey\": {",
    "\"put\": {",
    "\"delete\": true",
    "\"where\": ",
    "\"lookup\": {",
    "\"name\": ",
    "\"pass\": ",
    "\"drop_index\": ",
    "\"create_index\": {",
    "\"partition\": ",
    "\"sort\": ",
    "\"projection\": ",
    "\"include\": ",
    "\"on_collision\": ",
    "\"rollback\": ",
    "\"description\": ",
    "\"A\"",
    "\"A\": ",
    "\"B[0].c\": ",
    "\"PK\": ",
    "\"SK\": ",
    "\"GSI\"",
    "\"P:S\"",
    "\"skip\"",
    "\"ALL\"",
    "\"${A}\"",
    "\"x${A.b}#\"",
    "\"${\"",
    "\"${'${'}\"",
    "\"A = 1 AND NOT begins_with(PK, 'x')\"",
    "1",
    "-0.50",
    "1e400",
    "null",
    "\"\"",
    "{\"N\": ",
    "{\"SS\": [",
    "{\"M\": {",
    "\"\\u0000\"",
    "\\",
    "\"",
};

bool rule_plan_hash_ignores_spacing(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct buffer text = {0};
    const struct plan *plan = NULL;
    const struct plan *spaced = NULL;
    if (draw_below(draw, 2) == 0) {
        buffer_add(&text, STR("{\"steps\": [{"));
    }
    while (draw->left > 0) {
        const char *token = tokens[draw_below(draw, COUNT(tokens))];
        buffer_add(&text, (struct str){token, strlen(token)});
    }
    buffer_add_char(&text, '\0');
    bool holds = true;
    if (plans_plan(text.bytes, arena, &plan, &err)) {
        struct str again = arena_format(arena, "\xef\xbb\xbf\r\n// c\n%s \t", text.bytes);
        holds = plans_plan(again.ptr, arena, &spaced, &err) && str_equal(plan->hash, spaced->hash);
    } else {
        holds = err.code == ERROR_PLAN;
    }
    buffer_free(&text);
    arena_free(arena);
    return holds;
}

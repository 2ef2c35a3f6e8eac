/* docs/language.md, "Steps": what one pass makes of one item. */
#include "tests/rules/expr_answer.h"
#include "tests/rules/item_value.h"
#include "tests/rules/plans_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

/* The step and item are JSON with ` for ". The item comes in DynamoDB JSON without its key, which
 * is PK 'p', SK 's', and so does the answer. Answers: "unchanged"; the item; "deleted"; "moved to
 * PK SK: " and the item; "item: " or "plan: " and a part of the message; and "puts " with each item
 * that is put. */
struct row {
    const char *steps;
    const char *item;
    const char *answer;
};

static const struct row edits[] = {
    /* every expression sees the item as the step found it */
    {"{`set`: {`a`: `${b}`, `b`: `${a}`}}", "`a`:{`N`:`1`},`b`:{`N`:`2`}",
     "item: does not converge: applied to its own result, the pass would change a"},
    {"{`where`: `attribute_not_exists(swapped)`, `set`: {`a`: `${b}`, `b`: `${a}`, `swapped`: "
     "true}}",
     "`a`:{`N`:`1`},`b`:{`S`:`x`}", "`a`:{`S`:`x`},`b`:{`N`:`1`},`swapped`:{`BOOL`:true}"},
    {"{`where`: `attribute_exists(a)`, `rename`: {`a`: `b`}, `set`: {`c`: `${a}`, `d`: "
     "`${coalesce(b, 'none')}`}}",
     "`a`:{`N`:`1`}", "`b`:{`N`:`1`},`c`:{`N`:`1`},`d`:{`S`:`none`}"},
    {"{`where`: `attribute_exists(a)`, `remove`: [`a`], `set`: {`b`: `${a}`}}", "`a`:{`N`:`1`}",
     "`b`:{`N`:`1`}"},
    /* paths: the parent exists, places as found, past the end appended */
    {"{`set`: {`m.x`: 1}}", "", "item: m: expected M, found missing"},
    {"{`set`: {`m.x`: 1}}", "`m`:{`L`:[]}", "item: m: expected M, found L"},
    {"{`set`: {`m.x`: 1}}", "`m`:{`NULL`:true}", "item: m: expected M, found NULL"},
    {"{`set`: {`m.x.y`: 1}}", "`m`:{`M`:{}}", "item: m.x: expected M, found missing"},
    {"{`set`: {`m[0]`: 1}}", "`m`:{`M`:{}}", "item: m: expected L, found M"},
    {"{`set`: {`m[0]`: 1}}", "`m`:{`SS`:[`a`]}", "item: m: expected L, found SS"},
    {"{`remove`: [`m.x`]}", "", "item: m: expected M, found missing"},
    {"{`remove`: [`m.x`, `gone`]}", "`m`:{`M`:{}}", "unchanged"},
    {"{`where`: `attribute_not_exists(x)`, `set`: {`x`: 1, `l[7]`: `seven`, `l[5]`: `five`, "
     "`l[0]`: "
     "0}, `remove`: [`l[1]`]}",
     "`l`:{`L`:[{`S`:`a`},{`S`:`b`},{`S`:`c`}]}",
     "`l`:{`L`:[{`N`:`0`},{`S`:`c`},{`S`:`five`},{`S`:`seven`}]},`x`:{`N`:`1`}"},
    {"{`where`: `attribute_not_exists(x)`, `set`: {`x`: 1}, `remove`: [`l[1]`, `l[0]`, `l[9]`]}",
     "`l`:{`L`:[{`S`:`a`},{`S`:`b`},{`S`:`c`}]}", "`l`:{`L`:[{`S`:`c`}]},`x`:{`N`:`1`}"},
    {"{`remove`: [`l[0]`]}", "`l`:{`L`:[{`S`:`a`},{`S`:`b`}]}", "item: does not converge"},
    {"{`set`: {`l[2]`: 1}}", "`l`:{`L`:[{`S`:`a`}]}", "item: does not converge"},
    {"{`set`: {`l[1]`: 1}}", "`l`:{`L`:[{`S`:`a`}]}", "`l`:{`L`:[{`S`:`a`},{`N`:`1`}]}"},
    {"{`set`: {`m.a`: 1, `m.b.c`: 2}}", "`m`:{`M`:{`b`:{`M`:{}}}}",
     "`m`:{`M`:{`a`:{`N`:`1`},`b`:{`M`:{`c`:{`N`:`2`}}}}}"},
    {"{`set`: {`\\`my attr\\`.\\`a.b\\``: 1}}", "`my attr`:{`M`:{}}",
     "`my attr`:{`M`:{`a.b`:{`N`:`1`}}}"},
    {"{`set`: {`\\`and\\``: 1}}", "", "`and`:{`N`:`1`}"},
    {"{`set`: {`a`: 1.0}}", "`a`:{`N`:`1`}", "unchanged"},
    {"{`set`: {`a`: {`SS`: [`y`, `x`]}}}", "`a`:{`SS`:[`x`,`y`]}", "unchanged"},
    {"{`set`: {`a`: 1}}", "`a`:{`S`:`1`}", "`a`:{`N`:`1`}"},
    {"{`set`: {`a`: {`SS`: []}}}", "`a`:{`SS`:[`x`]}", ""},
    {"{`set`: {`a`: `${to_set(l)}`}}", "`l`:{`L`:[]}", "unchanged"},
    {"{`set`: {`m.a`: {`NS`: []}}}", "`m`:{`M`:{`a`:{`NS`:[`1`]}}}", "`m`:{`M`:{}}"},
    {"{`set`: {`m.a`: {`NS`: []}}}", "", "item: m: expected M, found missing"},
    {"{`set`: {`l[0]`: {`SS`: []}}}", "`l`:{`L`:[{`N`:`1`}]}",
     "item: l[0]: expected a value in a list, found an empty set"},
    {"{`set`: {`a`: `${gone}`}}", "", "item: a: gone is missing"},
    {"{`set`: {`a`: `${z}`}}", "`z`:{`NULL`:true}", "`a`:{`NULL`:true},`z`:{`NULL`:true}"},
    {"{`set`: {`a`: `x${z}`}}", "`z`:{`NULL`:true}",
     "item: a: expected S, N or BOOL for ${z} in a text, found NULL"},
    /* rename: nothing, or onto nothing */
    {"{`rename`: {`a`: `b`}}", "`b`:{`N`:`1`}", "unchanged"},
    {"{`rename`: {`m.a`: `b`}}", "", "unchanged"},
    {"{`rename`: {`a`: `b`}}", "`a`:{`N`:`1`},`b`:{`N`:`1`}",
     "item: rename of a: b stands already"},
    {"{`rename`: {`a`: `b`}}", "`a`:{`N`:`1`},`b`:{`NULL`:true}",
     "item: rename of a: b stands already"},
    {"{`rename`: {`a`: `m.b`}}", "`a`:{`N`:`1`}", "item: m: expected M, found missing"},
    {"{`rename`: {`m.a`: `a`}}", "`m`:{`M`:{`a`:{`N`:`1`}}}", "`a`:{`N`:`1`},`m`:{`M`:{}}"},
    {"{`where`: `attribute_not_exists(a)`, `rename`: {`l[0]`: `a`}}",
     "`l`:{`L`:[{`N`:`1`},{`N`:`2`}]}", "`a`:{`N`:`1`},`l`:{`L`:[{`N`:`2`}]}"},
    {"{`rename`: {`a`: `GSI1SK`}}", "`a`:{`S`:`7`}",
     "item: index: key attribute GSI1SK: expected N, found S"},
    /* index keys */
    {"{`set`: {`GSI1PK`: `${n}`, `GSI1SK`: `${d}`}}", "`n`:{`N`:`7`},`d`:{`S`:`07`}",
     "`GSI1PK`:{`S`:`7`},`GSI1SK`:{`N`:`7`},`d`:{`S`:`07`},`n`:{`N`:`7`}"},
    {"{`set`: {`GSI1PK`: `${e}`}}", "`e`:{`S`:``}", "item: GSI1PK: expected a value"},
    {"{`set`: {`late`: `${n}`}}, {`create_index`: {`name`: `two`, `partition`: `late:S`}}",
     "`n`:{`N`:`7`}", "`late`:{`S`:`7`},`n`:{`N`:`7`}"},
    {"{`set`: {`late`: 7}}, {`create_index`: {`name`: `two`, `partition`: `late:S`}}", "",
     "plan: steps[0].set.late: expected S for a key attribute, found N"},
};

static const struct row whole_steps[] = {
    {"{`delete`: true}", "", "deleted"},
    {"{`where`: `a = 1`, `delete`: true}", "", "unchanged"},
    {"{`where`: `a <> 1`, `delete`: true}", "", "deleted"}, /* missing is unequal */
    {"{`where`: `number(a) = 1`, `delete`: true}", "`a`:{`S`:`x`}",
     "item: where: number(): 'x' is not a number"},
    {"{`where`: `number(a) = 1`, `delete`: true}", "", "unchanged"},
    {"{`where`: `false AND number(a) = 1`, `delete`: true}", "`a`:{`S`:`x`}", "unchanged"},
    /* the steps meet the item in order, and no more after a delete */
    {"{`set`: {`a`: 1}}, {`where`: `a = 1`, `delete`: true}, {`set`: {`b`: `${gone}`}}", "",
     "deleted"},
    {"{`where`: `PK = 'p'`, `rekey`: {`PK`: `q`}}, {`where`: `PK = 'p'`, `delete`: true}", "",
     "moved to q s: "},
    {"{`where`: `PK = 'p'`, `rekey`: {`PK`: `q`}}, {`where`: `PK = 'q'`, `set`: {`k`: `${PK}`}}",
     "", "moved to q s: `k`:{`S`:`q`}"},
    {"{`rekey`: {`SK`: `t`}}", "", "moved to p t: "},
    {"{`rekey`: {`SK`: `${SK}`}}", "", "unchanged"},
    {"{`rekey`: {`PK`: `${n}`}}", "`n`:{`N`:`-0.50`}", "moved to -0.5 s: `n`:{`N`:`-0.5`}"},
    {"{`rekey`: {`PK`: `${SK}`, `SK`: `${PK}`}}", "", "item: does not converge"},
    {"{`rekey`: {`PK`: `${e}`}}", "`e`:{`S`:``}",
     "item: PK: expected a value for a key attribute, found an empty S"},
    {"{`rekey`: {`PK`: `${e}`}}", "`e`:{`BOOL`:true}",
     "item: PK: expected S for a key attribute, found BOOL"},
    {"{`rekey`: {`PK`: `${substring(gone, 1, 1)}`}}", "", "item: PK: gone is missing"},
    {"{`rekey`: {`PK`: `q`}, `set`: {`old`: `${PK}`}}", "", "item: does not converge"},
    {"{`where`: `PK = 'p'`, `rekey`: {`PK`: `q`}, `set`: {`old`: `${PK}`}}", "",
     "moved to q s: `old`:{`S`:`p`}"},
    /* put: the names are plain, the item itself stays */
    {"{`where`: `PK = 'p'`, `put`: {`PK`: `q`, `SK`: `${SK}`, `a.b`: 1, `\\`c\\``: 2}}", "",
     "unchanged puts {`\\`c\\``:{`N`:`2`},`PK`:{`S`:`q`},`SK`:{`S`:`s`},`a.b`:{`N`:`1`}}"},
    {"{`where`: `PK = 'p'`, `put`: {`PK`: `q`, `SK`: `s`, `t`: {`SS`: []}, `z`: null}}", "",
     "unchanged puts {`PK`:{`S`:`q`},`SK`:{`S`:`s`},`z`:{`NULL`:true}}"},
    {"{`where`: `PK = 'p'`, `put`: {`PK`: `q`, `SK`: `s`, `a`: `${gone}`}}", "",
     "item: a: gone is missing"},
    {"{`where`: `PK = 'p'`, `put`: {`PK`: `q`, `SK`: `s`}}, {`where`: `PK = 'p'`, `put`: {`PK`: "
     "`r`, `SK`: `s`}}, {`where`: `PK = 'p'`, `delete`: true}",
     "", "deleted puts {`PK`:{`S`:`q`},`SK`:{`S`:`s`}} puts {`PK`:{`S`:`r`},`SK`:{`S`:`s`}}"},
    {"{`put`: {`PK`: `${PK}`, `SK`: `${SK}`}}", "", "unchanged"},
    {"{`put`: {`PK`: `${PK}`, `SK`: `${SK}`}}", "`a`:{`N`:`1`}",
     "item: puts another item under the key of the item itself"},
};

/* What a pass has written comes out of it unchanged, or the item stays as it was. */
static const struct row convergence[] = {
    {"{`set`: {`n`: `${n + 1}`}}", "`n`:{`N`:`1`}", "item: does not converge"},
    {"{`where`: `n < 2`, `set`: {`n`: `${n + 1}`}}", "`n`:{`N`:`1`}",
     "`n`:{`N`:`2`}"}, /* it ends here, though not everywhere */
    {"{`where`: `n < 9`, `set`: {`n`: `${n + 1}`}}", "`n`:{`N`:`1`}", "item: does not converge"},
    {"{`set`: {`flag`: `${NOT flag = true}`}}", "`flag`:{`BOOL`:true}", "item: does not converge"},
    {"{`set`: {`s`: `${lower(s)}`}}", "`s`:{`S`:`A`}", "`s`:{`S`:`a`}"},
    {"{`set`: {`a`: `${b}`}}, {`set`: {`b`: `${a}x`}}", "`a`:{`S`:`1`},`b`:{`S`:`2`}",
     "item: does not converge: applied to its own result, the pass would change a"},
    {"{`where`: `s = 'x'`, `set`: {`s`: `y`}}, {`where`: `s = 'y'`, `set`: {`s`: `x`}}",
     "`s`:{`S`:`x`}", "unchanged"},
    {"{`where`: `s = 'y'`, `set`: {`s`: `x`}}, {`where`: `s = 'x'`, `set`: {`s`: `y`, `t`: "
     "`${s}`}}",
     "`s`:{`S`:`x`}", "`s`:{`S`:`y`},`t`:{`S`:`x`}"},
    {"{`where`: `attribute_exists(a)`, `rename`: {`a`: `b`}}, {`where`: `attribute_exists(b)`, "
     "`rename`: {`b`: `a`}}",
     "`a`:{`N`:`1`}", "unchanged"},
    {"{`set`: {`a`: 1}}, {`where`: `a = 1 AND b = 1`, `delete`: true}, {`set`: {`b`: 1}}", "",
     "item: does not converge: applied to its own result, the pass would delete it"},
    {"{`where`: `begins_with(PK, 'p')`, `rekey`: {`PK`: `p${PK}`}}", "", "item: does not converge"},
    {"{`where`: `begins_with(PK, 'p')`, `rekey`: {`PK`: `p#1`}}", "", "moved to p#1 s: "},
    {"{`put`: {`PK`: `${PK}x`, `SK`: `s`}}", "",
     "item: does not converge: applied to its own result, the pass would put another item"},
    {"{`where`: `attribute_exists(a)`, `put`: {`PK`: `${PK}x`, `SK`: `s`}}", "`a`:{`N`:`1`}",
     "unchanged puts {`PK`:{`S`:`px`},`SK`:{`S`:`s`}}"},
    {"{`where`: `attribute_exists(a)`, `put`: {`PK`: `${PK}x`, `SK`: `s`, `a`: 1}}",
     "`a`:{`N`:`1`}", "item: does not converge"},
    {"{`where`: `attribute_exists(a)`, `put`: {`PK`: `q`, `SK`: `s`}}, {`set`: {`b`: 1}}",
     "`a`:{`N`:`1`},`b`:{`N`:`1`}",
     "item: does not converge: applied to its own result, the pass would change b"},
    {"{`where`: `PK = 'p'`, `put`: {`PK`: `q`, `SK`: `s`, `b`: 1}}, {`set`: {`b`: 1}}", "",
     "`b`:{`N`:`1`} puts {`PK`:{`S`:`q`},`SK`:{`S`:`s`},`b`:{`N`:`1`}}"},
    /* the item that decides is another one the second time */
    {"{`lookup`: {`c`: {`PK`: `X#${u}`, `SK`: `P`}}, `where`: `c.x = 1 AND "
     "attribute_not_exists(done)`, `set`: {`done`: 1}}, {`set`: {`u`: `5`}}",
     "`u`:{`S`:`4`}",
     "item: does not converge: applied to its own result, the pass would change done"},
    {"{`lookup`: {`c`: {`PK`: `X#${u}`, `SK`: `P`}}, `where`: `c.x = 1 AND "
     "attribute_not_exists(done)`, `set`: {`done`: 1}}, {`set`: {`u`: `5`}}",
     "`u`:{`S`:`5`}", "`done`:{`N`:`1`},`u`:{`S`:`5`}"},
    {"{`lookup`: {`c`: {`PK`: `X#${u}`, `SK`: `P`}}, `set`: {`v`: `${c.x}`}}", "`u`:{`S`:`5`}",
     "`u`:{`S`:`5`},`v`:{`N`:`1`}"},
    {"{`lookup`: {`c`: {`PK`: `X#${u}`, `SK`: `P`}}, `set`: {`v`: `${c.x}`}}", "`u`:{`S`:`6`}",
     "item: v: c.x is missing"},
    {"{`lookup`: {`c`: {`PK`: `X#${gone}`, `SK`: `P`}}, `set`: {`v`: `${coalesce(c.x, 'none')}`}}",
     "", "`v`:{`S`:`none`}"},
    /* an attribute that an empty set removes is unequal to any set */
    {"{`where`: `a <> <<>>`, `set`: {`a`: {`SS`: []}, `b`: `${b}x`}}",
     "`a`:{`SS`:[`x`]},`b`:{`S`:`y`}", "item: does not converge"},
    {"{`where`: `a <> <<'x'>>`, `set`: {`a`: {`SS`: [`x`]}, `b`: `${b}x`}}", "`b`:{`S`:`y`}",
     "`a`:{`SS`:[`x`]},`b`:{`S`:`yx`}"},
};

/* Refused before any item is met; each message says where, what was expected and what was found. */
static const struct row faults[] = {
    {"{`set`: {`a`: 1, `a.b`: 2}}", "", "plan: 1:36: steps[0]: expected paths that do not overlap"},
    {"{`set`: {`m.a`: 1, `m[0]`: 2}}", "",
     "plan: steps[0]: expected paths that do not conflict, found m[0] and m.a"},
    {"{`set`: {`m.a`: 1}, `remove`: [`m[0].b`]}", "",
     "plan: steps[0]: expected paths that do not conflict, found m[0].b and m.a"},
    {"{`set`: {`a`: 1, `\\`a\\``: 2}}", "",
     "plan: steps[0]: expected paths that do not overlap, found a and a"},
    {"{`rename`: {`a`: `b`, `b`: `a`}}", "", "plan: expected paths that do not overlap"},
    {"{`rename`: {`a`: `a.b`}}", "", "plan: expected paths that do not overlap"},
    {"{`rename`: {`a`: `c`, `b`: `c`}}", "", "plan: expected paths that do not overlap"},
    {"{`set`: {`a b`: 1}}", "",
     "plan: 1:24: steps[0].set.a b: expected an operator or the end, found b"},
    {"{`set`: {`\\u0061 b`: 1}}", "", "plan: 1:29: steps[0].set.a b: expected an operator"},
    {"{`set`: {``: 1}}", "",
     "plan: 1:21: steps[0].set.: expected a document path, found an empty one"},
    {"{`set`: {`a`: 1, `a`: 2}}", "", "plan: 1:29: member \"a\" stands twice"},
    {"{`set`: {`a`: 1}, `set`: {`b`: 2}}", "", "plan: 1:30: member \"set\" stands twice"},
    {"{`set`: {`a`: 1}, `wher`: `b = 1`}", "",
     "plan: 1:30: steps[0]: expected one of name, lookup"},
    {"{`rename`: {`a`: `b c`}}", "", "plan: 1:32: steps[0].rename.a: expected an operator"},
    {"{`remove`: [`a`, `b c`]}", "", "plan: 1:32: steps[0].remove[1]: expected an operator"},
    {"{`remove`: [`a = 1`]}", "", "plan: expected a document path, found a = 1"},
    {"{`set`: {`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b`: 1}}",
     "",
     "plan: 1:96: "
     "steps[0].set.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...: "
     "expected an operator or the end, found b"},
    {"{`where`: `a`, `delete`: true}", "",
     "plan: 1:22: steps[0].where: expected a condition, found the value a\n"
     "hint: of a BOOL attribute write a = true"},
    {"{`where`: `a + 1`, `delete`: true}", "",
     "plan: steps[0].where: expected a condition, found the value a + 1"},
    {"{`where`: `c.x = 1`, `lookup`: {``: {`PK`: `a`, `SK`: `b`}}, `set`: {`a`: 1}}", "",
     "plan: steps[0].lookup.: expected a name, found an empty one"},
    {"{`rekey`: {`PK`: `q`}, `on_collision`: `overwright`}", "",
     "plan: 1:51: steps[0].on_collision: expected fail, skip, overwrite or \"keep_newer: "
     "ATTRIBUTE\", found \"overwright\""},
    {"{`rekey`: {`PK`: `q`}, `on_colision`: `skip`}", "", "plan: found \"on_colision\""},
    {"{`rekey`: {`PK`: `q`}, `on_collision`: `Skip`}", "", "plan: found \"Skip\""},
    {"{`rekey`: {`PK`: `q`}, `on_collision`: `keep_newer:at`}", "",
     "plan: found \"keep_newer:at\""},
    {"{`set`: {`a`: 1}}, {`create_index`: {`name`: `two`, `partition`: `PK:N`}}", "",
     "plan: 1:48: steps[1].create_index: index two: expected PK:S as it is declared elsewhere, "
     "found N"},
    {"{`set`: {`a`: 1}}, {`create_index`: {`name`: `two`, `partition`: `X:N`}}, {`create_index`: "
     "{`name`: `three`, `partition`: `Y:S`, `sort`: `X:S`}}",
     "",
     "plan: steps[2].create_index: index three: expected X:N as it is declared elsewhere, found S"},
    {"{`lookup`: {`c`: {`PK`: `a`, `SK`: `${b}`}}, `set`: {`n`: `${c.n}`}}", "",
     "plan: 1:29: steps[0].lookup.c: expected items that this pass leaves as they are, found that "
     "steps[0] writes them\nhint: add a where that tells the keys of its items from those it looks "
     "up"},
};

static const char *json_of(const char *text, struct arena *arena)
{
    struct str json = arena_copy(arena, (struct str){text, strlen(text)});
    char *bytes = arena_bytes(arena, json.len + 1);
    for (size_t i = 0; i <= json.len; i++) {
        bytes[i] = json.ptr[i];
        if (json.ptr[i] == '`') {
            bytes[i] = '"';
        }
    }
    return bytes;
}

/* Finds an item with x = 1 under PK 'X#5', and nothing under another key. */
static bool look_up(void *context, const struct key *key, struct arena *arena, struct value *out,
                    struct error *err)
{
    (void)context;
    (void)err;
    *out = (struct value){NULL, 0};
    if (str_equal(value_bytes(key->parts[0]), STR("X#5"))) {
        *out = item_of_json(arena, "{\"PK\":{\"S\":\"X#5\"},\"SK\":{\"S\":\"P\"},"
                                   "\"x\":{\"N\":\"1\"}}");
    }
    return true;
}

/* The members of an item, without its key and its braces. */
static const char *members(struct value item, struct arena *arena)
{
    struct attribute *kept = arena_alloc(arena, value_count(item) * sizeof *kept);
    size_t count = 0;
    struct value_iter iter = value_members(item);
    while (value_next(&iter, &kept[count])) {
        bool key = str_equal(kept[count].name, STR("PK")) || str_equal(kept[count].name, STR("SK"));
        count += key ? 0 : 1;
    }
    struct value rest = {NULL, 0};
    struct error err = {0};
    ck_assert(value_map(arena, kept, count, &rest, &err));
    struct str json = json_of_item(arena, rest);
    return arena_copy(arena, (struct str){json.ptr + 1, json.len - 2}).ptr;
}

static const char *fate(const struct pass_result *result, struct arena *arena)
{
    switch (result->fate) {
    case PASS_UNCHANGED:
        return "unchanged";
    case PASS_UPDATE:
        return members(result->item, arena);
    case PASS_DELETE:
        return "deleted";
    case PASS_MOVE: {
        struct str partition = value_bytes(result->key.parts[0]);
        struct str sort = value_bytes(result->key.parts[1]);
        return arena_format(arena, "moved to %.*s %.*s: %s", STR_ARG(partition), STR_ARG(sort),
                            members(result->item, arena))
            .ptr;
    }
    default:
        return arena_format(arena, "item: %s", result->reason.ptr).ptr;
    }
}

static const char *step_answer(const struct row *row, struct arena *arena)
{
    const struct pass *pass = NULL;
    struct error err = {0};
    if (!plans_pass(json_of(row->steps, arena), 0, arena, &pass, &err)) {
        return arena_format(arena, "plan: %s", err.text).ptr;
    }
    struct str item = arena_format(arena, "{\"PK\":{\"S\":\"p\"},\"SK\":{\"S\":\"s\"}%s%s}",
                                   row->item[0] == '\0' ? "" : ",", json_of(row->item, arena));
    struct pass_input input = {.item = item_of_json(arena, item.ptr), .lookup = look_up};
    struct pass_result result;
    ck_assert_msg(pass_apply(pass, &input, arena, &result, &err), "%s", err.text);
    const char *answer = fate(&result, arena);
    for (size_t i = 0; i < result.put_count; i++) {
        struct str put = json_of_item(arena, result.puts[i].item);
        answer = arena_format(arena, "%s puts %.*s", answer, STR_ARG(put)).ptr;
    }
    return answer;
}

static void check(const struct row *row)
{
    struct arena *arena = arena_new();
    const char *answer = step_answer(row, arena);
    const char *expected = json_of(row->answer, arena);
    ck_assert_msg(answer_fits(answer, expected),
                  "%s\n    on       %s\n    expected %s\n"
                  "    found    %s",
                  row->steps, row->item, expected, answer);
    arena_free(arena);
}

START_TEST(edits_see_the_item_as_the_step_found_it)
{
    check(&edits[_i]);
}
END_TEST

START_TEST(steps_meet_the_item_in_order)
{
    check(&whole_steps[_i]);
}
END_TEST

START_TEST(what_a_pass_writes_it_leaves_alone)
{
    check(&convergence[_i]);
}
END_TEST

START_TEST(faults_say_where_and_what)
{
    check(&faults[_i]);
}
END_TEST

int main(void)
{
    TCase *steps = tcase_create("steps");
    tcase_add_loop_test(steps, edits_see_the_item_as_the_step_found_it, 0, ROWS(edits));
    tcase_add_loop_test(steps, steps_meet_the_item_in_order, 0, ROWS(whole_steps));
    tcase_add_loop_test(steps, what_a_pass_writes_it_leaves_alone, 0, ROWS(convergence));
    tcase_add_loop_test(steps, faults_say_where_and_what, 0, ROWS(faults));
    Suite *suite = suite_create("plans/language_steps");
    suite_add_tcase(suite, steps);
    return suite_run(suite);
}

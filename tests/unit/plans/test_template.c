#include "plans/template.h"

#include "tests/rules/plans_fixture.h"
#include "tests/support/suite.h"

static bool parse(const char *text, bool drop_missing, struct arena *arena,
                  const struct template **out, struct error *err)
{
    struct str bytes = {text, strlen(text)};
    struct json_options json_options = {.file = "t.json"};
    struct json *json = NULL;
    struct template_options options = {.place = {bytes, "t.json", STR_INIT("set.A")},
                                       .drop_missing = drop_missing};
    return json_parse(bytes, &json_options, arena, &json, err) &&
           template_parse(json, &options, arena, out, err);
}

static const char item[] =
    "{\"PK\": \"P\", \"Name\": \"Ada\", \"Empty\": \"\", \"Price\": 12.50, \"Digits\": \"0012.5\","
    " \"Yes\": true, \"Word\": \"true\", \"Nil\": null, \"List\": [\"b\", \"a\", \"b\"],"
    " \"None\": [], \"Numbers\": [3, 1], \"Tags\": {\"SS\": [\"x\", \"y\"]}, \"Map\": {\"K\": 1},"
    " \"Code\": \"AAEC\", \"Bytes\": {\"B\": \"AAEC\"}, \"Big\": 1e20, \"Small\": -0.50,"
    " \"my attr\": 7}";

/* A result of NULL: missing; code ERROR_ITEM: `result` is the message. */
static const struct {
    const char *says;
    const char *template;
    const char *result;
    enum error_code code;
} evals[] = {
    {"text is S", "\"text\"", "\"text\"", ERROR_NONE},
    {"an empty text is S", "\"\"", "\"\"", ERROR_NONE},
    {"S stands as it is", "\"A#${Name}#B\"", "\"A#Ada#B\"", ERROR_NONE},
    {"an empty S is an empty text", "\"A#${Empty}\"", "\"A#\"", ERROR_NONE},
    {"N in plain digits", "\"${Price}|${Big}|${Small}\"", "\"12.5|100000000000000000000|-0.5\"",
     ERROR_NONE},
    {"BOOL as a word", "\"is ${Yes}\"", "\"is true\"", ERROR_NONE},
    {"NULL has no text", "\"is ${Nil}\"", "expected S, N or BOOL for ${Nil} in a text, found NULL",
     ERROR_ITEM},
    {"a list has no text", "\"is ${List}\"", "expected S, N or BOOL for ${List} in a text, found L",
     ERROR_ITEM},
    {"a missing part makes all missing", "\"A#${Gone}\"", NULL, ERROR_NONE},
    {"alone keeps N", "\"${Price}\"", "12.5", ERROR_NONE},
    {"alone keeps NULL", "\"${Nil}\"", "null", ERROR_NONE},
    {"alone keeps a list", "\"${List}\"", "[\"b\", \"a\", \"b\"]", ERROR_NONE},
    {"alone keeps a set", "\"${Tags}\"", "{\"SS\": [\"y\", \"x\"]}", ERROR_NONE},
    {"alone and missing", "\"${Gone}\"", NULL, ERROR_NONE},
    {"alone with blanks before is text", "\" ${Price}\"", "\" 12.5\"", ERROR_NONE},
    {"a literal opening", "\"${'${'}\"", "\"${'${'}\"", ERROR_NONE},
    {"a literal opening in a text", "\"a ${'${'}Name} b\"", "\"a ${'${'}Name} b\"", ERROR_NONE},
    {"a brace within an expression", "\"<${'}'}>\"", "\"<}>\"", ERROR_NONE},
    {"a dollar is a dollar", "\"$5 {x}\"", "\"$5 {x}\"", ERROR_NONE},
    {"a quoted name", "\"${\\\"my attr\\\"}\"", "7", ERROR_NONE},
    {"functions", "\"${upper(Name)}-${Price * 2}\"", "\"ADA-25\"", ERROR_NONE},
    {"a function that cannot", "\"${number(Name)}\"", NULL, ERROR_ITEM},
    {"a number is N", "12.50", "12.5", ERROR_NONE},
    {"true is BOOL", "true", "true", ERROR_NONE},
    {"null is NULL", "null", "null", ERROR_NONE},
    {"a list", "[\"${Name}\", 1, [\"${Yes}\"]]", "[\"Ada\", 1, [true]]", ERROR_NONE},
    {"a list with a missing member", "[\"${Name}\", \"${Gone}\"]", NULL, ERROR_NONE},
    {"a map", "{\"a\": \"${Name}\", \"b\": {\"c\": 1}}", "{\"b\": {\"c\": 1}, \"a\": \"Ada\"}",
     ERROR_NONE},
    {"a map with a missing member", "{\"a\": {\"b\": \"${Gone}\"}}", NULL, ERROR_NONE},
    {"{N} of S", "{\"N\": \"${Digits}\"}", "12.5", ERROR_NONE},
    {"{N} of N", "{\"N\": \"${Price}\"}", "12.5", ERROR_NONE},
    {"{N} of a text", "{\"N\": \"${Price}0\"}", "12.5", ERROR_NONE},
    {"{N} of letters", "{\"N\": \"${Name}\"}", NULL, ERROR_ITEM},
    {"{N} of BOOL", "{\"N\": \"${Yes}\"}", "expected a value that makes N, found BOOL", ERROR_ITEM},
    {"{N} of missing", "{\"N\": \"${Gone}\"}", NULL, ERROR_NONE},
    {"{S} of N", "{\"S\": \"${Price}\"}", "\"12.5\"", ERROR_NONE},
    {"{S} of BOOL", "{\"S\": \"${Yes}\"}", "\"true\"", ERROR_NONE},
    {"{S} of L", "{\"S\": \"${List}\"}", "expected a value that makes S, found L", ERROR_ITEM},
    {"{B} of base64", "{\"B\": \"${Code}\"}", "{\"B\": \"AAEC\"}", ERROR_NONE},
    {"{B} of B", "{\"B\": \"${Bytes}\"}", "{\"B\": \"AAEC\"}", ERROR_NONE},
    {"{B} of other text", "{\"B\": \"${Name}\"}", NULL, ERROR_ITEM},
    {"{BOOL} of a word", "{\"BOOL\": \"${Word}\"}", "true", ERROR_NONE},
    {"{BOOL} of another word", "{\"BOOL\": \"${Name}\"}",
     "expected true, false, 'true' or 'false', found another text", ERROR_ITEM},
    {"{NULL}", "{\"NULL\": true}", "null", ERROR_NONE},
    {"{SS} of members", "{\"SS\": [\"${Name}\", \"${Price}\", \"Ada\"]}",
     "{\"SS\": [\"12.5\", \"Ada\"]}", ERROR_NONE},
    {"{SS} of a list", "{\"SS\": \"${List}\"}", "{\"SS\": [\"a\", \"b\"]}", ERROR_NONE},
    {"{SS} of a set", "{\"SS\": \"${Tags}\"}", "{\"SS\": [\"x\", \"y\"]}", ERROR_NONE},
    {"{SS} of nothing", "{\"SS\": []}", "{\"SS\": []}", ERROR_NONE},
    {"{SS} of an empty list", "{\"SS\": \"${None}\"}", "{\"SS\": []}", ERROR_NONE},
    {"{NS} of a list", "{\"NS\": \"${Numbers}\"}", "{\"NS\": [\"1\", \"3\"]}", ERROR_NONE},
    {"{NS} of a set of S", "{\"NS\": \"${Tags}\"}", "expected a value that makes NS, found SS",
     ERROR_ITEM},
    {"{L}", "{\"L\": [\"${Name}\"]}", "[\"Ada\"]", ERROR_NONE},
    {"{M} of a map that looks like a type", "{\"M\": {\"S\": \"${Name}\"}}",
     "{\"M\": {\"S\": \"Ada\"}}", ERROR_NONE},
    {"{M} of a map", "{\"M\": \"${Map}\"}", "{\"K\": 1}", ERROR_NONE},
    {"an empty set in a map is left out", "{\"a\": {\"SS\": \"${None}\"}, \"b\": 1}", "{\"b\": 1}",
     ERROR_NONE},
    {"an empty set in a list", "[{\"SS\": \"${None}\"}]",
     "expected a value in a list, found an empty set", ERROR_ITEM},
};

START_TEST(template_eval_follows_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct template *template = NULL;
    ck_assert_msg(parse(evals[_i].template, false, arena, &template, &err), "%s: %s",
                  evals[_i].says, err.text);
    struct expr_scope scope = {.item = plans_value(item, arena)};
    struct value found = plans_value("\"as it was\"", arena);
    bool ok = template_eval(template, &scope, arena, &found, &err);
    ck_assert_msg(ok == (evals[_i].code == ERROR_NONE), "%s: %s %s", evals[_i].says,
                  plans_show(found, arena), err.text);
    if (!ok) {
        ck_assert_int_eq(err.code, evals[_i].code);
        ck_assert_msg(evals[_i].result == NULL || strcmp(err.text, evals[_i].result) == 0, "%s: %s",
                      evals[_i].says, err.text);
    } else {
        struct value wanted = {NULL, 0};
        if (evals[_i].result != NULL) {
            wanted = plans_value(evals[_i].result, arena);
        }
        ck_assert_msg(value_equal(found, wanted), "%s: %s", evals[_i].says,
                      plans_show(found, arena));
    }
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *template;
    const char *result; /* NULL: missing */
} drops[] = {
    {"a member of a map", "{\"a\": \"${Gone}\", \"b\": \"${Name}\"}", "{\"b\": \"Ada\"}"},
    {"all of a map", "{\"a\": \"${Gone}\"}", "{}"},
    {"an element of a list", "[\"${Gone}\", 1]", "[1]"},
    {"a member of a set", "{\"SS\": [\"${Gone}\", \"${Name}\"]}", "{\"SS\": [\"Ada\"]}"},
    {"a part of a text is all of it", "{\"a\": \"A#${Gone}\"}", "{}"},
    {"the whole", "\"${Gone}\"", NULL},
};

START_TEST(template_drops_missing_members_where_asked)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct template *template = NULL;
    ck_assert_msg(parse(drops[_i].template, true, arena, &template, &err), "%s", err.text);
    struct expr_scope scope = {.item = plans_value(item, arena)};
    struct value found;
    ck_assert_msg(template_eval(template, &scope, arena, &found, &err), "%s", err.text);
    struct value wanted = {NULL, 0};
    if (drops[_i].result != NULL) {
        wanted = plans_value(drops[_i].result, arena);
    }
    ck_assert_msg(value_equal(found, wanted), "%s: %s", drops[_i].says, plans_show(found, arena));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *template;
    const char *result; /* a message where it is refused */
    enum value_type type;
    bool ok;
} keys[] = {
    {"N alone becomes S", "\"${Price}\"", "\"12.5\"", VALUE_S, true},
    {"S alone becomes N", "\"${Digits}\"", "12.5", VALUE_N, true},
    {"S stays S", "\"${Name}\"", "\"Ada\"", VALUE_S, true},
    {"a constant too", "\"${7 * 6}\"", "\"42\"", VALUE_S, true},
    {"text is S", "\"A#${Price}\"", "\"A#12.5\"", VALUE_S, true},
    {"text is no N", "\"${Price}0\"", "expected N for a key attribute, found S", VALUE_N, false},
    {"a forced type is not converted", "{\"N\": \"${Price}\"}",
     "expected S for a key attribute, found N", VALUE_S, false},
    {"BOOL is no key", "\"${Yes}\"", "expected S for a key attribute, found BOOL", VALUE_S, false},
    {"B is not S", "\"${Bytes}\"", "expected S for a key attribute, found B", VALUE_S, false},
    {"an empty S is no key", "\"${Empty}\"",
     "expected a value for a key attribute, found an empty S", VALUE_S, false},
    {"nor is an empty text", "\"${Empty}${Empty}\"",
     "expected a value for a key attribute, found an empty S", VALUE_S, false},
    {"letters are no N", "\"${Name}\"", NULL, VALUE_N, false},
};

START_TEST(template_for_key_converts_what_loses_nothing)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct template *template = NULL;
    ck_assert_msg(parse(keys[_i].template, false, arena, &template, &err), "%s", err.text);
    template = template_for_key(template, keys[_i].type, arena);
    struct expr_scope scope = {.item = plans_value(item, arena)};
    struct value found;
    bool ok = template_eval(template, &scope, arena, &found, &err);
    ck_assert_msg(ok == keys[_i].ok, "%s: %s", keys[_i].says, err.text);
    if (ok) {
        ck_assert_msg(value_equal(found, plans_value(keys[_i].result, arena)), "%s: %s",
                      keys[_i].says, plans_show(found, arena));
    } else {
        ck_assert_int_eq(err.code, ERROR_ITEM);
        ck_assert_msg(keys[_i].result == NULL || strcmp(err.text, keys[_i].result) == 0, "%s: %s",
                      keys[_i].says, err.text);
    }
    arena_free(arena);
}
END_TEST

static const struct {
    const char *template;
    const char *message; /* its start */
} faults[] = {
    {"\"${\"", "t.json:1:4: set.A: "},
    {"\"ab${Name\"", "t.json:1:10: set.A: "},
    {"\"${Name Name}\"", "t.json:1:9: set.A: "},
    {"\"\\u0041${ Name + }\"", "t.json:1:18: set.A: "},
    {"[1, \"${lowr(A)}\"]", "t.json:1:8: set.A[1]: "},
    {"{\"a\": {\"N\": \"x\"}}", "t.json:1:13: set.A.a.N: "},
    {"{\"NULL\": false}", "t.json:1:10: set.A.NULL: expected true for NULL, found false"},
    {"{\"N\": [1]}", "t.json:1:7: set.A.N: expected a value for N, found an array"},
    {"{\"L\": \"x\"}", "t.json:1:7: set.A.L: expected a value that makes L, found S"},
    {"{\"B\": \"x\"}", "t.json:1:7: set.A.B: "},
    {"{\"SS\": {\"a\": 1}}", "t.json:1:8: set.A.SS: expected a value for SS, found an object"},
    {"{\"NS\": [\"1\", \"one\"]}", "t.json:1:14: set.A.NS[1]: "},
    {"[{\"SS\": []}]", "t.json:1:1: set.A: expected a value in a list, found an empty set"},
    {"\"${number('x')}\"", "t.json:1:"},
    {"\"${before('a', '#')}\"", "t.json:1:1: set.A: expected a value, found before('a', '#'), "
                                "which is missing for every item"},
    {"\"a${[1]}\"", "t.json:1:1: set.A: expected S, N or BOOL in a text, found L"},
    {"1e999", "t.json:1:1: set.A: "},
};

START_TEST(template_parse_says_where_the_fault_is)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct template *template = NULL;
    ck_assert_msg(!parse(faults[_i].template, false, arena, &template, &err), "%s",
                  faults[_i].template);
    ck_assert_int_eq(err.code, ERROR_PLAN);
    ck_assert_msg(strncmp(err.text, faults[_i].message, strlen(faults[_i].message)) == 0, "%s: %s",
                  faults[_i].template, err.text);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *template;
    const char *says;
} missings[] = {
    {"\"A#${Name}#${Gone.deep}\"", "Gone.deep is missing"},
    {"[\"${lower(\\\"my gone\\\")}\"]", "\"my gone\" is missing"},
    {"\"${before(Name, '#')}\"", "before(Name, '#') is missing"},
};

START_TEST(template_missing_names_what_is_missing)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct template *template = NULL;
    ck_assert_msg(parse(missings[_i].template, false, arena, &template, &err), "%s", err.text);
    struct expr_scope scope = {.item = plans_value(item, arena)};
    struct str says = template_missing(template, &scope, arena);
    ck_assert_str_eq(says.ptr, missings[_i].says);
    arena_free(arena);
}
END_TEST

/* Spellings in a row mean the same and print the same, which is its own canonical form. */
static const struct {
    const char *spellings[4];
    const char *canonical;
} prints[] = {
    {{"\"text\"", "\"\\u0074ext\"", "{\"S\": \"text\"}"}, "\"text\""},
    {{"1.50", "15e-1", "{\"N\": \"1.5\"}", "{\"N\": 1.500}"}, "{\"N\":\"1.5\"}"},
    {{"{\"b\": 1, \"a\": \"${x}\"}", "{\"a\": \"${  x  }\", \"b\": 1.0}"},
     "{\"M\":{\"a\":\"${x}\",\"b\":{\"N\":\"1\"}}}"},
    {{"\"A#${ a }#${b}\"", "{\"S\": \"A#${a}#${b}\"}"}, "\"A#${a}#${b}\""},
    {{"[true, \"${x}\"]", "{\"L\": [true, \"${x}\"]}"}, "{\"L\":[{\"BOOL\":true},\"${x}\"]}"},
    {{"{\"SS\": [\"${x}\"]}", "{\"SS\": [{\"S\": \"${x}\"}]}"}, "{\"SS\":[\"${x}\"]}"},
    {{"{\"SS\": [\"${y}\", \"z\", \"${x}\"]}", "{\"SS\": [{\"S\": \"${x}\"}, \"${ y }\", \"z\"]}"},
     "{\"SS\":[\"z\",\"${x}\",\"${y}\"]}"},
    {{"{\"N\": \"${x}\"}"}, "{\"N\":\"${x}\"}"},
    {{"\"a ${'${'}\""}, "\"a ${'${'}\""},
};

START_TEST(template_print_has_one_form_for_one_meaning)
{
    struct arena *arena = arena_new();
    for (size_t i = 0; i < 4 && prints[_i].spellings[i] != NULL; i++) {
        struct error err = {0};
        const struct template *template = NULL;
        ck_assert_msg(parse(prints[_i].spellings[i], false, arena, &template, &err), "%s",
                      err.text);
        ck_assert_str_eq(template_print(template, arena).ptr, prints[_i].canonical);
        ck_assert_msg(parse(prints[_i].canonical, false, arena, &template, &err), "%s", err.text);
        ck_assert_str_eq(template_print(template, arena).ptr, prints[_i].canonical);
    }
    arena_free(arena);
}
END_TEST

static const struct {
    const char *template;
    const char *prefix;
    enum value_type type;
    bool stores;
} facts[] = {
    {"\"A#B\"", "A#B", VALUE_S, true},
    {"\"A#${x}#B\"", "A#", VALUE_S, true},
    {"\"${'A'}#${x}\"", "A#", VALUE_S, true},
    {"\"${'A'}${'#'}\\u00e9${x}\"", "A#\xc3\xa9", VALUE_S, true},
    {"{\"S\": \"A#${x}\"}", "A#", VALUE_S, true},
    {"\"${x}\"", "", VALUE_MISSING, true},
    {"\"${x = 1}\"", "", VALUE_BOOL, true},
    {"\"${a || b}\"", "", VALUE_S, true},
    {"{\"N\": \"${x}\"}", "", VALUE_N, true},
    {"{\"SS\": \"${x}\"}", "", VALUE_SS, false},
    {"{\"SS\": []}", "", VALUE_SS, false},
    {"{\"SS\": [\"a\"]}", "", VALUE_SS, true},
    {"\"${to_set(x)}\"", "", VALUE_MISSING, false},
    {"\"${lower(x)}\"", "", VALUE_MISSING, true},
};

START_TEST(template_facts_hold)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct template *template = NULL;
    ck_assert_msg(parse(facts[_i].template, false, arena, &template, &err), "%s", err.text);
    struct str prefix = template_literal_prefix(template);
    ck_assert_msg(str_equal(prefix, (struct str){facts[_i].prefix, strlen(facts[_i].prefix)}),
                  "%s: %.*s", facts[_i].template, STR_ARG(prefix));
    ck_assert_int_eq(template_type(template), facts[_i].type);
    ck_assert_int_eq(template_always_stores(template), facts[_i].stores);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/template");
    TCase *tcase = tcase_create("template");
    tcase_add_loop_test(tcase, template_eval_follows_the_table, 0, ROWS(evals));
    tcase_add_loop_test(tcase, template_drops_missing_members_where_asked, 0, ROWS(drops));
    tcase_add_loop_test(tcase, template_for_key_converts_what_loses_nothing, 0, ROWS(keys));
    tcase_add_loop_test(tcase, template_parse_says_where_the_fault_is, 0, ROWS(faults));
    tcase_add_loop_test(tcase, template_missing_names_what_is_missing, 0, ROWS(missings));
    tcase_add_loop_test(tcase, template_print_has_one_form_for_one_meaning, 0, ROWS(prints));
    tcase_add_loop_test(tcase, template_facts_hold, 0, ROWS(facts));
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}

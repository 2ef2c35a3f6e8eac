#include "tests/rules/plans_fixture.h"

#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/item/item_json.h"
#include "plans/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under a fuzzer there is no Check to tell. */
static void must(bool holds, const char *text, const struct error *err)
{
    if (!holds) {
        (void)fprintf(stderr, "%s: %s\n", text, err->text);
        abort();
    }
}

struct value plans_value(const char *text, struct arena *arena)
{
    struct str bytes = {text, strlen(text)};
    struct json_options options = {.file = "value"};
    struct json *json = NULL;
    struct error err = {0};
    const struct template *template = NULL;
    must(json_parse(bytes, &options, arena, &json, &err), text, &err);
    struct template_options place = {.place = {bytes, "value", {"", 0}}};
    must(template_parse(json, &place, arena, &template, &err), text, &err);
    struct value v = template_constant(template);
    must(!value_is_missing(v), text, &err);
    return v;
}

const char *plans_show(struct value v, struct arena *arena)
{
    if (value_is_missing(v)) {
        return "missing";
    }
    struct buffer out = {0};
    item_json_write_value(v, &out);
    const char *text = arena_copy(arena, buffer_str(&out)).ptr;
    buffer_free(&out);
    return text;
}

bool plans_plan(const char *text, struct arena *arena, const struct plan **out, struct error *err)
{
    struct str bytes = {text, strlen(text)};
    return plan_parse(bytes, "plans/0007_test.json", arena, out, err);
}

bool plans_pass(const char *steps, size_t stage, struct arena *arena, const struct pass **out,
                struct error *err)
{
    static const struct index_desc index = {
        .name = STR_INIT("GSI1"),
        .keys = {.partition = {{STR_INIT("GSI1PK"), VALUE_S}},
                 .partition_count = 1,
                 .sort = {{STR_INIT("GSI1SK"), VALUE_N}},
                 .sort_count = 1},
        .state = INDEX_ACTIVE,
    };
    static const struct table_desc table = {
        .name = STR_INIT("test"),
        .keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                 .partition_count = 1,
                 .sort = {{STR_INIT("SK"), VALUE_S}},
                 .sort_count = 1},
        .indexes = &index,
        .index_count = 1,
    };
    const struct plan *plan = NULL;
    struct str text = arena_format(arena, "{\"steps\": [%s]}", steps);
    struct pass_table *kept = arena_alloc(arena, sizeof *kept);
    return plans_plan(text.ptr, arena, &plan, err) &&
           pass_table_init(&table, &plan->steps, arena, kept, err) &&
           pass_compile(&plan->steps.stages[stage], kept, arena, out, err);
}

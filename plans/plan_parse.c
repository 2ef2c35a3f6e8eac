#include "plans/plan.h"

#include "engine/base/hash.h"
#include "plans/step_internal.h"

enum { VERSION_DIGITS_MAX = 9 };

bool plan_file_name(const char *file, uint32_t *version, struct str *name, struct error *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *slash = strrchr(file, '/');
    const char *base = slash == NULL ? file : slash + 1;
    size_t digits = strspn(base, "0123456789");
    uint32_t number = 0;
    for (size_t i = 0; i < digits && digits <= VERSION_DIGITS_MAX; i++) {
        number = number * 10 + (uint32_t)(base[i] - '0');
    }
    const char *rest = base + digits + (base[digits] == '_' ? 1 : 0);
    size_t len = strspn(rest, letters);
    bool named = base[digits] == '_' && len > 0 && strcmp(rest + len, ".json") == 0;
    if (number == 0 || !named) {
        return error_set(err, ERROR_PLAN, "%s: expected a file name like 0003_open_orders.json",
                         file);
    }
    *version = number;
    *name = (struct str){rest, len};
    return true;
}

/* A plan file being read: its stages so far. */
struct parse {
    struct place place; /* of the list of steps */
    struct arena *arena;
    struct error *err;
    struct stage *stages;
    size_t count;
    struct step *steps; /* of the passes, one after the other */
    struct str why;     /* of a divider after the last stage */
    bool divided;
};

static struct stage *add_stage(struct parse *parse, enum stage_kind kind, size_t number)
{
    struct stage *stage = &parse->stages[parse->count++];
    *stage = (struct stage){.kind = kind, .number = number};
    return stage;
}

static bool parse_divider(struct parse *parse, const struct json *json, size_t number)
{
    static const char *const names[] = {"pass", NULL};
    struct place place = place_element(parse->place, number, parse->arena);
    struct str why;
    if (!place_members(&place, json, names, parse->err) ||
        !place_text(&place, &json->items[0], &why, parse->err)) {
        return false;
    }
    parse->why = why;
    parse->divided = true;
    return true;
}

static bool parse_create_index(struct parse *parse, const struct json *json, size_t number)
{
    static const char *const names[] = {"create_index", "on_violation", NULL};
    struct place step = place_element(parse->place, number, parse->arena);
    if (!place_members(&step, json, names, parse->err)) {
        return false;
    }
    struct place place = place_member(step, STR("create_index"), parse->arena);
    struct stage *stage = add_stage(parse, STAGE_CREATE_INDEX, number);
    return index_parse(&place, json_member(json, "create_index"), parse->arena, stage,
                       parse->err) &&
           index_violation_parse(&step, json, parse->arena, stage, parse->err);
}

static bool parse_drop_index(struct parse *parse, const struct json *json, size_t number)
{
    static const char *const names[] = {"drop_index", NULL};
    struct place place = place_element(parse->place, number, parse->arena);
    if (!place_members(&place, json, names, parse->err)) {
        return false;
    }
    place = place_member(place, STR("drop_index"), parse->arena);
    struct stage *stage = add_stage(parse, STAGE_DROP_INDEX, number);
    stage->place = place;
    stage->offset = json->items[0].offset;
    return place_text(&place, &json->items[0], &stage->index.name, parse->err);
}

/* An item step joins the pass before it, unless something stands between. */
static bool parse_item_step(struct parse *parse, const struct json *json, size_t number)
{
    struct step *step = parse->steps++;
    *step = (struct step){.place = place_element(parse->place, number, parse->arena)};
    struct stage *last = parse->count == 0 ? NULL : &parse->stages[parse->count - 1];
    if (last == NULL || last->kind != STAGE_PASS || parse->divided) {
        last = add_stage(parse, STAGE_PASS, number);
        last->steps = step;
        last->why = parse->why;
    }
    parse->divided = false;
    parse->why = (struct str){"", 0};
    last->step_count++;
    return step_parse(json, parse->arena, step, parse->err);
}

static bool parse_step(struct parse *parse, const struct json *json, size_t number)
{
    if (json_member(json, "pass") != NULL) {
        return parse_divider(parse, json, number);
    }
    if (json_member(json, "create_index") != NULL) {
        return parse_create_index(parse, json, number);
    }
    if (json_member(json, "drop_index") != NULL) {
        return parse_drop_index(parse, json, number);
    }
    return parse_item_step(parse, json, number);
}

static bool parse_steps(const struct place *place, const struct json *json, struct arena *arena,
                        struct stage_list *out, struct error *err)
{
    struct parse parse = {
        .place = place_member(*place, json->name, arena),
        .arena = arena,
        .err = err,
        .stages = arena_alloc(arena, json->count * sizeof *parse.stages),
        .steps = arena_alloc(arena, json->count * sizeof *parse.steps),
        .why = {"", 0},
    };
    if (!place_expect(&parse.place, json, JSON_ARRAY, err)) {
        return false;
    }
    for (size_t i = 0; i < json->count; i++) {
        struct place element = place_element(parse.place, i, arena);
        if (!place_expect(&element, &json->items[i], JSON_OBJECT, err) ||
            !parse_step(&parse, &json->items[i], i)) {
            return false;
        }
    }
    *out = (struct stage_list){parse.stages, parse.count};
    return true;
}

/* --- the hash --- */

static void print_stage(const struct stage *stage, struct arena *arena, struct buffer *out)
{
    if (stage->kind == STAGE_CREATE_INDEX) {
        index_print(stage, arena, out);
        return;
    }
    if (stage->kind == STAGE_DROP_INDEX) {
        buffer_add(out, STR("{\"drop_index\":"));
        json_write_string(out, stage->index.name);
        buffer_add_char(out, '}');
        return;
    }
    buffer_add_char(out, '[');
    for (size_t i = 0; i < stage->step_count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(","));
        step_print(&stage->steps[i], arena, out);
    }
    buffer_add_char(out, ']');
}

static void print_stages(const struct stage_list *list, struct arena *arena, struct buffer *out)
{
    buffer_add_char(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(","));
        print_stage(&list->stages[i], arena, out);
    }
    buffer_add_char(out, ']');
}

static struct str hash_of(const struct plan *plan, struct arena *arena)
{
    struct buffer out = {0};
    buffer_add_char(&out, '{');
    if (plan->has_rollback) {
        buffer_add(&out, STR("\"rollback\":"));
        print_stages(&plan->rollback, arena, &out);
        buffer_add_char(&out, ',');
    }
    buffer_add(&out, STR("\"steps\":"));
    print_stages(&plan->steps, arena, &out);
    buffer_add_char(&out, '}');
    unsigned char digest[32];
    char hex[2 * sizeof digest + 1];
    hash_sha256(buffer_str(&out), digest);
    hash_hex(digest, sizeof digest, hex);
    buffer_free(&out);
    return arena_format(arena, "1:%s", hex);
}

/* --- the file --- */

static bool parse_description(const struct place *place, const struct json *json,
                              struct arena *arena, struct str *out, struct error *err)
{
    struct place inner = place_member(*place, json->name, arena);
    if (!place_expect(&inner, json, JSON_STRING, err)) {
        return false;
    }
    *out = json->text;
    return true;
}

static bool parse_members(const struct place *place, const struct json *json, struct arena *arena,
                          struct plan *plan, struct error *err)
{
    static const char *const names[] = {"description", "steps", "rollback", NULL};
    if (!place_members(place, json, names, err)) {
        return false;
    }
    const struct json *description = json_member(json, "description");
    const struct json *steps = json_member(json, "steps");
    const struct json *rollback = json_member(json, "rollback");
    if (steps == NULL) {
        return place_error(place, json->offset, err, "expected the member \"steps\"");
    }
    if (description != NULL &&
        !parse_description(place, description, arena, &plan->description, err)) {
        return false;
    }
    if (!parse_steps(place, steps, arena, &plan->steps, err)) {
        return false;
    }
    if (plan->steps.count == 0) {
        return place_error(place, steps->offset, err, "expected at least one step");
    }
    plan->has_rollback = rollback != NULL;
    return rollback == NULL || parse_steps(place, rollback, arena, &plan->rollback, err);
}

bool plan_parse(struct str text, const char *file, struct arena *arena, const struct plan **out,
                struct error *err)
{
    struct plan *plan = arena_zero(arena, sizeof *plan);
    plan->file = arena_copy(arena, (struct str){file, strlen(file)}).ptr;
    if (!plan_file_name(plan->file, &plan->version, &plan->name, err)) {
        return false;
    }
    struct json_options options = {.comments = true, .file = plan->file};
    struct json *json = NULL;
    if (!json_parse(text, &options, arena, &json, err)) {
        err->code = ERROR_PLAN;
        return false;
    }
    struct place place = {arena_copy(arena, text), plan->file, {"", 0}};
    if (!parse_members(&place, json, arena, plan, err)) {
        return false;
    }
    plan->hash = hash_of(plan, arena);
    *out = plan;
    return true;
}

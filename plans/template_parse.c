#include "plans/template.h"

#include "engine/base/buffer.h"
#include "plans/template_internal.h"

#include <assert.h>
#include <stdlib.h>

/* One template being parsed; nested ones have a place of their own. */
struct parse {
    const struct template_options *options;
    struct place place;
    struct arena *arena;
    struct error *err;
};

static bool parse_value(const struct parse *parse, const struct json *json, struct template *out);

static struct template literal(struct value v)
{
    return (struct template){.kind = TEMPLATE_LITERAL, .type = value_type(v), .constant = v};
}

static bool fail(const struct parse *parse, size_t offset)
{
    return place_wrap(&parse->place, offset, parse->err);
}

static const struct template *keep(const struct parse *parse, const struct template *template)
{
    struct template *kept = arena_alloc(parse->arena, sizeof *kept);
    *kept = *template;
    return kept;
}

static bool has_constant(const struct template *template)
{
    for (size_t i = 0; i < template->count; i++) {
        bool known = template->kind == TEMPLATE_TEXT
                         ? template->parts[i].words.ptr != NULL
                         : !value_is_missing(template->members[i].template->constant);
        if (!known) {
            return false;
        }
    }
    return true;
}

static bool is_literal(const struct template *template)
{
    for (size_t i = 0; i < template->count; i++) {
        if (template->kind == TEMPLATE_TEXT ||
            template->members[i].template->kind != TEMPLATE_LITERAL) {
            return false;
        }
    }
    return true;
}

/* Computes once what reads nothing; what can never be computed is refused here. */
static bool settle(const struct parse *parse, const struct json *json, struct template *template)
{
    static const struct expr_scope nothing = {0};
    template->drop_missing = parse->options->drop_missing;
    if (!has_constant(template)) {
        return true;
    }
    struct value v;
    if (!template_eval(template, &nothing, parse->arena, &v, parse->err)) {
        return fail(parse, json->offset);
    }
    template->constant = v;
    if (is_literal(template)) {
        *template = literal(v);
    }
    return true;
}

/* --- strings --- */

static void note_path(void *context, int slot, struct path path)
{
    (void)slot;
    (void)path;
    *(bool *)context = true;
}

static bool reads_something(const struct expr *expr)
{
    bool reads = false;
    expr_paths(expr, note_path, &reads);
    return reads;
}

/* The value of an expression that reads nothing, which must have one. */
static bool constant_of(const struct parse *parse, const struct expr *expr, size_t offset,
                        struct value *out)
{
    static const struct expr_scope nothing = {0};
    if (!expr_eval(expr, &nothing, parse->arena, out, parse->err)) {
        return fail(parse, offset);
    }
    if (value_is_missing(*out)) {
        struct str text = expr_print(expr, parse->arena);
        return place_error(&parse->place, offset, parse->err,
                           "expected a value, found %.*s, "
                           "which is missing for every item",
                           STR_ARG(text));
    }
    return true;
}

static size_t find_opening(struct str text, size_t from)
{
    const char *found = memmem(text.ptr + from, text.len - from, "${", 2);
    return found == NULL ? text.len : (size_t)(found - text.ptr);
}

/* The expression behind the "${" at *at; *at moves behind its '}'. */
static bool parse_expression(const struct parse *parse, const struct json *json, size_t *at,
                             const struct expr **out)
{
    const struct template_options *options = parse->options;
    struct expr_options inner = {options->names.resolve, options->names.context, true};
    size_t start = *at + 2;
    struct str rest = {json->text.ptr + start, json->text.len - start};
    struct expr_parsed parsed = {0};
    if (!expr_parse(rest, &inner, parse->arena, &parsed, parse->err)) {
        return fail(parse, json_string_offset(parse->place.text, json, start + parsed.fault));
    }
    assert(rest.ptr[parsed.end] == '}');
    *out = parsed.expr;
    *at = start + parsed.end + 1;
    return true;
}

static bool parse_part(const struct parse *parse, const struct json *json, size_t *at,
                       struct part *out)
{
    struct str text = json->text;
    size_t opening = find_opening(text, *at);
    if (opening == *at) {
        *out = (struct part){0};
        return parse_expression(parse, json, at, &out->expr);
    }
    *out = (struct part){NULL, {text.ptr + *at, opening - *at}};
    *at = opening;
    return true;
}

/* An expression that reads nothing becomes words. */
static bool settle_part(const struct parse *parse, const struct json *json, struct part *part)
{
    struct value v;
    if (part->expr == NULL || reads_something(part->expr)) {
        return true;
    }
    if (!constant_of(parse, part->expr, json->offset, &v)) {
        return false;
    }
    if (!template_words(v, parse->arena, &part->words)) {
        return place_error(&parse->place, json->offset, parse->err,
                           "expected S, N or BOOL in a text, found %s",
                           value_type_name(value_type(v)));
    }
    return true;
}

static struct str leading_words(const struct part *parts, size_t count, struct arena *arena)
{
    struct buffer prefix = {0};
    for (size_t i = 0; i < count && parts[i].words.ptr != NULL; i++) {
        buffer_add(&prefix, parts[i].words);
    }
    struct str words = arena_copy(arena, buffer_str(&prefix));
    buffer_free(&prefix);
    return words;
}

static bool parse_text(const struct parse *parse, const struct json *json, struct part *parts,
                       size_t count, struct template *out)
{
    for (size_t i = 0; i < count; i++) {
        if (!settle_part(parse, json, &parts[i])) {
            return false;
        }
    }
    *out = (struct template){.kind = TEMPLATE_TEXT,
                             .type = VALUE_S,
                             .prefix = leading_words(parts, count, parse->arena),
                             .parts = parts,
                             .count = count};
    return settle(parse, json, out);
}

static bool parse_alone(const struct parse *parse, const struct json *json, const struct expr *expr,
                        struct template *out)
{
    *out = (struct template){.kind = TEMPLATE_EXPR, .expr = expr};
    if (!reads_something(expr)) {
        if (!constant_of(parse, expr, json->offset, &out->constant)) {
            return false;
        }
        out->type = value_type(out->constant);
    } else if (expr_is_condition(expr)) {
        out->type = VALUE_BOOL;
    } else if (expr_kind(expr) == EXPR_CONCAT) {
        out->type = VALUE_S;
    }
    return true;
}

static bool parse_string(const struct parse *parse, const struct json *json, struct template *out)
{
    struct str text = json->text;
    size_t most = 1;
    for (size_t at = find_opening(text, 0); at < text.len; at = find_opening(text, at + 2)) {
        most += 2;
    }
    if (most == 1) {
        *out = literal(value_string(parse->arena, text));
        return true;
    }
    struct part *parts = arena_alloc(parse->arena, most * sizeof *parts);
    size_t count = 0;
    for (size_t at = 0; at < text.len; count++) {
        if (!parse_part(parse, json, &at, &parts[count])) {
            return false;
        }
    }
    if (count == 1) {
        return parse_alone(parse, json, parts[0].expr, out);
    }
    return parse_text(parse, json, parts, count, out);
}

/* --- lists, maps, sets --- */

static bool parse_member(const struct parse *parse, const struct json *json, struct place place,
                         struct template_member *out)
{
    struct parse inner = *parse;
    struct template template;
    inner.place = place;
    if (!parse_value(&inner, json, &template)) {
        return false;
    }
    *out = (struct template_member){json->name, keep(parse, &template)};
    return true;
}

static bool parse_list(const struct parse *parse, const struct json *json, struct template *out)
{
    struct template_member *members = arena_alloc(parse->arena, json->count * sizeof *members);
    for (size_t i = 0; i < json->count; i++) {
        struct place place = place_element(parse->place, i, parse->arena);
        if (!parse_member(parse, &json->items[i], place, &members[i])) {
            return false;
        }
    }
    *out = (struct template){
        .kind = TEMPLATE_LIST, .type = VALUE_L, .members = members, .count = json->count};
    return settle(parse, json, out);
}

static int compare_members(const void *a, const void *b)
{
    const struct template_member *left = a;
    const struct template_member *right = b;
    return str_compare(left->name, right->name);
}

static bool parse_map(const struct parse *parse, const struct json *json, struct template *out)
{
    struct template_member *members = arena_alloc(parse->arena, json->count * sizeof *members);
    for (size_t i = 0; i < json->count; i++) {
        const struct json *item = &json->items[i];
        struct place place = place_member(parse->place, item->name, parse->arena);
        if (!parse_member(parse, item, place, &members[i])) {
            return false;
        }
    }
    qsort(members, json->count, sizeof *members, compare_members);
    *out = (struct template){
        .kind = TEMPLATE_MAP, .type = VALUE_M, .members = members, .count = json->count};
    return settle(parse, json, out);
}

/* `inner`, converted to the type; what has it anyway stays as it is, but for "${expr}" alone, which
 * would convert for a key. */
static bool make_typed(const struct parse *parse, const struct json *json, enum value_type type,
                       const struct template *inner, struct template *out)
{
    if (inner->type == type && inner->kind != TEMPLATE_EXPR) {
        *out = *inner;
        return true;
    }
    struct template_member *member = arena_alloc(parse->arena, sizeof *member);
    *member = (struct template_member){{"", 0}, keep(parse, inner)};
    *out = (struct template){.kind = TEMPLATE_TYPED,
                             .type = type,
                             .prefix = type == VALUE_S ? inner->prefix : (struct str){"", 0},
                             .members = member,
                             .count = 1};
    return settle(parse, json, out);
}

static bool parse_set(const struct parse *parse, const struct json *json, enum value_type type,
                      struct template *out)
{
    enum value_type member_type = VALUE_S + (type - VALUE_SS);
    struct template_member *members = arena_alloc(parse->arena, json->count * sizeof *members);
    for (size_t i = 0; i < json->count; i++) {
        struct parse inner = *parse;
        struct template member;
        struct template typed;
        inner.place = place_element(parse->place, i, parse->arena);
        if (!parse_value(&inner, &json->items[i], &member) ||
            !make_typed(&inner, &json->items[i], member_type, &member, &typed)) {
            return false;
        }
        const struct template *kept = keep(parse, &typed);
        members[i] = (struct template_member){template_print(kept, parse->arena), kept};
    }
    qsort(members, json->count, sizeof *members, compare_members);
    *out = (struct template){
        .kind = TEMPLATE_SET, .type = type, .members = members, .count = json->count};
    return settle(parse, json, out);
}

static bool parse_converted(const struct parse *parse, const struct json *json,
                            enum value_type type, struct template *out)
{
    struct template inner;
    bool scalar = json->kind == JSON_STRING || json->kind == JSON_NUMBER || json->kind == JSON_BOOL;
    if (!scalar) {
        return place_error(&parse->place, json->offset, parse->err,
                           "expected a value for %s, found %s", value_type_name(type),
                           place_found(json));
    }
    return parse_value(parse, json, &inner) && make_typed(parse, json, type, &inner, out);
}

static bool parse_null(const struct parse *parse, const struct json *json, struct template *out)
{
    if (json->kind != JSON_BOOL || !json->boolean) {
        return place_error(&parse->place, json->offset, parse->err,
                           "expected true for NULL, found %s", place_found(json));
    }
    *out = literal(value_null());
    return true;
}

/* {"TYPE": …} */
static bool parse_typed(const struct parse *parse, const struct json *json, enum value_type type,
                        struct template *out)
{
    if (type == VALUE_NULL) {
        return parse_null(parse, json, out);
    }
    if (json->kind == JSON_OBJECT && type == VALUE_M) {
        return parse_map(parse, json, out);
    }
    if (json->kind == JSON_ARRAY && type == VALUE_L) {
        return parse_list(parse, json, out);
    }
    bool is_set = type >= VALUE_SS && type <= VALUE_BS;
    return json->kind == JSON_ARRAY && is_set ? parse_set(parse, json, type, out)
                                              : parse_converted(parse, json, type, out);
}

static bool parse_object(const struct parse *parse, const struct json *json, struct template *out)
{
    enum value_type type = json->count == 1 ? value_type_named(json->items[0].name) : VALUE_MISSING;
    if (type == VALUE_MISSING) {
        return parse_map(parse, json, out);
    }
    struct parse inner = *parse;
    inner.place = place_member(parse->place, json->items[0].name, parse->arena);
    return parse_typed(&inner, &json->items[0], type, out);
}

static bool parse_number(const struct parse *parse, const struct json *json, struct template *out)
{
    struct number n;
    if (!number_parse(json->text, &n, parse->err)) {
        return fail(parse, json->offset);
    }
    *out = literal(value_from_number(parse->arena, &n));
    return true;
}

static bool parse_value(const struct parse *parse, const struct json *json, struct template *out)
{
    switch (json->kind) {
    case JSON_NULL:
        *out = literal(value_null());
        return true;
    case JSON_BOOL:
        *out = literal(value_from_bool(json->boolean));
        return true;
    case JSON_NUMBER:
        return parse_number(parse, json, out);
    case JSON_STRING:
        return parse_string(parse, json, out);
    case JSON_ARRAY:
        return parse_list(parse, json, out);
    default:
        return parse_object(parse, json, out);
    }
}

bool template_parse(const struct json *json, const struct template_options *options,
                    struct arena *arena, const struct template **out, struct error *err)
{
    struct parse parse = {options, options->place, arena, err};
    struct template template;
    if (!parse_value(&parse, json, &template)) {
        return false;
    }
    *out = keep(&parse, &template);
    return true;
}

const struct template *template_for_key(const struct template *template, enum value_type type,
                                        struct arena *arena)
{
    struct template *typed = arena_alloc(arena, sizeof *typed);
    *typed = *template;
    typed->key_type = type;
    if (template->kind == TEMPLATE_EXPR) {
        typed->type = type;
    }
    struct error later; /* template_eval() meets it again */
    if (!value_is_missing(typed->constant) &&
        template_convert_key(typed, typed->constant, arena, &typed->constant, &later)) {
        typed->key_type = VALUE_MISSING;
    }
    return typed;
}

#include "plans/template.h"

#include "engine/base/varint.h"
#include "plans/template_internal.h"

static const struct value missing = {NULL, 0};

/* What one part of a text says; ptr stays NULL where its expression is missing. */
static bool eval_part(const struct part *part, const struct expr_scope *scope,
                      struct arena *scratch, struct str *out, struct error *err)
{
    struct value v;
    if (part->words.ptr != NULL) {
        *out = part->words;
        return true;
    }
    *out = (struct str){NULL, 0};
    if (!expr_eval(part->expr, scope, scratch, &v, err)) {
        return false;
    }
    if (!value_is_missing(v) && !template_words(v, scratch, out)) {
        struct str text = expr_print(part->expr, scratch);
        return error_set(err, ERROR_ITEM, "expected S, N or BOOL for ${%.*s} in a text, found %s",
                         STR_ARG(text), value_type_name(value_type(v)));
    }
    return true;
}

/* What no item could hold is not even made. */
static bool check_room(size_t bytes, struct error *err)
{
    if (bytes > ITEM_MAX_BYTES) {
        return error_set(err, ERROR_ITEM, "the value has over %d bytes, more than an item may",
                         ITEM_MAX_BYTES);
    }
    return true;
}

/* The S of all words, written once (engine/item/value.h: tag, varint length, bytes). */
static struct value join(const struct str *words, size_t count, size_t len, struct arena *scratch)
{
    unsigned char *bytes = (unsigned char *)arena_bytes(scratch, 1 + VARINT_MAX_BYTES + len);
    bytes[0] = VALUE_S;
    size_t used = 1 + varint_put(bytes + 1, len);
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes + used, words[i].ptr, words[i].len);
        used += words[i].len;
    }
    return (struct value){bytes, used};
}

static bool eval_text(const struct template *template, const struct expr_scope *scope,
                      struct arena *scratch, struct value *out, struct error *err)
{
    struct str *words = arena_alloc(scratch, template->count * sizeof *words);
    size_t len = 0;
    for (size_t i = 0; i < template->count; i++) {
        if (!eval_part(&template->parts[i], scope, scratch, &words[i], err)) {
            return false;
        }
        if (words[i].ptr == NULL) {
            *out = missing;
            return true;
        }
        len += words[i].len;
        if (!check_room(len, err)) {
            return false;
        }
    }
    *out = join(words, template->count, len, scratch);
    return true;
}

/* The members that are there; `incomplete` where one is missing that may not be left out. */
struct found {
    struct attribute *members;
    size_t count;
    size_t bytes;
    bool incomplete;
};

static bool find_members(const struct template *template, const struct expr_scope *scope,
                         struct arena *scratch, struct found *found, struct error *err)
{
    for (size_t i = 0; i < template->count; i++) {
        const struct template_member *member = &template->members[i];
        struct value v;
        if (!template_eval(member->template, scope, scratch, &v, err)) {
            return false;
        }
        if (value_is_missing(v) && !template->drop_missing) {
            found->incomplete = true;
            return true;
        }
        if (template->kind == TEMPLATE_LIST && !value_is_missing(v) && template_is_nothing(v)) {
            return error_set(err, ERROR_ITEM, "expected a value in a list, found an empty set");
        }
        if (!template_is_nothing(v)) {
            found->members[found->count++] = (struct attribute){member->name, v};
            found->bytes += v.len;
        }
        if (!check_room(found->bytes, err)) {
            return false;
        }
    }
    return true;
}

static bool eval_members(const struct template *template, const struct expr_scope *scope,
                         struct arena *scratch, struct value *out, struct error *err)
{
    struct found found = {.members = arena_alloc(scratch, template->count * sizeof *found.members)};
    if (!find_members(template, scope, scratch, &found, err)) {
        return false;
    }
    if (found.incomplete) {
        *out = missing;
        return true;
    }
    if (template->kind == TEMPLATE_MAP) {
        return value_map(scratch, found.members, found.count, out, err);
    }
    if (template->kind == TEMPLATE_SET && found.count == 0) {
        *out = template_empty_set(template->type);
        return true;
    }
    struct value *values = arena_alloc(scratch, found.count * sizeof *values);
    for (size_t i = 0; i < found.count; i++) {
        values[i] = found.members[i].value;
    }
    if (template->kind == TEMPLATE_SET) {
        return value_set_merged(scratch, values, found.count, out, err);
    }
    *out = value_list(scratch, values, found.count);
    return true;
}

static bool eval_typed(const struct template *template, const struct expr_scope *scope,
                       struct arena *scratch, struct value *out, struct error *err)
{
    struct value v;
    if (!template_eval(template->members[0].template, scope, scratch, &v, err)) {
        return false;
    }
    if (value_is_missing(v)) {
        *out = v;
        return true;
    }
    return template_convert(v, template->type, scratch, out, err);
}

static bool eval_kind(const struct template *template, const struct expr_scope *scope,
                      struct arena *scratch, struct value *out, struct error *err)
{
    switch (template->kind) {
    case TEMPLATE_EXPR:
        return expr_eval(template->expr, scope, scratch, out, err);
    case TEMPLATE_TEXT:
        return eval_text(template, scope, scratch, out, err);
    case TEMPLATE_TYPED:
        return eval_typed(template, scope, scratch, out, err);
    default:
        return eval_members(template, scope, scratch, out, err);
    }
}

bool template_eval(const struct template *template, const struct expr_scope *scope,
                   struct arena *scratch, struct value *out, struct error *err)
{
    struct value v = template->constant;
    if (value_is_missing(v) && !eval_kind(template, scope, scratch, &v, err)) {
        return false;
    }
    if (template->key_type != VALUE_MISSING && !value_is_missing(v)) {
        return template_convert_key(template, v, scratch, out, err);
    }
    *out = v;
    return true;
}

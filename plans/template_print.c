#include "plans/template.h"

#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "plans/template_internal.h"

struct print {
    struct buffer *out;
    struct arena *arena;
};

static void print_expr(const struct print *print, const struct expr *expr)
{
    buffer_add(print->out, STR("${"));
    buffer_add(print->out, expr_print(expr, print->arena));
    buffer_add_char(print->out, '}');
}

static void print_text(const struct print *print, const struct template *template)
{
    struct buffer text = {0};
    struct print inner = {&text, print->arena};
    for (size_t i = 0; i < template->count; i++) {
        const struct part *part = &template->parts[i];
        if (part->expr != NULL) {
            print_expr(&inner, part->expr);
        } else {
            buffer_add(&text, part->words);
        }
    }
    json_write_string(print->out, buffer_str(&text));
    buffer_free(&text);
}

static void print_template(const struct print *print, const struct template *template);

/* A set says of what type its members are; they need not. */
static const struct template *shown(const struct template *set, size_t member)
{
    const struct template *template = set->members[member].template;
    bool says_twice = set->kind == TEMPLATE_SET && template->kind == TEMPLATE_TYPED;
    return says_twice ? template->members[0].template : template;
}

static void print_members(const struct print *print, const struct template *template)
{
    bool named = template->kind == TEMPLATE_MAP;
    buffer_add_char(print->out, named ? '{' : '[');
    for (size_t i = 0; i < template->count; i++) {
        if (i > 0) {
            buffer_add_char(print->out, ',');
        }
        if (named) {
            json_write_string(print->out, template->members[i].name);
            buffer_add_char(print->out, ':');
        }
        print_template(print, shown(template, i));
    }
    buffer_add_char(print->out, named ? '}' : ']');
}

static void print_literal(const struct print *print, struct value v)
{
    if (value_type(v) == VALUE_S) {
        json_write_string(print->out, value_bytes(v));
    } else {
        item_json_write_value(v, print->out);
    }
}

static void print_template(const struct print *print, const struct template *template)
{
    switch (template->kind) {
    case TEMPLATE_LITERAL:
        print_literal(print, template->constant);
        return;
    case TEMPLATE_EXPR: {
        struct buffer text = {0};
        struct print inner = {&text, print->arena};
        print_expr(&inner, template->expr);
        json_write_string(print->out, buffer_str(&text));
        buffer_free(&text);
        return;
    }
    case TEMPLATE_TEXT:
        print_text(print, template);
        return;
    default:
        break;
    }
    buffer_format(print->out, "{\"%s\":", value_type_name(template->type));
    if (template->kind == TEMPLATE_TYPED) {
        print_template(print, template->members[0].template);
    } else {
        print_members(print, template);
    }
    buffer_add_char(print->out, '}');
}

struct str template_print(const struct template *template, struct arena *arena)
{
    struct buffer out = {0};
    struct print print = {&out, arena};
    print_template(&print, template);
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

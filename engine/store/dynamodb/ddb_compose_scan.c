#include "engine/store/dynamodb/ddb_compose_internal.h"

/* --- which items --- */

static size_t write_filter(struct composer *composer, const struct key_schema *keys,
                           const struct page_use *use, const struct scan_mark *mark)
{
    struct buffer *out = &composer->condition;
    size_t operators = 0;
    for (size_t i = 0; i < use->any_of_count; i++) {
        buffer_add(out, i > 0 ? STR(" OR ") : STR(""));
        operators += 1 + compose_push(composer, use->any_of[i], out);
    }
    if (!value_is_missing(mark->partition)) {
        unsigned name = compose_name(composer, keys->partition[0].name);
        unsigned value = compose_value(composer, mark->partition);
        buffer_format(out, " OR begins_with(#%u,:%u)", name, value);
        operators += 2;
    }
    return operators;
}

/* A filter that does not fit is left out, its placeholders too: a server refuses unused ones. */
static void add_filter(struct composer *composer, const struct key_schema *keys,
                       const struct page_use *use, const struct scan_mark *mark)
{
    size_t operators = write_filter(composer, keys, use, mark);
    if (operators <= EXPRESSION_MAX_OPERATORS && composer->condition.len <= EXPRESSION_MAX_BYTES) {
        compose_text(composer, "FilterExpression", buffer_str(&composer->condition));
    } else {
        composer->names.len = composer->values.len = 0;
        composer->name_count = composer->value_count = 0;
    }
    composer->condition.len = 0;
}

/* --- what of them --- */

static void list_name(struct composer *composer, struct str name)
{
    struct buffer *out = &composer->condition;
    buffer_format(out, "%s#%u", out->len > 0 ? "," : "", compose_name(composer, name));
}

static bool is_listed(const struct key_schema *keys, const struct scan_mark *mark, struct str name)
{
    bool is_mark = !value_is_missing(mark->partition) && str_equal(mark->name, name);
    return is_mark || str_equal(keys->partition[0].name, name) ||
           (keys->sort_count > 0 && str_equal(keys->sort[0].name, name));
}

/* Each name once: a server refuses paths that overlap. */
static void add_projection(struct composer *composer, const struct key_schema *keys,
                           const struct page_use *use, const struct scan_mark *mark)
{
    enum { NAME_MAX_BYTES = 7, NAMES_MAX = EXPRESSION_MAX_BYTES / NAME_MAX_BYTES - 3 };
    if (use->name_count > NAMES_MAX) {
        return;
    }
    list_name(composer, keys->partition[0].name);
    if (keys->sort_count > 0) {
        list_name(composer, keys->sort[0].name);
    }
    if (!value_is_missing(mark->partition)) {
        list_name(composer, mark->name);
    }
    for (size_t i = 0; i < use->name_count; i++) {
        if (!is_listed(keys, mark, use->names[i])) {
            list_name(composer, use->names[i]);
        }
    }
    compose_text(composer, "ProjectionExpression", buffer_str(&composer->condition));
    composer->condition.len = 0;
}

void compose_use(struct composer *composer, const struct key_schema *keys,
                 const struct page_use *use, const struct scan_mark *mark)
{
    if (use->any_of_count > 0) {
        add_filter(composer, keys, use, mark);
    }
    if (use->names != NULL) {
        add_projection(composer, keys, use, mark);
    }
    compose_expressions(composer);
}

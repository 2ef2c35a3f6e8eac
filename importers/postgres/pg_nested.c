#include "importers/postgres/pg_type.h"

#include "importers/postgres/pg_text.h"

#include <string.h>

/* Values of one level of an array, as they are read. */
struct value_list_builder {
    struct value *list;
    size_t count, capacity;
};

static void add_value(struct value_list_builder *values, struct value value, struct arena *arena)
{
    if (values->count == values->capacity) {
        values->list = arena_grow(arena, values->list, sizeof *values->list, &values->capacity);
    }
    values->list[values->count++] = value;
}

static bool bad_array(struct error *err)
{
    return error_set(err, ERROR_SOURCE, "not the text of an array");
}

/* Reads up to the brace that closes the level; a level for each dimension. */
static bool read_level(struct pg_array_reader *reader, const struct pg_type *element,
                       struct arena *arena, struct value *out, struct error *err)
{
    struct value_list_builder values = {0};
    for (;;) {
        struct str text;
        struct value value = value_null();
        enum pg_array_token token = pg_array_next(reader, arena, &text);
        if (token == PG_ARRAY_CLOSE) {
            *out = value_list(arena, values.list, values.count);
            return true;
        }
        if (token == PG_ARRAY_BAD || token == PG_ARRAY_END) {
            return bad_array(err);
        }
        if (token == PG_ARRAY_TEXT && !element->convert(element, text, arena, &value, err)) {
            return error_wrap(err, "element %zu", values.count + 1);
        }
        if (token == PG_ARRAY_OPEN && !read_level(reader, element, arena, &value, err)) {
            return false;
        }
        add_value(&values, value, arena);
    }
}

bool pg_convert_array(const struct pg_type *type, struct str text, struct arena *arena,
                      struct value *out, struct error *err)
{
    if (text.len > 0 && text.ptr[0] == '[') {
        return error_set(err, ERROR_ITEM, "an array whose first element is not number 1");
    }
    struct str ignored;
    struct pg_array_reader reader = {
        .at = text.ptr, .end = text.ptr + text.len, .delimiter = type->element->delimiter};
    if (pg_array_next(&reader, arena, &ignored) != PG_ARRAY_OPEN) {
        return bad_array(err);
    }
    return read_level(&reader, type->element, arena, out, err) &&
           (reader.at == reader.end || bad_array(err));
}

bool pg_convert_composite(const struct pg_type *type, struct str text, struct arena *arena,
                          struct value *out, struct error *err)
{
    size_t count = type->field_count;
    struct str *fields = arena_alloc(arena, (count + 1) * sizeof *fields);
    struct attribute *members = arena_zero(arena, (count + 1) * sizeof *members);
    if (!pg_composite_split(text, arena, fields, count, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct pg_field *field = &type->fields[i];
        members[i].name = field->name;
        if (fields[i].ptr != NULL &&
            !field->type->convert(field->type, fields[i], arena, &members[i].value, err)) {
            return error_wrap(err, "field %.*s", STR_ARG(field->name));
        }
    }
    return value_map(arena, members, count, out, err);
}

/* A bound of a range, "" where it is infinite. */
static bool convert_bound(const struct pg_type *type, struct str bound, struct arena *arena,
                          struct value *out, struct error *err)
{
    *out = (struct value){NULL, 0};
    return bound.ptr == NULL || type->convert(type, bound, arena, out, err);
}

/* [1,6) is written as a composite is, but for the brackets. */
static bool split_range(struct str text, struct arena *arena, struct str bounds[2],
                        struct error *err)
{
    if (text.len < 3) {
        return error_set(err, ERROR_SOURCE, "not the text of a range");
    }
    char *composite = arena_bytes(arena, text.len);
    memcpy(composite, text.ptr, text.len);
    composite[0] = '(';
    composite[text.len - 1] = ')';
    return pg_composite_split((struct str){composite, text.len}, arena, bounds, 2, err);
}

bool pg_convert_range(const struct pg_type *type, struct str text, struct arena *arena,
                      struct value *out, struct error *err)
{
    struct attribute members[] = {
        {STR("empty"), value_from_bool(true)}, {STR("lower"), {NULL, 0}},
        {STR("lower_inc"), {NULL, 0}},         {STR("upper"), {NULL, 0}},
        {STR("upper_inc"), {NULL, 0}},
    };
    struct str bounds[2];
    if (str_equal(text, STR("empty"))) {
        return value_map(arena, members, 1, out, err);
    }
    if (!split_range(text, arena, bounds, err) ||
        !convert_bound(type->element, bounds[0], arena, &members[1].value, err) ||
        !convert_bound(type->element, bounds[1], arena, &members[3].value, err)) {
        return false;
    }
    members[0].value = value_from_bool(false);
    members[2].value = value_from_bool(text.ptr[0] == '[');
    members[4].value = value_from_bool(text.ptr[text.len - 1] == ']');
    return value_map(arena, members, sizeof members / sizeof members[0], out, err);
}

/* Where the range that starts at `at` ends: behind its closing bracket outside quotes. */
static size_t range_end(struct str text, size_t at)
{
    bool quoted = false;
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == '\\') {
            at++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == ')' || c == ']')) {
            return at + 1;
        }
    }
    return text.len;
}

/* {[1,3),[5,8)} */
bool pg_convert_multirange(const struct pg_type *type, struct str text, struct arena *arena,
                           struct value *out, struct error *err)
{
    struct value_list_builder values = {0};
    if (text.len < 2 || text.ptr[0] != '{' || text.ptr[text.len - 1] != '}') {
        return error_set(err, ERROR_SOURCE, "not the text of a multirange");
    }
    struct str inside = {text.ptr + 1, text.len - 2};
    for (size_t at = 0; at < inside.len;) {
        size_t end = range_end(inside, at);
        struct value value;
        if (!pg_convert_range(type, (struct str){inside.ptr + at, end - at}, arena, &value, err)) {
            return false;
        }
        add_value(&values, value, arena);
        at = end + 1;
    }
    *out = value_list(arena, values.list, values.count);
    return true;
}

/* "…" with backslashes, at *at; moves behind it. */
static bool read_hstore_text(struct str text, size_t *at, struct arena *arena, struct str *out)
{
    struct pg_array_reader reader = {.at = text.ptr + *at, .end = text.ptr + text.len};
    if (*at >= text.len || text.ptr[*at] != '"' ||
        pg_array_next(&reader, arena, out) != PG_ARRAY_TEXT) {
        return false;
    }
    *at = (size_t)(reader.at - text.ptr);
    return true;
}

static bool read_hstore_value(struct str text, size_t *at, struct arena *arena, struct value *out)
{
    struct str rest = {text.ptr + *at, text.len - *at};
    if (str_begins(rest, STR("NULL"))) {
        *at += 4;
        *out = value_null();
        return true;
    }
    struct str content;
    if (!read_hstore_text(text, at, arena, &content)) {
        return false;
    }
    *out = value_string(arena, content);
    return true;
}

/* "a"=>"1", "b"=>NULL */
bool pg_convert_hstore(const struct pg_type *type, struct str text, struct arena *arena,
                       struct value *out, struct error *err)
{
    (void)type;
    if (!pg_text_check(text, err)) {
        return false;
    }
    /* Each pair takes at least six bytes: ""=>"". */
    struct attribute *members = arena_zero(arena, (text.len / 6 + 2) * sizeof *members);
    size_t count = 0;
    for (size_t at = 0; at < text.len; count++) {
        if (!read_hstore_text(text, &at, arena, &members[count].name) ||
            !str_begins((struct str){text.ptr + at, text.len - at}, STR("=>"))) {
            return error_set(err, ERROR_SOURCE, "not the text of an hstore");
        }
        at += 2;
        if (!read_hstore_value(text, &at, arena, &members[count].value)) {
            return error_set(err, ERROR_SOURCE, "not the text of an hstore");
        }
        at += at < text.len ? 2 : 0;
    }
    return value_map(arena, members, count, out, err);
}

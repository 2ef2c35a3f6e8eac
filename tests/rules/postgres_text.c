#include "tests/rules/postgres_text.h"

#include "engine/base/buffer.h"
#include "importers/postgres/copy_row.h"
#include "importers/postgres/pg_text.h"
#include "importers/postgres/pg_type.h"

#include <string.h>

enum { FIELDS_MAX = 6, LENGTH_MAX = 12 };

/* Short texts of the characters that mean something somewhere; one in five is NULL. */
static void draw_fields(struct draw *draw, struct arena *arena, struct str *fields, size_t count)
{
    static const char letters[] = "ab\\\"',(){}\t\n\r\b N;[]=";
    for (size_t i = 0; i < count; i++) {
        size_t len = draw_below(draw, LENGTH_MAX);
        char *bytes = arena_bytes(arena, LENGTH_MAX);
        for (size_t k = 0; k < len; k++) {
            bytes[k] = letters[draw_below(draw, sizeof letters - 1)];
        }
        bool null = draw_below(draw, 5) == 1;
        fields[i] = null ? (struct str){NULL, 0} : (struct str){bytes, len};
    }
}

static bool same_fields(const struct str *a, const struct str *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((a[i].ptr == NULL) != (b[i].ptr == NULL) || !str_equal(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

/* PostgreSQL 15, src/backend/commands/copyto.c, CopyAttributeOutText(). */
static void write_copy_field(struct buffer *out, struct str field)
{
    static const char from[] = "\b\f\n\r\t\v\\";
    static const char to[] = "bfnrtv\\";
    if (field.ptr == NULL) {
        buffer_add(out, STR("\\N"));
        return;
    }
    for (size_t i = 0; i < field.len; i++) {
        const char *at = strchr(from, field.ptr[i]);
        if (at != NULL && *at != '\0') {
            buffer_add_char(out, '\\');
            buffer_add_char(out, to[at - from]);
        } else {
            buffer_add_char(out, field.ptr[i]);
        }
    }
}

bool rule_copy_row_comes_back(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct str fields[FIELDS_MAX];
    struct str split[FIELDS_MAX];
    struct buffer line = {0};
    struct error err = {0};
    size_t count = 1 + draw_below(draw, FIELDS_MAX);
    draw_fields(draw, arena, fields, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add_char(&line, '\t');
        }
        write_copy_field(&line, fields[i]);
    }
    (void)buffer_reserve(&line, 1);
    bool holds = copy_row_split(line.bytes, line.len, split, count, &err) &&
                 same_fields(fields, split, count);
    buffer_free(&line);
    arena_free(arena);
    return holds;
}

/* A text in quotes, with `quote_mark` before each quote and a backslash before each backslash. */
static void write_quoted(struct buffer *out, struct str text, char quote_mark)
{
    buffer_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"') {
            buffer_add_char(out, quote_mark);
        } else if (c == '\\') {
            buffer_add_char(out, '\\');
        }
        buffer_add_char(out, c);
    }
    buffer_add_char(out, '"');
}

/* PostgreSQL 15, src/backend/utils/adt/rowtypes.c, record_out(). */
static void write_composite(struct buffer *out, const struct str *fields, size_t count)
{
    buffer_add_char(out, '(');
    for (size_t i = 0; i < count; i++) {
        buffer_add(out, i > 0 ? STR(",") : STR(""));
        if (fields[i].ptr != NULL) {
            write_quoted(out, fields[i], '"');
        }
    }
    buffer_add_char(out, ')');
}

bool rule_composite_comes_back(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct str fields[FIELDS_MAX];
    struct str split[FIELDS_MAX];
    struct buffer text = {0};
    struct error err = {0};
    size_t count = 1 + draw_below(draw, FIELDS_MAX);
    draw_fields(draw, arena, fields, count);
    write_composite(&text, fields, count);
    bool holds = pg_composite_split(buffer_str(&text), arena, split, count, &err) &&
                 same_fields(fields, split, count);
    buffer_free(&text);
    arena_free(arena);
    return holds;
}

/* PostgreSQL 15, src/backend/utils/adt/arrayfuncs.c, array_out(), every element in quotes. */
static void write_array(struct buffer *out, const struct str *elements, size_t count)
{
    buffer_add_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        buffer_add(out, i > 0 ? STR(",") : STR(""));
        if (elements[i].ptr == NULL) {
            buffer_add(out, STR("NULL"));
        } else {
            write_quoted(out, elements[i], '\\');
        }
    }
    buffer_add_char(out, '}');
}

static const struct pg_type text_type = {
    .name = STR_INIT("text"), .convert = pg_convert_text, .delimiter = ','};
static const struct pg_field place_fields[] = {{STR_INIT("a"), &text_type},
                                               {STR_INIT("b"), &text_type}};
static const struct pg_type place_type = {.name = STR_INIT("place"),
                                          .convert = pg_convert_composite,
                                          .delimiter = ',',
                                          .fields = place_fields,
                                          .field_count = 2};
static const struct pg_type texts_type = {
    .name = STR_INIT("text[]"), .convert = pg_convert_array, .element = &text_type};
static const struct pg_type places_type = {
    .name = STR_INIT("place[]"), .convert = pg_convert_array, .element = &place_type};

/* Field by field: S of the text, or missing. */
static bool is_place(struct value v, const struct str *fields)
{
    for (size_t i = 0; i < 2; i++) {
        struct value member = value_member(v, place_fields[i].name);
        bool missing = value_is_missing(member);
        if (missing != (fields[i].ptr == NULL) ||
            (!missing && !str_equal(value_bytes(member), fields[i]))) {
            return false;
        }
    }
    return true;
}

bool rule_array_comes_back(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct str fields[FIELDS_MAX];
    struct str places[FIELDS_MAX / 2];
    struct buffer text = {0};
    struct error err = {0};
    struct value list;
    draw_fields(draw, arena, fields, FIELDS_MAX);
    write_array(&text, fields, FIELDS_MAX);
    bool holds = texts_type.convert(&texts_type, buffer_str(&text), arena, &list, &err) &&
                 value_count(list) == FIELDS_MAX;
    for (size_t i = 0; holds && i < FIELDS_MAX; i++) {
        struct value element = value_element(list, i);
        holds = fields[i].ptr == NULL ? value_type(element) == VALUE_NULL
                                      : str_equal(value_bytes(element), fields[i]);
    }
    for (size_t i = 0; i < FIELDS_MAX / 2; i++) {
        text.len = 0;
        write_composite(&text, &fields[2 * i], 2);
        places[i] = arena_copy(arena, buffer_str(&text));
    }
    text.len = 0;
    write_array(&text, places, FIELDS_MAX / 2);
    holds = holds && places_type.convert(&places_type, buffer_str(&text), arena, &list, &err) &&
            value_count(list) == FIELDS_MAX / 2;
    for (size_t i = 0; holds && i < FIELDS_MAX / 2; i++) {
        holds = is_place(value_element(list, i), &fields[2 * i]);
    }
    buffer_free(&text);
    arena_free(arena);
    return holds;
}

/* A type with everything inside: arrays of composites, ranges, multiranges. */
static bool draw_type(struct draw *draw, struct pg_type *out)
{
    static const struct str names[] = {
        STR_INIT("bool"),   STR_INIT("numeric"), STR_INIT("money"),     STR_INIT("bytea"),
        STR_INIT("jsonb"),  STR_INIT("hstore"),  STR_INIT("date"),      STR_INIT("timetz"),
        STR_INIT("bpchar"), STR_INIT("text"),    STR_INIT("timestamp"), STR_INIT("timestamptz")};
    enum { NAMES = sizeof names / sizeof names[0] };
    uint32_t which = draw_below(draw, NAMES + 4);
    *out = (struct pg_type){.name = STR("t"), .delimiter = ','};
    switch (which) {
    case NAMES:
        *out = places_type;
        return true;
    case NAMES + 1:
        *out = place_type;
        return true;
    case NAMES + 2:
        out->convert = pg_convert_range;
        out->element = &text_type;
        return true;
    case NAMES + 3:
        out->convert = pg_convert_multirange;
        out->element = &text_type;
        return true;
    default:
        return pg_type_base(names[which], out);
    }
}

bool rule_any_text_converts_or_is_refused(struct draw *draw)
{
    struct pg_type type;
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value value;
    bool holds = draw_type(draw, &type);
    struct str text = {(const char *)draw->next, draw->left};
    if (holds && type.convert(&type, text, arena, &value, &err)) {
        /* Bytes that are no UTF-8 never come: the connection's encoding sees to it. */
        holds = value_type(value) != VALUE_MISSING;
    } else {
        holds = holds && err.code != ERROR_NONE && err.text[0] != '\0';
    }
    arena_free(arena);
    return holds;
}

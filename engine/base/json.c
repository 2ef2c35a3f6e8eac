#include "engine/base/json.h"

#include "engine/base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

/* Objects with more members than this look for a name given twice by sorting. */
enum { FEW_MEMBERS = 16, FIRST_STACK = 64 };

static const struct str byte_order_mark = STR_INIT("\xef\xbb\xbf");

/* What the callbacks build. Finished values wait on the stack for the end of their container. */
struct reader {
    struct str text; /* the arena's own copy */
    size_t skipped;  /* a byte-order mark that yajl does not see */
    size_t at;       /* behind the last token */
    yajl_handle yajl;
    struct arena *arena;
    struct json *stack;
    size_t count, capacity;
    size_t open[JSON_MAX_DEPTH]; /* where the open containers stand in the stack */
    size_t depth;
    struct str name; /* of the member to come */
    size_t name_offset;
    bool comments;
    size_t fault_at; /* why a callback gave up */
    const char *fault;
};

static int give_up(struct reader *reader, size_t at, const char *fault)
{
    reader->fault_at = at;
    reader->fault = fault;
    return 0;
}

/* The end of a comment that starts at `at`. yajl takes one that the text cuts short. */
static size_t skip_comment(struct reader *reader, size_t at)
{
    struct str text = reader->text;
    if (text.ptr[at + 1] == '/') {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        return end == NULL ? text.len : (size_t)(end - text.ptr) + 1;
    }
    const char *end = memmem(text.ptr + at + 2, text.len - at - 2, "*/", 2);
    if (end == NULL) {
        (void)give_up(reader, at, "a comment without end");
        return text.len;
    }
    return (size_t)(end - text.ptr) + 2;
}

static bool is_between_tokens(char c)
{
    return c == ',' || c == ':' || c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_comment(const struct reader *reader, size_t at)
{
    struct str text = reader->text;
    return reader->comments && text.ptr[at] == '/' && at + 1 < text.len &&
           (text.ptr[at + 1] == '/' || text.ptr[at + 1] == '*');
}

/* To the first byte of the next token. yajl has already checked the marks between values. */
static size_t skip_to_token(struct reader *reader)
{
    size_t at = reader->at;
    while (at < reader->text.len) {
        if (is_between_tokens(reader->text.ptr[at])) {
            at++;
        } else if (is_comment(reader, at)) {
            at = skip_comment(reader, at);
        } else {
            break;
        }
    }
    return at;
}

/* Where the token starts whose callback is running; moves on behind its end. */
static size_t take_token(struct reader *reader)
{
    size_t start = skip_to_token(reader);
    reader->at = reader->skipped + yajl_get_bytes_consumed(reader->yajl);
    return start;
}

static struct json *push(struct reader *reader, enum json_kind kind, size_t offset)
{
    if (reader->count == reader->capacity) {
        reader->capacity = reader->capacity == 0 ? FIRST_STACK : reader->capacity * 2;
        reader->stack = heap_resize(reader->stack, reader->capacity * sizeof *reader->stack);
    }
    struct json *json = &reader->stack[reader->count++];
    *json = (struct json){
        .kind = kind, .offset = offset, .name = reader->name, .name_offset = reader->name_offset};
    reader->name = (struct str){NULL, 0};
    return json;
}

static int on_null(void *context)
{
    struct reader *reader = context;
    push(reader, JSON_NULL, take_token(reader));
    return 1;
}

static int on_boolean(void *context, int boolean)
{
    struct reader *reader = context;
    push(reader, JSON_BOOL, take_token(reader))->boolean = boolean != 0;
    return 1;
}

static int on_number(void *context, const char *number, size_t len)
{
    (void)number; /* the same bytes stand in our copy of the text */
    struct reader *reader = context;
    size_t start = take_token(reader);
    push(reader, JSON_NUMBER, start)->text = (struct str){reader->text.ptr + start, len};
    return 1;
}

static unsigned hex_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

/* The four digits of an escape that yajl has checked. */
static unsigned escape_value(const char *digits)
{
    return hex_digit(digits[0]) << 12 | hex_digit(digits[1]) << 8 | hex_digit(digits[2]) << 4 |
           hex_digit(digits[3]);
}

/* Both halves of a surrogate pair, "\\ud83d\\ude00". */
static bool is_pair(struct str source)
{
    if (source.len < 12 || memcmp(source.ptr + 6, "\\u", 2) != 0) {
        return false;
    }
    unsigned high = escape_value(source.ptr + 2);
    unsigned low = escape_value(source.ptr + 8);
    return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}

/* How many bytes of a string's source spell what stands at its start, and how many bytes that
 * makes; an escape counts as one, other text goes byte by byte. Returns 0 for half of a surrogate
 * pair, of which yajl would make '?'. */
static size_t spelled(struct str source, size_t *decoded)
{
    *decoded = 1;
    if (source.ptr[0] != '\\') {
        return 1;
    }
    if (source.ptr[1] != 'u') {
        return 2;
    }
    unsigned unit = escape_value(source.ptr + 2);
    if (unit >= 0xd800 && unit <= 0xdfff) {
        *decoded = 4;
        return is_pair(source) ? 12 : 0;
    }
    *decoded = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    return 6;
}

/* The text of the string token from `start` to reader->at: a part of our copy where it holds no
 * escapes, for only those make it shorter. */
static bool take_text(struct reader *reader, size_t start, struct str decoded, struct str *out)
{
    struct str source = {reader->text.ptr + start + 1, reader->at - start - 2};
    if (decoded.len == source.len) {
        *out = source;
        return true;
    }
    for (size_t at = 0; at < source.len;) {
        size_t ignored = 0;
        size_t size = spelled((struct str){source.ptr + at, source.len - at}, &ignored);
        if (size == 0) {
            (void)give_up(reader, start + 1 + at, "half of a surrogate pair");
            return false;
        }
        at += size;
    }
    *out = arena_copy(reader->arena, decoded);
    return true;
}

static int on_string(void *context, const unsigned char *bytes, size_t len)
{
    struct reader *reader = context;
    size_t start = take_token(reader);
    struct str text;
    if (!take_text(reader, start, (struct str){(const char *)bytes, len}, &text)) {
        return 0;
    }
    push(reader, JSON_STRING, start)->text = text;
    return 1;
}

static int on_name(void *context, const unsigned char *bytes, size_t len)
{
    struct reader *reader = context;
    reader->name_offset = take_token(reader);
    struct str decoded = {(const char *)bytes, len};
    return take_text(reader, reader->name_offset, decoded, &reader->name);
}

static int on_open(struct reader *reader, enum json_kind kind)
{
    size_t start = take_token(reader);
    if (reader->depth == JSON_MAX_DEPTH) {
        return give_up(reader, start, "nested too deep");
    }
    reader->open[reader->depth++] = reader->count;
    push(reader, kind, start);
    return 1;
}

static int on_object(void *context)
{
    return on_open(context, JSON_OBJECT);
}

static int on_array(void *context)
{
    return on_open(context, JSON_ARRAY);
}

static struct json *close_container(struct reader *reader)
{
    (void)take_token(reader);
    size_t place = reader->open[--reader->depth];
    struct json *container = &reader->stack[place];
    container->count = reader->count - place - 1;
    if (container->count > 0) {
        size_t size = container->count * sizeof *container;
        container->items = arena_alloc(reader->arena, size);
        memcpy(container->items, container + 1, size);
    }
    reader->count = place + 1;
    return container;
}

static int on_array_end(void *context)
{
    (void)close_container(context);
    return 1;
}

/* By name, then by place: of two with one name the second follows the first. */
static int compare_members(const void *a, const void *b)
{
    const struct json *left = a;
    const struct json *right = b;
    int order = str_compare(left->name, right->name);
    return order != 0 ? order : (left->offset < right->offset ? -1 : 1);
}

static bool find_double_sorted(const struct json *object, struct json *out)
{
    struct json *members = heap_alloc(object->count * sizeof *members);
    memcpy(members, object->items, object->count * sizeof *members);
    qsort(members, object->count, sizeof *members, compare_members);
    bool found = false;
    for (size_t i = 1; i < object->count; i++) {
        if (str_equal(members[i - 1].name, members[i].name) &&
            (!found || members[i].offset < out->offset)) {
            *out = members[i];
            found = true;
        }
    }
    heap_free(members);
    return found;
}

static bool has_earlier(const struct json *object, size_t member)
{
    for (size_t i = 0; i < member; i++) {
        if (str_equal(object->items[i].name, object->items[member].name)) {
            return true;
        }
    }
    return false;
}

/* Finds the first member whose name an earlier one has. */
static bool find_double(const struct json *object, struct json *out)
{
    if (object->count > FEW_MEMBERS) {
        return find_double_sorted(object, out);
    }
    for (size_t i = 1; i < object->count; i++) {
        if (has_earlier(object, i)) {
            *out = object->items[i];
            return true;
        }
    }
    return false;
}

static int on_object_end(void *context)
{
    struct reader *reader = context;
    struct json again = {.name_offset = 0};
    if (find_double(close_container(reader), &again)) {
        const char *fault =
            arena_format(reader->arena, "member \"%.*s\" stands twice", STR_ARG(again.name)).ptr;
        return give_up(reader, again.name_offset, fault);
    }
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_name,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* What yajl's sentences begin with, and what they mean to whoever wrote the text. */
static const struct {
    const char *yajl;
    const char *fault;
} faults[] = {
    {"trailing garbage", "expected the end of the text, found more"},
    {"invalid char in json text", "expected JSON, found another character"},
    {"invalid string in json text", "expected true, false or null"},
    {"unallowed token", "expected a value"},
    {"invalid object key", "expected a name in double quotes"},
    {"object key and value", "expected a colon after the name"},
    {"after key and value", "expected , or }"},
    {"after array element", "expected , or ]"},
    {"invalid character inside string", "expected \\n, \\t or another escape, found a bare control"
                                        " character in a string"},
    {"inside a string", "expected one of \"\\/bfnrtu after \\ in a string"},
    {"invalid (non-hex)", "expected four hexadecimal digits after \\u"},
    {"probable comment", "expected no comment"},
};

/* What the end of the text cuts short. */
static const char *cut_fault(struct reader *reader)
{
    if (reader->depth > 0) {
        bool object = reader->stack[reader->open[reader->depth - 1]].kind == JSON_OBJECT;
        return object ? "the text ends too early: } is missing"
                      : "the text ends too early: ] is missing";
    }
    return skip_to_token(reader) == reader->text.len ? "expected a value, found an empty text"
                                                     : "the text ends too early";
}

/* yajl's sentence has its kind before it: "lexical error: ...". */
static const char *yajl_fault(struct reader *reader)
{
    unsigned char *text = yajl_get_error(reader->yajl, 0, NULL, 0);
    const char *fault =
        strstr((const char *)text, "premature EOF") != NULL ? cut_fault(reader) : NULL;
    for (size_t i = 0; fault == NULL && i < sizeof faults / sizeof *faults; i++) {
        bool says = strstr((const char *)text, faults[i].yajl) != NULL;
        fault = says ? faults[i].fault : NULL;
    }
    yajl_free_error(reader->yajl, text);
    return fault != NULL ? fault : "expected a digit in the number";
}

/* A token of the wrong kind is at fault where it starts, which yajl does not say. */
static void note_yajl_fault(struct reader *reader, size_t consumed)
{
    size_t start = skip_to_token(reader);
    if (consumed > 0 && str_has(STR(",:"), reader->text.ptr[consumed - 1])) {
        start = consumed - 1;
    }
    (void)give_up(reader, start, yajl_fault(reader));
}

static bool run_yajl(struct reader *reader)
{
    (void)yajl_config(reader->yajl, yajl_allow_comments, reader->comments ? 1 : 0);
    (void)yajl_config(reader->yajl, yajl_dont_validate_strings, 1);
    const unsigned char *bytes = (const unsigned char *)reader->text.ptr + reader->skipped;
    yajl_status status = yajl_parse(reader->yajl, bytes, reader->text.len - reader->skipped);
    if (status == yajl_status_error) {
        note_yajl_fault(reader, reader->skipped + yajl_get_bytes_consumed(reader->yajl));
    }
    if (status != yajl_status_ok) {
        return false;
    }
    (void)skip_to_token(reader);
    status = yajl_complete_parse(reader->yajl);
    if (status == yajl_status_error && reader->fault == NULL) {
        (void)give_up(reader, reader->text.len, yajl_fault(reader));
    }
    return reader->fault == NULL;
}

static bool read_value(struct reader *reader)
{
    size_t valid = utf8_valid_prefix(reader->text);
    if (valid < reader->text.len) {
        (void)give_up(reader, valid, "not UTF-8");
        return false;
    }
    reader->yajl = yajl_alloc(&callbacks, NULL, reader);
    bool ok = run_yajl(reader);
    yajl_free(reader->yajl);
    return ok;
}

bool json_parse(struct str text, const struct json_options *options, struct arena *arena,
                struct json **out, struct error *err)
{
    struct reader reader = {
        .text = arena_copy(arena, text), .arena = arena, .comments = options->comments};
    if (options->comments && str_begins(text, byte_order_mark)) {
        reader.skipped = reader.at = byte_order_mark.len;
    }
    bool ok = read_value(&reader);
    if (ok) {
        *out = arena_alloc(arena, sizeof **out);
        **out = reader.stack[0];
    } else {
        size_t line = 0;
        size_t column = 0;
        json_position(text, reader.fault_at, &line, &column);
        (void)error_set(err, ERROR_INPUT, "%s:%zu:%zu: %s", options->file, line, column,
                        reader.fault);
    }
    heap_free(reader.stack);
    return ok;
}

const struct json *json_member(const struct json *object, const char *name)
{
    if (object->kind != JSON_OBJECT) {
        return NULL;
    }
    struct str wanted = {name, strlen(name)};
    for (size_t i = 0; i < object->count; i++) {
        if (str_equal(object->items[i].name, wanted)) {
            return &object->items[i];
        }
    }
    return NULL;
}

void json_position(struct str text, size_t offset, size_t *line, size_t *column)
{
    size_t end = offset < text.len ? offset : text.len;
    size_t start = 0;
    *line = 1;
    for (size_t i = 0; i < end; i++) {
        if (text.ptr[i] == '\n') {
            ++*line;
            start = i + 1;
        }
    }
    *column = utf8_count((struct str){text.ptr + start, end - start}) + 1;
}

size_t json_string_offset(struct str text, const struct json *string, size_t at)
{
    size_t place = string->offset + 1;
    for (size_t seen = 0; place < text.len && text.ptr[place] != '"';) {
        size_t decoded = 0;
        size_t size = spelled((struct str){text.ptr + place, text.len - place}, &decoded);
        if (size == 0 || seen + decoded > at) {
            break;
        }
        seen += decoded;
        place += size;
    }
    return place;
}

#include "engine/store/dynamodb/client/ddb_response_internal.h"

#include <strings.h>

/* Bytes of a header, with those of interim replies before it and with its trailer. */
enum { HEAD_MAX = 32 * 1024 };

enum { INTERIM_MIN = 100, SWITCHING = 101, FINAL_MIN = 200, NO_CONTENT = 204, NOT_MODIFIED = 304 };

static bool break_off(struct ddb_response *response)
{
    response->state = DDB_RESPONSE_BROKEN;
    return false;
}

/* ---------------------------------------------------------------- texts */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* RFC 9110, "Tokens". */
static bool is_token(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-';
        if (!usual && !str_has(STR("!#$%&'*+.^_`|~"), c)) {
            return false;
        }
    }
    return text.len > 0;
}

/* No control characters but tabs; bytes that are not ASCII may be anything. All are looked at, as
 * a loop that never leaves early takes many at a time. */
static bool is_text(struct str text)
{
    unsigned char bad = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bad |= (unsigned char)(((c < ' ') & (c != '\t')) | (c == 0x7f));
    }
    return bad == 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct str trimmed(struct str text)
{
    while (text.len > 0 && is_blank(text.ptr[0])) {
        text = (struct str){text.ptr + 1, text.len - 1};
    }
    while (text.len > 0 && is_blank(text.ptr[text.len - 1])) {
        text.len--;
    }
    return text;
}

static bool is_same(struct str text, struct str other)
{
    return text.len == other.len && strncasecmp(text.ptr, other.ptr, text.len) == 0;
}

/* -1: none. */
static int digit_of(char c, unsigned base)
{
    int digit = is_digit(c) ? c - '0' : -1;
    digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : digit;
    digit = c >= 'A' && c <= 'F' ? c - 'A' + 10 : digit;
    return digit < (int)base ? digit : -1;
}

/* Digits only, and no more than `max`. */
static bool read_size(struct str text, unsigned base, size_t max, size_t *out)
{
    size_t size = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_of(text.ptr[i], base);
        if (digit < 0 || (size_t)digit > max || size > (max - (size_t)digit) / base) {
            return false;
        }
        size = size * base + (size_t)digit;
    }
    *out = size;
    return text.len > 0;
}

/* ---------------------------------------------------------------- the header */

/* "HTTP/1.1 200 OK"; the reason may be missing. */
static bool read_status(struct ddb_response *response, struct str line)
{
    enum { VERSION_LEN = 9, DIGITS = 3, SHORTEST = VERSION_LEN + DIGITS };
    bool is_new = str_begins(line, STR("HTTP/1.1 "));
    if (line.len < SHORTEST || !(is_new || str_begins(line, STR("HTTP/1.0 "))) ||
        (line.len > SHORTEST && line.ptr[SHORTEST] != ' ')) {
        return break_off(response);
    }
    size_t status = 0;
    if (!read_size((struct str){line.ptr + VERSION_LEN, DIGITS}, 10, 999, &status) ||
        status < INTERIM_MIN || status == SWITCHING) {
        return break_off(response);
    }
    response->status = (int)status;
    response->is_old = !is_new;
    response->keeps_alive = is_new;
    response->state = DDB_RESPONSE_FIELD;
    return true;
}

/* One that comes twice says the same, or it is not known which to believe. */
static bool keep(char kept[DDB_RESPONSE_VALUE_SIZE], struct str value)
{
    if (value.len >= DDB_RESPONSE_VALUE_SIZE) {
        value = STR("?");
    }
    bool same = kept[0] == '\0' || str_equal((struct str){kept, strlen(kept)}, value);
    memcpy(kept, value.ptr, value.len);
    kept[value.len] = '\0';
    return same;
}

static bool read_length(struct ddb_response *response, struct str value)
{
    size_t length = 0;
    if (!read_size(value, 10, response->body_max, &length) ||
        (response->has_length && length != response->left)) {
        return false;
    }
    response->has_length = true;
    response->left = length;
    return true;
}

/* No other was asked for, and HTTP/1.0 has none. */
static bool read_coding(struct ddb_response *response, struct str value)
{
    bool ok = !response->is_old && !response->is_chunked && is_same(value, STR("chunked"));
    response->is_chunked = true;
    return ok;
}

static void read_connection(struct ddb_response *response, struct str value)
{
    while (value.len > 0) {
        const char *comma = memchr(value.ptr, ',', value.len);
        size_t len = comma == NULL ? value.len : (size_t)(comma - value.ptr);
        if (is_same(trimmed((struct str){value.ptr, len}), STR("close"))) {
            response->keeps_alive = false;
        }
        len += comma == NULL ? 0 : 1;
        value = (struct str){value.ptr + len, value.len - len};
    }
}

static bool read_known(struct ddb_response *response, struct str name, struct str value)
{
    if (is_same(name, STR("content-length"))) {
        return read_length(response, value);
    }
    if (is_same(name, STR("transfer-encoding"))) {
        return read_coding(response, value);
    }
    if (is_same(name, STR("x-amz-crc32"))) {
        return keep(response->crc32, value);
    }
    if (is_same(name, STR("content-encoding"))) {
        return keep(response->encoding, value);
    }
    if (is_same(name, STR("date"))) {
        (void)keep(response->date, value);
    } else if (is_same(name, STR("connection"))) {
        read_connection(response, value);
    }
    return true;
}

/* A line that goes on with the one before begins with a blank, which no name does. */
static bool read_field(struct ddb_response *response, struct str line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    size_t len = colon == NULL ? 0 : (size_t)(colon - line.ptr);
    struct str name = {line.ptr, len};
    if (!is_token(name)) {
        return break_off(response);
    }
    struct str value = trimmed((struct str){line.ptr + len + 1, line.len - len - 1});
    return read_known(response, name, value) || break_off(response);
}

/* Of an interim reply nothing is kept, but what it took. */
static void forget_interim(struct ddb_response *response)
{
    size_t head_bytes = response->head_bytes;
    ddb_response_reset(response);
    response->head_bytes = head_bytes;
}

/* RFC 9112, "Message Body Length". */
static bool end_header(struct ddb_response *response)
{
    if (response->is_chunked && response->has_length) {
        return break_off(response);
    }
    if (response->status < FINAL_MIN) {
        forget_interim(response);
    } else if (response->status == NO_CONTENT || response->status == NOT_MODIFIED) {
        response->state = DDB_RESPONSE_WHOLE;
    } else if (response->is_chunked) {
        response->state = DDB_RESPONSE_CHUNK_SIZE;
    } else if (response->has_length) {
        response->state = response->left == 0 ? DDB_RESPONSE_WHOLE : DDB_RESPONSE_COUNTED;
    } else {
        response->keeps_alive = false;
        response->state = DDB_RESPONSE_TO_END;
    }
    return true;
}

/* ---------------------------------------------------------------- lines */

/* What follows the size behind a semicolon says nothing to us. */
static bool read_chunk_size(struct ddb_response *response, struct str line)
{
    const char *semicolon = memchr(line.ptr, ';', line.len);
    size_t len = semicolon == NULL ? line.len : (size_t)(semicolon - line.ptr);
    size_t room = response->body_max - response->body.len;
    if (!read_size((struct str){line.ptr, len}, 16, room, &response->left)) {
        return break_off(response);
    }
    response->state = response->left == 0 ? DDB_RESPONSE_TRAILER : DDB_RESPONSE_CHUNK;
    return true;
}

static bool read_line(struct ddb_response *response, struct str line)
{
    switch (response->state) {
    case DDB_RESPONSE_STATUS_LINE:
        return read_status(response, line);
    case DDB_RESPONSE_FIELD:
        return line.len == 0 ? end_header(response) : read_field(response, line);
    case DDB_RESPONSE_CHUNK_SIZE:
        return read_chunk_size(response, line);
    case DDB_RESPONSE_CHUNK_END:
        response->state = DDB_RESPONSE_CHUNK_SIZE;
        return line.len == 0 || break_off(response);
    default:
        response->state = line.len == 0 ? DDB_RESPONSE_WHOLE : DDB_RESPONSE_TRAILER;
        return true;
    }
}

static bool counts_as_head(enum ddb_response_state state)
{
    return state == DDB_RESPONSE_STATUS_LINE || state == DDB_RESPONSE_FIELD ||
           state == DDB_RESPONSE_TRAILER;
}

/* Whether `len` more bytes of a line are too many; they are counted. */
static bool is_too_much(struct ddb_response *response, size_t len)
{
    if (!counts_as_head(response->state)) {
        return len > HEAD_MAX - response->line.len;
    }
    response->head_bytes += len;
    return response->head_bytes > HEAD_MAX;
}

static size_t take_line(struct ddb_response *response, struct str bytes)
{
    const char *end = memchr(bytes.ptr, '\n', bytes.len);
    struct str line = {bytes.ptr, end == NULL ? bytes.len : (size_t)(end + 1 - bytes.ptr)};
    size_t taken = line.len;
    if (is_too_much(response, taken)) {
        (void)break_off(response);
        return 0;
    }
    if (end == NULL || response->line.len > 0) {
        buffer_add(&response->line, line);
        line = buffer_str(&response->line);
    }
    if (end != NULL) {
        response->line.len = 0;
        bool is_ended = line.len >= 2 && line.ptr[line.len - 2] == '\r';
        line.len -= is_ended ? 2 : 0;
        (void)(is_ended && is_text(line) ? read_line(response, line) : break_off(response));
    }
    return taken;
}

/* ---------------------------------------------------------------- the body */

static size_t take_body(struct ddb_response *response, struct str bytes)
{
    if (response->state == DDB_RESPONSE_TO_END) {
        response->left = response->body_max - response->body.len;
        if (bytes.len > response->left) {
            (void)break_off(response);
            return 0;
        }
    }
    size_t len = bytes.len < response->left ? bytes.len : response->left;
    buffer_add(&response->body, (struct str){bytes.ptr, len});
    response->left -= len;
    if (response->left == 0 && response->state != DDB_RESPONSE_TO_END) {
        response->state =
            response->state == DDB_RESPONSE_CHUNK ? DDB_RESPONSE_CHUNK_END : DDB_RESPONSE_WHOLE;
    }
    return len;
}

static bool is_in_body(enum ddb_response_state state)
{
    return state == DDB_RESPONSE_COUNTED || state == DDB_RESPONSE_TO_END ||
           state == DDB_RESPONSE_CHUNK;
}

size_t ddb_response_take(struct ddb_response *response, struct str bytes)
{
    size_t taken = 0;
    while (taken < bytes.len && !ddb_response_is_over(response)) {
        struct str rest = {bytes.ptr + taken, bytes.len - taken};
        taken +=
            is_in_body(response->state) ? take_body(response, rest) : take_line(response, rest);
    }
    return taken;
}

void ddb_response_end(struct ddb_response *response)
{
    if (!ddb_response_is_over(response)) {
        response->state =
            response->state == DDB_RESPONSE_TO_END ? DDB_RESPONSE_WHOLE : DDB_RESPONSE_BROKEN;
    }
}

bool ddb_response_is_over(const struct ddb_response *response)
{
    return response->state == DDB_RESPONSE_WHOLE || response->state == DDB_RESPONSE_BROKEN;
}

void ddb_response_reset(struct ddb_response *response)
{
    response->body.len = 0;
    response->line.len = 0;
    *response = (struct ddb_response){
        .body_max = response->body_max, .body = response->body, .line = response->line};
}

void ddb_response_free(struct ddb_response *response)
{
    buffer_free(&response->body);
    buffer_free(&response->line);
}

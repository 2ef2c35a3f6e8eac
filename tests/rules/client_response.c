#include "tests/rules/client_response.h"

#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/store/dynamodb/client/ddb_response_internal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { BODY_MAX = 64, PIECES_MAX = 24 };

/* What replies are made of, well and badly. */
static const struct str pieces[] = {
    STR_INIT("HTTP/1.1 200 OK\r\n"),
    STR_INIT("HTTP/1.0 200 OK\r\n"),
    STR_INIT("HTTP/1.1 100 Continue\r\n\r\n"),
    STR_INIT("HTTP/1.1 204\r\n"),
    STR_INIT("Content-Length: 2\r\n"),
    STR_INIT("content-length:3\r\n"),
    STR_INIT("Content-Length: 65\r\n"),
    STR_INIT("Transfer-Encoding: chunked\r\n"),
    STR_INIT("Connection: keep-alive, close\r\n"),
    STR_INIT("x-amz-crc32: 2745614147\r\n"),
    STR_INIT("Date: Mon, 01 Jan 2026 00:00:00 GMT\r\n"),
    STR_INIT(" folded\r\n"),
    STR_INIT("\r\n"),
    STR_INIT("\n"),
    STR_INIT("\r"),
    STR_INIT("{}"),
    STR_INIT("1;x=y\r\na\r\n"),
    STR_INIT("2\r\n{}\r\n"),
    STR_INIT("40\r\n"),
    STR_INIT("0\r\n"),
    STR_INIT("Trailer: x\r\n"),
};
enum { PIECES = sizeof pieces / sizeof pieces[0] };

/* Pieces, with any bytes among them. */
static void draw_bytes(struct draw *draw, struct buffer *out)
{
    uint32_t count = draw_below(draw, PIECES_MAX);
    (void)buffer_reserve(out, 1);
    if (draw_below(draw, 4) > 0) {
        buffer_add(out, pieces[0]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t which = draw_below(draw, PIECES + 1);
        if (which < PIECES) {
            buffer_add(out, pieces[which]);
        } else {
            buffer_add_char(out, (char)draw_below(draw, 256));
        }
    }
}

/* All of it, in pieces of at most `most`; then the connection ends. */
static size_t read_all(struct ddb_response *response, struct str bytes, struct draw *draw,
                       uint32_t most)
{
    size_t taken = 0;
    response->body_max = BODY_MAX;
    while (taken < bytes.len && !ddb_response_is_over(response)) {
        size_t size = most == 0 ? bytes.len : 1 + draw_below(draw, most);
        size = size < bytes.len - taken ? size : bytes.len - taken;
        size_t used = ddb_response_take(response, (struct str){bytes.ptr + taken, size});
        if (used < size && !ddb_response_is_over(response)) {
            return SIZE_MAX;
        }
        taken += used;
    }
    ddb_response_end(response);
    return taken;
}

static bool is_same(const struct ddb_response *a, const struct ddb_response *b)
{
    return a->state == b->state && a->status == b->status && a->keeps_alive == b->keeps_alive &&
           strcmp(a->crc32, b->crc32) == 0 && strcmp(a->date, b->date) == 0 &&
           str_equal(buffer_str(&a->body), buffer_str(&b->body));
}

bool rule_replies_are_read_alike_however_they_come(struct draw *draw)
{
    struct buffer bytes = {0};
    struct ddb_response at_once = {0};
    struct ddb_response cut = {0};
    struct ddb_response bytewise = {0};
    draw_bytes(draw, &bytes);
    size_t taken = read_all(&at_once, buffer_str(&bytes), draw, 0);
    size_t taken_cut = read_all(&cut, buffer_str(&bytes), draw, 20);
    size_t taken_bytewise = read_all(&bytewise, buffer_str(&bytes), draw, 1);
    bool is_whole = at_once.state == DDB_RESPONSE_WHOLE;
    bool ok = ddb_response_is_over(&at_once) && taken <= bytes.len &&
              at_once.body.len <= BODY_MAX && cut.state == at_once.state &&
              bytewise.state == at_once.state;
    if (ok && is_whole) {
        ok = taken == taken_cut && taken == taken_bytewise && is_same(&at_once, &cut) &&
             is_same(&at_once, &bytewise);
    }
    ddb_response_free(&at_once);
    ddb_response_free(&cut);
    ddb_response_free(&bytewise);
    buffer_free(&bytes);
    return ok;
}

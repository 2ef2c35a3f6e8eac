#include "engine/store/dynamodb/client/ddb_http_internal.h"

#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_body_internal.h"
#include "engine/store/dynamodb/client/ddb_connection_internal.h"
#include "engine/store/dynamodb/client/ddb_head_internal.h"
#include "engine/store/dynamodb/client/ddb_response_internal.h"

#include <assert.h>
#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A reply of 1 MB of items takes more as JSON, and 16 MB of BatchGetItem likewise. */
enum { REPLY_MAX = 64 * 1024 * 1024 };

/* What a slot keeps for its next reply; what is received at a time, by all of them; and up to what
 * length a body is copied behind its header, to be sent with it. */
enum { KEPT_BYTES = 64 * 1024, RECEIVED_BYTES = 64 * 1024, TOGETHER_MAX = 16 * 1024 };

enum { EVENTS_MAX = 64 };

/* A beat that is not answered by then is sent again, before the lease is over. */
static const unsigned urgent_timeout_ms = 3000;

enum phase { FREE, CONNECTING, EXCHANGING, ENDED };

/* A connection, and the attempt that is under way on it. */
struct slot {
    struct ddb_http *http;
    struct ddb_connection *connection;
    enum phase phase;
    struct slot *next;  /* while free or ended */
    struct buffer head; /* with the body, unless that is long */
    struct str body;    /* a long one */
    size_t sent;        /* of both */
    bool used_again;    /* its connection had served another attempt before */
    bool given;         /* something may be on its way to the server */
    bool hung_up;       /* the server has ended its side */
    uint64_t until_us;
    struct ddb_response response;
    enum ddb_transport transport; /* once it has ended, as `what` */
    const char *what;
    void *tag;
};

struct ddb_http {
    struct ddb_account *account;
    struct ddb_connector *connector;
    int epoll;
    struct slot *slots;
    unsigned slot_count;
    struct slot *free; /* the one used last is the first */
    struct slot *ended;
    struct slot **ended_link; /* where the next goes */
    unsigned in_flight;
    uint64_t due_us; /* no attempt is to be given up before */
    struct ddb_head head;
    char *received; /* RECEIVED_BYTES */
};

static uint64_t now_of(const struct ddb_http *http)
{
    const struct ddb_world *world = ddb_account_world(http->account);
    return world->now_us(world->context);
}

static bool is_stopped(const struct ddb_http *http)
{
    const struct ddb_world *world = ddb_account_world(http->account);
    return world->stopped != NULL && world->stopped(world->context);
}

/* ---------------------------------------------------------------- opening */

static void open_slots(struct ddb_http *http, unsigned count)
{
    http->slots = heap_alloc(count * sizeof *http->slots);
    http->slot_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct slot *slot = &http->slots[i];
        slot->http = http;
        slot->connection = ddb_connection_new(http->connector, slot);
        slot->response.body_max = REPLY_MAX;
        slot->next = http->free;
        http->free = slot;
    }
}

bool ddb_http_open(struct ddb_account *account, unsigned slots, struct ddb_http **out,
                   struct error *err)
{
    struct ddb_http *http = heap_alloc(sizeof *http);
    const char *url = ddb_account_endpoint(account)->url.ptr;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    http->account = account;
    http->ended_link = &http->ended;
    http->due_us = UINT64_MAX;
    http->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (http->epoll < 0 || !ddb_connector_open(ddb_account_world(account), url, &http->connector) ||
        epoll_ctl(http->epoll, EPOLL_CTL_ADD, ddb_connector_descriptor(http->connector), &event) !=
            0) {
        ddb_http_close(http);
        return error_set(err, ERROR_STORE, "libcurl cannot be started");
    }
    open_slots(http, slots);
    ddb_head_init(&http->head, account);
    http->received = heap_alloc(RECEIVED_BYTES);
    *out = http;
    return true;
}

static void close_connection(struct slot *slot)
{
    if (ddb_connection_is_open(slot->connection)) {
        int fd = ddb_connection_descriptor(slot->connection);
        (void)epoll_ctl(slot->http->epoll, EPOLL_CTL_DEL, fd, NULL);
    }
    ddb_connection_close(slot->connection);
}

static void release(struct slot *slot)
{
    struct ddb_http *http = slot->http;
    if (slot->response.body.capacity > KEPT_BYTES) {
        buffer_free(&slot->response.body);
    }
    slot->phase = FREE;
    slot->next = http->free;
    http->free = slot;
    http->in_flight--;
}

void ddb_http_drop(struct ddb_http *http)
{
    for (unsigned i = 0; i < http->slot_count; i++) {
        if (http->slots[i].phase != FREE) {
            close_connection(&http->slots[i]);
            release(&http->slots[i]);
        }
    }
    http->ended = NULL;
    http->ended_link = &http->ended;
}

void ddb_http_close(struct ddb_http *http)
{
    if (http == NULL) {
        return;
    }
    for (unsigned i = 0; i < http->slot_count; i++) {
        close_connection(&http->slots[i]);
    }
    ddb_connector_close(http->connector);
    for (unsigned i = 0; i < http->slot_count; i++) {
        ddb_connection_free(http->slots[i].connection);
        ddb_response_free(&http->slots[i].response);
        buffer_free(&http->slots[i].head);
    }
    if (http->epoll >= 0) {
        (void)close(http->epoll);
    }
    heap_free(http->slots);
    heap_free(http->received);
    ddb_head_free(&http->head);
    heap_free(http);
}

unsigned ddb_http_in_flight(const struct ddb_http *http)
{
    return http->in_flight;
}

/* ---------------------------------------------------------------- attempts that end */

static void end(struct slot *slot, enum ddb_transport transport, const char *what)
{
    struct ddb_http *http = slot->http;
    slot->phase = ENDED;
    slot->transport = transport;
    slot->what = what;
    slot->next = NULL;
    *http->ended_link = slot;
    http->ended_link = &slot->next;
}

/* Without a reply. Where a connection has died while it was idle, those beside it may have, too:
 * attempts would be spent on each of them. */
static void break_off(struct slot *slot, const char *what)
{
    close_connection(slot);
    for (struct slot *at = slot->used_again ? slot->http->free : NULL; at != NULL; at = at->next) {
        close_connection(at);
    }
    end(slot, slot->given ? DDB_BROKE_OFF : DDB_NOT_CONNECTED, what);
}

static size_t unsent(const struct slot *slot)
{
    return slot->head.len + slot->body.len - slot->sent;
}

/* `rest`: bytes came that no request had asked for. */
static void end_with_response(struct slot *slot, bool rest)
{
    const struct ddb_response *response = &slot->response;
    if (response->state == DDB_RESPONSE_BROKEN) {
        break_off(slot, "the reply is not whole, or is not DynamoDB's");
        return;
    }
    if (rest || slot->hung_up || unsent(slot) > 0 || !response->keeps_alive) {
        close_connection(slot);
    }
    end(slot, DDB_ARRIVED, NULL);
}

/* ---------------------------------------------------------------- one exchange */

/* Until the reply is over, or nothing more is there. */
static void receive(struct slot *slot)
{
    char *bytes = slot->http->received;
    while (slot->phase == EXCHANGING) {
        size_t len = 0;
        size_t taken = 0;
        switch (ddb_connection_receive(slot->connection, bytes, RECEIVED_BYTES, &len)) {
        case DDB_IO_LATER:
            return;
        case DDB_IO_FAILED:
            break_off(slot, ddb_connection_what(slot->connection));
            return;
        case DDB_IO_ENDED:
            slot->hung_up = true;
            ddb_response_end(&slot->response);
            break;
        case DDB_IO_DONE:
            taken = ddb_response_take(&slot->response, (struct str){bytes, len});
            break;
        }
        if (ddb_response_is_over(&slot->response)) {
            end_with_response(slot, taken < len);
        }
    }
}

static struct str next_bytes(const struct slot *slot)
{
    size_t head_len = slot->head.len;
    return slot->sent < head_len
               ? (struct str){slot->head.bytes + slot->sent, head_len - slot->sent}
               : (struct str){slot->body.ptr + (slot->sent - head_len), unsent(slot)};
}

/* The server takes no more, and may have replied before. */
static void fail_to_send(struct slot *slot)
{
    const char *what = ddb_connection_what(slot->connection);
    receive(slot);
    if (slot->phase == EXCHANGING) {
        break_off(slot, what);
    }
}

static void send_rest(struct slot *slot)
{
    while (slot->phase == EXCHANGING && unsent(slot) > 0) {
        size_t len = 0;
        slot->given = true;
        enum ddb_io io = ddb_connection_send(slot->connection, next_bytes(slot), &len);
        slot->sent += len;
        if (io == DDB_IO_LATER) {
            return;
        }
        if (io != DDB_IO_DONE) {
            fail_to_send(slot);
        }
    }
}

/* What has waited for its connection past the end of the lease is not sent any more. */
static void exchange(struct slot *slot)
{
    slot->phase = EXCHANGING;
    if (is_stopped(slot->http)) {
        break_off(slot, "it was stopped before it was sent");
        return;
    }
    send_rest(slot);
}

/* ---------------------------------------------------------------- waiting */

/* Nothing is to come that was not asked for; but what TLS says for itself is no byte of a reply. */
static void look_at_idle(struct slot *slot)
{
    size_t len = 0;
    char *bytes = slot->http->received;
    if (slot->hung_up ||
        ddb_connection_receive(slot->connection, bytes, RECEIVED_BYTES, &len) != DDB_IO_LATER) {
        close_connection(slot);
    }
}

static void meet_event(struct slot *slot, uint32_t seen)
{
    if (!ddb_connection_is_open(slot->connection)) {
        return; /* closed since by another event */
    }
    slot->hung_up |= (seen & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (slot->phase == EXCHANGING) {
        send_rest(slot);
        receive(slot);
    } else {
        look_at_idle(slot);
    }
}

/* Attempts whose connections are there, or cannot be had. */
static void connect_all(struct ddb_http *http)
{
    const char *what = NULL;
    ddb_connector_work(http->connector);
    for (struct slot *slot = ddb_connector_next(http->connector, &what); slot != NULL;
         slot = ddb_connector_next(http->connector, &what)) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                    .data.ptr = slot};
        if (what != NULL) {
            break_off(slot, what);
        } else if (epoll_ctl(http->epoll, EPOLL_CTL_ADD,
                             ddb_connection_descriptor(slot->connection), &event) != 0) {
            break_off(slot, "the connection cannot be waited for");
        } else {
            exchange(slot);
        }
    }
}

/* Gives up what has had its time. */
static void expire(struct ddb_http *http, uint64_t now_us)
{
    http->due_us = UINT64_MAX;
    for (unsigned i = 0; i < http->slot_count; i++) {
        struct slot *slot = &http->slots[i];
        if (slot->phase != CONNECTING && slot->phase != EXCHANGING) {
            continue;
        }
        if (slot->until_us <= now_us) {
            break_off(slot, "Timeout was reached");
        } else if (slot->until_us < http->due_us) {
            http->due_us = slot->until_us;
        }
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Does what is due, or else waits for events and meets them. */
static void turn(struct ddb_http *http, uint64_t wait_us)
{
    struct epoll_event events[EVENTS_MAX];
    uint64_t now_us = now_of(http);
    if (http->due_us <= now_us) {
        expire(http, now_us);
    }
    if (ddb_connector_due_us(http->connector) <= now_us) {
        connect_all(http);
    }
    wait_us = http->ended != NULL ? 0 : wait_us;
    uint64_t due_us = least(http->due_us, ddb_connector_due_us(http->connector));
    wait_us = due_us <= now_us ? 0 : least(due_us - now_us, wait_us);
    int count = epoll_wait(http->epoll, events, EVENTS_MAX, (int)((wait_us + 999) / 1000));
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == NULL) {
            connect_all(http);
        } else {
            meet_event(events[i].data.ptr, events[i].events);
        }
    }
}

/* ---------------------------------------------------------------- sending */

static void compose(struct slot *slot, const struct ddb_request *request, const struct ddb_key *key,
                    int64_t now_s)
{
    bool is_long = request->body.len > TOGETHER_MAX;
    slot->head.len = 0;
    ddb_head_write(&slot->http->head, request, key, now_s, &slot->head);
    slot->body = is_long ? request->body : STR("");
    if (!is_long) {
        buffer_add(&slot->head, request->body);
    }
}

/* Whoever has sent what was not asked for would have it taken for the next reply. */
static bool has_connection(struct slot *slot)
{
    if (ddb_connection_is_open(slot->connection)) {
        look_at_idle(slot);
    }
    return ddb_connection_is_open(slot->connection);
}

/* One that has a connection, if there is any. */
static struct slot *take_free(struct ddb_http *http)
{
    struct slot **link = &http->free;
    assert(*link != NULL);
    while (*link != NULL && !has_connection(*link)) {
        link = &(*link)->next;
    }
    link = *link == NULL ? &http->free : link;
    struct slot *slot = *link;
    *link = slot->next;
    return slot;
}

void ddb_http_start(struct ddb_http *http, const struct ddb_request *request,
                    const struct ddb_key *key, int64_t now_s, void *tag)
{
    struct slot *slot = take_free(http);
    compose(slot, request, key, now_s);
    ddb_response_reset(&slot->response);
    slot->sent = 0;
    slot->given = false;
    slot->hung_up = false;
    slot->tag = tag;
    http->in_flight++;
    unsigned timeout_ms = ddb_account_timeout_ms(http->account);
    bool is_short = request->urgent && timeout_ms > urgent_timeout_ms;
    slot->until_us = now_of(http) + (uint64_t)(is_short ? urgent_timeout_ms : timeout_ms) * 1000;
    http->due_us = slot->until_us < http->due_us ? slot->until_us : http->due_us;
    slot->used_again = ddb_connection_is_open(slot->connection);
    if (slot->used_again) {
        exchange(slot);
        return;
    }
    slot->phase = CONNECTING;
    if (!ddb_connection_begin(slot->connection)) {
        break_off(slot, "libcurl cannot begin a connection");
    }
}

/* ---------------------------------------------------------------- what arrived */

static struct str text_of(const char *value)
{
    return (struct str){value, strlen(value)};
}

static int64_t date_of(const struct ddb_response *response)
{
    time_t seconds = response->date[0] == '\0' ? 0 : curl_getdate(response->date, NULL);
    return seconds < 0 ? 0 : (int64_t)seconds;
}

static void read_reply(struct slot *slot, struct arena *arena, struct ddb_arrival *out)
{
    const struct ddb_response *response = &slot->response;
    struct ddb_body body = {.raw = buffer_str(&response->body),
                            .crc32 = text_of(response->crc32),
                            .encoding = text_of(response->encoding)};
    bool whole = ddb_body_read(&body, REPLY_MAX, arena, &out->content);
    out->status = response->status;
    out->date_s = response->status == 200 ? 0 : date_of(response);
    /* A gateway before the server refuses with a page of its own. */
    if (!whole && (response->status == 200 || body.crc32.len > 0)) {
        out->transport = DDB_BROKE_OFF;
        out->what = "the reply is not whole, or is not DynamoDB's";
    }
}

bool ddb_http_next(struct ddb_http *http, struct arena *arena, struct ddb_arrival *out)
{
    struct slot *slot = http->ended;
    if (slot == NULL) {
        return false;
    }
    http->ended = slot->next;
    http->ended_link = http->ended == NULL ? &http->ended : http->ended_link;
    *out = (struct ddb_arrival){.tag = slot->tag, .transport = slot->transport, .what = slot->what};
    if (slot->transport == DDB_ARRIVED) {
        read_reply(slot, arena, out);
    }
    release(slot);
    return true;
}

bool ddb_http_wait(struct ddb_http *http, uint64_t wait_us, struct arena *arena,
                   struct ddb_arrival *out)
{
    if (http->ended == NULL) {
        turn(http, wait_us);
    }
    return ddb_http_next(http, arena, out);
}

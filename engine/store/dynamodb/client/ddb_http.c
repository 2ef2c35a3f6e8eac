#include "engine/store/dynamodb/client/ddb_http_internal.h"

#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_body_internal.h"

#include <curl/curl.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A reply of 1 MB of items takes more as JSON, and 16 MB of BatchGetItem likewise. */
enum { REPLY_MAX = 64 * 1024 * 1024 };

/* What a slot keeps for its next reply. */
enum { KEPT_BYTES = 64 * 1024 };

enum { CONNECT_TIMEOUT_MS = 5000, EVENTS_MAX = 64, WATCHED_MORE = 256, HEADER_LINES = 10 };

/* A beat that is not answered by then is sent again, before the lease is over. */
static const long urgent_timeout_ms = 3000;

/* Names of headers and values that are always the same; names of operations have some 20 letters.
 */
enum { LINES_BYTES = 512, TARGET_MAX = 96 };

/* Names and values of one request, as they are sent; what is signed lies among them. */
struct slot {
    struct ddb_http *http;
    struct slot *next; /* while free */
    CURL *easy;
    struct curl_slist lines[HEADER_LINES];
    struct buffer head;
    struct buffer body;
    bool busy;
    bool head_ended; /* the reply's header came to its blank line */
    unsigned sends;
    void *tag;
};

/* What is asked of epoll for a descriptor. A connection's stays between two requests, when libcurl
 * loses interest, so that most requests ask for nothing anew. */
struct watched {
    uint32_t events;    /* 0: it is not among epoll's */
    bool is_wanted;     /* by libcurl */
    bool is_connection; /* we hear of its end; else it is something of libcurl's own */
};

struct ddb_http {
    struct ddb_account *account;
    CURLU *url; /* parsed once */
    CURLM *multi;
    int epoll;
    struct watched *watched; /* by descriptor */
    size_t watched_capacity;
    struct slot *slots;
    unsigned slot_count;
    struct slot *free;
    unsigned in_flight;
    uint64_t timer_us; /* when libcurl wants to be called; UINT64_MAX: not */
    int64_t date_s;    /* what `date` tells; 0: nothing yet */
    char date[DDB_DATE_SIZE];
    struct buffer scratch;
    struct buffer authorization;
};

static uint64_t now_of(const struct ddb_http *http)
{
    const struct ddb_world *world = ddb_account_world(http->account);
    return world->now_us(world->context);
}

/* ---------------------------------------------------------------- what libcurl calls */

static size_t keep_bytes(const char *bytes, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    size_t len = size * count;
    if (len > REPLY_MAX - slot->body.len) {
        return 0;
    }
    buffer_add(&slot->body, (struct str){bytes, len});
    return len;
}

/* A connection that ends within the header is a reply without a body to libcurl. */
static size_t note_line(const char *bytes, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    size_t len = size * count;
    slot->head_ended = len > 0 && (bytes[0] == '\r' || bytes[0] == '\n');
    return len;
}

/* libcurl would send a request again by itself when a kept-alive connection turns out to be closed;
 * the first may have taken effect, so that must not pass unseen. And what has waited for its
 * connection past the end of the lease is not sent any more. */
static int before_send(void *context, const char *remote_ip, const char *local_ip, int remote_port,
                       int local_port)
{
    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    struct slot *slot = context;
    const struct ddb_world *world = ddb_account_world(slot->http->account);
    if (world->stopped != NULL && world->stopped(world->context)) {
        return CURL_PREREQFUNC_ABORT;
    }
    slot->sends++;
    return slot->sends == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static struct watched *watched_of(struct ddb_http *http, curl_socket_t fd)
{
    size_t number = (size_t)fd;
    if (number >= http->watched_capacity) {
        size_t capacity = number + WATCHED_MORE;
        http->watched = heap_resize(http->watched, capacity * sizeof *http->watched);
        memset(http->watched + http->watched_capacity, 0,
               (capacity - http->watched_capacity) * sizeof *http->watched);
        http->watched_capacity = capacity;
    }
    return &http->watched[number];
}

static void unwatch(struct ddb_http *http, int fd)
{
    (void)epoll_ctl(http->epoll, EPOLL_CTL_DEL, fd, NULL);
    *watched_of(http, fd) = (struct watched){.events = 0};
}

static int watch(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    (void)easy;
    (void)known;
    struct ddb_http *http = context;
    struct watched *watched = watched_of(http, fd);
    watched->is_wanted = what != CURL_POLL_REMOVE;
    if (!watched->is_wanted) {
        if (!watched->is_connection) {
            unwatch(http, fd);
        }
        return 0;
    }
    struct epoll_event event = {.data.fd = fd};
    event.events |= (what & CURL_POLL_IN) != 0 ? EPOLLIN : 0;
    event.events |= (what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0;
    int action = watched->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (watched->events != event.events && epoll_ctl(http->epoll, action, fd, &event) != 0) {
        return -1;
    }
    watched->events = event.events;
    return 0;
}

static int socket_opened(void *context, curl_socket_t fd, curlsocktype purpose)
{
    (void)purpose;
    *watched_of(context, fd) = (struct watched){.is_connection = true};
    return CURL_SOCKOPT_OK;
}

static int close_socket(void *context, curl_socket_t fd)
{
    unwatch(context, fd);
    return close(fd);
}

static int set_timer(CURLM *multi, long timeout_ms, void *context)
{
    (void)multi;
    struct ddb_http *http = context;
    http->timer_us = timeout_ms < 0 ? UINT64_MAX : now_of(http) + (uint64_t)timeout_ms * 1000;
    return 0;
}

/* ---------------------------------------------------------------- opening */

static void set_options(struct slot *slot)
{
    CURL *easy = slot->easy;
    const char *bundle = ddb_environment("AWS_CA_BUNDLE").ptr;
    curl_easy_setopt(easy, CURLOPT_CURLU, slot->http->url);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, socket_opened);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, slot->http);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, slot->http);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 64L * 1024);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, note_line);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_send);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    if (bundle[0] != '\0') {
        curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
    }
}

static bool open_slots(struct ddb_http *http)
{
    for (unsigned i = 0; i < http->slot_count; i++) {
        struct slot *slot = &http->slots[i];
        slot->easy = curl_easy_init();
        if (slot->easy == NULL) {
            return false;
        }
        slot->http = http;
        slot->next = http->free;
        http->free = slot;
        set_options(slot);
    }
    return true;
}

bool ddb_http_open(struct ddb_account *account, unsigned slots, struct ddb_http **out,
                   struct error *err)
{
    struct ddb_http *http = heap_alloc(sizeof *http);
    http->account = account;
    http->timer_us = UINT64_MAX;
    http->slots = heap_alloc(slots * sizeof *http->slots);
    http->slot_count = slots;
    http->url = curl_url();
    http->multi = curl_multi_init();
    http->epoll = epoll_create1(EPOLL_CLOEXEC);
    const char *url = ddb_account_endpoint(account)->url.ptr;
    if (http->url == NULL || http->multi == NULL || http->epoll < 0 ||
        curl_url_set(http->url, CURLUPART_URL, url, 0) != CURLUE_OK || !open_slots(http)) {
        ddb_http_close(http);
        return error_set(err, ERROR_STORE, "libcurl cannot be started");
    }
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)slots);
    *out = http;
    return true;
}

static void release(struct slot *slot)
{
    struct ddb_http *http = slot->http;
    (void)curl_multi_remove_handle(http->multi, slot->easy);
    if (slot->body.capacity > KEPT_BYTES) {
        buffer_free(&slot->body);
    }
    slot->busy = false;
    slot->next = http->free;
    http->free = slot;
    http->in_flight--;
}

void ddb_http_drop(struct ddb_http *http)
{
    for (unsigned i = 0; i < http->slot_count; i++) {
        if (http->slots[i].busy) {
            release(&http->slots[i]);
        }
    }
}

void ddb_http_close(struct ddb_http *http)
{
    if (http == NULL) {
        return;
    }
    ddb_http_drop(http);
    for (unsigned i = 0; i < http->slot_count; i++) {
        curl_easy_cleanup(http->slots[i].easy);
        buffer_free(&http->slots[i].head);
        buffer_free(&http->slots[i].body);
    }
    (void)curl_multi_cleanup(http->multi);
    curl_url_cleanup(http->url);
    if (http->epoll >= 0) {
        (void)close(http->epoll);
    }
    heap_free(http->slots);
    heap_free(http->watched);
    buffer_free(&http->scratch);
    buffer_free(&http->authorization);
    heap_free(http);
}

unsigned ddb_http_in_flight(const struct ddb_http *http)
{
    return http->in_flight;
}

/* ---------------------------------------------------------------- sending */

/* Signs into http->authorization. */
static void sign(struct ddb_http *http, const struct ddb_request *request,
                 const struct ddb_key *key, struct str target)
{
    const struct ddb_endpoint *endpoint = ddb_account_endpoint(http->account);
    struct ddb_header headers[5];
    size_t count = 0;
    headers[count++] = (struct ddb_header){STR("content-type"), STR("application/x-amz-json-1.0")};
    headers[count++] = (struct ddb_header){STR("host"), endpoint->host};
    headers[count++] = (struct ddb_header){STR("x-amz-date"), {http->date, DDB_DATE_SIZE - 1}};
    if (key->token.len > 0) {
        headers[count++] = (struct ddb_header){STR("x-amz-security-token"), key->token};
    }
    headers[count++] = (struct ddb_header){STR("x-amz-target"), target};
    struct ddb_sign_scope scope = {key->key_id, ddb_account_region(http->account), STR("dynamodb"),
                                   http->date};
    struct ddb_signed message = {STR("POST"), endpoint->path, headers, count, request->body};
    http->authorization.len = 0;
    ddb_sign(&key->signing, &scope, &message, &http->scratch, &http->authorization);
}

/* All lines of a request fit in what was reserved, so those added before do not move. */
static void add_line(struct slot *slot, size_t *count, const char *name, struct str value)
{
    char *start = slot->head.bytes + slot->head.len;
    buffer_add(&slot->head, (struct str){name, strlen(name)});
    buffer_add(&slot->head, value);
    buffer_add_char(&slot->head, '\0');
    slot->lines[*count] = (struct curl_slist){.data = start, .next = NULL};
    if (*count > 0) {
        slot->lines[*count - 1].next = &slot->lines[*count];
    }
    (*count)++;
}

static void add_lines(struct slot *slot, const struct ddb_key *key, struct str target)
{
    const struct ddb_http *http = slot->http;
    struct str host = ddb_account_endpoint(http->account)->host;
    struct str authorization = buffer_str(&http->authorization);
    size_t count = 0;
    slot->head.len = 0;
    (void)buffer_reserve(&slot->head,
                         LINES_BYTES + host.len + target.len + key->token.len + authorization.len);
    add_line(slot, &count, "Host: ", host);
    add_line(slot, &count, "X-Amz-Target: ", target);
    add_line(slot, &count, "X-Amz-Date: ", (struct str){http->date, DDB_DATE_SIZE - 1});
    if (key->token.len > 0) {
        add_line(slot, &count, "X-Amz-Security-Token: ", key->token);
    }
    add_line(slot, &count, "Authorization: ", authorization);
    add_line(slot, &count, "Content-Type: ", STR("application/x-amz-json-1.0"));
    add_line(slot, &count, "Accept-Encoding: ", STR("gzip"));
    add_line(slot, &count, "User-Agent: refold/", STR(REFOLD_VERSION));
    add_line(slot, &count, "Expect:", STR(""));
}

void ddb_http_start(struct ddb_http *http, const struct ddb_request *request,
                    const struct ddb_key *key, int64_t now_s, void *tag)
{
    char name[TARGET_MAX];
    struct slot *slot = http->free;
    http->free = slot->next;
    int len = snprintf(name, sizeof name, "DynamoDB_20120810.%s", request->operation);
    struct str target = {name, len < TARGET_MAX ? (size_t)len : TARGET_MAX - 1};
    if (http->date_s != now_s) {
        ddb_date_format(now_s, http->date);
        http->date_s = now_s;
    }
    sign(http, request, key, target);
    add_lines(slot, key, target);
    slot->body.len = 0;
    slot->sends = 0;
    slot->head_ended = false;
    slot->tag = tag;
    slot->busy = true;
    http->in_flight++;
    long timeout_ms = (long)ddb_account_timeout_ms(http->account);
    bool is_short = request->urgent && timeout_ms > urgent_timeout_ms;
    curl_easy_setopt(slot->easy, CURLOPT_TIMEOUT_MS, is_short ? urgent_timeout_ms : timeout_ms);
    curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->lines);
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDS, request->body.ptr);
    (void)curl_multi_add_handle(http->multi, slot->easy);
}

/* ---------------------------------------------------------------- receiving */

static struct str header_of(CURL *easy, const char *name)
{
    struct curl_header *found = NULL;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) {
        return STR("");
    }
    return (struct str){found->value, strlen(found->value)};
}

static const char *reason_of(const struct slot *slot, CURLcode code)
{
    long number = 0;
    (void)curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
        return "the server's certificate is not trusted here (AWS_CA_BUNDLE names whom to trust)";
    }
    const char *reason = number == 0 ? NULL : strerrordesc_np((int)number);
    return reason != NULL && code == CURLE_COULDNT_CONNECT ? reason : curl_easy_strerror(code);
}

static int64_t date_of(CURL *easy)
{
    struct str date = header_of(easy, "Date");
    time_t seconds = date.len == 0 ? 0 : curl_getdate(date.ptr, NULL);
    return seconds < 0 ? 0 : (int64_t)seconds;
}

static void read_reply(struct slot *slot, struct arena *arena, struct ddb_arrival *out)
{
    long status = 0;
    (void)curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    struct ddb_body body = {.raw = buffer_str(&slot->body),
                            .crc32 = header_of(slot->easy, "x-amz-crc32"),
                            .encoding = header_of(slot->easy, "Content-Encoding")};
    bool whole = ddb_body_read(&body, REPLY_MAX, arena, &out->content);
    out->status = (int)status;
    out->date_s = status == 200 ? 0 : date_of(slot->easy);
    /* A gateway before the server refuses with a page of its own. */
    bool refused_whole = slot->head_ended && status != 200 && body.crc32.len == 0;
    if (!slot->head_ended || (!whole && !refused_whole)) {
        out->transport = DDB_BROKE_OFF;
        out->what = "the reply is not whole, or is not DynamoDB's";
    }
}

static void read_end(struct slot *slot, CURLcode code, struct arena *arena, struct ddb_arrival *out)
{
    *out = (struct ddb_arrival){.tag = slot->tag, .transport = DDB_ARRIVED};
    if (code == CURLE_OK) {
        read_reply(slot, arena, out);
        return;
    }
    out->transport = slot->sends == 0 ? DDB_NOT_CONNECTED : DDB_BROKE_OFF;
    out->what = slot->sends > 1 ? "the connection was closed" : reason_of(slot, code);
}

/* The next attempt that has ended, if any. */
static bool take_ended(struct ddb_http *http, struct arena *arena, struct ddb_arrival *out)
{
    int left = 0;
    CURLMsg *message = curl_multi_info_read(http->multi, &left);
    if (message == NULL) {
        return false;
    }
    char *private = NULL;
    CURLcode code = message->data.result;
    (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
    struct slot *slot = (struct slot *)(void *)private;
    read_end(slot, code, arena, out);
    release(slot);
    return true;
}

/* Lets libcurl do what is due. */
static void turn(struct ddb_http *http, uint64_t wait_us)
{
    struct epoll_event events[EVENTS_MAX];
    int running = 0;
    uint64_t now_us = now_of(http);
    uint64_t timer_us = http->timer_us > now_us ? http->timer_us - now_us : 0;
    wait_us = timer_us < wait_us ? timer_us : wait_us;
    int count = epoll_wait(http->epoll, events, EVENTS_MAX, (int)((wait_us + 999) / 1000));
    for (int i = 0; i < count; i++) {
        uint32_t seen = events[i].events;
        if (!watched_of(http, events[i].data.fd)->is_wanted) {
            unwatch(http, events[i].data.fd); /* the server has closed what nobody was using */
            continue;
        }
        int what = (seen & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0;
        what |= (seen & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0;
        what |= (seen & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0;
        (void)curl_multi_socket_action(http->multi, events[i].data.fd, what, &running);
    }
    if (http->timer_us <= now_of(http)) {
        http->timer_us = UINT64_MAX;
        (void)curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

bool ddb_http_wait(struct ddb_http *http, uint64_t wait_us, struct arena *arena,
                   struct ddb_arrival *out)
{
    if (take_ended(http, arena, out)) {
        return true;
    }
    turn(http, wait_us);
    return take_ended(http, arena, out);
}

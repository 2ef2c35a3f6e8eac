#include "engine/store/dynamodb/client/ddb_connection_internal.h"

#include "engine/base/arena.h"
#include "engine/store/dynamodb/client/ddb_profile_internal.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_TIMEOUT_MS = 5000, GLANCE_US = 100000, EVENTS_MAX = 16 };

/* What proxies reply with. RFC 9110. */
enum { FAILURE_MIN = 300, PROXY_UNKNOWN = 407 };

/* Of what is received at a time over TLS. */
static const long receive_bytes = 65536;

/* libcurl would close some of more than these; it is we who close them. */
static const long connections_max = 4096;

struct ddb_connector {
    const struct ddb_world *world;
    CURLU *url; /* parsed once */
    CURLM *multi;
    bool is_plain; /* the URL's scheme is http */
    int epoll;     /* what libcurl waits for; our own waits for this */
    uint64_t due_us;
    unsigned making;    /* connections of which it is not known yet what comes of them; */
    uint64_t glance_us; /* when to look after them in any case */
};

struct ddb_connection {
    struct ddb_connector *connector;
    void *owner;
    CURL *easy; /* kept for the next connection, since it knows the TLS session; NULL: none yet */
    bool is_added;
    bool is_making;
    bool is_open;
    int plain_fd; /* what is not encrypted goes straight to it, as libcurl searches its connections
                     at each call; -1: goes through libcurl */
    const char *what; /* of the last call that failed */
};

/* ---------------------------------------------------------------- what libcurl calls */

/* libcurl may have closed a descriptor without a word, and have another of its number: what it
 * believes to be watched is not always. An error would be the end of all its connections. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    (void)easy;
    (void)known;
    const struct ddb_connector *connector = context;
    struct epoll_event event = {.data.fd = fd};
    event.events |= (what & CURL_POLL_IN) != 0 ? EPOLLIN : 0;
    event.events |= (what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0;
    (void)epoll_ctl(connector->epoll, EPOLL_CTL_DEL, fd, NULL);
    if (what != CURL_POLL_REMOVE) {
        (void)epoll_ctl(connector->epoll, EPOLL_CTL_ADD, fd, &event);
    }
    return 0;
}

static int set_timer(CURLM *multi, long timeout_ms, void *context)
{
    (void)multi;
    struct ddb_connector *connector = context;
    const struct ddb_world *world = connector->world;
    connector->due_us =
        timeout_ms < 0 ? UINT64_MAX : world->now_us(world->context) + (uint64_t)timeout_ms * 1000;
    return 0;
}

/* That libcurl closes what is open is not expected; but no other file may get what was meant for
 * it.
 */
static int close_socket(void *context, curl_socket_t fd)
{
    struct ddb_connection *connection = context;
    if (fd == connection->plain_fd) {
        connection->plain_fd = -1;
        connection->is_open = false;
    }
    return close(fd);
}

/* A proxy that refuses may say so at length. */
static size_t ignore(const char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* ---------------------------------------------------------------- making them */

bool ddb_connector_open(const struct ddb_world *world, const char *url, struct ddb_connector **out)
{
    struct ddb_connector *connector = heap_alloc(sizeof *connector);
    *connector = (struct ddb_connector){.world = world,
                                        .url = curl_url(),
                                        .multi = curl_multi_init(),
                                        .is_plain = strncmp(url, "http:", 5) == 0,
                                        .epoll = epoll_create1(EPOLL_CLOEXEC),
                                        .due_us = UINT64_MAX};
    if (connector->url == NULL || connector->multi == NULL || connector->epoll < 0 ||
        curl_url_set(connector->url, CURLUPART_URL, url, 0) != CURLUE_OK) {
        ddb_connector_close(connector);
        return false;
    }
    curl_multi_setopt(connector->multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(connector->multi, CURLMOPT_SOCKETDATA, connector);
    curl_multi_setopt(connector->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(connector->multi, CURLMOPT_TIMERDATA, connector);
    curl_multi_setopt(connector->multi, CURLMOPT_MAXCONNECTS, connections_max);
    *out = connector;
    return true;
}

void ddb_connector_close(struct ddb_connector *connector)
{
    if (connector == NULL) {
        return;
    }
    (void)curl_multi_cleanup(connector->multi);
    curl_url_cleanup(connector->url);
    if (connector->epoll >= 0) {
        (void)close(connector->epoll);
    }
    heap_free(connector);
}

int ddb_connector_descriptor(const struct ddb_connector *connector)
{
    return connector->epoll;
}

uint64_t ddb_connector_due_us(const struct ddb_connector *connector)
{
    bool glances = connector->making > 0 && connector->glance_us < connector->due_us;
    return glances ? connector->glance_us : connector->due_us;
}

/* Where the first address of a name is dead, libcurl goes on to the next only when it is called
 * again, and asks for no such call. */
static void glance(struct ddb_connector *connector, uint64_t now_us)
{
    int running = 0;
    if (connector->making > 0 && connector->glance_us <= now_us) {
        connector->glance_us = now_us + GLANCE_US;
        (void)curl_multi_perform(connector->multi, &running);
    }
}

void ddb_connector_work(struct ddb_connector *connector)
{
    struct epoll_event events[EVENTS_MAX];
    const struct ddb_world *world = connector->world;
    int running = 0;
    int count = epoll_wait(connector->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        uint32_t seen = events[i].events;
        int what = (seen & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0;
        what |= (seen & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0;
        what |= (seen & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0;
        (void)curl_multi_socket_action(connector->multi, events[i].data.fd, what, &running);
    }
    uint64_t now_us = world->now_us(world->context);
    if (connector->due_us <= now_us) {
        connector->due_us = UINT64_MAX;
        (void)curl_multi_socket_action(connector->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    glance(connector, now_us);
}

static void set_making(struct ddb_connection *connection, bool is_making)
{
    struct ddb_connector *connector = connection->connector;
    const struct ddb_world *world = connector->world;
    if (is_making && connector->making == 0) {
        connector->glance_us = world->now_us(world->context) + GLANCE_US;
    }
    connector->making -= connection->is_making ? 1 : 0;
    connector->making += is_making ? 1 : 0;
    connection->is_making = is_making;
}

static const char *reason_of(CURL *easy, CURLcode code)
{
    long number = 0;
    long proxy = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    (void)curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &proxy);
    if (proxy >= FAILURE_MIN) {
        return proxy == PROXY_UNKNOWN ? "the proxy wants to know who asks (407)"
                                      : "the proxy refuses to connect to the server";
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
        return "the server's certificate is not trusted here (AWS_CA_BUNDLE names whom to trust)";
    }
    const char *reason = number == 0 ? NULL : strerrordesc_np((int)number);
    return reason != NULL && code == CURLE_COULDNT_CONNECT ? reason : curl_easy_strerror(code);
}

/* The first call joins the handle to its connection, which libcurl would clear away as unused after
 * a while; and only then it tells of TLS, be it with a proxy. */
static const char *note_open(struct ddb_connection *connection)
{
    size_t len = 0;
    char byte = 0;
    CURLcode code = curl_easy_recv(connection->easy, &byte, 1, &len);
    if (code != CURLE_AGAIN) {
        return code == CURLE_OK ? "the server ends the connection, or speaks first"
                                : curl_easy_strerror(code);
    }
    struct curl_tlssessioninfo *tls = NULL;
    (void)curl_easy_getinfo(connection->easy, CURLINFO_TLS_SSL_PTR, &tls);
    connection->is_open = true;
    bool is_plain = connection->connector->is_plain && tls != NULL && tls->internals == NULL;
    connection->plain_fd = is_plain ? ddb_connection_descriptor(connection) : -1;
    return NULL;
}

void *ddb_connector_next(struct ddb_connector *connector, const char **what)
{
    int left = 0;
    CURLMsg *message = curl_multi_info_read(connector->multi, &left);
    if (message == NULL) {
        return NULL;
    }
    char *private = NULL;
    CURLcode code = message->data.result;
    (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
    struct ddb_connection *connection = (struct ddb_connection *)(void *)private;
    set_making(connection, false);
    *what = code == CURLE_OK ? note_open(connection) : reason_of(connection->easy, code);
    if (*what != NULL) {
        ddb_connection_close(connection);
    }
    return connection->owner;
}

/* ---------------------------------------------------------------- one of them */

struct ddb_connection *ddb_connection_new(struct ddb_connector *connector, void *owner)
{
    struct ddb_connection *connection = heap_alloc(sizeof *connection);
    connection->connector = connector;
    connection->owner = owner;
    connection->plain_fd = -1;
    return connection;
}

void ddb_connection_free(struct ddb_connection *connection)
{
    if (connection != NULL) {
        ddb_connection_close(connection);
        curl_easy_cleanup(connection->easy);
        heap_free(connection);
    }
}

/* A proxy passes on what goes over its tunnel as it is, over plain HTTP too. "Quick exit": an
 * attempt that is given up waits for no name server. */
static void set_options(struct ddb_connection *connection)
{
    CURL *easy = connection->easy;
    const char *bundle = ddb_environment("AWS_CA_BUNDLE").ptr;
    curl_easy_setopt(easy, CURLOPT_CURLU, connection->connector->url);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, connection);
    curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, receive_bytes);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, connection);
    if (bundle[0] != '\0') {
        curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
    }
}

bool ddb_connection_begin(struct ddb_connection *connection)
{
    if (connection->easy == NULL) {
        connection->easy = curl_easy_init();
        if (connection->easy == NULL) {
            return false;
        }
        set_options(connection);
    }
    connection->is_added =
        curl_multi_add_handle(connection->connector->multi, connection->easy) == CURLM_OK;
    set_making(connection, connection->is_added);
    return connection->is_added;
}

/* libcurl closes what an easy handle has connected with the handle's removal. */
void ddb_connection_close(struct ddb_connection *connection)
{
    if (connection->is_added) {
        (void)curl_multi_remove_handle(connection->connector->multi, connection->easy);
        set_making(connection, false);
        connection->is_added = false;
        connection->is_open = false;
    }
}

bool ddb_connection_is_open(const struct ddb_connection *connection)
{
    return connection->is_open;
}

int ddb_connection_descriptor(const struct ddb_connection *connection)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    (void)curl_easy_getinfo(connection->easy, CURLINFO_ACTIVESOCKET, &fd);
    return fd == CURL_SOCKET_BAD ? -1 : fd;
}

static enum ddb_io later_or_failed(struct ddb_connection *connection, bool is_later,
                                   const char *what)
{
    connection->what = is_later ? connection->what : what;
    return is_later ? DDB_IO_LATER : DDB_IO_FAILED;
}

/* Of send() and recv(). */
static enum ddb_io result_of_call(struct ddb_connection *connection, ssize_t result, size_t *len)
{
    if (result >= 0) {
        *len = (size_t)result;
        return result > 0 ? DDB_IO_DONE : DDB_IO_ENDED;
    }
    const char *what = strerrordesc_np(errno);
    bool is_later = errno == EAGAIN || errno == EWOULDBLOCK;
    return later_or_failed(connection, is_later, what == NULL ? "an unknown error" : what);
}

static enum ddb_io result_of(struct ddb_connection *connection, CURLcode code, size_t len)
{
    if (code == CURLE_OK) {
        return len > 0 ? DDB_IO_DONE : DDB_IO_ENDED;
    }
    return later_or_failed(connection, code == CURLE_AGAIN, curl_easy_strerror(code));
}

enum ddb_io ddb_connection_send(struct ddb_connection *connection, struct str bytes, size_t *len)
{
    *len = 0;
    if (connection->plain_fd >= 0) {
        ssize_t sent = send(connection->plain_fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        return result_of_call(connection, sent, len);
    }
    CURLcode code = curl_easy_send(connection->easy, bytes.ptr, bytes.len, len);
    return result_of(connection, code, *len);
}

enum ddb_io ddb_connection_receive(struct ddb_connection *connection, char *bytes, size_t room,
                                   size_t *len)
{
    *len = 0;
    if (connection->plain_fd >= 0) {
        return result_of_call(connection, recv(connection->plain_fd, bytes, room, 0), len);
    }
    CURLcode code = curl_easy_recv(connection->easy, bytes, room, len);
    return result_of(connection, code, *len);
}

const char *ddb_connection_what(const struct ddb_connection *connection)
{
    return connection->what;
}

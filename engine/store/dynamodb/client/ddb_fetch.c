#include "engine/store/dynamodb/client/ddb_fetch_internal.h"

#include "engine/base/buffer.h"

#include <curl/curl.h>

enum { REPLY_MAX = 1 << 20 };

static size_t keep(const char *bytes, size_t size, size_t count, void *context)
{
    struct buffer *reply = context;
    size_t len = size * count;
    if (len > REPLY_MAX - reply->len) {
        return 0;
    }
    buffer_add(reply, (struct str){bytes, len});
    return len;
}

static void set_options(CURL *easy, const struct ddb_fetch *fetch, struct buffer *reply,
                        struct curl_slist *headers)
{
    curl_easy_setopt(easy, CURLOPT_URL, fetch->url.ptr);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* its time is up for a name server, too */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, fetch->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, fetch->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (fetch->body.len > 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)fetch->body.len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, fetch->body.ptr);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, fetch->method);
    if (fetch->direct) {
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
}

bool ddb_fetch(const struct ddb_fetch *fetch, struct arena *arena, int *status, struct str *body,
               const char **what)
{
    struct curl_slist lines[DDB_FETCH_HEADERS_MAX] = {0};
    for (size_t i = 0; i < fetch->header_count; i++) {
        struct str line = arena_copy(arena, fetch->headers[i]);
        bool last = i + 1 == fetch->header_count;
        lines[i].data = arena_bytes(arena, line.len + 1);
        memcpy(lines[i].data, line.ptr, line.len + 1);
        lines[i].next = last ? NULL : &lines[i + 1];
    }
    struct buffer reply = {0};
    CURL *easy = curl_easy_init();
    CURLcode code = CURLE_FAILED_INIT;
    long response = 0;
    if (easy != NULL) {
        set_options(easy, fetch, &reply, fetch->header_count == 0 ? NULL : lines);
        code = curl_easy_perform(easy);
        (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &response);
    }
    curl_easy_cleanup(easy);
    if (code == CURLE_OK) {
        *status = (int)response;
        *body = arena_copy(arena, buffer_str(&reply));
    }
    if (reply.len > 0) {
        explicit_bzero(reply.bytes, reply.len);
    }
    buffer_free(&reply);
    *what = curl_easy_strerror(code);
    return code == CURLE_OK;
}

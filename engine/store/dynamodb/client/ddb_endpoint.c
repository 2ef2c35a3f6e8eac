#include "engine/store/dynamodb/client/ddb_endpoint_internal.h"

#include <curl/curl.h>
#include <stddef.h>

/* What a host, a port and a path are spelled with; so neither user, query nor fragment. */
static bool is_url_text(struct str s)
{
    static const struct str odd = STR_INIT("-._~%/:[]+=,;!$&'()*");
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && !str_has(odd, c)) {
            return false;
        }
    }
    return true;
}

static bool ends_with(struct str s, struct str end)
{
    return s.len >= end.len && str_equal((struct str){s.ptr + s.len - end.len, end.len}, end);
}

/* The length of "http://" or "https://"; 0: neither. */
static size_t scheme_len(struct str text)
{
    if (str_begins(text, STR("https://"))) {
        return STR("https://").len;
    }
    return str_begins(text, STR("http://")) ? STR("http://").len : 0;
}

/* By libcurl, which is to connect to it. */
static bool is_understood(struct str url)
{
    CURLU *parts = curl_url();
    bool ok = parts != NULL && curl_url_set(parts, CURLUPART_URL, url.ptr, 0) == CURLUE_OK;
    curl_url_cleanup(parts);
    return ok;
}

static bool refuse(struct str text, struct error *err)
{
    return error_set(err, ERROR_USAGE, "endpoint \"%.*s\" is not a URL like https://host:port",
                     STR_ARG(text));
}

/* The scheme's own port is not sent in the Host header. */
static struct str without_usual_port(struct str host, bool tls)
{
    struct str port = tls ? STR(":443") : STR(":80");
    return ends_with(host, port) ? (struct str){host.ptr, host.len - port.len} : host;
}

bool ddb_endpoint_parse(struct str text, struct arena *arena, struct ddb_endpoint *out,
                        struct error *err)
{
    size_t scheme = scheme_len(text);
    bool tls = scheme == STR("https://").len;
    if (scheme == 0 || !is_url_text(text)) {
        return refuse(text, err);
    }
    struct str rest = {text.ptr + scheme, text.len - scheme};
    const char *slash = memchr(rest.ptr, '/', rest.len);
    size_t host_len = slash == NULL ? rest.len : (size_t)(slash - rest.ptr);
    struct str path = {rest.ptr + host_len, rest.len - host_len};
    struct str host = without_usual_port((struct str){rest.ptr, host_len}, tls);
    if (host.len == 0) {
        return error_set(err, ERROR_USAGE, "endpoint \"%.*s\" names no host", STR_ARG(text));
    }
    out->host = arena_copy(arena, host);
    out->path = arena_copy(arena, path.len == 0 ? STR("/") : path);
    out->url = arena_format(arena, "%.*s%.*s%.*s", (int)scheme, text.ptr, STR_ARG(host),
                            STR_ARG(out->path));
    if (!is_understood(out->url)) {
        return refuse(text, err);
    }
    out->local =
        !ends_with(host, STR(".amazonaws.com")) && !ends_with(host, STR(".amazonaws.com.cn"));
    return true;
}

struct str ddb_endpoint_of(const char *service, struct str region, struct arena *arena)
{
    const char *tail = str_begins(region, STR("cn-")) ? ".cn" : "";
    return arena_format(arena, "https://%s.%.*s.amazonaws.com%s", service, STR_ARG(region), tail);
}

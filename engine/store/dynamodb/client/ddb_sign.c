#include "engine/store/dynamodb/client/ddb_sign_internal.h"

#include "engine/base/hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <time.h>

enum { HASH_BYTES = 32, HEX_SIZE = 2 * HASH_BYTES + 1 };

void ddb_date_format(int64_t wall_s, char out[DDB_DATE_SIZE])
{
    time_t seconds = (time_t)wall_s;
    struct tm parts = {0};
    (void)gmtime_r(&seconds, &parts);
    if (strftime(out, DDB_DATE_SIZE, "%Y%m%dT%H%M%SZ", &parts) == 0) {
        memcpy(out, "19700101T000000Z", DDB_DATE_SIZE);
    }
}

static void hmac(const unsigned char *key, size_t key_len, struct str text,
                 unsigned char out[HASH_BYTES])
{
    (void)HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text.ptr, text.len, out,
               NULL);
}

void ddb_signing_key_make(struct str secret, const struct ddb_sign_scope *scope,
                          struct ddb_signing_key *out)
{
    struct buffer first = {0};
    buffer_add(&first, STR("AWS4"));
    buffer_add(&first, secret);
    memcpy(out->day, scope->date, DDB_DAY_LEN);
    hmac((const unsigned char *)first.bytes, first.len, (struct str){out->day, DDB_DAY_LEN},
         out->bytes);
    hmac(out->bytes, HASH_BYTES, scope->region, out->bytes);
    hmac(out->bytes, HASH_BYTES, scope->service, out->bytes);
    hmac(out->bytes, HASH_BYTES, STR("aws4_request"), out->bytes);
    explicit_bzero(first.bytes, first.len);
    buffer_free(&first);
}

static void add_hex_sha256(struct buffer *out, struct str bytes)
{
    unsigned char digest[HASH_BYTES];
    char hex[HEX_SIZE];
    hash_sha256(bytes, digest);
    hash_hex(digest, sizeof digest, hex);
    buffer_add(out, (struct str){hex, HEX_SIZE - 1});
}

/* Services other than S3 encode once more what the URL already holds encoded. */
static void add_path(struct buffer *out, struct str path)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') || str_has(STR("-._~/"), (char)c)) {
            buffer_add_char(out, (char)c);
        } else {
            buffer_add(out, (struct str){(char[]){'%', digits[c >> 4], digits[c & 15]}, 3});
        }
    }
}

static void add_signed_names(struct buffer *out, const struct ddb_signed *message)
{
    for (size_t i = 0; i < message->header_count; i++) {
        if (i > 0) {
            buffer_add_char(out, ';');
        }
        buffer_add(out, message->headers[i].name);
    }
}

/* The query is always empty. */
static void add_canonical(struct buffer *out, const struct ddb_signed *message)
{
    buffer_add(out, message->method);
    buffer_add_char(out, '\n');
    add_path(out, message->path);
    buffer_add(out, STR("\n\n"));
    for (size_t i = 0; i < message->header_count; i++) {
        buffer_add(out, message->headers[i].name);
        buffer_add_char(out, ':');
        buffer_add(out, message->headers[i].value);
        buffer_add_char(out, '\n');
    }
    buffer_add_char(out, '\n');
    add_signed_names(out, message);
    buffer_add_char(out, '\n');
    add_hex_sha256(out, message->body);
}

static void add_scope(struct buffer *out, const struct ddb_sign_scope *scope)
{
    buffer_add(out, (struct str){scope->date, DDB_DAY_LEN});
    buffer_add_char(out, '/');
    buffer_add(out, scope->region);
    buffer_add_char(out, '/');
    buffer_add(out, scope->service);
    buffer_add(out, STR("/aws4_request"));
}

void ddb_sign(const struct ddb_signing_key *key, const struct ddb_sign_scope *scope,
              const struct ddb_signed *message, struct buffer *scratch, struct buffer *out)
{
    scratch->len = 0;
    add_canonical(scratch, message);
    size_t canonical_len = scratch->len;
    buffer_add(scratch, STR("AWS4-HMAC-SHA256\n"));
    buffer_add(scratch, (struct str){scope->date, DDB_DATE_SIZE - 1});
    buffer_add_char(scratch, '\n');
    add_scope(scratch, scope);
    buffer_add_char(scratch, '\n');
    (void)buffer_reserve(scratch, HEX_SIZE);
    add_hex_sha256(scratch, (struct str){scratch->bytes, canonical_len});
    unsigned char signature[HASH_BYTES];
    char hex[HEX_SIZE];
    hmac(key->bytes, sizeof key->bytes,
         (struct str){scratch->bytes + canonical_len, scratch->len - canonical_len}, signature);
    hash_hex(signature, sizeof signature, hex);

    buffer_add(out, STR("AWS4-HMAC-SHA256 Credential="));
    buffer_add(out, scope->key_id);
    buffer_add_char(out, '/');
    add_scope(out, scope);
    buffer_add(out, STR(", SignedHeaders="));
    add_signed_names(out, message);
    buffer_add(out, STR(", Signature="));
    buffer_add(out, (struct str){hex, HEX_SIZE - 1});
}

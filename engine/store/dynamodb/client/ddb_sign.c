#include "engine/store/dynamodb/client/ddb_sign_internal.h"

#include "engine/base/arena.h"
#include "engine/base/hash.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
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

/* ---------------------------------------------------------------- the signer */

struct ddb_signer {
    EVP_MD *sha256;
    EVP_MD_CTX *digest;
    EVP_MAC_CTX *hmac;
    struct buffer scratch;
};

struct ddb_signer *ddb_signer_new(void)
{
    char name[] = "SHA256";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                                 OSSL_PARAM_construct_end()};
    struct ddb_signer *signer = heap_alloc(sizeof *signer);
    EVP_MAC *hmac_of = EVP_MAC_fetch(NULL, "HMAC", NULL);
    signer->sha256 = EVP_MD_fetch(NULL, name, NULL);
    signer->digest = EVP_MD_CTX_new();
    signer->hmac = EVP_MAC_CTX_new(hmac_of);
    (void)EVP_MAC_CTX_set_params(signer->hmac, params);
    EVP_MAC_free(hmac_of);
    return signer;
}

void ddb_signer_free(struct ddb_signer *signer)
{
    if (signer != NULL) {
        EVP_MAC_CTX_free(signer->hmac);
        EVP_MD_CTX_free(signer->digest);
        EVP_MD_free(signer->sha256);
        buffer_free(&signer->scratch);
        heap_free(signer);
    }
}

static void add_hex(struct buffer *out, const unsigned char digest[HASH_BYTES])
{
    char hex[HEX_SIZE];
    hash_hex(digest, HASH_BYTES, hex);
    buffer_add(out, (struct str){hex, HEX_SIZE - 1});
}

static void add_hex_sha256(const struct ddb_signer *signer, struct buffer *out, struct str bytes)
{
    unsigned char digest[HASH_BYTES] = {0};
    (void)EVP_DigestInit_ex2(signer->digest, signer->sha256, NULL);
    (void)EVP_DigestUpdate(signer->digest, bytes.ptr, bytes.len);
    (void)EVP_DigestFinal_ex(signer->digest, digest, NULL);
    add_hex(out, digest);
}

static void add_hex_hmac(const struct ddb_signer *signer, const struct ddb_signing_key *key,
                         struct str text, struct buffer *out)
{
    unsigned char signature[HASH_BYTES] = {0};
    size_t len = 0;
    (void)EVP_MAC_init(signer->hmac, key->bytes, sizeof key->bytes, NULL);
    (void)EVP_MAC_update(signer->hmac, (const unsigned char *)text.ptr, text.len);
    (void)EVP_MAC_final(signer->hmac, signature, &len, sizeof signature);
    add_hex(out, signature);
}

/* ---------------------------------------------------------------- what is signed */

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
static void add_canonical(const struct ddb_signer *signer, const struct ddb_signed *message,
                          struct buffer *out)
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
    add_hex_sha256(signer, out, message->body);
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

void ddb_sign(struct ddb_signer *signer, const struct ddb_signing_key *key,
              const struct ddb_sign_scope *scope, const struct ddb_signed *message,
              struct buffer *out)
{
    struct buffer *text = &signer->scratch;
    text->len = 0;
    add_canonical(signer, message, text);
    size_t canonical_len = text->len;
    buffer_add(text, STR("AWS4-HMAC-SHA256\n"));
    buffer_add(text, (struct str){scope->date, DDB_DATE_SIZE - 1});
    buffer_add_char(text, '\n');
    add_scope(text, scope);
    buffer_add_char(text, '\n');
    (void)buffer_reserve(text, HEX_SIZE);
    add_hex_sha256(signer, text, (struct str){text->bytes, canonical_len});

    buffer_add(out, STR("AWS4-HMAC-SHA256 Credential="));
    buffer_add(out, scope->key_id);
    buffer_add_char(out, '/');
    add_scope(out, scope);
    buffer_add(out, STR(", SignedHeaders="));
    add_signed_names(out, message);
    buffer_add(out, STR(", Signature="));
    add_hex_hmac(signer, key, (struct str){text->bytes + canonical_len, text->len - canonical_len},
                 out);
}

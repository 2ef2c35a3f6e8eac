/* Reads lines KEY_ID \t SECRET \t TOKEN \t REGION \t HOST \t PATH \t SECONDS \t TARGET \t BODY, all
 * but SECONDS in hexadecimal, and prints the Authorization header of each: test_api_client.py
 * compares them with botocore's. */
#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_sign_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEY_ID, SECRET, TOKEN, REGION, HOST, PATH, SECONDS, TARGET, BODY, FIELDS };

static struct str from_hex(struct str hex, struct arena *arena)
{
    char *bytes = arena_bytes(arena, hex.len / 2 + 1);
    for (size_t i = 0; i + 1 < hex.len; i += 2) {
        char pair[3] = {hex.ptr[i], hex.ptr[i + 1], '\0'};
        bytes[i / 2] = (char)strtoul(pair, NULL, 16);
    }
    return (struct str){bytes, hex.len / 2};
}

static void print_signed(const struct str fields[FIELDS], struct arena *arena)
{
    char date[DDB_DATE_SIZE];
    struct str texts[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        texts[i] = i == SECONDS ? fields[i] : from_hex(fields[i], arena);
    }
    ddb_date_format(strtoll(fields[SECONDS].ptr, NULL, 10), date);
    struct ddb_header headers[5] = {{STR("host"), texts[HOST]},
                                    {STR("x-amz-date"), {date, DDB_DATE_SIZE - 1}}};
    size_t count = 2;
    if (texts[TOKEN].len > 0) {
        headers[count++] = (struct ddb_header){STR("x-amz-security-token"), texts[TOKEN]};
    }
    headers[count++] = (struct ddb_header){STR("x-amz-target"), texts[TARGET]};
    struct ddb_sign_scope scope = {texts[KEY_ID], texts[REGION], STR("dynamodb"), date};
    struct ddb_signed message = {STR("POST"), texts[PATH], headers, count, texts[BODY]};
    struct ddb_signing_key key;
    struct ddb_signer *signer = ddb_signer_new();
    struct buffer out = {0};
    ddb_signing_key_make(texts[SECRET], &scope, &key);
    ddb_sign(signer, &key, &scope, &message, &out);
    (void)printf("%.*s\n", STR_ARG(buffer_str(&out)));
    ddb_signer_free(signer);
    buffer_free(&out);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    struct arena *arena = arena_new();
    for (ssize_t len = getline(&line, &room, stdin); len > 0; len = getline(&line, &room, stdin)) {
        struct str rest = {line, (size_t)len - 1};
        struct str fields[FIELDS] = {{NULL, 0}};
        arena_reset(arena);
        for (size_t i = 0; i < FIELDS; i++) {
            const char *tab = rest.len == 0 ? NULL : memchr(rest.ptr, '\t', rest.len);
            size_t used = tab == NULL ? rest.len : (size_t)(tab - rest.ptr);
            fields[i] = arena_copy(arena, (struct str){rest.ptr, used});
            rest = tab == NULL ? STR("") : (struct str){tab + 1, rest.len - used - 1};
        }
        print_signed(fields, arena);
    }
    free(line);
    arena_free(arena);
    return EXIT_SUCCESS;
}

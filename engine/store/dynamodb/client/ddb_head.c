#include "engine/store/dynamodb/client/ddb_head_internal.h"

#include "engine/store/dynamodb/client/ddb_sign_internal.h"

#include <stddef.h>
#include <string.h>

/* Names of headers, and values that are always as long. */
enum { LINES_BYTES = 512 };

void ddb_head_init(struct ddb_head *head, const struct ddb_account *account)
{
    head->endpoint = ddb_account_endpoint(account);
    head->region = ddb_account_region(account);
    head->signer = ddb_signer_new();
    buffer_add(&head->fixed, STR("POST "));
    buffer_add(&head->fixed, head->endpoint->path);
    buffer_add(&head->fixed, STR(" HTTP/1.1\r\nHost: "));
    buffer_add(&head->fixed, head->endpoint->host);
    buffer_add(&head->fixed,
               STR("\r\nContent-Type: application/x-amz-json-1.0\r\nAccept-Encoding: gzip\r\n"
                   "User-Agent: refold/" REFOLD_VERSION "\r\n"));
}

void ddb_head_free(struct ddb_head *head)
{
    buffer_free(&head->fixed);
    buffer_free(&head->target);
    ddb_signer_free(head->signer);
}

static void add_signature(struct ddb_head *head, const struct ddb_request *request,
                          const struct ddb_key *key, struct buffer *out)
{
    struct ddb_header headers[5];
    size_t count = 0;
    headers[count++] = (struct ddb_header){STR("content-type"), STR("application/x-amz-json-1.0")};
    headers[count++] = (struct ddb_header){STR("host"), head->endpoint->host};
    headers[count++] = (struct ddb_header){STR("x-amz-date"), {head->date, DDB_DATE_SIZE - 1}};
    if (key->token.len > 0) {
        headers[count++] = (struct ddb_header){STR("x-amz-security-token"), key->token};
    }
    headers[count++] = (struct ddb_header){STR("x-amz-target"), buffer_str(&head->target)};
    struct ddb_sign_scope scope = {key->key_id, head->region, STR("dynamodb"), head->date};
    struct ddb_signed message = {STR("POST"), head->endpoint->path, headers, count, request->body};
    ddb_sign(head->signer, &key->signing, &scope, &message, out);
}

static void add_line(struct buffer *out, struct str name, struct str value)
{
    buffer_add(out, name);
    buffer_add(out, value);
    buffer_add(out, STR("\r\n"));
}

void ddb_head_write(struct ddb_head *head, const struct ddb_request *request,
                    const struct ddb_key *key, int64_t now_s, struct buffer *out)
{
    head->target.len = 0;
    buffer_add(&head->target, STR("DynamoDB_20120810."));
    buffer_add(&head->target, (struct str){request->operation, strlen(request->operation)});
    if (head->date_s != now_s) {
        ddb_date_format(now_s, head->date);
        head->date_s = now_s;
    }
    (void)buffer_reserve(out, head->fixed.len + key->token.len + LINES_BYTES);
    buffer_add(out, buffer_str(&head->fixed));
    add_line(out, STR("X-Amz-Target: "), buffer_str(&head->target));
    add_line(out, STR("X-Amz-Date: "), (struct str){head->date, DDB_DATE_SIZE - 1});
    if (key->token.len > 0) {
        add_line(out, STR("X-Amz-Security-Token: "), key->token);
    }
    buffer_add(out, STR("Authorization: "));
    add_signature(head, request, key, out);
    buffer_add(out, STR("\r\nContent-Length: "));
    buffer_add_number(out, request->body.len);
    buffer_add(out, STR("\r\n\r\n"));
}

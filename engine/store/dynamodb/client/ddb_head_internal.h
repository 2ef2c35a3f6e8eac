/* ddb_head — the header of a signed POST, as it is sent. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_HEAD_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_HEAD_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_account_internal.h"

#include <stdint.h>

/* What is the same in many headers. */
struct ddb_head {
    struct str region;
    const struct ddb_endpoint *endpoint; /* borrowed */
    struct buffer fixed;                 /* the lines that are the same in all */
    struct buffer target;                /* of the last request */
    int64_t date_s;                      /* what `date` tells; 0: nothing yet */
    char date[DDB_DATE_SIZE];
    struct ddb_signer *signer;
};

void ddb_head_init(struct ddb_head *head, const struct ddb_account *account);
void ddb_head_free(struct ddb_head *head);

/* Appends the header of a request, signed for `now_s`, up to where its body follows. */
void ddb_head_write(struct ddb_head *head, const struct ddb_request *request,
                    const struct ddb_key *key, int64_t now_s, struct buffer *out);

#endif

#include "migrate/run/probe_claims.h"

#include "engine/base/hash.h"

#include <string.h>

/* The value of a pair: this head, then target, source and what keep_newer compares, encoded. Its
 * bytes are in files that a later process reads: docs/format.md. */
struct claim_head {
    uint64_t digest;
    uint32_t step;
    uint32_t flags;
    uint32_t order_len; /* of the pair's key: the rest keeps wishes apart */
    uint32_t target_len;
    uint32_t source_len;
    uint32_t unused;
};
_Static_assert(sizeof(struct claim_head) == 32, "a claim's head has no holes");

enum { CLAIM_PUTS = 1, CLAIM_UNSTEADY = 2 };

uint64_t claim_digest(struct value item)
{
    return hash_64((struct str){(const char *)item.bytes, item.len});
}

void claim_pair_free(struct claim_pair *pair)
{
    buffer_free(&pair->key);
    buffer_free(&pair->value);
}

static void write_key(const struct store *store, const struct wish *wish, bool apart,
                      struct claim_pair *out, struct claim_head *head)
{
    out->key.len = 0;
    store_order_key(store, wish->target, &out->key);
    head->order_len = (uint32_t)out->key.len;
    if (apart) {
        key_encode(wish->source, &out->key);
        buffer_add(&out->key, (struct str){(const char *)&head->step, sizeof head->step});
    }
}

void claim_write(const struct store *store, const struct pass_step *rule, const struct wish *wish,
                 bool apart, struct claim_pair *out)
{
    struct claim_head head = {.digest = claim_digest(wish->item), .step = (uint32_t)wish->step};
    head.flags = (wish->puts ? CLAIM_PUTS : 0) | (wish->unsteady ? CLAIM_UNSTEADY : 0);
    write_key(store, wish, apart, out, &head);
    struct buffer *value = &out->value;
    value->len = 0;
    (void)buffer_reserve(value, sizeof head);
    value->len = sizeof head;
    key_encode(wish->target, value);
    head.target_len = (uint32_t)(value->len - sizeof head);
    key_encode(wish->source, value);
    head.source_len = (uint32_t)(value->len - sizeof head) - head.target_len;
    struct value newer = probe_newer(rule, wish->item);
    buffer_add(value, (struct str){(const char *)newer.bytes, newer.len});
    memcpy(value->bytes, &head, sizeof head);
}

bool claim_read(const struct key_schema *keys, struct str key, struct str value,
                struct claim_at *out, struct error *err)
{
    struct claim_head head = {.step = 0};
    size_t parts = keys->partition_count + keys->sort_count;
    if (value.len >= sizeof head) {
        memcpy(&head, value.ptr, sizeof head);
    }
    size_t body_len = value.len < sizeof head ? 0 : value.len - sizeof head;
    if (value.len < sizeof head || head.order_len > key.len || head.target_len > body_len ||
        head.source_len > body_len - head.target_len) {
        return error_set(err, ERROR_DAMAGED, "a sorted run is cut short");
    }
    const char *body = value.ptr + sizeof head;
    const char *source = body + head.target_len;
    const char *newer = source + head.source_len;
    size_t newer_len = body_len - head.target_len - head.source_len;
    out->order = (struct str){key.ptr, head.order_len};
    out->claim = (struct probe_claim){.step = head.step,
                                      .puts = (head.flags & CLAIM_PUTS) != 0,
                                      .unsteady = (head.flags & CLAIM_UNSTEADY) != 0,
                                      .digest = head.digest};
    if (newer_len > 0) {
        out->claim.newer = (struct value){(const unsigned char *)newer, newer_len};
    }
    return key_decode((struct str){body, head.target_len}, parts, &out->target, err) &&
           key_decode((struct str){source, head.source_len}, parts, &out->claim.source, err);
}

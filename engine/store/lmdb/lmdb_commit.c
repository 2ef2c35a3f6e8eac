#include "engine/base/buffer.h"
#include "engine/item/item.h"
#include "engine/store/lmdb/lmdb_items_internal.h"
#include "engine/undo/undo.h"

/* --- what a write is found to mean, before anything is changed --- */

enum finding { FINDING_APPLY, FINDING_SAME, FINDING_STALE, FINDING_CONFLICT };

/* The source of an update, delete or move; the target of a put or move. */
struct found {
    struct standing source;
    struct standing target;
    enum finding finding;
};

static bool stands(const struct standing *standing)
{
    return !value_is_missing(standing->item.item);
}

static enum finding judge_source(const struct write *write, const struct standing *source)
{
    if (stands(source)) {
        return source->item.stamp == write->stamp ? FINDING_APPLY : FINDING_STALE;
    }
    return write->kind == WRITE_DELETE ? FINDING_SAME : FINDING_STALE;
}

static enum finding judge_target(const struct write *write, const struct standing *target)
{
    if (!stands(target)) {
        return FINDING_APPLY;
    }
    if (value_equal(target->item.item, write->item)) {
        return FINDING_SAME;
    }
    return write->overwrite ? FINDING_APPLY : FINDING_CONFLICT;
}

static enum finding judge(const struct write *write, const struct found *found)
{
    switch (write->kind) {
    case WRITE_PUT:
        return judge_target(write, &found->target);
    case WRITE_UPDATE:
        return value_equal(found->source.item.item, write->item)
                   ? FINDING_SAME
                   : judge_source(write, &found->source);
    case WRITE_DELETE:
        return judge_source(write, &found->source);
    default:
        break;
    }
    /* A move whose source is gone and whose target stands has been done before. */
    enum finding source = judge_source(write, &found->source);
    enum finding target = judge_target(write, &found->target);
    if (!stands(&found->source)) {
        return target == FINDING_SAME ? FINDING_SAME : FINDING_STALE;
    }
    return source == FINDING_APPLY && target == FINDING_CONFLICT ? FINDING_CONFLICT : source;
}

/* The target first: the cursor is then on the source. `found->target.key` is the item's own. */
static int find(struct lmdb_store *store, const struct write *write, struct found *found)
{
    int rc = 0;
    if (write->kind == WRITE_PUT || write->kind == WRITE_MOVE) {
        struct key key = found->target.key;
        rc = items_find(store, &key, 0, &found->target);
    }
    if (write->kind != WRITE_PUT && rc == 0) {
        rc = items_find(store, &write->key, write->stamp, &found->source);
    }
    found->finding = rc == 0 ? judge(write, found) : FINDING_STALE;
    return rc;
}

/* --- what DynamoDB refuses --- */

/* An index may have been made over items that it must leave out: what an update leaves as it was
 * is not refused. */
static bool check_index_keys(const struct lmdb_schema *schema, struct value before,
                             struct value after, struct error *err)
{
    bool stood = !value_is_missing(before);
    for (size_t i = 0; i < schema->index_count; i++) {
        const struct index_desc *index = &schema->indexes[i].desc;
        struct key key;
        bool present = false;
        if (!key_of_index(&index->keys, after, &key, &present, err) &&
            !(stood && key_attributes_equal(&index->keys, before, after))) {
            return error_wrap(err, "index %.*s", STR_ARG(index->name));
        }
    }
    return true;
}

static bool check_item(const struct lmdb_store *store, const struct batch *batch,
                       const struct write *write, const struct found *found, struct error *err)
{
    return item_check_limits(write->item, err) &&
           (batch->restores ||
            check_index_keys(&store->schema, found->source.item.item, write->item, err));
}

/* --- applying --- */

/* What an overwrite takes away is in the undo log before the write that does it. */
static int save_target(struct lmdb_store *store, uint64_t log, const struct standing *target)
{
    if (log == 0 || !stands(target)) {
        return 0;
    }
    struct buffer record = {0};
    undo_append(&store->schema.keys, target->item.item, (struct value){NULL, 0}, &record);
    int rc = undo_add(store, log, buffer_str(&record));
    buffer_free(&record);
    return rc;
}

static int apply(struct lmdb_store *store, const struct batch *batch, const struct write *write,
                 struct found *found)
{
    int rc = save_target(store, batch->undo_log, &found->target);
    if (rc == 0 && (write->kind == WRITE_DELETE || write->kind == WRITE_MOVE)) {
        rc = items_delete(store, &found->source);
    }
    if (rc == 0 && write->kind == WRITE_MOVE) {
        struct key key = found->target.key;
        rc = items_find(store, &key, 0, &found->target);
    }
    if (rc == 0 && write->kind != WRITE_DELETE) {
        const struct standing *place =
            write->kind == WRITE_UPDATE ? &found->source : &found->target;
        rc = items_put(store, place, batch->pass, write->item);
    }
    return rc == 0 ? undo_add(store, batch->undo_log, write->undo) : rc;
}

static void refuse(struct batch *batch, struct effect *effect, enum outcome outcome,
                   const char *why)
{
    effect->outcome = outcome;
    effect->refusal = arena_format(batch->arena, "%s", why).ptr;
}

/* False where the effect must not apply: its outcome says so. */
static bool check_write(struct lmdb_store *store, struct batch *batch, struct effect *effect,
                        const struct write *write, struct found *found)
{
    struct error err;
    if (found->finding == FINDING_STALE) {
        effect->outcome = OUTCOME_STALE;
        return false;
    }
    if (found->finding == FINDING_CONFLICT) {
        struct str key = key_print(&store->schema.keys, &found->target.key, batch->arena);
        effect->outcome = OUTCOME_CONFLICT;
        effect->refusal =
            arena_format(batch->arena, "another item stands under %.*s", STR_ARG(key)).ptr;
        return false;
    }
    if (found->finding == FINDING_APPLY && write->kind != WRITE_DELETE &&
        !check_item(store, batch, write, found, &err)) {
        refuse(batch, effect, OUTCOME_REJECTED, err.text);
        return false;
    }
    return true;
}

/* The key under which a put or a move places its item; false where it has none. */
static bool target_key(const struct lmdb_store *store, struct batch *batch, struct effect *effect,
                       const struct write *write, struct found *found)
{
    struct error err;
    if ((write->kind == WRITE_PUT || write->kind == WRITE_MOVE) &&
        !key_of_item(&store->schema.keys, write->item, &found->target.key, &err)) {
        refuse(batch, effect, OUTCOME_REJECTED, err.text);
        return false;
    }
    return true;
}

static int apply_one(struct lmdb_store *store, struct batch *batch, struct effect *effect)
{
    const struct write *write = &effect->writes[0];
    struct found found = {0};
    if (!target_key(store, batch, effect, write, &found)) {
        return 0;
    }
    int rc = find(store, write, &found);
    if (rc != 0 || !check_write(store, batch, effect, write, &found)) {
        return rc;
    }
    effect->outcome = found.finding == FINDING_SAME ? OUTCOME_UNCHANGED : OUTCOME_APPLIED;
    return found.finding == FINDING_SAME ? 0 : apply(store, batch, write, &found);
}

/* Two writes of one effect that want different items under one key. */
static bool is_taken_within(const struct lmdb_store *store, const struct effect *effect,
                            size_t place, const struct key *key)
{
    for (size_t i = 0; i < place; i++) {
        const struct write *other = &effect->writes[i];
        struct error ignored;
        struct key other_key;
        if (other->kind != WRITE_DELETE &&
            key_of_item(&store->schema.keys, other->item, &other_key, &ignored) &&
            key_equal(&other_key, key) && !value_equal(other->item, effect->writes[place].item)) {
            return true;
        }
    }
    return false;
}

/* Whether all writes may apply; where not, the outcome says so. */
static int check_several(struct lmdb_store *store, struct batch *batch, struct effect *effect,
                         bool *may)
{
    *may = false;
    for (size_t i = 0; i < effect->count; i++) {
        const struct write *write = &effect->writes[i];
        struct found found = {0};
        if (!target_key(store, batch, effect, write, &found)) {
            return 0;
        }
        int rc = find(store, write, &found);
        if (!write->overwrite && is_taken_within(store, effect, i, &found.target.key)) {
            found.finding = FINDING_CONFLICT;
        }
        if (rc != 0 || !check_write(store, batch, effect, write, &found)) {
            return rc;
        }
    }
    *may = true;
    return 0;
}

static int apply_several(struct lmdb_store *store, struct batch *batch, struct effect *effect)
{
    bool may = false;
    int rc = check_several(store, batch, effect, &may);
    for (size_t i = 0; i < effect->count && rc == 0 && may; i++) {
        const struct write *write = &effect->writes[i];
        struct found found = {0};
        (void)target_key(store, batch, effect, write, &found);
        rc = find(store, write, &found);
        if (rc == 0 && found.finding == FINDING_APPLY) {
            effect->outcome = OUTCOME_APPLIED;
            rc = apply(store, batch, write, &found);
        }
    }
    return rc;
}

/* What became of the effects of a batch. */
struct outcomes {
    bool all; /* applied */
    bool stale;
};

static int apply_effects(struct lmdb_store *store, struct batch *batch, struct outcomes *out)
{
    int rc = 0;
    *out = (struct outcomes){.all = true};
    for (size_t i = 0; i < batch->count && rc == 0; i++) {
        struct effect *effect = &batch->effects[i];
        effect->outcome = OUTCOME_UNCHANGED;
        effect->refusal = NULL;
        if (effect->count == 1) {
            rc = apply_one(store, batch, effect);
        } else {
            rc = apply_several(store, batch, effect);
        }
        out->all = out->all && effect->outcome == OUTCOME_APPLIED;
        out->stale = out->stale || effect->outcome == OUTCOME_STALE;
    }
    return rc;
}

/* The controls count on all effects. */
static int apply_batch(struct lmdb_store *store, struct batch *batch, struct outcomes *out)
{
    int rc = apply_effects(store, batch, out);
    return rc == 0 && out->all ? control_apply(store, batch) : rc;
}

bool lmdb_commit(struct store *base, struct batch *batch, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct outcomes outcomes;
    if (!writer_begin(store, err) || !control_check(store, batch, err)) {
        return false;
    }
    int rc = apply_batch(store, batch, &outcomes);
    if (rc != 0) {
        return writer_fail(store, rc, "writing", err);
    }
    if (batch->count > 0 && !index_fall_behind(store, batch->pass, err)) {
        return false;
    }
    /* Who is told that an item is stale must be able to read what it has become. Else what has
     * applied waits for the commit that has the controls. */
    bool ends = outcomes.stale || (outcomes.all && writer_is_full(store));
    return !ends || writer_commit(store, err);
}

bool lmdb_flush(struct store *base, struct error *err)
{
    return writer_commit(lmdb_of(base), err);
}

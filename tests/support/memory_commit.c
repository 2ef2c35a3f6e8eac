#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/item/item.h"
#include "engine/undo/undo.h"
#include "tests/support/memory_store_internal.h"

#include <assert.h>
#include <string.h>

static enum outcome put(struct memory_store *store, const struct write *write, uint64_t pass)
{
    struct key key = memory_key(store, write->item);
    const struct record *standing = memory_find(store, &key);
    if (standing != NULL && value_equal(standing->stored.item, write->item)) {
        return OUTCOME_UNCHANGED;
    }
    if (standing != NULL && !write->overwrite) {
        return OUTCOME_CONFLICT;
    }
    memory_set(store, write->item, pass);
    return OUTCOME_APPLIED;
}

static enum outcome apply_write(struct memory_store *store, const struct write *write,
                                uint64_t pass)
{
    if (write->kind == WRITE_PUT) {
        return put(store, write, pass);
    }
    struct record *source = memory_find(store, &write->key);
    if (source == NULL || source->stored.stamp != write->stamp) {
        return OUTCOME_STALE;
    }
    if (write->kind == WRITE_UPDATE) {
        memory_set(store, write->item, pass);
        return OUTCOME_APPLIED;
    }
    memory_remove(store, source);
    enum outcome outcome = write->kind == WRITE_MOVE ? put(store, write, pass) : OUTCOME_APPLIED;
    return outcome == OUTCOME_UNCHANGED ? OUTCOME_APPLIED : outcome;
}

static bool is_refused(const struct memory_store *store, const struct write *write,
                       struct error *err)
{
    struct key key;
    return write->kind != WRITE_DELETE && (!key_of_item(&store->keys, write->item, &key, err) ||
                                           !item_check_limits(write->item, err));
}

static enum outcome apply_writes(struct memory_store *store, struct effect *effect, uint64_t pass,
                                 struct arena *arena)
{
    enum outcome outcome = OUTCOME_UNCHANGED;
    for (size_t i = 0; i < effect->count; i++) {
        struct error err = {0};
        if (is_refused(store, &effect->writes[i], &err)) {
            effect->refusal = arena_format(arena, "%s", err.text).ptr;
            return OUTCOME_REJECTED;
        }
        enum outcome one = apply_write(store, &effect->writes[i], pass);
        if (one != OUTCOME_APPLIED && one != OUTCOME_UNCHANGED) {
            effect->refusal = one == OUTCOME_CONFLICT ? "another item stands there" : NULL;
            return one;
        }
        outcome = one == OUTCOME_APPLIED ? OUTCOME_APPLIED : outcome;
    }
    return outcome;
}

/* As a whole: what stood before comes back where one of several writes fails. */
static void apply_effect(struct memory_store *store, struct effect *effect, uint64_t pass,
                         struct arena *arena)
{
    size_t count = store->count;
    bool may_break = effect->count > 1 || effect->writes[0].kind == WRITE_MOVE;
    struct record *before = heap_alloc(may_break ? count * sizeof *before : 0);
    memcpy(before, store->records, may_break ? count * sizeof *before : 0);
    effect->outcome = apply_writes(store, effect, pass, arena);
    if (may_break && effect->outcome != OUTCOME_APPLIED) {
        memcpy(store->records, before, count * sizeof *before);
        store->count = count;
    }
    heap_free(before);
}

static bool control_stands(const struct memory_store *store, const struct control *control)
{
    const struct control *standing = memory_control(store, control->name);
    if (standing == NULL || control->expected.ptr == NULL) {
        return standing == NULL && control->expected.ptr == NULL;
    }
    return str_equal(standing->value, control->expected);
}

static void set_control(struct memory_store *store, const struct control *control)
{
    size_t place = memory_control_place(store, control->name);
    struct control *here = &store->controls[place];
    size_t behind = store->control_count - place;
    bool found = behind > 0 && str_equal(here->name, control->name);
    if (control->value.ptr == NULL) {
        if (found) {
            memmove(here, here + 1, (behind - 1) * sizeof *here);
            store->control_count--;
        }
        return;
    }
    if (!found) {
        assert(store->control_count < CONTROLS_MAX);
        memmove(here + 1, here, behind * sizeof *here);
        store->control_count++;
    }
    *here = (struct control){.name = arena_copy(store->arena, control->name),
                             .value = arena_copy(store->arena, control->value)};
}

static void add_frame(struct memory_store *store, const struct batch *batch)
{
    struct buffer records = {0}, frame = {0};
    for (size_t i = 0; i < batch->count; i++) {
        const struct effect *effect = &batch->effects[i];
        for (size_t j = 0; effect->outcome == OUTCOME_APPLIED && j < effect->count; j++) {
            buffer_add(&records, effect->writes[j].undo);
        }
    }
    if (batch->undo_log != 0 && records.len > 0) {
        assert(store->frame_count < FRAMES_MAX);
        undo_pack(buffer_str(&records), &frame);
        store->frames[store->frame_count++] =
            (struct frame){batch->undo_log, arena_copy(store->arena, buffer_str(&frame))};
    }
    buffer_free(&records);
    buffer_free(&frame);
}

static bool controls_stand(const struct memory_store *store, const struct batch *batch)
{
    for (size_t i = 0; i < batch->control_count; i++) {
        const struct control *control = &batch->controls[i];
        if (control->conditional && !control_stands(store, control)) {
            return false;
        }
    }
    return true;
}

static void apply_batch(struct memory_store *store, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        apply_effect(store, &batch->effects[i], batch->pass, batch->arena);
    }
    for (size_t i = 0; i < batch->control_count; i++) {
        set_control(store, &batch->controls[i]);
    }
    add_frame(store, batch);
}

bool memory_commit(struct store *base, struct batch *batch, struct error *err)
{
    struct memory_store *store = memory_of(base);
    if (store->hooks.before_commit != NULL &&
        !store->hooks.before_commit(store->hooks.context, base, batch, err)) {
        return false;
    }
    (void)pthread_mutex_lock(&store->lock);
    bool ok =
        controls_stand(store, batch) || error_set(err, ERROR_BUSY, "a control record was changed");
    if (ok) {
        apply_batch(store, batch);
    }
    (void)pthread_mutex_unlock(&store->lock);
    return ok;
}

#include "migrate/run/rollback_undo.h"

#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "engine/undo/undo.h"
#include "migrate/ledger/ledger_counts.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    CHUNK_RECORDS = 8192,  /* put back in one commit */
    TOUCHED_SLOTS = 65536, /* a power of two, at least twice the keys of a chunk */
    FRAME_MAX_BYTES = 1 << 30
};
_Static_assert(TOUCHED_SLOTS >= 4 * CHUNK_RECORDS, "the table must not fill up");

/* The records of one frame, oldest first. */
struct frame {
    struct arena *arena;
    uint64_t sequence;
    struct undo_record *records;
    size_t count;
};

/* A key that the chunk's own effects write. */
struct touched {
    uint64_t digest; /* 0: a free slot */
    bool stands;     /* an item stands there afterwards */
};

/* What one commit takes back: a part of a frame. */
struct chunk {
    const struct undo_record *records; /* in the order of the log */
    size_t record_count;
    struct stored_item *standing; /* under both keys of the records, newest first */
    struct arena *arena;
    struct effect *effects; /* room for CHUNK_RECORDS */
    size_t count;
    struct touched *touched; /* TOUCHED_SLOTS, open addressing */
    uint64_t left;
};

/* ---------------------------------------------------------------- frames */

static bool read_records(const struct rollback_undo *undo, struct str rest, struct frame *frame,
                         struct error *err)
{
    struct buffer records = {0};
    bool ok = true;
    while (ok && rest.len > 0) {
        struct undo_record record;
        ok = undo_read(undo->keys, rest, frame->arena, &record, err);
        if (ok) {
            buffer_add(&records, (struct str){(const char *)&record, sizeof record});
            rest = (struct str){rest.ptr + record.len, rest.len - record.len};
        }
    }
    frame->count = records.len / sizeof *frame->records;
    frame->records = arena_alloc(frame->arena, records.len + sizeof *frame->records);
    if (records.len > 0) {
        memcpy(frame->records, records.bytes, records.len);
    }
    buffer_free(&records);
    return ok;
}

/* The newest frame that is not taken back; *more is false where there is none. */
static bool next_frame(const struct rollback_undo *undo, struct frame *frame, bool *more,
                       struct error *err)
{
    struct undo_frame packed;
    struct str records;
    arena_reset(frame->arena);
    struct undo_place place = {undo->record->version, undo->record->undo_before};
    if (!store_undo_last(undo->reader, place, frame->arena, &packed, err)) {
        return false;
    }
    frame->sequence = packed.sequence;
    *more = packed.bytes.ptr != NULL;
    if (!*more) {
        return true;
    }
    if (!undo_unpack(packed.bytes, FRAME_MAX_BYTES, frame->arena, &records, err) ||
        !read_records(undo, records, frame, err)) {
        return error_wrap(err, "undo frame %" PRIu64, frame->sequence);
    }
    if (undo->record->undo_skip > frame->count) {
        return error_set(err, ERROR_DAMAGED, "undo frame %" PRIu64 ": shorter than it was",
                         frame->sequence);
    }
    return true;
}

/* ---------------------------------------------------------------- keys touched by a chunk */

static struct touched *find_touched(const struct chunk *chunk, const struct key *key,
                                    uint64_t *digest)
{
    struct buffer bytes = {0};
    key_encode(key, &bytes);
    *digest = hash_64(buffer_str(&bytes)) | 1;
    buffer_free(&bytes);
    size_t slot = (size_t)(*digest >> 1) & (TOUCHED_SLOTS - 1);
    while (chunk->touched[slot].digest != 0 && chunk->touched[slot].digest != *digest) {
        slot = (slot + 1) & (TOUCHED_SLOTS - 1);
    }
    return &chunk->touched[slot];
}

static void touch(struct chunk *chunk, const struct key *key, bool stands)
{
    uint64_t digest = 0;
    struct touched *slot = find_touched(chunk, key, &digest);
    *slot = (struct touched){digest, stands};
}

/* Corrects what the store said by what the chunk is about to do. False where an item of the chunk's
 * own stands there: its version is not known before the commit. */
static bool see_touched(const struct chunk *chunk, const struct key *key, struct stored_item *item)
{
    uint64_t digest = 0;
    const struct touched *slot = find_touched(chunk, key, &digest);
    if (slot->digest == 0) {
        return true;
    }
    *item = (struct stored_item){.stamp = 0};
    return !slot->stands;
}

/* ---------------------------------------------------------------- one record */

static const struct key *newest_key(const struct undo_record *record)
{
    return record->kind == UNDO_MOVE ? &record->new_key : &record->key;
}

/* Attributes go back by themselves, whatever somebody writes to the others meanwhile. */
static const struct str no_names[1];

static struct write write_of(const struct undo_record *record, const struct undo_decision *decision,
                             const struct stored_item *current)
{
    struct write write = {.key = *newest_key(record),
                          .stamp = current->stamp,
                          .before = current->item,
                          .item = decision->item};
    if (decision->action == UNDO_DELETE_ITEM) {
        write.kind = WRITE_DELETE;
    } else if (decision->action == UNDO_MOVE_BACK) {
        write.kind = WRITE_MOVE;
    } else {
        write.kind = record->kind == UNDO_DELETE ? WRITE_PUT : WRITE_UPDATE;
        write.basis.names = record->kind == UNDO_UPDATE ? no_names : NULL;
    }
    return write;
}

static void note_left(const struct rollback_undo *undo, const struct key *key, struct str reason)
{
    struct fault_list *left = &undo->record->faults;
    if (left->count < LEDGER_FAULTS_MAX) {
        struct str shown = key_print(undo->keys, key, undo->arena);
        fault_list_add(left, (struct item_fault){STR("rollback"), shown, reason}, undo->arena);
    }
}

/* What an effect was decided from, to decide anew. */
struct origin {
    const struct undo_record *record;
    size_t left; /* counted as left alone already */
};

static void add_effect(struct chunk *chunk, const struct undo_record *record,
                       const struct undo_decision *decision, const struct stored_item *current)
{
    struct write *write = arena_alloc(chunk->arena, sizeof *write);
    struct origin *origin = arena_alloc(chunk->arena, sizeof *origin);
    *write = write_of(record, decision, current);
    *origin = (struct origin){record, decision->left};
    struct effect effect = {.writes = write, .count = 1, .tag = origin};
    chunk->effects[chunk->count++] = effect;
    touch(chunk, &write->key, decision->action == UNDO_PUT_ITEM);
    if (decision->action == UNDO_MOVE_BACK) {
        touch(chunk, &record->key, true);
    }
}

/* `stored` holds what stands under the record's newest key, then under its old one. False where the
 * record has to wait for the next chunk. */
static bool take_back(const struct rollback_undo *undo, struct chunk *chunk,
                      const struct undo_record *record, struct stored_item *stored)
{
    if (!see_touched(chunk, newest_key(record), &stored[0]) ||
        !see_touched(chunk, &record->key, &stored[1])) {
        return false;
    }
    struct undo_decision decision;
    undo_decide(record, stored[0].item, stored[1].item, chunk->arena, &decision);
    if (decision.left > 0) {
        chunk->left += decision.left;
        note_left(undo, newest_key(record), decision.reason);
    }
    if (decision.action != UNDO_NOTHING) {
        add_effect(chunk, record, &decision, &stored[0]);
    }
    return true;
}

/* ---------------------------------------------------------------- a chunk */

static bool read_standing(const struct rollback_undo *undo, struct chunk *chunk, struct error *err)
{
    size_t count = chunk->record_count;
    struct key *keys = arena_alloc(chunk->arena, 2 * count * sizeof *keys);
    chunk->standing = arena_alloc(chunk->arena, 2 * count * sizeof *chunk->standing);
    for (size_t i = 0; i < count; i++) {
        const struct undo_record *record = &chunk->records[count - 1 - i];
        keys[2 * i] = *newest_key(record);
        keys[2 * i + 1] = record->key;
    }
    return store_get(undo->reader, (struct key_list){keys, 2 * count}, chunk->arena,
                     chunk->standing, err);
}

/* Of an effect that did not apply. */
static void leave(const struct rollback_undo *undo, const struct effect *effect)
{
    const char *reason = effect->refusal == NULL ? "the item was changed since" : effect->refusal;
    undo->record->left++;
    undo->record->undone--;
    note_left(undo, &effect->writes[0].key, (struct str){reason, strlen(reason)});
}

/* Decides anew about a record whose item changed between being read and being written. */
static bool decide_again(const struct rollback_undo *undo, struct chunk *chunk,
                         struct effect *effect, bool *more, struct error *err)
{
    struct origin *origin = effect->tag;
    const struct undo_record *record = origin->record;
    struct key keys[2] = {*newest_key(record), record->key};
    struct stored_item stored[2];
    struct undo_decision decision;
    if (!store_get(undo->reader, (struct key_list){keys, 2}, chunk->arena, stored, err)) {
        return false;
    }
    undo_decide(record, stored[0].item, stored[1].item, chunk->arena, &decision);
    if (decision.left > origin->left) {
        undo->record->left += decision.left - origin->left;
        origin->left = decision.left;
        note_left(undo, newest_key(record), decision.reason);
    }
    *more = decision.action != UNDO_NOTHING;
    if (*more) {
        effect->writes[0] = write_of(record, &decision, &stored[0]);
    } else {
        undo->record->undone--;
    }
    return true;
}

/* Until it applies, or is not to be taken back any more. */
static bool meet_again(const struct rollback_undo *undo, struct chunk *chunk, struct effect *effect,
                       struct error *err)
{
    enum { TRIES_MAX = 16 };
    bool more = true;
    for (unsigned tries = 0; more && effect->outcome == OUTCOME_STALE && tries < TRIES_MAX;
         tries++) {
        if (!decide_again(undo, chunk, effect, &more, err)) {
            return false;
        }
        struct batch batch = {
            .effects = effect, .count = more ? 1 : 0, .restores = true, .arena = chunk->arena};
        if (!store_commit(undo->store, &batch, err)) {
            return false;
        }
    }
    if (more && effect->outcome != OUTCOME_APPLIED && effect->outcome != OUTCOME_UNCHANGED) {
        leave(undo, effect);
    }
    return true;
}

/* The first effects of the chunk, with the record that counts on them. */
static bool commit(const struct rollback_undo *undo, struct chunk *chunk, size_t count,
                   struct error *err)
{
    struct control control = ledger_control(undo->record, chunk->arena);
    struct batch batch = {.effects = chunk->effects,
                          .count = count,
                          .controls = &control,
                          .control_count = 1,
                          .restores = true,
                          .arena = chunk->arena};
    return store_commit(undo->store, &batch, err);
}

static bool commit_chunk(const struct rollback_undo *undo, struct chunk *chunk, struct error *err)
{
    bool all = true;
    bool ok = commit(undo, chunk, chunk->count, err);
    for (size_t i = 0; ok && i < chunk->count; i++) {
        struct effect *effect = &chunk->effects[i];
        if (effect->outcome != OUTCOME_APPLIED) {
            all = false;
            ok = meet_again(undo, chunk, effect, err);
        }
    }
    return ok && (all || commit(undo, chunk, 0, err)) && store_flush(undo->store, err);
}

/* Takes back records of the frame from where the ledger record says; moves that on. */
static bool run_chunk(const struct rollback_undo *undo, const struct frame *frame,
                      struct arena *arena, struct error *err)
{
    struct ledger_record *record = undo->record;
    size_t end = frame->count - (size_t)record->undo_skip;
    size_t count = end < CHUNK_RECORDS ? end : CHUNK_RECORDS;
    struct chunk chunk = {.records = frame->records + end - count,
                          .record_count = count,
                          .arena = arena,
                          .effects = arena_alloc(arena, CHUNK_RECORDS * sizeof *chunk.effects),
                          .touched = arena_zero(arena, TOUCHED_SLOTS * sizeof *chunk.touched)};
    if (!read_standing(undo, &chunk, err)) {
        return false;
    }
    size_t taken = 0;
    while (taken < count &&
           take_back(undo, &chunk, &chunk.records[count - 1 - taken], &chunk.standing[2 * taken])) {
        taken++;
    }
    assert(taken > 0 || count == 0); /* the first record meets an empty chunk */
    record->undo_skip += taken;
    record->undone += chunk.count;
    record->left += chunk.left;
    if (record->undo_skip == frame->count) {
        record->undo_before = frame->sequence;
        record->undo_skip = 0;
    }
    return commit_chunk(undo, &chunk, err);
}

static bool is_stopped(const struct rollback_undo *undo)
{
    return undo->pause.stop != NULL && atomic_load(undo->pause.stop);
}

static bool run_frame(const struct rollback_undo *undo, const struct frame *frame,
                      struct error *err)
{
    struct arena *arena = arena_new();
    bool ok = true;
    do {
        ok = run_chunk(undo, frame, arena, err);
        arena_reset(arena);
        if (undo->progress != NULL) {
            progress_set(undo->progress, undo->record->undone + undo->record->left);
        }
        while (pause_rest(&undo->pause)) {
        }
    } while (ok && undo->record->undo_before > frame->sequence && !is_stopped(undo));
    arena_free(arena);
    return ok;
}

bool rollback_undo_begin(struct store_reader *reader, struct ledger_record *record,
                         struct error *err)
{
    struct arena *arena = arena_new();
    struct undo_frame frame;
    struct undo_place last = {record->version, UINT64_MAX};
    bool ok = store_undo_last(reader, last, arena, &frame, err);
    if (ok) {
        record->undo_before = frame.bytes.ptr == NULL ? 0 : frame.sequence + 1;
        record->undo_skip = 0;
    }
    arena_free(arena);
    return ok;
}

bool rollback_undo_run(const struct rollback_undo *undo, struct error *err)
{
    struct frame frame = {.arena = arena_new()};
    bool more = true;
    bool ok = next_frame(undo, &frame, &more, err);
    while (ok && more && !is_stopped(undo)) {
        ok = run_frame(undo, &frame, err) && next_frame(undo, &frame, &more, err);
    }
    arena_free(frame.arena);
    if (ok && more) {
        return error_set(err, ERROR_STOPPED, "stopped");
    }
    return ok;
}

#include "engine/store/lmdb/lmdb_label_internal.h"

#include "engine/base/buffer.h"

#include <assert.h>
#include <string.h>

/* Labels lie strictly between these. */
#define LABEL_LOW  UINT64_C(0)
#define LABEL_HIGH UINT64_MAX

/* A stretch is spread out anew once its gaps come out this wide, or it is the whole group. */
#define GAP_COMFORTABLE (UINT64_C(1) << 16)

enum { STRETCH_FIRST = 32 };

static size_t stem_len(const struct entry_key *target)
{
    return target->head_len + SORT_INLINE_MAX;
}

bool label_in_group(const struct entry_key *target, MDB_val key)
{
    size_t stem = stem_len(target);
    return key.mv_size >= stem + LABEL_BYTES && memcmp(key.mv_data, target->bytes, stem) == 0;
}

static uint64_t label_of(const struct entry_key *target, MDB_val key)
{
    return get_u64((const unsigned char *)key.mv_data + stem_len(target));
}

/* To the first record of the group with at least this label, or what follows the group. */
static int seek_label(MDB_cursor *cursor, const struct entry_key *target, uint64_t label,
                      MDB_val *key, MDB_val *record)
{
    unsigned char probe[LMDB_KEY_MAX];
    size_t stem = stem_len(target);
    memcpy(probe, target->bytes, stem);
    put_u64(probe + stem, label);
    MDB_val at = {stem + LABEL_BYTES, probe};
    int rc = mdb_cursor_get(cursor, &at, record, MDB_SET_RANGE);
    if (rc == 0) {
        *key = at;
    }
    return rc;
}

/* What stands before the cursor, or before the end where a seek found nothing. */
static int step_back(MDB_cursor *cursor, int rc, MDB_val *key, MDB_val *record)
{
    return mdb_cursor_get(cursor, key, record, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
}

/* True if the target belongs behind the whole group: so it is when keys come in order. */
static int is_behind_all(MDB_cursor *cursor, const struct tree *tree,
                         const struct entry_key *target, bool *behind)
{
    MDB_val key;
    MDB_val record;
    *behind = false;
    int rc = seek_label(cursor, target, LABEL_HIGH, &key, &record);
    if (rc == 0 || rc == MDB_NOTFOUND) {
        rc = step_back(cursor, rc, &key, &record);
    }
    if (rc == MDB_NOTFOUND || (rc == 0 && !label_in_group(target, key))) {
        *behind = true;
        return 0;
    }
    int order = 0;
    rc = rc == 0 ? entry_compare(tree, target, key, record, &order) : rc;
    *behind = order < 0;
    return rc;
}

/* One probe of the bisection: what is below `middle` stands before the target, or the answer is not
 * above it. */
static int narrow(MDB_cursor *cursor, const struct tree *tree, const struct entry_key *target,
                  uint64_t *low, uint64_t *high)
{
    MDB_val key;
    MDB_val record;
    uint64_t middle = *low + (*high - *low) / 2;
    int order = 1;
    int rc = seek_label(cursor, target, middle, &key, &record);
    if (rc == 0 && label_in_group(target, key)) {
        rc = entry_compare(tree, target, key, record, &order);
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return rc;
    }
    if (order >= 0) {
        *high = middle;
        return 0;
    }
    uint64_t label = label_of(target, key);
    if (label >= *high) {
        return MDB_CORRUPTED; /* labels and keys ascend differently */
    }
    *low = label + 1;
    return 0;
}

int label_seek(MDB_cursor *cursor, const struct tree *tree, const struct entry_key *target,
               MDB_val *key, MDB_val *record)
{
    bool behind = false;
    uint64_t low = LABEL_LOW;
    uint64_t high = LABEL_HIGH;
    int rc = is_behind_all(cursor, tree, target, &behind);
    if (behind) {
        low = high;
    }
    while (rc == 0 && low < high) {
        rc = narrow(cursor, tree, target, &low, &high);
    }
    return rc == 0 ? seek_label(cursor, target, low, key, record) : rc;
}

/* The labels on both sides of where the target belongs; the outer ones where there is none. */
static int neighbours(MDB_cursor *cursor, const struct tree *tree, const struct entry_key *target,
                      uint64_t *before, uint64_t *after)
{
    MDB_val key;
    MDB_val record;
    *before = LABEL_LOW;
    *after = LABEL_HIGH;
    int rc = label_seek(cursor, tree, target, &key, &record);
    if (rc == 0 && label_in_group(target, key)) {
        *after = label_of(target, key);
    }
    if (rc == 0 || rc == MDB_NOTFOUND) {
        rc = step_back(cursor, rc, &key, &record);
    }
    if (rc == 0 && label_in_group(target, key)) {
        *before = label_of(target, key);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* A label between two, at either end a step away; LABEL_LOW where there is no room. */
static uint64_t label_between(uint64_t before, uint64_t after)
{
    if (before == LABEL_LOW && after == LABEL_HIGH) {
        return LABEL_FIRST;
    }
    if (after == LABEL_HIGH && after - before > LABEL_STEP) {
        return before + LABEL_STEP;
    }
    if (before == LABEL_LOW && after > LABEL_STEP) {
        return after - LABEL_STEP;
    }
    return after - before > 1 ? before + (after - before) / 2 : LABEL_LOW;
}

/* A run of neighbours in a group, between the labels `low` and `high` that are not of it. */
struct stretch {
    uint64_t low;
    uint64_t high;
    size_t count;
    struct buffer copies; /* each: key length, record length, key, record */
};

static void stretch_add(struct stretch *stretch, MDB_val key, MDB_val record)
{
    size_t lens[2] = {key.mv_size, record.mv_size};
    buffer_add(&stretch->copies, (struct str){(const char *)lens, sizeof lens});
    buffer_add(&stretch->copies, (struct str){key.mv_data, key.mv_size});
    buffer_add(&stretch->copies, (struct str){record.mv_data, record.mv_size});
    stretch->count++;
}

static size_t stretch_next(const struct stretch *stretch, size_t at, MDB_val *key, MDB_val *record)
{
    size_t lens[2];
    memcpy(lens, stretch->copies.bytes + at, sizeof lens);
    at += sizeof lens;
    *key = (MDB_val){lens[0], stretch->copies.bytes + at};
    *record = (MDB_val){lens[1], stretch->copies.bytes + at + lens[0]};
    return at + lens[0] + lens[1];
}

/* The last label of the group below `label`; LABEL_LOW where there is none. */
static int last_below(MDB_cursor *cursor, const struct entry_key *target, uint64_t label,
                      uint64_t *out)
{
    MDB_val key;
    MDB_val record;
    *out = LABEL_LOW;
    int rc = seek_label(cursor, target, label, &key, &record);
    if (rc == 0 || rc == MDB_NOTFOUND) {
        rc = step_back(cursor, rc, &key, &record);
    }
    if (rc == 0 && label_in_group(target, key)) {
        *out = label_of(target, key);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* From the label `from` on, `count` records of the group. */
static int stretch_read(MDB_cursor *cursor, const struct entry_key *target, uint64_t from,
                        size_t count, struct stretch *out)
{
    MDB_val key;
    MDB_val record;
    out->count = 0;
    out->copies.len = 0;
    out->high = LABEL_HIGH;
    int rc = seek_label(cursor, target, from, &key, &record);
    while (rc == 0 && label_in_group(target, key)) {
        if (out->count == count) {
            out->high = label_of(target, key);
            break;
        }
        stretch_add(out, key, record);
        rc = mdb_cursor_get(cursor, &key, &record, MDB_NEXT);
    }
    return rc == 0 || rc == MDB_NOTFOUND ? last_below(cursor, target, from, &out->low) : rc;
}

/* The label `count` records below `label`, or the group's first. */
static int label_below(MDB_cursor *cursor, const struct entry_key *target, uint64_t label,
                       size_t count, uint64_t *out)
{
    MDB_val key;
    MDB_val record;
    *out = label;
    int rc = seek_label(cursor, target, label, &key, &record);
    for (size_t i = 0; i < count && (rc == 0 || rc == MDB_NOTFOUND); i++) {
        rc = step_back(cursor, rc, &key, &record);
        if (rc != 0 || !label_in_group(target, key)) {
            break;
        }
        *out = label_of(target, key);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int stretch_delete(MDB_cursor *cursor, const struct stretch *stretch)
{
    int rc = 0;
    MDB_val key;
    MDB_val record;
    for (size_t at = 0; rc == 0 && at < stretch->copies.len;) {
        at = stretch_next(stretch, at, &key, &record);
        rc = mdb_cursor_get(cursor, &key, &record, MDB_SET);
        rc = rc == 0 ? mdb_cursor_del(cursor, 0) : rc;
    }
    return rc;
}

static int stretch_spread(MDB_cursor *cursor, const struct entry_key *target,
                          const struct stretch *stretch)
{
    uint64_t gap = (stretch->high - stretch->low) / (stretch->count + 1);
    uint64_t label = stretch->low;
    int rc = 0;
    MDB_val key;
    MDB_val record;
    for (size_t at = 0; rc == 0 && at < stretch->copies.len;) {
        at = stretch_next(stretch, at, &key, &record);
        label += gap;
        put_u64((unsigned char *)key.mv_data + stem_len(target), label);
        rc = mdb_cursor_put(cursor, &key, &record, MDB_NOOVERWRITE);
    }
    return rc;
}

/* Widens a stretch around the label until its gaps are comfortable, then writes it anew. */
static int make_room(MDB_cursor *cursor, const struct entry_key *target, uint64_t label,
                     size_t *moved)
{
    struct stretch stretch = {0};
    bool wide = false;
    int rc = 0;
    for (size_t count = STRETCH_FIRST; rc == 0 && !wide; count *= 2) {
        uint64_t from = label;
        rc = label_below(cursor, target, label, count / 2, &from);
        rc = rc == 0 ? stretch_read(cursor, target, from, count, &stretch) : rc;
        uint64_t gap = (stretch.high - stretch.low) / (stretch.count + 1);
        wide = gap >= GAP_COMFORTABLE || (stretch.low == LABEL_LOW && stretch.high == LABEL_HIGH);
    }
    rc = rc == 0 ? stretch_delete(cursor, &stretch) : rc;
    rc = rc == 0 ? stretch_spread(cursor, target, &stretch) : rc;
    *moved += stretch.copies.len;
    buffer_free(&stretch.copies);
    return rc;
}

int label_insert(MDB_cursor *cursor, const struct tree *tree, const struct entry_key *target,
                 MDB_val *record, size_t *moved)
{
    uint64_t before = 0;
    uint64_t after = 0;
    int rc = neighbours(cursor, tree, target, &before, &after);
    if (rc == 0 && label_between(before, after) == LABEL_LOW) {
        rc = make_room(cursor, target, before, moved);
        rc = rc == 0 ? neighbours(cursor, tree, target, &before, &after) : rc;
    }
    if (rc != 0) {
        return rc;
    }
    unsigned char room[LMDB_KEY_MAX];
    uint64_t label = label_between(before, after);
    assert(label != LABEL_LOW);
    MDB_val key = entry_labelled(target, label, room);
    return mdb_cursor_put(cursor, &key, record, MDB_NOOVERWRITE | MDB_RESERVE);
}

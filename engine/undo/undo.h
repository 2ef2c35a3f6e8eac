/* undo — what each write of a run replaced, and how it is put back. Pure bytes: stores keep them.
 *
 * A record holds the key before and after, each changed attribute's value before and a digest of
 * its value after; whole images only for what was deleted, moved or overwritten. Records of one
 * commit form a frame: lz4, with a checksum. docs/format.md has the bytes. */
#ifndef ENGINE_UNDO_UNDO_H
#define ENGINE_UNDO_UNDO_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/item/key.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum undo_kind {
    UNDO_PUT = 1,    /* an item was put where none stood: rollback deletes it */
    UNDO_UPDATE = 2, /* attributes changed under one key */
    UNDO_DELETE = 3, /* an item was deleted, or overwritten: rollback puts its image back */
    UNDO_MOVE = 4    /* an item changed its key; image of what it was */
};

struct undo_attribute {
    struct str name;
    struct value before;   /* missing: the attribute was not there */
    uint64_t after_digest; /* hash_64 of the encoded value; 0: missing */
};

struct undo_record {
    enum undo_kind kind;
    struct key key;                    /* the item's key before (PUT: the new item's) */
    struct key new_key;                /* MOVE: after */
    struct value image;                /* DELETE, MOVE: the whole item before */
    uint64_t after_digest;             /* PUT, MOVE: hash_64 of the whole item after */
    struct undo_attribute *attributes; /* UPDATE and MOVE: those that differ, sorted by name */
    size_t attribute_count;
    size_t len; /* of the record in bytes, where it was read */
};

/* Appends one record for a write that turns `before` into `after`; either may be missing (PUT,
 * DELETE); kind follows from which is missing and whether the keys differ. */
void undo_append(const struct key_schema *schema, struct value before, struct value after,
                 struct buffer *out);

/* Reads the record at the start of `bytes`, the next begins out->len bytes on. Values point into
 * `bytes`, the arena owns the attributes. ERROR_DAMAGED. */
MUST_CHECK bool undo_read(const struct key_schema *schema, struct str bytes, struct arena *arena,
                          struct undo_record *out, struct error *err);

/* Packs records into a frame, and back. `limit` caps the unpacked size.
 * ERROR_DAMAGED: checksum, structure, or over the limit. */
void undo_pack(struct str records, struct buffer *frame);
MUST_CHECK bool undo_unpack(struct str frame, size_t limit, struct arena *arena,
                            struct str *records, struct error *err);

/* What rollback does about one record. */
enum undo_action { UNDO_NOTHING, UNDO_PUT_ITEM, UNDO_DELETE_ITEM, UNDO_MOVE_BACK };

struct undo_decision {
    enum undo_action action;
    struct value item; /* PUT_ITEM, MOVE_BACK: the item as it is to stand */
    size_t left;       /* attributes, or 1 for a whole item, left alone: changed since */
    struct str reason; /* why something was left: "Name was changed since", else empty */
};

/* Decides how to put one record back, given what stands now.
 *   current      the item under the record's newest key (new_key for MOVE, else key), or missing
 *   occupant     MOVE, DELETE: what stands under the old key now, or missing
 * Attribute by attribute where the digest still matches; a deleted item that somebody has put
 * again, or a put one that was changed, is left. */
void undo_decide(const struct undo_record *record, struct value current, struct value occupant,
                 struct arena *arena, struct undo_decision *out);

#endif

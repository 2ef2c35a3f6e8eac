/* import_counts — what an import has derived: counted by each worker for itself, then added up;
 * less what turns out to share its key. */
#ifndef MIGRATE_IMPORT_IMPORT_COUNTS_H
#define MIGRATE_IMPORT_IMPORT_COUNTS_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/value.h"
#include "engine/store/store.h"

#include <stddef.h>
#include <stdint.h>

struct import_counts {
    uint64_t items;
    uint64_t bytes;          /* as DynamoDB counts them */
    uint64_t largest_bytes;  /* of an item */
    struct str largest_row;  /* where it comes from */
    uint64_t *by_entity;     /* items */
    uint64_t *index_entries; /* by index of the table */
    size_t entity_count, index_count;
};

/* All zero, in the arena. */
void import_counts_init(struct import_counts *counts, size_t entities, size_t indexes,
                        struct arena *arena);

/* One item of an entity more (by 1) or less (by -1), in the table and in the indexes that it is in.
 */
void import_counts_item(struct import_counts *counts, const struct table_desc *table,
                        uint32_t entity, struct value item, int by);

/* Adds `from`; its texts are copied into the arena. */
void import_counts_add(struct import_counts *to, const struct import_counts *from,
                       struct arena *arena);

#endif

#include "migrate/import/import_counts.h"

#include "engine/item/item.h"

void import_counts_init(struct import_counts *counts, size_t entities, size_t indexes,
                        struct arena *arena)
{
    *counts = (struct import_counts){.entity_count = entities, .index_count = indexes};
    counts->by_entity = arena_zero(arena, (entities + 1) * sizeof *counts->by_entity);
    counts->index_entries = arena_zero(arena, (indexes + 1) * sizeof *counts->index_entries);
}

void import_counts_item(struct import_counts *counts, const struct table_desc *table,
                        uint32_t entity, struct value item, int by)
{
    uint64_t step = (uint64_t)by; /* -1 takes one off: whole numbers wrap round */
    counts->items += step;
    counts->by_entity[entity] += step;
    counts->bytes += step * item_size_bytes(item);
    for (size_t i = 0; i < table->index_count; i++) {
        struct key key;
        bool present = false;
        struct error ignored;
        if (key_of_index(&table->indexes[i].keys, item, &key, &present, &ignored) && present) {
            counts->index_entries[i] += step;
        }
    }
}

void import_counts_add(struct import_counts *to, const struct import_counts *from,
                       struct arena *arena)
{
    to->items += from->items;
    to->bytes += from->bytes;
    if (from->largest_bytes > to->largest_bytes) {
        to->largest_bytes = from->largest_bytes;
        to->largest_row = arena_copy(arena, from->largest_row);
    }
    for (size_t i = 0; i < to->entity_count; i++) {
        to->by_entity[i] += from->by_entity[i];
    }
    for (size_t i = 0; i < to->index_count; i++) {
        to->index_entries[i] += from->index_entries[i];
    }
}

/* map_internal — how the parts of a map file are parsed; only plans/map*.c include it. */
#ifndef PLANS_MAP_INTERNAL_H
#define PLANS_MAP_INTERNAL_H

#include "plans/map.h"

/* One member of an object that is being parsed: where it stands and where its texts go. */
struct map_reader {
    struct place place; /* of the object at hand */
    const struct json *json;
    struct arena *arena;
};

/* The reader of a member, or of an element; json is NULL where the object has no such member. */
struct map_reader map_reader_member(const struct map_reader *reader, const char *name);
struct map_reader map_reader_at(const struct map_reader *reader, const struct json *json,
                                size_t index);

/* Each sets *out only if the member is there. */
MUST_CHECK bool map_read_sql(const struct map_reader *member, struct map_sql *out,
                             struct error *err);
MUST_CHECK bool map_read_condition(const struct map_reader *member, struct placed_json *out,
                                   struct error *err);
MUST_CHECK bool map_read_assignments(const struct map_reader *member, struct map_assignments *out,
                                     struct error *err);

/* "table": keys and indexes. */
MUST_CHECK bool map_read_table(const struct map_reader *member, struct map *out, struct error *err);

/* from, join, policy of the object that `reader` stands at, and `embeds`, which bodies filled. */
MUST_CHECK bool map_read_rows(const struct map_reader *reader, struct map_rows *out,
                              struct error *err);

/* Embeds of the bodies of one entity or embed, as they are met. */
struct map_embed_list {
    struct map_embed *list;
    size_t count, capacity;
    size_t depth; /* embeds around them */
};

/* set, columns, embed of the object that `reader` stands at. */
MUST_CHECK bool map_read_body(const struct map_reader *reader, struct map_embed_list *embeds,
                              struct map_body *out, struct error *err);

#endif

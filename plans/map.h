/* map — a file that says how relational tables fold into items, parsed and checked as far as its
 * text alone allows. What its paths mean is known once the columns are: see map_bind.h.
 * docs/language.md, "Maps", is its manual. */
#ifndef PLANS_MAP_H
#define PLANS_MAP_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "plans/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAP_FILE_MAX_BYTES = 16 << 20, MAP_EMBED_MAX_DEPTH = 8 };

/* Where rows come from: a table or a query. */
struct map_from {
    struct place place;
    size_t offset;    /* of its JSON value in the file */
    struct str table; /* "table" or "schema.table"; empty: it is a query */
    struct str query;
    struct str as; /* its name in SQL; empty: the table's own */
};

/* SQL of the user's: handed to PostgreSQL. */
struct map_sql {
    struct place place;
    size_t offset;
    struct str text; /* empty: none */
};

struct map_join {
    struct str alias;
    struct map_from from;
    struct map_sql on;
};

/* An attribute and its template, not yet parsed. */
struct map_assignment {
    struct str name;
    struct place place;
    const struct json *value;
    struct placed_json when; /* json NULL: always */
};

struct map_assignments {
    const struct map_assignment *list;
    size_t count;
};

enum map_columns_kind {
    MAP_COLUMNS_ABSENT,
    MAP_COLUMNS_ALL,    /* "*" */
    MAP_COLUMNS_LIST,   /* ["a", "b"] and {"Attribute": "column"} */
    MAP_COLUMNS_EXCEPT, /* {"except": ["a"]} */
};

struct map_column {
    struct str attribute; /* LIST: what the item calls it */
    struct str column;    /* a column's name, or "alias.column" */
    size_t offset;
};

struct map_columns {
    enum map_columns_kind kind;
    struct place place;
    const struct map_column *list;
    size_t count;
};

/* What makes attributes of a row. Its embeds are a range of map_rows.embeds. */
struct map_body {
    struct map_assignments set;
    struct map_columns columns;
    size_t embed_first, embed_count;
};

enum map_policy { MAP_REFUSE, MAP_AS_TEXT, MAP_OMIT, MAP_AS_NULL };

struct map_column_policy {
    struct str column; /* as in map_column */
    size_t offset;
    enum map_policy policy;
};

struct map_embed;

/* Rows of one relation with what is joined and nested: an entity's, or an embed's. */
struct map_rows {
    struct place place;
    struct map_from from;
    const struct map_join *joins;
    size_t join_count;
    const struct map_column_policy *policies;
    size_t policy_count;
    struct place policy_place;
    const struct map_embed *embeds; /* of all bodies */
    size_t embed_count;
};

enum map_embed_kind { MAP_EMBED_ROWS, MAP_EMBED_SCALAR, MAP_EMBED_SET };

struct map_embed {
    struct str name;
    struct map_rows rows;
    struct map_body body;
    struct map_sql on, order;
    uint64_t limit; /* 0: none */
    enum map_embed_kind kind;
    bool omit_empty;
};

/* One item of a row. */
struct map_item {
    struct place place;
    size_t offset;
    struct map_assignments key;
    struct placed_json when; /* json NULL: always */
    struct map_body body;
};

struct map_entity {
    struct str name; /* its own, or that of what it is from */
    size_t offset;
    struct map_rows rows;
    struct map_sql where;
    struct placed_json when; /* of all its items; json NULL: always */
    struct map_body body;    /* goes to all its items */
    const struct map_item *items;
    size_t item_count; /* 1 or more */
};

struct map {
    const char *file;
    struct str hash; /* "1:" and SHA-256 in hex: comments and white space do not count */
    bool has_table;
    struct key_schema keys; /* where has_table */
    const struct index_desc *indexes;
    size_t index_count;
    const struct map_entity *entities;
    size_t entity_count;
};

/* Parses a map file's text.
 *   file   its path, for messages; borrowed
 *   arena  owns the map; `text` may go away
 * ERROR_PLAN: "FILE:LINE:COLUMN: entities[0].key: …"; unknown and doubled members are errors, and
 * so is what is no template or condition. */
MUST_CHECK bool map_parse(struct str text, const char *file, struct arena *arena,
                          const struct map **out, struct error *err);

#endif

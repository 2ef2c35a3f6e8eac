/* schema — tables as a relational catalogue tells of them: what a first map is made from. */
#ifndef PLANS_SCHEMA_H
#define PLANS_SCHEMA_H

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a column's values are in an item, as far as keys are concerned. */
enum schema_kind {
    SCHEMA_INTEGER,  /* N: whole numbers of at most `digits` digits */
    SCHEMA_NUMBER,   /* N */
    SCHEMA_BOOLEAN,  /* BOOL */
    SCHEMA_PLAIN,    /* S without a '#': dates, uuid */
    SCHEMA_TEXT,     /* S */
    SCHEMA_BYTES,    /* B */
    SCHEMA_DOCUMENT, /* L, M, or of any type: arrays, jsonb */
};

struct schema_column {
    struct str name;
    struct str sql;  /* as SQL writes it: quoted where it must be */
    struct str type; /* for messages */
    enum schema_kind kind;
    uint32_t digits; /* INTEGER */
    bool not_null;
    bool refused; /* the type has no conversion: only its text can be kept */
};

/* Columns of a table by index. */
struct schema_key {
    const size_t *columns;
    size_t count;
};

/* A foreign key. */
struct schema_reference {
    size_t to; /* index of schema.tables */
    const size_t *columns;
    const size_t *to_columns; /* each beside its own of `columns` */
    size_t count;
    bool cascades; /* ON DELETE CASCADE */
};

/* Whether its rows can be read as they are. */
enum schema_access {
    SCHEMA_READABLE,
    SCHEMA_FORBIDDEN,
    SCHEMA_ROW_SECURITY, /* hides rows from who asks */
    SCHEMA_VIEW,
    SCHEMA_OF_EXTENSION,
};

struct schema_table {
    struct str schema, name;
    struct str sql; /* the name as SQL writes it */
    enum schema_access access;
    bool is_inherited; /* a SELECT from it gives rows of other tables too */
    const struct schema_column *columns;
    size_t column_count;
    const struct schema_key *keys; /* unique, of NOT NULL columns; the best first */
    size_t key_count;
    const struct schema_reference *references;
    size_t reference_count;
};

struct schema {
    struct str name; /* of the database, for people */
    const struct schema_table *tables;
    size_t table_count; /* sorted by schema and name */
};

#endif

/* pg_source_internal — what the opening of a source and its readers share. */
#ifndef IMPORTERS_POSTGRES_PG_SOURCE_INTERNAL_H
#define IMPORTERS_POSTGRES_PG_SOURCE_INTERNAL_H

#include "importers/postgres/pg_select.h"
#include "importers/postgres/pg_session.h"
#include "importers/source.h"
#include "plans/map_bind.h"

#include <stdatomic.h>
#include <stddef.h>

/* An entity, and which fields of its rows name a row. */
struct pg_entity {
    const struct map_bound_entity *bound;
    struct pg_rows_plan plan;
    struct pg_select select;
    const struct pg_relation *relation;
    const size_t *identity; /* fields of the primary key */
    size_t identity_count;  /* 0: the ctid, or the row's number where there is none */
};

/* What one reader takes at a time. */
struct pg_part {
    size_t entity;
    struct pg_range range;
    uint64_t weight;
};

struct pg_source {
    struct source source;
    struct arena *arena;
    const char *conninfo;
    const atomic_bool *stop;
    struct pg_session *session; /* holds the snapshot and the locks */
    struct str lock;            /* the statement by which a reader takes those locks too */
    struct str snapshot_id;
    struct pg_entity *entities;
    struct pg_part *parts;
    size_t part_count, part_capacity;
    atomic_size_t next_part;
};

/* The operations of a reader, in pg_reader.c. */
bool pg_reader_open(struct source *source, struct source_reader **out, struct error *err);
bool pg_reader_read(struct source_reader *reader, const struct source_sink *sink,
                    struct error *err);
void pg_reader_close(struct source_reader *reader);

#endif

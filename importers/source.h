/* source — rows from outside, as items: what every importer is to an import. */
#ifndef IMPORTERS_SOURCE_H
#define IMPORTERS_SOURCE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;
struct source_reader;

/* Which row an item comes from. Kept beside the item until it is known to be the only one of its
 * key, so it is short; source_row_name() makes a sentence of it. */
struct source_row {
    uint32_t entity;     /* index of source.entities */
    struct str identity; /* the source's own bytes */
};

/* Where a reader's items go. Each returns false to stop the reader with that error. */
struct source_sink {
    bool (*item)(void *context, const struct source_row *row, struct value item, struct error *err);
    /* A row that gives no item: `reason` says why and names the column; it does not name the row.
     */
    bool (*reject)(void *context, const struct source_row *row, const struct error *reason,
                   struct error *err);
    void *context;
    const atomic_bool *stop; /* set: readers end soon, with ERROR_STOPPED */
};

struct source_entity {
    struct str name;
    uint64_t rows_estimate;    /* 0: unknown */
    _Atomic uint64_t rows;     /* read so far, for progress and reports */
    _Atomic uint64_t left_out; /* attributes that came out missing */
};

struct source_ops {
    void (*close)(struct source *source);
    bool (*reader_open)(struct source *source, struct source_reader **out, struct error *err);
    bool (*read)(struct source_reader *reader, const struct source_sink *sink, struct error *err);
    void (*reader_close)(struct source_reader *reader);
    struct str (*row_name)(const struct source *source, const struct source_row *row,
                           struct arena *arena);
};

struct source {
    const struct source_ops *ops;
    struct str name;     /* for the ledger and reports: no password in it */
    struct str snapshot; /* what moment it shows; empty where there is none */
    struct str time;     /* of the snapshot, ISO; empty where unknown */
    struct source_entity *entities;
    size_t entity_count;
    const struct str *notices; /* what the user should know before the rows move */
    size_t notice_count;
    size_t readers_max; /* more than this have nothing to do */
};

/* Closes the source after its readers; NULL is fine. */
void source_close(struct source *source);

/* A reader belongs to one thread. */
MUST_CHECK bool source_reader_open(struct source *source, struct source_reader **out,
                                   struct error *err);
void source_reader_close(struct source_reader *reader);

/* Reads what no other reader of the source has taken, until nothing is left; each row once.
 * ERROR_SOURCE, ERROR_INPUT: the source broke off; ERROR_STOPPED; and what the sink returns. */
MUST_CHECK bool source_read(struct source_reader *reader, const struct source_sink *sink,
                            struct error *err);

/* "customers (id=7)", "in.jsonl:12". */
struct str source_row_name(const struct source *source, const struct source_row *row,
                           struct arena *arena);

/* What every reader begins with. */
struct source_reader {
    struct source *source;
};

#endif

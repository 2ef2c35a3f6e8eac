#include "engine/base/utf8.h"
#include "importers/postgres/copy_row.h"
#include "importers/postgres/pg_decode.h"
#include "importers/postgres/pg_source_internal.h"
#include "plans/map_make.h"

#include <inttypes.h>
#include <string.h>

/* Counters are shared by readers: they are told in steps. */
enum { ROWS_TOLD_AT_ONCE = 256 };

/* Who waits for a lock that the source's own session holds up would let a reader wait for ever. */
#define LOCK_TIMEOUT "10s"

struct pg_reader {
    struct source_reader reader;
    struct pg_session *session;
    struct arena *arena; /* of one row */
    struct arena *kept;  /* fields and values of the entity at hand */
    struct buffer identity;
    /* of the part at hand */
    const struct pg_entity *entity;
    struct source_entity *told;
    struct str *fields;
    struct value *values;
    size_t field_count;
    bool has_ctid;
    uint64_t row; /* from 1 */
    uint64_t left_out;
};

static struct pg_source *source_of(struct source *source)
{
    return (struct pg_source *)source;
}

bool pg_reader_open(struct source *source, struct source_reader **out, struct error *err)
{
    struct pg_source *pg = source_of(source);
    struct pg_reader *reader = heap_alloc(sizeof *reader);
    reader->reader.source = source;
    reader->arena = arena_new();
    reader->kept = arena_new();
    struct str begin = arena_format(reader->kept,
                                    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
                                    "SET TRANSACTION SNAPSHOT '%.*s';"
                                    "SET LOCAL lock_timeout = '" LOCK_TIMEOUT "'; %.*s",
                                    STR_ARG(pg->snapshot_id), STR_ARG(pg->lock));
    if (!pg_session_open(pg->conninfo, pg->stop, &reader->session, err) ||
        !pg_session_run(reader->session, begin.ptr, err)) {
        pg_reader_close(&reader->reader);
        return false;
    }
    *out = &reader->reader;
    return true;
}

void pg_reader_close(struct source_reader *reader)
{
    struct pg_reader *pg = (struct pg_reader *)reader;
    pg_session_close(pg->session);
    arena_free(pg->arena);
    arena_free(pg->kept);
    buffer_free(&pg->identity);
    heap_free(pg);
}

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte < ' ' || byte == 0x7f || byte == '\\') {
            return false;
        }
    }
    return utf8_is_valid(text);
}

/* Control characters, and bytes that are no text, as \xHH: rows are named on terminals. */
static void add_escaped(struct str text, struct buffer *out)
{
    if (is_plain(text)) {
        buffer_add(out, text);
        return;
    }
    bool valid = utf8_is_valid(text);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte == '\\') {
            buffer_add(out, STR("\\\\"));
        } else if (byte < ' ' || byte == 0x7f || (byte >= 0x80 && !valid)) {
            buffer_format(out, "\\x%02x", byte);
        } else {
            buffer_add_char(out, text.ptr[i]);
        }
    }
}

/* The primary key's values divided by tabs, the ctid, or the row's number. */
static struct str row_identity(struct pg_reader *reader)
{
    struct buffer *out = &reader->identity;
    out->len = 0;
    for (size_t i = 0; i < reader->entity->identity_count; i++) {
        if (i > 0) {
            buffer_add_char(out, '\t');
        }
        add_escaped(reader->fields[reader->entity->identity[i]], out);
    }
    if (reader->entity->identity_count == 0 && reader->has_ctid) {
        buffer_add(out, reader->fields[reader->field_count - 1]);
    } else if (reader->entity->identity_count == 0) {
        buffer_format(out, "%" PRIu64, reader->row);
    }
    return buffer_str(out);
}

static void tell(struct pg_reader *reader)
{
    uint64_t rows = reader->row % ROWS_TOLD_AT_ONCE;
    rows = rows == 0 ? ROWS_TOLD_AT_ONCE : rows;
    atomic_fetch_add_explicit(&reader->told->rows, rows, memory_order_relaxed);
    atomic_fetch_add_explicit(&reader->told->left_out, reader->left_out, memory_order_relaxed);
    reader->left_out = 0;
}

/* An item error goes to the sink, which decides whether the import goes on without the row. */
static bool reject(const struct source_sink *sink, const struct source_row *row, struct error *err)
{
    if (err->code != ERROR_ITEM && err->code != ERROR_LIMIT) {
        return false;
    }
    struct error reason = *err;
    return sink->reject(sink->context, row, &reason, err);
}

static bool make_items(struct pg_reader *reader, const struct source_sink *sink,
                       const struct source_row *row, struct error *err)
{
    const struct map_bound_rows *bound = &reader->entity->bound->rows;
    struct expr_scope scope = {.slots = reader->values,
                               .slot_count = bound->rows->embed_count + bound->slot_count};
    for (size_t i = 0; i < bound->shape_count; i++) {
        struct map_made made;
        if (!map_make(&bound->shapes[i], &scope, reader->arena, &made, err)) {
            return reject(sink, row, err);
        }
        reader->left_out += made.left_out;
        if (made.present && !sink->item(sink->context, row, made.item, err)) {
            return false;
        }
    }
    return true;
}

static bool read_row(struct pg_reader *reader, const struct source_sink *sink, char *line,
                     size_t len, struct error *err)
{
    arena_reset(reader->arena);
    if (!copy_row_split(line, len, reader->fields, reader->field_count, err)) {
        return false;
    }
    reader->row++;
    struct source_row row = {.entity = (uint32_t)(reader->told - reader->reader.source->entities),
                             .identity = row_identity(reader)};
    bool ok =
        pg_decode_row(&reader->entity->plan, reader->fields, reader->arena, reader->values, err)
            ? make_items(reader, sink, &row, err)
            : reject(sink, &row, err);
    if (reader->row % ROWS_TOLD_AT_ONCE == 0) {
        tell(reader);
    }
    return ok;
}

static void begin_part(struct pg_reader *reader, const struct pg_part *part)
{
    struct pg_source *pg = source_of(reader->reader.source);
    const struct pg_entity *entity = &pg->entities[part->entity];
    const struct map_bound_rows *bound = &entity->bound->rows;
    arena_reset(reader->kept);
    reader->entity = entity;
    reader->told = &reader->reader.source->entities[part->entity];
    reader->row = 0;
    reader->has_ctid =
        entity->select.with_ctid && part->range.leaf != NULL && part->range.leaf->has_pages;
    reader->field_count =
        pg_plan_field_count(&entity->plan) + entity->select.more_count + (reader->has_ctid ? 1 : 0);
    reader->fields = arena_zero(reader->kept, (reader->field_count + 1) * sizeof *reader->fields);
    size_t slots = bound->rows->embed_count + bound->slot_count;
    reader->values = arena_zero(reader->kept, (slots + 1) * sizeof *reader->values);
}

static bool read_part(struct pg_reader *reader, const struct pg_part *part,
                      const struct source_sink *sink, struct error *err)
{
    struct buffer sql = {0};
    begin_part(reader, part);
    buffer_add(&sql, STR("COPY ("));
    pg_select_write(&reader->entity->select, &part->range, &sql);
    buffer_add(&sql, STR(") TO STDOUT"));
    buffer_add_char(&sql, '\0');
    bool ok = pg_session_copy(reader->session, sql.bytes, sink->stop, err);
    buffer_free(&sql);
    char *line = NULL;
    size_t len = 0;
    while (ok) {
        ok = pg_session_copy_line(reader->session, sink->stop, &line, &len, err);
        if (line == NULL) {
            break;
        }
        ok = ok && read_row(reader, sink, line, len, err);
    }
    if (reader->row % ROWS_TOLD_AT_ONCE != 0) {
        tell(reader);
    }
    return ok;
}

bool pg_reader_read(struct source_reader *reader, const struct source_sink *sink, struct error *err)
{
    struct pg_source *pg = source_of(reader->source);
    for (;;) {
        size_t next = atomic_fetch_add(&pg->next_part, 1);
        if (next >= pg->part_count) {
            return true;
        }
        const struct pg_part *part = &pg->parts[next];
        if (!read_part((struct pg_reader *)reader, part, sink, err)) {
            struct str name = reader->source->entities[part->entity].name;
            return err->code == ERROR_STOPPED ? false
                                              : error_wrap(err, "entity %.*s", STR_ARG(name));
        }
    }
}

#include "migrate/import/import_stream.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"

/* A pair read ahead, copied: the sorted stream keeps only its newest. */
struct pair {
    struct buffer order, value;
};

struct import_stream {
    struct import_stream_options options;
    struct sorted *sorted;
    struct pair pairs[2];
    size_t held; /* which of the pairs is the next one, where `more` */
    bool more;
    struct arena *arena; /* for messages */
};

static bool read_pair(struct import_stream *stream, struct pair *pair, struct error *err)
{
    struct str order, value;
    if (!sorted_next(stream->sorted, &order, &value, &stream->more, err)) {
        return false;
    }
    if (stream->more) {
        pair->order.len = 0;
        pair->value.len = 0;
        buffer_add(&pair->order, order);
        buffer_add(&pair->value, value);
    }
    return true;
}

bool import_stream_open(const struct import_stream_options *options, struct import_stream **out,
                        struct error *err)
{
    struct import_stream *stream = heap_alloc(sizeof *stream);
    stream->options = *options;
    stream->arena = arena_new();
    if (!sorted_open(options->sorted->sorters, options->sorted->count, &stream->sorted, err) ||
        !read_pair(stream, &stream->pairs[0], err)) {
        import_stream_close(stream);
        return false;
    }
    *out = stream;
    return true;
}

void import_stream_close(struct import_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    if (stream->sorted != NULL) {
        sorted_close(stream->sorted);
    }
    for (size_t i = 0; i < 2; i++) {
        buffer_free(&stream->pairs[i].order);
        buffer_free(&stream->pairs[i].value);
    }
    arena_free(stream->arena);
    heap_free(stream);
}

static struct str row_name(struct import_stream *stream, const struct pair *pair)
{
    struct import_entry entry = import_entry_read(buffer_str(&pair->value));
    return source_row_name(stream->options.source, &entry.row, stream->arena);
}

/* Tells that `pair` shares its key with `other`. */
static bool tell(struct import_stream *stream, const struct pair *pair, const struct pair *other,
                 struct error *err)
{
    if (stream->options.rejects == NULL) {
        return true;
    }
    struct import_entry entry = import_entry_read(buffer_str(&pair->value));
    struct key key;
    if (!key_of_item(stream->options.keys, entry.item, &key, err)) {
        return false;
    }
    struct str name = row_name(stream, pair);
    struct str other_name = row_name(stream, other);
    struct str shown = key_print(stream->options.keys, &key, stream->arena);
    struct error reason;
    if (str_equal(name, other_name)) {
        (void)error_set(&reason, ERROR_CONFLICT, "folds to %.*s twice", STR_ARG(shown));
    } else {
        (void)error_set(&reason, ERROR_CONFLICT, "folds to %.*s, and so does %.*s", STR_ARG(shown),
                        STR_ARG(other_name));
    }
    bool ok = import_rejects_add(stream->options.rejects, name, &reason, err);
    if (stream->options.counts != NULL) {
        import_counts_item(stream->options.counts, stream->options.table, entry.row.entity,
                           entry.item, -1);
    }
    arena_reset(stream->arena);
    return ok;
}

static bool same_key(const struct pair *a, const struct pair *b)
{
    return str_equal(buffer_str(&a->order), buffer_str(&b->order));
}

/* Passes over all pairs of the key that both pairs have; the held one is then the next other. */
static bool skip_group(struct import_stream *stream, struct error *err)
{
    for (;;) {
        struct pair *first = &stream->pairs[stream->held];
        struct pair *second = &stream->pairs[1 - stream->held];
        if (!tell(stream, second, first, err)) {
            return false;
        }
        if (!read_pair(stream, second, err)) {
            return false;
        }
        if (!stream->more || !same_key(first, second)) {
            stream->held = 1 - stream->held;
            return true;
        }
    }
}

static bool give(struct import_stream *stream, const struct pair *pair, struct import_item *out,
                 struct error *err)
{
    struct import_entry entry = import_entry_read(buffer_str(&pair->value));
    out->order = buffer_str(&pair->order);
    out->item = entry.item;
    out->row = entry.row;
    return key_of_item(stream->options.keys, entry.item, &out->key, err);
}

bool import_stream_next(struct import_stream *stream, struct import_item *out, struct error *err)
{
    while (stream->more) {
        struct pair *pair = &stream->pairs[stream->held];
        struct pair *ahead = &stream->pairs[1 - stream->held];
        if (!read_pair(stream, ahead, err)) {
            return false;
        }
        if (!stream->more || !same_key(pair, ahead)) {
            stream->held = 1 - stream->held;
            return give(stream, pair, out, err);
        }
        if (!tell(stream, pair, ahead, err) || !skip_group(stream, err)) {
            return false;
        }
    }
    out->item = (struct value){NULL, 0};
    return true;
}

#include "importers/source.h"

void source_close(struct source *source)
{
    if (source != NULL) {
        source->ops->close(source);
    }
}

bool source_reader_open(struct source *source, struct source_reader **out, struct error *err)
{
    return source->ops->reader_open(source, out, err);
}

void source_reader_close(struct source_reader *reader)
{
    if (reader != NULL) {
        reader->source->ops->reader_close(reader);
    }
}

bool source_read(struct source_reader *reader, const struct source_sink *sink, struct error *err)
{
    return reader->source->ops->read(reader, sink, err);
}

struct str source_row_name(const struct source *source, const struct source_row *row,
                           struct arena *arena)
{
    return source->ops->row_name(source, row, arena);
}

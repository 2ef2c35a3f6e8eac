#include "importers/jsonl/jsonl_source.h"

#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/item/item_json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a reader takes at a time, and how it reads that. */
enum { PART_BYTES = 8 << 20, BLOCK_BYTES = 1 << 20, STOP_INTERVAL = 256 };

struct jsonl_source {
    struct source source;
    struct arena *arena;
    const char *path;
    int fd;
    uint64_t size;
    struct timespec changed;
    atomic_size_t next_part;
};

struct jsonl_reader {
    struct source_reader reader;
    struct buffer block; /* what was read of the file, from `block_at` on */
    uint64_t block_at;
    struct arena *arena; /* of one line */
    uint64_t rows;       /* not yet told */
    struct buffer identity;
};

static struct jsonl_source *source_of(const struct source_reader *reader)
{
    return (struct jsonl_source *)reader->source;
}

static void close_source(struct source *source)
{
    struct jsonl_source *jsonl = (struct jsonl_source *)source;
    if (jsonl->fd >= 0) {
        (void)close(jsonl->fd);
    }
    arena_free(jsonl->arena);
    heap_free(jsonl);
}

static bool reader_open(struct source *source, struct source_reader **out, struct error *err)
{
    (void)err;
    struct jsonl_reader *reader = heap_alloc(sizeof *reader);
    reader->reader.source = source;
    reader->arena = arena_new();
    *out = &reader->reader;
    return true;
}

static void reader_close(struct source_reader *reader)
{
    struct jsonl_reader *jsonl = (struct jsonl_reader *)reader;
    buffer_free(&jsonl->block);
    buffer_free(&jsonl->identity);
    arena_free(jsonl->arena);
    heap_free(jsonl);
}

/* Appends the next block of the file; *got is 0 at its end. */
static bool read_block(struct jsonl_reader *reader, size_t *got, struct error *err)
{
    struct jsonl_source *jsonl = source_of(&reader->reader);
    char *into = buffer_reserve(&reader->block, BLOCK_BYTES);
    off_t at = (off_t)(reader->block_at + reader->block.len);
    ssize_t len = pread(jsonl->fd, into, BLOCK_BYTES, at);
    if (len < 0) {
        return error_set(err, ERROR_INPUT, "%s: %s", jsonl->path, strerror(errno));
    }
    reader->block.len += (size_t)len;
    *got = (size_t)len;
    return true;
}

/* Forgets what stands before `offset` of the file. */
static void drop_before(struct jsonl_reader *reader, uint64_t offset)
{
    uint64_t drop = offset - reader->block_at;
    if (drop >= reader->block.len) {
        reader->block.len = 0;
    } else if (drop > 0) {
        reader->block.len -= (size_t)drop;
        memmove(reader->block.bytes, reader->block.bytes + drop, reader->block.len);
    }
    reader->block_at = offset;
}

/* The line feed of the line that starts at `offset`, behind `searched` bytes of it; NULL: none in
 * what was read. */
static const char *find_end(const struct jsonl_reader *reader, uint64_t offset, size_t searched)
{
    const struct buffer *block = &reader->block;
    size_t start = (size_t)(offset - reader->block_at) + searched;
    return block->len > start ? memchr(block->bytes + start, '\n', block->len - start) : NULL;
}

static size_t bytes_from(const struct jsonl_reader *reader, uint64_t offset)
{
    uint64_t end = reader->block_at + reader->block.len;
    return end > offset ? (size_t)(end - offset) : 0;
}

/* The line that starts at `offset`, without its end; *next is where the one behind it starts.
 * line->ptr is NULL at the end of the file. */
static bool read_line(struct jsonl_reader *reader, uint64_t offset, struct str *line,
                      uint64_t *next, struct error *err)
{
    const char *end = find_end(reader, offset, 0);
    size_t got = 1;
    while (end == NULL && got > 0) {
        size_t searched = bytes_from(reader, offset);
        if (searched > JSONL_LINE_MAX_BYTES) {
            return error_set(err, ERROR_INPUT, "%s: a line is over %d bytes",
                             source_of(&reader->reader)->path, JSONL_LINE_MAX_BYTES);
        }
        drop_before(reader, offset);
        if (!read_block(reader, &got, err)) {
            return false;
        }
        end = find_end(reader, offset, searched);
    }
    size_t len = bytes_from(reader, offset);
    const char *start = len == 0 ? NULL : reader->block.bytes + (offset - reader->block_at);
    *line = (struct str){start, end == NULL ? len : (size_t)(end - start)};
    *next = offset + line->len + (end == NULL ? 0 : 1);
    return true;
}

/* The parser sees one line: its "FILE:1:COLUMN: " says less than ours. */
static void shorten_position(struct error *err)
{
    static const char prefix[] = "line:1:";
    if (strncmp(err->text, prefix, sizeof prefix - 1) == 0) {
        struct error was = *err;
        (void)error_set(err, was.code, "column %s", was.text + sizeof prefix - 1);
    }
}

static bool parse_line(struct str line, struct arena *arena, struct value *out, struct error *err)
{
    struct json_options options = {.file = "line"};
    struct json *json;
    if (!json_parse(line, &options, arena, &json, err)) {
        shorten_position(err);
        return false;
    }
    const struct json *item = json_member(json, "Item");
    if (json->kind != JSON_OBJECT || json->count != 1 || item == NULL) {
        return error_set(err, ERROR_INPUT, "expected {\"Item\": {DynamoDB JSON}}");
    }
    return item_json_item(item, arena, out, err);
}

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (strchr(" \t\r", line.ptr[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static void tell(struct jsonl_reader *reader)
{
    atomic_fetch_add_explicit(&reader->reader.source->entities[0].rows, reader->rows,
                              memory_order_relaxed);
    reader->rows = 0;
}

static bool take_line(struct jsonl_reader *reader, const struct source_sink *sink, struct str line,
                      uint64_t offset, struct error *err)
{
    struct value item;
    arena_reset(reader->arena);
    reader->identity.len = 0;
    buffer_format(&reader->identity, "%" PRIu64, offset);
    struct source_row row = {0, buffer_str(&reader->identity)};
    if (++reader->rows == STOP_INTERVAL) {
        tell(reader);
        if (atomic_load_explicit(sink->stop, memory_order_relaxed)) {
            return error_set(err, ERROR_STOPPED, "stopped");
        }
    }
    if (!parse_line(line, reader->arena, &item, err)) {
        struct error reason = *err;
        return sink->reject(sink->context, &row, &reason, err);
    }
    return sink->item(sink->context, &row, item, err);
}

static struct str without_mark(struct str line)
{
    static const struct str mark = STR_INIT("\xef\xbb\xbf");
    return str_begins(line, mark) ? (struct str){line.ptr + mark.len, line.len - mark.len} : line;
}

/* The first line that starts in the part: behind a line feed, if only the last of the part before.
 */
static bool find_first(struct jsonl_reader *reader, uint64_t from, uint64_t *at, struct error *err)
{
    struct str ignored;
    reader->block.len = 0;
    reader->block_at = from > 0 ? from - 1 : 0;
    *at = from;
    return from == 0 || read_line(reader, from - 1, &ignored, at, err);
}

/* Reads the lines that start in [from, to). */
static bool read_part(struct jsonl_reader *reader, const struct source_sink *sink, uint64_t from,
                      uint64_t to, struct error *err)
{
    uint64_t at = from;
    bool ok = find_first(reader, from, &at, err);
    while (ok && at < to) {
        struct str line;
        uint64_t next = at;
        ok = read_line(reader, at, &line, &next, err);
        if (!ok || line.ptr == NULL) {
            break;
        }
        line = at == 0 ? without_mark(line) : line;
        ok = is_blank(line) || take_line(reader, sink, line, at, err);
        at = next;
    }
    return ok;
}

/* Who writes the file meanwhile may have cut off, or not yet written, what was to be read. */
static bool check_unchanged(const struct jsonl_source *source, struct error *err)
{
    struct stat now;
    bool same = fstat(source->fd, &now) == 0 && (uint64_t)now.st_size == source->size &&
                now.st_mtim.tv_sec == source->changed.tv_sec &&
                now.st_mtim.tv_nsec == source->changed.tv_nsec;
    return same || error_set(err, ERROR_INPUT,
                             "%s was written to while it was read\n"
                             "hint: import it again once it is complete",
                             source->path);
}

static bool read_all(struct source_reader *reader, const struct source_sink *sink,
                     struct error *err)
{
    struct jsonl_reader *jsonl = (struct jsonl_reader *)reader;
    struct jsonl_source *source = source_of(reader);
    bool ok = true;
    while (ok) {
        uint64_t from = (uint64_t)atomic_fetch_add(&source->next_part, 1) * PART_BYTES;
        if (from >= source->size) {
            break;
        }
        ok = read_part(jsonl, sink, from, from + PART_BYTES, err);
    }
    tell(jsonl);
    return ok && check_unchanged(source, err);
}

/* Lines are counted only for those that are named. */
static uint64_t line_number(const struct jsonl_source *jsonl, uint64_t offset)
{
    uint64_t line = 1;
    char *block = heap_alloc(BLOCK_BYTES);
    for (uint64_t at = 0; at < offset;) {
        size_t want = offset - at < BLOCK_BYTES ? (size_t)(offset - at) : BLOCK_BYTES;
        ssize_t got = pread(jsonl->fd, block, want, (off_t)at);
        if (got <= 0) {
            break;
        }
        for (ssize_t i = 0; i < got; i++) {
            line += block[i] == '\n' ? 1 : 0;
        }
        at += (uint64_t)got;
    }
    heap_free(block);
    return line;
}

static struct str row_name(const struct source *source, const struct source_row *row,
                           struct arena *arena)
{
    const struct jsonl_source *jsonl = (const struct jsonl_source *)source;
    uint64_t offset = 0;
    for (size_t i = 0; i < row->identity.len; i++) {
        offset = offset * 10 + (uint64_t)(row->identity.ptr[i] - '0');
    }
    return arena_format(arena, "%s:%" PRIu64, jsonl->path, line_number(jsonl, offset));
}

static const struct source_ops jsonl_ops = {
    .close = close_source,
    .reader_open = reader_open,
    .read = read_all,
    .reader_close = reader_close,
    .row_name = row_name,
};

/* By the lines of the first block: only progress needs it. */
static uint64_t estimate_rows(const struct jsonl_source *jsonl)
{
    char *block = heap_alloc(BLOCK_BYTES);
    ssize_t got = pread(jsonl->fd, block, BLOCK_BYTES, 0);
    uint64_t lines = 0;
    for (ssize_t i = 0; i < got; i++) {
        lines += block[i] == '\n' ? 1 : 0;
    }
    heap_free(block);
    return got <= 0 ? 0 : lines * (jsonl->size / (uint64_t)got);
}

bool jsonl_source_open(const char *path, struct source **out, struct error *err)
{
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode)) {
        const char *why = fd < 0 ? strerror(errno) : "not a file";
        (void)error_set(err, ERROR_USAGE, "%s: %s", path, why);
        if (fd >= 0) {
            (void)close(fd);
        }
        return false;
    }
    struct jsonl_source *jsonl = heap_alloc(sizeof *jsonl);
    jsonl->arena = arena_new();
    jsonl->path = path;
    jsonl->fd = fd;
    jsonl->size = (uint64_t)stat.st_size;
    jsonl->changed = stat.st_mtim;
    jsonl->source = (struct source){
        .ops = &jsonl_ops,
        .name = {path, strlen(path)},
        .entities = arena_zero(jsonl->arena, sizeof *jsonl->source.entities),
        .entity_count = 1,
        .readers_max = (size_t)(jsonl->size / PART_BYTES) + 1,
    };
    jsonl->source.entities[0].name = jsonl->source.name;
    jsonl->source.entities[0].rows_estimate = estimate_rows(jsonl);
    *out = &jsonl->source;
    return true;
}

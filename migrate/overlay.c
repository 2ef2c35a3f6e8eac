#include "migrate/overlay.h"

#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An item that is gone stands in the temporary table with its key and this attribute, whose name no
 * item of a real table has. */
#define GONE "refold: gone from the dry run 6b1f0e52c9d84a7f"

struct overlay {
    struct store base;
    struct store *under;
    struct store *over; /* the temporary table */
    const struct table_desc *table;
};

struct overlay_reader {
    struct store_reader base;
    struct store_reader *under;
    struct store_reader *over;
    struct arena *arena; /* of the page at hand */
    struct buffer cursor;
};

static struct overlay *overlay_of(struct store *store)
{
    return (struct overlay *)store;
}

static struct overlay_reader *reader_of(struct store_reader *reader)
{
    return (struct overlay_reader *)reader;
}

static bool is_gone(struct value item)
{
    return !value_is_missing(value_member(item, STR(GONE)));
}

/* ---------------------------------------------------------------- readers */

static bool reader_open(struct store *base, struct store_reader **out, struct error *err)
{
    struct overlay *overlay = overlay_of(base);
    struct overlay_reader *reader = heap_alloc(sizeof *reader);
    reader->base.store = base;
    if (!store_reader_open(overlay->under, &reader->under, err) ||
        !store_reader_open(overlay->over, &reader->over, err)) {
        store_reader_close(reader->under);
        heap_free(reader);
        return false;
    }
    reader->arena = arena_new();
    *out = &reader->base;
    return true;
}

static void reader_close(struct store_reader *base)
{
    struct overlay_reader *reader = reader_of(base);
    store_reader_close(reader->under);
    store_reader_close(reader->over);
    arena_free(reader->arena);
    buffer_free(&reader->cursor);
    heap_free(reader);
}

static void release(struct store_reader *base)
{
    struct overlay_reader *reader = reader_of(base);
    store_release(reader->under);
    store_release(reader->over);
}

static bool get(struct store_reader *base, const struct key *keys, size_t count,
                struct arena *arena, struct stored_item *out, struct error *err)
{
    struct overlay_reader *reader = reader_of(base);
    struct stored_item *changed = arena_alloc(arena, (count + 1) * sizeof *changed);
    if (!store_get(reader->over, keys, count, arena, changed, err) ||
        !store_get(reader->under, keys, count, arena, out, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!value_is_missing(changed[i].item)) {
            struct stored_item none = {.stamp = 0};
            out[i] = is_gone(changed[i].item) ? none : changed[i];
        }
    }
    return true;
}

/* ---------------------------------------------------------------- pages */

/* A segment is read in two parts: the items of the table as they would be, and then those that
 * stand in none of its places. The first byte of a cursor tells in which part it is. */
enum { PART_UNDER = 'u', PART_OVER = 'o' };

/* Whether the other table has items under the keys of a page's items. */
struct looked_up {
    const struct page *page;
    struct stored_item *others; /* by item of the page */
};

static bool look_up(struct overlay_reader *reader, struct store_reader *in, const struct page *page,
                    struct looked_up *out, struct error *err)
{
    const struct key_schema *keys = &overlay_of(reader->base.store)->table->keys;
    struct key *list = arena_alloc(reader->arena, (page->count + 1) * sizeof *list);
    out->page = page;
    out->others = arena_alloc(reader->arena, (page->count + 1) * sizeof *out->others);
    for (size_t i = 0; i < page->count; i++) {
        if (!key_of_item(keys, page->items[i].item, &list[i], err)) {
            return false;
        }
    }
    return page->count == 0 || store_get(in, list, page->count, reader->arena, out->others, err);
}

static void set_cursor(struct overlay_reader *reader, char part, struct str cursor,
                       struct page *out)
{
    reader->cursor.len = 0;
    buffer_add_char(&reader->cursor, part);
    buffer_add(&reader->cursor, cursor);
    out->cursor = buffer_str(&reader->cursor);
}

static bool read_under(struct overlay_reader *reader, struct segment segment, struct str cursor,
                       const struct page_limits *limits, struct page *out, struct error *err)
{
    struct page page;
    struct looked_up changed;
    if (!store_read_page(reader->under, segment, cursor, limits, &page, err) ||
        !look_up(reader, reader->over, &page, &changed, err)) {
        return false;
    }
    struct stored_item *items = arena_alloc(reader->arena, (page.count + 1) * sizeof *items);
    *out = (struct page){.items = items};
    for (size_t i = 0; i < page.count; i++) {
        const struct stored_item *other = &changed.others[i];
        if (value_is_missing(other->item)) {
            items[out->count++] = page.items[i];
        } else if (!is_gone(other->item)) {
            items[out->count++] = *other;
        }
    }
    set_cursor(reader, page.last ? PART_OVER : PART_UNDER, page.last ? STR("") : page.cursor, out);
    return true;
}

static bool read_over(struct overlay_reader *reader, struct segment segment, struct str cursor,
                      const struct page_limits *limits, struct page *out, struct error *err)
{
    struct page page;
    struct looked_up standing;
    if (!store_read_page(reader->over, segment, cursor, limits, &page, err) ||
        !look_up(reader, reader->under, &page, &standing, err)) {
        return false;
    }
    struct stored_item *items = arena_alloc(reader->arena, (page.count + 1) * sizeof *items);
    *out = (struct page){.items = items, .last = page.last};
    for (size_t i = 0; i < page.count; i++) {
        if (value_is_missing(standing.others[i].item) && !is_gone(page.items[i].item)) {
            items[out->count++] = page.items[i];
        }
    }
    set_cursor(reader, PART_OVER, page.cursor, out);
    return true;
}

static bool read_page(struct store_reader *base, struct segment segment, struct str cursor,
                      const struct page_limits *limits, struct page *out, struct error *err)
{
    struct overlay_reader *reader = reader_of(base);
    bool is_over = cursor.len > 0 && cursor.ptr[0] == PART_OVER;
    size_t skip = cursor.len > 0 ? 1 : 0;
    struct str place = {cursor.ptr + skip, cursor.len - skip};
    arena_reset(reader->arena);
    return is_over ? read_over(reader, segment, place, limits, out, err)
                   : read_under(reader, segment, place, limits, out, err);
}

/* ---------------------------------------------------------------- writing */

static bool gone_item(const struct key_schema *keys, const struct key *key, struct arena *arena,
                      struct value *out, struct error *err)
{
    struct attribute members[2 * KEY_PARTS_MAX + 1];
    for (size_t i = 0; i < key->count; i++) {
        const struct key_attribute *attribute = i < keys->partition_count
                                                    ? &keys->partition[i]
                                                    : &keys->sort[i - keys->partition_count];
        members[i] = (struct attribute){attribute->name, key->parts[i]};
    }
    members[key->count] = (struct attribute){STR(GONE), value_null()};
    return value_map(arena, members, key->count + 1, out, err);
}

/* One write as puts into the temporary table. */
static bool translate(const struct overlay *overlay, const struct write *write, struct arena *arena,
                      struct write *out, size_t *count, struct error *err)
{
    struct write put = {.kind = WRITE_PUT, .overwrite = true};
    if (write->kind == WRITE_DELETE || write->kind == WRITE_MOVE) {
        if (!gone_item(&overlay->table->keys, &write->key, arena, &put.item, err)) {
            return false;
        }
        out[(*count)++] = put;
    }
    if (write->kind != WRITE_DELETE) {
        put.item = write->item;
        out[(*count)++] = put;
    }
    return true;
}

static bool translate_all(const struct overlay *overlay, const struct effect *effect,
                          struct arena *arena, struct effect *out, struct error *err)
{
    *out = (struct effect){.writes = arena_alloc(arena, 2 * effect->count * sizeof *out->writes)};
    for (size_t i = 0; i < effect->count; i++) {
        if (!translate(overlay, &effect->writes[i], arena, out->writes, &out->count, err)) {
            return false;
        }
    }
    return true;
}

/* Collisions were found by the probe before, and nobody else writes here: all effects apply. */
static bool commit(struct store *base, struct batch *batch, struct error *err)
{
    struct overlay *overlay = overlay_of(base);
    struct effect *effects = arena_alloc(batch->arena, (batch->count + 1) * sizeof *effects);
    for (size_t i = 0; i < batch->count; i++) {
        struct effect *effect = &batch->effects[i];
        if (!translate_all(overlay, effect, batch->arena, &effects[i], err)) {
            return false;
        }
        effect->outcome = OUTCOME_APPLIED;
    }
    struct batch puts = {
        .effects = effects, .count = batch->count, .pass = batch->pass, .arena = batch->arena};
    return store_commit(overlay->over, &puts, err);
}

static bool flush(struct store *base, struct error *err)
{
    return store_flush(overlay_of(base)->over, err);
}

static bool describe(struct store *base, struct arena *arena, struct table_desc *out,
                     struct error *err)
{
    (void)arena;
    (void)err;
    *out = *overlay_of(base)->table;
    return true;
}

static void order_key(const struct store *base, const struct key *key, struct buffer *out)
{
    store_order_key(((const struct overlay *)base)->under, key, out);
}

static void close_overlay(struct store *base)
{
    struct overlay *overlay = overlay_of(base);
    store_close(overlay->over);
    heap_free(overlay);
}

/* ---------------------------------------------------------------- the temporary table */

static void remove_files(const char *folder, const char *path, struct arena *arena)
{
    static const char *const suffixes[] = {"", "-lock", "-run"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        (void)unlink(arena_format(arena, "%s%s", path, suffixes[i]).ptr);
    }
    (void)rmdir(folder);
}

static bool open_over(const struct table_desc *table, const char *temp_dir, struct arena *arena,
                      struct store **out, struct error *err)
{
    struct str folder = arena_format(arena, "%s/refold-XXXXXX", temp_dir);
    char *made = arena_bytes(arena, folder.len + 1);
    memcpy(made, folder.ptr, folder.len + 1);
    if (mkdtemp(made) == NULL) {
        return error_set(err, ERROR_STORE, "no folder can be made in %s: %s", temp_dir,
                         strerror(errno));
    }
    struct table_desc keys = {.keys = table->keys};
    struct store_options options = {.mode = STORE_CREATE, .create = &keys, .temp_dir = temp_dir};
    const char *path = arena_format(arena, "%s/overlay.refold", made).ptr;
    bool ok = lmdb_store_open(path, &options, out, err);
    remove_files(made, path, arena);
    return ok;
}

bool overlay_open(struct store *under, const struct table_desc *table, const char *temp_dir,
                  struct store **out, struct error *err)
{
    static const struct store_ops ops = {
        .close = close_overlay,
        .describe = describe,
        .reader_open = reader_open,
        .reader_close = reader_close,
        .read_page = read_page,
        .release = release,
        .get = get,
        .commit = commit,
        .flush = flush,
        .order_key = order_key,
        .keeps_pass = true,
    };
    struct arena *arena = arena_new();
    struct store *over = NULL;
    bool ok = open_over(table, temp_dir, arena, &over, err);
    arena_free(arena);
    if (!ok) {
        return error_wrap(err, "the dry run's own table");
    }
    struct overlay *overlay = heap_alloc(sizeof *overlay);
    *overlay = (struct overlay){{&ops}, under, over, table};
    *out = &overlay->base;
    return true;
}

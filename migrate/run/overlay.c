#include "migrate/run/overlay.h"

#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An item that is gone stands in the temporary table with its key and this attribute, whose name no
 * item of a real table has. */
#define GONE "refold: gone from the dry run 6b1f0e52c9d84a7f"

enum { FIRST_CAPACITY = 256 };

struct overlay {
    struct store base;
    struct store_ops ops;
    struct store *under;
    struct store *over; /* the temporary table */
    const struct table_desc *table;
};

struct overlay_reader {
    struct store_reader base;
    struct store_reader *under;
    struct store_reader *over;
    struct stored_item *items; /* of the page at hand */
    size_t capacity;
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

static void reader_close(struct store_reader *base)
{
    struct overlay_reader *reader = reader_of(base);
    store_reader_close(reader->under);
    store_reader_close(reader->over);
    heap_free(reader->items);
    buffer_free(&reader->cursor);
    arena_free(reader->arena);
    heap_free(reader);
}

static bool reader_open(struct store *base, struct store_reader **out, struct error *err)
{
    struct overlay *overlay = overlay_of(base);
    struct overlay_reader *reader = heap_alloc(sizeof *reader);
    reader->base.store = base;
    reader->arena = arena_new();
    if (!store_reader_open(overlay->under, &reader->under, err) ||
        !store_reader_open(overlay->over, &reader->over, err)) {
        reader_close(&reader->base);
        return false;
    }
    *out = &reader->base;
    return true;
}

static void release(struct store_reader *base)
{
    struct overlay_reader *reader = reader_of(base);
    store_release(reader->under);
    store_release(reader->over);
}

static bool get(struct store_reader *base, struct key_list keys, struct arena *arena,
                struct stored_item *out, struct error *err)
{
    struct overlay_reader *reader = reader_of(base);
    struct stored_item *changed = arena_alloc(arena, keys.count * sizeof *changed);
    if (!store_get(reader->over, keys, arena, changed, err) ||
        !store_get(reader->under, keys, arena, out, err)) {
        return false;
    }
    for (size_t i = 0; i < keys.count; i++) {
        if (!value_is_missing(changed[i].item)) {
            struct stored_item none = {.stamp = 0};
            out[i] = is_gone(changed[i].item) ? none : changed[i];
        }
    }
    return true;
}

static bool expect(struct store_reader *base, struct key_list keys, struct error *err)
{
    return store_expect(reader_of(base)->under, keys, err);
}

/* ---------------------------------------------------------------- pages */

/* A segment is read from the table below, without what has changed, and then from the temporary
 * table: the two need not agree on an order. A cursor says which, then where in it. */
enum { FROM_UNDER = 'u', FROM_OVER = 'o' };

static void add_item(struct overlay_reader *reader, size_t *count, const struct stored_item *item)
{
    if (*count == reader->capacity) {
        reader->capacity = *count == 0 ? FIRST_CAPACITY : 2 * *count;
        reader->items = heap_resize(reader->items, reader->capacity * sizeof *reader->items);
    }
    reader->items[(*count)++] = *item;
}

static struct str make_cursor(struct overlay_reader *reader, char from, struct str place)
{
    reader->cursor.len = 0;
    buffer_add_char(&reader->cursor, from);
    buffer_add(&reader->cursor, place);
    return buffer_str(&reader->cursor);
}

/* Of a page of the table below, the items that have not changed. */
static bool take_unchanged(struct overlay_reader *reader, const struct page *page, struct page *out,
                           struct error *err)
{
    size_t count = 0;
    const struct key_schema *keys = &overlay_of(reader->base.store)->table->keys;
    arena_reset(reader->arena);
    struct key *of = arena_alloc(reader->arena, (page->count + 1) * sizeof *of);
    struct stored_item *changed = arena_alloc(reader->arena, (page->count + 1) * sizeof *changed);
    for (size_t i = 0; i < page->count; i++) {
        if (!key_of_item(keys, page->items[i].item, &of[i], err)) {
            return false;
        }
    }
    if (!store_get(reader->over, (struct key_list){of, page->count}, reader->arena, changed, err)) {
        return false;
    }
    for (size_t i = 0; i < page->count; i++) {
        if (value_is_missing(changed[i].item)) {
            add_item(reader, &count, &page->items[i]);
        }
    }
    *out = (struct page){.items = reader->items, .count = count};
    out->cursor = page->last ? make_cursor(reader, FROM_OVER, STR(""))
                             : make_cursor(reader, FROM_UNDER, page->cursor);
    return true;
}

/* Of a page of the temporary table, the items that stand. */
static void take_standing(struct overlay_reader *reader, const struct page *page, struct page *out)
{
    size_t count = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (!is_gone(page->items[i].item)) {
            add_item(reader, &count, &page->items[i]);
        }
    }
    *out = (struct page){.items = reader->items, .count = count, .last = page->last};
    out->cursor = make_cursor(reader, FROM_OVER, page->cursor);
}

static bool read_page(struct store_reader *base, const struct page_place *from, struct page *out,
                      struct error *err)
{
    struct overlay_reader *reader = reader_of(base);
    struct buffer place = {0}; /* the cursor may be the reader's own */
    struct str cursor = from->cursor;
    buffer_add(&place, cursor);
    struct str where = cursor.len == 0 ? STR("") : (struct str){place.bytes + 1, place.len - 1};
    bool over = cursor.len > 0 && cursor.ptr[0] == FROM_OVER;
    struct page page;
    bool ok = store_read_page(over ? reader->over : reader->under,
                              &(struct page_place){from->segment, where, from->limits}, &page, err);
    buffer_free(&place);
    if (ok && over) {
        take_standing(reader, &page, out);
    }
    return ok && (over || take_unchanged(reader, &page, out, err));
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

/* One write as puts into the temporary table, two at most. */
static bool translate(const struct overlay *overlay, const struct write *write, struct arena *arena,
                      struct effect *out, struct error *err)
{
    struct write put = {.kind = WRITE_PUT, .overwrite = true};
    if (write->kind == WRITE_DELETE || write->kind == WRITE_MOVE) {
        if (!gone_item(&overlay->table->keys, &write->key, arena, &put.item, err)) {
            return false;
        }
        out->writes[out->count++] = put;
    }
    if (write->kind != WRITE_DELETE) {
        put.item = write->item;
        out->writes[out->count++] = put;
    }
    return true;
}

static bool translate_effect(const struct overlay *overlay, const struct effect *effect,
                             struct arena *arena, struct effect *out, struct error *err)
{
    *out = (struct effect){.writes = arena_alloc(arena, 2 * effect->count * sizeof *out->writes)};
    for (size_t i = 0; i < effect->count; i++) {
        if (!translate(overlay, &effect->writes[i], arena, out, err)) {
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
        if (!translate_effect(overlay, &batch->effects[i], batch->arena, &effects[i], err)) {
            return false;
        }
        batch->effects[i].outcome = OUTCOME_APPLIED;
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
        .expect = expect,
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
    *overlay = (struct overlay){{.ops = &overlay->ops}, ops, under, over, table};
    if (!store_gets_are_slow(under)) {
        overlay->ops.expect = NULL;
    }
    *out = &overlay->base;
    return true;
}

#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"

/* Sent together: enough for many batches of 25 under way at once. */
enum { LOAD_ITEMS = 2000, LOAD_BYTES = 8 << 20 };

struct ddb_load {
    struct arena *arena;
    struct value items[LOAD_ITEMS];
    size_t count;
    size_t bytes;
};

void bulk_load_free(struct ddb_load *load)
{
    if (load != NULL) {
        arena_free(load->arena);
        heap_free(load);
    }
}

static void end_load(struct ddb_store *store)
{
    bulk_load_free(store->load);
    store->load = NULL;
}

bool ddb_load_open(struct store *base, uint64_t pass, struct error *err)
{
    (void)pass;
    struct ddb_store *store = ddb_of(base);
    end_load(store);
    store->load = heap_alloc(sizeof *store->load);
    store->load->arena = arena_new();
    return lease_check(store, err);
}

static bool send(struct ddb_store *store, struct error *err)
{
    struct ddb_load *load = store->load;
    bool ok = load->count == 0 || bulk_put(store, load->items, load->count, err);
    load->count = 0;
    load->bytes = 0;
    arena_reset(load->arena);
    return ok;
}

bool ddb_load_item(struct store *base, const struct key *key, struct value item, struct error *err)
{
    (void)key;
    struct ddb_store *store = ddb_of(base);
    struct ddb_load *load = store->load;
    if (!flight_check_item(&store->table.desc, (struct value){NULL, 0}, item, err)) {
        return false;
    }
    load->items[load->count++] = value_copy(load->arena, item);
    load->bytes += item.len;
    bool full = load->count == LOAD_ITEMS || load->bytes >= LOAD_BYTES;
    return !full || send(store, err);
}

bool ddb_load_close(struct store *base, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    bool ok = send(store, err);
    end_load(store);
    return ok;
}

/* ---------------------------------------------------------------- emptying */

static bool delete_page(struct ddb_store *store, const struct page *page, struct error *err)
{
    struct arena *arena = arena_new();
    struct value *items = arena_alloc(arena, (page->count + 1) * sizeof *items);
    for (size_t i = 0; i < page->count; i++) {
        items[i] = page->items[i].item;
    }
    bool ok = page->count == 0 || bulk_delete(store, items, page->count, err);
    arena_free(arena);
    return ok;
}

bool ddb_load_abort(struct store *base, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct store_reader *reader = NULL;
    struct page page = {.last = false};
    struct page_limits limits = {.items = 0};
    struct buffer cursor = {0};
    end_load(store);
    bool ok = ddb_reader_open(base, &reader, err);
    while (ok && !page.last) {
        struct page_place place = {{0, 1}, buffer_str(&cursor), &limits};
        ok = ddb_read_page(reader, &place, &page, err) && delete_page(store, &page, err);
        if (ok) {
            cursor.len = 0;
            buffer_add(&cursor, page.cursor);
        }
    }
    if (reader != NULL) {
        ddb_reader_close(reader);
    }
    buffer_free(&cursor);
    return ok;
}

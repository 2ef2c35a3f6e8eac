#include "engine/base/hash.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_segments_internal.h"
#include "engine/store/dynamodb/ddb_undo_internal.h"

#include <string.h>

/* What a page of a scan is expected to read: up to 1 MB, consistent, 4 KB a unit. */
static const double page_units = 128;

/* Where less than one in so many items is wanted, the next page looks at twice as many. */
enum { PAGE_SPARSE = 4, PAGE_TIMES_MAX = 64 };

bool ddb_reader_open(struct store *base, struct store_reader **out, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_reader *reader = heap_alloc(sizeof *reader);
    reader->base.store = base;
    reader->page_times = 1;
    ddb_page_size_share(&store->page_size, 1);
    reader->arena = arena_new();
    reader->scratch = arena_new();
    reader->table_arena = arena_new();
    if (!ddb_client_open(store->account, &reader->client, err)) {
        ddb_reader_close(&reader->base);
        return false;
    }
    *out = &reader->base;
    return true;
}

void ddb_reader_close(struct store_reader *base)
{
    struct ddb_reader *reader = ddb_reader_of(base);
    ddb_page_size_share(&ddb_of(base->store)->page_size, -1);
    expected_drop(reader);
    ddb_client_close(reader->client);
    undo_index_free(reader->undo);
    arena_free(reader->arena);
    arena_free(reader->scratch);
    arena_free(reader->table_arena);
    composer_free(&reader->composer);
    buffer_free(&reader->cursor);
    heap_free(reader->items);
    heap_free(reader);
}

void ddb_release(struct store_reader *base)
{
    struct ddb_reader *reader = ddb_reader_of(base);
    arena_reset(reader->arena);
    expected_drop(reader);
}

/* ---------------------------------------------------------------- pages */

static void add_item(struct ddb_reader *reader, struct page *page, struct value item)
{
    enum { ITEMS_FIRST = 256 };
    if (page->count == reader->capacity) {
        reader->capacity = reader->capacity == 0 ? ITEMS_FIRST : 2 * reader->capacity;
        reader->items = heap_resize(reader->items, reader->capacity * sizeof *reader->items);
    }
    reader->items[page->count++] = (struct stored_item){.item = item};
    page->items = reader->items;
}

static bool take_items(struct ddb_reader *reader, const struct json *reply, struct page *page,
                       struct error *err)
{
    const struct ddb_store *store = ddb_of(reader->base.store);
    const struct json *items = answer_list(reply, "Items");
    for (size_t i = 0; i < items->count; i++) {
        struct value item;
        bool is_ours = false;
        if (!answer_element(&items->items[i], reader->arena, &item, err) ||
            !reserved_look(store, item, &is_ours, err)) {
            return false;
        }
        if (!is_ours) {
            add_item(reader, page, item);
        }
    }
    uint64_t scanned = answer_count(reply, "ScannedCount");
    bool sparse = items->count < scanned / PAGE_SPARSE;
    size_t times = sparse ? 2 * reader->page_times : 1;
    reader->page_times = times < PAGE_TIMES_MAX ? times : PAGE_TIMES_MAX;
    page->left_out = scanned > items->count ? (size_t)scanned - items->count : 0;
    return true;
}

/* The segment goes on behind the last key that was looked at; without one it has ended. */
static bool take_cursor(struct ddb_reader *reader, const struct json *reply, struct str cursor,
                        struct page *page, struct error *err)
{
    const struct ddb_store *store = ddb_of(reader->base.store);
    struct value last;
    struct key key;
    if (!answer_item(reply, "LastEvaluatedKey", reader->scratch, &last, err)) {
        return false;
    }
    page->last = value_is_missing(last);
    page->cursor = cursor;
    if (page->last) {
        return true;
    }
    if (!key_of_item(&store->table.desc.keys, last, &key, err)) {
        err->code = ERROR_STORE;
        return error_wrap(err, "the server's LastEvaluatedKey");
    }
    reader->cursor.len = 0;
    key_encode(&key, &reader->cursor);
    page->cursor = buffer_str(&reader->cursor);
    return true;
}

static bool is_start(const struct page_place *from)
{
    return from->cursor.len == 0 && from->segment.total > 1;
}

/* A segment begins with a short page of all items: its first item tells whether the server knows
 * segments, and which would come first of those that are wanted changes while the plan runs. */
static struct page_use use_of(const struct page_place *from, size_t *items)
{
    enum { FIRST_ITEMS = 100 };
    struct page_use use = {.any_of_count = 0};
    if (from->limits->use != NULL) {
        use = *from->limits->use;
    }
    if (use.any_of_count > 0 && is_start(from)) {
        use.any_of_count = 0;
        *items = *items < FIRST_ITEMS ? *items : FIRST_ITEMS;
    }
    return use;
}

static void compose_segment(struct composer *composer, struct segment segment, struct arena *arena)
{
    if (segment.total > 1) {
        compose_raw(composer, "Segment", arena_format(arena, "%u", segment.index));
        compose_raw(composer, "TotalSegments", arena_format(arena, "%u", segment.total));
    }
}

static bool decode_cursor(const struct ddb_store *store, struct str cursor, struct key *out,
                          struct error *err)
{
    const struct key_schema *keys = &store->table.desc.keys;
    return key_decode(cursor, keys->partition_count + keys->sort_count, out, err) ||
           error_wrap(err, "the cursor");
}

/* What lies in a collection from the cursor's key to another. */
static bool compose_range(struct ddb_reader *reader, const struct key *from, struct str until,
                          struct error *err)
{
    const struct ddb_store *store = ddb_of(reader->base.store);
    const struct key_schema *keys = &store->table.desc.keys;
    struct composer *composer = &reader->composer;
    struct key end;
    if (!decode_cursor(store, until, &end, err)) {
        return false;
    }
    unsigned partition = compose_name(composer, keys->partition[0].name);
    unsigned sort = compose_name(composer, keys->sort[0].name);
    unsigned which = compose_value(composer, from->parts[0]);
    unsigned low = compose_value(composer, from->parts[1]);
    unsigned high = compose_value(composer, end.parts[1]);
    compose_text(composer, "KeyConditionExpression",
                 arena_format(reader->scratch, "#%u=:%u AND #%u BETWEEN :%u AND :%u", partition,
                              which, sort, low, high));
    return true;
}

/* A range is a query, which takes no filter that names keys. */
static bool compose_place(struct ddb_reader *reader, const struct page_place *from,
                          struct page_use *use, struct error *err)
{
    const struct ddb_store *store = ddb_of(reader->base.store);
    struct composer *composer = &reader->composer;
    bool is_range = from->limits->until.len > 0;
    struct key key;
    if (!is_range) {
        compose_segment(composer, from->segment, reader->scratch);
    }
    if (from->cursor.len == 0) {
        return true;
    }
    if (!decode_cursor(store, from->cursor, &key, err) ||
        (is_range && !compose_range(reader, &key, from->limits->until, err))) {
        return false;
    }
    use->any_of_count = is_range ? 0 : use->any_of_count;
    compose_key(composer, "ExclusiveStartKey", &store->table.desc.keys, &key);
    return true;
}

static bool compose_page(struct ddb_reader *reader, const struct page_place *from,
                         struct error *err)
{
    const struct page_limits *limits = from->limits;
    struct ddb_store *store = ddb_of(reader->base.store);
    size_t limit = reader->page_times * ddb_page_size_now(&store->page_size);
    limit = limits->items > 0 ? limits->items : limit;
    struct page_use use = use_of(from, &limit);
    struct composer *composer = &reader->composer;
    struct arena *arena = reader->scratch;
    compose_begin(composer, store->target.table);
    compose_raw(composer, "ConsistentRead", limits->may_be_stale ? STR("false") : STR("true"));
    compose_raw(composer, "Limit", arena_format(arena, "%zu", limit));
    compose_text(composer, "ReturnConsumedCapacity", STR("TOTAL"));
    if (!compose_place(reader, from, &use, err)) {
        return false;
    }
    struct scan_mark mark = reserved_mark(store, arena);
    compose_use(composer, &store->table.desc.keys, &use, &mark);
    return true;
}

/* The key of a segment's first item now; *found is false where it has none. */
static bool ask_first(struct ddb_reader *reader, struct segment segment, struct key *out,
                      bool *found, struct error *err)
{
    const struct ddb_store *store = ddb_of(reader->base.store);
    struct composer *composer = &reader->composer;
    struct arena *arena = reader->scratch;
    const struct json *reply = NULL;
    struct value item;
    compose_begin(composer, store->target.table);
    compose_raw(composer, "ConsistentRead", STR("true"));
    compose_raw(composer, "Segment", arena_format(arena, "%u", segment.index));
    compose_raw(composer, "TotalSegments", arena_format(arena, "%u", segment.total));
    compose_raw(composer, "Limit", STR("1"));
    struct ddb_request request = {.operation = "Scan", .body = compose_end(composer, arena)};
    struct ddb_asking asking = {store, reader->client, arena};
    if (!answer_calls(&asking, &request, 1, err) ||
        !answer_expect(store, &request, arena, &reply, err)) {
        return false;
    }
    const struct json *items = answer_list(reply, "Items");
    *found = items->count > 0;
    return !*found || (answer_element(&items->items[0], arena, &item, err) &&
                       key_of_item(&store->table.desc.keys, item, out, err));
}

/* The first segment and the last begin with one item only where all are the same. */
static bool is_ignored(struct ddb_reader *reader, uint32_t total, bool *out, struct error *err)
{
    struct key keys[2];
    bool found[2] = {false, false};
    if (!ask_first(reader, (struct segment){0, total}, &keys[0], &found[0], err) ||
        !ask_first(reader, (struct segment){total - 1, total}, &keys[1], &found[1], err)) {
        return false;
    }
    *out = found[0] && found[1] && key_equal(&keys[0], &keys[1]);
    return true;
}

/* Where the server gives every segment the whole table, only one of them is read. */
static bool check_overlap(struct ddb_reader *reader, struct segment segment, struct page *page,
                          struct error *err)
{
    const struct ddb_store *store = ddb_of(reader->base.store);
    struct key first;
    bool ignored = false;
    bool news = false;
    if (page->count == 0) {
        return true;
    }
    if (!key_of_item(&store->table.desc.keys, page->items[0].item, &first, err)) {
        return false;
    }
    enum ddb_segment_use use = ddb_segments_first(store->segments, segment, &first);
    if (use == DDB_SEGMENT_OVERLAPS && !is_ignored(reader, segment.total, &ignored, err)) {
        return false;
    }
    if (ignored) {
        use = ddb_segments_ignored(store->segments, segment, &first, &news);
    }
    if (news) {
        ddb_say(store, "the server gives every segment the whole table: it is read as one");
    }
    if (use == DDB_SEGMENT_IDLE) {
        *page = (struct page){.last = true};
    }
    return true;
}

static struct ddb_request request_of(struct ddb_reader *reader, const struct page_place *from)
{
    const struct page_limits *limits = from->limits;
    bool is_range = limits->until.len > 0;
    return (struct ddb_request){
        .operation = is_range ? "Query" : "Scan",
        .body = compose_end(&reader->composer, reader->scratch),
        .lane = is_range ? hash_64(limits->until) : (uint64_t)from->segment.index + 1,
        .units = limits->may_be_stale ? page_units / 2 : page_units,
    };
}

bool ddb_read_page(struct store_reader *base, const struct page_place *from, struct page *out,
                   struct error *err)
{
    struct ddb_reader *reader = ddb_reader_of(base);
    const struct ddb_store *store = ddb_of(base->store);
    struct page page = {.last = true};
    if (is_start(from) && ddb_segments_begin(store->segments, from->segment) == DDB_SEGMENT_IDLE) {
        *out = page;
        return true;
    }
    const struct json *reply = NULL;
    ddb_release(base);
    arena_reset(reader->scratch);
    if (!compose_page(reader, from, err)) {
        return false;
    }
    struct ddb_request request = request_of(reader, from);
    struct ddb_asking asking = {store, reader->client, reader->scratch};
    if (!answer_calls(&asking, &request, 1, err) ||
        !answer_expect(store, &request, reader->scratch, &reply, err) ||
        !take_items(reader, reply, &page, err) ||
        !take_cursor(reader, reply, from->cursor, &page, err) ||
        (is_start(from) && !check_overlap(reader, from->segment, &page, err))) {
        return false;
    }
    *out = page;
    return true;
}

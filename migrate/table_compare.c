#include "migrate/table_compare.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"

/* Attributes that a finding names. */
enum { NAMED_MAX = 5 };

/* A table read item by item. */
struct side {
    struct store *store;
    struct store_reader *reader;
    struct page page;
    size_t at; /* in the page */
    struct buffer cursor;
    struct buffer order; /* of the item at hand */
    struct value item;   /* missing: behind the last */
    struct key key;
};

struct walk {
    const struct table_comparison *comparison;
    struct arena *arena; /* for one finding */
    struct table_comparison_counts counts;
};

static bool next_page(struct side *side, struct error *err)
{
    struct page_limits limits = {0};
    if (!store_read_page(side->reader, (struct segment){0, 1}, buffer_str(&side->cursor), &limits,
                         &side->page, err)) {
        return false;
    }
    side->cursor.len = 0;
    buffer_add(&side->cursor, side->page.cursor);
    side->at = 0;
    return true;
}

static bool next_item(struct walk *walk, struct side *side, struct error *err)
{
    while (side->at == side->page.count) {
        if (side->page.last) {
            side->item = (struct value){NULL, 0};
            return true;
        }
        if (atomic_load(walk->comparison->stop)) {
            return error_set(err, ERROR_STOPPED, "interrupted");
        }
        if (!next_page(side, err)) {
            return false;
        }
    }
    side->item = side->page.items[side->at++].item;
    side->order.len = 0;
    if (!key_of_item(walk->comparison->keys, side->item, &side->key, err)) {
        return false;
    }
    store_order_key(side->store, &side->key, &side->order);
    return true;
}

/* Adds the name of an attribute to "Name, Tier, …". */
static void name_attribute(struct buffer *names, size_t *count, struct str name)
{
    if (*count < NAMED_MAX) {
        buffer_format(names, "%s%.*s", *count == 0 ? "" : ", ", STR_ARG(name));
    } else if (*count == NAMED_MAX) {
        buffer_add(names, STR(", ..."));
    }
    (*count)++;
}

/* The attributes in which two items differ. */
static struct str differing(struct value wanted, struct value found, struct arena *arena)
{
    struct buffer names = {0};
    size_t count = 0;
    struct attribute attribute;
    struct value_iter iter = value_members(wanted);
    while (value_next(&iter, &attribute)) {
        if (!value_equal(attribute.value, value_member(found, attribute.name))) {
            name_attribute(&names, &count, attribute.name);
        }
    }
    iter = value_members(found);
    while (value_next(&iter, &attribute)) {
        if (value_is_missing(value_member(wanted, attribute.name))) {
            name_attribute(&names, &count, attribute.name);
        }
    }
    struct str text = arena_copy(arena, buffer_str(&names));
    buffer_free(&names);
    return text;
}

static void tell(struct walk *walk, const struct key *key, const char *what, struct str more)
{
    const struct table_comparison *comparison = walk->comparison;
    struct str shown = key_print(comparison->keys, key, walk->arena);
    struct str text =
        arena_format(walk->arena, "%.*s: %s%.*s", STR_ARG(shown), what, STR_ARG(more));
    comparison->finding(comparison->context, text.ptr);
    arena_reset(walk->arena);
}

/* <0: only wanted has the next item; >0: only found; 0: both. */
static int next_order(const struct side *wanted, const struct side *found)
{
    if (value_is_missing(wanted->item) || value_is_missing(found->item)) {
        return value_is_missing(wanted->item) ? 1 : -1;
    }
    return str_compare(buffer_str(&wanted->order), buffer_str(&found->order));
}

static void compare_items(struct walk *walk, const struct side *wanted, const struct side *found)
{
    if (value_equal(wanted->item, found->item)) {
        walk->counts.equal++;
        return;
    }
    struct str names = differing(wanted->item, found->item, walk->arena);
    tell(walk, &found->key, "differs in ", names);
}

/* Tells what the items at hand are to each other. */
static void compare_next(struct walk *walk, const struct side *wanted, const struct side *found,
                         int order)
{
    if (order < 0) {
        tell(walk, &wanted->key, "is missing", STR(""));
    } else if (order > 0) {
        tell(walk, &found->key, "stands in the table, but nothing gives it", STR(""));
    } else {
        compare_items(walk, wanted, found);
    }
    walk->counts.wanted += order <= 0 ? 1 : 0;
}

static bool compare_all(struct walk *walk, struct side *wanted, struct side *found,
                        struct error *err)
{
    bool ok = next_item(walk, wanted, err) && next_item(walk, found, err);
    while (ok && !(value_is_missing(wanted->item) && value_is_missing(found->item))) {
        int order = next_order(wanted, found);
        compare_next(walk, wanted, found, order);
        ok = (order > 0 || next_item(walk, wanted, err)) &&
             (order < 0 || next_item(walk, found, err));
    }
    return ok;
}

static void close_side(struct side *side)
{
    if (side->reader != NULL) {
        store_reader_close(side->reader);
    }
    buffer_free(&side->cursor);
    buffer_free(&side->order);
}

bool table_compare(const struct table_comparison *comparison, struct table_comparison_counts *out,
                   struct error *err)
{
    struct walk walk = {.comparison = comparison, .arena = arena_new()};
    struct side wanted = {.store = comparison->wanted};
    struct side found = {.store = comparison->found};
    bool ok = store_reader_open(wanted.store, &wanted.reader, err) &&
              store_reader_open(found.store, &found.reader, err) &&
              compare_all(&walk, &wanted, &found, err);
    close_side(&wanted);
    close_side(&found);
    arena_free(walk.arena);
    if (ok) {
        *out = walk.counts;
    }
    return ok;
}

#include "migrate/import/table_compare.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"

/* Attributes that a finding names. */
enum { NAMED_MAX = 5, PAGE_ITEMS = 1000 };

/* One table read page by page, and what the other has under the same keys. */
struct walk {
    const struct table_comparison *comparison;
    struct store_reader *readers[2]; /* of wanted, of found */
    struct arena *page_arena;
    struct arena *arena; /* of one finding */
    struct table_comparison_counts counts;
    uint64_t met; /* items of `wanted` that have one of their key in `found` */
};

enum { WANTED, FOUND };

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

static void compare_items(struct walk *walk, const struct key *key, struct value wanted,
                          struct value found)
{
    if (value_is_missing(wanted)) {
        tell(walk, key, "stands in the table, but nothing gives it", STR(""));
        return;
    }
    walk->met++;
    if (value_equal(wanted, found)) {
        walk->counts.equal++;
        return;
    }
    struct str names = differing(wanted, found, walk->arena);
    tell(walk, key, "differs in ", names);
}

/* Looks up a page's keys in the other table. */
static bool compare_page(struct walk *walk, int side, const struct page *page, struct error *err)
{
    struct arena *arena = walk->page_arena;
    struct key *keys = arena_alloc(arena, (page->count + 1) * sizeof *keys);
    struct stored_item *others = arena_alloc(arena, (page->count + 1) * sizeof *others);
    for (size_t i = 0; i < page->count; i++) {
        if (!key_of_item(walk->comparison->keys, page->items[i].item, &keys[i], err)) {
            return false;
        }
    }
    if (page->count > 0 && !store_get(walk->readers[1 - side], (struct key_list){keys, page->count},
                                      arena, others, err)) {
        return false;
    }
    for (size_t i = 0; i < page->count; i++) {
        if (side == FOUND) {
            compare_items(walk, &keys[i], others[i].item, page->items[i].item);
        } else if (value_is_missing(others[i].item)) {
            tell(walk, &keys[i], "is missing", STR(""));
        }
    }
    return true;
}

static bool walk_table(struct walk *walk, int side, struct error *err)
{
    struct page_limits limits = {.items = PAGE_ITEMS};
    struct page page = {.last = false};
    struct buffer cursor = {0};
    bool ok = true;
    while (ok && !page.last) {
        arena_reset(walk->page_arena);
        ok = store_read_page(
                 walk->readers[side],
                 &(struct page_place){(struct segment){0, 1}, buffer_str(&cursor), &limits}, &page,
                 err) &&
             compare_page(walk, side, &page, err);
        if (ok) {
            cursor.len = 0;
            buffer_add(&cursor, page.cursor);
            store_release(walk->readers[side]);
        }
        if (ok && atomic_load(walk->comparison->stop)) {
            ok = error_set(err, ERROR_STOPPED, "interrupted");
        }
    }
    buffer_free(&cursor);
    return ok;
}

/* What is missing is looked for only where something is. */
static bool compare_all(struct walk *walk, struct error *err)
{
    struct table_desc wanted;
    if (!store_describe(walk->comparison->wanted, walk->page_arena, &wanted, err)) {
        return false;
    }
    walk->counts.wanted = wanted.item_count;
    return walk_table(walk, FOUND, err) &&
           (walk->met == walk->counts.wanted || walk_table(walk, WANTED, err));
}

bool table_compare(const struct table_comparison *comparison, struct table_comparison_counts *out,
                   struct error *err)
{
    struct walk walk = {.comparison = comparison, .page_arena = arena_new(), .arena = arena_new()};
    bool ok = store_reader_open(comparison->wanted, &walk.readers[WANTED], err) &&
              store_reader_open(comparison->found, &walk.readers[FOUND], err) &&
              compare_all(&walk, err);
    store_reader_close(walk.readers[WANTED]);
    store_reader_close(walk.readers[FOUND]);
    arena_free(walk.page_arena);
    arena_free(walk.arena);
    if (ok) {
        *out = walk.counts;
    }
    return ok;
}

#include "engine/scan/index_check.h"

#include "engine/base/arena.h"
#include "engine/store/store.h"

/* Shared by the threads, which only read it; `found` and `reported` are the committer's. */
struct index_pass {
    const struct index_check *check;
    struct key_schema table_keys;
    struct index_counts found;
    size_t reported;
};

static size_t parts_there(const struct key_attribute *attributes, size_t count, struct value item)
{
    size_t there = 0;
    for (size_t i = 0; i < count; i++) {
        there += value_is_missing(value_member(item, attributes[i].name)) ? 0 : 1;
    }
    return there;
}

static bool has_any_part(const struct key_schema *keys, struct value item)
{
    return parts_there(keys->partition, keys->partition_count, item) > 0 ||
           parts_there(keys->sort, keys->sort_count, item) > 0;
}

static struct str describe(const struct index_pass *pass, struct value item, const char *reason,
                           struct arena *arena)
{
    struct key key;
    struct error err = {0};
    struct str name = STR("an item");
    if (key_of_item(&pass->table_keys, item, &key, &err)) {
        name = key_print(&pass->table_keys, &key, arena);
    }
    return arena_format(arena, "%.*s: %s", STR_ARG(name), reason);
}

static bool check_item(void *worker, const struct stored_item *item, struct scan_result *out,
                       struct error *err)
{
    (void)err;
    const struct index_pass *pass = worker;
    struct index_counts *counts = out->tally;
    struct key key;
    bool present = false;
    struct error violation = {0};
    if (!key_of_index(pass->check->keys, item->item, &key, &present, &violation)) {
        if (counts->violating++ < pass->check->report_max) {
            out->note = describe(pass, item->item, violation.text, out->arena);
        }
    } else if (present) {
        counts->whole++;
    } else if (has_any_part(pass->check->keys, item->item)) {
        counts->partial++;
    } else {
        counts->without++;
    }
    return true;
}

static bool add_page(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                     struct error *err)
{
    (void)out;
    struct index_pass *pass = context;
    const struct index_resume *resume = pass->check->resume;
    const struct index_counts *counts = page->tally;
    pass->found.whole += counts->whole;
    pass->found.partial += counts->partial;
    pass->found.without += counts->without;
    pass->found.violating += counts->violating;
    for (size_t i = 0; i < page->note_count && pass->reported < pass->check->report_max; i++) {
        pass->check->report(pass->check->context, page->notes[i]);
        pass->reported++;
    }
    return resume == NULL || resume->page(resume->context, page, &pass->found, err);
}

static bool next_segment(void *context, struct scan_turn *out, struct error *err)
{
    const struct index_pass *pass = context;
    return pass->check->resume->next(pass->check->resume->context, out, err);
}

bool index_check_run(const struct scan_options *scan, const struct index_check *check,
                     struct index_counts *out, struct error *err)
{
    struct arena *arena = arena_new();
    struct table_desc table;
    struct index_pass pass = {.check = check};
    bool ok = store_describe(scan->store, arena, &table, err);
    if (ok) {
        pass.table_keys = table.keys;
        struct scan_options options = {.store = scan->store,
                                       .workers = scan->workers,
                                       .segments = scan->segments,
                                       .limits = scan->limits,
                                       .pages_a_worker = scan->pages_a_worker,
                                       .read_only = true,
                                       .stop = scan->stop,
                                       .paused = scan->paused,
                                       .shuffle = scan->shuffle};
        struct scan_task task = {.context = &pass,
                                 .tally_bytes = sizeof(struct index_counts),
                                 .item = check_item,
                                 .page = add_page};
        if (check->resume != NULL) {
            pass.found = check->resume->before;
            pass.reported = check->resume->reported;
            task.next = next_segment;
        }
        ok = scan_run(&options, &task, err);
    }
    arena_free(arena);
    if (ok) {
        *out = pass.found;
    }
    return ok;
}

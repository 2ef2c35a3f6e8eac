#include "migrate/run/runner_look_ahead.h"

#include "engine/base/buffer.h"
#include "engine/item/key.h"
#include "migrate/run/probe_verdicts.h"

struct wanted {
    const struct runner_rules *rules;
    struct arena *arena;
    struct buffer keys;    /* struct key */
    struct arena *scratch; /* emptied between items */
};

static void want(struct wanted *wanted, const struct key *key)
{
    struct key copy = key_copy(key, wanted->arena);
    buffer_add(&wanted->keys, (struct str){(const char *)&copy, sizeof copy});
}

static bool note_wanted(void *context, const struct key *key, struct arena *arena,
                        struct value *out, struct error *err)
{
    (void)arena;
    (void)err;
    want(context, key);
    *out = (struct value){NULL, 0};
    return true;
}

/* The key that a step's rekey or put is about. */
static void want_target(struct wanted *wanted, const struct pass_result *result, size_t step)
{
    if (result->fate == PASS_MOVE && result->rekey_step == step) {
        want(wanted, &result->key);
    }
    for (size_t i = 0; i < result->put_count; i++) {
        if (result->puts[i].step == step) {
            want(wanted, &result->puts[i].key);
        }
    }
}

/* Who lost, looks at what it lost to: there, or on its way. */
static bool want_winner(struct wanted *wanted, const struct pass_result *result,
                        const struct probe_verdict *verdict, struct error *err)
{
    const struct key_schema *keys = &wanted->rules->table->keys;
    struct key winner;
    if (result->fate != PASS_MOVE) {
        return true;
    }
    want(wanted, &result->key);
    if (verdict->winner.len == 0) {
        return true;
    }
    if (!key_decode(verdict->winner, keys->partition_count + keys->sort_count, &winner, err)) {
        return false;
    }
    want(wanted, &winner);
    return true;
}

/* The pass is put through as if nothing were found: what comes of it is dropped. A key that only a
 * found value leads to is read when it is asked for. */
static bool want_of(struct wanted *wanted, struct value item, const struct probe_verdict *verdicts,
                    size_t count, struct error *err)
{
    struct pass_result result;
    struct pass_input input = {.item = item, .lookup = note_wanted, .context = wanted};
    bool ok = pass_apply(wanted->rules->pass, &input, wanted->scratch, &result, err);
    for (size_t i = 0; ok && i < count; i++) {
        if (verdicts[i].ruling == PROBE_LOSE) {
            ok = want_winner(wanted, &result, &verdicts[i], err);
        } else if (verdicts[i].ruling == PROBE_OVERWRITE) {
            want_target(wanted, &result, verdicts[i].step);
        }
    }
    return ok;
}

static bool want_all(struct wanted *wanted, const struct page *page, struct error *err)
{
    const struct runner_rules *rules = wanted->rules;
    bool ok = true;
    for (size_t i = 0; ok && i < page->count; i++) {
        struct value item = page->items[i].item;
        const struct probe_verdict *verdicts = NULL;
        struct key key;
        size_t count = 0;
        if (rules->verdicts != NULL && rules->verdicts->count > 0) {
            ok = key_of_item(&rules->table->keys, item, &key, err);
            verdicts = ok ? probe_verdicts_of(rules->verdicts, &key, &count) : NULL;
        }
        if (ok && (rules->facts->looks_up || count > 0)) {
            ok = want_of(wanted, item, verdicts, count, err);
            arena_reset(wanted->scratch);
        }
    }
    return ok;
}

bool runner_look_ahead(const struct runner_meeter *meeter, const struct page *page,
                       struct error *err)
{
    const struct runner_rules *rules = meeter->rules;
    bool ruled = rules->verdicts != NULL && rules->verdicts->count > 0;
    if (!(rules->facts->looks_up || ruled) || !store_gets_are_slow(meeter->reader->store)) {
        return true;
    }
    struct wanted wanted = {.rules = rules, .arena = arena_new(), .scratch = arena_new()};
    bool ok = want_all(&wanted, page, err);
    size_t count = wanted.keys.len / sizeof(struct key);
    const struct key *keys = (const struct key *)(const void *)wanted.keys.bytes;
    ok = ok && store_expect(meeter->reader, (struct key_list){keys, count}, err);
    buffer_free(&wanted.keys);
    arena_free(wanted.scratch);
    arena_free(wanted.arena);
    return ok;
}

#include "migrate/run/probe.h"

#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "engine/item/key.h"
#include "engine/scan/scan.h"
#include "engine/sort/sorter.h"
#include "migrate/cli/report.h"
#include "migrate/run/probe_groups.h"
#include "migrate/run/runner_look_ahead.h"

#include <string.h>

/* Of each worker's sorter; what does not fit is sorted on disk. */
enum { SORT_MEMORY_BYTES = 32 << 20 };

struct probe {
    const struct runner_session *session;
    struct runner_rules rules;
    uint64_t pass;
    struct sorter **sorters; /* one a thread */
    size_t sorter_count;
    const struct probe_verdicts *ruled; /* while puts are counted, what was decided before */
    uint64_t items;
    struct progress *progress;
};

/* What a thread needs. */
struct prober {
    const struct probe *probe;
    struct runner_meeter meeter;
    struct sorter *sorter;
    struct buffer order;
    struct buffer value;
};

/* ---------------------------------------------------------------- claims as bytes */

/* A claim in a sorter: this head, then target, source and what keep_newer compares, encoded. */
struct claim_head {
    uint64_t digest;
    uint32_t step;
    bool puts;
    bool unsteady;
    uint32_t target_len;
    uint32_t source_len;
};

static uint64_t digest_of(struct value item)
{
    return hash_64((struct str){(const char *)item.bytes, item.len});
}

/* A claim as it was sorted. */
struct claim_at {
    struct str order; /* of the target, by which it was */
    struct key target;
    struct probe_claim claim;
};

/* An item that is to stand under a new key. */
struct wish {
    size_t step;
    bool puts;
    bool unsteady;
    const struct key *target;
    struct value item;
};

static bool add_claim(struct prober *prober, const struct key *source, const struct wish *wish,
                      struct error *err)
{
    struct claim_head head = {.digest = digest_of(wish->item),
                              .step = (uint32_t)wish->step,
                              .puts = wish->puts,
                              .unsteady = wish->unsteady};
    struct buffer *value = &prober->value;
    value->len = 0;
    (void)buffer_reserve(value, sizeof head);
    value->len = sizeof head;
    key_encode(wish->target, value);
    head.target_len = (uint32_t)(value->len - sizeof head);
    key_encode(source, value);
    head.source_len = (uint32_t)(value->len - sizeof head) - head.target_len;
    const struct pass_step *rule = &prober->probe->rules.facts->steps[wish->step];
    struct value newer = probe_newer(rule, wish->item);
    buffer_add(value, (struct str){(const char *)newer.bytes, newer.len});
    memcpy(value->bytes, &head, sizeof head);

    prober->order.len = 0;
    store_order_key(prober->probe->session->store, wish->target, &prober->order);
    return sorter_add(prober->sorter, buffer_str(&prober->order), buffer_str(value), err);
}

/* Points into `bytes`. */
static bool read_claim(const struct key_schema *keys, struct str bytes, struct key *target,
                       struct probe_claim *out, struct error *err)
{
    struct claim_head head;
    size_t parts = keys->partition_count + keys->sort_count;
    if (bytes.len < sizeof head) {
        return error_set(err, ERROR_DAMAGED, "a sorted run is cut short");
    }
    memcpy(&head, bytes.ptr, sizeof head);
    const char *body = bytes.ptr + sizeof head;
    size_t body_len = bytes.len - sizeof head;
    if (head.target_len > body_len || head.source_len > body_len - head.target_len) {
        return error_set(err, ERROR_DAMAGED, "a sorted run is cut short");
    }
    const char *source = body + head.target_len;
    const char *newer = source + head.source_len;
    size_t newer_len = body_len - head.target_len - head.source_len;
    *out = (struct probe_claim){
        .step = head.step, .puts = head.puts, .unsteady = head.unsteady, .digest = head.digest};
    if (newer_len > 0) {
        out->newer = (struct value){(const unsigned char *)newer, newer_len};
    }
    return key_decode((struct str){body, head.target_len}, parts, target, err) &&
           key_decode((struct str){source, head.source_len}, parts, &out->source, err);
}

/* ---------------------------------------------------------------- reading the table */

static bool prober_open(void *context, struct store_reader *reader, void **out, struct error *err)
{
    (void)err;
    struct probe *probe = context;
    const struct runner_session *session = probe->session;
    struct sorter_options options = {SORT_MEMORY_BYTES, session->temp_dir,
                                     session->invocation->stop};
    struct prober *prober = heap_alloc(sizeof *prober);
    *prober = (struct prober){
        .probe = probe, .meeter = {&probe->rules, reader}, .sorter = sorter_new(&options)};
    probe->sorters =
        heap_resize(probe->sorters, (probe->sorter_count + 1) * sizeof(struct sorter *));
    probe->sorters[probe->sorter_count++] = prober->sorter;
    *out = prober;
    return true;
}

static void prober_close(void *worker)
{
    struct prober *prober = worker;
    buffer_free(&prober->order);
    buffer_free(&prober->value);
    heap_free(prober);
}

static bool look_ahead(void *worker, const struct page *page, struct error *err)
{
    const struct prober *prober = worker;
    return runner_look_ahead(&prober->meeter, page, err);
}

static bool equal_puts(const struct pass_result *a, const struct pass_result *b)
{
    bool equal = a->put_count == b->put_count;
    for (size_t i = 0; equal && i < a->put_count; i++) {
        equal = a->puts[i].step == b->puts[i].step && value_equal(a->puts[i].item, b->puts[i].item);
    }
    return equal;
}

/* An item whose effect wants keys. */
struct claimant {
    const struct stored_item *item;
    struct key source; /* its key */
    const struct pass_result *result;
};

/* If on_collision let the item keep its key, would later steps fail, or put other items? */
static bool is_unsteady(const struct prober *prober, const struct claimant *claimant,
                        struct arena *arena, bool *out, struct error *err)
{
    struct runner_rules rules = prober->probe->rules;
    const struct pass_result *moved = claimant->result;
    *out = false;
    if (rules.facts->steps[moved->rekey_step].collision != COLLISION_SKIP || !rules.facts->puts) {
        return true;
    }
    struct probe_verdict kept = {.ruling = PROBE_SKIP, .step = (uint32_t)moved->rekey_step};
    struct probe_verdicts verdicts = {.list = &kept, .count = 1};
    probe_digest(&claimant->source, kept.source);
    rules.verdicts = &verdicts;
    struct runner_meeter meeter = {&rules, prober->meeter.reader};
    struct runner_effect effect;
    if (!runner_effect_of(&meeter, claimant->item, arena, &effect, err)) {
        return false;
    }
    *out = effect.result.fate == PASS_FAILED || !equal_puts(&effect.result, moved);
    return true;
}

static bool add_puts(struct prober *prober, const struct claimant *claimant, struct error *err)
{
    const struct pass_result *result = claimant->result;
    for (size_t i = 0; i < result->put_count; i++) {
        const struct pass_put *put = &result->puts[i];
        struct wish wish = {put->step, true, false, &put->key, put->item};
        if (!add_claim(prober, &claimant->source, &wish, err)) {
            return false;
        }
    }
    return true;
}

static bool probe_item(void *worker, const struct stored_item *item, struct scan_result *out,
                       struct error *err)
{
    struct prober *prober = worker;
    const struct runner_rules *rules = &prober->probe->rules;
    struct runner_effect effect;
    if (!runner_effect_of(&prober->meeter, item, out->arena, &effect, err)) {
        return false;
    }
    const struct pass_result *result = &effect.result;
    struct claimant claimant = {.item = item, .result = result};
    if (result->fate != PASS_MOVE && result->put_count == 0) {
        return true;
    }
    if (!key_of_item(&rules->table->keys, item->item, &claimant.source, err) ||
        !add_puts(prober, &claimant, err)) {
        return false;
    }
    struct wish wish = {result->rekey_step, false, false, &result->key, result->item};
    return result->fate != PASS_MOVE ||
           (is_unsteady(prober, &claimant, out->arena, &wish.unsteady, err) &&
            add_claim(prober, &claimant.source, &wish, err));
}

static bool probe_page(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                       struct error *err)
{
    (void)out;
    (void)err;
    struct probe *probe = context;
    probe->items += page->items;
    progress_set(probe->progress, probe->items);
    return true;
}

static bool read_table(struct probe *probe, struct error *err)
{
    const struct runner_session *session = probe->session;
    struct scan_options options = runner_session_scan(session);
    options.pass = probe->pass;
    options.skip_own_pass = true;
    options.read_only = true;
    struct scan_task task = {.context = probe,
                             .worker_open = prober_open,
                             .worker_close = prober_close,
                             .look_ahead = look_ahead,
                             .item = probe_item,
                             .page = probe_page};
    probe->progress =
        progress_open_table(session->invocation, "looking for collisions", &session->table);
    bool ok = scan_run(&options, &task, err);
    progress_close(probe->progress);
    for (size_t i = 0; ok && i < probe->sorter_count; i++) {
        ok = sorter_finish(probe->sorters[i], err);
    }
    return ok;
}

/* ---------------------------------------------------------------- who wants which key */

/* The claim comes to nothing, by what was decided before. */
static bool is_ruled_out(const struct probe_verdicts *ruled, const struct probe_claim *claim)
{
    size_t count = 0;
    const struct probe_verdict *verdicts =
        ruled == NULL ? NULL : probe_verdicts_of(ruled, &claim->source, &count);
    bool out = false;
    for (size_t i = 0; i < count; i++) {
        out = out || verdicts[i].ruling == PROBE_FAIL || verdicts[i].ruling == PROBE_LOSE ||
              (verdicts[i].ruling == PROBE_SKIP && verdicts[i].step == claim->step);
    }
    return out;
}

/* The next claim that counts; *more is false after the last.
 *   out  points into the stream */
static bool next_claim(const struct probe *probe, struct sorted *sorted, struct claim_at *out,
                       bool *more, struct error *err)
{
    struct str bytes;
    do {
        if (!sorted_next(sorted, &out->order, &bytes, more, err) ||
            (*more &&
             !read_claim(&probe->rules.table->keys, bytes, &out->target, &out->claim, err))) {
            return false;
        }
    } while (*more && is_ruled_out(probe->ruled, &out->claim));
    return true;
}

/* Where look-ups are slow, those of targets are made together: a second way through the claims goes
 * ahead of the first. */
struct outlook {
    struct sorted *sorted; /* NULL: look-ups are quick */
    bool more;
    struct arena *arena; /* of the keys */
    struct buffer seen;  /* the order key of the last target that is expected */
};

static bool outlook_open(const struct probe *probe, struct outlook *out, struct error *err)
{
    *out = (struct outlook){.more = true, .arena = arena_new()};
    return !store_gets_are_slow(probe->session->store) ||
           sorted_open(probe->sorters, probe->sorter_count, &out->sorted, err);
}

/* What was expected is not to be found by anybody later. */
static void outlook_close(const struct probe *probe, struct outlook *outlook)
{
    store_release(probe->session->reader);
    sorted_close(outlook->sorted);
    arena_free(outlook->arena);
    buffer_free(&outlook->seen);
}

static bool expect_targets(const struct probe *probe, struct outlook *outlook, struct error *err)
{
    enum { TARGETS = 1000 };
    struct key *keys = arena_alloc(outlook->arena, TARGETS * sizeof *keys);
    size_t count = 0;
    while (outlook->more && count < TARGETS) {
        struct claim_at at;
        if (!next_claim(probe, outlook->sorted, &at, &outlook->more, err)) {
            return false;
        }
        if (outlook->more && !str_equal(at.order, buffer_str(&outlook->seen))) {
            outlook->seen.len = 0;
            buffer_add(&outlook->seen, at.order);
            keys[count++] = key_copy(&at.target, outlook->arena);
        }
    }
    bool ok = store_expect(probe->session->reader, (struct key_list){keys, count}, err);
    arena_reset(outlook->arena);
    return ok;
}

/* Before the target is looked up. */
static bool look_out(const struct probe *probe, struct outlook *outlook, struct str order,
                     struct error *err)
{
    bool is_new = outlook->sorted != NULL && str_compare(order, buffer_str(&outlook->seen)) > 0;
    return !is_new || expect_targets(probe, outlook, err);
}

/* The target at hand. */
struct target {
    struct outlook outlook;
    struct buffer order; /* its key's bytes; empty: none yet */
    struct arena *arena; /* emptied between targets */
    struct key key;
};

static bool find_holder(const struct probe *probe, struct target *target, struct probe_holder *out,
                        bool *held, struct error *err)
{
    struct stored_item found;
    struct runner_effect effect;
    struct runner_meeter meeter = {&probe->rules, probe->session->reader};
    if (!store_get(meeter.reader, (struct key_list){&target->key, 1}, target->arena, &found, err)) {
        return false;
    }
    *held = !value_is_missing(found.item);
    if (!*held) {
        return true;
    }
    *out = (struct probe_holder){.key = target->key,
                                 .digest = digest_of(found.item),
                                 .item = found.item,
                                 .after = found.item,
                                 .unchanged = true,
                                 .settled = true,
                                 .done = found.pass == probe->pass};
    if (out->done) {
        return true;
    }
    if (!runner_effect_of(&meeter, &found, target->arena, &effect, err)) {
        return false;
    }
    enum pass_fate fate = effect.result.fate;
    out->unchanged = fate == PASS_UNCHANGED || fate == PASS_FAILED;
    out->after = fate == PASS_UPDATE ? effect.result.item : found.item;
    out->settled = fate != PASS_MOVE && fate != PASS_FAILED && effect.result.put_count == 0;
    return true;
}

static bool end_target(const struct probe *probe, struct probe_groups *groups,
                       struct target *target, struct error *err)
{
    if (target->order.len == 0) {
        return true;
    }
    struct probe_holder holder;
    bool held = false;
    if (!look_out(probe, &target->outlook, buffer_str(&target->order), err) ||
        !find_holder(probe, target, &holder, &held, err)) {
        return false;
    }
    probe_groups_end(groups, &target->key, held ? &holder : NULL);
    target->order.len = 0;
    arena_reset(target->arena);
    return true;
}

static bool meet_claim(const struct probe *probe, struct probe_groups *groups,
                       struct target *target, const struct claim_at *at, struct error *err)
{
    if (!str_equal(at->order, buffer_str(&target->order))) {
        if (!end_target(probe, groups, target, err)) {
            return false;
        }
        buffer_add(&target->order, at->order);
        target->key = key_copy(&at->target, target->arena);
    }
    probe_groups_claim(groups, &target->key, &at->claim);
    return true;
}

static bool group_claims(const struct probe *probe, struct sorted *sorted,
                         struct probe_groups *groups, struct error *err)
{
    struct target target = {.arena = arena_new()};
    bool more = true;
    bool ok = outlook_open(probe, &target.outlook, err);
    while (ok && more) {
        struct claim_at at;
        ok = next_claim(probe, sorted, &at, &more, err) &&
             (more ? meet_claim(probe, groups, &target, &at, err)
                   : end_target(probe, groups, &target, err));
        if (ok && runner_session_stopped(probe->session)) {
            ok = error_set(err, ERROR_STOPPED, "stopped");
        }
    }
    outlook_close(probe, &target.outlook);
    buffer_free(&target.order);
    arena_free(target.arena);
    return ok;
}

static bool judge(const struct probe *probe, struct arena *arena, struct probe_verdicts *out,
                  struct error *err)
{
    struct sorted *sorted = NULL;
    if (!sorted_open(probe->sorters, probe->sorter_count, &sorted, err)) {
        return false;
    }
    struct probe_groups *groups = probe_groups_new(probe->rules.facts, &probe->rules.table->keys);
    bool ok = group_claims(probe, sorted, groups, err);
    if (ok) {
        probe_groups_rule(groups, arena, out);
    }
    probe_groups_free(groups);
    sorted_close(sorted);
    return ok;
}

/* Which puts are no write can be told only when it is known who puts nothing. */
static bool count_merged(struct probe *probe, struct arena *arena, struct probe_verdicts *out,
                         struct error *err)
{
    struct probe_verdicts again;
    if (out->count == 0 || !probe->rules.facts->puts) {
        return true;
    }
    probe->ruled = out;
    if (!judge(probe, arena, &again, err)) {
        return false;
    }
    out->merged = again.merged;
    return true;
}

bool probe_run(const struct runner_session *session, const struct runner_rules *rules,
               uint64_t pass, struct probe_verdicts *out, struct error *err)
{
    struct arena *arena = session->arena;
    struct probe probe = {.session = session, .rules = *rules, .pass = pass};
    bool ok = read_table(&probe, err) && judge(&probe, arena, out, err) &&
              count_merged(&probe, arena, out, err);
    for (size_t i = 0; i < probe.sorter_count; i++) {
        sorter_free(probe.sorters[i]);
    }
    heap_free(probe.sorters);
    return ok;
}

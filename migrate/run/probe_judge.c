#include "engine/base/buffer.h"
#include "engine/item/key.h"
#include "engine/sort/sorter.h"
#include "migrate/run/probe_claims.h"
#include "migrate/run/probe_groups.h"
#include "migrate/run/probe_internal.h"

/* ---------------------------------------------------------------- claims in order */

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

/* A way through all claims. */
struct claim_stream {
    const struct probe *probe;
    const struct probe_verdicts *ruled;
    struct sorted *sorted;
    struct buffer last; /* pair, where claims are kept: what was read twice has it again */
};

static bool claims_open(const struct probe *probe, const struct probe_verdicts *ruled,
                        struct claim_stream *out, struct error *err)
{
    *out = (struct claim_stream){.probe = probe, .ruled = ruled};
    return sorted_open(probe->sorters, probe->sorter_count, &out->sorted, err);
}

static void claims_close(struct claim_stream *stream)
{
    sorted_close(stream->sorted);
    buffer_free(&stream->last);
}

/* A server that does not know segments may have given an item to two of them, when the probe was
 * taken up between. */
static bool is_again(struct claim_stream *stream, struct str key)
{
    if (stream->probe->kept == NULL) {
        return false;
    }
    bool again = str_equal(key, buffer_str(&stream->last));
    stream->last.len = 0;
    buffer_add(&stream->last, key);
    return again;
}

/* The next claim that counts; *more is false after the last.
 *   out  points into the stream */
static bool next_claim(struct claim_stream *stream, struct claim_at *out, bool *more,
                       struct error *err)
{
    const struct key_schema *keys = &stream->probe->rules.table->keys;
    struct str key, value;
    do {
        if (!sorted_next(stream->sorted, &key, &value, more, err) ||
            (*more && !claim_read(keys, key, value, out, err))) {
            return false;
        }
    } while (*more && (is_again(stream, key) || is_ruled_out(stream->ruled, &out->claim)));
    return true;
}

/* ---------------------------------------------------------------- looking ahead */

/* Where look-ups are slow, those of targets are made together: a second way through the claims goes
 * ahead of the first. */
struct outlook {
    struct claim_stream claims; /* sorted NULL: look-ups are quick */
    bool more;
    struct arena *arena; /* of the keys */
    struct buffer seen;  /* order of the last target that is known or expected */
};

static bool outlook_open(const struct probe *probe, const struct probe_verdicts *ruled,
                         struct outlook *out, struct error *err)
{
    *out = (struct outlook){.more = true, .arena = arena_new()};
    if (probe->kept != NULL) {
        buffer_add(&out->seen, probe_kept_known(probe->kept));
    }
    return !store_gets_are_slow(probe->session->store) ||
           claims_open(probe, ruled, &out->claims, err);
}

/* What was expected is not to be found by anybody later. */
static void outlook_close(const struct probe *probe, struct outlook *outlook)
{
    store_release(probe->session->reader);
    claims_close(&outlook->claims);
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
        if (!next_claim(&outlook->claims, &at, &outlook->more, err)) {
            return false;
        }
        if (outlook->more && str_compare(at.order, buffer_str(&outlook->seen)) > 0) {
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
    if (outlook->claims.sorted == NULL || str_compare(order, buffer_str(&outlook->seen)) <= 0) {
        return true;
    }
    return (probe->kept == NULL || probe_kept_rest(probe->kept, err)) &&
           expect_targets(probe, outlook, err);
}

/* ---------------------------------------------------------------- target by target */

/* The target at hand. */
struct target {
    struct outlook outlook;
    struct buffer order; /* its key's bytes; empty: none yet */
    struct arena *arena; /* emptied between targets */
    struct key key;
};

static bool look_up_holder(const struct probe *probe, const struct target *target,
                           struct probe_holder *out, bool *held, struct error *err)
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
    *out = (struct probe_holder){.digest = claim_digest(found.item),
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

/* Who holds the target is known from before, or looked up and kept. */
static bool find_holder(const struct probe *probe, struct target *target, struct probe_holder *out,
                        bool *held, struct error *err)
{
    struct probe_kept *kept = probe->kept;
    struct str order = buffer_str(&target->order);
    if (kept != NULL && str_compare(order, probe_kept_known(kept)) <= 0) {
        return probe_kept_holder(kept, order, out, held, err);
    }
    return look_out(probe, &target->outlook, order, err) &&
           look_up_holder(probe, target, out, held, err) &&
           (kept == NULL || probe_kept_tell(kept, order, *held ? out : NULL, err));
}

static bool end_target(const struct probe *probe, struct probe_groups *groups,
                       struct target *target, struct error *err)
{
    if (target->order.len == 0) {
        return true;
    }
    struct probe_holder holder;
    bool held = false;
    if (!find_holder(probe, target, &holder, &held, err)) {
        return false;
    }
    holder.key = target->key;
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

static bool group_claims(struct claim_stream *claims, struct target *target,
                         struct probe_groups *groups, struct error *err)
{
    const struct probe *probe = claims->probe;
    for (bool more = true; more;) {
        struct claim_at at;
        if (!next_claim(claims, &at, &more, err) ||
            !(more ? meet_claim(probe, groups, target, &at, err)
                   : end_target(probe, groups, target, err))) {
            return false;
        }
        if (runner_session_stopped(probe->session)) {
            return error_set(err, ERROR_STOPPED, "stopped");
        }
    }
    return true;
}

static bool group_all(const struct probe *probe, const struct probe_verdicts *ruled,
                      struct probe_groups *groups, struct error *err)
{
    struct claim_stream claims = {.sorted = NULL};
    struct target target = {.arena = arena_new()};
    bool ok = claims_open(probe, ruled, &claims, err);
    ok = outlook_open(probe, ruled, &target.outlook, err) && ok;
    ok = ok && (probe->kept == NULL || probe_kept_holders_open(probe->kept, err)) &&
         group_claims(&claims, &target, groups, err);
    if (probe->kept != NULL) {
        probe_kept_holders_close(probe->kept);
    }
    outlook_close(probe, &target.outlook);
    claims_close(&claims);
    buffer_free(&target.order);
    arena_free(target.arena);
    return ok;
}

bool probe_judge(const struct probe *probe, const struct probe_verdicts *ruled, struct arena *arena,
                 struct probe_verdicts *out, struct error *err)
{
    struct probe_groups *groups = probe_groups_new(probe->rules.facts, &probe->rules.table->keys);
    bool ok = group_all(probe, ruled, groups, err);
    if (ok) {
        probe_groups_rule(groups, arena, out);
    }
    probe_groups_free(groups);
    return ok;
}

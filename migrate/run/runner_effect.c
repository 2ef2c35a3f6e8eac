#include "migrate/run/runner_effect.h"

#include "engine/base/buffer.h"
#include "engine/item/key.h"

#include <string.h>

static bool look_up(void *context, const struct key *key, struct arena *arena, struct value *out,
                    struct error *err)
{
    struct stored_item found;
    if (!store_get(context, (struct key_list){key, 1}, arena, &found, err)) {
        return false;
    }
    *out = found.item;
    return true;
}

static bool would_change(const struct pass_result *result)
{
    return result->fate != PASS_UNCHANGED || result->put_count > 0;
}

/* What a meeting needs besides its result. */
struct meeting {
    const struct runner_rules *rules;
    struct store_reader *reader;
    const struct stored_item *item;
    struct key key; /* of the item */
    struct arena *arena;
};

static bool put_through(const struct meeting *meeting, const bool *skip, struct pass_result *out,
                        struct error *err)
{
    const struct runner_rules *rules = meeting->rules;
    struct pass_input input = {.item = meeting->item->item,
                               .lookup = rules->facts->looks_up ? look_up : NULL,
                               .context = meeting->reader,
                               .skip = skip};
    return pass_apply(rules->pass, &input, meeting->arena, out, err);
}

/* ---------------------------------------------------------------- outcomes */

static unsigned char *no_outcomes(const struct meeting *meeting)
{
    size_t count = meeting->rules->facts->step_count;
    return arena_zero(meeting->arena, count);
}

static size_t first_with(const unsigned char *outcomes, size_t count, enum step_outcome outcome)
{
    size_t i = 0;
    while (i < count && outcomes[i] != outcome) {
        i++;
    }
    return i;
}

size_t runner_effect_writer(const unsigned char *outcomes, size_t step_count)
{
    size_t step = first_with(outcomes, step_count, STEP_WRITTEN);
    return step < step_count ? step : 0;
}

/* The item is an error of that step, or of the first that wrote, and stays as it was. */
static void fail(const struct meeting *meeting, size_t step, struct str reason,
                 struct runner_effect *out)
{
    unsigned char *outcomes = no_outcomes(meeting);
    size_t count = meeting->rules->facts->step_count;
    if (step >= count || out->result.outcomes[step] != STEP_WRITTEN) {
        step = runner_effect_writer(out->result.outcomes, count);
    }
    outcomes[step] = STEP_FAILED;
    *out = (struct runner_effect){.result = {.fate = PASS_FAILED,
                                             .outcomes = outcomes,
                                             .failed_step = step,
                                             .reason = arena_copy(meeting->arena, reason)}};
}

static void be_lost(const struct meeting *meeting, struct runner_effect *out)
{
    unsigned char *outcomes = no_outcomes(meeting);
    for (size_t i = 0; i < meeting->rules->facts->step_count; i++) {
        if (out->result.outcomes[i] != STEP_NOT_MATCHED) {
            outcomes[i] = STEP_SKIPPED;
        }
    }
    *out = (struct runner_effect){.result = {.fate = PASS_DELETE, .outcomes = outcomes}};
}

static void stand(const struct meeting *meeting, struct runner_effect *out)
{
    *out = (struct runner_effect){
        .result = {.fate = PASS_UNCHANGED, .outcomes = no_outcomes(meeting)}, .stands = true};
}

static uint64_t *count_of(struct step_counts *counts, unsigned char outcome)
{
    switch ((enum step_outcome)outcome) {
    case STEP_WRITTEN:
        return &counts->written;
    case STEP_UNCHANGED:
        return &counts->unchanged;
    case STEP_SKIPPED:
        return &counts->skipped;
    case STEP_FAILED:
        return &counts->failed;
    case STEP_NOT_MATCHED:
        break;
    }
    return NULL;
}

void runner_effect_count(const unsigned char *outcomes, size_t step_count,
                         struct step_counts *counts)
{
    for (size_t i = 0; i < step_count; i++) {
        uint64_t *n = count_of(&counts[i], outcomes[i]);
        if (n != NULL) {
            (*n)++;
        }
    }
}

void runner_effect_uncount(const unsigned char *outcomes, size_t step_count,
                           struct step_counts *counts)
{
    for (size_t i = 0; i < step_count; i++) {
        uint64_t *n = count_of(&counts[i], outcomes[i]);
        if (n != NULL) {
            (*n)--;
        }
    }
}

/* ---------------------------------------------------------------- verdicts */

struct verdicts_here {
    const struct probe_verdict *list;
    size_t count;
};

static const struct probe_verdict *ruled(struct verdicts_here here, enum probe_ruling ruling,
                                         size_t step)
{
    for (size_t i = 0; i < here.count; i++) {
        if (here.list[i].ruling == ruling && here.list[i].step == step) {
            return here.list + i;
        }
    }
    return NULL;
}

/* Which steps the verdicts leave out; an item that keeps its key keeps it through all of them. */
static bool list_left_out(const struct pass_facts *facts, struct verdicts_here here, bool *skip)
{
    bool any = false;
    bool keeps_key = false;
    for (size_t i = 0; i < facts->step_count; i++) {
        skip[i] = ruled(here, PROBE_SKIP, i) != NULL;
        any = any || skip[i];
        keeps_key = keeps_key || (skip[i] && facts->steps[i].rekeys);
    }
    for (size_t i = 0; keeps_key && i < facts->step_count; i++) {
        skip[i] = skip[i] || facts->steps[i].rekeys;
    }
    return any;
}

static bool leave_out(const struct meeting *meeting, struct verdicts_here here,
                      struct runner_effect *out, struct error *err)
{
    const struct pass_facts *facts = meeting->rules->facts;
    bool *skip = arena_zero(meeting->arena, facts->step_count * sizeof *skip);
    return !list_left_out(facts, here, skip) || put_through(meeting, skip, &out->result, err);
}

static bool is_as_judged(const struct pass_step *rule, const struct key *key, struct value item,
                         const unsigned char *basis)
{
    unsigned char digest[PROBE_DIGEST_BYTES];
    probe_basis(key, probe_newer(rule, item), digest);
    return memcmp(digest, basis, PROBE_DIGEST_BYTES) == 0;
}

/* Who else writes to the table may have changed what was judged. */
static void fail_changed(const struct meeting *meeting, size_t step, const char *what,
                         struct runner_effect *out)
{
    fail(meeting, step,
         arena_format(meeting->arena,
                      "%s has changed since collisions were looked for: apply again", what),
         out);
}

/* Does the winner, which has not come yet, want what it won by still? */
static bool wants_still(const struct meeting *meeting, const struct probe_verdict *verdict,
                        struct value winner, bool *out, struct error *err)
{
    const struct pass_facts *facts = meeting->rules->facts;
    struct stored_item item = {.item = winner};
    struct meeting other = *meeting;
    struct pass_result result;
    other.item = &item;
    if (!put_through(&other, NULL, &result, err)) {
        return false;
    }
    *out = result.fate == PASS_MOVE && is_as_judged(&facts->steps[result.rekey_step], &result.key,
                                                    result.item, verdict->standing);
    for (size_t i = 0; i < result.put_count; i++) {
        const struct pass_put *put = &result.puts[i];
        *out =
            *out || is_as_judged(&facts->steps[put->step], &put->key, put->item, verdict->standing);
    }
    return true;
}

/* Under the key that the item was to have. */
struct lost_to {
    const struct pass_step *rule;
    const struct key *key;
    const unsigned char *standing;
};

static bool stands_there(const struct lost_to *lost, struct value item)
{
    return !value_is_missing(item) && is_as_judged(lost->rule, lost->key, item, lost->standing);
}

/* The winner may have come between two look-ups: who was gone before this one stands there now. A
 * get of two keys is not answered by what was read ahead. */
static bool has_come(const struct meeting *meeting, const struct lost_to *lost,
                     const struct key *winner, bool *out, struct error *err)
{
    struct key both[] = {*lost->key, *winner};
    struct stored_item found[2];
    if (!store_get(meeting->reader, (struct key_list){both, 2}, meeting->arena, found, err)) {
        return false;
    }
    *out = stands_there(lost, found[0].item);
    return true;
}

static bool comes_still(const struct meeting *meeting, const struct probe_verdict *verdict,
                        const struct lost_to *lost, bool *out, struct error *err)
{
    const struct key_schema *keys = &meeting->rules->table->keys;
    struct key key;
    struct value winner = {NULL, 0};
    if (!key_decode(verdict->winner, keys->partition_count + keys->sort_count, &key, err) ||
        !look_up(meeting->reader, &key, meeting->arena, &winner, err)) {
        return false;
    }
    return value_is_missing(winner) ? has_come(meeting, lost, &key, out, err)
                                    : wants_still(meeting, verdict, winner, out, err);
}

/* Is what the item lost to under the key already, or on its way there? */
static bool has_lost(const struct meeting *meeting, const struct probe_verdict *verdict,
                     const struct pass_result *result, bool *out, struct error *err)
{
    static const unsigned char none[PROBE_DIGEST_BYTES];
    struct lost_to lost = {&meeting->rules->facts->steps[result->rekey_step], &result->key,
                           verdict->standing};
    struct value standing = {NULL, 0};
    *out = memcmp(verdict->standing, none, PROBE_DIGEST_BYTES) == 0;
    if (*out) {
        return true;
    }
    if (!look_up(meeting->reader, &result->key, meeting->arena, &standing, err)) {
        return false;
    }
    *out = stands_there(&lost, standing);
    return *out || verdict->winner.len == 0 || comes_still(meeting, verdict, &lost, out, err);
}

static bool lose(const struct meeting *meeting, const struct probe_verdict *verdict,
                 struct runner_effect *out, struct error *err)
{
    const struct pass_result *result = &out->result;
    size_t step = result->rekey_step;
    const struct pass_step *rule = &meeting->rules->facts->steps[step];
    bool lost = false;
    if (result->fate != PASS_MOVE) {
        return true; /* it wants no key any more */
    }
    if (!is_as_judged(rule, &result->key, result->item, verdict->wanted)) {
        fail_changed(meeting, step, "it", out);
        return true;
    }
    if (!has_lost(meeting, verdict, result, &lost, err)) {
        return false;
    }
    if (!lost) {
        fail_changed(meeting, step, "what its new key went to", out);
        return true;
    }
    be_lost(meeting, out);
    return true;
}

static bool obey(const struct meeting *meeting, struct verdicts_here here,
                 struct runner_effect *out, struct error *err)
{
    if (here.count == 0 || out->result.fate == PASS_FAILED) {
        return true;
    }
    switch (here.list[0].ruling) {
    case PROBE_FAIL:
        if (would_change(&out->result)) {
            fail(meeting, here.list[0].step, here.list[0].reason, out);
        }
        return true;
    case PROBE_LOSE:
        return lose(meeting, &here.list[0], out, err);
    case PROBE_STAND:
        stand(meeting, out);
        return true;
    case PROBE_SKIP:
    case PROBE_OVERWRITE:
    case PROBE_RULING_COUNT:
        break;
    }
    return leave_out(meeting, here, out, err);
}

static struct verdicts_here verdicts_on(const struct meeting *meeting)
{
    struct verdicts_here here = {NULL, 0};
    const struct probe_verdicts *verdicts = meeting->rules->verdicts;
    if (verdicts != NULL) {
        here.list = probe_verdicts_of(verdicts, &meeting->key, &here.count);
    }
    return here;
}

/* ---------------------------------------------------------------- writes */

/* The item fails unless the verdict that it overwrites `standing` still goes by what it did. What
 * is gone is in nobody's way; what is as `item` is, was put there by an attempt before. */
static void check_overwriting(const struct meeting *meeting, const struct probe_verdict *verdict,
                              const struct pass_put *put, struct value standing,
                              struct runner_effect *out)
{
    const struct pass_step *rule = &meeting->rules->facts->steps[put->step];
    if (!is_as_judged(rule, &put->key, put->item, verdict->wanted)) {
        fail_changed(meeting, put->step, "it", out);
    } else if (!value_is_missing(standing) && !value_equal(standing, put->item) &&
               !is_as_judged(rule, &put->key, standing, verdict->standing)) {
        fail_changed(meeting, put->step, "what stands under its new key", out);
    }
}

static bool add_put(const struct meeting *meeting, struct verdicts_here here,
                    const struct pass_put *put, struct runner_effect *out, struct error *err)
{
    const struct probe_verdict *verdict = ruled(here, PROBE_OVERWRITE, put->step);
    struct write *write = &out->writes[out->write_count++];
    *write = (struct write){.kind = WRITE_PUT, .key = put->key, .item = put->item};
    if (verdict == NULL) {
        return true;
    }
    write->overwrite = true;
    if (!look_up(meeting->reader, &put->key, meeting->arena, &write->before, err)) {
        return false;
    }
    check_overwriting(meeting, verdict, put, write->before, out);
    return true;
}

/* What the move overwrites goes by a write of its own, so that the undo log has it. */
static bool clear_way(const struct meeting *meeting, const struct probe_verdict *verdict,
                      struct runner_effect *out, struct error *err)
{
    struct pass_put place = {
        .step = out->result.rekey_step, .key = out->result.key, .item = out->result.item};
    struct stored_item holder;
    if (!store_get(meeting->reader, (struct key_list){&out->result.key, 1}, meeting->arena, &holder,
                   err)) {
        return false;
    }
    if (!value_is_missing(holder.item)) {
        out->writes[out->write_count++] = (struct write){.kind = WRITE_DELETE,
                                                         .key = out->result.key,
                                                         .stamp = holder.stamp,
                                                         .before = holder.item};
    }
    check_overwriting(meeting, verdict, &place, holder.item, out);
    return true;
}

static void add_own(const struct meeting *meeting, enum write_kind kind, struct runner_effect *out)
{
    struct write write = {.kind = kind,
                          .key = meeting->key,
                          .stamp = meeting->item->stamp,
                          .before = meeting->item->item};
    if (kind != WRITE_DELETE) {
        write.item = out->result.item;
    }
    if (kind == WRITE_UPDATE && store_needs_before(meeting->reader->store)) {
        write.basis = pass_basis(meeting->rules->pass, out->result.outcomes, meeting->arena);
    }
    out->writes[out->write_count++] = write;
}

static bool add_move(const struct meeting *meeting, struct verdicts_here here,
                     struct runner_effect *out, struct error *err)
{
    const struct probe_verdict *verdict = ruled(here, PROBE_OVERWRITE, out->result.rekey_step);
    if (verdict != NULL && !clear_way(meeting, verdict, out, err)) {
        return false;
    }
    if (out->result.fate == PASS_MOVE) {
        add_own(meeting, WRITE_MOVE, out);
        out->writes[out->write_count - 1].overwrite = verdict != NULL;
    }
    return true;
}

/* An item that turns out to fail has none. */
static bool add_writes(const struct meeting *meeting, struct verdicts_here here,
                       struct runner_effect *out, struct error *err)
{
    const struct pass_result *result = &out->result;
    out->writes = arena_alloc(meeting->arena, (result->put_count + 2) * sizeof *out->writes);
    for (size_t i = 0; i < result->put_count; i++) {
        if (!add_put(meeting, here, &result->puts[i], out, err)) {
            return false;
        }
    }
    if (result->fate == PASS_UPDATE) {
        add_own(meeting, WRITE_UPDATE, out);
    } else if (result->fate == PASS_DELETE) {
        add_own(meeting, WRITE_DELETE, out);
    } else if (result->fate == PASS_MOVE) {
        return add_move(meeting, here, out, err);
    }
    return true;
}

bool runner_effect_of(const struct runner_meeter *meeter, const struct stored_item *item,
                      struct arena *arena, struct runner_effect *out, struct error *err)
{
    const struct runner_rules *rules = meeter->rules;
    struct meeting meeting = {
        .rules = rules, .reader = meeter->reader, .item = item, .arena = arena};
    *out = (struct runner_effect){.write_count = 0};
    if (!put_through(&meeting, NULL, &out->result, err)) {
        return false;
    }
    bool ruled = rules->verdicts != NULL && rules->verdicts->count > 0;
    if (!ruled && !would_change(&out->result)) {
        return true;
    }
    if (!key_of_item(&rules->table->keys, item->item, &meeting.key, err)) {
        return error_wrap(err, "an item of the table");
    }
    struct verdicts_here here = verdicts_on(&meeting);
    return obey(&meeting, here, out, err) && add_writes(&meeting, here, out, err);
}

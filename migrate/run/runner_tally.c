#include "migrate/run/runner_tally.h"

#include "engine/base/buffer.h"
#include "engine/item/key.h"

#include <assert.h>
#include <string.h>

size_t runner_tally_bytes(size_t step_count)
{
    return sizeof(struct runner_tally) + step_count * sizeof(struct step_counts);
}

/* A note: the step's number, the length of the key's text, the text, the reason. */
struct note_head {
    size_t step;
    size_t key_len;
};

static struct str write_note(const struct runner_rules *rules, const struct runner_effect *effect,
                             const struct stored_item *item, struct arena *arena)
{
    struct key key;
    struct error err = {0};
    struct str text = STR("an item without a key");
    if (key_of_item(&rules->table->keys, item->item, &key, &err)) {
        text = key_print(&rules->table->keys, &key, arena);
    }
    struct str reason = effect->result.reason;
    struct note_head head = {effect->result.failed_step, text.len};
    size_t len = sizeof head + text.len + reason.len;
    char *note = arena_alloc(arena, len);
    memcpy(note, &head, sizeof head);
    memcpy(note + sizeof head, text.ptr, text.len);
    memcpy(note + sizeof head + text.len, reason.ptr, reason.len);
    return (struct str){note, len};
}

void runner_tally_add(const struct runner_rules *rules, const struct runner_effect *effect,
                      const struct stored_item *item, struct scan_result *result)
{
    struct runner_tally *tally = result->tally;
    runner_effect_count(effect->result.outcomes, rules->facts->step_count, tally->counts);
    if (effect->result.fate == PASS_FAILED && tally->faults++ < LEDGER_FAULTS_MAX) {
        result->note = write_note(rules, effect, item, result->arena);
    }
}

struct item_fault runner_tally_fault(const struct pass_facts *facts, struct str note)
{
    struct note_head head;
    assert(note.len >= sizeof head);
    memcpy(&head, note.ptr, sizeof head);
    const char *key = note.ptr + sizeof head;
    struct str reason = {key + head.key_len, note.len - sizeof head - head.key_len};
    return (struct item_fault){
        .step = facts->steps[head.step].label,
        .key = {key, head.key_len},
        .reason = reason,
    };
}

void runner_tally_settle(const struct probe_verdicts *verdicts, size_t step_count,
                         struct ledger_step *steps)
{
    for (size_t i = 0; i < step_count; i++) {
        struct step_counts *counts = &steps[i].counts;
        uint64_t merged = i < verdicts->step_count ? verdicts->merged[i] : 0;
        merged = merged < counts->written ? merged : counts->written;
        counts->written -= merged;
        counts->unchanged += merged;
        counts->overwritten += probe_verdicts_overwritten(verdicts, (uint32_t)i);
    }
}

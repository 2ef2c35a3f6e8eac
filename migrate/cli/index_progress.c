#include "migrate/cli/index_progress.h"

#include "engine/base/arena.h"
#include "migrate/cli/report.h"

struct index_progress {
    struct invocation *invocation;
    const char *what; /* NULL: nothing is being made */
    uint64_t entries;
    bool is_estimate;
    struct progress *shown; /* of the phase at hand; NULL: none yet */
    bool reads;             /* that phase */
};

struct index_progress *index_progress_new(struct invocation *invocation)
{
    struct index_progress *progress = arena_zero(invocation->arena, sizeof *progress);
    progress->invocation = invocation;
    return progress;
}

static void end_phase(struct index_progress *progress)
{
    if (progress->shown != NULL) {
        progress_close(progress->shown);
        progress->shown = NULL;
    }
}

static struct progress *open_phase(const struct index_progress *progress,
                                   const struct index_growth *growth)
{
    struct invocation *invocation = progress->invocation;
    const char *phase = arena_format(invocation->arena, "%s %s",
                                     growth->reads ? "reading for" : "filling", progress->what)
                            .ptr;
    struct table_desc expected = {.item_count = progress->entries,
                                  .is_estimate = progress->is_estimate};
    return growth->total > 0 ? progress_open(invocation, phase, growth->total)
                             : progress_open_table(invocation, phase, &expected);
}

static void say(void *context, const char *sentence)
{
    const struct index_progress *progress = context;
    report_message(progress->invocation, "%s", sentence);
}

static void show(void *context, const struct index_growth *growth)
{
    struct index_progress *progress = context;
    if (progress->what == NULL) {
        return;
    }
    if (growth->reads != progress->reads) {
        end_phase(progress);
    }
    if (progress->shown == NULL) {
        progress->shown = open_phase(progress, growth);
        progress->reads = growth->reads;
    }
    progress_set(progress->shown, growth->done);
}

struct store_voice index_progress_voice(struct index_progress *progress)
{
    return (struct store_voice){.say = say, .index_grows = show, .context = progress};
}

void index_progress_begin(struct index_progress *progress, const char *what, uint64_t entries,
                          bool is_estimate)
{
    progress->what = what;
    progress->entries = entries;
    progress->is_estimate = is_estimate;
}

void index_progress_end(struct index_progress *progress)
{
    end_phase(progress);
    progress->what = NULL;
}

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "migrate/cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_MS = 1000, REDRAW_MS = 100, LINE_MS = 5000, BAR_CHARACTERS = 24, PERCENT = 100 };

struct progress {
    struct invocation *invocation;
    struct arena *scratch; /* for one line */
    struct progress_state state;
    uint64_t started_ms;
    uint64_t shown_ms; /* when a line was last shown */
    bool is_terminal;
    bool was_shown;
};

static uint64_t now_ms(void)
{
    enum { NS_PER_MS = 1000000 };
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_MS + (uint64_t)now.tv_nsec / NS_PER_MS;
}

static void add_bar(struct buffer *line, uint64_t percent, size_t bar)
{
    size_t filled = (size_t)percent * bar / PERCENT;
    buffer_add_char(line, '[');
    for (size_t i = 0; i < bar; i++) {
        buffer_add_char(line, i < filled ? '#' : ' ');
    }
    buffer_add(line, STR("]  "));
}

/* done * PERCENT would overflow only where the table could not exist. */
static void add_share(struct buffer *line, struct arena *arena, struct progress_state state,
                      size_t bar)
{
    uint64_t percent = state.done >= state.total ? PERCENT : state.done * PERCENT / state.total;
    if (bar > 0) {
        add_bar(line, percent, bar);
    }
    buffer_format(line, "%" PRIu64 " %%  %.*s of %s%.*s", percent,
                  STR_ARG(report_count(arena, state.done)), state.is_estimate ? "~" : "",
                  STR_ARG(report_count(arena, state.total)));
}

static void add_speed(struct buffer *line, struct arena *arena, struct progress_state state)
{
    uint64_t per_second = state.done * SECOND_MS / state.elapsed_ms;
    buffer_format(line, "  %.*s/s", STR_ARG(report_count(arena, per_second)));
    if (state.done < state.total) {
        double left = (double)(state.total - state.done);
        uint64_t left_ms = (uint64_t)((double)state.elapsed_ms * left / (double)state.done);
        buffer_format(line, "  ETA %.*s", STR_ARG(report_duration(arena, left_ms)));
    }
}

struct str progress_line(struct arena *arena, struct progress_state state, size_t bar)
{
    struct buffer line = {0};
    if (state.is_estimate && state.done > state.total) {
        state.total = 0; /* it says nothing */
    }
    buffer_format(&line, "%s  ", state.phase);
    if (state.total > 0) {
        add_share(&line, arena, state, bar);
    } else {
        buffer_add(&line, report_count(arena, state.done));
    }
    if (state.elapsed_ms > 0 && state.done > 0) {
        add_speed(&line, arena, state);
    } else if (state.elapsed_ms > 0) {
        buffer_format(&line, "  for %.*s", STR_ARG(report_duration(arena, state.elapsed_ms)));
    }
    struct str text = arena_copy(arena, buffer_str(&line));
    buffer_free(&line);
    return text;
}

struct progress *progress_open(struct invocation *invocation, const char *phase, uint64_t total)
{
    struct progress *progress = arena_zero(invocation->arena, sizeof *progress);
    progress->invocation = invocation;
    progress->scratch = arena_new();
    progress->state = (struct progress_state){.phase = phase, .total = total};
    progress->started_ms = now_ms();
    progress->shown_ms = progress->started_ms;
    progress->is_terminal = isatty(fileno(invocation->messages)) == 1;
    return progress;
}

struct progress *progress_open_table(struct invocation *invocation, const char *phase,
                                     const struct table_desc *table)
{
    struct progress *progress = progress_open(invocation, phase, table->item_count);
    progress->state.is_estimate = table->is_estimate;
    return progress;
}

static void show(struct progress *progress, uint64_t now)
{
    arena_reset(progress->scratch);
    progress->state.elapsed_ms = now - progress->started_ms;
    struct str line = progress_line(progress->scratch, progress->state,
                                    progress->is_terminal ? BAR_CHARACTERS : 0);
    if (progress->is_terminal) {
        (void)fprintf(progress->invocation->messages, "\r%.*s\033[K", STR_ARG(line));
    } else {
        (void)fprintf(progress->invocation->messages, "%.*s\n", STR_ARG(line));
    }
    (void)fflush(progress->invocation->messages);
    progress->shown_ms = now;
    progress->was_shown = true;
}

void progress_set(struct progress *progress, uint64_t done)
{
    progress->state.done = done;
    if (progress->invocation->quiet) {
        return;
    }
    uint64_t now = now_ms();
    if (now - progress->shown_ms >= (progress->is_terminal ? REDRAW_MS : LINE_MS)) {
        show(progress, now);
    }
}

/* The last line stays, with its true end, where there was one at all. */
void progress_close(struct progress *progress)
{
    if (progress->was_shown) {
        show(progress, now_ms());
        (void)fputs(progress->is_terminal ? "\n" : "", progress->invocation->messages);
    }
    arena_free(progress->scratch);
}

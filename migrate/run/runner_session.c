#include "migrate/run/runner_session.h"

#include "migrate/cli/report.h"
#include "migrate/cli/target.h"
#include "migrate/ledger/import_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    WORKERS_MAX = 256,
    SEGMENTS_MAX = 10000,
    SEGMENTS_DEFAULT = 64,
    PAGE_MAX = 100000,
    REST_MS = 5 /* an item that never rests is tried for some two seconds */
};

static unsigned default_workers(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : (unsigned)(processors < WORKERS_MAX ? processors : WORKERS_MAX);
}

static const char *choose_temp_dir(const char *wanted)
{
    const char *chosen = wanted != NULL ? wanted : getenv("TMPDIR");
    return chosen != NULL && chosen[0] != '\0' ? chosen : P_tmpdir;
}

bool runner_session_options(struct invocation *invocation, struct runner_session *out,
                            struct error *err)
{
    uint64_t workers = default_workers();
    uint64_t segments = SEGMENTS_DEFAULT;
    uint64_t page_items = 0;
    out->max_item_errors = UINT64_MAX;
    if (!invocation_number(invocation, "workers", (struct number_range){1, WORKERS_MAX}, &workers,
                           err) ||
        !invocation_number(invocation, "segments", (struct number_range){1, SEGMENTS_MAX},
                           &segments, err) ||
        !invocation_number(invocation, "page-size", (struct number_range){1, PAGE_MAX}, &page_items,
                           err) ||
        !invocation_number(invocation, "max-item-errors", (struct number_range){0, UINT64_MAX},
                           &out->max_item_errors, err) ||
        !control_limits_read(invocation, &out->limits, err)) {
        return false;
    }
    out->page_items = (size_t)page_items;
    out->workers = (unsigned)workers;
    out->segments = (uint32_t)segments;
    out->state_dir = invocation_text(invocation, "state");
    out->wanted_temp_dir = invocation_text(invocation, "temp");
    out->temp_dir = choose_temp_dir(out->wanted_temp_dir);
    out->is_run = true;
    return true;
}

bool runner_session_describe(struct runner_session *session, struct error *err)
{
    return store_describe(session->store, session->arena, &session->table, err);
}

static bool watch_control(struct runner_session *session, struct error *err)
{
    struct control_watch watch = {.invocation = session->invocation,
                                  .store = session->store,
                                  .limits = session->limits,
                                  .path = invocation_text(session->invocation, "control")};
    return control_file_open(&watch, &session->control, err);
}

/* ---------------------------------------------------------------- opening */

/* A server's segments lie on different machines: runs are not to meet them in one order. In a file
 * neighbours are read best one after the other. */
static uint64_t choose_shuffle(const struct runner_session *session)
{
    uint64_t seed = 0;
    bool shuffled =
        store_is_shared(session->store) && getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed;
    return shuffled ? seed : 0;
}

bool runner_session_join(struct runner_session *session, struct arena *arena, struct error *err)
{
    bool ok = store_lease_join(session->store, ledger_who(arena).ptr, arena, &session->leader, err);
    session->leads = ok && session->leader.ptr == NULL;
    return ok;
}

static bool take_lease(struct runner_session *session, struct error *err)
{
    if (session->shares) {
        return runner_session_join(session, session->arena, err);
    }
    session->leads = store_lease_take(session->store, ledger_who(session->arena).ptr, err);
    return session->leads;
}

bool runner_session_give_up(struct runner_session *session, const struct error *why)
{
    struct store *store = session->store;
    struct error lost;
    bool shares = session->shares && store_is_shared(store) && store_self(store).len > 0;
    if (!shares || runner_session_stopped(session) ||
        (why->code != ERROR_BUSY && store_flush(store, &lost))) {
        return false;
    }
    report_message(session->invocation, "%.*s; this process joins the run anew",
                   (int)strcspn(why->text, "\n"), why->text);
    store_lease_release(store);
    session->leads = false;
    session->leader = STR("");
    return true;
}

bool runner_session_read(struct runner_session *session, struct error *err)
{
    return runner_session_describe(session, err) &&
           ledger_read(session->reader, session->arena, &session->ledger, err);
}

bool runner_session_open(struct invocation *invocation, enum store_mode mode,
                         struct runner_session *session, struct error *err)
{
    session->making = index_progress_new(invocation);
    struct store_options options = {
        .mode = mode,
        .temp_dir = session->wanted_temp_dir,
        .state_dir = session->state_dir,
        .voice = index_progress_voice(session->making),
        .stop = invocation->stop,
    };
    session->invocation = invocation;
    session->arena = invocation->arena;
    if (!target_open(invocation->table, &options, &session->store, err)) {
        return false;
    }
    if (mode == STORE_WRITE && !take_lease(session, err)) {
        return false;
    }
    session->shuffle = choose_shuffle(session);
    return (!session->is_run || watch_control(session, err)) &&
           store_reader_open(session->store, &session->reader, err) &&
           runner_session_read(session, err);
}

bool runner_session_check_import(const struct runner_session *session, struct error *err)
{
    bool unfinished = false;
    struct str detail;
    if (!import_is_unfinished(session->reader, session->arena, &unfinished, &detail, err)) {
        return false;
    }
    return !unfinished || error_set(err, ERROR_STORE, "%.*s", STR_ARG(detail));
}

void runner_session_close(struct runner_session *session)
{
    control_file_close(session->control);
    if (session->reader != NULL) {
        store_reader_close(session->reader);
    }
    store_close(session->store);
}

struct scan_options runner_session_scan(const struct runner_session *session)
{
    return (struct scan_options){
        .store = session->store,
        .workers = session->workers,
        .segments = session->segments,
        .limits = {.items = session->page_items},
        .rest_ms = REST_MS,
        .stop = session->invocation->stop,
        .paused = session->invocation->paused,
        .shuffle = session->shuffle,
    };
}

void runner_session_count_usage(struct runner_session *session, struct store_usage *used)
{
    struct store_usage now;
    store_usage(session->store, &now);
    used->read_units += now.read_units - session->counted.read_units;
    used->write_units += now.write_units - session->counted.write_units;
    session->counted = now;
}

bool runner_session_stopped(const struct runner_session *session)
{
    const atomic_bool *stop = session->invocation->stop;
    return stop != NULL && atomic_load(stop);
}

#include "migrate/run/runner_index.h"

#include "migrate/cli/report.h"
#include "migrate/run/runner_compile.h"

#include <string.h>

/* ---------------------------------------------------------------- checking */

struct findings {
    struct ledger_record *record;
    struct arena *arena;
    struct str step;
};

static void note_finding(void *context, struct str finding)
{
    struct findings *findings = context;
    struct item_fault fault = {.step = findings->step, .key = STR(""), .reason = finding};
    fault_list_add(&findings->record->faults, fault, findings->arena);
}

bool runner_index_check(struct runner_session *session, const struct stage *stage,
                        struct ledger_record *record, struct index_counts *out, struct error *err)
{
    struct scan_options scan = runner_session_scan(session);
    struct arena *arena = session->arena;
    struct findings findings = {
        record, arena, arena_format(arena, "create_index %.*s", STR_ARG(stage->index.name))};
    struct index_check check = {.keys = &stage->index.keys,
                                .report_max = stage->leave_out ? 0 : LEDGER_FAULTS_MAX,
                                .report = note_finding,
                                .context = &findings};
    if (!index_check_run(&scan, &check, out, err)) {
        return false;
    }
    if (session->eligible_count < INDEXES_MAX) {
        session->eligible[session->eligible_count].name = stage->index.name;
        session->eligible[session->eligible_count++].items = out->whole;
    }
    return true;
}

/* ---------------------------------------------------------------- changing */

/* An earlier attempt was killed between writing the record and the change, or right after both. */
static bool is_last_change(const struct ledger_record *record, struct str name, bool created)
{
    if (record->change_count == 0) {
        return false;
    }
    const struct index_change *last = &record->changes[record->change_count - 1];
    return last->created == created && str_equal(last->index.name, name);
}

static void add_change(struct runner_session *session, struct ledger_record *record, bool created,
                       const struct index_desc *index)
{
    size_t count = record->change_count;
    struct index_change *changes = arena_alloc(session->arena, (count + 1) * sizeof *changes);
    if (count > 0) {
        memcpy(changes, record->changes, count * sizeof *changes);
    }
    changes[count] = (struct index_change){created, *index};
    record->changes = changes;
    record->change_count = count + 1;
}

bool runner_index_create(struct runner_session *session, const struct stage *stage,
                         struct ledger_record *record, struct error *err)
{
    const struct index_desc *index = &stage->index;
    if (!is_last_change(record, index->name, true)) {
        add_change(session, record, true, index);
        if (!ledger_write(session->store, record, err)) {
            return false;
        }
    }
    return table_index(&session->table, index->name) != NULL ||
           (store_index_create(session->store, index, err) && store_flush(session->store, err) &&
            runner_session_describe(session, err));
}

static bool drop_index(struct runner_session *session, struct str name, struct error *err)
{
    return store_index_drop(session->store, name, err) && store_flush(session->store, err) &&
           runner_session_describe(session, err);
}

bool runner_index_drop(struct runner_session *session, const struct stage *stage,
                       struct ledger_record *record, struct error *err)
{
    struct str name = stage->index.name;
    const struct index_desc *index = table_index(&session->table, name);
    if (index == NULL) {
        return true; /* an earlier attempt dropped it: the plan was checked before */
    }
    if (!is_last_change(record, name, false)) {
        add_change(session, record, false, index);
        if (!ledger_write(session->store, record, err)) {
            return false;
        }
    }
    return drop_index(session, name, err);
}

/* ---------------------------------------------------------------- filling */

static void begin_progress(const struct runner_session *session, struct str name)
{
    const char *what = arena_format(session->arena, "index %.*s", STR_ARG(name)).ptr;
    uint64_t entries = session->table.item_count;
    bool is_estimate = session->table.is_estimate;
    for (size_t i = 0; i < session->eligible_count; i++) {
        if (str_equal(session->eligible[i].name, name)) {
            entries = session->eligible[i].items;
            is_estimate = false;
        }
    }
    index_progress_begin(session->making, what, entries, is_estimate);
}

static bool finish_one(const struct runner_session *session, struct str name, struct error *err)
{
    begin_progress(session, name);
    bool ok = store_index_finish(session->store, name, err) && store_flush(session->store, err);
    index_progress_end(session->making);
    return ok || error_wrap(err, "index %.*s", STR_ARG(name));
}

static bool is_made_by(const struct ledger_record *record, struct str name)
{
    bool made = false;
    for (size_t i = 0; i < record->change_count; i++) {
        const struct index_change *change = &record->changes[i];
        made = str_equal(change->index.name, name) ? change->created : made;
    }
    return made;
}

/* An index that is ACTIVE already, as some servers make them at once, is counted too. */
bool runner_index_finish(struct runner_session *session, const struct ledger_record *record,
                         struct error *err)
{
    struct table_desc table = session->table;
    for (size_t i = 0; i < table.index_count; i++) {
        const struct index_desc *index = &table.indexes[i];
        bool is_due = index->state == INDEX_CREATING || is_made_by(record, index->name);
        if (is_due && !finish_one(session, index->name, err)) {
            return false;
        }
    }
    return runner_index_refresh(session, err);
}

bool runner_index_refresh(struct runner_session *session, struct error *err)
{
    bool any = false;
    if (!runner_session_describe(session, err)) {
        return false;
    }
    struct table_desc table = session->table;
    for (size_t i = 0; i < table.index_count; i++) {
        bool is_behind = table.indexes[i].state == INDEX_BEHIND;
        if (is_behind && !finish_one(session, table.indexes[i].name, err)) {
            return false;
        }
        any = any || is_behind;
    }
    return !any || runner_session_describe(session, err);
}

/* ---------------------------------------------------------------- taking back */

/* The plan's first change of an index tells whether it was there before. */
static bool is_first_change(const struct ledger_record *record, size_t change)
{
    for (size_t i = 0; i < change; i++) {
        if (str_equal(record->changes[i].index.name, record->changes[change].index.name)) {
            return false;
        }
    }
    return true;
}

bool runner_index_drop_made(struct runner_session *session, const struct ledger_record *record,
                            struct error *err)
{
    for (size_t i = record->change_count; i > 0; i--) {
        const struct index_change *change = &record->changes[i - 1];
        if (change->created && table_index(&session->table, change->index.name) != NULL &&
            !drop_index(session, change->index.name, err)) {
            return false;
        }
    }
    return true;
}

bool runner_index_make_dropped(struct runner_session *session, const struct ledger_record *record,
                               struct error *err)
{
    for (size_t i = record->change_count; i > 0; i--) {
        const struct index_change *change = &record->changes[i - 1];
        if (!change->created && is_first_change(record, i - 1) &&
            table_index(&session->table, change->index.name) == NULL &&
            !(store_index_create(session->store, &change->index, err) &&
              store_flush(session->store, err) && runner_session_describe(session, err))) {
            return false;
        }
    }
    return runner_index_finish(session, record, err);
}

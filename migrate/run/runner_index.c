#include "migrate/run/runner_index.h"

#include "migrate/cli/report.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/run/kept_reading.h"
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

/* ---------------------------------------------------------------- going on with a check */

/* What a server's table is checked with: docs/format.md has what is kept. */
struct keeping {
    struct kept_reading *reading;
    struct findings *findings;
    struct index_resume resume;
};

static bool next_segment(void *context, struct scan_turn *out, struct error *err)
{
    (void)err;
    const struct keeping *keeping = context;
    return kept_reading_next(keeping->reading, out);
}

static bool save(const struct keeping *keeping, const struct index_counts *so_far,
                 struct error *err)
{
    cJSON *part = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(part, "whole", (double)so_far->whole);
    (void)cJSON_AddNumberToObject(part, "partial", (double)so_far->partial);
    (void)cJSON_AddNumberToObject(part, "without", (double)so_far->without);
    (void)cJSON_AddNumberToObject(part, "violating", (double)so_far->violating);
    fault_list_to_json(&keeping->findings->record->faults, part, "faults");
    return kept_reading_save(keeping->reading, part, err);
}

static bool take_page(void *context, const struct scan_page *page,
                      const struct index_counts *so_far, struct error *err)
{
    struct keeping *keeping = context;
    kept_reading_page(keeping->reading, page);
    keeping->resume.before = *so_far;
    return !kept_reading_is_due(keeping->reading, 1) || save(keeping, so_far, err);
}

static bool read_part(const cJSON *part, struct keeping *keeping, struct error *err)
{
    struct index_counts *before = &keeping->resume.before;
    struct fault_list *faults = &keeping->findings->record->faults;
    if (!ledger_json_number(part, "whole", &before->whole, err) ||
        !ledger_json_number(part, "partial", &before->partial, err) ||
        !ledger_json_number(part, "without", &before->without, err) ||
        !ledger_json_number(part, "violating", &before->violating, err) ||
        !fault_list_from_json(part, "faults", keeping->findings->arena, faults, err)) {
        return false;
    }
    keeping->resume.reported = faults->count;
    return true;
}

static bool open_keeping(struct keeping *keeping, struct error *err)
{
    const cJSON *part = kept_reading_part(keeping->reading);
    struct error why = {ERROR_NONE, ""};
    keeping->resume.context = keeping;
    keeping->resume.next = next_segment;
    keeping->resume.page = take_page;
    if (part != NULL && read_part(part, keeping, &why)) {
        kept_reading_say(keeping->reading);
        return true;
    }
    keeping->resume.before = (struct index_counts){.whole = 0};
    return kept_reading_begin(keeping->reading, part == NULL ? NULL : why.text, err) &&
           save(keeping, &keeping->resume.before, err);
}

static bool check_kept(const struct scan_options *scan, const struct index_check *check,
                       struct kept_reading *reading, struct index_counts *out, struct error *err)
{
    struct scan_options options = *scan;
    struct index_check kept = *check;
    struct keeping keeping = {.reading = reading, .findings = check->context};
    options.segments = kept_reading_segments(reading);
    kept.resume = &keeping.resume;
    if (!open_keeping(&keeping, err)) {
        return false;
    }
    bool ok = index_check_run(&options, &kept, out, err);
    if (!ok) {
        struct error ignored;
        (void)!save(&keeping, &keeping.resume.before, &ignored);
    }
    return ok;
}

bool runner_index_check(struct runner_session *session, const struct index_stage *stage,
                        struct index_counts *out, struct error *err)
{
    struct scan_options scan = runner_session_scan(session);
    struct arena *arena = session->arena;
    struct str name = stage->stage->index.name;
    struct findings findings = {stage->record, arena,
                                arena_format(arena, "create_index %.*s", STR_ARG(name))};
    struct index_check check = {.keys = &stage->stage->index.keys,
                                .report_max = stage->stage->leave_out ? 0 : LEDGER_FAULTS_MAX,
                                .report = note_finding,
                                .context = &findings};
    bool ok = stage->reading != NULL ? check_kept(&scan, &check, stage->reading, out, err)
                                     : index_check_run(&scan, &check, out, err);
    if (ok && session->eligible_count < INDEXES_MAX) {
        session->eligible[session->eligible_count].name = name;
        session->eligible[session->eligible_count++].items = out->whole;
    }
    return ok;
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

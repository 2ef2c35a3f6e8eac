/* scan_fixture — a table in memory of ITEMS items, and a pass that counts visits in them: N goes up
 * by one. For the tests of scans: it strikes with faults, and writes as a live writer would. */
#ifndef TESTS_SUPPORT_SCAN_FIXTURE_H
#define TESTS_SUPPORT_SCAN_FIXTURE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/scan/scan.h"
#include "engine/store/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ITEMS = 1000, SEGMENTS = 5, SEGMENTS_MAX = 64, PASS = 7, LOG = 3 };

extern const struct key_schema scan_fixture_keys;

/* What goes wrong, and where. */
enum scan_fault { NO_FAULT, AT_OPEN, AT_READ, AT_ITEM, AT_PAGE, AT_COMMIT };

struct scan_tally {
    size_t met;
    size_t written;
};

/* One table and all that a test watches. What workers touch is atomic. */
struct scan_fixture {
    struct arena *arena;
    struct store *store;
    struct scan_tally total;
    size_t items; /* as pages tell */
    size_t pages;
    size_t notes;
    size_t not_applied[OUTCOME_REJECTED + 1];
    size_t gone; /* of those that are stale */
    struct str cursors[SEGMENTS_MAX];
    bool done[SEGMENTS_MAX];
    bool resumes; /* goes on where the last run of SEGMENTS segments ended */
    atomic_uint turns;
    enum scan_fault fault;
    unsigned fault_after; /* calls that go well before */
    atomic_uint calls;
    atomic_uint opened;
    atomic_uint in_flight;
    atomic_uint most_in_flight;
    atomic_bool stop;
    size_t stop_after; /* pages; 0: never */
    int64_t disturbed; /* id of the item that somebody else writes before each commit; -1: none */
    unsigned disturbances;
    bool removes; /* instead of writing it */
    enum write_kind kind;
    int64_t put_id; /* WRITE_PUT: all items put this one */
};

/* Items with the ids 0 to ITEMS - 1 and no visits. scan_fixture_free() asserts that all workers
 * were closed. */
struct scan_fixture *scan_fixture_new(void);
void scan_fixture_free(struct scan_fixture *fixture);

/* Two workers, five segments, pages of 20 items. */
struct scan_options scan_fixture_options(struct scan_fixture *fixture);

/* Visits every item, by a write of fixture->kind. */
struct scan_task scan_fixture_task(struct scan_fixture *fixture);

/* Runs the task; scan_fixture_expect_run() asserts that it goes well. */
MUST_CHECK bool scan_fixture_run(struct scan_fixture *fixture, const struct scan_options *options,
                                 struct error *err);
void scan_fixture_expect_run(struct scan_fixture *fixture, const struct scan_options *options);

/* How many items have this many visits; the visits and the id of one. */
size_t scan_fixture_count(const struct scan_fixture *fixture, int64_t visits);
int64_t scan_fixture_visits(struct value item);
int64_t scan_fixture_id(struct value item);

#endif

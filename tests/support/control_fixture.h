/* control_fixture — a table in memory, for tests of what is kept in its control records. */
#ifndef TESTS_SUPPORT_CONTROL_FIXTURE_H
#define TESTS_SUPPORT_CONTROL_FIXTURE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"

/* The table, and what each test needs. */
struct fixture {
    struct arena *arena;
    struct store *store;
    struct store_reader *reader;
    struct error err;
};

/* An empty table, keyed by PK:S. */
struct fixture set_up(void);
void tear_down(struct fixture *fixture);

/* Writes a record; one without a value goes. */
void put_control(struct fixture *fixture, const char *name, struct str value);

#endif

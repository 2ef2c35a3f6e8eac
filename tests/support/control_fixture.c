#include "tests/support/control_fixture.h"

#include "tests/support/memory_store.h"

#include <check.h>
#include <string.h>

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .partition_count = 1};

struct fixture set_up(void)
{
    struct fixture fixture = {.arena = arena_new(), .store = memory_store_new(&keys, NULL)};
    ck_assert(store_reader_open(fixture.store, &fixture.reader, &fixture.err));
    return fixture;
}

void tear_down(struct fixture *fixture)
{
    store_reader_close(fixture->reader);
    store_close(fixture->store);
    arena_free(fixture->arena);
}

void put_control(struct fixture *fixture, const char *name, struct str value)
{
    struct control control = {.name = {name, strlen(name)}, .value = value};
    struct batch batch = {.controls = &control, .control_count = 1, .arena = fixture->arena};
    ck_assert(store_commit(fixture->store, &batch, &fixture->err));
    ck_assert(store_flush(fixture->store, &fixture->err));
}

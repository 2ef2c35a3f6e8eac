#include "migrate/run/probe_verdicts.h"

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/ledger/ledger.h"
#include "tests/support/control_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { VERDICTS = 1201 };

static struct probe_verdicts many_verdicts(struct arena *arena)
{
    struct probe_verdicts verdicts = {.list = arena_zero(arena, VERDICTS * sizeof *verdicts.list),
                                      .count = VERDICTS,
                                      .merged = arena_zero(arena, 2 * sizeof *verdicts.merged),
                                      .step_count = 2};
    for (size_t i = 0; i < VERDICTS; i++) {
        struct probe_verdict *verdict = &verdicts.list[i];
        verdict->source[0] = (unsigned char)(i % 251);
        verdict->source[15] = (unsigned char)(i / 251);
        verdict->ruling = (enum probe_ruling)(i % PROBE_RULING_COUNT);
        bool has_basis = verdict->ruling == PROBE_LOSE || verdict->ruling == PROBE_OVERWRITE;
        verdict->wanted[3] = has_basis ? (unsigned char)(i % 256) : 0;
        verdict->winner = has_basis ? STR("\x01\xff key") : STR("");
        verdict->standing[4] = has_basis ? (unsigned char)(i % 255) : 0;
        verdict->step = (uint32_t)(i % 2);
        verdict->reason = i % PROBE_RULING_COUNT == PROBE_FAIL ? STR("\"why\"") : STR("");
    }
    verdicts.merged[1] = 77;
    probe_verdicts_sort(&verdicts);
    return verdicts;
}

START_TEST(verdicts_come_back)
{
    struct fixture f = set_up();
    struct probe_verdicts verdicts = many_verdicts(f.arena);
    struct probe_verdicts read;
    struct str prefix = probe_prefix(3, 1, f.arena);
    ck_assert_msg(probe_verdicts_save(f.store, prefix, &verdicts, &f.err), "%s", f.err.text);
    ck_assert_msg(probe_verdicts_load(f.reader, prefix, f.arena, &read, &f.err), "%s", f.err.text);
    ck_assert_ptr_nonnull(read.list);
    ck_assert_uint_eq(read.count, VERDICTS);
    ck_assert_uint_eq(read.merged[1], 77);
    for (size_t i = 0; i < VERDICTS; i++) {
        ck_assert_mem_eq(read.list[i].source, verdicts.list[i].source, PROBE_DIGEST_BYTES);
        ck_assert_int_eq(read.list[i].ruling, verdicts.list[i].ruling);
        ck_assert_mem_eq(read.list[i].wanted, verdicts.list[i].wanted, PROBE_DIGEST_BYTES);
        ck_assert(str_equal(read.list[i].winner, verdicts.list[i].winner));
        ck_assert_mem_eq(read.list[i].standing, verdicts.list[i].standing, PROBE_DIGEST_BYTES);
        ck_assert_uint_eq(read.list[i].step, verdicts.list[i].step);
        ck_assert(str_equal(read.list[i].reason, verdicts.list[i].reason));
    }
    ck_assert_uint_eq(probe_verdicts_overwritten(&read, 0) + probe_verdicts_overwritten(&read, 1),
                      (VERDICTS + 3) / 5 + (VERDICTS + 2) / 5);
    tear_down(&f);
}
END_TEST

START_TEST(verdicts_without_their_end_are_none)
{
    struct fixture f = set_up();
    struct probe_verdicts verdicts = many_verdicts(f.arena);
    struct probe_verdicts read;
    struct str prefix = probe_prefix(3, 1, f.arena);
    ck_assert(probe_verdicts_save(f.store, prefix, &verdicts, &f.err));
    put_control(&f, "probe/0000000003/00001/done", (struct str){NULL, 0});
    ck_assert(probe_verdicts_load(f.reader, prefix, f.arena, &read, &f.err));
    ck_assert_ptr_null(read.list);
    tear_down(&f);
}
END_TEST

START_TEST(verdicts_with_a_gap_are_damage)
{
    struct fixture f = set_up();
    struct probe_verdicts verdicts = many_verdicts(f.arena);
    struct probe_verdicts read;
    struct str prefix = probe_prefix(3, 1, f.arena);
    ck_assert(probe_verdicts_save(f.store, prefix, &verdicts, &f.err));
    put_control(&f, "probe/0000000003/00001/0000000001", (struct str){NULL, 0});
    ck_assert(!probe_verdicts_load(f.reader, prefix, f.arena, &read, &f.err));
    ck_assert_int_eq(f.err.code, ERROR_DAMAGED);
    tear_down(&f);
}
END_TEST

int main(void)
{
    TCase *verdicts = tcase_create("verdicts");
    tcase_add_test(verdicts, verdicts_come_back);
    tcase_add_test(verdicts, verdicts_without_their_end_are_none);
    tcase_add_test(verdicts, verdicts_with_a_gap_are_damage);
    Suite *suite = suite_create("migrate/run/probe_verdicts");
    suite_add_tcase(suite, verdicts);
    return suite_run(suite);
}

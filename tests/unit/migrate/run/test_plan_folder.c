#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/plan_status.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAN "{\"steps\": [{\"where\": \"a = 1\", \"set\": {\"b\": 2}}]}"

enum { NAMES_MAX = 8 };

/* A folder with plans in it. */
struct fixture {
    char folder[32];
    struct arena *arena;
    const char *names[NAMES_MAX];
    size_t name_count;
    struct error err;
};

static struct fixture set_up(void)
{
    struct fixture f = {.folder = "/tmp/refold-plans-XXXXXX", .arena = arena_new()};
    ck_assert_ptr_nonnull(mkdtemp(f.folder));
    return f;
}

static void tear_down(struct fixture *f)
{
    for (size_t i = 0; i < f->name_count; i++) {
        ck_assert_int_eq(unlink(f->names[i]), 0);
    }
    ck_assert_int_eq(rmdir(f->folder), 0);
    arena_free(f->arena);
}

static void write_plan(struct fixture *f, const char *name, const char *text)
{
    const char *path = arena_format(f->arena, "%s/%s", f->folder, name).ptr;
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    f->names[f->name_count++] = path;
}

static struct plan_list read_plans(struct fixture *f)
{
    struct plan_list list;
    ck_assert_msg(plan_folder_read(f->folder, f->arena, &list, &f->err), "%s", f->err.text);
    return list;
}

START_TEST(plans_are_ordered_by_number)
{
    struct fixture f = set_up();
    write_plan(&f, "0010_ten.json", PLAN);
    write_plan(&f, "9_nine.json", PLAN);
    write_plan(&f, "100_hundred.json", PLAN);
    write_plan(&f, ".hidden.json", "no plan");
    write_plan(&f, "notes.txt", "no plan");
    struct plan_list list = read_plans(&f);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_uint_eq(list.plans[0]->version, 9);
    ck_assert_uint_eq(list.plans[1]->version, 10);
    ck_assert_uint_eq(list.plans[2]->version, 100);
    ck_assert(plan_list_find(&list, 10) == list.plans[1]);
    ck_assert_ptr_null(plan_list_find(&list, 11));
    tear_down(&f);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_told_of)
{
    struct fixture f = set_up();
    struct plan_list list;
    const char *none = arena_format(f.arena, "%s/none", f.folder).ptr;
    ck_assert(!plan_folder_read(none, f.arena, &list, &f.err));
    ck_assert_int_eq(f.err.code, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(f.err.text, "hint: --plans DIR says where plans are"));
    tear_down(&f);
}
END_TEST

START_TEST(one_version_in_two_files_is_an_error_that_names_both)
{
    struct fixture f = set_up();
    struct plan_list list;
    write_plan(&f, "0001_one.json", PLAN);
    write_plan(&f, "1_other.json", PLAN);
    ck_assert(!plan_folder_read(f.folder, f.arena, &list, &f.err));
    ck_assert_int_eq(f.err.code, ERROR_PLAN);
    ck_assert_ptr_nonnull(strstr(f.err.text, "0001_one.json"));
    ck_assert_ptr_nonnull(strstr(f.err.text, "1_other.json"));
    tear_down(&f);
}
END_TEST

START_TEST(a_file_that_is_no_plan_is_an_error)
{
    struct fixture f = set_up();
    struct plan_list list;
    write_plan(&f, "orders.json", PLAN);
    ck_assert(!plan_folder_read(f.folder, f.arena, &list, &f.err));
    ck_assert_int_eq(f.err.code, ERROR_PLAN);
    tear_down(&f);
}
END_TEST

/* ---------------------------------------------------------------- pending */

/* Plans 1 to 4 stand in the folder; the ledger says: '-' nothing, 'a' applied, 'r' running, 'f'
 * failed, 'b' rolling back, 'B' rolled back, 'c' applied with another hash, for each from 1 on. */
static const struct {
    const char *says;
    const char *ledger;
    uint32_t to;
    const char *pending; /* versions, or NULL: refused */
    enum error_code code;
    const char *text;
    const char *status; /* first letters of their states; as the ledger, with 'p' pending */
} cases[] = {
    {"all are new", "----", 0, "1234", ERROR_NONE, "", "pppp"},
    {"the rest is new", "aa--", 0, "34", ERROR_NONE, "", "aapp"},
    {"up to one", "a---", 2, "2", ERROR_NONE, "", "appp"},
    {"nothing is left", "aaaa", 0, "", ERROR_NONE, "", "aaaa"},
    {"what is under way comes first", "ar--", 0, "234", ERROR_NONE, "", "aipp"},
    {"what failed is taken up", "af--", 0, "234", ERROR_NONE, "", "afpp"},
    {"rolled back is new again", "aB--", 0, "234", ERROR_NONE, "", "appp"},
    {"a rollback comes to its end first", "ab--", 0, NULL, ERROR_STORE, "rollback of plan 0002",
     "ahpp"},
    {"below the newest", "-a--", 0, NULL, ERROR_PLAN, "out of order", "oapp"},
    {"below the newest, once rolled back", "Ba--", 0, NULL, ERROR_PLAN, "out of order", "oapp"},
    {"a changed plan", "c---", 0, NULL, ERROR_PLAN, "was changed", "cppp"},
    {"a changed plan that was rolled back is another", "C---", 0, "1234", ERROR_NONE, "", "pppp"},
    {"to below what is applied", "aa--", 1, NULL, ERROR_USAGE, "rollback", "aapp"},
    {"to what is no plan", "aa--", 9, NULL, ERROR_USAGE, "no plan has version 0009", "aapp"},
    {"an applied plan without a file", "----a", 0, NULL, ERROR_PLAN, "out of order", "oooom"},
    {"a running plan without a file", "aaaar", 0, NULL, ERROR_PLAN, "file is not there", "aaaam"},
};

static enum run_state state_of(char letter)
{
    switch (letter) {
    case 'r':
        return RUN_RUNNING;
    case 'f':
        return RUN_FAILED;
    case 'b':
        return RUN_ROLLING_BACK;
    case 'B':
    case 'C':
        return RUN_ROLLED_BACK;
    default:
        return RUN_APPLIED;
    }
}

static struct ledger make_ledger(const char *letters, const struct plan_list *plans,
                                 struct arena *arena)
{
    struct ledger ledger = {arena_zero(arena, 8 * sizeof *ledger.records), 0};
    for (uint32_t i = 0; letters[i] != '\0'; i++) {
        if (letters[i] != '-') {
            const struct plan *plan = plan_list_find(plans, i + 1);
            bool other = letters[i] == 'c' || letters[i] == 'C' || plan == NULL;
            ledger.records[ledger.count++] =
                (struct ledger_record){.version = i + 1,
                                       .name = STR("p"),
                                       .hash = other ? STR("1:other") : plan->hash,
                                       .state = state_of(letters[i])};
        }
    }
    return ledger;
}

static struct plan_list four_plans(struct fixture *f)
{
    write_plan(f, "0001_a.json", PLAN);
    write_plan(f, "0002_b.json", PLAN);
    write_plan(f, "0003_c.json", PLAN);
    write_plan(f, "0004_d.json", PLAN);
    return read_plans(f);
}

START_TEST(pending_plans_follow_the_table)
{
    struct fixture f = set_up();
    struct plan_list plans = four_plans(&f);
    struct ledger ledger = make_ledger(cases[_i].ledger, &plans, f.arena);
    bool ok = plan_list_check(&plans, &ledger, cases[_i].to, &f.err);
    struct plan_list pending = plan_list_pending(&plans, &ledger, cases[_i].to, f.arena);
    ck_assert_msg(ok == (cases[_i].pending != NULL), "%s: %s", cases[_i].says, f.err.text);
    ck_assert_msg(f.err.code == cases[_i].code, "%s: %s", cases[_i].says, f.err.text);
    ck_assert_msg(strstr(f.err.text, cases[_i].text) != NULL, "%s: %s", cases[_i].says, f.err.text);
    for (size_t i = 0; ok && i <= strlen(cases[_i].pending); i++) {
        uint32_t version = i < pending.count ? pending.plans[i]->version : 0;
        char letter = version == 0 ? '\0' : (char)('0' + version);
        ck_assert_msg(letter == cases[_i].pending[i], "%s: place %zu: %u", cases[_i].says, i,
                      (unsigned)version);
    }
    tear_down(&f);
}
END_TEST

/* 'c' changed, 'm' file missing, 'o' out of order, 'i' interrupted, 'h' half back. */
static char status_letter(const struct plan_status *status)
{
    static const char letters[] = {
        [PLAN_PENDING] = 'p',   [PLAN_RUNNING] = 'r',    [PLAN_INTERRUPTED] = 'i',
        [PLAN_APPLIED] = 'a',   [PLAN_FAILED] = 'f',     [PLAN_ROLLING_BACK] = 'b',
        [PLAN_HALF_BACK] = 'h', [PLAN_ROLLED_BACK] = 'B'};
    if (status->changed) {
        return 'c';
    }
    if (status->file_missing) {
        return 'm';
    }
    return status->out_of_order ? 'o' : letters[status->state];
}

START_TEST(status_follows_the_table)
{
    struct fixture f = set_up();
    struct plan_list plans = four_plans(&f);
    struct ledger ledger = make_ledger(cases[_i].ledger, &plans, f.arena);
    size_t count = 0;
    struct plan_status *list = plan_status_all(&ledger, &plans, false, f.arena, &count);
    ck_assert_msg(count == strlen(cases[_i].status), "%s: %zu", cases[_i].says, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(status_letter(&list[i]) == cases[_i].status[i], "%s: plan %zu is %c",
                      cases[_i].says, i + 1, status_letter(&list[i]));
    }
    tear_down(&f);
}
END_TEST

START_TEST(who_holds_the_lease_is_at_work)
{
    struct fixture f = set_up();
    struct plan_list plans = four_plans(&f);
    struct ledger ledger = make_ledger("ar", &plans, f.arena);
    size_t count = 0;
    struct plan_status *list = plan_status_all(&ledger, NULL, true, f.arena, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(list[1].state, PLAN_RUNNING);
    ck_assert(!list[1].file_missing);
    tear_down(&f);
}
END_TEST

int main(void)
{
    TCase *folder = tcase_create("folder");
    tcase_add_test(folder, plans_are_ordered_by_number);
    tcase_add_test(folder, a_folder_that_is_not_there_is_told_of);
    tcase_add_test(folder, one_version_in_two_files_is_an_error_that_names_both);
    tcase_add_test(folder, a_file_that_is_no_plan_is_an_error);
    TCase *pending = tcase_create("pending");
    tcase_add_loop_test(pending, pending_plans_follow_the_table, 0, ROWS(cases));
    tcase_add_loop_test(pending, status_follows_the_table, 0, ROWS(cases));
    tcase_add_test(pending, who_holds_the_lease_is_at_work);
    Suite *suite = suite_create("migrate/run/plan_folder");
    suite_add_tcase(suite, folder);
    suite_add_tcase(suite, pending);
    return suite_run(suite);
}

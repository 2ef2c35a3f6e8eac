#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/run/probe_groups.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A case is a list of events on targets; what comes out is spelled "SOURCE:ruling[step]". */
struct event {
    char source; /* one letter; '.' ends the target, '0' ends the case */
    unsigned int step;
    bool puts;
    unsigned int content; /* digest of the item that would stand there */
    const char *newer;    /* keep_newer: its text */
    bool unsteady;
    /* at the end of a target */
    char target;
    bool held, changes, moves, done;
};

enum { FAIL_STEP, SKIP_STEP, OVERWRITE_STEP, NEWER_STEP };

static const struct pass_step steps[] = {
    {.collision = COLLISION_FAIL},
    {.collision = COLLISION_SKIP},
    {.collision = COLLISION_OVERWRITE},
    {.collision = COLLISION_KEEP_NEWER, .newer = STR_INIT("At")},
};
static const struct pass_facts facts = {.steps = steps, .step_count = 4};
static const struct key_schema schema = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                         .partition_count = 1};

#define MOVE(from, by)                                    \
    {                                                     \
        .source = (from), .step = (by), .content = (from) \
    }
#define UNSTEADY(from)                                                           \
    {                                                                            \
        .source = (from), .step = SKIP_STEP, .content = (from), .unsteady = true \
    }
#define NEWER(from, at)                                                        \
    {                                                                          \
        .source = (from), .step = NEWER_STEP, .content = (from), .newer = (at) \
    }
#define PUT(from, by, what)                                             \
    {                                                                   \
        .source = (from), .step = (by), .puts = true, .content = (what) \
    }
#define FREE(key)                      \
    {                                  \
        .source = '.', .target = (key) \
    }
#define HELD(key)                                    \
    {                                                \
        .source = '.', .target = (key), .held = true \
    }
#define HELD_BY(key, what)                                              \
    {                                                                   \
        .source = '.', .target = (key), .held = true, .content = (what) \
    }
#define HELD_CHANGED(key, what)                                                          \
    {                                                                                    \
        .source = '.', .target = (key), .held = true, .content = (what), .changes = true \
    }
#define HELD_MOVING(key)                                                             \
    {                                                                                \
        .source = '.', .target = (key), .held = true, .changes = true, .moves = true \
    }
#define HELD_SINCE(key, at)                                         \
    {                                                               \
        .source = '.', .target = (key), .held = true, .newer = (at) \
    }
#define HELD_DONE(key)                                                           \
    {                                                                            \
        .source = '.', .target = (key), .held = true, .newer = "1", .done = true \
    }
#define END           \
    {                 \
        .source = '0' \
    }

static const struct {
    const char *says;
    struct event events[10];
    const char *verdicts;
} cases[] = {
    {"one claim on a free key is quiet", {MOVE('a', 0), FREE('X'), END}, ""},
    {"fail: two that want one key", {MOVE('a', 0), MOVE('b', 0), FREE('X'), END}, "a:fail b:fail"},
    {"fail: a standing item is one of the group", {MOVE('a', 0), HELD('X'), END}, "X:fail a:fail"},
    {"fail: a chain stays where it is",
     {MOVE('a', 0), HELD_MOVING('b'), MOVE('b', 0), FREE('c'), END},
     "a:fail b:fail"},
    {"skip: the greatest old key moves to a free one",
     {MOVE('a', 1), MOVE('c', 1), MOVE('b', 1), FREE('X'), END},
     "a:skip1 b:skip1"},
    {"skip: nobody moves to a held one",
     {MOVE('a', 1), MOVE('b', 1), HELD('X'), END},
     "a:skip1 b:skip1"},
    {"skip: a put of what stands there is none that is left out",
     {PUT('a', 1, 5), PUT('b', 1, 6), HELD_BY('X', 5), END},
     "b:skip1"},
    {"skip: who would do something else under the old key fails, if it has to keep it",
     {UNSTEADY('a'), UNSTEADY('b'), FREE('X'), END},
     "a:fail"},
    {"skip: what such an item would have decided fails too",
     {PUT('b', 2, 5), HELD('Y'), UNSTEADY('b'), MOVE('c', 1), FREE('X'), END},
     "Y:fail b:fail"},
    {"overwrite: the greatest old key wins, the other is deleted",
     {MOVE('b', 2), MOVE('a', 2), FREE('X'), END},
     "a:lose2"},
    {"overwrite: the standing item is left for the winner",
     {MOVE('a', 2), HELD('X'), END},
     "X:stand2 a:overwrite2"},
    {"overwrite: nothing is overwritten with itself",
     {PUT('b', 2, 5), PUT('a', 2, 6), HELD_BY('X', 5), END},
     "a:skip2"},
    {"overwrite: an item that moves away itself is not destroyed",
     {MOVE('a', 2), HELD_MOVING('b'), MOVE('b', 2), FREE('c'), END},
     "a:fail b:fail"},
    {"overwrite: puts that come again have lost to what an earlier attempt wrote",
     {PUT('a', 2, 5), HELD_DONE('X'), MOVE('b', 2), HELD_DONE('Y'), END},
     "Y:stand2 a:skip2 b:overwrite2"},
    {"keep_newer: equally new, what an earlier attempt wrote stays",
     {NEWER('a', "1"), HELD_DONE('A'), NEWER('b', "2"), HELD_DONE('B'), END},
     "B:stand3 a:lose3 b:overwrite3"},
    {"keep_newer: the newest wins", {NEWER('a', "9"), NEWER('b', "1"), FREE('X'), END}, "b:lose3"},
    {"keep_newer: equally new, the greatest old key wins",
     {NEWER('a', "1"), NEWER('b', "1"), FREE('X'), END},
     "a:lose3"},
    {"keep_newer: missing is the oldest",
     {NEWER('a', "1"), NEWER('b', NULL), FREE('X'), END},
     "b:lose3"},
    {"keep_newer: a newer standing item stays",
     {NEWER('a', "1"), HELD_SINCE('X', "2"), END},
     "a:lose3"},
    {"keep_newer: an older standing item is overwritten",
     {NEWER('a', "3"), HELD_SINCE('X', "2"), END},
     "X:stand3 a:overwrite3"},
    {"equal puts are one", {PUT('a', 0, 5), PUT('b', 0, 5), FREE('X'), END}, ""},
    {"different puts collide", {PUT('a', 0, 5), PUT('b', 0, 6), FREE('X'), END}, "a:fail b:fail"},
    {"a put of what stands there is no write", {PUT('a', 0, 5), HELD_BY('X', 5), END}, ""},
    {"a put of what stands there, but is about to change",
     {PUT('a', 0, 5), HELD_CHANGED('X', 5), END},
     "X:fail a:fail"},
    {"a put and a move collide", {PUT('a', 0, 5), MOVE('b', 0), FREE('X'), END}, "a:fail b:fail"},
    {"overwrite: of different puts the greatest source's stays, no source is deleted",
     {PUT('a', 2, 5), PUT('b', 2, 6), FREE('X'), END},
     "a:skip2"},
    {"rules that do not agree fail", {MOVE('a', 1), MOVE('b', 2), FREE('X'), END}, "a:fail b:fail"},
    {"one item that wants a key twice fails",
     {PUT('a', 2, 5), PUT('a', 2, 6), FREE('X'), END},
     "a:fail"},
    {"who fails elsewhere decides nothing here",
     {PUT('b', 0, 5), HELD('X'), MOVE('a', 2), MOVE('b', 2), FREE('Y'), END},
     "X:fail a:fail b:fail"},
    {"who is deleted decides nothing elsewhere",
     {MOVE('a', 2), MOVE('b', 2), FREE('X'), PUT('a', 2, 5), HELD('Y'), END},
     "Y:fail a:fail b:fail"},
};

static struct key key_named(struct arena *arena, char name)
{
    struct key key = {.count = 1};
    key.parts[0] = value_string(arena, (struct str){&name, 1});
    return key;
}

static struct value newer_of(struct arena *arena, const struct event *event)
{
    struct value missing = {NULL, 0};
    return event->newer == NULL
               ? missing
               : value_string(arena, (struct str){event->newer, strlen(event->newer)});
}

static struct value item_since(struct arena *arena, const struct event *event)
{
    struct attribute at = {STR("At"), newer_of(arena, event)};
    struct value item = {NULL, 0};
    struct error err = {0};
    ck_assert(value_map(arena, &at, 1, &item, &err));
    return item;
}

static void feed(struct probe_groups *groups, const struct event *event, struct arena *arena)
{
    if (event->source != '.') {
        struct key wanted = key_named(arena, 'W');
        struct probe_claim claim = {.source = key_named(arena, event->source),
                                    .step = event->step,
                                    .puts = event->puts,
                                    .unsteady = event->unsteady,
                                    .digest = event->content,
                                    .newer = newer_of(arena, event)};
        probe_groups_claim(groups, &wanted, &claim);
        return;
    }
    struct key target = key_named(arena, event->target);
    struct probe_holder holder = {.key = target,
                                  .digest = event->content,
                                  .item = item_since(arena, event),
                                  .after = item_since(arena, event),
                                  .unchanged = !event->changes,
                                  .settled = !event->moves,
                                  .done = event->done};
    probe_groups_end(groups, &target, event->held ? &holder : NULL);
}

/* The verdicts on sources 'A' to 'z', in that order. */
static void spell(const struct probe_verdicts *verdicts, struct arena *arena, char *out,
                  size_t size)
{
    static const char *const names[] = {"fail", "lose", "stand", "skip", "overwrite"};
    size_t used = 0;
    out[0] = '\0';
    for (char name = 'A'; name <= 'z'; name++) {
        struct key key = key_named(arena, name);
        size_t count = 0;
        const struct probe_verdict *found = probe_verdicts_of(verdicts, &key, &count);
        for (size_t i = 0; i < count; i++) {
            bool fails = found[i].ruling == PROBE_FAIL;
            used += (size_t)snprintf(out + used, size - used, "%s%c:%s", used > 0 ? " " : "", name,
                                     names[found[i].ruling]);
            used += fails ? 0 : (size_t)snprintf(out + used, size - used, "%u", found[i].step);
        }
    }
}

START_TEST(groups_are_ruled_by_the_table)
{
    struct arena *arena = arena_new();
    struct probe_groups *groups = probe_groups_new(&facts, &schema);
    for (const struct event *event = cases[_i].events; event->source != '0'; event++) {
        feed(groups, event, arena);
    }
    struct probe_verdicts verdicts;
    probe_groups_rule(groups, arena, &verdicts);
    probe_groups_free(groups);
    char spelled[256];
    spell(&verdicts, arena, spelled, sizeof spelled);
    ck_assert_msg(strcmp(spelled, cases[_i].verdicts) == 0, "%s: '%s', expected '%s'",
                  cases[_i].says, spelled, cases[_i].verdicts);
    arena_free(arena);
}
END_TEST

START_TEST(a_failing_item_is_told_who_else_wants_the_key)
{
    static const struct event events[] = {MOVE('a', 0), MOVE('b', 0), MOVE('c', 0), HELD('X')};
    struct arena *arena = arena_new();
    struct probe_groups *groups = probe_groups_new(&facts, &schema);
    for (size_t i = 0; i < 4; i++) {
        feed(groups, &events[i], arena);
    }
    struct probe_verdicts verdicts;
    probe_groups_rule(groups, arena, &verdicts);
    probe_groups_free(groups);
    ck_assert_uint_eq(verdicts.count, 4);
    ck_assert_msg(str_equal(verdicts.list[0].reason,
                            STR("key PK='X' is wanted by PK='a', PK='b' and 1 more; an item "
                                "stands there")),
                  "%.*s", STR_ARG(verdicts.list[0].reason));
    arena_free(arena);
}
END_TEST

START_TEST(puts_without_a_write_are_counted_by_step)
{
    static const struct event events[] = {PUT('c', 2, 5), PUT('a', 0, 5), PUT('b', 0, 5),
                                          FREE('X'),      PUT('a', 2, 7), HELD_BY('Y', 7)};
    struct arena *arena = arena_new();
    struct probe_groups *groups = probe_groups_new(&facts, &schema);
    for (size_t i = 0; i < 6; i++) {
        feed(groups, &events[i], arena);
    }
    struct probe_verdicts verdicts;
    probe_groups_rule(groups, arena, &verdicts);
    probe_groups_free(groups);
    ck_assert_uint_eq(verdicts.count, 0);
    ck_assert_uint_eq(verdicts.step_count, 4);
    ck_assert_uint_eq(verdicts.merged[0], 1);
    ck_assert_uint_eq(verdicts.merged[2], 2);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *rule = tcase_create("rule");
    tcase_add_loop_test(rule, groups_are_ruled_by_the_table, 0, ROWS(cases));
    tcase_add_test(rule, a_failing_item_is_told_who_else_wants_the_key);
    tcase_add_test(rule, puts_without_a_write_are_counted_by_step);
    Suite *suite = suite_create("migrate/run/probe_groups");
    suite_add_tcase(suite, rule);
    return suite_run(suite);
}

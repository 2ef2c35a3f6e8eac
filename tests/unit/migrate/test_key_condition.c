#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/item_json.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/store.h"
#include "migrate/key_condition.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct key_schema table = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                        .partition_count = 1,
                                        .sort = {{STR_INIT("SK"), VALUE_S}},
                                        .sort_count = 1};
static const struct key_schema numbers = {.partition = {{STR_INIT("PK"), VALUE_N}},
                                          .partition_count = 1,
                                          .sort = {{STR_INIT("SK"), VALUE_N}},
                                          .sort_count = 1};
static const struct key_schema wide = {
    .partition = {{STR_INIT("P1"), VALUE_S}, {STR_INIT("P2"), VALUE_N}},
    .partition_count = 2,
    .sort = {{STR_INIT("S1"), VALUE_S}, {STR_INIT("S2"), VALUE_N}},
    .sort_count = 2};
static const struct key_schema single = {.partition = {{STR_INIT("PK"), VALUE_B}},
                                         .partition_count = 1};

/* What a query holds, as text: partition; fixed sort values; bounds, ( ) where exclusive. */
static struct str describe(const struct query *query, const struct key_schema *keys,
                           struct arena *arena)
{
    struct buffer out = {0};
    for (size_t i = 0; i < keys->partition_count; i++) {
        item_json_write_plain(query->partition[i], &out);
    }
    for (size_t i = 0; i < query->sort_equal_count; i++) {
        buffer_add(&out, STR(" ="));
        item_json_write_plain(query->sort_equal[i], &out);
    }
    if (!value_is_missing(query->low)) {
        buffer_add(&out, query->low_is_prefix ? STR(" ^") : STR(" ["));
        item_json_write_plain(query->low, &out);
        buffer_add(&out, query->low_exclusive ? STR("(") : STR(""));
    }
    if (!value_is_missing(query->high)) {
        buffer_add(&out, query->high_exclusive ? STR(" )") : STR(" ]"));
        item_json_write_plain(query->high, &out);
    }
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

static const struct {
    const char *text;
    const struct key_schema *keys;
    const char *query;
} good[] = {
    {"PK = 'A'", &table, "\"A\""},
    {"'A' = PK", &table, "\"A\""},
    {"PK = 'A' AND SK = 'B'", &table, "\"A\" =\"B\""},
    {"SK = 'B' and PK = 'A'", &table, "\"A\" =\"B\""},
    {"PK = 'A' AND SK < 'B'", &table, "\"A\" )\"B\""},
    {"PK = 'A' AND SK <= 'B'", &table, "\"A\" ]\"B\""},
    {"PK = 'A' AND SK > 'B'", &table, "\"A\" [\"B\"("},
    {"PK = 'A' AND SK >= 'B'", &table, "\"A\" [\"B\""},
    {"PK = 'A' AND 'B' < SK", &table, "\"A\" [\"B\"("},
    {"PK = 'A' AND 'B' >= SK", &table, "\"A\" ]\"B\""},
    {"PK = 'A' AND SK BETWEEN 'B' AND 'C'", &table, "\"A\" [\"B\" ]\"C\""},
    {"(PK = 'A') AND (begins_with(SK, 'B'))", &table, "\"A\" ^\"B\""},
    {"PK = 'A' || '#1'", &table, "\"A#1\""},
    {"\"PK\" = 'it''s'", &table, "\"it's\""},
    {"PK = 1e3 AND SK BETWEEN -1 AND 1", &numbers, "1000 [-1 ]1"},
    {"PK = b64'AAE='", &single, "\"AAE=\""},
    {"P1 = 'a' AND P2 = 1", &wide, "\"a\"1"},
    {"P1 = 'a' AND P2 = 1 AND S1 = 'x' AND S2 > 3", &wide, "\"a\"1 =\"x\" [3("},
};

START_TEST(key_condition_parse_reads_what_is_right)
{
    struct arena *arena = arena_new();
    struct query query = {0};
    struct error err = {0};
    bool ok = key_condition_parse((struct str){good[_i].text, strlen(good[_i].text)}, good[_i].keys,
                                  arena, &query, &err);
    ck_assert_msg(ok, "%s: %s", good[_i].text, err.text);
    struct str text = describe(&query, good[_i].keys, arena);
    ck_assert_msg(strcmp(text.ptr, good[_i].query) == 0, "%s: %s", good[_i].text, text.ptr);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *text;
    const struct key_schema *keys;
    enum error_code code;
    const char *message;
} bad[] = {
    {"PK = ", &table, ERROR_PLAN, "key condition, column 6"},
    {"SK = 'B'", &table, ERROR_USAGE, "expected PK = VALUE"},
    {"PK > 'A'", &table, ERROR_USAGE, "expected PK = VALUE"},
    {"begins_with(PK, 'A')", &table, ERROR_USAGE, "expected PK = VALUE"},
    {"PK = 1", &table, ERROR_USAGE, "PK is of type S, not N"},
    {"PK = ''", &table, ERROR_USAGE, "empty"},
    {"PK = 'A' AND SK = 1", &table, ERROR_USAGE, "SK is of type S, not N"},
    {"PK = 'A' AND SK BETWEEN 1 AND 2", &table, ERROR_USAGE, "SK is of type S, not N"},
    {"PK = 'A' AND SK BETWEEN 'B' AND 1", &table, ERROR_PLAN, "column 33"},
    {"PK = 'A' AND SK BETWEEN 'C' AND 'B'", &table, ERROR_PLAN, "column 33"},
    {"PK = 'A' AND SK BETWEEN lower('C') AND 'b'", &table, ERROR_PLAN, "column"},
    {"PK = 'A' AND SK > 'B' AND SK < 'C'", &table, ERROR_USAGE, "more than one condition"},
    {"PK = 'A' AND Name = 'B'", &table, ERROR_USAGE, "Name is no key attribute"},
    {"PK = 'A' OR PK = 'B'", &table, ERROR_USAGE, "no condition on a key"},
    {"PK = 'A' AND SK <> 'B'", &table, ERROR_USAGE, "no condition on a key"},
    {"PK = 'A' AND SK IN ('B')", &table, ERROR_USAGE, "no condition on a key"},
    {"PK = SK", &table, ERROR_USAGE, "no condition on a key"},
    {"PK = 'A' AND contains(SK, 'B')", &table, ERROR_USAGE, "no condition on a key"},
    {"PK.a = 'A'", &table, ERROR_USAGE, "no condition on a key"},
    {"PK = 1 AND begins_with(SK, 'B')", &numbers, ERROR_USAGE, "SK is of type N"},
    {"PK = b64'AAE=' AND SK = 'B'", &single, ERROR_USAGE, "SK is no key attribute"},
    {"P1 = 'a'", &wide, ERROR_USAGE, "expected P2 = VALUE"},
    {"P1 = 'a' AND P2 = 1 AND S2 = 3", &wide, ERROR_USAGE, "needs S1 = VALUE before it"},
    {"P1 = 'a' AND P2 = 1 AND S1 > 'x' AND S2 = 3", &wide, ERROR_USAGE, "needs S1 = VALUE"},
    {"PK='A' AND PK='A' AND PK='A' AND PK='A' AND PK='A' AND PK='A' AND PK='A' AND PK='A' AND "
     "PK='A' AND PK='A'",
     &table, ERROR_USAGE, "too many parts"},
};

START_TEST(key_condition_parse_refuses_what_is_wrong)
{
    struct arena *arena = arena_new();
    struct query query = {.sort_equal_count = 99};
    struct error err = {0};
    bool ok = key_condition_parse((struct str){bad[_i].text, strlen(bad[_i].text)}, bad[_i].keys,
                                  arena, &query, &err);
    ck_assert_msg(!ok, "%s", bad[_i].text);
    ck_assert_msg(err.code == bad[_i].code, "%s: %s", bad[_i].text, err.text);
    ck_assert_msg(strstr(err.text, bad[_i].message) != NULL, "%s: %s", bad[_i].text, err.text);
    ck_assert_uint_eq(query.sort_equal_count, 99);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *parsing = tcase_create("parse");
    tcase_add_loop_test(parsing, key_condition_parse_reads_what_is_right, 0, ROWS(good));
    tcase_add_loop_test(parsing, key_condition_parse_refuses_what_is_wrong, 0, ROWS(bad));
    Suite *suite = suite_create("migrate/key_condition");
    suite_add_tcase(suite, parsing);
    return suite_run(suite);
}

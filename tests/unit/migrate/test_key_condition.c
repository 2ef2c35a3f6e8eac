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
    struct table_desc desc = {.keys = *good[_i].keys};
    bool ok = key_condition_parse((struct str){good[_i].text, strlen(good[_i].text)}, &desc, arena,
                                  &query, &err);
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
    {"PK = CUSTOMER#1", &table, ERROR_PLAN, "single quotes: PK = 'CUSTOMER#1'"},
    {"PK = CUSTOMER", &table, ERROR_USAGE, "single quotes: PK = 'CUSTOMER#1'"},
    {"PK = \"CUSTOMER\"", &table, ERROR_USAGE, "single quotes: PK = 'CUSTOMER#1'"},
    {"SK = 'B'", &table, ERROR_USAGE, "expected PK = VALUE: a query needs one whole"},
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

static void refuses(const char *text, const struct table_desc *desc, struct str index,
                    enum error_code code, const char *message)
{
    struct arena *arena = arena_new();
    struct query query = {.index = index, .sort_equal_count = 99};
    struct error err = {0};
    bool ok = key_condition_parse((struct str){text, strlen(text)}, desc, arena, &query, &err);
    ck_assert_msg(!ok, "%s", text);
    ck_assert_msg(err.code == code, "%s: %s", text, err.text);
    ck_assert_msg(strstr(err.text, message) != NULL, "%s: %s", text, err.text);
    ck_assert_uint_eq(query.sort_equal_count, 99);
    arena_free(arena);
}

START_TEST(key_condition_parse_refuses_what_is_wrong)
{
    struct table_desc desc = {.keys = *bad[_i].keys};
    refuses(bad[_i].text, &desc, STR(""), bad[_i].code, bad[_i].message);
}
END_TEST

static const struct index_desc indexes[] = {
    {.name = STR_INIT("GSI1"),
     .keys = {.partition = {{STR_INIT("GSI1PK"), VALUE_S}},
              .partition_count = 1,
              .sort = {{STR_INIT("Status"), VALUE_S}},
              .sort_count = 1}},
    {.name = STR_INIT("GSI2"),
     .keys = {.partition = {{STR_INIT("GSI2PK"), VALUE_S}}, .partition_count = 1}},
};

static const struct {
    const char *text;
    const char *index;
    const char *message;
} elsewhere[] = {
    {"GSI1PK = 'A'", "", "GSI1PK is a key attribute of index GSI1\nhint: add --index GSI1"},
    {"PK = 'A' AND Status = 'open'", "", "Status is a key attribute of index GSI1"},
    {"GSI2PK = 'A'", "GSI1", "GSI2PK is a key attribute of index GSI2"},
    {"PK = 'A'", "GSI1", "PK is a key attribute of the table, not of the index\nhint: leave out"},
    {"Name = 'A'", "GSI1", "Name is no key attribute"},
    {"Status = 'A'", "GSI1", "expected GSI1PK = VALUE: a query needs one whole partition key"},
    {"GSI1PK = open", "GSI1", "texts stand in single quotes: GSI1PK = 'CUSTOMER#1'"},
};

START_TEST(key_condition_parse_says_where_the_attribute_is_a_key)
{
    struct table_desc desc = {.keys = table, .indexes = indexes, .index_count = ROWS(indexes)};
    struct str index = {elsewhere[_i].index, strlen(elsewhere[_i].index)};
    refuses(elsewhere[_i].text, &desc, index, ERROR_USAGE, elsewhere[_i].message);
}
END_TEST

int main(void)
{
    TCase *parsing = tcase_create("parse");
    tcase_add_loop_test(parsing, key_condition_parse_reads_what_is_right, 0, ROWS(good));
    tcase_add_loop_test(parsing, key_condition_parse_refuses_what_is_wrong, 0, ROWS(bad));
    tcase_add_loop_test(parsing, key_condition_parse_says_where_the_attribute_is_a_key, 0,
                        ROWS(elsewhere));
    Suite *suite = suite_create("migrate/key_condition");
    suite_add_tcase(suite, parsing);
    return suite_run(suite);
}

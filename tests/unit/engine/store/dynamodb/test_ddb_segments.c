#include "engine/store/dynamodb/ddb_segments_internal.h"

#include "engine/base/arena.h"
#include "tests/support/suite.h"

#include <check.h>

enum { LOOKS_MAX = 6 };

/* In their order, with four segments. */
static const struct row {
    const char *says;
    size_t count;
    struct look {
        uint32_t segment;
        uint32_t total;
        const char *first; /* NULL: only begins */
        enum ddb_segment_use use;
        bool sure; /* that it overlaps */
    } looks[LOOKS_MAX];
} rows[] = {
    {"segments of their own are read, pass after pass",
     4,
     {{0, 4, "a", DDB_SEGMENT_READ, false},
      {1, 4, "b", DDB_SEGMENT_READ, false},
      {0, 4, "a", DDB_SEGMENT_READ, false},
      {1, 4, NULL, DDB_SEGMENT_READ, false}}},
    {"one that begins like another overlaps, and the rest are idle",
     6,
     {{2, 4, "a", DDB_SEGMENT_READ, false},
      {0, 4, "a", DDB_SEGMENT_OVERLAPS, true},
      {1, 4, NULL, DDB_SEGMENT_IDLE, false},
      {3, 4, "b", DDB_SEGMENT_IDLE, false},
      {2, 4, NULL, DDB_SEGMENT_READ, false},
      {2, 4, "b", DDB_SEGMENT_READ, false}}},
    {"nothing follows from one that only seems to overlap",
     4,
     {{2, 4, "a", DDB_SEGMENT_READ, false},
      {0, 4, "a", DDB_SEGMENT_OVERLAPS, false},
      {1, 4, NULL, DDB_SEGMENT_READ, false},
      {3, 4, "b", DDB_SEGMENT_READ, false}}},
    {"another number of segments is another division",
     3,
     {{0, 4, "a", DDB_SEGMENT_READ, false},
      {1, 8, "a", DDB_SEGMENT_READ, false},
      {0, 8, "b", DDB_SEGMENT_READ, false}}},
};

START_TEST(ddb_segments_follow_the_table)
{
    const struct row *row = &rows[_i];
    struct arena *arena = arena_new();
    struct ddb_segments *segments = ddb_segments_new();
    for (size_t i = 0; i < row->count; i++) {
        const struct look *look = &row->looks[i];
        struct segment segment = {look->segment, look->total};
        enum ddb_segment_use use = DDB_SEGMENT_READ;
        if (look->first == NULL) {
            use = ddb_segments_begin(segments, segment);
        } else {
            struct str text = {look->first, 1};
            struct key key = {.parts = {value_string(arena, text)}, .count = 1};
            use = ddb_segments_first(segments, segment, &key);
            bool news = false;
            ck_assert(!look->sure ||
                      ddb_segments_ignored(segments, segment, &key, &news) == DDB_SEGMENT_IDLE);
            ck_assert(news == look->sure);
        }
        ck_assert_msg(use == look->use, "%s: look %zu", row->says, i);
    }
    ddb_segments_free(segments);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *segments = tcase_create("segments");
    tcase_add_loop_test(segments, ddb_segments_follow_the_table, 0,
                        (int)(sizeof rows / sizeof rows[0]));
    Suite *suite = suite_create("engine/store/dynamodb/ddb_segments");
    suite_add_tcase(suite, segments);
    return suite_run(suite);
}

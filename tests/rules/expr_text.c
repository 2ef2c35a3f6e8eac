#include "tests/rules/expr_text.h"

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "tests/rules/expr_answer.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* True if the expression is a condition that holds. */
static bool is_true(struct arena *arena, struct str text)
{
    const char *answer = answer_of(arena, text, (struct value){NULL, 0});
    bool ok = strcmp(answer, "{\"BOOL\":true}") == 0;
    if (!ok) {
        printf("%.*s is %s\n", STR_ARG(text), answer);
    }
    return ok;
}

static int64_t draw_between(struct draw *draw, int64_t min, int64_t max)
{
    uint64_t bits = (uint64_t)draw_below(draw, UINT32_MAX) << 32 | draw_below(draw, UINT32_MAX);
    return min + (int64_t)(bits % (uint64_t)(max - min + 1));
}

bool rule_padded_numbers_sort_as_numbers(struct draw *draw)
{
    static const int64_t limits[] = {9, 99, 999999};
    int64_t limit = limits[draw_below(draw, 3)];
    int64_t a = draw_between(draw, -limit, limit);
    int64_t b = draw_between(draw, -limit, limit);
    struct arena *arena = arena_new();
    bool holds = is_true(arena, arena_format(arena,
                                             "(pad(%" PRId64 ", 6, 'signed') < pad(%" PRId64
                                             ", 6, 'signed')) = (%" PRId64 " < %" PRId64 ")",
                                             a, b, a, b));
    if (a >= 0) {
        holds =
            holds &&
            is_true(arena, arena_format(
                               arena, "pad(%" PRId64 ", 6, 'signed') = pad(%" PRId64 ", 6)", a, a));
    }
    arena_free(arena);
    return holds;
}

static struct str draw_text(struct draw *draw, struct arena *arena, size_t max)
{
    static const struct str pieces[] = {STR_INIT("a"), STR_INIT("#"), STR_INIT("ü"),
                                        STR_INIT("#:")};
    struct str text = STR("");
    size_t count = draw_below(draw, (uint32_t)max + 1);
    for (size_t i = 0; i < count; i++) {
        struct str piece = pieces[draw_below(draw, 4)];
        text = arena_format(arena, "%.*s%.*s", STR_ARG(text), STR_ARG(piece));
    }
    return text;
}

bool rule_parts_make_up_the_text(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct str text = draw_text(draw, arena, 12);
    struct str separator = draw_text(draw, arena, 1);
    separator = separator.len == 0 ? STR("#:") : separator;
    const char *t = text.ptr;
    const char *s = separator.ptr;
    bool holds =
        is_true(arena, arena_format(arena,
                                    "coalesce(before('%s', '%s') || '%s' || "
                                    "after('%s', '%s'), '%s') = '%s'",
                                    t, s, s, t, s, t, t)) &&
        is_true(arena, arena_format(arena, "replace('%s', '%s', '%s') = '%s'", t, s, s, t)) &&
        is_true(arena, arena_format(arena,
                                    "json(split('%s', '%s')) = '[\"' || "
                                    "replace('%s', '%s', '\",\"') || '\"]'",
                                    t, s, t, s)) &&
        is_true(arena, arena_format(arena,
                                    "split('%s', '%s', 1) = "
                                    "coalesce(before('%s', '%s'), '%s')",
                                    t, s, t, s, t));
    arena_free(arena);
    return holds;
}

enum { MS = 1000 };
static const int64_t first_second = -62167219200; /* 0000-01-01T00:00:00Z */
static const int64_t last_second = 253402300799;  /* 9999-12-31T23:59:59Z */

static struct str draw_epoch(struct draw *draw, struct arena *arena)
{
    int64_t seconds = draw_between(draw, first_second, last_second);
    return arena_format(arena, "%" PRId64 " + 0.%03" PRIu32, seconds, draw_below(draw, MS));
}

bool rule_dates_come_back(struct draw *draw)
{
    static const char *const formats[] = {"iso", "YYYY-MM-DDTHH:mm:ss.SSSZ", "SSSssmmHHDDMMYYYY",
                                          "epoch_ms", "epoch"};
    struct arena *arena = arena_new();
    struct str epoch = draw_epoch(draw, arena);
    const char *format = formats[draw_below(draw, sizeof formats / sizeof *formats)];
    bool holds =
        is_true(arena, arena_format(arena, "date(date(%s, 'epoch', '%s'), '%s', 'epoch') = %s",
                                    epoch.ptr, format, format, epoch.ptr));
    arena_free(arena);
    return holds;
}

bool rule_dates_sort_as_their_epochs(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct str a = draw_epoch(draw, arena);
    struct str b = draw_epoch(draw, arena);
    bool holds =
        is_true(arena, arena_format(arena,
                                    "(date(%s, 'epoch', 'YYYY-MM-DD HH:mm:ss.SSS') < "
                                    "date(%s, 'epoch', 'YYYY-MM-DD HH:mm:ss.SSS')) = (%s < %s)",
                                    a.ptr, b.ptr, a.ptr, b.ptr));
    arena_free(arena);
    return holds;
}

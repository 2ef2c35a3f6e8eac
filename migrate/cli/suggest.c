#include "migrate/cli/suggest.h"

#include <stdbool.h>
#include <string.h>

/* Longer words are never typing mistakes of an option or a command. */
enum { WORD_MAX = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance, by the usual table. */
static size_t edits_between(const char *a, const char *b)
{
    size_t rows = strlen(a);
    size_t columns = strlen(b);
    size_t edits[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t j = 0; j <= columns; j++) {
        edits[0][j] = j;
    }
    for (size_t i = 1; i <= rows; i++) {
        edits[i][0] = i;
        for (size_t j = 1; j <= columns; j++) {
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            size_t replaced = edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            size_t moved = swapped ? edits[i - 2][j - 2] + 1 : replaced;
            size_t one_side = least(edits[i - 1][j], edits[i][j - 1]) + 1;
            edits[i][j] = least(least(replaced, moved), one_side);
        }
    }
    return edits[rows][columns];
}

const char *suggest_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t len = strlen(word);
    if (len > WORD_MAX) {
        return NULL;
    }
    const char *nearest = NULL;
    size_t fewest = (len < 3 ? 1 : len / 3) + 1;
    for (size_t i = 0; i < count; i++) {
        if (strlen(candidates[i]) > WORD_MAX) {
            continue;
        }
        size_t edits = edits_between(word, candidates[i]);
        if (edits < fewest) {
            fewest = edits;
            nearest = candidates[i];
        }
    }
    return nearest;
}

/* suggest — the word that was probably meant. */
#ifndef MIGRATE_CLI_SUGGEST_H
#define MIGRATE_CLI_SUGGEST_H

#include <stddef.h>

/* The candidate nearest to `word` by edits (insert, delete, replace, swap of neighbours), or NULL
 * where none is near: at most a third of the word's letters, and at least one. */
const char *suggest_nearest(const char *word, const char *const *candidates, size_t count);

#endif

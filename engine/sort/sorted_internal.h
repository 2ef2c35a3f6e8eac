/* sorted — how a stream of sorted pairs is put together from lists in memory and from runs. */
#ifndef ENGINE_SORT_SORTED_INTERNAL_H
#define ENGINE_SORT_SORTED_INTERNAL_H

#include "engine/base/error.h"
#include "engine/sort/pair_list_internal.h"
#include "engine/sort/run_file_internal.h"

#include <stdbool.h>
#include <stddef.h>

struct sorted;

/* Room for `capacity` sources, which are borrowed. Of equal keys, those of the source that was
 * added first come first. */
struct sorted *sorted_new(size_t capacity);
void sorted_add_list(struct sorted *sorted, const struct pair_list *list);
void sorted_add_run(struct sorted *sorted, const struct run_file *file, struct sorted_run run);

/* Reads the first pair of each source; sorted_next() may follow. ERROR_DAMAGED, ERROR_STORE. */
MUST_CHECK bool sorted_start(struct sorted *sorted, struct error *err);

#endif

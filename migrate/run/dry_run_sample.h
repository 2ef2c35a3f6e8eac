/* dry_run_sample — what a pass would make of one item: its attributes before and after. */
#ifndef MIGRATE_RUN_DRY_RUN_SAMPLE_H
#define MIGRATE_RUN_DRY_RUN_SAMPLE_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"
#include "migrate/run/runner_effect.h"

#include <stdbool.h>

/* As lines for people, or (`json`) as one object: key, before and after (attributes that differ, in
 * DynamoDB JSON) and puts. In the arena. */
struct str dry_run_sample(const struct key_schema *keys, const struct runner_effect *effect,
                          const struct stored_item *item, bool json, struct arena *arena);

#endif

/* key_only — items that have nothing but their key. A table may be meant to have such; else they
 * are what an update leaves that was made without looking: it brings back what was deleted. */
#ifndef MIGRATE_KEY_ONLY_H
#define MIGRATE_KEY_ONLY_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <stdint.h>

enum { KEY_ONLY_EXAMPLES = 5 };

struct key_only {
    uint64_t count;
    struct str examples[KEY_ONLY_EXAMPLES]; /* keys; as many as there are, at most all of these */
};

/* Reads every item; on a server at the half price of what may be a moment old. The examples lie in
 * the invocation's arena. ERROR_STOPPED. */
MUST_CHECK bool key_only_find(struct invocation *invocation, struct store_reader *reader,
                              const struct table_desc *table, struct key_only *out,
                              struct error *err);

#endif

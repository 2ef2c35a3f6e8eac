/* plans_map rules — shared by the Check suites and the fuzz target; and a catalogue to bind maps
 * with. */
#ifndef TESTS_RULES_PLANS_MAP_H
#define TESTS_RULES_PLANS_MAP_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "plans/map.h"
#include "plans/map_bind.h"
#include "tests/support/property.h"

#include <stdbool.h>

/* A text with ` for each ", so that maps can be read in C. */
struct str map_text(const char *text, struct arena *arena);

/* The map of such a text, as the file "m.json". */
MUST_CHECK bool map_of(const char *text, struct arena *arena, const struct map **out,
                       struct error *err);

/* Binds it to the tables people (id, name, email, country_id, odd name, words) and countries (id,
 * name) and orders (id, person_id, total), and a table with PK:S, SK:S and an index of GSI1PK:S,
 * GSI1SK:N. "*" passes over words. */
MUST_CHECK bool map_bound(const struct map *map, struct arena *arena,
                          const struct map_binding **out, struct error *err);

/* Any bytes are refused with a place in the file, or are a map that binds or is refused too. */
bool rule_map_takes_or_refuses_any_bytes(struct draw *draw);

/* A map with one piece of it cut out or doubled is refused with a place, or is another map. */
bool rule_map_says_where_it_is_broken(struct draw *draw);

#endif

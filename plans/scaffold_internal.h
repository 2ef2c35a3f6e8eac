/* Shared by the files of scaffold: names, the templates of keys, comments. */
#ifndef PLANS_SCAFFOLD_INTERNAL_H
#define PLANS_SCAFFOLD_INTERNAL_H

#include "plans/scaffold.h"

/* Gives names and tags to entities that have a key; each its own. */
void scaffold_name(struct scaffold_entity *entities, size_t count, struct arena *arena);

/* As much of a name as a tag may have: ASCII letters upper case, no '#', no blanks. */
struct str scaffold_tag(struct str name, struct arena *arena);

/* Fills the templates of one entity; all that it is within must be decided. */
void scaffold_write_keys(const struct scaffold_entity *entities, struct scaffold_entity *entity,
                         struct arena *arena);

/* True if the reference has all columns of the other's key, so that the row tells its key. */
bool scaffold_tells_key(const struct scaffold_entity *entities, const struct scaffold_entity *from,
                        const struct schema_reference *reference);

/* True if a template that names the other one names column `i` of the reference: all, where they
 * are not the other's key. */
bool scaffold_is_told(const struct scaffold_entity *entities, const struct scaffold_entity *from,
                      const struct schema_reference *reference, size_t i);

/* True if the collection that it is in tells what the reference refers to: it needs no index. */
bool scaffold_collection_tells(const struct scaffold_entity *entities,
                               const struct scaffold_entity *entity,
                               const struct schema_reference *reference);

bool scaffold_has_column(const size_t *columns, size_t count, size_t column);
bool scaffold_has_name(const struct schema_table *table, struct str name);

/* Why a table is left out; NULL: it is not. */
const char *scaffold_left_out(const struct scaffold_entity *entity);

/* A map's "from" of a table, as JSON. */
void scaffold_write_from(const struct schema *schema, const struct schema_table *table,
                         struct buffer *out);

/* The lines of comment before an entity, and before all of them. */
void scaffold_comment(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                      struct buffer *out);
void scaffold_comment_head(const struct scaffold *scaffold, struct buffer *out);

#endif

/* plans_schema — schemas from short texts, for the tests of scaffold. */
#ifndef TESTS_RULES_PLANS_SCHEMA_H
#define TESTS_RULES_PLANS_SCHEMA_H

#include "engine/base/arena.h"
#include "plans/schema.h"

/* "orders id:i* customer:i! note:t customer>customers.id; customers id:i* name:t", words between
 * blanks, tables between ';' and in their order by schema and name:
 *   s.orders       the table's name; without a schema it is public's
 *   id:i*          a column: i n b p t y d x (a kind; x: text of a refused type), then * if it is
 * of the primary key, ! if it is NOT NULL =a,b           another key a,b>orders.x,y a foreign key;
 * + behind it: ON DELETE CASCADE
 *   @view          its access: @view @forbidden @security @extension; or @inherited */
struct schema schema_of(const char *text, struct arena *arena);

#endif

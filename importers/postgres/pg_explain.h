/* pg_explain — asks PostgreSQL how it would run a SELECT, before any row is fetched. */
#ifndef IMPORTERS_POSTGRES_PG_EXPLAIN_H
#define IMPORTERS_POSTGRES_PG_EXPLAIN_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "importers/postgres/pg_plan.h"
#include "importers/postgres/pg_session.h"

/* ERROR_SOURCE: PostgreSQL refuses the SELECT. ERROR_PLAN: for each row of one relation it would
 * read the whole of a long table; the message says how to mend it. */
MUST_CHECK bool pg_explain_check(struct pg_session *session, const struct pg_rows_plan *plan,
                                 struct str select, struct error *err);

#endif

/* secret — connection strings without their passwords. */
#ifndef MIGRATE_CLI_SECRET_H
#define MIGRATE_CLI_SECRET_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

/* A copy of the text in which each password is "***": of scheme://user:PASSWORD@host, also with
 * too few slashes where the scheme is PostgreSQL's, and of password=VALUE or sslpassword=VALUE as
 * libpq's connection strings and URI parameters have them (PostgreSQL documentation, "Connection
 * Strings"). */
struct str secret_hide(struct str text, struct arena *arena);

#endif

/* ddb_profile — the shared files ~/.aws/config and ~/.aws/credentials.
 * AWS SDKs and Tools Reference Guide, "Shared config and credentials files". */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_PROFILE_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_PROFILE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdbool.h>

/* The texts of both files; empty where there is none. */
struct ddb_shared_files {
    struct str config;
    struct str credentials;
};

/* Reads what AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name, else what lies in ~/.aws. */
void ddb_shared_files_read(struct arena *arena, struct ddb_shared_files *out);

/* A setting of a profile; the credentials file comes first. Borrowed; empty: not set. */
struct str ddb_profile_get(const struct ddb_shared_files *files, struct str profile,
                           const char *name);

/* Whether either file has a section for it. */
bool ddb_profile_stands(const struct ddb_shared_files *files, struct str profile);

/* An environment variable; empty where it is not set. */
struct str ddb_environment(const char *name);

/* A whole file of at most 256 KiB; false where it cannot be read. */
bool ddb_file_read(const char *path, struct arena *arena, struct str *out);

/* Without blanks at both ends. */
struct str ddb_trim(struct str s);

#endif

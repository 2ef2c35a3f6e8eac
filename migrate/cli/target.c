#include "migrate/cli/target.h"

#include "engine/store/dynamodb/ddb_store.h"
#include "engine/store/lmdb/lmdb_store.h"
#include "migrate/cli/files.h"

#include <stddef.h>
#include <string.h>

/* What stands before or behind the place of a table says what kind of store it is. */
static const struct kind {
    const char *scheme; /* "file:"; the place is what follows */
    const char *suffix; /* or the whole text is the place, if it ends so; NULL: never */
    bool (*open)(const char *place, const struct store_options *options, struct store **out,
                 struct error *err);
    bool (*exists)(const char *place, bool *out, struct error *err);
    void (*remove)(const char *place); /* NULL: it is no file */
} kinds[] = {
    {"dynamodb:", NULL, ddb_store_open, ddb_store_exists, NULL},
    {"file:", ".refold", lmdb_store_open, lmdb_store_exists, lmdb_store_remove},
};

/* The kind of a target and its place; NULL where it is none. */
static const struct kind *target_kind(const char *target, const char **place)
{
    size_t len = strlen(target);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t scheme_len = strlen(kinds[i].scheme);
        if (strncmp(target, kinds[i].scheme, scheme_len) == 0 && len > scheme_len) {
            *place = target + scheme_len;
            return &kinds[i];
        }
        size_t suffix_len = kinds[i].suffix == NULL ? len : strlen(kinds[i].suffix);
        if (len > suffix_len && strcmp(target + len - suffix_len, kinds[i].suffix) == 0) {
            *place = target;
            return &kinds[i];
        }
    }
    return NULL;
}

const char *target_forms(void)
{
    return "NAME.refold, file:PATH or dynamodb:TABLE?region=REGION";
}

bool target_open(const char *target, const struct store_options *options, struct store **out,
                 struct error *err)
{
    const char *place = NULL;
    const struct kind *kind = target_kind(target, &place);
    if (kind == NULL) {
        return error_set(err, ERROR_USAGE, "'%s' is no table: expected %s", target, target_forms());
    }
    return kind->open(place, options, out, err);
}

bool target_is(const char *text)
{
    const char *place = NULL;
    return target_kind(text, &place) != NULL;
}

bool target_is_file(const char *target)
{
    const char *place = NULL;
    const struct kind *kind = target_kind(target, &place);
    return kind != NULL && kind->remove != NULL;
}

bool target_spare(const char *target, const char *path, struct error *err)
{
    const char *place = NULL;
    (void)target_kind(target, &place);
    return (!target_is_file(path) && !(target_is_file(target) && file_is_same(place, path))) ||
           error_set(err, ERROR_USAGE, "%s is a table, and would be replaced", path);
}

void target_remove_file(const char *target)
{
    const char *place = NULL;
    const struct kind *kind = target_kind(target, &place);
    if (kind != NULL && kind->remove != NULL) {
        kind->remove(place);
    }
}

bool target_exists(const char *target, bool *out, struct error *err)
{
    const char *place = NULL;
    const struct kind *kind = target_kind(target, &place);
    *out = false;
    return kind == NULL || kind->exists(place, out, err);
}

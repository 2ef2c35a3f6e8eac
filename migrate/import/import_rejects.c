#include "migrate/import/import_rejects.h"

#include "engine/base/arena.h"
#include "engine/base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* A dry run tells so many; it counts all. */
enum { TOLD_MAX = 20 };

struct import_rejects {
    pthread_mutex_t mutex;
    FILE *file;
    const char *path;
    FILE *messages;
    struct buffer *told;
    uint64_t count;
};

bool import_rejects_open(const struct import_rejects_options *options, struct import_rejects **out,
                         struct error *err)
{
    FILE *file = options->path == NULL ? NULL : fopen(options->path, "we");
    if (options->path != NULL && file == NULL) {
        return error_set(err, ERROR_STORE, "%s: %s", options->path, strerror(errno));
    }
    struct import_rejects *rejects = heap_alloc(sizeof *rejects);
    rejects->file = file;
    rejects->path = options->path;
    rejects->messages = options->messages;
    rejects->told = options->told;
    (void)pthread_mutex_init(&rejects->mutex, NULL);
    *out = rejects;
    return true;
}

static bool write_reject(struct import_rejects *rejects, struct str row, const char *reason,
                         struct error *err)
{
    struct buffer line = {0};
    buffer_add(&line, STR("{\"row\":"));
    json_write_string(&line, row);
    buffer_add(&line, STR(",\"reason\":"));
    json_write_string(&line, (struct str){reason, strlen(reason)});
    buffer_add(&line, STR("}\n"));
    size_t written = fwrite(line.bytes, 1, line.len, rejects->file);
    bool ok = written == line.len;
    buffer_free(&line);
    return ok || error_set(err, ERROR_STORE, "%s: %s", rejects->path, strerror(errno));
}

/* A row that stops an import is a fault of the source, whatever was wrong with its item. */
static bool stop_at(struct str row, const struct error *reason, struct error *err)
{
    enum error_code code =
        reason->code == ERROR_INPUT || reason->code == ERROR_CONFLICT ? reason->code : ERROR_SOURCE;
    return error_set(err, code, "%.*s: %s", STR_ARG(row), reason->text);
}

/* Else the first one ends the import. */
static bool are_told(const struct import_rejects *rejects)
{
    return rejects->file != NULL || rejects->messages != NULL || rejects->told != NULL;
}

bool import_rejects_add(struct import_rejects *rejects, struct str row, const struct error *reason,
                        struct error *err)
{
    if (!are_told(rejects)) {
        return stop_at(row, reason, err);
    }
    (void)pthread_mutex_lock(&rejects->mutex);
    rejects->count++;
    bool ok = rejects->file == NULL || write_reject(rejects, row, reason->text, err);
    if (rejects->messages != NULL && rejects->count <= TOLD_MAX) {
        (void)fprintf(rejects->messages, "%.*s: %s\n", STR_ARG(row), reason->text);
    }
    if (rejects->told != NULL) {
        buffer_format(rejects->told, "%.*s: %s", STR_ARG(row), reason->text);
        buffer_add_char(rejects->told, '\0');
    }
    (void)pthread_mutex_unlock(&rejects->mutex);
    return ok;
}

uint64_t import_rejects_count(const struct import_rejects *rejects)
{
    return rejects->count;
}

bool import_rejects_keep(struct import_rejects *rejects, struct error *err)
{
    if (rejects->file == NULL) {
        return true;
    }
    FILE *file = rejects->file;
    rejects->file = NULL;
    bool ok = fflush(file) == 0 && fsync(fileno(file)) == 0;
    ok = fclose(file) == 0 && ok;
    return ok || error_set(err, ERROR_STORE, "%s: %s", rejects->path, strerror(errno));
}

void import_rejects_close(struct import_rejects *rejects)
{
    if (rejects != NULL) {
        if (rejects->file != NULL) {
            (void)fclose(rejects->file);
        }
        (void)pthread_mutex_destroy(&rejects->mutex);
        heap_free(rejects);
    }
}

#include "migrate/cli/output_file.h"

#include "engine/base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output_file {
    const char *path;
    const char *temp_path; /* NULL: standard output */
    const char *folder;
    FILE *file;
    bool was_kept;
};

static bool fail(const struct output_file *file, int reason, struct error *err)
{
    return error_set(err, error_code_of_write(reason), "cannot write %s: %s", file->path,
                     strerror(reason));
}

bool output_file_open(const char *path, FILE *standard, struct arena *arena,
                      struct output_file **out, struct error *err)
{
    struct output_file *file = arena_zero(arena, sizeof *file);
    if (strcmp(path, "-") == 0) {
        file->path = "standard output";
        file->file = standard;
        *out = file;
        return true;
    }
    const char *slash = strrchr(path, '/');
    struct stat standing;
    file->path = path;
    if (lstat(path, &standing) == 0 && !S_ISREG(standing.st_mode)) {
        return error_set(err, ERROR_USAGE, "%s is no plain file\nhint: - is standard output", path);
    }
    file->folder =
        slash == NULL ? "." : arena_format(arena, "%.*s/", (int)(slash - path), path).ptr;
    file->temp_path = arena_format(arena, "%s.tmp-%ld", path, (long)getpid()).ptr;
    int descriptor = open(file->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return fail(file, errno, err);
    }
    file->file = fdopen(descriptor, "wb");
    if (file->file == NULL) {
        int reason = errno;
        (void)close(descriptor);
        (void)unlink(file->temp_path);
        return fail(file, reason, err);
    }
    *out = file;
    return true;
}

bool output_file_write(struct output_file *file, struct str bytes, struct error *err)
{
    return bytes.len == 0 || fwrite(bytes.ptr, 1, bytes.len, file->file) == bytes.len ||
           fail(file, errno, err);
}

bool output_file_keep(struct output_file *file, struct error *err)
{
    if (fflush(file->file) != 0) {
        return fail(file, errno, err);
    }
    if (file->temp_path == NULL) {
        return true;
    }
    if (fsync(fileno(file->file)) != 0 || rename(file->temp_path, file->path) != 0) {
        return fail(file, errno, err);
    }
    file->was_kept = true;
    /* The new name is durable only with its folder. */
    return folder_sync(file->folder) || fail(file, errno, err);
}

void output_file_close(struct output_file *file)
{
    if (file == NULL || file->temp_path == NULL) {
        return;
    }
    (void)fclose(file->file);
    if (!file->was_kept) {
        (void)unlink(file->temp_path);
    }
}

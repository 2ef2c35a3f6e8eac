#include "migrate/cli/files.h"

#include "engine/base/buffer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool read_all(FILE *file, size_t limit, struct buffer *content)
{
    enum { CHUNK_BYTES = 65536 };
    size_t count = 0;
    do {
        count = fread(buffer_reserve(content, CHUNK_BYTES), 1, CHUNK_BYTES, file);
        content->len += count;
    } while (count > 0 && content->len <= limit);
    return ferror(file) == 0;
}

bool file_read(const char *path, size_t limit, struct arena *arena, struct str *out,
               struct error *err)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return error_set(err, ERROR_USAGE, "cannot read %s: %s", path, strerror(errno));
    }
    struct buffer content = {0};
    bool ok = read_all(file, limit, &content);
    if (!ok) {
        error_set(err, ERROR_USAGE, "cannot read %s: %s", path, strerror(errno));
    } else if (content.len > limit) {
        ok = error_set(err, ERROR_USAGE, "%s is over %zu bytes", path, limit);
    } else {
        *out = arena_copy(arena, buffer_str(&content));
    }
    buffer_free(&content);
    (void)fclose(file);
    return ok;
}

bool file_is_same(const char *a, const char *b)
{
    struct stat left;
    struct stat right;
    return a != NULL && b != NULL && stat(a, &left) == 0 && stat(b, &right) == 0 &&
           left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

static int compare_names(const void *a, const void *b)
{
    const struct str *left = a;
    const struct str *right = b;
    return strcmp(left->ptr, right->ptr);
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t len = strlen(name);
    size_t suffix_len = strlen(suffix);
    return len >= suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

bool folder_list(const char *path, const char *suffix, struct arena *arena, struct file_names *out,
                 struct error *err)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return error_set(err, ERROR_USAGE, "cannot read the folder %s: %s", path, strerror(errno));
    }
    struct buffer found = {0};
    size_t found_count = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (ends_in(entry->d_name, suffix)) {
            struct str name = arena_copy(arena, (struct str){entry->d_name, strlen(entry->d_name)});
            buffer_add(&found, (struct str){(const char *)&name, sizeof name});
            found_count++;
        }
    }
    (void)closedir(folder);
    struct str *sorted = arena_alloc(arena, (found_count + 1) * sizeof *sorted);
    if (found_count > 0) {
        memcpy(sorted, found.bytes, found_count * sizeof *sorted);
        qsort(sorted, found_count, sizeof *sorted, compare_names);
    }
    buffer_free(&found);
    *out = (struct file_names){sorted, found_count};
    return true;
}

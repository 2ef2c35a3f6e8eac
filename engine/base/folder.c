#include "engine/base/folder.h"

#include "engine/base/arena.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0700 };

void folder_make(const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = heap_alloc(size);
    memcpy(copy, path, size);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(copy, FOLDER_MODE);
        *slash = '/';
    }
    (void)mkdir(copy, FOLDER_MODE);
    heap_free(copy);
}

bool folder_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

/* sorted_run — where a sorted run lies in its file, and what tells that it is what was written. */
#ifndef ENGINE_SORT_SORTED_RUN_H
#define ENGINE_SORT_SORTED_RUN_H

#include <stdint.h>

struct sorted_run {
    uint64_t start;
    uint64_t end;
    uint64_t digest; /* of the checksums of its blocks */
};

#endif

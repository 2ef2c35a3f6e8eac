#include "engine/store/dynamodb/ddb_segments_internal.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/hash.h"

#include <pthread.h>
#include <string.h>

struct ddb_segments {
    pthread_mutex_t lock; /* for all that follows */
    uint32_t total;       /* what is known is of scans with so many segments */
    uint64_t *firsts;     /* by segment, the hash of its first item's key; 0: not known */
    bool ignored;         /* by the server */
    uint32_t reader;      /* with `ignored`: who reads the whole table */
};

struct ddb_segments *ddb_segments_new(void)
{
    struct ddb_segments *segments = heap_alloc(sizeof *segments);
    *segments = (struct ddb_segments){.total = 0};
    (void)pthread_mutex_init(&segments->lock, NULL);
    return segments;
}

void ddb_segments_free(struct ddb_segments *segments)
{
    if (segments != NULL) {
        (void)pthread_mutex_destroy(&segments->lock);
        heap_free(segments->firsts);
        heap_free(segments);
    }
}

/* The caller holds the lock. */
static void expect_total(struct ddb_segments *segments, uint32_t total)
{
    if (segments->total != total) {
        segments->firsts = heap_resize(segments->firsts, total * sizeof *segments->firsts);
        memset(segments->firsts, 0, total * sizeof *segments->firsts);
        segments->total = total;
        segments->ignored = false;
    }
}

/* The caller holds the lock. */
static enum ddb_segment_use use_of(const struct ddb_segments *segments, uint32_t index)
{
    return segments->ignored && segments->reader != index ? DDB_SEGMENT_IDLE : DDB_SEGMENT_READ;
}

enum ddb_segment_use ddb_segments_begin(struct ddb_segments *segments, struct segment segment)
{
    (void)pthread_mutex_lock(&segments->lock);
    expect_total(segments, segment.total);
    enum ddb_segment_use use = use_of(segments, segment.index);
    (void)pthread_mutex_unlock(&segments->lock);
    return use;
}

static uint64_t hash_of(const struct key *key)
{
    struct buffer bytes = {0};
    key_encode(key, &bytes);
    uint64_t hash = hash_64(buffer_str(&bytes));
    buffer_free(&bytes);
    return hash | 1;
}

/* The caller holds the lock. The segment that has that first item already, or `total`. */
static uint32_t find_other(const struct ddb_segments *segments, uint32_t index, uint64_t hash)
{
    uint32_t i = 0;
    while (i < segments->total && (i == index || segments->firsts[i] != hash)) {
        i++;
    }
    return i;
}

enum ddb_segment_use ddb_segments_first(struct ddb_segments *segments, struct segment segment,
                                        const struct key *first)
{
    uint64_t hash = hash_of(first);
    (void)pthread_mutex_lock(&segments->lock);
    expect_total(segments, segment.total);
    enum ddb_segment_use use = use_of(segments, segment.index);
    if (!segments->ignored && find_other(segments, segment.index, hash) < segment.total) {
        use = DDB_SEGMENT_OVERLAPS;
    } else {
        segments->firsts[segment.index] = hash;
    }
    (void)pthread_mutex_unlock(&segments->lock);
    return use;
}

enum ddb_segment_use ddb_segments_ignored(struct ddb_segments *segments, struct segment segment,
                                          const struct key *first, bool *news)
{
    uint64_t hash = hash_of(first);
    (void)pthread_mutex_lock(&segments->lock);
    expect_total(segments, segment.total);
    uint32_t other = find_other(segments, segment.index, hash);
    *news = !segments->ignored && other < segment.total;
    if (*news) {
        segments->ignored = true;
        segments->reader = other;
    }
    enum ddb_segment_use use = use_of(segments, segment.index);
    (void)pthread_mutex_unlock(&segments->lock);
    return use;
}

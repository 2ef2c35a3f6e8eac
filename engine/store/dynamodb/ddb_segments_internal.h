/* ddb_segments — notices a server that does not know Segment and TotalSegments, and gives every
 * segment the whole table: there one segment reads, and the others have nothing. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_SEGMENTS_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_SEGMENTS_INTERNAL_H

#include "engine/item/key.h"
#include "engine/store/store.h"

struct ddb_segments;

struct ddb_segments *ddb_segments_new(void);
void ddb_segments_free(struct ddb_segments *segments); /* NULL is fine */

enum ddb_segment_use {
    DDB_SEGMENT_READ,
    DDB_SEGMENT_OVERLAPS, /* begins with an item of another segment: to be made sure of */
    DDB_SEGMENT_IDLE      /* known already: another reads the whole table */
};

/* Any thread: before a segment's first page is asked for. DDB_SEGMENT_READ or DDB_SEGMENT_IDLE. */
enum ddb_segment_use ddb_segments_begin(struct ddb_segments *segments, struct segment segment);

/* Any thread: with the key of the first item of a segment, before anything becomes of it. An item
 * lies in one segment only, at all times; but servers that cut a table by the number of rows move
 * it into another when rows go. */
enum ddb_segment_use ddb_segments_first(struct ddb_segments *segments, struct segment segment,
                                        const struct key *first);

/* Any thread: it is sure now. Says how the segment that overlaps is to be used; *news where nobody
 * was sure before. */
enum ddb_segment_use ddb_segments_ignored(struct ddb_segments *segments, struct segment segment,
                                          const struct key *first, bool *news);

#endif

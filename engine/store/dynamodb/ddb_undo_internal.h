/* ddb_undo — undo logs of a table behind the API: files beside the run, told of in control records.
 *
 * A file is UNDO_MAGIC and then entries: 8 bytes each (low first) of sequence, length and hash_64()
 * of the frame, then the frame (engine/undo). An entry with the sequence of the one before it
 * replaces it; one of length 0 says that there is nothing to take back. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_UNDO_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_UNDO_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdint.h>

#define UNDO_MAGIC "refold undo log 1\n"
enum { UNDO_HEAD_BYTES = 24 };

void undo_put_u64(char out[8], uint64_t n);
uint64_t undo_get_u64(const char in[8]);

/* The digest of a file up to and with an entry: of the digest before it and the entry's head. */
uint64_t undo_chain(uint64_t digest, const char head[UNDO_HEAD_BYTES]);

/* The sort key that the listings of a log begin with, and the name of this host in them. */
struct str undo_prefix(uint64_t log, struct arena *arena);
struct str undo_host(struct arena *arena);

/* Frames of a log as its reader found them. */
struct undo_index;
void undo_index_free(struct undo_index *index);

#endif

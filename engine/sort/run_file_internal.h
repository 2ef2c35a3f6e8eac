/* run_file — sorted runs in one file. A run is a row of blocks; a block is some pairs, lz4, behind
 * a checksum and its sizes. The file has no name, or is read again on this host only, so its
 * numbers are in the machine's own order. */
#ifndef ENGINE_SORT_RUN_FILE_INTERNAL_H
#define ENGINE_SORT_RUN_FILE_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/sort/sorted_run.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a block before it is packed; one pair may be a block of its own. */
enum { RUN_BLOCK_MAX_BYTES = 1 << 30 };

struct run_file {
    int fd;
    uint64_t end;
    const char *place; /* folder or path; borrowed, for messages */
};

/* Without a name. ERROR_STORE: the folder does not take files. */
MUST_CHECK bool run_file_open(const char *dir, struct run_file *out, struct error *err);
void run_file_close(struct run_file *file);

/* A file that stays: what stands there up to `end`, or (0) a new one in its place.
 * ERROR_BUSY: another process has it open like this. ERROR_DAMAGED: it is shorter.
 * ERROR_STORE: there is none, or none can be made. */
MUST_CHECK bool run_file_open_named(const char *path, uint64_t end, struct run_file *out,
                                    struct error *err);

/* What was written is durable. ERROR_BUSY: another process has put its own in the file's place. */
MUST_CHECK bool run_file_sync(const struct run_file *file, struct error *err);

/* Reads the run to its end. ERROR_DAMAGED: it is not what was written; ERROR_STOPPED. */
MUST_CHECK bool run_file_check(const struct run_file *file, const struct sorted_run *run,
                               const atomic_bool *stop, struct error *err);

struct run_writer {
    struct run_file *file;
    size_t block_bytes;
    struct sorted_run run; /* so far */
    struct buffer pairs;
    struct buffer packed;
};

/* Begins a run at the end of the file, or goes on with the run that ends there (NULL: none);
 * run_writer_close() in any case. */
struct run_writer run_writer_open(struct run_file *file, size_t block_bytes,
                                  const struct sorted_run *longer);
void run_writer_close(struct run_writer *writer);

/* Pairs come in their order. ERROR_FULL, ERROR_STORE. */
MUST_CHECK bool run_writer_add(struct run_writer *writer, struct str key, struct str value,
                               struct error *err);
MUST_CHECK bool run_writer_finish(struct run_writer *writer, struct sorted_run *out,
                                  struct error *err);

struct run_reader {
    const struct run_file *file;
    struct buffer *packed; /* borrowed; readers of one thread share it */
    uint64_t next;         /* block */
    uint64_t end;
    uint64_t digest;     /* of the run, up to `next` */
    struct buffer pairs; /* of the block at hand */
    size_t read;         /* bytes of them */
};

/* Reads a run from its start; run_reader_close() in any case. */
struct run_reader run_reader_open(const struct run_file *file, struct sorted_run run,
                                  struct buffer *packed);
void run_reader_close(struct run_reader *reader);

/* The next pair, valid until the next call; *more is false after the last.
 * ERROR_DAMAGED, ERROR_STORE. */
MUST_CHECK bool run_reader_next(struct run_reader *reader, struct str *key, struct str *value,
                                bool *more, struct error *err);

#endif

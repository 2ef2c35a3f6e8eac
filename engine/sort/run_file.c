#include "engine/sort/run_file_internal.h"

#include "engine/base/hash.h"
#include "engine/sort/pair_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stands before each block; the checksum covers what follows it. */
struct block_head {
    uint64_t checksum;
    uint32_t unpacked_bytes;
    uint32_t packed_bytes;
};
_Static_assert(sizeof(struct block_head) == 16, "a block head has no holes");
_Static_assert((int)RUN_BLOCK_MAX_BYTES <= (int)LZ4_MAX_INPUT_SIZE, "lz4 takes whole blocks");

enum { CHECKED_FROM = sizeof(uint64_t) };

static int open_unlinked(const char *dir)
{
    char name[PATH_MAX];
    int len = snprintf(name, sizeof name, "%s/refold-sort-XXXXXX", dir);
    if (len < 0 || (size_t)len >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) {
        (void)unlink(name);
    }
    return fd;
}

bool run_file_open(const char *dir, struct run_file *out, struct error *err)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) { /* not every file system has O_TMPFILE */
        fd = open_unlinked(dir);
    }
    if (fd < 0) {
        return error_set(err, ERROR_STORE, "no temporary sort file in %s: %s", dir,
                         strerror(errno));
    }
    *out = (struct run_file){.fd = fd, .place = dir};
    return true;
}

/* The lock goes with the descriptor: who died has none. Where a file system has no locks, checksums
 * have to do. */
static bool lock(int fd, const char *path, struct error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool is_held = fcntl(fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES);
    return !is_held || error_set(err, ERROR_BUSY, "another process has %s", path);
}

/* Never the same file again: who still has it, and does not know that it is over, writes to what
 * nobody finds. */
static int make_anew(const char *path)
{
    (void)unlink(path);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

static bool cut(int fd, const char *path, uint64_t end, struct error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return error_set(err, ERROR_STORE, "%s: %s", path, strerror(errno));
    }
    if ((uint64_t)status.st_size < end) {
        return error_set(err, ERROR_DAMAGED, "%s is cut short", path);
    }
    return ftruncate(fd, (off_t)end) == 0 ||
           error_set(err, ERROR_STORE, "%s: %s", path, strerror(errno));
}

bool run_file_open_named(const char *path, uint64_t end, struct run_file *out, struct error *err)
{
    int fd = end == 0 ? make_anew(path) : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return error_set(err, ERROR_STORE, "%s: %s", path, strerror(errno));
    }
    if (!lock(fd, path, err) || !cut(fd, path, end, err)) {
        (void)close(fd);
        return false;
    }
    *out = (struct run_file){.fd = fd, .end = end, .place = path};
    return true;
}

void run_file_close(struct run_file *file)
{
    (void)close(file->fd);
    file->fd = -1;
}

static bool write_error(const struct run_file *file, struct error *err)
{
    if (error_code_of_write(errno) == ERROR_FULL) {
        return error_set(err, ERROR_FULL, "no room for sort files in %s", file->place);
    }
    return error_set(err, ERROR_STORE, "sort files in %s: %s", file->place, strerror(errno));
}

static bool append(struct run_file *file, struct str bytes, struct error *err)
{
    while (bytes.len > 0) {
        ssize_t done = pwrite(file->fd, bytes.ptr, bytes.len, (off_t)file->end);
        if (done < 0 && errno != EINTR) {
            return write_error(file, err);
        }
        size_t written = done < 0 ? 0 : (size_t)done;
        file->end += written;
        bytes = (struct str){bytes.ptr + written, bytes.len - written};
    }
    return true;
}

bool run_file_sync(const struct run_file *file, struct error *err)
{
    struct stat status;
    if (fdatasync(file->fd) != 0 || fstat(file->fd, &status) != 0) {
        return write_error(file, err);
    }
    return status.st_nlink > 0 ||
           error_set(err, ERROR_BUSY, "another process has taken %s away", file->place);
}

struct run_writer run_writer_open(struct run_file *file, size_t block_bytes,
                                  const struct sorted_run *longer)
{
    struct sorted_run run = {.start = file->end};
    return (struct run_writer){
        .file = file, .block_bytes = block_bytes, .run = longer == NULL ? run : *longer};
}

void run_writer_close(struct run_writer *writer)
{
    buffer_free(&writer->pairs);
    buffer_free(&writer->packed);
}

static uint64_t block_checksum(struct str block)
{
    return hash_64((struct str){block.ptr + CHECKED_FROM, block.len - CHECKED_FROM});
}

static uint64_t chain(uint64_t digest, uint64_t checksum)
{
    uint64_t both[] = {digest, checksum};
    return hash_64((struct str){(const char *)both, sizeof both});
}

static bool write_block(struct run_writer *writer, struct error *err)
{
    int size = (int)writer->pairs.len;
    int bound = LZ4_compressBound(size);
    writer->packed.len = 0;
    char *block = buffer_reserve(&writer->packed, sizeof(struct block_head) + (size_t)bound);
    int packed =
        LZ4_compress_default(writer->pairs.bytes, block + sizeof(struct block_head), size, bound);
    struct block_head head = {.unpacked_bytes = (uint32_t)size, .packed_bytes = (uint32_t)packed};
    memcpy(block, &head, sizeof head);
    struct str whole = {block, sizeof head + (size_t)packed};
    head.checksum = block_checksum(whole);
    memcpy(block, &head, sizeof head);
    writer->pairs.len = 0;
    writer->run.digest = chain(writer->run.digest, head.checksum);
    return append(writer->file, whole, err);
}

bool run_writer_add(struct run_writer *writer, struct str key, struct str value, struct error *err)
{
    size_t wanted = writer->pairs.len + key.len + value.len;
    if (writer->pairs.len > 0 && wanted > writer->block_bytes && !write_block(writer, err)) {
        return false;
    }
    pair_write(key, value, &writer->pairs);
    return true;
}

bool run_writer_finish(struct run_writer *writer, struct sorted_run *out, struct error *err)
{
    if (writer->pairs.len > 0 && !write_block(writer, err)) {
        return false;
    }
    writer->run.end = writer->file->end;
    *out = writer->run;
    return true;
}

struct run_reader run_reader_open(const struct run_file *file, struct sorted_run run,
                                  struct buffer *packed)
{
    return (struct run_reader){.file = file, .packed = packed, .next = run.start, .end = run.end};
}

void run_reader_close(struct run_reader *reader)
{
    buffer_free(&reader->pairs);
}

static bool damaged(const struct run_reader *reader, struct error *err)
{
    return error_set(err, ERROR_DAMAGED, "sort files in %s: the block at %" PRIu64 " is damaged",
                     reader->file->place, reader->next);
}

/* pread(), so that readers share the file without sharing a position. */
static bool read_bytes(const struct run_reader *reader, uint64_t from, size_t size, char *out,
                       struct error *err)
{
    while (size > 0) {
        ssize_t done = pread(reader->file->fd, out, size, (off_t)from);
        if (done == 0) {
            return damaged(reader, err);
        }
        if (done < 0 && errno != EINTR) {
            return error_set(err, ERROR_STORE, "sort files in %s: %s", reader->file->place,
                             strerror(errno));
        }
        size_t got = done < 0 ? 0 : (size_t)done;
        from += got;
        out += got;
        size -= got;
    }
    return true;
}

static bool read_head(const struct run_reader *reader, struct block_head *out, struct error *err)
{
    char bytes[sizeof *out];
    uint64_t left = reader->end - reader->next;
    if (left < sizeof bytes) {
        return damaged(reader, err);
    }
    if (!read_bytes(reader, reader->next, sizeof bytes, bytes, err)) {
        return false;
    }
    memcpy(out, bytes, sizeof bytes);
    if (out->unpacked_bytes > RUN_BLOCK_MAX_BYTES || out->packed_bytes > left - sizeof bytes ||
        out->packed_bytes > (uint32_t)LZ4_compressBound((int)out->unpacked_bytes)) {
        return damaged(reader, err);
    }
    return true;
}

static bool read_block(struct run_reader *reader, struct error *err)
{
    struct block_head head = {0};
    if (!read_head(reader, &head, err)) {
        return false;
    }
    struct str block = {NULL, sizeof head + head.packed_bytes};
    reader->packed->len = 0;
    char *bytes = buffer_reserve(reader->packed, block.len);
    block.ptr = bytes;
    if (!read_bytes(reader, reader->next, block.len, bytes, err)) {
        return false;
    }
    reader->pairs.len = 0;
    reader->read = 0;
    char *pairs = buffer_reserve(&reader->pairs, head.unpacked_bytes);
    if (block_checksum(block) != head.checksum ||
        LZ4_decompress_safe(bytes + sizeof head, pairs, (int)head.packed_bytes,
                            (int)head.unpacked_bytes) != (int)head.unpacked_bytes) {
        return damaged(reader, err);
    }
    reader->pairs.len = head.unpacked_bytes;
    reader->next += block.len;
    reader->digest = chain(reader->digest, head.checksum);
    return true;
}

bool run_file_check(const struct run_file *file, const struct sorted_run *run,
                    const atomic_bool *stop, struct error *err)
{
    struct buffer packed = {0};
    struct run_reader reader = run_reader_open(file, *run, &packed);
    bool ok = true;
    while (ok && reader.next < reader.end) {
        bool stopped = stop != NULL && atomic_load_explicit(stop, memory_order_relaxed);
        ok = stopped ? error_set(err, ERROR_STOPPED, "stopped") : read_block(&reader, err);
    }
    ok = ok && (reader.digest == run->digest || damaged(&reader, err));
    run_reader_close(&reader);
    buffer_free(&packed);
    return ok;
}

bool run_reader_next(struct run_reader *reader, struct str *key, struct str *value, bool *more,
                     struct error *err)
{
    *more = reader->read < reader->pairs.len || reader->next < reader->end;
    if (!*more) {
        return true;
    }
    if (reader->read == reader->pairs.len && !read_block(reader, err)) {
        return false;
    }
    size_t left = reader->pairs.len - reader->read;
    size_t size = pair_read((struct str){reader->pairs.bytes + reader->read, left}, key, value);
    reader->read += size;
    return size > 0 || damaged(reader, err);
}

/* lmdb_record — the value of an item's record: checksum, pass, item. */
#ifndef ENGINE_STORE_LMDB_LMDB_RECORD_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_RECORD_INTERNAL_H

#include "engine/store/store.h"

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Above what any item of ITEM_MAX_BYTES needs (a list of 400,000 empty lists needs four times its
 * size); a longer record is damaged. */
enum { RECORD_MAX = 4 * ITEM_MAX_BYTES + 64 };

/* The bytes of a record; and writes it into as much room. */
size_t record_size(uint64_t pass, struct value item);
void record_write(unsigned char *out, uint64_t pass, struct value item);

/* The parts of a record, which stay where they are; the stamp is the checksum. False where it
 * fails. */
bool record_read(MDB_val record, struct stored_item *out);

/* As record_read() without the checksum, for records that this process has just read or written. */
bool record_peek(MDB_val record, struct stored_item *out);

#endif

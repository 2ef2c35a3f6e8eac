#include "engine/store/lmdb/lmdb_record_internal.h"

#include "engine/base/hash.h"
#include "engine/base/varint.h"
#include "engine/store/lmdb/lmdb_key_internal.h"

#include <string.h>

enum { CHECKSUM_BYTES = 8 };

size_t record_size(uint64_t pass, struct value item)
{
    return CHECKSUM_BYTES + varint_size(pass) + item.len;
}

void record_write(unsigned char *out, uint64_t pass, struct value item)
{
    unsigned char *body = out + CHECKSUM_BYTES;
    size_t len = varint_put(body, pass);
    memcpy(body + len, item.bytes, item.len);
    put_u64(out, hash_64((struct str){(const char *)body, len + item.len}));
}

bool record_peek(MDB_val record, struct stored_item *out)
{
    const unsigned char *bytes = record.mv_data;
    if (record.mv_size <= CHECKSUM_BYTES || record.mv_size > RECORD_MAX) {
        return false;
    }
    size_t len = record.mv_size - CHECKSUM_BYTES;
    size_t pass_len = varint_get(bytes + CHECKSUM_BYTES, len, &out->pass);
    if (pass_len == 0 || pass_len >= len) {
        return false;
    }
    out->stamp = get_u64(bytes);
    out->item = (struct value){bytes + CHECKSUM_BYTES + pass_len, len - pass_len};
    return true;
}

bool record_read(MDB_val record, struct stored_item *out)
{
    if (!record_peek(record, out)) {
        return false;
    }
    const char *body = (const char *)record.mv_data + CHECKSUM_BYTES;
    return hash_64((struct str){body, record.mv_size - CHECKSUM_BYTES}) == out->stamp;
}

#include "engine/base/hash.h"

#include <openssl/sha.h>
#include <stddef.h>
#include <xxhash.h>

uint64_t hash_64(struct str bytes)
{
    return XXH3_64bits(bytes.ptr, bytes.len);
}

void hash_128(struct str bytes, unsigned char out[16])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.ptr, bytes.len));
    memcpy(out, canonical.digest, sizeof canonical.digest);
}

void hash_sha256(struct str bytes, unsigned char out[32])
{
    (void)SHA256((const unsigned char *)bytes.ptr, bytes.len, out);
}

void hash_hex(const unsigned char *bytes, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
}

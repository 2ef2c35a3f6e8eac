/* hash — the digests that the formats name: xxHash for speed, SHA-256 for plans and hash(). */
#ifndef ENGINE_BASE_HASH_H
#define ENGINE_BASE_HASH_H

#include "engine/base/str.h"

#include <stdint.h>

/* XXH3, 64 bits, seed 0. */
uint64_t hash_64(struct str bytes);

/* XXH3, 128 bits, in canonical (big-endian) order. */
void hash_128(struct str bytes, unsigned char out[16]);

/* SHA-256 (FIPS 180-4), by OpenSSL. */
void hash_sha256(struct str bytes, unsigned char out[32]);

/* Lower-case hexadecimal of `len` bytes into out[2 * len + 1], NUL-ended. */
void hash_hex(const unsigned char *bytes, size_t len, char *out);

#endif

/* utf8 — well-formed UTF-8 (RFC 3629): checking, decoding, counting, case. */
#ifndef ENGINE_BASE_UTF8_H
#define ENGINE_BASE_UTF8_H

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if s is well formed: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool utf8_is_valid(struct str s);

/* Bytes of the longest well-formed start of s: where the first fault is. */
size_t utf8_valid_prefix(struct str s);

/* The longest start of a valid s that has at most max bytes and ends with a whole character. */
struct str utf8_cut(struct str s, size_t max);

/* The character at s.ptr[*at], which must start one of a valid text; moves *at past it. */
uint32_t utf8_next(struct str s, size_t *at);

/* Writes the character's bytes; returns how many, 1 to 4. */
size_t utf8_put(char out[4], uint32_t character);

/* Characters of a valid text, and UTF-16 units (what DynamoDB's size() counts). */
size_t utf8_count(struct str s);
size_t utf8_utf16_units(struct str s);

/* Unicode simple case mapping, locale-free: the C library's C.UTF-8 tables do not decide. */
uint32_t utf8_to_lower(uint32_t character);
uint32_t utf8_to_upper(uint32_t character);

#endif

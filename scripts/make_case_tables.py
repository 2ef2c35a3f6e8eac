#!/usr/bin/env python3
"""Writes engine/base/utf8_case_table.h: Unicode simple case mapping as ranges.

Run from the root of the tree: scripts/make_case_tables.py > engine/base/utf8_case_table.h
"""
import unicodedata


def simple_upper(c):
    """Where the full mapping is several characters, the simple one is the title case letter."""
    full = chr(c).upper()
    if len(full) == 1:
        return ord(full)
    title = chr(c).title()
    return ord(title) if len(title) == 1 else c


def simple_lower(c):
    """U+0130 is the only letter whose full mapping is longer: it is 'i' and a combining dot."""
    return ord(chr(c).lower()[0])


def ranges(mapping):
    """Runs of [first, last, step, delta]: neighbours, or every second letter, moved alike."""
    out = []
    for c in range(0x110000):
        if 0xD800 <= c < 0xE000 or mapping(c) == c:
            continue
        delta = mapping(c) - c
        if out and out[-1][3] == delta:
            first, last, step, _ = out[-1]
            if (first == last and c - last <= 2) or c - last == step:
                out[-1][1:3] = [c, c - last]
                continue
        out.append([c, c, 1, delta])
    return out


def write(name, mapping):
    print(f"static const struct case_range {name}[] = {{")
    for first, last, step, delta in ranges(mapping):
        print(f"    {{0x{first:04x}, 0x{last:04x}, {step}, {delta}}},")
    print("};")


print("/* utf8_case_table — simple case mapping of Unicode "
      f"{unicodedata.unidata_version}; made by scripts/make_case_tables.py. */")
print("""#ifndef ENGINE_BASE_UTF8_CASE_TABLE_H
#define ENGINE_BASE_UTF8_CASE_TABLE_H

#include <stdint.h>

/* Every `step`th character from first to last maps to itself + delta. */
struct case_range {
    uint32_t first;
    uint32_t last;
    uint32_t step;
    int32_t delta;
};
""")
write("lower_ranges", simple_lower)
print()
write("upper_ranges", simple_upper)
print("\n#endif")

/* lmdb_pages — the pages of LMDB's file, read and checked without LMDB, which trusts what it maps.
 * LMDB 0.9, 64 bits, little-endian: the file format that docs/format.md names. */
#ifndef ENGINE_STORE_LMDB_LMDB_PAGES_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_PAGES_INTERNAL_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct page_tree {
    uint32_t pad; /* of a meta page's first tree: the page size */
    uint16_t flags;
    uint16_t depth;
    uint64_t branch_pages;
    uint64_t leaf_pages;
    uint64_t overflow_pages;
    uint64_t entries;
    uint64_t root; /* NO_PAGE: the tree is empty */
};

/* One of the first two pages: the state as of a transaction. */
struct page_meta {
    uint64_t page_number;
    uint16_t pad;
    uint16_t flags;
    uint16_t lower;
    uint16_t upper;
    uint32_t magic;
    uint32_t version;
    uint64_t address;
    uint64_t map_size;
    struct page_tree trees[2]; /* free pages; named trees */
    uint64_t last_page;
    uint64_t transaction;
};

_Static_assert(sizeof(struct page_tree) == 48, "as it stands in the file");
_Static_assert(sizeof(struct page_meta) == 152, "as it stands in the file");

#define NO_PAGE UINT64_MAX

/* Checks the tree of named trees, which opening a table reads; with `deep` also these, and the free
 * pages: every page that is in use. The file must have the length that `meta` says.
 * ERROR_DAMAGED: the first fault. ERROR_STORE: cannot be read. */
MUST_CHECK bool pages_check(int fd, const struct page_meta *meta, bool deep, struct error *err);

#endif

#include "engine/store/lmdb/lmdb_pages_internal.h"

#include "engine/base/arena.h"
#include "engine/store/lmdb/lmdb_key_internal.h"
#include "engine/store/lmdb/lmdb_record_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE_BRANCH = 0x01,
    PAGE_LEAF = 0x02,
    PAGE_OVERFLOW = 0x04,
    NODE_BIG = 0x01, /* the data is on overflow pages */
    NODE_TREE = 0x02,
    NODE_HEADER = 8,
    PAGE_HEADER = 16,
    DEPTH_MAX = 32
};

struct page_header {
    uint64_t number;
    uint16_t pad;
    uint16_t flags;
    uint16_t lower; /* of an overflow page these two are its count of pages */
    uint16_t upper;
};

struct node {
    struct str key;
    const unsigned char *data; /* or the number of its first overflow page */
    uint16_t flags;
    uint64_t number; /* branch: the child; leaf: the size of the data */
};

struct walk {
    const unsigned char *file; /* mapped, all pages */
    size_t page_bytes;
    uint64_t last_page;
    unsigned char *seen; /* one bit for each page that is in use or free */
    bool deep;
    bool free_tree; /* whose keys are numbers */
    unsigned char last_key[LMDB_KEY_MAX];
    size_t last_key_len;
    bool may_equal; /* the last key is a branch's: the first below it may be the same */
    bool any_key;
    uint64_t entries;
    struct error *err;
};

static bool damaged(struct walk *walk, uint64_t page, const char *what)
{
    return error_set(walk->err, ERROR_DAMAGED, "page %" PRIu64 " is damaged: %s", page, what);
}

/* The page must have been marked, or be known to be there. */
static const unsigned char *page_at(const struct walk *walk, uint64_t page)
{
    return walk->file + page * walk->page_bytes;
}

/* A page belongs to one place, or to the free ones. */
static bool mark(struct walk *walk, uint64_t page, uint64_t count)
{
    if (page < 2 || page > walk->last_page || count > walk->last_page - page + 1) {
        return damaged(walk, page, "no such page");
    }
    for (uint64_t i = page; i < page + count; i++) {
        unsigned char bit = (unsigned char)(1U << (i % 8));
        if ((walk->seen[i / 8] & bit) != 0) {
            return damaged(walk, i, "it is used twice");
        }
        walk->seen[i / 8] |= bit;
    }
    return true;
}

static uint64_t key_number(struct str key)
{
    uint64_t number = 0;
    memcpy(&number, key.ptr, key.len < sizeof number ? key.len : sizeof number);
    return number;
}

static int compare_keys(const struct walk *walk, struct str a, struct str b)
{
    if (walk->free_tree) {
        uint64_t left = key_number(a);
        uint64_t right = key_number(b);
        return (left > right) - (left < right);
    }
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static bool check_order(struct walk *walk, uint64_t page, struct str key, bool branch)
{
    struct str last = {(const char *)walk->last_key, walk->last_key_len};
    int order = walk->any_key ? compare_keys(walk, key, last) : 1;
    if (key.len > LMDB_KEY_MAX || order < 0 || (order == 0 && !walk->may_equal)) {
        return damaged(walk, page, "its keys are not in order");
    }
    memcpy(walk->last_key, key.ptr, key.len);
    walk->last_key_len = key.len;
    walk->may_equal = branch;
    walk->any_key = true;
    return true;
}

static bool read_node(struct walk *walk, const unsigned char *page, size_t place, struct node *out)
{
    struct page_header header;
    uint16_t at = 0;
    uint16_t parts[4]; /* low and high half of the number, flags, key size */
    memcpy(&header, page, sizeof header);
    memcpy(&at, page + PAGE_HEADER + 2 * place, sizeof at);
    if (at < header.upper || at > walk->page_bytes - NODE_HEADER || at % 2 != 0) {
        return damaged(walk, header.number, "a node is outside of it");
    }
    memcpy(parts, page + at, sizeof parts);
    bool branch = header.flags == PAGE_BRANCH;
    out->number = (uint64_t)parts[0] | (uint64_t)parts[1] << 16;
    out->flags = branch ? 0 : parts[2];
    if (branch) {
        out->number |= (uint64_t)parts[2] << 32;
    }
    out->key = (struct str){(const char *)page + at + NODE_HEADER, parts[3]};
    out->data = page + at + NODE_HEADER + parts[3];
    size_t data_len = (out->flags & NODE_BIG) != 0 ? sizeof(uint64_t) : out->number;
    size_t room = walk->page_bytes - at - NODE_HEADER;
    if (out->key.len > room || (!branch && data_len > room - out->key.len)) {
        return damaged(walk, header.number, "a node is larger than it");
    }
    return true;
}

static bool check_header(struct walk *walk, uint64_t page, const unsigned char *bytes, bool leaf)
{
    struct page_header header;
    memcpy(&header, bytes, sizeof header);
    if (header.number != page || header.flags != (leaf ? PAGE_LEAF : PAGE_BRANCH)) {
        return damaged(walk, page, "it is not the page that it should be");
    }
    size_t least = leaf || walk->free_tree ? 1 : 2;
    if (header.lower < PAGE_HEADER + 2 * least || header.lower % 2 != 0 ||
        header.lower > header.upper || header.upper > walk->page_bytes) {
        return damaged(walk, page, "its header");
    }
    return true;
}

static bool check_overflow(struct walk *walk, const struct node *node, uint64_t *page)
{
    struct page_header header;
    memcpy(page, node->data, sizeof *page);
    uint64_t needed = (PAGE_HEADER + node->number + walk->page_bytes - 1) / walk->page_bytes;
    if (*page < 2 || *page > walk->last_page) {
        return damaged(walk, *page, "no such page");
    }
    memcpy(&header, page_at(walk, *page), sizeof header);
    uint64_t count = (uint64_t)header.lower | (uint64_t)header.upper << 16;
    if (header.number != *page || header.flags != PAGE_OVERFLOW || count < needed) {
        return damaged(walk, *page, "it is not the page that it should be");
    }
    return mark(walk, *page, count);
}

static bool check_tree(struct walk *walk, const struct page_tree *tree);

/* A tree of its own in the tree of named trees: walked with the state of this one put aside. */
static bool check_named(struct walk *walk, uint64_t page, const struct node *node)
{
    struct page_tree tree;
    if (node->number != sizeof tree || (node->flags & NODE_BIG) != 0) {
        return damaged(walk, page, "a tree's record");
    }
    memcpy(&tree, node->data, sizeof tree);
    if (tree.flags != 0) {
        return damaged(walk, page, "a tree of another kind");
    }
    if (!walk->deep) {
        return true;
    }
    struct walk inner = *walk;
    return check_tree(&inner, &tree);
}

/* The numbers of free pages, as a node of the tree of free pages lists them. */
static bool check_free(struct walk *walk, uint64_t page, const struct node *node, uint64_t overflow)
{
    const unsigned char *list = node->data;
    if ((node->flags & NODE_BIG) != 0) {
        list = page_at(walk, overflow) + PAGE_HEADER;
    }
    uint64_t count = 0;
    if (node->number >= sizeof count) {
        memcpy(&count, list, sizeof count);
    }
    if (node->number < sizeof count || count > node->number / sizeof count - 1) {
        return damaged(walk, page, "a list of free pages");
    }
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t number = 0;
        memcpy(&number, list + i * sizeof number, sizeof number);
        if (!mark(walk, number, 1)) {
            return false;
        }
    }
    return true;
}

static bool check_leaf_node(struct walk *walk, uint64_t page, const struct node *node)
{
    uint64_t overflow = 0;
    walk->entries++;
    if (!check_order(walk, page, node->key, false)) {
        return false;
    }
    if ((node->flags & ~(NODE_BIG | NODE_TREE)) != 0) {
        return damaged(walk, page, "a node of another kind");
    }
    if ((node->flags & NODE_BIG) != 0 && !check_overflow(walk, node, &overflow)) {
        return false;
    }
    if (walk->free_tree) {
        return check_free(walk, page, node, overflow);
    }
    return (node->flags & NODE_TREE) == 0 || check_named(walk, page, node);
}

static bool check_page(struct walk *walk, uint64_t page, size_t level, size_t depth)
{
    bool leaf = level == depth - 1;
    struct page_header header;
    if (!mark(walk, page, 1)) {
        return false;
    }
    const unsigned char *bytes = page_at(walk, page);
    if (!check_header(walk, page, bytes, leaf)) {
        return false;
    }
    memcpy(&header, bytes, sizeof header);
    size_t count = (header.lower - PAGE_HEADER) / 2U;
    for (size_t i = 0; i < count; i++) {
        struct node node;
        if (!read_node(walk, bytes, i, &node)) {
            return false;
        }
        bool ok = false;
        if (leaf) {
            ok = check_leaf_node(walk, page, &node);
        } else {
            /* The first key of a branch is not looked at. */
            ok = (i == 0 || check_order(walk, page, node.key, true)) &&
                 check_page(walk, node.number, level + 1, depth);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool check_tree(struct walk *walk, const struct page_tree *tree)
{
    walk->entries = 0;
    walk->any_key = false;
    walk->may_equal = false;
    if (tree->root == NO_PAGE) {
        return tree->entries == 0 || damaged(walk, 0, "a tree without pages has entries");
    }
    if (tree->depth == 0 || tree->depth > DEPTH_MAX) {
        return damaged(walk, tree->root, "the depth of its tree");
    }
    if (!check_page(walk, tree->root, 0, tree->depth)) {
        return false;
    }
    return walk->entries == tree->entries ||
           damaged(walk, tree->root, "its tree has another number of entries");
}

bool pages_check(int fd, const struct page_meta *meta, bool deep, struct error *err)
{
    size_t page_bytes = meta->trees[0].pad;
    size_t file_bytes = (meta->last_page + 1) * page_bytes;
    void *file = mmap(NULL, file_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED) {
        return error_set(err, ERROR_STORE, "its pages cannot be read: %s", strerror(errno));
    }
    struct walk walk = {.file = file,
                        .page_bytes = page_bytes,
                        .last_page = meta->last_page,
                        .seen = heap_alloc(meta->last_page / 8 + 1),
                        .deep = deep,
                        .err = err};
    bool ok = check_tree(&walk, &meta->trees[1]);
    if (ok && deep) {
        walk.free_tree = true;
        ok = check_tree(&walk, &meta->trees[0]);
    }
    heap_free(walk.seen);
    (void)munmap(file, file_bytes);
    return ok;
}

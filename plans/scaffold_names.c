#include "plans/scaffold_internal.h"

#include <string.h>

/* What a table is called, from the most pleasant to the most exact. */
enum name_level { NAME_SINGULAR, NAME_OWN, NAME_WITH_SCHEMA };

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Words of lower-case letters and digits, joined by single underscores, a letter first. */
static bool has_words(struct str name)
{
    bool gap = true;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!is_lower(c) && (i == 0 || !is_digit(c)) && (gap || c != '_')) {
            return false;
        }
        gap = c == '_';
    }
    return !gap;
}

/* Whether the last word only loses its s: "orders", "employees", not "categories" or "boxes", which
 * may end in other ways, nor "status" or "address", which are no plurals. */
static bool ends_in_plural(struct str name)
{
    static const struct str exceptions[] = {STR_INIT("news"), STR_INIT("lens")};
    size_t start = name.len;
    while (start > 0 && name.ptr[start - 1] != '_') {
        start--;
    }
    struct str word = {name.ptr + start, name.len - start};
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        if (str_equal(word, exceptions[i])) {
            return false;
        }
    }
    if (word.len < 4 || word.ptr[word.len - 1] != 's') {
        return false;
    }
    char before = word.ptr[word.len - 2];
    const char *unsure = before == 'e' ? "hiosxz" : "aiosu";
    return is_lower(before) &&
           strchr(unsure, before == 'e' ? word.ptr[word.len - 3] : before) == NULL;
}

static struct str singular(struct str name)
{
    return (struct str){name.ptr, ends_in_plural(name) ? name.len - 1 : name.len};
}

/* "order_detail" is OrderDetail. */
static struct str camel_case(struct str words, struct arena *arena)
{
    char *out = arena_bytes(arena, words.len + 1);
    size_t len = 0;
    bool begins = true;
    for (size_t i = 0; i < words.len; i++) {
        char c = words.ptr[i];
        if (c != '_') {
            out[len++] = (char)(begins && is_lower(c) ? c - 'a' + 'A' : c);
        }
        begins = c == '_';
    }
    out[len] = '\0';
    return (struct str){out, len};
}

struct str scaffold_tag(struct str name, struct arena *arena)
{
    char *out = arena_bytes(arena, name.len + 1);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool kept = (c >= 'A' && c <= 'Z') || is_digit(c) || (unsigned char)c >= 0x80;
        out[i] = (char)(is_lower(c) ? c - 'a' + 'A' : kept ? c : '_');
    }
    out[name.len] = '\0';
    return (struct str){out, name.len};
}

static void name_at(struct scaffold_entity *entity, enum name_level level, struct arena *arena)
{
    const struct schema_table *table = entity->table;
    if (level == NAME_WITH_SCHEMA) {
        entity->name =
            arena_format(arena, "%.*s.%.*s", STR_ARG(table->schema), STR_ARG(table->name));
        entity->tag = scaffold_tag(entity->name, arena);
    } else if (level == NAME_SINGULAR && has_words(table->name)) {
        entity->name = camel_case(singular(table->name), arena);
        entity->tag = scaffold_tag(singular(table->name), arena);
    } else {
        entity->name = table->name;
        entity->tag = scaffold_tag(table->name, arena);
    }
}

/* Tables that would share a name are all called otherwise. */
static void raise_shared(struct scaffold_entity *entities, size_t count, enum name_level level,
                         struct arena *arena)
{
    bool *shared = arena_zero(arena, count + 1);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i && entities[i].key != NULL; k++) {
            bool same = entities[k].key != NULL && str_equal(entities[i].name, entities[k].name);
            shared[i] = shared[i] || same;
            shared[k] = shared[k] || same;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (shared[i]) {
            name_at(&entities[i], level, arena);
        }
    }
}

static bool is_taken(const struct scaffold_entity *entities, size_t count, struct str name,
                     bool as_tag)
{
    for (size_t i = 0; i < count; i++) {
        struct str other = as_tag ? entities[i].tag : entities[i].name;
        if (entities[i].key != NULL && str_equal(other, name)) {
            return true;
        }
    }
    return false;
}

/* The name, or with the first number behind it that no entity before has. */
static struct str make_single(const struct scaffold_entity *before, size_t count, struct str name,
                              bool as_tag, struct arena *arena)
{
    struct str single = name;
    for (size_t n = 2; is_taken(before, count, single, as_tag); n++) {
        single = arena_format(arena, "%.*s_%zu", STR_ARG(name), n);
    }
    return single;
}

void scaffold_name(struct scaffold_entity *entities, size_t count, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        name_at(&entities[i], NAME_SINGULAR, arena);
    }
    raise_shared(entities, count, NAME_OWN, arena);
    raise_shared(entities, count, NAME_WITH_SCHEMA, arena);
    for (size_t i = 0; i < count; i++) {
        entities[i].name = make_single(entities, i, entities[i].name, false, arena);
        entities[i].tag = make_single(entities, i, entities[i].tag, true, arena);
    }
}

/* ddb_compose — the JSON of requests that read and write items. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_COMPOSE_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_COMPOSE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>

/* Attribute names that are remembered; what is beyond them is not looked for. */
enum { KNOWN_MAX = 64 };

struct known_name {
    size_t at; /* in composer.known_bytes */
    size_t len;
};

/* Placeholders whose texts can be asked for again; what is beyond them cannot. */
enum { PLACEHOLDERS_MAX = 64 };

struct text_span {
    size_t at; /* in the buffer */
    size_t len;
};

/* One request under construction; its buffers are used again for the next. Starts as {0}. */
struct composer {
    struct buffer body;
    struct buffer names;  /* "#0":"PK",… */
    struct buffer values; /* ":0":{"S":"a"},… */
    struct buffer condition;
    struct buffer set;
    struct buffer remove;
    struct text_span name_at[PLACEHOLDERS_MAX];
    struct text_span value_at[PLACEHOLDERS_MAX];
    unsigned name_count;
    unsigned value_count;
    unsigned condition_operators;
    bool has_members; /* of the body's object at hand */
    struct buffer known_bytes;
    struct known_name known[KNOWN_MAX]; /* attributes of items met so far */
    size_t known_count;
};

void composer_free(struct composer *composer);

/* Begins anew: an object with TableName. */
void compose_begin(struct composer *composer, struct str table);

/* Members of the body: a text; JSON as it is; a key as {"PK": …}; an item. */
void compose_text(struct composer *composer, const char *name, struct str text);
void compose_raw(struct composer *composer, const char *name, struct str json);
void compose_key(struct composer *composer, const char *name, const struct key_schema *keys,
                 const struct key *key);
void compose_item(struct composer *composer, const char *name, struct value item);

/* {"PK": …, "SK": …}, or a whole item, alone. */
void compose_write_item(struct buffer *out, struct value item);
void compose_write_key(struct buffer *out, const struct key_schema *keys, const struct key *key);

/* A placeholder's number for an attribute name or a value. */
unsigned compose_name(struct composer *composer, struct str name);
unsigned compose_value(struct composer *composer, struct value value);

/* What a placeholder stands for: a name as JSON writes it, less the quotes; a value's JSON.
 * Borrowed until something is added. False: it is not one of the first. */
bool compose_name_of(const struct composer *composer, size_t number, struct str *out);
bool compose_value_of(const struct composer *composer, size_t number, struct str *out);

/* Writes a pushable condition with placeholders; returns how many operators it has. */
size_t compose_push(struct composer *composer, const struct expr *condition, struct buffer *out);

/* Amazon DynamoDB Developer Guide, "Quotas": 4 KB and 300 operators or functions an expression. */
enum { EXPRESSION_MAX_BYTES = 4096, EXPRESSION_MAX_OPERATORS = 300 };

/* That an item stands, or none. */
void compose_exists(struct composer *composer, const struct key_schema *keys, bool exists);

/* Remembers the item's attribute names. */
void compose_know(struct composer *composer, struct value item);

/* That the item stands as `before`, and has none of the attributes that are known of other items: a
 * condition cannot ask for all that somebody may have added meanwhile. Values beyond what an
 * expression may hold are left out; with `loose`, also sets, lists and maps (for servers that
 * do not compare them by what they hold). */
void compose_unchanged(struct composer *composer, const struct key_schema *keys,
                       struct value before, bool loose);

/* What turns `before` into `after`, under the condition that an item stands, that what changes is
 * as in `before`, and what the change was made from too (of a whole item, as far as it fits). An
 * attribute that somebody adds meanwhile stays. False where it does not fit. */
struct change {
    struct value before, after;
    struct basis basis;
    bool loose; /* as in compose_unchanged() */
};
bool compose_change(struct composer *composer, const struct key_schema *keys,
                    const struct change *change);

/* What gives an item that stands the attributes that it has not. */
void compose_addition_of(struct composer *composer, const struct key_schema *keys,
                         struct value added);

/* FilterExpression and ProjectionExpression of a Scan, where they fit: what is wanted, and in any
 * case the keys, and of the items whose partition key begins with `mark` also the attribute of that
 * name. */
struct scan_mark {
    struct value partition; /* begins so; missing: there are none */
    struct str name;
};
void compose_use(struct composer *composer, const struct key_schema *keys,
                 const struct page_use *use, const struct scan_mark *mark);

/* Adds the expressions made so far. */
void compose_expressions(struct composer *composer);

/* Ends the object; a copy in the arena. */
struct str compose_end(struct composer *composer, struct arena *arena);

#endif

#include "engine/store/dynamodb/ddb_statement_internal.h"

#include "engine/item/item_json.h"

#include <assert.h>
#include <string.h>

/* Amazon DynamoDB API Reference, BatchStatementRequest: the length of a statement. */
enum { STATEMENT_MAX_BYTES = 8192 };

void statements_free(struct statements *statements)
{
    buffer_free(&statements->body);
    buffer_free(&statements->parameters);
}

/* ---------------------------------------------------------------- names and parameters */

/* Within the JSON text of the statement. A name that JSON would escape is left to UpdateItem and
 * PutItem. */
static bool is_plain(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c == '"' || c == '\\' || c < ' ') {
            return false;
        }
    }
    return true;
}

static bool add_name(struct statements *statements, struct str name)
{
    if (!is_plain(name)) {
        return false;
    }
    buffer_add(&statements->body, STR("\\\""));
    buffer_add(&statements->body, name);
    buffer_add(&statements->body, STR("\\\""));
    return true;
}

static void add_parameter(struct statements *statements, struct str json)
{
    if (statements->parameters.len > 0) {
        buffer_add_char(&statements->parameters, ',');
    }
    buffer_add(&statements->parameters, json);
}

/* ---------------------------------------------------------------- reading expressions */

/* What is left of an expression; each take_ function eats what it finds at its beginning. */
static bool take(struct str *rest, struct str word)
{
    if (!str_begins(*rest, word)) {
        return false;
    }
    *rest = (struct str){rest->ptr + word.len, rest->len - word.len};
    return true;
}

static bool take_number(struct str *rest, size_t *out)
{
    enum { NUMBER_MAX = 100000 };
    size_t number = 0;
    size_t len = 0;
    for (; len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9'; len++) {
        number = number * 10 + (size_t)(rest->ptr[len] - '0');
        if (number > NUMBER_MAX) {
            return false;
        }
    }
    *rest = (struct str){rest->ptr + len, rest->len - len};
    *out = number;
    return len > 0;
}

/* "#3", written as the name that it stands for. */
static bool take_name(struct statements *statements, const struct composer *composer,
                      struct str *rest)
{
    size_t number = 0;
    struct str name;
    return take(rest, STR("#")) && take_number(rest, &number) &&
           compose_name_of(composer, number, &name) && add_name(statements, name);
}

/* "=:3", written as a parameter. */
static bool take_value(struct statements *statements, const struct composer *composer,
                       struct str *rest)
{
    size_t number = 0;
    struct str json;
    if (!take(rest, STR("=:")) || !take_number(rest, &number) ||
        !compose_value_of(composer, number, &json)) {
        return false;
    }
    buffer_add(&statements->body, STR("=?"));
    add_parameter(statements, json);
    return true;
}

/* ---------------------------------------------------------------- clauses */

static bool add_changes(struct statements *statements, const struct composer *composer)
{
    struct str set = buffer_str(&composer->set);
    struct str remove = buffer_str(&composer->remove);
    while (set.len > 0) {
        buffer_add(&statements->body, STR(" SET "));
        if (!take_name(statements, composer, &set) || !take_value(statements, composer, &set) ||
            (set.len > 0 && !take(&set, STR(",")))) {
            return false;
        }
    }
    while (remove.len > 0) {
        buffer_add(&statements->body, STR(" REMOVE "));
        if (!take_name(statements, composer, &remove) ||
            (remove.len > 0 && !take(&remove, STR(",")))) {
            return false;
        }
    }
    return true;
}

static bool add_key(struct statements *statements, const struct statement_place *place)
{
    const struct key_schema *keys = place->keys;
    struct buffer json = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < place->key->count; i++) {
        bool is_partition = i < keys->partition_count;
        struct str name =
            is_partition ? keys->partition[i].name : keys->sort[i - keys->partition_count].name;
        buffer_add(&statements->body, i == 0 ? STR(" WHERE ") : STR(" AND "));
        ok = add_name(statements, name);
        buffer_add(&statements->body, STR("=?"));
        json.len = 0;
        item_json_write_value(place->key->parts[i], &json);
        add_parameter(statements, buffer_str(&json));
    }
    buffer_free(&json);
    return ok;
}

/* "attribute_not_exists(#3)" or "#3=:3". */
static bool add_term(struct statements *statements, const struct composer *composer,
                     struct str *rest)
{
    buffer_add(&statements->body, STR(" AND "));
    if (!take(rest, STR("attribute_not_exists("))) {
        return take_name(statements, composer, rest) && take_value(statements, composer, rest);
    }
    bool ok = take_name(statements, composer, rest) && take(rest, STR(")"));
    buffer_add(&statements->body, STR(" IS MISSING"));
    return ok;
}

/* A statement meets only an item that stands, so the first term need not be said. */
static bool add_condition(struct statements *statements, const struct composer *composer)
{
    struct str rest = buffer_str(&composer->condition);
    if (!take(&rest, STR("attribute_exists(#0)"))) {
        return false;
    }
    while (rest.len > 0) {
        if (!take(&rest, STR(" AND ")) || !add_term(statements, composer, &rest)) {
            return false;
        }
    }
    return true;
}

static bool add_update(struct statements *statements, const struct composer *composer,
                       const struct statement_place *place)
{
    buffer_add(&statements->body, STR("UPDATE "));
    return add_name(statements, place->table) && add_changes(statements, composer) &&
           add_key(statements, place) && add_condition(statements, composer);
}

/* Names of a VALUE are in single quotes (Amazon DynamoDB Developer Guide, "PartiQL insert
 * statements"). One that has such a quote is left to PutItem too: a server that took it doubled as
 * it stands would make another attribute of it, and nobody would notice. */
static bool add_member(struct statements *statements, const struct attribute *member, bool first)
{
    struct buffer *parameters = &statements->parameters;
    if (!is_plain(member->name) || str_has(member->name, '\'')) {
        return false;
    }
    buffer_add(&statements->body, first ? STR("{'") : STR(",'"));
    buffer_add(&statements->body, member->name);
    buffer_add(&statements->body, STR("':?"));
    if (!first) {
        buffer_add_char(parameters, ',');
    }
    item_json_write_value(member->value, parameters);
    return true;
}

static bool add_insert(struct statements *statements, struct str table, struct value item)
{
    buffer_add(&statements->body, STR("INSERT INTO "));
    if (!add_name(statements, table)) {
        return false;
    }
    buffer_add(&statements->body, STR(" VALUE "));
    struct value_iter iter = value_members(item);
    struct attribute at;
    for (bool first = true; value_next(&iter, &at); first = false) {
        if (!add_member(statements, &at, first)) {
            return false;
        }
    }
    buffer_add_char(&statements->body, '}');
    return true;
}

/* ---------------------------------------------------------------- requests */

/* Returns where its text begins. */
static size_t begin(struct statements *statements)
{
    assert(statements->count < STATEMENTS_MAX);
    statements->parameters.len = 0;
    buffer_add(&statements->body, statements->count == 0 ? STR("{\"Statements\":[") : STR(","));
    buffer_add(&statements->body, STR("{\"Statement\":\""));
    return statements->body.len;
}

/* Takes away again what could not be said, or is too long. */
static bool finish(struct statements *statements, size_t start, size_t text, bool said)
{
    struct buffer *body = &statements->body;
    if (!said || body->len - text > STATEMENT_MAX_BYTES) {
        body->len = start;
        return false;
    }
    buffer_add(body, STR("\",\"Parameters\":["));
    buffer_add(body, buffer_str(&statements->parameters));
    buffer_add(body, STR("]}"));
    statements->count++;
    return true;
}

bool statements_add(struct statements *statements, const struct composer *composer,
                    const struct statement_place *place)
{
    size_t start = statements->body.len;
    size_t text = begin(statements);
    return finish(statements, start, text, add_update(statements, composer, place));
}

bool statements_add_insert(struct statements *statements, struct str table, struct value item)
{
    size_t start = statements->body.len;
    size_t text = begin(statements);
    return finish(statements, start, text, add_insert(statements, table, item));
}

struct str statements_end(struct statements *statements, struct arena *arena)
{
    assert(statements->count > 0);
    buffer_add(&statements->body, STR("],\"ReturnConsumedCapacity\":\"TOTAL\"}"));
    struct str body = arena_copy(arena, buffer_str(&statements->body));
    statements->body.len = 0;
    statements->count = 0;
    return body;
}

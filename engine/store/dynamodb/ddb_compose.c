#include "engine/base/json.h"
#include "engine/item/item_json.h"
#include "engine/store/dynamodb/ddb_compose_internal.h"

#include <string.h>

enum { TERM_MAX_BYTES = 64 };

void composer_free(struct composer *composer)
{
    buffer_free(&composer->body);
    buffer_free(&composer->names);
    buffer_free(&composer->values);
    buffer_free(&composer->condition);
    buffer_free(&composer->set);
    buffer_free(&composer->remove);
    buffer_free(&composer->known_bytes);
}

void compose_begin(struct composer *composer, struct str table)
{
    composer->body.len = 0;
    composer->names.len = 0;
    composer->values.len = 0;
    composer->condition.len = 0;
    composer->set.len = 0;
    composer->remove.len = 0;
    composer->name_count = 0;
    composer->value_count = 0;
    composer->condition_operators = 0;
    composer->has_members = false;
    buffer_add_char(&composer->body, '{');
    if (table.len > 0) {
        compose_text(composer, "TableName", table);
    }
}

static void add_name(struct composer *composer, const char *name)
{
    buffer_add(&composer->body, composer->has_members ? STR(",\"") : STR("\""));
    buffer_add(&composer->body, (struct str){name, strlen(name)});
    buffer_add(&composer->body, STR("\":"));
    composer->has_members = true;
}

void compose_text(struct composer *composer, const char *name, struct str text)
{
    add_name(composer, name);
    json_write_string(&composer->body, text);
}

void compose_raw(struct composer *composer, const char *name, struct str json)
{
    add_name(composer, name);
    buffer_add(&composer->body, json);
}

static void write_part(struct buffer *out, const struct key_attribute *attribute,
                       struct value value, bool first)
{
    if (!first) {
        buffer_add_char(out, ',');
    }
    json_write_string(out, attribute->name);
    buffer_add_char(out, ':');
    item_json_write_value(value, out);
}

void compose_write_key(struct buffer *out, const struct key_schema *keys, const struct key *key)
{
    buffer_add_char(out, '{');
    for (size_t i = 0; i < key->count; i++) {
        bool is_partition = i < keys->partition_count;
        const struct key_attribute *attribute =
            is_partition ? &keys->partition[i] : &keys->sort[i - keys->partition_count];
        write_part(out, attribute, key->parts[i], i == 0);
    }
    buffer_add_char(out, '}');
}

void compose_key(struct composer *composer, const char *name, const struct key_schema *keys,
                 const struct key *key)
{
    add_name(composer, name);
    compose_write_key(&composer->body, keys, key);
}

void compose_write_item(struct buffer *out, struct value item)
{
    item_json_write_item(item, out);
}

void compose_item(struct composer *composer, const char *name, struct value item)
{
    add_name(composer, name);
    item_json_write_item(item, &composer->body);
}

/* ---------------------------------------------------------------- placeholders */

/* "#3", ":12". Of every request there are many, so they are not made by printf. */
static void add_placeholder(struct buffer *out, char sign, unsigned number)
{
    buffer_add_char(out, sign);
    buffer_add_number(out, number);
}

/* A member that is named by a placeholder, up to its value. */
static void add_member(struct buffer *out, char sign, unsigned number)
{
    buffer_add(out, number == 0 ? STR("\"") : STR(",\""));
    add_placeholder(out, sign, number);
    buffer_add(out, STR("\":"));
}

unsigned compose_name(struct composer *composer, struct str name)
{
    unsigned number = composer->name_count++;
    add_member(&composer->names, '#', number);
    size_t at = composer->names.len;
    json_write_string(&composer->names, name);
    if (number < PLACEHOLDERS_MAX) {
        composer->name_at[number] = (struct text_span){at + 1, composer->names.len - at - 2};
    }
    return number;
}

unsigned compose_value(struct composer *composer, struct value value)
{
    unsigned number = composer->value_count++;
    add_member(&composer->values, ':', number);
    size_t at = composer->values.len;
    item_json_write_value(value, &composer->values);
    if (number < PLACEHOLDERS_MAX) {
        composer->value_at[number] = (struct text_span){at, composer->values.len - at};
    }
    return number;
}

static void push_name(void *context, struct str name, struct buffer *out)
{
    add_placeholder(out, '#', compose_name(context, name));
}

static void push_value(void *context, struct value value, struct buffer *out)
{
    add_placeholder(out, ':', compose_value(context, value));
}

size_t compose_push(struct composer *composer, const struct expr *condition, struct buffer *out)
{
    struct expr_sink sink = {push_name, push_value, composer};
    return expr_push(condition, &sink, out);
}

static struct str text_at(const struct buffer *buffer, struct text_span span)
{
    return (struct str){buffer->bytes + span.at, span.len};
}

bool compose_name_of(const struct composer *composer, size_t number, struct str *out)
{
    if (number >= composer->name_count || number >= PLACEHOLDERS_MAX) {
        return false;
    }
    *out = text_at(&composer->names, composer->name_at[number]);
    return true;
}

bool compose_value_of(const struct composer *composer, size_t number, struct str *out)
{
    if (number >= composer->value_count || number >= PLACEHOLDERS_MAX) {
        return false;
    }
    *out = text_at(&composer->values, composer->value_at[number]);
    return true;
}

/* ---------------------------------------------------------------- conditions */

void compose_exists(struct composer *composer, const struct key_schema *keys, bool exists)
{
    unsigned name = compose_name(composer, keys->partition[0].name);
    buffer_add(&composer->condition,
               exists ? STR("attribute_exists(") : STR("attribute_not_exists("));
    add_placeholder(&composer->condition, '#', name);
    buffer_add_char(&composer->condition, ')');
    composer->condition_operators++;
}

static bool has_room(const struct composer *composer)
{
    return composer->condition.len + TERM_MAX_BYTES <= EXPRESSION_MAX_BYTES &&
           composer->condition_operators + 2 <= EXPRESSION_MAX_OPERATORS;
}

static bool is_container(struct value value)
{
    return value_type(value) >= VALUE_SS;
}

/* "#3=:4": a term, or an assignment. */
static void add_equal(struct buffer *out, unsigned name, unsigned value)
{
    add_placeholder(out, '#', name);
    buffer_add_char(out, '=');
    add_placeholder(out, ':', value);
}

/* One more term: the attribute is `value`, or is not there. */
static void add_term(struct composer *composer, unsigned name, struct value value)
{
    struct buffer *out = &composer->condition;
    buffer_add(out, STR(" AND "));
    if (value_is_missing(value)) {
        buffer_add(out, STR("attribute_not_exists("));
        add_placeholder(out, '#', name);
        buffer_add_char(out, ')');
    } else {
        add_equal(out, name, compose_value(composer, value));
    }
    composer->condition_operators += 2;
}

static bool is_key(const struct key_schema *keys, struct str name)
{
    return str_equal(keys->partition[0].name, name) ||
           (keys->sort_count > 0 && str_equal(keys->sort[0].name, name));
}

/* Attributes of `before` that are the same in `after`. */
static void add_unchanged(struct composer *composer, const struct key_schema *keys,
                          struct value before, struct value after, bool loose)
{
    struct value_iter iter = value_members(before);
    struct attribute at;
    while (has_room(composer) && value_next(&iter, &at)) {
        if (!is_key(keys, at.name) && !(loose && is_container(at.value)) &&
            value_equal(at.value, value_member(after, at.name))) {
            add_term(composer, compose_name(composer, at.name), at.value);
        }
    }
}

static struct str known_name(const struct composer *composer, size_t i)
{
    const struct known_name *known = &composer->known[i];
    return (struct str){(const char *)composer->known_bytes.bytes + known->at, known->len};
}

static bool is_known(const struct composer *composer, struct str name)
{
    for (size_t i = 0; i < composer->known_count; i++) {
        if (str_equal(known_name(composer, i), name)) {
            return true;
        }
    }
    return false;
}

void compose_know(struct composer *composer, struct value item)
{
    if (value_is_missing(item)) {
        return;
    }
    struct value_iter iter = value_members(item);
    struct attribute at;
    while (composer->known_count < KNOWN_MAX && value_next(&iter, &at)) {
        if (!is_known(composer, at.name)) {
            composer->known[composer->known_count++] =
                (struct known_name){composer->known_bytes.len, at.name.len};
            buffer_add(&composer->known_bytes, at.name);
        }
    }
}

static void add_absent(struct composer *composer, struct value before)
{
    for (size_t i = 0; i < composer->known_count && has_room(composer); i++) {
        struct str name = known_name(composer, i);
        if (value_is_missing(value_member(before, name))) {
            add_term(composer, compose_name(composer, name), (struct value){NULL, 0});
        }
    }
}

void compose_unchanged(struct composer *composer, const struct key_schema *keys,
                       struct value before, bool loose)
{
    compose_exists(composer, keys, true);
    add_unchanged(composer, keys, before, before, loose);
    add_absent(composer, before);
}

/* ---------------------------------------------------------------- changes */

static void add_action(struct composer *composer, unsigned name, struct value value)
{
    struct buffer *out = value_is_missing(value) ? &composer->remove : &composer->set;
    buffer_add(out, out->len == 0 ? STR("") : STR(","));
    if (value_is_missing(value)) {
        add_placeholder(out, '#', name);
    } else {
        add_equal(out, name, compose_value(composer, value));
    }
}

struct difference {
    struct str name;
    struct value before;
    struct value after;
};

static bool add_difference(struct composer *composer, const struct difference *difference,
                           bool loose)
{
    if (!has_room(composer)) {
        return false;
    }
    unsigned name = compose_name(composer, difference->name);
    if (!(loose && is_container(difference->before))) {
        add_term(composer, name, difference->before);
    }
    add_action(composer, name, difference->after);
    return composer->set.len + composer->remove.len + TERM_MAX_BYTES <= EXPRESSION_MAX_BYTES;
}

static bool add_differences(struct composer *composer, const struct change *change)
{
    struct attribute at;
    for (struct value_iter iter = value_members(change->after); value_next(&iter, &at);) {
        struct difference found = {at.name, value_member(change->before, at.name), at.value};
        if (!value_equal(found.before, found.after) &&
            !add_difference(composer, &found, change->loose)) {
            return false;
        }
    }
    for (struct value_iter iter = value_members(change->before); value_next(&iter, &at);) {
        struct difference found = {at.name, at.value, value_member(change->after, at.name)};
        if (value_is_missing(found.after) && !add_difference(composer, &found, change->loose)) {
            return false;
        }
    }
    return true;
}

/* What it was made from and does not change; the key is what the item stands under. False where it
 * does not fit. */
static bool add_basis(struct composer *composer, const struct key_schema *keys,
                      const struct change *change)
{
    for (size_t i = 0; i < change->basis.count; i++) {
        struct str name = change->basis.names[i];
        struct value before = value_member(change->before, name);
        if (is_key(keys, name) || (change->loose && is_container(before)) ||
            !value_equal(before, value_member(change->after, name))) {
            continue;
        }
        if (!has_room(composer)) {
            return false;
        }
        add_term(composer, compose_name(composer, name), before);
    }
    return true;
}

bool compose_change(struct composer *composer, const struct key_schema *keys,
                    const struct change *change)
{
    compose_exists(composer, keys, true);
    if (change->basis.condition != NULL) {
        buffer_add(&composer->condition, STR(" AND "));
        composer->condition_operators +=
            1 + (unsigned)compose_push(composer, change->basis.condition, &composer->condition);
    }
    if (!add_differences(composer, change)) {
        return false;
    }
    if (change->basis.names != NULL) {
        return add_basis(composer, keys, change);
    }
    add_unchanged(composer, keys, change->before, change->after, change->loose);
    return true;
}

void compose_addition_of(struct composer *composer, const struct key_schema *keys,
                         struct value added)
{
    compose_exists(composer, keys, true);
    struct value_iter iter = value_members(added);
    struct attribute at;
    while (value_next(&iter, &at)) {
        unsigned name = compose_name(composer, at.name);
        unsigned value = compose_value(composer, at.value);
        buffer_format(&composer->set, "%s#%u=if_not_exists(#%u,:%u)",
                      composer->set.len == 0 ? "" : ",", name, name, value);
    }
}

/* ---------------------------------------------------------------- the end */

static void add_object(struct composer *composer, const char *name, struct str members)
{
    if (members.len > 0) {
        add_name(composer, name);
        buffer_add_char(&composer->body, '{');
        buffer_add(&composer->body, members);
        buffer_add_char(&composer->body, '}');
    }
}

void compose_expressions(struct composer *composer)
{
    struct buffer *body = &composer->body;
    if (composer->condition.len > 0) {
        compose_text(composer, "ConditionExpression", buffer_str(&composer->condition));
    }
    if (composer->set.len > 0 || composer->remove.len > 0) {
        add_name(composer, "UpdateExpression");
        buffer_add_char(body, '"');
        buffer_add(body, composer->set.len > 0 ? STR("SET ") : STR(""));
        buffer_add(body, buffer_str(&composer->set));
        buffer_add(body, composer->remove.len > 0 ? STR(" REMOVE ") : STR(""));
        buffer_add(body, buffer_str(&composer->remove));
        buffer_add_char(body, '"');
    }
    add_object(composer, "ExpressionAttributeNames", buffer_str(&composer->names));
    add_object(composer, "ExpressionAttributeValues", buffer_str(&composer->values));
}

struct str compose_end(struct composer *composer, struct arena *arena)
{
    buffer_add_char(&composer->body, '}');
    return arena_copy(arena, buffer_str(&composer->body));
}

#include "migrate/run/dry_run_sample.h"

#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "engine/item/item_json.h"

/* A value in text is cut to so many bytes: the line is for eyes. */
enum { VALUE_SHOWN_BYTES = 100 };

/* An attribute that differs; missing on one side where it is new or goes. */
struct difference {
    struct str name;
    struct value before, after;
};

/* Two items side by side, both sorted by name. */
struct walk {
    struct value_iter before, after;
    struct attribute left, right;
    bool has_left, has_right;
};

static struct walk walk_open(struct value before, struct value after)
{
    struct walk walk = {.before = value_members(before), .after = value_members(after)};
    walk.has_left = value_next(&walk.before, &walk.left);
    walk.has_right = value_next(&walk.after, &walk.right);
    return walk;
}

static bool walk_step(struct walk *walk, struct difference *out)
{
    if (!walk->has_left && !walk->has_right) {
        return false;
    }
    int order = walk->has_left ? -1 : 1;
    if (walk->has_left && walk->has_right) {
        order = str_compare(walk->left.name, walk->right.name);
    }
    *out = (struct difference){.name = order <= 0 ? walk->left.name : walk->right.name};
    if (order <= 0) {
        out->before = walk->left.value;
        walk->has_left = value_next(&walk->before, &walk->left);
    }
    if (order >= 0) {
        out->after = walk->right.value;
        walk->has_right = value_next(&walk->after, &walk->right);
    }
    return true;
}

static bool next_difference(struct walk *walk, struct difference *out)
{
    while (walk_step(walk, out)) {
        if (!value_equal(out->before, out->after)) {
            return true;
        }
    }
    return false;
}

/* What stands in the item's place afterwards; missing if it is deleted. */
static struct value result_of(const struct runner_effect *effect, const struct stored_item *item)
{
    struct value none = {NULL, 0};
    switch (effect->result.fate) {
    case PASS_UPDATE:
    case PASS_MOVE:
        return effect->result.item;
    case PASS_DELETE:
        return none;
    case PASS_UNCHANGED:
    case PASS_FAILED:
        break;
    }
    return item->item;
}

/* ---------------------------------------------------------------- for people */

static void add_line(struct buffer *out, char sign, struct str name, struct value v)
{
    if (value_is_missing(v)) {
        return;
    }
    struct buffer text = {0};
    item_json_write_value(v, &text);
    struct str shown = buffer_str(&text);
    bool cut = shown.len > VALUE_SHOWN_BYTES;
    if (cut) {
        shown.len = utf8_valid_prefix((struct str){shown.ptr, VALUE_SHOWN_BYTES});
    }
    buffer_format(out, "      %c %.*s %.*s%s\n", sign, STR_ARG(name), STR_ARG(shown),
                  cut ? "..." : "");
    buffer_free(&text);
}

static void add_lines(struct buffer *out, struct value before, struct value after)
{
    struct walk walk = walk_open(before, after);
    struct difference difference;
    while (next_difference(&walk, &difference)) {
        add_line(out, '-', difference.name, difference.before);
        add_line(out, '+', difference.name, difference.after);
    }
}

static void write_text(const struct key_schema *keys, const struct runner_effect *effect,
                       const struct stored_item *item, struct arena *arena, struct buffer *out)
{
    struct key key;
    struct error err = {0};
    struct str name = STR("an item without a key");
    if (key_of_item(keys, item->item, &key, &err)) {
        name = key_print(keys, &key, arena);
    }
    bool deleted = effect->result.fate == PASS_DELETE;
    buffer_format(out, "    %.*s%s\n", STR_ARG(name), deleted ? " is deleted" : "");
    if (!deleted) {
        add_lines(out, item->item, result_of(effect, item));
    }
    for (size_t i = 0; i < effect->result.put_count; i++) {
        const struct pass_put *put = &effect->result.puts[i];
        struct str target = key_print(keys, &put->key, arena);
        buffer_format(out, "      puts %.*s\n", STR_ARG(target));
        add_lines(out, key_item(keys, &put->key, arena), put->item);
    }
}

/* ---------------------------------------------------------------- for programs */

static void add_side(struct buffer *out, const char *name, struct value before, struct value after,
                     bool want_after)
{
    buffer_format(out, ",\"%s\":{", name);
    struct walk walk = walk_open(before, after);
    struct difference difference;
    bool first = true;
    while (next_difference(&walk, &difference)) {
        struct value v = want_after ? difference.after : difference.before;
        if (!value_is_missing(v)) {
            buffer_add(out, first ? STR("") : STR(","));
            json_write_string(out, difference.name);
            buffer_add_char(out, ':');
            item_json_write_value(v, out);
            first = false;
        }
    }
    buffer_add_char(out, '}');
}

static void write_json(const struct key_schema *keys, const struct runner_effect *effect,
                       const struct stored_item *item, struct arena *arena, struct buffer *out)
{
    struct key key;
    struct error err = {0};
    struct value after = result_of(effect, item);
    buffer_add(out, STR("{\"key\":"));
    if (key_of_item(keys, item->item, &key, &err)) {
        item_json_write_item(key_item(keys, &key, arena), out);
    } else {
        buffer_add(out, STR("null"));
    }
    add_side(out, "before", item->item, after, false);
    add_side(out, "after", item->item, after, true);
    buffer_add(out, STR(",\"puts\":["));
    for (size_t i = 0; i < effect->result.put_count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(","));
        item_json_write_item(effect->result.puts[i].item, out);
    }
    buffer_add(out, STR("]}"));
}

struct str dry_run_sample(const struct key_schema *keys, const struct runner_effect *effect,
                          const struct stored_item *item, bool json, struct arena *arena)
{
    struct buffer out = {0};
    if (json) {
        write_json(keys, effect, item, arena, &out);
    } else {
        write_text(keys, effect, item, arena, &out);
    }
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

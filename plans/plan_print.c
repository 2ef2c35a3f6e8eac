#include "plans/step_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* Members of a canonical object are sorted by name. */
struct pair {
    struct str name;
    struct str value; /* as JSON */
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *left = a;
    const struct pair *right = b;
    return str_compare(left->name, right->name);
}

static int compare_texts(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static void print_pairs(struct pair *pairs, size_t count, struct buffer *out)
{
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    buffer_add_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(","));
        json_write_string(out, pairs[i].name);
        buffer_add_char(out, ':');
        buffer_add(out, pairs[i].value);
    }
    buffer_add_char(out, '}');
}

static void print_texts(const struct str *texts, size_t count, struct buffer *out)
{
    buffer_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(","));
        json_write_string(out, texts[i]);
    }
    buffer_add_char(out, ']');
}

/* As bytes: names may hold NULs. */
static struct str join(struct str a, struct str b, struct arena *arena)
{
    struct buffer out = {0};
    buffer_add(&out, a);
    buffer_add(&out, b);
    struct str joined = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return joined;
}

static struct str quote(struct str text, struct arena *arena)
{
    struct buffer out = {0};
    json_write_string(&out, text);
    struct str quoted = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return quoted;
}

static void print_assignments(const struct assignments *assignments, struct arena *arena,
                              struct buffer *out)
{
    struct pair *pairs = arena_alloc(arena, assignments->count * sizeof *pairs);
    for (size_t i = 0; i < assignments->count; i++) {
        const struct assignment *assignment = &assignments->list[i];
        pairs[i] = (struct pair){path_print(assignment->path, arena),
                                 template_print(assignment->template, arena)};
    }
    print_pairs(pairs, assignments->count, out);
}

static void print_lookups(const struct step *step, struct arena *arena, struct buffer *out)
{
    struct pair *pairs = arena_alloc(arena, step->lookup_count * sizeof *pairs);
    for (size_t i = 0; i < step->lookup_count; i++) {
        struct buffer key = {0};
        print_assignments(&step->lookups[i].key, arena, &key);
        pairs[i] = (struct pair){step->lookups[i].alias, arena_copy(arena, buffer_str(&key))};
        buffer_free(&key);
    }
    print_pairs(pairs, step->lookup_count, out);
}

static void print_renamings(const struct step *step, struct arena *arena, struct buffer *out)
{
    struct pair *pairs = arena_alloc(arena, step->renaming_count * sizeof *pairs);
    for (size_t i = 0; i < step->renaming_count; i++) {
        pairs[i] = (struct pair){path_print(step->renamings[i].from, arena),
                                 quote(path_print(step->renamings[i].to, arena), arena)};
    }
    print_pairs(pairs, step->renaming_count, out);
}

static void print_removals(const struct step *step, struct arena *arena, struct buffer *out)
{
    struct str *texts = arena_alloc(arena, step->removal_count * sizeof *texts);
    for (size_t i = 0; i < step->removal_count; i++) {
        texts[i] = path_print(step->removals[i].path, arena);
    }
    qsort(texts, step->removal_count, sizeof *texts, compare_texts);
    print_texts(texts, step->removal_count, out);
}

static void print_collision(const struct step *step, struct arena *arena, struct buffer *out)
{
    static const char *const words[] = {[COLLISION_FAIL] = "fail",
                                        [COLLISION_SKIP] = "skip",
                                        [COLLISION_OVERWRITE] = "overwrite",
                                        [COLLISION_KEEP_NEWER] = "keep_newer: "};
    const char *word = words[step->collision];
    json_write_string(out, join((struct str){word, strlen(word)}, step->newer, arena));
}

/* The name of a member that is there, after a comma if it is not the first. */
static bool open_member(bool there, const char *name, struct buffer *out)
{
    if (there) {
        bool first = out->bytes[out->len - 1] == '{';
        buffer_format(out, "%s\"%s\":", first ? "" : ",", name);
    }
    return there;
}

void step_print(const struct step *step, struct arena *arena, struct buffer *out)
{
    buffer_add_char(out, '{');
    if (open_member(step->deletes, "delete", out)) {
        buffer_add(out, STR("true"));
    }
    if (open_member(step->lookup_count > 0, "lookup", out)) {
        print_lookups(step, arena, out);
    }
    if (open_member(step->collision != COLLISION_FAIL, "on_collision", out)) {
        print_collision(step, arena, out);
    }
    if (open_member(step->put.count > 0, "put", out)) {
        print_assignments(&step->put, arena, out);
    }
    if (open_member(step->rekey.count > 0, "rekey", out)) {
        print_assignments(&step->rekey, arena, out);
    }
    if (open_member(step->removal_count > 0, "remove", out)) {
        print_removals(step, arena, out);
    }
    if (open_member(step->renaming_count > 0, "rename", out)) {
        print_renamings(step, arena, out);
    }
    if (open_member(step->set.count > 0, "set", out)) {
        print_assignments(&step->set, arena, out);
    }
    if (open_member(step->where != NULL, "where", out)) {
        json_write_string(out, expr_print(step->where, arena));
    }
    buffer_add_char(out, '}');
}

static void print_keys(const struct key_attribute *keys, size_t count, struct arena *arena,
                       struct buffer *out)
{
    struct str texts[KEY_PARTS_MAX];
    for (size_t i = 0; i < count; i++) {
        struct str type = arena_format(arena, ":%s", value_type_name(keys[i].type));
        texts[i] = join(keys[i].name, type, arena);
    }
    print_texts(texts, count, out);
}

static void print_projection(const struct index_desc *index, struct arena *arena,
                             struct buffer *out)
{
    if (index->projection != PROJECT_INCLUDE) {
        buffer_add(out, index->projection == PROJECT_ALL ? STR("\"ALL\"") : STR("\"KEYS_ONLY\""));
        return;
    }
    struct str *names = arena_alloc(arena, index->include_count * sizeof *names);
    memcpy(names, index->include, index->include_count * sizeof *names);
    qsort(names, index->include_count, sizeof *names, compare_texts);
    buffer_add(out, STR("{\"include\":"));
    print_texts(names, index->include_count, out);
    buffer_add_char(out, '}');
}

void index_print(const struct stage *stage, struct arena *arena, struct buffer *out)
{
    const struct index_desc *index = &stage->index;
    buffer_add(out, STR("{\"create_index\":{"));
    if (index->read_units > 0) {
        buffer_format(out, "\"capacity\":{\"read\":%" PRIu64 ",\"write\":%" PRIu64 "},",
                      index->read_units, index->write_units);
    }
    buffer_add(out, STR("\"name\":"));
    json_write_string(out, index->name);
    buffer_add(out, stage->leave_out ? STR(",\"on_violation\":\"leave_out\"") : STR(""));
    buffer_add(out, STR(",\"partition\":"));
    print_keys(index->keys.partition, index->keys.partition_count, arena, out);
    buffer_add(out, STR(",\"projection\":"));
    print_projection(index, arena, out);
    buffer_add(out, STR(",\"sort\":"));
    print_keys(index->keys.sort, index->keys.sort_count, arena, out);
    buffer_add(out, STR("}}"));
}

#include "engine/item/path.h"

#include "engine/base/buffer.h"

struct value path_value(struct path path, struct value item)
{
    struct value v = item;
    for (size_t i = 0; i < path.count && !value_is_missing(v); i++) {
        const struct path_step *step = &path.steps[i];
        v = step->is_place ? value_element(v, step->place) : value_member(v, step->name);
    }
    return v;
}

static bool same_step(const struct path_step *a, const struct path_step *b)
{
    if (a->is_place != b->is_place) {
        return false;
    }
    return a->is_place ? a->place == b->place : str_equal(a->name, b->name);
}

/* How many steps they share from the start. */
static size_t common_steps(struct path a, struct path b)
{
    size_t count = 0;
    while (count < a.count && count < b.count && same_step(&a.steps[count], &b.steps[count])) {
        count++;
    }
    return count;
}

bool path_overlaps(struct path a, struct path b)
{
    size_t common = common_steps(a, b);
    return common == a.count || common == b.count;
}

bool path_conflicts(struct path a, struct path b)
{
    size_t common = common_steps(a, b);
    return common < a.count && common < b.count &&
           a.steps[common].is_place != b.steps[common].is_place;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* [A-Za-z_][A-Za-z0-9_]* */
static bool is_plain_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        bool digit = name.ptr[i] >= '0' && name.ptr[i] <= '9';
        if (!is_letter(name.ptr[i]) && !(digit && i > 0)) {
            return false;
        }
    }
    return name.len > 0;
}

static bool is_keyword(struct str name)
{
    static const struct str keywords[] = {STR_INIT("and"), STR_INIT("between"), STR_INIT("false"),
                                          STR_INIT("in"),  STR_INIT("not"),     STR_INIT("null"),
                                          STR_INIT("or"),  STR_INIT("true")};
    char lower[8];
    if (name.len >= sizeof lower) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        lower[i] = (char)(name.ptr[i] | 0x20);
    }
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (str_equal((struct str){lower, name.len}, keywords[i])) {
            return true;
        }
    }
    return false;
}

static void print_name(struct str name, struct buffer *out)
{
    if (is_plain_name(name) && !is_keyword(name)) {
        buffer_add(out, name);
        return;
    }
    buffer_add_quoted(out, name, '"');
}

struct str path_print(struct path path, struct arena *arena)
{
    struct buffer out = {0};
    for (size_t i = 0; i < path.count; i++) {
        if (path.steps[i].is_place) {
            buffer_format(&out, "[%zu]", path.steps[i].place);
            continue;
        }
        if (i > 0) {
            buffer_add_char(&out, '.');
        }
        print_name(path.steps[i].name, &out);
    }
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

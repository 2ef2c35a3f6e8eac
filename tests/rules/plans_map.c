#include "tests/rules/plans_map.h"

#include "engine/base/str.h"

#include <string.h>

struct str map_text(const char *text, struct arena *arena)
{
    size_t len = strlen(text);
    char *copy = arena_bytes(arena, len + 1);
    for (size_t i = 0; i <= len; i++) {
        copy[i] = (char)(text[i] == '`' ? '"' : text[i]);
    }
    return (struct str){copy, len};
}

bool map_of(const char *text, struct arena *arena, const struct map **out, struct error *err)
{
    return map_parse(map_text(text, arena), "m.json", arena, out, err);
}

static const struct str people[] = {STR_INIT("id"),       STR_INIT("name"),
                                    STR_INIT("email"),    STR_INIT("country_id"),
                                    STR_INIT("odd name"), STR_INIT("words")};
static const bool people_unlisted[] = {false, false, false, false, false, true};
static const struct str countries[] = {STR_INIT("id"), STR_INIT("name")};
static const struct str orders[] = {STR_INIT("id"), STR_INIT("person_id"), STR_INIT("total")};

static bool describe(void *context, const struct map_from *from, struct map_relation *out,
                     struct error *err)
{
    static const struct map_relation relations[] = {
        {STR_INIT("people"), people, 6, people_unlisted, NULL},
        {STR_INIT("countries"), countries, 2, NULL, NULL},
        {STR_INIT("orders"), orders, 3, NULL, NULL},
    };
    (void)context;
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        if (str_equal(relations[i].name, from->table)) {
            *out = relations[i];
            out->name = from->as.len > 0 ? from->as : out->name;
            return true;
        }
    }
    return error_set(err, ERROR_PLAN, "there is no table \"%.*s\"", STR_ARG(from->table));
}

bool map_bound(const struct map *map, struct arena *arena, const struct map_binding **out,
               struct error *err)
{
    static const struct index_desc index = {
        .name = STR_INIT("GSI1"),
        .keys = {.partition = {{STR_INIT("GSI1PK"), VALUE_S}},
                 .partition_count = 1,
                 .sort = {{STR_INIT("GSI1SK"), VALUE_N}},
                 .sort_count = 1},
    };
    static const struct table_desc table = {
        .keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                 .partition_count = 1,
                 .sort = {{STR_INIT("SK"), VALUE_S}},
                 .sort_count = 1},
        .indexes = &index,
        .index_count = 1,
    };
    struct map_bind_options options = {map, &table, describe, NULL};
    return map_bind(&options, arena, out, err);
}

/* A fault of the file is a plan error that begins with its name; what was refused is no map. */
static bool is_refusal(const struct error *err)
{
    return err->code == ERROR_PLAN && strncmp(err->text, "m.json:", 7) == 0;
}

static bool take_or_refuse(struct str text)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct map *map = NULL;
    const struct map_binding *binding = NULL;
    bool holds = true;
    if (!map_parse(text, "m.json", arena, &map, &err) || !map_bound(map, arena, &binding, &err)) {
        holds = is_refusal(&err);
    } else {
        holds = binding->entity_count == map->entity_count && map->entity_count > 0;
    }
    arena_free(arena);
    return holds;
}

bool rule_map_takes_or_refuses_any_bytes(struct draw *draw)
{
    return take_or_refuse((struct str){(const char *)draw->next, draw->left});
}

static const char whole[] =
    "{`table`: {`partition`: `PK:S`, `sort`: `SK:S`, `indexes`: [{`name`: `GSI1`, `partition`: "
    "`GSI1PK:S`, `sort`: `GSI1SK:N`}]}, `entities`: [{`name`: `Person`, `from`: `people`, `where`: "
    "`true`, `when`: `id > 1`, `join`: {`c`: {`from`: `countries`, `on`: `c.id = "
    "people.country_id`}}, `key`: {`PK`: `P#${id}`, `SK`: `A`}, `set`: {`GSI1PK`: {`value`: "
    "`${c.name}`, `when`: `id < 5`}, `GSI1SK`: `${id}`}, `columns`: {`Name`: `name`}, `policy`: "
    "{`email`: `text`}, `embed`: {`Orders`: {`from`: `orders`, `on`: `orders.person_id = "
    "people.id`, "
    "`order`: `id`, `limit`: 3, `empty`: `omit`, `as`: `scalar`, `columns`: [`total`]}}}, {`from`: "
    "{`query`: `SELECT 1`, `as`: `q`}, `items`: [{`key`: {`PK`: `a`, `SK`: `b`}}]}]}";

bool rule_map_says_where_it_is_broken(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct str text = map_text(whole, arena);
    size_t from = draw_below(draw, (uint32_t)text.len);
    size_t len = draw_below(draw, (uint32_t)(text.len - from) + 1);
    bool twice = draw_below(draw, 2) == 1;
    char *broken = arena_bytes(arena, 2 * text.len + 1);
    size_t kept = twice ? from + len : from;
    size_t again = twice ? from : from + len;
    memcpy(broken, text.ptr, kept);
    memcpy(broken + kept, text.ptr + again, text.len - again);
    bool holds = take_or_refuse((struct str){broken, kept + text.len - again});
    arena_free(arena);
    return holds;
}

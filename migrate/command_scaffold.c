#include "engine/base/buffer.h"
#include "importers/postgres/pg_schema.h"
#include "importers/postgres/pg_source.h"
#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "plans/scaffold.h"

#include <stdio.h>

static const struct option options[] = {
    {"from", "SOURCE", "the database: postgresql://..."},
    {"schema", "NAME[,NAME...]", "these schemas (default: all but PostgreSQL's own)"},
};

static bool read_options(const struct invocation *invocation, struct pg_schema_options *out,
                         struct error *err)
{
    *out = (struct pg_schema_options){.conninfo = invocation_text(invocation, "from"),
                                      .schemas = invocation_text(invocation, "schema"),
                                      .stop = invocation->stop};
    if (out->conninfo == NULL) {
        return error_set(err, ERROR_USAGE, "--from is needed: postgresql://...");
    }
    return pg_source_is(out->conninfo) ||
           error_set(err, ERROR_USAGE, "--from: expected a database, postgresql://...");
}

static void print(const struct invocation *invocation, const struct scaffold *scaffold)
{
    struct buffer text = {0};
    scaffold_print(scaffold, &text);
    (void)fwrite(text.bytes, 1, text.len, invocation->out);
    buffer_free(&text);
    struct arena *arena = invocation->arena;
    struct str made = report_counted(arena, scaffold->order_count, "entity", "entities");
    size_t left_out = scaffold->schema->table_count - scaffold->order_count;
    struct str others = report_counted(arena, left_out, "table or view", "tables and views");
    (void)fprintf(invocation->messages, "%.*s", STR_ARG(made));
    if (left_out > 0) {
        (void)fprintf(invocation->messages, "; %.*s left out, as the map's head says",
                      STR_ARG(others));
    }
    (void)fputc('\n', invocation->messages);
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct pg_schema_options wanted;
    struct schema schema;
    struct scaffold scaffold;
    if (!read_options(invocation, &wanted, err) ||
        !pg_schema_read(&wanted, invocation->arena, &schema, err) ||
        !scaffold_make(&schema, invocation->arena, &scaffold, err)) {
        return false;
    }
    print(invocation, &scaffold);
    return true;
}

const struct command command_scaffold = {
    .name = "scaffold",
    .synopsis = "--from SOURCE [--schema NAME[,NAME...]]",
    .summary = "Write a first map of a database, from its keys and foreign keys.",
    .details =
        "  refold scaffold --from postgresql:///shop > map.json\n"
        "\n"
        "The map imports as it is: each table with a primary key, or a unique key of NOT NULL\n"
        "columns, is an entity with all its columns, and no two rows share a key. A row whose key\n"
        "holds another's, or that refers to it by NOT NULL and ON DELETE CASCADE, is in the\n"
        "other's item collection; one more reference is listed in the index GSI1. Comments in the\n"
        "map say why, what is left out, and what could be embedded. Change it to how the data is\n"
        "read. Of the database, only the catalogue is read.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .needs_no_config = true,
    .run = run,
};

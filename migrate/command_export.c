#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "engine/store/store.h"
#include "migrate/cli/output_file.h"
#include "migrate/cli/report.h"
#include "migrate/cli/target.h"
#include "migrate/commands.h"
#include "migrate/table_session.h"
#include "migrate/table_walk.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

static const struct option options[] = {
    {"to", "FILE|-", "the file to write, or - for standard output"},
};

/* Lines are gathered to blocks of this size. */
enum { BLOCK_BYTES = 1 << 20 };

struct export
{
    struct output_file *file;
    struct buffer lines;
    uint64_t count; /* of items written */
};

static bool write_lines(struct buffer *lines, struct output_file *file, struct error *err)
{
    bool ok = output_file_write(file, buffer_str(lines), err);
    lines->len = 0;
    return ok;
}

static bool write_page(void *context, const struct page *page, struct error *err)
{
    struct export *export = context;
    struct buffer *lines = &export->lines;
    for (size_t i = 0; i < page->count; i++) {
        buffer_add(lines, STR("{\"Item\":"));
        item_json_write_item(page->items[i].item, lines);
        buffer_add(lines, STR("}\n"));
        if (lines->len >= BLOCK_BYTES && !write_lines(lines, export->file, err)) {
            return false;
        }
    }
    export->count += page->count;
    return true;
}

static void print_result(struct invocation *invocation, const char *path, uint64_t count)
{
    if (strcmp(path, "-") == 0) {
        return;
    }
    if (invocation->json) {
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "file", path);
        (void)cJSON_AddNumberToObject(object, "items", (double)count);
        report_json(invocation, object);
    } else {
        (void)fprintf(invocation->out, "%.*s exported to %s\n",
                      STR_ARG(report_counted(invocation->arena, count, "item", "items")), path);
    }
}

static bool export_table(struct invocation *invocation, struct store *store,
                         struct store_reader *reader, struct error *err)
{
    const char *path = invocation_text(invocation, "to");
    struct table_desc table;
    struct export export = {.count = 0};
    if (!store_describe(store, invocation->arena, &table, err) ||
        !output_file_open(path, invocation->out, invocation->arena, &export.file, err)) {
        return false;
    }
    struct table_walk walk = {.invocation = invocation,
                              .reader = reader,
                              .table = &table,
                              .phase = "export",
                              .page = write_page,
                              .context = &export};
    bool ok = table_walk(&walk, err) && write_lines(&export.lines, export.file, err) &&
              output_file_keep(export.file, err);
    buffer_free(&export.lines);
    output_file_close(export.file);
    if (ok) {
        print_result(invocation, path, export.count);
    }
    return ok;
}

static bool run(struct invocation *invocation, struct error *err)
{
    if (invocation_text(invocation, "to") == NULL) {
        return error_set(err, ERROR_USAGE, "--to FILE.jsonl is missing\nhint: --to - prints");
    }
    return target_spare(invocation->table, invocation_text(invocation, "to"), err) &&
           table_session_read(invocation, export_table, err);
}

const struct command command_export = {
    .name = "export",
    .synopsis = "TABLE --to FILE.jsonl",
    .summary = "Write all items as JSON lines, as DynamoDB's own exports have them.",
    .details =
        "Each line is {\"Item\": {DynamoDB JSON}}; refold import reads them back. The file\n"
        "appears when it is complete. An embedded table is written in the order of its keys and\n"
        "as of one moment, whatever is written to it meanwhile. From a server's table, items that\n"
        "change meanwhile come as they are met, and one that moves may be missed or come twice.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .takes_table = true,
    .run = run,
};

#include "engine/base/utf8.h"
#include "migrate/cli/files.h"
#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "plans/plan.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const struct option options[] = {
    {"plans", "DIR", "the folder of plans (default plans)"},
};

/* Room for "NNNN_" and ".json" below the 255 bytes of a file name. */
enum { SLUG_MAX_BYTES = 200 };

static const char skeleton[] =
    "{\n"
    "  \"description\": \"%s\",\n"
    "  /* Neighbouring item steps run in one pass over the table, in order. For example:\n"
    "\n"
    "     { \"create_index\": { \"name\": \"GSI1\", \"partition\": \"GSI1PK:S\", \"sort\": "
    "\"GSI1SK:S\" } },\n"
    "     { \"name\": \"orders by status\",\n"
    "       \"where\": \"begins_with(SK, 'ORDER#') AND attribute_not_exists(GSI1PK)\",\n"
    "       \"set\": { \"GSI1PK\": \"STATUS#${Status}\", \"GSI1SK\": \"${OrderDate}\" } },\n"
    "     { \"where\": \"begins_with(PK, 'cemail#')\",\n"
    "       \"rekey\": { \"PK\": \"CUSTOMER#${CustomerId}\", \"SK\": \"PROFILE\" } }\n"
    "\n"
    "     refold check tells whether the plan is right, refold apply --dry-run what it would do. "
    "*/\n"
    "  \"steps\": [\n"
    "  ]\n"
    "}\n";

/* The character in a file name; anything but letters and digits is '_'. */
static char slug_character(char c)
{
    int lower = tolower((unsigned char)c);
    bool is_kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    return (char)(is_kept ? lower : '_');
}

/* "Open orders!" becomes "open_orders": letters, digits and single underscores between them. */
static bool make_slug(const char *text, char slug[SLUG_MAX_BYTES + 1], struct error *err)
{
    size_t len = 0;
    bool gap = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (len + 1 >= SLUG_MAX_BYTES) {
            return error_set(err, ERROR_USAGE, "the name is over %d bytes", SLUG_MAX_BYTES);
        }
        char next = slug_character(*c);
        if (next != '_' && gap && len > 0) {
            slug[len] = '_';
            len++;
        }
        gap = next == '_';
        if (!gap) {
            slug[len] = next;
            len++;
        }
    }
    slug[len] = '\0';
    return len > 0 || error_set(err, ERROR_USAGE, "'%s' has no letter or digit", text);
}

/* One more than the greatest version in the folder; names that are no plan's are passed over. */
static bool next_version(const struct invocation *invocation, uint32_t *out, struct error *err)
{
    struct file_names names;
    if (!folder_list(invocation->plans_dir, ".json", invocation->arena, &names, err)) {
        return false;
    }
    uint32_t greatest = 0;
    for (size_t i = 0; i < names.count; i++) {
        uint32_t version = 0;
        struct str name;
        struct error ignored = {0};
        if (plan_file_name(names.list[i].ptr, &version, &name, &ignored) && version > greatest) {
            greatest = version;
        }
    }
    if (greatest == UINT32_MAX) {
        return error_set(err, ERROR_USAGE, "%s: no version is left", invocation->plans_dir);
    }
    *out = greatest + 1;
    return true;
}

/* Quotes and backslashes of the description escaped, control characters as blanks. */
static const char *description_of(const char *text, struct arena *arena)
{
    char *out = arena_bytes(arena, 2 * strlen(text) + 1);
    size_t len = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            out[len] = '\\';
            len++;
        }
        out[len] = *c;
        if (iscntrl((unsigned char)*c) != 0) {
            out[len] = ' ';
        }
        len++;
    }
    out[len] = '\0';
    return out;
}

static bool write_skeleton(const char *path, const char *description, struct error *err)
{
    FILE *file = fopen(path, "wxb");
    if (file == NULL) {
        return error_set(err, ERROR_STORE, "cannot write %s: %s", path, strerror(errno));
    }
    bool ok = fprintf(file, skeleton, description) > 0;
    ok = fclose(file) == 0 && ok;
    return ok || error_set(err, ERROR_STORE, "cannot write %s: %s", path, strerror(errno));
}

static bool run(struct invocation *invocation, struct error *err)
{
    const char *text = invocation->operands[0];
    char slug[SLUG_MAX_BYTES + 1];
    uint32_t version = 0;
    if (!utf8_is_valid((struct str){text, strlen(text)})) {
        return error_set(err, ERROR_USAGE, "the name is not UTF-8");
    }
    if (!make_slug(text, slug, err)) {
        return false;
    }
    if (mkdir(invocation->plans_dir, 0777) != 0 && errno != EEXIST) {
        return error_set(err, ERROR_STORE, "cannot make the folder %s: %s", invocation->plans_dir,
                         strerror(errno));
    }
    if (!next_version(invocation, &version, err)) {
        return false;
    }
    const char *path = arena_format(invocation->arena, "%s/%04" PRIu32 "_%s.json",
                                    invocation->plans_dir, version, slug)
                           .ptr;
    if (!write_skeleton(path, description_of(text, invocation->arena), err)) {
        return false;
    }
    if (invocation->json) {
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "file", path);
        report_json(invocation, object);
    } else {
        (void)fprintf(invocation->out, "%s\n", path);
    }
    return true;
}

const struct command command_new = {
    .name = "new",
    .synopsis = "\"what it does\" [--plans DIR]",
    .summary = "Begin a plan: the next version, with an example to start from.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};

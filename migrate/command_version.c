#include "migrate/cli/report.h"
#include "migrate/commands.h"

#include <cjson/cJSON.h>

static bool run(struct invocation *invocation, struct error *err)
{
    (void)err;
    if (invocation->json) {
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "version", REFOLD_VERSION);
        report_json(invocation, object);
    } else {
        (void)fprintf(invocation->out, "refold %s\n", REFOLD_VERSION);
    }
    return true;
}

const struct command command_version = {
    .name = "version",
    .synopsis = "",
    .summary = "Print the program's version.",
    .needs_no_config = true,
    .run = run,
};

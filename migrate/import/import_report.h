/* import_report — what an import has done, or would do. */
#ifndef MIGRATE_IMPORT_IMPORT_REPORT_H
#define MIGRATE_IMPORT_IMPORT_REPORT_H

#include "engine/store/store.h"
#include "importers/source.h"
#include "migrate/cli/command.h"
#include "migrate/import/import_counts.h"
#include "migrate/import/import_load.h"

#include <stdbool.h>
#include <stdint.h>

struct import_summary {
    const struct source *source;
    const struct table_desc *table;
    const struct import_counts *counts;
    struct import_written written;
    uint64_t rejected;
    uint64_t milliseconds;
    bool dry_run;
};

/* Prints the result, as text or JSON. */
void import_report(struct invocation *invocation, const struct import_summary *summary);

#endif

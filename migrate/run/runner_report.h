/* runner_report — what runs did, for people; programs get the ledger records as JSON. */
#ifndef MIGRATE_RUN_RUNNER_REPORT_H
#define MIGRATE_RUN_RUNNER_REPORT_H

#include "migrate/cli/command.h"
#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_counts.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/plan_folder.h"

#include <stddef.h>

/* "0003 open_orders" */
struct str runner_report_name(uint32_t version, struct str name, struct arena *arena);

/* A line that says why there is nothing to apply.
 *   plans  all of the folder: --to may leave some for later */
void runner_report_nothing(struct invocation *invocation, const struct ledger *ledger,
                           const struct plan_list *plans);

/* A line that says what became of the plan, its steps as a table, and examples of item errors. */
void runner_report_record(struct invocation *invocation, const struct ledger_record *record);

/* The parts of it: a table of counts, indented; nothing where there are no steps. Examples, and how
 * many there are more. What was deleted by others meanwhile; nothing where nothing was. Steps that
 * matched no item in this attempt or one before. */
void runner_report_steps(struct invocation *invocation, const struct ledger_step *steps,
                         size_t count);
void runner_report_faults(struct invocation *invocation, const struct fault_list *faults,
                          uint64_t total);
void runner_report_gone_items(struct invocation *invocation, const struct ledger_record *record);
void runner_report_unmatched(struct invocation *invocation, const struct ledger_step *steps,
                             size_t count);

/* "120 read, 60 write"; empty where nothing was used. And a line of it. */
struct str runner_report_capacity(const struct store_usage *used, struct arena *arena);
void runner_report_used(struct invocation *invocation, const struct store_usage *used);

/* Item errors of all steps; and items that were gone. */
uint64_t runner_report_failed(const struct ledger_step *steps, size_t count);
uint64_t runner_report_gone(const struct ledger_step *steps, size_t count);

#endif

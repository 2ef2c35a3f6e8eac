/* plan_folder — the plans of a folder in order of their versions, and which of them are to run. */
#ifndef MIGRATE_RUN_PLAN_FOLDER_H
#define MIGRATE_RUN_PLAN_FOLDER_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "migrate/cli/files.h"
#include "migrate/ledger/ledger.h"
#include "plans/plan.h"

#include <stddef.h>
#include <stdint.h>

/* A plan is written by hand; what is larger is no plan. */
enum { PLAN_FILE_MAX_BYTES = 4 * 1024 * 1024 };

/* What to do where there are no plans. */
#define PLAN_FOLDER_HINT "--plans DIR says where plans are; 'refold new' begins one"

/* Plans by ascending version, each version once. */
struct plan_list {
    const struct plan **plans;
    size_t count;
};

/* The names of files in DIR that end in .json, sorted; those that begin with a dot are passed over.
 * ERROR_USAGE: the folder cannot be read. */
MUST_CHECK bool plan_folder_names(const char *dir, struct arena *arena, struct file_names *out,
                                  struct error *err);

/* Reads and parses DIR/NNNN_name.json; names that begin with a dot are passed over.
 * ERROR_USAGE: the folder or a file cannot be read. ERROR_PLAN: a wrong plan or file name, or two
 * files of one version. */
MUST_CHECK bool plan_folder_read(const char *dir, struct arena *arena, struct plan_list *out,
                                 struct error *err);

/* False where there is no such folder: a ledger can be read without. */
bool plan_folder_exists(const char *dir);

/* The plan of a version, or NULL. */
const struct plan *plan_list_find(const struct plan_list *list, uint32_t version);

/* Whether apply can run the plans against what the ledger says.
 *   to  the last version wanted; 0: all
 * ERROR_PLAN: an applied plan was changed since; a new plan's version is below an applied one; the
 * file of a plan that is under way is gone. ERROR_USAGE: `to` is no plan's version, or below what
 * is applied already. ERROR_STORE: a rollback is under way. */
MUST_CHECK bool plan_list_check(const struct plan_list *list, const struct ledger *ledger,
                                uint32_t to, struct error *err);

/* What plan_list_check() asks of each plan: the first two errors. */
MUST_CHECK bool plan_list_check_one(const struct plan *plan, const struct ledger *ledger,
                                    struct error *err);

/* The plans that apply has to run, oldest first: those under way, failed or new, up to `to`. */
struct plan_list plan_list_pending(const struct plan_list *list, const struct ledger *ledger,
                                   uint32_t to, struct arena *arena);

#endif

#include "engine/store/dynamodb/ddb_internal.h"

/* In units a second; 0: no limit. */
static bool resolve(const struct ddb_store *store, const struct store_limit *limit,
                    uint64_t provisioned, double *out, struct error *err)
{
    static const double whole = 100;
    if (limit->is_percent && provisioned == 0) {
        return error_set(err, ERROR_USAGE,
                         "%.*s is on demand: nothing is provisioned that %g%% could be a share of\n"
                         "hint: give a number of capacity units a second",
                         STR_ARG(store->target.table), limit->units);
    }
    *out = limit->is_percent ? limit->units * (double)provisioned / whole : limit->units;
    return true;
}

bool ddb_set_limits(struct store *base, const struct store_limits *limits, struct error *err)
{
    const struct ddb_store *store = ddb_of(base);
    const struct store_limits *usual = &store->target.limits;
    const struct store_limit *read_limit = limits->read.units > 0 ? &limits->read : &usual->read;
    const struct store_limit *write_limit =
        limits->write.units > 0 ? &limits->write : &usual->write;
    double read = 0;
    double write = 0;
    if (!resolve(store, read_limit, store->read_units, &read, err) ||
        !resolve(store, write_limit, store->write_units, &write, err)) {
        return false;
    }
    ddb_account_set_limits(store->account, read, write);
    return true;
}

void ddb_usage(struct store *base, struct store_usage *out)
{
    struct ddb_stats stats;
    ddb_account_stats(ddb_of(base)->account, &stats);
    *out = (struct store_usage){stats.read_units, stats.write_units};
}

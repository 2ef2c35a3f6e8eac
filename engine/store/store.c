#include "engine/store/store.h"

#include <assert.h>

bool effects_have_applied(const struct effect *effects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (effects[i].outcome != OUTCOME_APPLIED) {
            return false;
        }
    }
    return true;
}

void store_close(struct store *store)
{
    if (store != NULL) {
        store->ops->close(store);
    }
}

bool store_describe(struct store *store, struct arena *arena, struct table_desc *out,
                    struct error *err)
{
    return store->ops->describe(store, arena, out, err);
}

bool store_reader_open(struct store *store, struct store_reader **out, struct error *err)
{
    return store->ops->reader_open(store, out, err);
}

void store_reader_close(struct store_reader *reader)
{
    if (reader != NULL) {
        reader->store->ops->reader_close(reader);
    }
}

bool store_read_page(struct store_reader *reader, const struct page_place *from, struct page *out,
                     struct error *err)
{
    assert(from->segment.index < from->segment.total);
    return reader->store->ops->read_page(reader, from, out, err);
}

bool store_query(struct store_reader *reader, const struct query *query, struct page *out,
                 struct error *err)
{
    return reader->store->ops->query(reader, query, out, err);
}

void store_release(struct store_reader *reader)
{
    reader->store->ops->release(reader);
}

bool store_get(struct store_reader *reader, struct key_list keys, struct arena *arena,
               struct stored_item *out, struct error *err)
{
    return reader->store->ops->get(reader, keys, arena, out, err);
}

bool store_expect(struct store_reader *reader, struct key_list keys, struct error *err)
{
    return keys.count == 0 || reader->store->ops->expect(reader, keys, err);
}

bool store_commit(struct store *store, struct batch *batch, struct error *err)
{
    return store->ops->commit(store, batch, err);
}

bool store_flush(struct store *store, struct error *err)
{
    return store->ops->flush(store, err);
}

bool store_index_create(struct store *store, const struct index_desc *index, struct error *err)
{
    return store->ops->index_create(store, index, err);
}

bool store_index_finish(struct store *store, struct str name, struct error *err)
{
    return store->ops->index_finish(store, name, err);
}

bool store_index_drop(struct store *store, struct str name, struct error *err)
{
    return store->ops->index_drop(store, name, err);
}

bool store_control_get(struct store_reader *reader, struct str name, struct arena *arena,
                       struct str *out, struct error *err)
{
    return reader->store->ops->control_get(reader, name, arena, out, err);
}

bool store_control_list(struct store_reader *reader, struct str prefix, struct arena *arena,
                        struct control_list *out, struct error *err)
{
    return reader->store->ops->control_list(reader, prefix, arena, out, err);
}

bool store_undo_last(struct store_reader *reader, struct undo_place place, struct arena *arena,
                     struct undo_frame *out, struct error *err)
{
    return reader->store->ops->undo_last(reader, place, arena, out, err);
}

bool store_undo_drop(struct store *store, uint64_t log, struct error *err)
{
    return store->ops->undo_drop(store, log, err);
}

bool store_lease_take(struct store *store, const char *owner, struct error *err)
{
    return store->ops->lease_take(store, owner, err);
}

bool store_lease_owner(struct store *store, struct arena *arena, struct str *owner,
                       struct error *err)
{
    return store->ops->lease_owner(store, arena, owner, err);
}

void store_lease_release(struct store *store)
{
    store->ops->lease_release(store);
}

bool store_lease_join(struct store *store, const char *owner, struct arena *arena,
                      struct str *leader, struct error *err)
{
    *leader = (struct str){NULL, 0};
    return store->ops->shares ? store->ops->lease_join(store, owner, arena, leader, err)
                              : store->ops->lease_take(store, owner, err);
}

struct str store_self(const struct store *store)
{
    return store->ops->shares ? store->ops->self(store) : STR("");
}

bool store_members(struct store_reader *reader, struct arena *arena, struct run_members *out,
                   struct error *err)
{
    *out = (struct run_members){NULL, 0};
    return !reader->store->ops->shares || reader->store->ops->members(reader, arena, out, err);
}

bool store_control_try(struct store_reader *reader, const struct control *controls, size_t count,
                       bool *written, struct error *err)
{
    return reader->store->ops->control_try(reader, controls, count, written, err);
}

void store_order_key(const struct store *store, const struct key *key, struct buffer *out)
{
    store->ops->order_key(store, key, out);
}

bool store_load_open(struct store *store, uint64_t pass, struct error *err)
{
    return store->ops->load_open(store, pass, err);
}

bool store_load_item(struct store *store, const struct key *key, struct value item,
                     struct error *err)
{
    return store->ops->load_item(store, key, item, err);
}

bool store_load_close(struct store *store, struct error *err)
{
    return store->ops->load_close(store, err);
}

bool store_load_abort(struct store *store, struct error *err)
{
    return store->ops->load_abort(store, err);
}

bool store_set_limits(struct store *store, const struct store_limits *limits, struct error *err)
{
    if (store->ops->set_limits != NULL) {
        return store->ops->set_limits(store, limits, err);
    }
    return (limits->read.units == 0 && limits->write.units == 0) ||
           error_set(err, ERROR_USAGE,
                     "max-rcu and max-wcu are for tables on a server: this one has no capacity");
}

void store_usage(struct store *store, struct store_usage *out)
{
    *out = (struct store_usage){.read_units = 0};
    if (store->ops->usage != NULL) {
        store->ops->usage(store, out);
    }
}

bool store_verify(struct store *store, void (*finding)(void *context, const char *text),
                  void *context, struct error *err)
{
    return store->ops->verify(store, finding, context, err);
}

/* ddb_flight — one effect on its way to the server: its writes one after the other, each under the
 * condition that its item stands as it was read; and what a failed condition turns out to mean. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_FLIGHT_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_FLIGHT_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/dynamodb/client/ddb_client.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct ddb_store;

/* One write as it is sent. */
struct step {
    enum write_kind kind;
    bool overwrite;
    bool of_move;          /* DELETE: the second half of a move without transactions; its first half
                              is the step before it */
    bool done;             /* by this commit */
    bool unsure;           /* an attempt may have taken effect unseen */
    struct key key;        /* UPDATE, DELETE, MOVE */
    struct key target;     /* PUT, MOVE */
    struct value before;   /* what must stand under `key` */
    struct basis basis;    /* UPDATE: of `before`, besides what changes */
    struct value standing; /* what must stand under `target`; missing: nothing */
    struct value item;
    struct str undo;          /* its record (engine/undo), */
    struct str undo_standing; /* and before it that of `standing` */
};

enum phase {
    PHASE_WRITE,
    PHASE_LOOK_TARGET, /* what a failed condition met */
    PHASE_LOOK_SOURCE,
    PHASE_BACK, /* a later write cannot be done: what the earlier ones put is taken away again */
    PHASE_LOOK_BACK,
    PHASE_ADD, /* what somebody added to an item while it was moved goes after it */
    PHASE_DONE
};

struct flight {
    struct effect *effect;
    struct arena *arena; /* of refusals */
    struct step *steps;
    size_t count;
    size_t at;
    enum phase phase;
    bool wrote; /* at least one step changed something */
    bool told;  /* of the last condition that failed, that it met what it asks for, or nothing */
    bool loose; /* the server compares sets by their order: they are left out of the condition */
    bool alone; /* a statement among others did not do: the step gets a request of its own */
    unsigned tries;
    struct value
        found; /* under the target, when the source is looked at too; what is to be added */
};

/* The steps of an effect, in `scratch`; an effect that cannot be done has its outcome at once. */
void flight_begin(struct ddb_store *store, struct effect *effect, struct arena *arena,
                  struct arena *scratch, struct flight *out);

/* The step is the first half of a move without transactions. */
bool flight_is_half(const struct flight *flight, size_t at);

/* Its next write puts an item where none stands. */
bool flight_is_insert(const struct flight *flight);

/* The step has written, or may have unseen: a rollback needs its records. */
bool flight_has_written(const struct flight *flight, size_t at);

/* The next request; none where the flight is done. */
void flight_compose(struct ddb_store *store, struct flight *flight, struct arena *scratch,
                    struct ddb_request *out);

/* Adds the next request to store->statements; false: it goes by itself. */
bool flight_state(struct ddb_store *store, const struct flight *flight, double *units);

/* Takes the reply. Returns false only for what ends the commit. */
MUST_CHECK bool flight_answer(struct ddb_store *store, struct flight *flight,
                              const struct ddb_request *request, struct arena *scratch,
                              struct error *err);

/* Turns to what the flight put last and takes it back, unless somebody has changed it. */
void flight_take_back(struct flight *flight);

/* The item's own write takes it away after other writes of the flight. A crash leaves nothing that
 * tells whether it did so or somebody else. */
bool flight_is_to_delete(const struct flight *flight);

/* Brings all to their ends, many at a time: nothing waits for the reply to another's request. */
MUST_CHECK bool flights_run(struct ddb_store *store, struct flight *flights, size_t count,
                            struct arena *arena, struct error *err);

/* Within ddb_flight*: the effect is decided; why it conflicts. */
void flight_end(struct flight *flight, enum outcome outcome);
void flight_say_conflict(const struct ddb_store *store, struct flight *flight,
                         const struct key *key);

/* ERROR_ITEM, ERROR_LIMIT: what DynamoDB refuses of an item; index keys that stay as they were in
 * `before` are not looked at. */
MUST_CHECK bool flight_check_item(const struct table_desc *table, struct value before,
                                  struct value item, struct error *err);

#endif

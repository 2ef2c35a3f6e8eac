/* ddb_lease — records of who is at work, each with a heart that beats: "lease", of the one who
 * leads, and "member/<id>" of each who takes part in a run that is shared. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_LEASE_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_LEASE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct ddb_asking;
struct ddb_store;

#define LEASE_NAME    "lease"
#define MEMBER_PREFIX "member/"

/* Who watches a record takes it over after WATCH_MS without a beat; its holder writes nothing any
 * more LIVE_MS after the last beat that was acknowledged. What lies between covers a request's way.
 */
enum { BEAT_MS = 2000, LIVE_MS = 10000, WATCH_MS = 15000, LOOK_MS = 250 };

/* On this host's clock, which goes on while the host sleeps. */
uint64_t lease_now_ms(void);

struct lease_record {
    struct str name;   /* its sort key */
    struct str owner;  /* for messages */
    struct str holder; /* host, boot and process; empty: nobody holds it */
    uint64_t token;    /* greater with each owner */
    uint64_t beat;
};

/* This process, as a holder. */
struct str lease_holder_self(struct arena *arena);

/* True where the holder was a process of this host that runs no more. Of another host nothing can
 * be known, nor of another user's process where such are hidden. */
bool lease_holder_is_dead(struct str holder);

/* The record of that name; all else zero where there is none. */
MUST_CHECK bool lease_record_read(const struct ddb_asking *asking, struct str name,
                                  struct lease_record *out, struct error *err);

/* Writes `wanted` if the record still stands as `standing`. */
MUST_CHECK bool lease_record_take(const struct ddb_asking *asking,
                                  const struct lease_record *standing,
                                  const struct lease_record *wanted, bool *taken,
                                  struct error *err);

/* One more beat; *held is false where the record is another's by now. */
MUST_CHECK bool lease_record_beat(const struct ddb_asking *asking, const struct lease_record *own,
                                  bool *held, struct error *err);

/* Gives it back: of the lease the token stays, a member's record goes. */
MUST_CHECK bool lease_record_free(const struct ddb_asking *asking, const struct lease_record *own,
                                  struct error *err);

/* Deletes it if it still stands with this beat: who held it finds out at the next, and is dead. */
MUST_CHECK bool lease_record_bury(const struct ddb_asking *asking,
                                  const struct lease_record *standing, bool *gone,
                                  struct error *err);

struct member_watch;

/* What this process has seen of the others; NULL where it takes no part. Of one thread at a time.
 */
struct member_watch *lease_watch(const struct ddb_store *store);

/* --- ddb_members.c --- */

/* The beats that were seen of members, and when, by this host's clock. */
struct member_watch *member_watch_new(void);
void member_watch_free(struct member_watch *watch); /* NULL is fine */

/* Whether one of them was seen to beat. */
bool member_watch_beats(const struct member_watch *watch);

/* Looks at all members but this process. Out, in asking's arena: those that are not known to be
 * dead; for one who takes part and does not lead, all. Who leads takes back what the dead have left
 * undone, and deletes their records, so that they are dead to all. */
MUST_CHECK bool members_look(const struct ddb_asking *asking, struct member_watch *watch,
                             struct run_members *out, struct error *err);

/* Whether a holder takes part as a member. */
MUST_CHECK bool members_have(const struct ddb_asking *asking, struct str holder, bool *out,
                             struct error *err);

#endif

#include "migrate/run/probe_kept.h"

#include "engine/base/varint.h"
#include "engine/item/item_json.h"
#include "migrate/ledger/ledger_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Looking up a portion of holders costs about as much as reading so many pages. */
enum { HOLDERS_BYTES = 8 << 20, PORTION_PAGES = 16 };

struct run_list {
    struct sorted_run *list; /* in the arena */
    size_t count;
};

struct probe_kept {
    struct kept_reading *reading;
    struct arena *arena;
    struct arena *scratch; /* of the holder at hand */
    bool with_items;
    bool broken; /* a page was taken half */
    struct sorter *claims;
    bool is_read;               /* the table: what follows is of the second half */
    struct run_list claim_runs; /* as they were saved last */
    struct sorter *holders;
    struct buffer known; /* order of the last target that was looked up */
    struct sorted *before;
    struct str next; /* of `before`, the order of the pair at hand; */
    struct str next_value;
    bool more; /* false: there is none */
};

/* ---------------------------------------------------------------- runs as JSON */

static void add_runs(cJSON *part, const char *name, const struct sorted_run *runs, size_t count)
{
    cJSON *list = cJSON_AddArrayToObject(part, name);
    for (size_t i = 0; i < count; i++) {
        char digest[sizeof "0123456789abcdef"];
        (void)snprintf(digest, sizeof digest, "%016" PRIx64, runs[i].digest);
        cJSON *run = cJSON_CreateObject();
        (void)cJSON_AddNumberToObject(run, "start", (double)runs[i].start);
        (void)cJSON_AddNumberToObject(run, "end", (double)runs[i].end);
        (void)cJSON_AddStringToObject(run, "digest", digest);
        (void)cJSON_AddItemToArray(list, run);
    }
}

static bool read_run(const cJSON *object, struct arena *arena, struct sorted_run *out,
                     struct error *err)
{
    struct str digest;
    if (!ledger_json_number(object, "start", &out->start, err) ||
        !ledger_json_number(object, "end", &out->end, err) ||
        !ledger_json_text(object, "digest", arena, &digest, err)) {
        return false;
    }
    out->digest = strtoull(digest.ptr, NULL, 16);
    return out->start < out->end || error_set(err, ERROR_DAMAGED, "a run is none");
}

/* The runs of a file lie one behind the other. */
static bool read_runs(const cJSON *part, const char *name, struct arena *arena,
                      struct run_list *out, struct error *err)
{
    const cJSON *list = NULL;
    if (!ledger_json_array(part, name, &list, err)) {
        return false;
    }
    size_t most = (size_t)cJSON_GetArraySize(list);
    *out = (struct run_list){arena_zero(arena, (most + 1) * sizeof *out->list), 0};
    uint64_t end = 0;
    const cJSON *run = NULL;
    cJSON_ArrayForEach(run, list) {
        struct sorted_run *read = &out->list[out->count++];
        if (!read_run(run, arena, read, err)) {
            return false;
        }
        if (read->start != end) {
            return error_set(err, ERROR_DAMAGED, "a run is missing");
        }
        end = read->end;
    }
    return true;
}

/* ---------------------------------------------------------------- saving */

static bool note_claim_runs(struct probe_kept *kept, struct error *err)
{
    const struct sorted_run *runs = NULL;
    size_t count = 0;
    if (kept->is_read) {
        return true;
    }
    if (!sorter_keep(kept->claims, &runs, &count, err)) {
        return false;
    }
    struct run_list copy = {heap_resize(kept->claim_runs.list, (count + 1) * sizeof *runs), count};
    if (count > 0) {
        memcpy(copy.list, runs, count * sizeof *runs);
    }
    kept->claim_runs = copy;
    return true;
}

static bool save(struct probe_kept *kept, struct error *err)
{
    const struct sorted_run *holders = NULL;
    size_t holder_count = 0;
    if (!note_claim_runs(kept, err) || !sorter_keep(kept->holders, &holders, &holder_count, err)) {
        return false;
    }
    struct buffer known = {0};
    base64_write(buffer_str(&kept->known), &known);
    cJSON *part = cJSON_CreateObject();
    add_runs(part, "claims", kept->claim_runs.list, kept->claim_runs.count);
    add_runs(part, "holders", holders, holder_count);
    ledger_json_add_text(part, "known", buffer_str(&known));
    buffer_free(&known);
    return kept_reading_save(kept->reading, part, err);
}

void probe_kept_break_off(struct probe_kept *kept)
{
    struct error ignored;
    if (!kept->broken) {
        (void)!save(kept, &ignored);
    }
}

/* ---------------------------------------------------------------- opening */

static bool read_known(struct probe_kept *kept, const cJSON *part, struct error *err)
{
    struct str text, known;
    if (!ledger_json_text(part, "known", kept->arena, &text, err) ||
        !base64_read(text, kept->arena, &known, err)) {
        return false;
    }
    buffer_add(&kept->known, known);
    return true;
}

static bool take_up(struct probe_kept *kept, const cJSON *part, struct error *err)
{
    struct run_list claims, holders;
    const char *claims_path = kept_reading_path(kept->reading, "claims");
    const char *holders_path = kept_reading_path(kept->reading, "holders");
    return read_runs(part, "claims", kept->arena, &claims, err) &&
           read_runs(part, "holders", kept->arena, &holders, err) && read_known(kept, part, err) &&
           sorter_keep_in(kept->claims, claims_path, claims.list, claims.count, err) &&
           sorter_keep_in(kept->holders, holders_path, holders.list, holders.count, err);
}

static void open_sorters(struct probe_kept *kept, const struct sorter_options *options)
{
    struct sorter_options small = *options;
    small.memory_bytes = HOLDERS_BYTES;
    sorter_free(kept->claims);
    sorter_free(kept->holders);
    kept->claims = sorter_new(options);
    kept->holders = sorter_new(&small);
    kept->known.len = 0;
}

static bool begin(struct probe_kept *kept, const char *why, struct error *err)
{
    return kept_reading_begin(kept->reading, why, err) &&
           sorter_keep_in(kept->claims, kept_reading_path(kept->reading, "claims"), NULL, 0, err) &&
           sorter_keep_in(kept->holders, kept_reading_path(kept->reading, "holders"), NULL, 0,
                          err) &&
           save(kept, err);
}

static bool take_up_or_begin(struct probe_kept *kept, const struct sorter_options *options,
                             struct error *err)
{
    const cJSON *part = kept_reading_part(kept->reading);
    struct error why = {ERROR_NONE, ""};
    open_sorters(kept, options);
    if (part != NULL && take_up(kept, part, &why)) {
        kept_reading_say(kept->reading);
        return true;
    }
    if (why.code == ERROR_STOPPED) {
        return error_set(err, ERROR_STOPPED, "stopped");
    }
    open_sorters(kept, options);
    return begin(kept, why.code != ERROR_NONE ? why.text : NULL, err);
}

bool probe_kept_open(struct kept_reading *reading, const struct sorter_options *options,
                     bool with_items, struct probe_kept **out, struct error *err)
{
    struct probe_kept *kept = heap_alloc(sizeof *kept);
    kept->reading = reading;
    kept->arena = arena_new();
    kept->scratch = arena_new();
    kept->with_items = with_items;
    if (!take_up_or_begin(kept, options, err)) {
        probe_kept_close(kept);
        return false;
    }
    *out = kept;
    return true;
}

void probe_kept_close(struct probe_kept *kept)
{
    if (kept == NULL) {
        return;
    }
    probe_kept_holders_close(kept);
    sorter_free(kept->claims);
    sorter_free(kept->holders);
    buffer_free(&kept->known);
    heap_free(kept->claim_runs.list);
    arena_free(kept->scratch);
    arena_free(kept->arena);
    heap_free(kept);
}

/* ---------------------------------------------------------------- the table */

struct sorter *probe_kept_claims(struct probe_kept *kept)
{
    return kept->claims;
}

bool probe_kept_next(struct probe_kept *kept, struct scan_turn *out)
{
    return kept_reading_next(kept->reading, out);
}

uint32_t probe_kept_segments(const struct probe_kept *kept)
{
    return kept_reading_segments(kept->reading);
}

void probe_kept_note(const struct claim_pair *pair, struct buffer *note)
{
    buffer_add_varint(note, pair->key.len);
    buffer_add_varint(note, pair->value.len);
    buffer_add(note, buffer_str(&pair->key));
    buffer_add(note, buffer_str(&pair->value));
}

static size_t take_length(struct str *rest)
{
    uint64_t length = 0;
    size_t read = varint_get((const unsigned char *)rest->ptr, rest->len, &length);
    *rest = (struct str){rest->ptr + read, rest->len - read};
    return (size_t)length;
}

static bool add_note(struct probe_kept *kept, struct str note, struct error *err)
{
    bool ok = true;
    while (ok && note.len > 0) {
        size_t key_len = take_length(&note);
        size_t value_len = take_length(&note);
        struct str key = {note.ptr, key_len};
        struct str value = {note.ptr + key_len, value_len};
        size_t both = key_len + value_len;
        ok = sorter_add(kept->claims, key, value, err);
        note = (struct str){note.ptr + both, note.len - both};
    }
    return ok;
}

bool probe_kept_page(struct probe_kept *kept, const struct scan_page *page, struct error *err)
{
    kept->broken = true;
    for (size_t i = 0; i < page->note_count; i++) {
        if (!add_note(kept, page->notes[i], err)) {
            return false;
        }
    }
    kept_reading_page(kept->reading, page);
    kept->broken = false;
    return !kept_reading_is_due(kept->reading, 1) || save(kept, err);
}

bool probe_kept_turn(struct probe_kept *kept, struct error *err)
{
    if (!save(kept, err)) {
        return false;
    }
    kept->is_read = true;
    return sorter_finish(kept->claims, err);
}

/* ---------------------------------------------------------------- holders */

/* A holder as it is kept: this head, then the item and what the pass makes of it, where rules
 * compare them. */
struct holder_head {
    uint64_t digest;
    uint32_t flags;
    uint32_t item_len;
};
_Static_assert(sizeof(struct holder_head) == 16, "a holder's head has no holes");

enum { HOLDER_UNCHANGED = 1, HOLDER_SETTLED = 2, HOLDER_DONE = 4 };

static bool next_before(struct probe_kept *kept, struct error *err)
{
    return sorted_next(kept->before, &kept->next, &kept->next_value, &kept->more, err);
}

bool probe_kept_holders_open(struct probe_kept *kept, struct error *err)
{
    const struct sorted_run *runs = NULL;
    size_t count = 0;
    return sorter_keep(kept->holders, &runs, &count, err) &&
           sorted_open(&kept->holders, 1, &kept->before, err) && next_before(kept, err);
}

void probe_kept_holders_close(struct probe_kept *kept)
{
    sorted_close(kept->before);
    kept->before = NULL;
}

struct str probe_kept_known(const struct probe_kept *kept)
{
    return buffer_str(&kept->known);
}

static bool read_holder(struct str bytes, struct arena *arena, struct probe_holder *out,
                        struct error *err)
{
    struct holder_head head = {.flags = 0};
    if (bytes.len >= sizeof head) {
        memcpy(&head, bytes.ptr, sizeof head);
    }
    if (bytes.len < sizeof head || head.item_len > bytes.len - sizeof head) {
        return error_set(err, ERROR_DAMAGED, "a sorted run is cut short");
    }
    bytes = arena_copy(arena, (struct str){bytes.ptr + sizeof head, bytes.len - sizeof head});
    const unsigned char *items = (const unsigned char *)bytes.ptr;
    *out = (struct probe_holder){.digest = head.digest,
                                 .unchanged = (head.flags & HOLDER_UNCHANGED) != 0,
                                 .settled = (head.flags & HOLDER_SETTLED) != 0,
                                 .done = (head.flags & HOLDER_DONE) != 0};
    if (bytes.len > 0) {
        out->item = (struct value){items, head.item_len};
        out->after = (struct value){items + head.item_len, bytes.len - head.item_len};
    }
    return true;
}

bool probe_kept_holder(struct probe_kept *kept, struct str order, struct probe_holder *out,
                       bool *held, struct error *err)
{
    arena_reset(kept->scratch);
    while (kept->more && str_compare(kept->next, order) < 0) {
        if (!next_before(kept, err)) {
            return false;
        }
    }
    *held = kept->more && str_equal(kept->next, order);
    return !*held || read_holder(kept->next_value, kept->scratch, out, err);
}

bool probe_kept_tell(struct probe_kept *kept, struct str order, const struct probe_holder *holder,
                     struct error *err)
{
    if (holder != NULL) {
        struct holder_head head = {.digest = holder->digest};
        head.flags = (holder->unchanged ? HOLDER_UNCHANGED : 0) |
                     (holder->settled ? HOLDER_SETTLED : 0) | (holder->done ? HOLDER_DONE : 0);
        struct buffer value = {0};
        if (kept->with_items) {
            head.item_len = (uint32_t)holder->item.len;
        }
        buffer_add(&value, (struct str){(const char *)&head, sizeof head});
        if (kept->with_items) {
            buffer_add(&value, (struct str){(const char *)holder->item.bytes, holder->item.len});
            buffer_add(&value, (struct str){(const char *)holder->after.bytes, holder->after.len});
        }
        bool ok = sorter_add(kept->holders, order, buffer_str(&value), err);
        buffer_free(&value);
        if (!ok) {
            return false;
        }
    }
    kept->known.len = 0;
    buffer_add(&kept->known, order);
    return true;
}

bool probe_kept_rest(struct probe_kept *kept, struct error *err)
{
    return !kept_reading_is_due(kept->reading, PORTION_PAGES) || save(kept, err);
}

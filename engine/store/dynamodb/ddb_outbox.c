#include "engine/store/dynamodb/ddb_outbox_internal.h"

bool outbox_is_full(const struct outbox *outbox)
{
    return outbox->bytes >= OUTBOX_BYTES;
}

struct parcel *outbox_new(struct outbox *outbox)
{
    struct arena *arena = arena_new();
    struct parcel *parcel = arena_zero(arena, sizeof *parcel);
    parcel->arena = arena;
    parcel->after = outbox->open;
    if (outbox->open != NULL) {
        outbox->open->before = parcel;
    }
    outbox->open = parcel;
    return parcel;
}

void outbox_count(struct outbox *outbox, struct parcel *parcel)
{
    parcel->bytes = parcel->request.body.len;
    outbox->bytes += parcel->bytes;
}

void outbox_drop(struct outbox *outbox, struct parcel *parcel)
{
    outbox->bytes -= parcel->bytes;
    if (parcel->after != NULL) {
        parcel->after->before = parcel->before;
    }
    if (parcel->before != NULL) {
        parcel->before->after = parcel->after;
    } else {
        outbox->open = parcel->after;
    }
    arena_free(parcel->arena);
}

void outbox_close(struct outbox *outbox)
{
    while (outbox->open != NULL) {
        outbox_drop(outbox, outbox->open);
    }
}

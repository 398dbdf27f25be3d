#include "server/output/fence.h"
#include "base/id.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

enum { KNOWN_BITS = 12 }; /* 96 KiB: more attempts than print at the same time */

struct fence {
    struct reader *reader; /* borrowed */
    /* Leases that were granted, each where its hash says; a newcomer takes the place. */
    struct lease_name known[1 << KNOWN_BITS];
};

struct fence *fence_new(struct reader *reader)
{
    struct fence *f = MEM_NEW(struct fence);
    f->reader = reader;
    return f;
}

void fence_free(struct fence *f)
{
    free(f);
}

/* Ids differ in their lowest bits and in their milliseconds; the multiplication mixes both. */
static struct lease_name *place_of(struct fence *f, const struct lease_name *name)
{
    uint64_t hash = (name->exec_id ^ name->token << 48) * UINT64_C(0x9e3779b97f4a7c15);
    return &f->known[hash >> (64 - KNOWN_BITS)];
}

static bool is_same(const struct lease_name *a, const struct lease_name *b)
{
    return a->exec_id == b->exec_id && a->token == b->token && a->worker_id == b->worker_id;
}

static enum rc refuse(const struct lease_name *name, enum standing standing, struct err *err)
{
    char exec[ID_TEXT_MAX];
    char worker[ID_TEXT_MAX];
    id_format(exec, ID_EXEC, name->exec_id);
    id_format(worker, ID_WORKER, name->worker_id);
    if (standing == STANDING_NONE)
        return err_set(err, RC_CONFLICT, "%s was never given to %s with the token %" PRIu64, exec,
                       worker, name->token);
    return err_set(err, RC_STALE, "%s no longer has the lease of %s with the token %" PRIu64,
                   worker, exec, name->token);
}

enum rc fence_check(struct fence *f, const struct lease_name *name, enum standing least,
                    struct err *err)
{
    struct lease_name *place = place_of(f, name);
    struct grant grant;
    if (least <= STANDING_PAST && is_same(place, name))
        return RC_OK;
    TRY(f->reader->ops->grant(f->reader, name->exec_id, name->token, &grant, err));
    enum standing standing = grant_standing(&grant, name->worker_id, name->token);
    if (standing != STANDING_NONE)
        *place = *name;
    return standing >= least ? RC_OK : refuse(name, standing, err);
}

#include "server/turn/retired.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/thread.h"
#include "server/call/net.h"

#include <stdlib.h>

struct retired {
    struct retired *next;
    struct engine *engine; /* owned */
    struct thread *thread; /* that frees it; NULL: not yet */
    atomic_bool through;   /* every net thread has had its parcel */
    atomic_size_t left;
    struct retired_parcel {
        struct parcel parcel;
        struct retired *retired;
    } parcels[SERVER_NETS_MAX];
};

static void deliver(struct parcel *parcel)
{
    struct retired *r = CONTAINER_OF(parcel, struct retired_parcel, parcel)->retired;
    if (atomic_fetch_sub(&r->left, 1) == 1)
        atomic_store(&r->through, true); /* the last word: r may be gone now */
}

static void bury(void *arg)
{
    engine_free(arg);
}

/* By a thread when there is one to be had. */
static void end_engine(struct retired *r)
{
    struct err err;
    struct engine *engine = r->engine;
    r->engine = NULL;
    if (thread_start("bury", bury, engine, &r->thread, &err) != RC_OK)
        engine_free(engine);
}

void retired_sweep(struct retired **list)
{
    for (struct retired **at = list; *at != NULL;) {
        struct retired *r = *at;
        if (r->engine == NULL) {
            *at = r->next;
            thread_join(r->thread);
            free(r);
            continue;
        }
        if (atomic_load(&r->through))
            end_engine(r);
        at = &r->next;
    }
}

void retired_add(struct retired **list, struct server *server, struct engine *take_engine)
{
    struct retired *r = MEM_NEW(struct retired);
    size_t count = atomic_load(&server->net_count);
    r->engine = take_engine;
    r->next = *list;
    *list = r;
    atomic_store(&r->left, count);
    atomic_store(&r->through, count == 0);
    for (size_t i = 0; i < count; i++) {
        r->parcels[i] = (struct retired_parcel){.parcel.deliver = deliver, .retired = r};
        net_send(server->nets[i], &r->parcels[i].parcel);
    }
    retired_sweep(list);
}

void retired_free(struct retired *list)
{
    while (list != NULL) {
        struct retired *r = list;
        list = r->next;
        thread_join(r->thread);
        engine_free(r->engine);
        free(r);
    }
}

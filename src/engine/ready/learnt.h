/* learnt.h - what is remembered about the work of a lane or a track, for estimates.
 *
 * How long its runs take, and how much came lately. Lanes and tracks (ready.h) are gone with their
 * last job; what was learnt of them stays for the next one, as far as there is room. Memory only:
 * a server that starts knows nothing yet, and nothing is decided by it. */
#pragma once
#include "base/list.h"
#include "base/map.h"
#include "base/usual.h"
#include "job/spec.h"

/* Below the usual priority, of that, and above. */
enum { RANKED_LOW, RANKED_USUAL, RANKED_HIGH, RANKINGS };

/* Arrivals in a track lately; they fade where they are read (engine/estimate/forecast.c). */
struct arrivals {
    float count;
    float priorities; /* their sum */
};

struct learnt {
    struct usual usual;
    struct arrivals arrivals[RANKINGS]; /* of a track's own */
    int64_t since_ms;                   /* boot clock: when they are counted from */
    uint32_t users;
    struct list_node idle; /* on learnt_all.idle while nobody uses it */
    struct str key;        /* owned, behind the struct */
};

enum { LEARNT_IDLE_MAX = 2048 /* some 600 KB */ };

struct learnt_all {
    struct strmap by_key; /* owned */
    struct list idle;     /* longest first; no more than LEARNT_IDLE_MAX */
    size_t idle_count;
};

void learnt_init(struct learnt_all *all);
void learnt_free(struct learnt_all *all);
/* What is known about the key, made when new. Each join needs one leave. */
struct learnt *learnt_join(struct learnt_all *all, struct str key);
void learnt_leave(struct learnt_all *all, struct learnt *learnt);

/* Something of that priority is ready. */
static inline void learnt_arrival(struct learnt *learnt, int32_t priority)
{
    size_t ranking = priority < SPEC_PRIORITY_DEFAULT    ? RANKED_LOW
                     : priority == SPEC_PRIORITY_DEFAULT ? RANKED_USUAL
                                                         : RANKED_HIGH;
    learnt->arrivals[ranking].count += 1;
    learnt->arrivals[ranking].priorities += (float)priority;
}

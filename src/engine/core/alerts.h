/* alerts.h - what was told lately, so that it is not told again at once. */
#pragma once
#include "base/map.h"
#include "job/breaker.h"
#include "job/record/alert.h"

/* One key that was told. Memory only: a restart may tell a key once more. */
struct alert_mute {
    struct str key;        /* owned, behind the struct */
    int64_t told_ms;       /* boot clock; so long ago that it does not count: never */
    uint64_t repeats;      /* since then */
    uint64_t turn;         /* engine.newest.begun of the newest turn that raised it, … */
    uint64_t turn_repeats; /* … and how often it was hushed in that turn */
};

enum { HUSHES_MAX = 10000 }; /* beyond that all new keys of a kind share one */

struct alerts {
    struct strmap alert_mutes; /* owned */
    int64_t look_ms;           /* boot clock: when to look at queues again; 0: nothing to look at */
    struct breaker_window finals; /* executions that ended, of all queues */
};

void alerts_free(struct alerts *a);

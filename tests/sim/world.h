/* world.h - one simulated day: servers, workers, clients, a network, a store, and two clocks.
 *
 * Everything happens on one thread in the order of an agenda (agenda.h); one seed decides all of
 * it. Two clocks, as machines have: the boot clock only runs and is what the agenda is ordered by;
 * the wall clock is the boot clock plus a skew that faults may step forward and back.
 *
 * A world lives until its faulty phase is over, heals (no more faults, all servers and workers up),
 * and must then finish everything that was ever acknowledged. */
#pragma once
#include "agenda.h"
#include "base/rng.h"
#include "clock_day.h"
#include "cuts.h"
#include "digest.h"
#include "faults.h"
#include "inbox.h"
#include "model.h"
#include "past.h"
#include "server.h"
#include "spells.h"
#include "store.h"
#include "storm.h"
#include "trace.h"
#include "worker.h"

enum { CLUSTER_PARTITIONS = 16 };

/* What a seed chose for its whole day. */
struct scene {
    struct engine_options engine;
    size_t workers;
    size_t steps;      /* of the faulty phase */
    int64_t at_max_ms; /* how far in the future jobs are put */
    int64_t run_max_ms;
    uint32_t fail_permille;    /* attempts that fail */
    uint32_t timeout_permille; /* jobs that have one */
    uint32_t sla_permille;     /* the same */
    uint32_t named_permille;
    uint32_t passing_permille;  /* jobs in queues that come and go */
    uint32_t waiting_permille;  /* jobs that wait for others */
    uint32_t limit_permille;    /* jobs that have one */
    uint32_t calendar_permille; /* jobs that go by one */
    uint32_t deadline_permille; /* jobs that should start by a moment */
    uint32_t once_permille;     /* submissions whose jobs have keys */
    uint32_t unique_permille;   /* of those jobs, the ones that are unique work */
    size_t recurring_max;       /* jobs that recur at the same time */
    bool rolls_back;            /* clients give jobs definitions again that they had */
    bool pauses;                /* clients pause jobs and queues */
    uint32_t client_gap_ms;     /* between two actions of clients, at most */
    int64_t node_lease_ms;      /* in a cluster: so long a server may be silent, … */
    int64_t session_ms;         /* … so long a turn may keep others waiting, … */
    int64_t grace_ms;           /* … and so long leases are kept alive without the store */
    int64_t sql_gap_ms;    /* between two rows that people write by SQL, at most; 0: nobody does */
    bool lags;             /* the database has a standby that falls behind, and takes over */
    int64_t killer_ms;     /* one of the jobs kills whom it meets, within this; 0: none does */
    bool clocks;           /* clocks go wrong on this day, and nothing else does */
    int64_t clock_step_ms; /* then: one that was set is followed after this */
    int64_t storms_ms; /* the faulty phase is one of storms, and takes this long; 0: it is not */
};

struct world {
    uint64_t seed;
    struct rng rng;
    struct arena arena; /* of the whole day */
    struct arena notes; /* the same of the model, which may go back to how it was */
    int64_t boot_ms;
    int64_t skew_ms; /* wall clock = boot clock + skew */
    uint64_t step;
    struct digest digest;
    bool healing; /* no more faults, no more submissions */
    struct scene scene;
    struct agenda agenda;
    struct faults faults;
    struct cuts cuts;
    int64_t hangs_until_ms; /* boot clock: the database answers nobody before */
    struct storm storm;
    struct clock_day clock_day;
    uint64_t killer; /* the execution that kills; 0: it has not shown itself */
    struct trace trace;
    struct list calls; /* every call that exists, wherever it is */
    uint64_t call_no;
    bool cluster;                        /* several servers decide, each about its partitions */
    struct sim_store doors[SERVERS_MAX]; /* in a cluster one per server */
    struct sim_store *door;              /* of the turn under way, or of the last one */
    struct reader *reader;               /* owned */
    struct sim_server servers[SERVERS_MAX];
    size_t server_count;
    struct sim_server *server; /* where messages go, unless they say where */
    struct sim_worker workers[WORKERS_MAX];
    struct model model;
    struct sim_inbox inbox;
    struct sim_past past;
};

#define WORLD_BEGIN_MS INT64_C(1800000000000) /* wall clock when every day begins */

struct day {
    uint64_t seed;
    bool traced;
    bool sqlite;   /* the store behind everything, instead of memory */
    bool cluster;  /* three servers that share a store */
    bool digested; /* the digest is of all that was decided */
};

/* Lives one day; does not return when a promise is broken (trace.h). The digest is the same
 * whenever day and program are. */
uint64_t world_live(const struct day *day);

/* On days of clocks as the server knows it that has looked last. */
struct moment world_now(const struct world *w);

/* Dice. One roll in a full expression: where C leaves the order open, compilers differ, and a seed
 * would mean another day to each. */
static inline uint64_t pick(struct world *w, uint64_t below)
{
    return rng_below(&w->rng, below);
}

static inline int64_t pick_ms(struct world *w, int64_t from_ms, int64_t to_ms)
{
    return from_ms + (int64_t)rng_below(&w->rng, (uint64_t)(to_ms - from_ms + 1));
}

static inline bool chance(struct world *w, uint32_t permille)
{
    return rng_below(&w->rng, 1000) < permille;
}

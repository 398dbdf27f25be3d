/* worker.h - a simulated worker: the conversation of worker/link/poller.c without its sockets.
 *
 * What it holds is kept by the real worker/link/lease_set.c. Two connections, numbered polls, a second
 * poll that replaces a parked one, back-off, killing what could not be renewed, starting over when
 * the server does not know it: all as the real one does, on the boot clock. What it runs is in
 * worker_runs.c.
 *
 * In a cluster it has one registration and a poller per server, and offers its free slots among them
 * (worker/link/credits.h). */
#pragma once
#include "net.h"
#include "worker/link/epochs.h"
#include "worker/link/lease_set.h"

enum { LINKS = 2, RUNS_MAX = 16, POLLERS_MAX = 3 };

#define SIM_RESULT "[true]" /* of every run that succeeds */
#define SIM_ERROR "because" /* why the others did not */

struct sim_run {
    uint64_t exec_id;
    uint64_t job_id;
    uint64_t token; /* 0: no run in this place */
    uint64_t no;    /* of the agenda's entry that ends it */
    int64_t ends_ms;
    enum outcome outcome;
    bool defiant; /* goes on past its timeout */
};

struct sim_link {
    uint64_t call_no; /* 0: idle */
    uint64_t seq;     /* 0: a registration */
    uint32_t free;
    size_t result_count;
    int64_t sent_ms;
    struct partition_set scope; /* what it is about; count 0: everything */
    bool lost;                  /* its answer speaks of turns that are lost */
};

/* The conversation with one server. */
struct sim_poller {
    struct sim_worker *worker;
    struct sim_server *server; /* NULL: whoever serves */
    struct sim_link links[LINKS];
    uint64_t heard;        /* the number of the newest answer, read since the connection was lost */
    uint64_t relay_heard;  /* the same of polls by way of others */
    size_t relays_lost;    /* so often another way had to be tried */
    bool provisional;      /* it may not decide: wants no results and no offers */
    struct sim_link relay; /* a poll by way of another server, while this one cannot be reached */
    bool known;            /* it has answered the newest poll that came to an end */
    bool met;              /* it has known us since we registered */
    bool unknown;          /* its newest answer was that it does not know us */
    unsigned stale;        /* the last so many answers were that a newer poll was there */
    uint64_t seq;          /* of its newest poll; numbers are the worker's */
    uint64_t act_no;
    int64_t retry_ms; /* the last pause after a failure; 0: all is well */
    int64_t paused_until_ms;
    struct partition_set owned; /* by the server, as it said last; count 0: it never did, or all */
    uint32_t backlog;           /* the same */
    uint64_t owned_seq;         /* of the poll whose reply said that */
};

struct sim_worker {
    const char *label;
    bool alive;
    uint64_t life;
    int64_t asleep_until_ms;
    struct hello hello;
    struct str queues[2];
    struct str handlers[2];
    bool registered;
    uint64_t id;
    uint64_t seq;
    struct sim_poller pollers[POLLERS_MAX];
    size_t poller_count;
    struct lease_set lease_set;
    struct epochs epochs;
    uint64_t
        dead_id; /* under which the life before was registered; 0: it is not known to be dead */
    struct sim_run runs[RUNS_MAX];
    uint64_t run_no;
    uint64_t watch_no;
    bool draining;
    int64_t full_ms; /* boot clock: all its slots were in use, or it was not there */
};

/* A new process: nothing held, not registered. While the world heals it serves everything. */
void sim_worker_start(struct world *w, struct sim_worker *k);
void sim_worker_crash(struct world *w, struct sim_worker *k);
/* Stops working for that long, as a stopped process does; its runs go on. */
void sim_worker_sleep(struct world *w, struct sim_worker *k, int64_t for_ms);
bool sim_worker_sleeps(const struct world *w, const struct sim_worker *k);
/* Its pollers see what there is to say, as soon as they may. */
void sim_worker_act(struct world *w, struct sim_worker *k);
/* Closes the connection of its parked poll. */
void sim_worker_hang_up(struct world *w, struct sim_worker *k);
void sim_worker_free(struct sim_worker *k);

/* The network brings a reply, or says that there will be none. The call stays the network's. */
void sim_worker_hear(struct world *w, struct sim_worker *k, const struct call *call);
void sim_worker_miss(struct world *w, struct sim_worker *k, const struct call *call);

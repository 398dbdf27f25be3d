/* gauges.h - numbers of the engine as they are, for metrics.
 *
 * Once a second a server takes them between two turns, so they are of the last commit, and of the
 * partitions that the engine owns: those of all servers add up. What is decided about a queue or a
 * team as a whole is told by the owner of its home alone. */
#pragma once
#include "base/arena.h"
#include "job/breaker.h"
#include "job/state.h"

struct engine;

enum {
    GAUGE_TARGETS_MAX = 1000, /* breakers: those that are not closed come first */
    GAUGE_OVERDUE_MS = 1000,  /* a turn that is so late is no news */
};

struct queue_gauges {
    struct str queue;
    int64_t execs[EXEC_STATES]; /* unfinished */
    int64_t letters;
    int64_t waited_ms; /* by what is first in line */
    uint32_t running;
    bool home;      /* told here: */
    uint32_t limit; /* 0: none */
    uint32_t used;  /* of the limit, by runs of all servers */
    bool paused;
};

struct target_gauges {
    struct str target;
    enum breaker_state state;
};

struct team_gauges {
    struct str team;
    uint32_t running;
    uint32_t limit; /* 0: none, or told elsewhere */
};

/* Limits whose keys are named by jobs, and which are not told apart. */
enum gauge_limit { GAUGE_LIMIT_CONCURRENCY, GAUGE_LIMIT_RATE, GAUGE_LIMIT_TEAM, GAUGE_LIMITS };

struct limit_gauges {
    size_t known; /* keys whose home is ours */
    size_t full;  /* by these some job that names them may not start now */
};

struct gauges {
    struct queue_gauges *queues;
    size_t queue_count;
    struct target_gauges *targets;
    size_t target_count;
    struct team_gauges *teams;
    size_t team_count;
    struct limit_gauges limits[GAUGE_LIMITS];
    size_t workers_idle; /* workers whose ids are ours … */
    size_t workers_busy;
    size_t workers_cordoned;
    size_t workers_draining;
    size_t workers_silent;
    size_t slots;      /* … and what they take at once; of those that take no more, slots_busy */
    size_t slots_busy; /* leases of ours, whoever has them */
    size_t polls_parked;
    size_t overdue; /* executions whose time has come a while ago and was not looked at */
    size_t in_memory;
    size_t mail_waiting;
    size_t mail_unknown;
};

/* Texts are copied into the arena. Between turns; now_ms: wall clock, as nothing may have happened
 * since the newest turn but that time went by. */
void engine_gauges(const struct engine *e, int64_t now_ms, struct arena *arena,
                   struct gauges *ret_gauges);

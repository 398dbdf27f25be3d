/* explain.h - why something does not run, as values.
 *
 * A reason why an execution does not run is a blocker, and an explanation lists every one of them
 * with what would lift it and, where that can be known, when. The engine finds them
 * (engine/explain/explain.c), the wire prints them (wire/message/explain_json.h). A new kind of
 * blocker is a value here, its word in explain.c, and a function in the engine that adds it. */
#pragma once
#include "base/str.h"

enum blocker_kind {
    BLOCKER_NONE = 0,
    BLOCKER_JOB_PAUSED,
    BLOCKER_QUEUE_PAUSED,
    BLOCKER_CALENDAR,
    BLOCKER_SCHEDULED,
    BLOCKER_PING,       /* nothing starts it: it waits for a ping */
    BLOCKER_RETRY,      /* the last attempt failed, the next one has its time */
    BLOCKER_OVERLAP,    /* behind another run of the same job */
    BLOCKER_DEPENDENCY, /* other jobs have to end first; its text names ten of them at most */
    BLOCKER_NO_WORKER,
    BLOCKER_NO_HANDLER,     /* there are workers; none knows the handler … */
    BLOCKER_NO_COMMANDS,    /* … or none runs commands … */
    BLOCKER_QUEUE_UNSERVED, /* … or those that do serve other queues */
    BLOCKER_QUEUE_FULL,
    BLOCKER_TEAM_LIMIT,
    BLOCKER_CONCURRENCY,
    BLOCKER_RATE,
    BLOCKER_PERMIT,    /* asked for with the home of a limit, which is elsewhere */
    BLOCKER_BREAKER,   /* its target keeps failing, and is left alone for a while */
    BLOCKER_PROBATION, /* it may be what took its workers down, and all have another such run */
    BLOCKER_WORKERS_SILENT, /* those that could are not heard … */
    BLOCKER_WORKERS_DRAINING,
    BLOCKER_WORKERS_CORDONED, /* … or are given nothing new until a person lifts that */
    BLOCKER_WORKERS_BUSY,
    BLOCKER_BEHIND,   /* others stand before it in its lane */
    BLOCKER_UNHEARD,  /* it may run on a worker that nobody has heard since its server changed */
    BLOCKER_STOPPING, /* it runs, and has to end before anything else */
    BLOCKER_FINISHED, /* nothing lifts this but running it again */
    BLOCKER_KINDS
};

/* When something that waits is likely to start (engine/estimate/estimate.h). */
struct estimate {
    int64_t at_ms;     /* wall clock; 0: nobody can say, and why: */
    struct str reason; /* the word of a blocker, or "started", "duration_unknown" */
};

enum { BLOCKER_EXECS_MAX = 10 }; /* holders that are named */

struct blocker {
    enum blocker_kind kind;
    struct str text;  /* a sentence: what it is, and what lifts it */
    int64_t until_ms; /* when it lifts by itself; 0: unknown */
    int64_t since_ms; /* 0: not known, or of no matter */
    struct str by;    /* the actor who decided it; empty: none */
    struct str queue; /* what it is about; empty where it is not about one */
    struct str team;
    struct str key; /* of a limit */
    struct str handler;
    struct str calendar;
    int64_t used;      /* of a limit, or of slots … */
    int64_t limit;     /* … and how many there may be; 0: it is not about that */
    int64_t ahead;     /* how many come before it … */
    bool ahead_is_min; /* … at least: not counted further */
    const uint64_t
        *execs; /* its holders, or what it waits for: BLOCKER_EXECS_MAX of them at most */
    size_t exec_count;
};

struct explanation {
    struct str summary;             /* one sentence */
    const struct blocker *blockers; /* what somebody has to lift comes first */
    size_t blocker_count;
    int64_t expires_ms; /* it ends then unless it has started; 0: it does not */
    struct estimate estimate;
};

/* The API's word: "queue_paused". */
struct str blocker_kind_name(enum blocker_kind kind);

/* poll.h - the one conversation between a worker and a server, as values.
 *
 * A worker says how many slots are free, what it holds (which renews those leases and confirms that
 * they started) and what ended; it is told what to run and what to stop. Polls of one worker are
 * numbered. A lease that was granted into a broken connection is simply sent again with the same
 * token when the next poll does not list it, or taken back at no cost when that poll has no slot
 * for it; so a worker may see one lease twice and runs it once (same execution, same token).
 *
 * Where there are several servers a worker is registered once and polls each of them. A poll may
 * name everything that the worker holds: a server renews, stops and answers only what is in its own
 * partitions, passes over the rest, and says which those are. A lease counts as renewed by a server
 * that owns it, a result as told when one gives its verdict. Numbers of polls grow per server.
 * `wire/message/poll_json.h` gives these values their JSON. */
#pragma once
#include "job/failure.h"
#include "job/outcome.h"
#include "job/partition.h"
#include "job/trace/trace.h"

enum {
    POLL_SLOTS_MAX = 10000,
    POLL_HELD_MAX = 20000,
    POLL_RESULT_BYTES_MAX = 256 << 10, /* JSON written to BELFRY_RESULT_FILE */
    POLL_ERROR_BYTES_MAX = 4096,
    POLL_TAIL_BYTES_MAX = FAILURE_TAIL_BYTES_MAX,
    POLL_BACKLOG_MAX = 10000,
    POLL_SERVERS_MAX = 256,
};

struct poll_held {
    uint64_t exec_id;
    uint64_t token;
};

/* More about an outcome than a class of failures can say. */
enum poll_code {
    POLL_CODE_NONE,
    /* The worker cannot make sense of the lease. Reported as permanent, it is the end; a worker
     * that thinks others may know more returns it so, and the server counts these returns as it
     * counts lost leases. */
    POLL_CODE_UNREADABLE,
    /* The process that starts the worker's commands died, and every command with it. Any of them
     * may have killed it; the worker cannot tell. Beside OUTCOME_STOPPED, for all that the worker
     * ran. */
    POLL_CODE_SPAWNER_DIED,
};

struct poll_result {
    uint64_t exec_id;
    uint64_t token;
    enum outcome outcome; /* not OUTCOME_LOST: only the server can say that */
    struct usage usage;
    struct str result;        /* JSON; empty: none */
    struct str error;         /* one sentence; empty when it succeeded */
    enum failure_class class; /* FAILURE_NONE: the server finds out by itself */
    enum permanence permanent;
    int64_t retry_after_ms; /* not before this long from now; 0: whenever the job's rules say */
    struct str tail;        /* the last lines of its error output; may be empty */
    enum poll_code code;
};

struct poll {
    uint64_t worker_id;
    uint64_t seq;    /* 1, 2, 3 …; a repeat of the last one is answered, an older one is stale */
    uint32_t free;   /* slots that could start something now */
    int64_t wait_ms; /* how long to park without work; 0: answer at once */
    const struct poll_held *held;
    size_t held_count;
    const struct poll_result *results;
    size_t result_count;
    /* The number that the newest answer of this very server which had been read when this poll was
     * written has given itself (poll_reply.heard_as); without one, the number of the poll that it
     * answered. 0: none was read, or a worker that does not say. */
    uint64_t heard;
};

/* Numbers that answers give themselves have this bit as their highest: larger than the number of
 * any poll, and exact where numbers are doubles. */
#define POLL_HEARD_AS (UINT64_C(1) << 52)

/* The reply to a poll. */
struct poll_lease {
    uint64_t exec_id;
    uint64_t job_id;
    uint64_t token;
    uint32_t attempt;
    int64_t slot_ms;
    int64_t ttl_ms;            /* counts from when the worker sent the poll */
    struct trace_parent trace; /* for the command; trace.trace 0: it makes one of its own */
    struct str trace_state;    /* empty: none */
    bool own_payload;          /* of the execution, in the place of its job's */
    struct str spec;           /* empty, and payload with it: to be fetched from the store */
    struct str payload;
};

/* A lease of which the worker could read only whose it is. */
struct poll_unread {
    uint64_t exec_id;
    uint64_t token;
    struct str why;
};

struct poll_stop {
    uint64_t exec_id;
    uint64_t token;
    struct str reason; /* "cancelled by key:admin", "the lease was given to another worker" */
};

struct poll_verdict {
    uint64_t exec_id;
    uint64_t token;
    /* The result is in, by this report or by one before whose answer got lost. False: the execution
     * is not (or no longer) this worker's. Either way the worker may forget it. */
    bool accepted;
};

struct poll_reply {
    const struct poll_lease *leases;
    size_t lease_count;
    const struct poll_unread *unread; /* found by the reader of a reply; never sent */
    size_t unread_count;
    const struct poll_stop *stops;
    size_t stop_count;
    const struct poll_verdict *verdicts; /* one per result in the server's partitions, in order */
    size_t verdict_count;
    bool drain; /* take nothing new, finish what runs, then leave */

    /* From a server that may be one of several; empty from one that is alone with its store. */
    struct partition_set owned; /* it decides about these; count 0: everything */
    /* Of each partition that it owns or keeps leases of; 0: it does not speak of that one. NULL:
     * from a server that is alone, or of an older version. A worker believes nothing that is said
     * under a smaller epoch than the largest it has heard. */
    const uint64_t *epochs;
    /* The number of this answer: a worker that has read it repeats it as `heard`. No other process,
     * and no other engine of this one, gives the same. 0: from a server of an older version, or in
     * a provisional reply. */
    uint64_t heard_as;
    /* This server may not decide now, and another may be about to: no stops, leases, verdicts or
     * drain, and `owned` is empty. Only what is named in `kept` is renewed. */
    bool provisional;
    const struct poll_held *kept;
    size_t kept_count;
    uint32_t backlog;          /* ready work that is left and this worker could take, at most
                       * POLL_BACKLOG_MAX; a hint for where to offer free slots */
    struct str server;         /* which of `servers` is speaking; filled in by the server, */
    const struct str *servers; /* as are the addresses of all: http://HOST:PORT */
    size_t server_count;
};

/* Registration. */
struct hello {
    struct str name;
    const struct str *queues; /* none: all */
    size_t queue_count;
    const struct str *handlers;
    size_t handler_count;
    bool runs_commands;
    uint32_t slots;
    struct str
        boot_id; /* of the machine's kernel, /proc/sys/kernel/random/boot_id; empty: not said */
    /* The worker that had this one's lock before and is dead for sure, with all it ran; 0: none. */
    uint64_t replaces;
};

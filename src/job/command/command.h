/* command.h - what can be asked of the engine, and what it answers.
 *
 * A command is filled by whoever asks (a route, a test, the simulator), moves to the turn, and
 * comes back with its reply filled in once the turn is committed. Its arena belongs to the
 * request, so questions and replies live exactly as long as the command. */
#pragma once
#include "base/list.h"
#include "job/explain.h"
#include "job/ping.h"
#include "job/poll.h"
#include "job/record/record.h"
#include "job/spec.h"
#include "job/trace/trace.h"

/* Each has a row in job/command/command_facts.c. */
enum command_kind {
    CMD_SUBMIT = 1,
    CMD_CANCEL_JOB,
    CMD_CANCEL_EXEC,
    CMD_RETRY_EXEC,
    CMD_PAUSE_JOB,
    CMD_RESUME_JOB,
    CMD_TRIGGER_JOB, /* one run now, whatever its schedule says */
    CMD_EDIT_JOB,    /* another definition; RC_STALE when its version is not the one expected */
    CMD_EXTEND_SLA,  /* give what runs of a job more time */
    CMD_EXPLAIN_JOB, /* why it does not run */
    CMD_EXPLAIN_EXEC,
    CMD_REGISTER,
    CMD_POLL,
    CMD_HANGUP,   /* the connection of a parked poll is gone: stop offering it work */
    CMD_DRAIN,    /* ask a worker to finish and leave */
    CMD_WORKERS,  /* list them */
    CMD_QUEUE,    /* pause, resume, limit one */
    CMD_QUEUES,   /* list them */
    CMD_TEAM,     /* limit one */
    CMD_TEAMS,    /* list them */
    CMD_BREAKERS, /* list those that have something to say */
    CMD_RESET_BREAKER,
    CMD_ALERT_SENT,   /* or given up */
    CMD_ALERT_ACK,    /* a person has seen it; a second time, it stays as it was */
    CMD_SILENCE,      /* send no alerts of some keys for a while */
    CMD_LIFT_SILENCE, /* … from now on do */
    CMD_RETRY_LETTER, /* as CMD_RETRY_EXEC, of a dead letter */
    CMD_DISCARD_LETTER,
    CMD_OPERATE, /* one of these with many jobs, executions or dead letters */
    CMD_CANCEL_OPERATION,
    CMD_CALENDAR, /* put or delete one */
    CMD_FENCE,    /* whether a token still owns a run */
    CMD_STATS,
    CMD_WAITS,    /* how many wait for what */
    CMD_WORKER,   /* one of them, with what it runs */
    CMD_CORDON,   /* give it nothing new */
    CMD_UNCORDON, /* … or do so again */
    CMD_PING,     /* a run that took place elsewhere is over */
    COMMAND_KINDS,
};

/* A request that its sender may send again, and that is to be done once
 * (engine/submit/idempotency.c). */
struct once {
    struct str key;  /* with the scope it counts in; empty: it is done as often as it comes */
    struct str hash; /* of what is asked for; the same key with another one is refused */
    struct question *asked;    /* between ask and decide */
    struct question *original; /* the job that was made the first time, when memory has it not */
    bool replayed;             /* answer: nothing was done, the first answer is given again */
};

/* Between ask and decide: the holder of the key of unique work (engine/submit/unique.c). */
struct unique_asked {
    struct question *claim;
    struct question *holder; /* the job that has it, when memory has it not */
};

/* How a slot ahead will fare with its calendars, as they stand. */
struct slot_note {
    int64_t at_ms;
    struct ruling ruling;
};

/* One job to create. */
struct submission {
    struct str name;
    struct str owner;
    struct str team;
    struct str tags;
    struct str spec;    /* canonical JSON */
    struct str payload; /* JSON or empty */
    struct rules rules;
    enum when_kind when;
    int64_t when_ms;
    size_t number; /* in its batch, as who sent it counts: those refused before are missing */
    struct dependency_wish *depends_on;
    size_t depends_count;
    struct once once;
    size_t asked; /* between ask and decide: its first question */
    struct unique_asked unique;
    /* answer */
    enum rc rc; /* RC_OK, or why this one was refused */
    struct err *err;
    uint64_t job_id;
    uint64_t exec_id;
    int64_t created_ms;
    int64_t due_ms;
    struct estimate estimate;      /* if that was asked for, and it was not there already */
    const struct slot_note *notes; /* effects of its calendars on its next slots */
    size_t note_count;
    bool existing; /* unique work that is there already: the ids are its own */
    enum job_state state;
};

/* A lease, from the side of its worker. */
struct worker_run {
    uint64_t exec_id;
    uint64_t job_id;
    struct str job_name; /* empty: it has none */
    struct str queue;
    uint32_t attempt;
    int64_t started_ms;
    int64_t lease_until_ms; /* wall clock; moves on with each poll that names it */
    bool stopping;
};

struct worker_view {
    struct worker_rec worker;
    uint32_t busy;                 /* leases it holds */
    int64_t silent_ms;             /* since its last poll */
    bool parked;                   /* is waiting for work right now */
    const struct worker_run *runs; /* CMD_WORKER: the longest first */
    size_t run_count;
};

/* Changes to a queue; perhaps none, to look at it. RC_NOT_FOUND when the queue is not known
 * and the wish would leave it as every queue is before it is known. */
struct queue_wish {
    struct str name;
    enum { QUEUE_LEAVE, QUEUE_PAUSE, QUEUE_RESUME } run;
    bool set_concurrency;
    uint32_t concurrency; /* 0: no limit */
    bool forget;        /* it is to go, and nothing else counts: RC_CONFLICT while it has unfinished
                           * executions or dead letters */
    int64_t deleted_ms; /* of the engine's own: it went then, and what was decided since stays */
};

/* The same about a team. */
struct team_wish {
    struct str name;
    bool set_concurrency;
    uint32_t concurrency; /* 0: no limit */
};

struct team_view {
    struct team_rec team;
    uint32_t running; /* leases, also of those that are stopping */
};

/* A calendar to put in place, or to delete. RC_INVALID when the document makes no sense; when it is
 * to go: RC_NOT_FOUND, or RC_CONFLICT while a job that is not over goes by it. */
struct calendar_put {
    struct str name;
    bool forget;
    struct str document;
};

/* Alerts whose key fits are not to be sent until a moment, or for a while from now on; one of the
 * two is 0. RC_INVALID: the moment has passed, or is too far ahead. */
struct silence_wish {
    struct str key;
    int64_t until_ms;
    int64_t for_ms;
    struct str reason;
};

struct queue_view {
    struct queue_rec queue;
    uint32_t running;  /* leases, also of those that are stopping */
    int64_t waited_ms; /* by the oldest that is ready; see oldest_in in engine/ready/queues.c */
    int64_t execs[EXEC_STATES]; /* as of the last commit */
};

struct breaker_view {
    struct breaker_rec breaker;
    uint32_t calls; /* that ended lately, … */
    uint32_t failures;
    size_t waiting; /* ready but for this */
};

/* How the limits of a run stand. */
struct sla_view {
    int64_t since_ms;    /* its clock runs since */
    int64_t extended_ms; /* in all */
    int64_t expected_ms; /* from since_ms on, with that; 0: none */
    int64_t max_ms;
};

struct queue_age {
    struct str queue;
    int64_t waited_ms; /* by what is first in line: the oldest, unless priorities differ */
};

struct queue_limit {
    struct str queue;
    uint32_t concurrency;
};

/* Workers that take work from the same queues. */
struct served_slots {
    struct str queues; /* newline-separated; empty: all */
    int64_t slots;     /* of those that take something new */
};

struct stats_view {
    const struct counter *counters; /* by queue and state, as of the last commit */
    size_t counter_count;
    const struct queue_age *ages; /* of queues in which something is ready */
    size_t age_count;
    const struct queue_limit *limits; /* of queues that have one */
    size_t limit_count;
    const struct served_slots *served; /* of all workers: the same at every server */
    size_t served_count;
    uint64_t partitions; /* bit p: all of partition p is in these numbers */
    size_t worker_count;
    size_t slots;
    size_t busy;
    size_t in_memory;       /* executions the engine holds */
    size_t quarantined;     /* executions that make no sense and are left alone */
    size_t mail_waiting;    /* submissions by SQL that wait for room */
    size_t mail_unknown;    /* rows of the inbox that only a newer version knows */
    struct store_cost cost; /* filled in by whoever knows the store, not by the engine */
};

/* How many executions of a queue wait for what. */
struct waits {
    struct str queue;
    int64_t by_kind[BLOCKER_KINDS];
};

/* Which part of a reply a command fills. */
enum reply_kind {
    REPLY_DONE = 1, /* none: that it was done says all; the items of a submission have their own */
    REPLY_RUN,      /* a job, an execution, or both */
    REPLY_WORKER,
    REPLY_POLL,
    REPLY_WORKERS,
    REPLY_QUEUES, /* one or all of them */
    REPLY_TEAMS,
    REPLY_BREAKERS,
    REPLY_OPERATION,
    REPLY_CALENDAR,
    REPLY_ALERT,
    REPLY_SILENCE,
    REPLY_STATS,
    REPLY_WAITS,
};

struct command {
    struct list_node node;
    enum command_kind kind;
    bool own;         /* the engine's, for a step of an operation: no client waits for an answer */
    struct str actor; /* the caller: "key:admin" */
    struct arena *arena; /* borrowed from the request */
    struct str trace;    /* the caller's context (trace_context_read), for what this makes */
    struct once once;    /* trigger, retry; of a submission each item has its own */

    union {
        struct {
            struct submission *items;
            size_t count;
            bool estimate; /* the answer says when each is likely to start */
        } submit;
        struct {
            uint64_t id;       /* job, execution or worker */
            uint64_t seq;      /* CMD_HANGUP: the number of the poll; CMD_FENCE: the token */
            struct str reason; /* may be empty, but for CMD_EXTEND_SLA */
            struct str payload; /* CMD_RETRY_…, CMD_TRIGGER_JOB: instead of what it had; or empty */
            uint64_t exec_id;   /* CMD_EXTEND_SLA: 0: the one that runs */
            int64_t by_ms;      /* … */
            struct str approver;
            const struct ping *ping; /* CMD_PING */
        } target; /* ping, cancel, retry, explain, drain, cordon, hangup, extend, fence, one worker,
                   * ack, lift */
        struct {
            uint64_t id;
            uint32_t version;        /* the one that the new definition was made from */
            bool replan;             /* it says something else about when to run */
            struct str what;         /* for the record: names of what differs */
            struct submission *item; /* what it becomes; its name and dependencies are the job's */
            struct question *met;    /* between ask and decide, the engine's */
        } edit;
        struct queue_wish queue;
        struct {
            struct str target;
        } breaker;
        struct alert_mark alert;
        struct silence_wish silence_wish;
        struct team_wish team;
        struct {
            enum operation_kind kind;
            struct letter_filter filter;
            struct str which; /* operation_filter_text */
            bool by_ids;
            struct str ids; /* as struct operation_rec has them */
            bool counted;
            uint64_t total; /* how many fit, as who asks has counted them */
        } operate;
        struct calendar_put calendar;
        struct hello hello;
        struct poll poll;
    };

    /* Between ask and decide; in the arena. */
    struct question *questions;
    size_t question_count;
    struct unique_asked unique; /* retry */

    struct {
        enum rc rc; /* of the whole command */
        struct err err;
        int64_t at_ms; /* when it was decided */
        union {        /* by reply_kind in the command's facts; filled when it was done */
            struct {
                uint64_t job_id;
                uint64_t exec_id;
                enum job_state job_state;
                enum exec_state exec_state;
                uint32_t version;                      /* of the job, after an edit */
                const struct explanation *explanation; /* CMD_EXPLAIN_… */
                struct sla_view sla;                   /* CMD_EXTEND_SLA */
            };
            uint64_t worker_id;
            struct poll_reply poll;
            struct {
                const struct worker_view *workers;
                size_t worker_count;
            };
            struct {
                const struct queue_view *queues;
                size_t queue_count;
            };
            struct {
                const struct team_view *teams;
                size_t team_count;
            };
            struct {
                const struct breaker_view *breakers;
                size_t breaker_count;
            };
            uint64_t operation_id;
            uint32_t calendar_version;
            struct alert_rec alert;     /* as it is now */
            struct silence_rec silence; /* as it is, or was */
            struct stats_view stats;
            struct {
                const struct waits *waits;
                size_t wait_count;
                bool waits_sampled; /* some were looked at, and stand for the rest */
            };
        };
    } reply;
};

/* An execution that is over, and whose spans are wanted. Told after the commit (engine_ended). */
struct ended_trace {
    struct exec_trace trace;
    const struct exec_change *change;
    struct str job;     /* its name; empty: it has none */
    struct str handler; /* empty: a command */
};

enum queue_event {
    QUEUE_EVENT_NONE,
    QUEUE_PAUSED,
    QUEUE_RESUMED,
    QUEUE_LIMITED, /* or the limit lifted */
    QUEUE_DELETED,
};

/* A change of an execution, a queue or a breaker, for watchers. Published after the commit, in
 * order. Text lives until the next turn begins. */
struct event {
    int64_t at_ms;
    struct str queue;
    enum queue_event queue_event; /* none: it is about an execution */
    struct str breaker;           /* its target, when it is about one */
    enum breaker_state breaker_state;
    struct str actor;        /* of a queue's or breaker's event */
    enum sla_event_kind sla; /* 0: it is not about an SLA */
    enum sla_policy sla_policy;
    bool paused;
    bool sampled;          /* its trace is */
    struct trace_id trace; /* of the execution; 0: it belongs to none */
    uint32_t concurrency;
    uint64_t job_id;
    uint64_t exec_id;
    uint64_t token;
    uint64_t log_seq; /* final attempts: the last log chunk */
    enum exec_event event;
    enum exec_state state; /* after it */
    bool of_ping;          /* it is about one of ORIGIN_PING */
    struct str handler;    /* an attempt ended: of its job; empty: a command */
    union {
        struct {
            int64_t waited_ms; /* EV_LEASE: since it was ready; -1: it had a lease since */
            int64_t lag_ms;    /* EV_LEASE: since it should have run; -1: it had a lease before */
        };
        struct { /* about an SLA */
            int64_t sla_limit_ms;
            int64_t sla_actual_ms;
        };
    };
    int64_t took_ms; /* since the start of the attempt that ended; -1: none did */
};

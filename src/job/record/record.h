/* record.h - what is remembered: the plain data that engine and stores both speak of.
 *
 * Records are rows without a database: values and borrowed text. A `struct delta` is all that one
 * turn changed; a store keeps the whole of it or nothing. What a turn asks a store is in
 * question.h. */
#pragma once
#include "base/arena.h"
#include "job/breaker.h"
#include "job/dependency.h"
#include "job/failure.h"
#include "job/outcome.h"
#include "job/record/alert.h"
#include "job/record/inbox.h"
#include "job/record/letter.h"
#include "job/record/operation.h"
#include "job/record/tally.h"
#include "job/sla.h"
#include "job/time/almanac.h"

struct job_rec {
    uint64_t id;
    uint32_t version; /* of the definition; starts at 1 */
    enum job_state state;
    struct str name; /* empty: unnamed */
    struct str queue;
    struct str owner; /* its submitter */
    struct str team;  /* empty: of none */
    struct str tags;  /* spec_tags_text */
    int32_t priority;
    int64_t created_ms;
    int64_t finished_ms; /* 0: not finished */
    int64_t changed_ms;  /* the newest edit; 0: none */
    uint64_t last_exec;  /* the newest execution */
    struct str spec;     /* canonical JSON without the payload */
    struct str payload;  /* JSON; empty: none */
    struct str trail;    /* read only; see job_change.step */
};

/* Why an execution exists. Kept by number: append only. */
enum origin {
    ORIGIN_ONCE,    /* the only one its job was submitted for */
    ORIGIN_SLOT,    /* a slot of its job's schedule */
    ORIGIN_REQUEST, /* a run was requested of a job that has a schedule */
    ORIGIN_PING,    /* a ping that is to come, or has told of a run elsewhere */
    ORIGINS
};

struct str origin_name(enum origin origin);

struct exec_rec {
    uint64_t id;
    uint64_t job_id;
    enum exec_state state;
    struct str queue; /* copied from the job, as priority is, so that lists need no join */
    int32_t priority;
    uint64_t retry_of; /* the execution that somebody asked to run again; 0: none */
    bool first;        /* made together with its job, as that one's last_exec */
    enum origin origin;
    int64_t slot_ms;      /* the moment that was promised */
    int64_t nominal_ms;   /* ORIGIN_SLOT: by which the slot is known (job/time/schedule.h) */
    int64_t slot_last_ms; /* skipped: the last slot that this record stands for; 0: only the one */
    uint64_t slot_count;  /* skipped: how many those are; 0: only the one */
    int64_t created_ms;
    struct str trace;   /* the trace context of who asked for it (trace_context_text); or empty */
    int64_t due_ms;     /* scheduled, retrying: when it becomes ready; else 0 */
    int64_t ready_ms;   /* queued since (kept while running, for a fair place when it comes back);
                         * scheduled: held by a calendar since, 0 when it is not */
    int64_t started_ms; /* when the newest lease was granted; 0: never */
    int64_t finished_ms;
    uint32_t attempts; /* leases that count against max_retries: ended by a report, or under way */
    uint32_t lost;     /* leases that ended without a word from a confirmed worker */
    uint32_t returned; /* leases that came back without having run, or by a drain: cost nothing */
    uint32_t unseen;   /* inherited leases that ended in silence since an end was last reported */
    bool proven;       /* its newest lease was named for so long that it left its probation */
    bool late;         /* it had not started when it should have, and that was told; or its ping had
                        * not come */
    int64_t sla_since_ms; /* when the clock of its SLA began for the newest attempt; 0: not yet */
    int64_t sla_extra_ms; /* time that was added to its limits */
    uint32_t sla_marks;   /* enum sla_mark */
    uint64_t token;       /* of the newest lease; only grows */
    uint64_t worker_id;   /* of the current lease; 0: none */
    bool effect_done;     /* a lease that had ended reported success, too late to be accepted */
    bool recharged; /* leased, and its job names another breaker since (job/breaker.h); then … */
    struct str charged; /* … the target that its lease is charged to; empty: none */
    bool own_payload;   /* it was asked for (ORIGIN_REQUEST), or run again (retry_of is set), with
                           another payload than its job's */
    struct str payload; /* that one, JSON: in a change that inserts or records it, in the answer to
                           * ASK_EXEC, and for who reads one execution; else empty */
    struct str result;  /* JSON, final only; empty: none */
    struct str error;   /* why the newest attempt that ended failed, or it was skipped; an empty one
                         * in a CHANGE_UPDATE keeps what is there */
    struct str trail;   /* read only; see exec_change.step */
};

/* One per (exec_id, token). A store replaces one that is there: a late success takes the place of
 * the loss that was written down before it came. */
struct attempt_rec {
    uint64_t exec_id;
    uint64_t token;
    uint32_t number; /* 1-based among counted attempts; lost and returned ones keep the number */
    uint64_t worker_id;
    int64_t started_ms;
    int64_t ended_ms;
    enum outcome outcome;
    struct usage usage;
    struct str error;
    enum failure_class class; /* FAILURE_NONE: it did not fail */
    uint64_t fingerprint;     /* failure_fingerprint; 0: it did not fail */
    struct str tail;          /* the last lines of its error output (failure_tail) */
    bool with_exec;           /* in a delta: an exec_change points here */
};

/* Keys that one holder has at a time. Kept by number: append only. */
enum claim_kind {
    CLAIM_NAME = 1, /* a job's name, among unfinished jobs */
    CLAIM_REQUEST,  /* an idempotency key: a request that was answered, for a while; these always
                     * have an end. Its key is a hash of 128 bits, as 32 hexadecimal digits */
    CLAIM_UNIQUE,   /* unique work, while its job is in the states that it names; kept after its
                     * success, it has an end */
    CLAIM_KINDS
};

struct claim {
    enum claim_kind kind;
    struct str key;
    uint64_t holder;  /* an id that nobody else has: usually the job's */
    int64_t until_ms; /* 0: until it is released; else it is free again from then on */
    struct str note;  /* what the holder wants to find again; the store does not look into it */
};

struct worker_rec {
    uint64_t id;
    struct str name;     /* for people: host and pid, or what the worker says */
    struct str queues;   /* newline-separated; empty: all */
    struct str handlers; /* newline-separated names */
    bool runs_commands;
    bool draining;
    uint32_t slots;
    int64_t registered_ms;
    struct str boot_id;  /* of the machine that it was started on; empty: not known */
    uint64_t replaces;   /* the worker that is dead for sure since this one came; 0: none */
    int64_t cordoned_ms; /* it gets no new leases since then; 0: it does */
    struct str cordoned_by;
    struct str cordon_reason; /* may be empty */
};

/* The settings of a queue. A queue without such a record is open and unlimited. */
struct queue_rec {
    struct str name;
    uint32_t concurrency; /* leases at once; 0: no limit */
    bool paused;
    int64_t paused_ms; /* while it is */
    struct str paused_by;
    int64_t changed_ms; /* the newest change of any of this, and whose it was */
    struct str changed_by;
};

/* The settings of a team. A team without such a record is unlimited. */
struct team_rec {
    struct str name;
    uint32_t concurrency; /* leases at once, in all queues; 0: no limit */
    int64_t changed_ms;   /* the newest change, and whose it was */
    struct str changed_by;
};

/* Where a rate stands: no start of this key before next_us (microseconds since 1970). */
struct rate_rec {
    struct str key;
    int64_t next_us;
    int64_t interval_us; /* between two starts, when it was set */
};

/* A target that is left alone for a while (job/breaker.h). One that is closed is not kept. */
struct breaker_rec {
    struct str target;
    enum breaker_state state;
    int64_t opened_ms; /* not closed since */
    int64_t until_ms;  /* when a probe may go, open, or another one, half open; 0: at once */
    uint64_t probe;    /* half open: the newest execution that is tried; 0: one may go */
};

/* One per (dependant, upstream). */
struct dependency_rec {
    uint64_t upstream; /* job ids */
    uint64_t dependant;
    enum dependency_type type;
    enum dependency_state state;
};

/* A calendar by its name. */
struct calendar_rec {
    struct str name;
    uint32_t version; /* starts at 1 */
    enum calendar_policy policy;
    uint32_t entry_count;
    struct str document; /* JSON; wire/message/calendar_json.h */
    int64_t changed_ms;
    struct str changed_by;
};

enum counter_kind {
    COUNTER_JOBS = 1,    /* by job_state */
    COUNTER_EXECS = 2,   /* by exec_state */
    COUNTER_LETTERS = 3, /* dead letters, by exec_state */
    COUNTER_KINDS
};

struct counter {
    enum counter_kind kind;
    struct str queue;
    uint32_t state;
    int64_t value;      /* in a delta: what to add, … */
    uint32_t partition; /* … and where what is counted lives; elsewhere 0: all that is asked for */
};

/* ---- one turn's changes */

enum change_kind {
    CHANGE_INSERT, /* new and unfinished */
    CHANGE_UPDATE, /* known and unfinished */
    CHANGE_FINISH, /* known and now final: leaves live, enters history */
    CHANGE_RECORD, /* new and already final: enters history only */
};

struct job_change {
    enum change_kind kind; /* CHANGE_INSERT or CHANGE_UPDATE; an update keeps what was submitted:
                            * name, queue, owner, team, tags, created_ms, spec and payload */
    bool redefined;        /* an update that keeps only name, owner and created_ms: it was edited */
    struct job_rec job;
    struct str step; /* trail lines to append */
    bool with_exec;  /* an exec_change points here; not when it is redefined */
};

/* The two pointers say what else ended with the execution, so that a store may keep it in the same
 * place. They are into the same delta, and only in a CHANGE_FINISH. */
struct exec_change {
    enum change_kind kind;
    bool moved; /* an update whose job is redefined: queue, priority and slot may be others, too */
    struct exec_rec exec;
    struct str step;
    /* An update of its job that changes nothing but state, finished_ms (to the execution's) and the
     * trail; the execution is the job's last_exec, before and after, and nothing else of it is
     * unfinished. */
    const struct job_change *ends_job;
    const struct attempt_rec
        *ends_attempt; /* with the execution's token, told for the first time */
};

/* True when the change keeps the promises of its kind: it has its ids, its state is final exactly
 * where the kind ends the execution, and what ended with it is of the same job and the same lease.
 * The engine asserts it of each change that it hands out. */
bool exec_change_holds(const struct exec_change *change);

struct worker_change {
    bool forget; /* only the id counts */
    bool cordon; /* it was cordoned, or is not any more */
    struct worker_rec worker;
};

struct rate_change {
    bool forget; /* only the key counts */
    struct rate_rec rate;
};

/* A definition that a job has, or had before an edit. */
struct version_rec {
    uint64_t job_id;
    uint32_t version;
    int64_t at_ms;
    struct str actor; /* who made it so; empty: not known */
    struct str spec;  /* as struct job_rec has them */
    struct str payload;
};

/* Kept before the job itself changes: the first one of a job is preceded by what the job's row says
 * until then. Versions up to `oldest` are of no use any more. */
struct version_change {
    struct version_rec version;
    uint32_t oldest;
};

struct operation_change {
    bool progress; /* the part is there, and what it was born with stays */
    struct operation_rec operation;
};

struct calendar_change {
    bool forget; /* only the name counts */
    struct calendar_rec calendar;
};

struct silence_change {
    bool forget; /* only the id counts; it may be gone already */
    struct silence_rec silence;
};

/* That a job goes by a calendar, kept while the job is not over: a calendar is deleted only when no
 * job does (ASK_CALENDAR). A use of a calendar that is not there does not fit: on another server it
 * may have been deleted since the job was accepted here. */
struct calendar_use {
    bool forget; /* from now on it does not */
    struct str calendar;
    uint64_t job_id;
};

enum { CLAIM_SWEEP = 64 }; /* within a millisecond; twice what comes, so that the rest gets less */

/* A stretch of the past: all that has ended in these partitions with an id behind the first and up
 * to the second is forgotten, now or before, but for what stays. */
struct past {
    struct partition_set of;
    uint64_t after_id;
    uint64_t to_id; /* 0: not wanted */
    const uint64_t *stays;
    size_t stay_count;
};

/* That deletions wait since then: the clock was set far, or was not where it should be at a
 * start. */
struct clock_rec {
    int64_t at_ms; /* by the clock as it went on; 0: there is nothing to keep */
    int64_t by_ms;
};

/* A queue that is not needed any more in the partitions that are owned. */
struct queue_gone {
    struct str name;
    bool settings; /* its settings go */
    bool
        numbers; /* its counters there, this turn's included, move to the empty name, so that totals
                    * never fall; not when it was wanted again in the turn that deleted it */
};

/* The arrays of a delta, once: P(one, many, type, alone) is `const type *many` and `one_count`.
 * alone: a turn is kept for it even when nothing else has changed; numbers follow from the rest,
 * and are not worth a commit of their own. struct delta, delta_is_empty and the walk of every store
 * expand these lists, so that a part which a store does not keep is a function that is missing.
 *
 * The order is the one in which stores keep them. Jobs come before the executions that belong to
 * them, and a calendar before its uses. What is removed to make room comes before what is added.
 * What several servers may want at once comes in an order that is the same in every turn, so that
 * two of them wait for each other in one direction only: claims, then settings, then mail. Numbers
 * are added before those of a queue that is gone are moved, and what is deleted comes last, since
 * it may be of this very turn. */
#define DELTA_WORK(P)                                                                              \
    P(version, versions, struct version_change, true)                                              \
    P(job, jobs, struct job_change, true)                                                          \
    P(exec, execs, struct exec_change, true)                                                       \
    P(attempt, attempts, struct attempt_rec, true)                                                 \
    /* added, or their state changed */                                                            \
    P(dependency, dependencies, struct dependency_rec, true)

#define DELTA_LETTERS(P)                                                                           \
    /* removed, before others are added */                                                         \
    P(letter_gone, letters_gone, struct letter_place, true)                                        \
    P(letter, letters, struct letter_rec, true)                                                    \
    /* added, or their progress */                                                                 \
    P(operation, operations, struct operation_change, true)

#define DELTA_CLAIMS(P)                                                                            \
    /* added or replaced in this order, whoever had them */                                        \
    P(claim, claims, struct claim, true)                                                           \
    /* after those: removed where the holder still is the one named */                             \
    P(released, released, struct claim, true)

#define DELTA_SETTINGS(P)                                                                          \
    P(worker, workers, struct worker_change, true)                                                 \
    /* these two: added or replaced */                                                             \
    P(queue, queues, struct queue_rec, true)                                                       \
    P(team, teams, struct team_rec, true)                                                          \
    P(rate, rates, struct rate_change, true)                                                       \
    /* added or replaced; a closed one is forgotten */                                             \
    P(breaker, breakers, struct breaker_rec, true)                                                 \
    P(calendar, calendars, struct calendar_change, true)                                           \
    /* in this order */                                                                            \
    P(calendar_use, calendar_uses, struct calendar_use, true)                                      \
    P(silence, silences, struct silence_change, true)

#define DELTA_MAIL(P)                                                                              \
    /* ids of rows that this turn acted upon: deleted. RC_CONFLICT when one is not there */        \
    P(mail_read, mail_read, uint64_t, true)                                                        \
    /* to be sent; the store gives them ids that grow in this order */                             \
    P(mail, mail, struct inbox_rec, true)                                                          \
    /* these two: added or replaced, or forgotten */                                               \
    P(waiter, waiters, struct waiter_change, true)                                                 \
    P(permit, permits, struct permit_change, true)                                                 \
    /* new; older ones than rejected_from_ms go when there is one */                               \
    P(rejected, rejected, struct rejected_rec, true)

#define DELTA_REPORTS(P)                                                                           \
    /* these two: new */                                                                           \
    P(sla_event, sla_events, struct sla_event_rec, true)                                           \
    P(alert, alerts, struct alert_rec, true)                                                       \
    /* of alerts that are there; others are passed over */                                         \
    P(alert_mark, alert_marks, struct alert_mark, true)                                            \
    /* the same */                                                                                 \
    P(alert_ack, alert_acks, struct alert_ack, true)                                               \
    /* these two: numbers to add */                                                                \
    P(counter, counters, struct counter, false)                                                    \
    P(tally, tallies, struct tally, false)

/* Deleted when all else is kept. */
#define DELTA_GONE(P)                                                                              \
    P(queue_gone, queues_gone, struct queue_gone, true)                                            \
    /* ended executions, with attempts and SLA events; the last one of a job that is over takes */ \
    /* the job and its dependencies along */                                                       \
    P(forgotten, forgotten, uint64_t, true)                                                        \
    P(alert_gone, alerts_gone, uint64_t, true)                                                     \
    /* operations that are over, with all their parts */                                           \
    P(operation_gone, operations_gone, uint64_t, true)                                             \
    /* rows; their numbers do not matter */                                                        \
    P(tally_gone, tallies_gone, struct tally, true)

/* G(name, list, P): a walk that does something of its own between the lists has a function for each
 * of them, and finds those functions by this list. */
#define DELTA_GROUPS(G, P)                                                                         \
    G(work, DELTA_WORK, P)                                                                         \
    G(letters, DELTA_LETTERS, P)                                                                   \
    G(claims, DELTA_CLAIMS, P)                                                                     \
    G(settings, DELTA_SETTINGS, P)                                                                 \
    G(mail, DELTA_MAIL, P)                                                                         \
    G(reports, DELTA_REPORTS, P)                                                                   \
    G(gone, DELTA_GONE, P)

#define DELTA_GROUP_PARTS(name, list, P) list(P)
#define DELTA_PARTS(P) DELTA_GROUPS(DELTA_GROUP_PARTS, P)

struct delta {
    uint64_t turn; /* grows by one with every commit of an owner; settle recognises it */
#define DELTA_MEMBER(one, many, type, alone)                                                       \
    const type *many;                                                                              \
    size_t one##_count;
    DELTA_PARTS(DELTA_MEMBER)
#undef DELTA_MEMBER
    int64_t claims_now_ms; /* claims that ended by then are of no use any more: a commit forgets the
                            * oldest requests, CLAIM_SWEEP and twice as many as the turn took; one
                            * that sweeps (delta_sweeps_claims) forgets as many others */
    int64_t rejected_from_ms;
    struct past past;       /* where the forgotten executions were looked for */
    struct clock_rec clock; /* takes the place of the one that is there */
};

static inline bool delta_is_empty(const struct delta *d)
{
#define DELTA_COUNT(one, many, type, alone) +((alone) ? d->one##_count : 0)
    return 0 DELTA_PARTS(DELTA_COUNT) == 0 && d->past.to_id == 0 && d->clock.at_ms == 0;
#undef DELTA_COUNT
}

/* Whether unique keys that were kept after success, and have ended, are swept: by commits that keep
 * others, and by those that delete what is old. */
static inline bool delta_sweeps_claims(const struct delta *d)
{
    for (size_t i = 0; i < d->claim_count; i++) {
        if (d->claims[i].kind != CLAIM_REQUEST && d->claims[i].until_ms > 0)
            return true;
    }
    return d->forgotten_count > 0 || d->past.to_id != 0;
}

/* Something that every server has to know: they read the settings again. */
static inline bool delta_has_settings(const struct delta *d)
{
    for (size_t i = 0; i < d->queue_gone_count; i++) {
        if (d->queues_gone[i].settings)
            return true;
    }
    for (size_t i = 0; i < d->worker_count; i++) {
        if (d->workers[i].cordon)
            return true;
    }
    return d->queue_count + d->team_count + d->calendar_count + d->silence_count > 0;
}

/* The cost of keeping turns, counted since the store was opened. */
struct store_cost {
    uint64_t commits; /* tried; a turn that changes nothing is none */
    uint64_t syncs;   /* calls that waited for the disk, for commits and for what follows them */
    uint64_t sync_us; /* how long they waited */
    uint64_t round_trips; /* answers of a database elsewhere that were waited for, by all */
};

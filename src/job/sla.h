/* sla.h - how long a run should take, and how long it may, as values.
 *
 * The clock of an SLA runs per attempt that counts: from the first lease of that attempt, by the
 * wall clock, through lost leases and restarts; a retry after a failure begins anew. At `expected`
 * there is one warning, at `max` one violation; engine/time/sla.c says what follows. Where there is
 * no `max`, reports take `expected` for it, though nothing more than a warning follows. Each leaves
 * an event, in the very turn that marks the execution, so that a crash neither loses one nor makes
 * two of it. */
#pragma once
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>

/* The action that a violation leads to. Kept by number: append only. */
enum sla_policy {
    SLA_FLEXIBLE,     /* a critical alert; the run goes on */
    SLA_STRICT,       /* the run is stopped, and its attempt was a timeout */
    SLA_WARNING_ONLY, /* an alert that is only a warning */
    SLA_POLICIES
};

struct sla {
    int64_t expected_ms; /* 0: none; never more than max_ms when both are there */
    int64_t max_ms;      /* 0: none */
    enum sla_policy policy;
};

/* Marks of an execution, as bits. Kept by number. */
enum sla_mark {
    SLA_WARNED = 1,   /* the attempt under way has taken longer than expected, … */
    SLA_VIOLATED = 2, /* … longer than it may, … */
    SLA_STOP = 4,     /* … and has to stop for that */
    SLA_BROKEN = 8,   /* an attempt of this execution has violated it: see sla_deciding_ms */
    SLA_SLOW = 16, /* … longer than runs of its job usually do, whatever its SLA: slow_runs.c */
    SLA_EXCEEDED = 32, /* an attempt of this execution has taken longer than expected */
    SLA_COUNTED = 64,  /* so has none without that mark: it began when that was marked already */
    SLA_MISSED = 128,  /* the alert `missed` was raised, and since then no ping told of a success:
                        * engine/time/expect.c */
    SLA_MARKS = 255
};

/* Kept by number: append only. */
enum sla_event_kind {
    SLA_EVENT_WARNING = 1,
    SLA_EVENT_VIOLATION,
    SLA_EVENT_EXTENSION, /* it was given more time */
    SLA_EVENT_END,       /* an attempt that took longer than it may is over: how long it took */
    SLA_EVENT_KINDS
};

enum {
    SLA_REASON_MAX = 200, /* bytes: why it was extended; shorter than a reason in a trail */
    SLA_APPROVER_MAX = 100,
};

struct sla_event_rec {
    uint64_t id;
    int64_t at_ms;
    enum sla_event_kind kind;
    enum sla_policy policy;
    uint64_t exec_id;
    uint64_t job_id;
    uint32_t attempt;
    int64_t expected_ms; /* both with all extensions so far; 0: none */
    int64_t max_ms;
    int64_t actual_ms;   /* how long the attempt has taken by then */
    int64_t extended_ms; /* SLA_EVENT_EXTENSION: by how much; else 0 */
    struct str queue;
    struct str actor; /* SLA_EVENT_EXTENSION: the actor, the reason, who agreed; else empty */
    struct str reason;
    struct str approver;
};

/* One of its limits is there. */
static inline bool sla_is_set(const struct sla *sla)
{
    return sla->expected_ms > 0 || sla->max_ms > 0;
}

/* The limit that an attempt must not exceed; without `max` that is `expected`. */
static inline int64_t sla_deciding_ms(int64_t expected_ms, int64_t max_ms)
{
    return max_ms > 0 ? max_ms : expected_ms;
}

extern const struct words sla_policy_words;
struct str sla_event_kind_name(enum sla_event_kind kind);
/* The word for what was done about it: "alert", "critical_alert", "stop", "extend", "none". */
struct str sla_event_action(const struct sla_event_rec *event);
/* How much longer than the limit that the event is about; 0: it is about none, or within it. */
int64_t sla_event_overrun_ms(const struct sla_event_rec *event);
/* The same in a hundredth of that limit, rounded down. */
int64_t sla_event_overrun_percent(const struct sla_event_rec *event);
/* The event is about a limit that decides: its attempt has violated the SLA. */
bool sla_event_is_violation(const struct sla_event_rec *event);
/* By how much, in hundredths of a percent of that limit, rounded down; 0: it is about none. */
int64_t sla_event_violation_bp(const struct sla_event_rec *event);

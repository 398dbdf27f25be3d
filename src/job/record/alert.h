/* alert.h - what somebody should know about, as values.
 *
 * The engine raises alerts (engine/core/alerts.c) as records of the very turn that gave rise to
 * them, so a crash can neither lose one nor make two of it. Those with the same key are told once
 * within a quiet time, and the next one says how many there were meanwhile. The alert_sender
 * (server/alert/alert_sender.h) sends them on, but for those that were raised under a silence,
 * which are kept and never sent.
 *
 * An alert does not end; it is news. A person acknowledges one to say that it is being looked at,
 * which also ends further tries to send it. A *silence* keeps alerts of some keys from being sent
 * for a while (engine/core/silences.h). */
#pragma once
#include "base/str.h"
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>

/* Kept by number: append only. */
enum alert_kind {
    ALERT_NONE = 0,
    ALERT_JOB_FAILED, /* for good */
    ALERT_WORKER_LOST,
    ALERT_BREAKER_OPEN,
    ALERT_DEAD_LETTERS, /* many failed for good in a short time */
    ALERT_QUEUE_OLD,    /* something waits for too long */
    ALERT_QUEUE_DEPTH,
    ALERT_FAILURE_RATE,
    ALERT_SLA_WARNING,  /* a run takes longer than expected */
    ALERT_SLA_VIOLATED, /* … than it may */
    ALERT_START_LATE,   /* something has not started when it should have */
    ALERT_SLOW,         /* a run takes much longer than those of its job usually do */
    ALERT_TURNS_LOST,   /* the store has lost what it had kept: it was set back */
    ALERT_CLOCK,        /* the clock was set, and that was followed */
    ALERT_MISSED, /* a job that expects pings got none in time, or one that tells of a failure */
    ALERT_KINDS
};

enum alert_level {
    ALERT_WARNING = 1,
    ALERT_CRITICAL,
};

/* Where its delivery stands. Kept by number: append only. */
enum alert_state {
    ALERT_KEPT = 1, /* to be read; not to be delivered */
    ALERT_PENDING,
    ALERT_SENT,
    ALERT_GIVEN_UP, /* no webhook took it for too long */
    ALERT_SILENCED, /* raised under a silence: to be read; never to be delivered */
    ALERT_STATES
};

struct alert_rec {
    uint64_t id;
    int64_t at_ms;
    enum alert_kind kind;
    enum alert_level level;
    enum alert_state state;
    struct str key;   /* what it is about; alerts of one key are told once in a while */
    struct str text;  /* a sentence, and what to look at next */
    struct str queue; /* what it is about; empty or 0 where it is not */
    uint64_t job_id;
    uint64_t exec_id;
    struct str trace;     /* the id of its trace; empty: none */
    uint64_t repeats;     /* of the same key, since the one before, that were not told */
    uint64_t silenced_by; /* the silence under which it was raised; 0: none */
    int64_t acked_ms;     /* 0: nobody has acknowledged it */
    struct str acked_by;
    struct str ack_note; /* may be empty */
};

/* How far an alert has come. */
struct alert_mark {
    uint64_t id;
    enum alert_state state;
};

/* That a person has seen one; the first to say so counts. */
struct alert_ack {
    uint64_t id;
    int64_t at_ms;
    struct str by;
    struct str note; /* may be empty */
};

/* Alerts whose key fits are kept and not sent while it holds: until until_ms, without that. */
struct silence_rec {
    uint64_t id;
    struct str key; /* a pattern: see alert_key_fits */
    int64_t until_ms;
    struct str reason; /* may be empty */
    struct str actor;  /* who made it, … */
    int64_t created_ms;
};

enum {
    SILENCE_KEY_BYTES_MAX = 600,
    SILENCE_REASON_BYTES_MAX = 1000,
    ALERT_NOTE_BYTES_MAX = 1000,
};
#define SILENCE_MAX_MS (INT64_C(365) * 86400000) /* from now on; what is to stay is a setting */

/* When to raise one. A zero switches a rule off. */
struct alert_rules {
    bool job_failed;
    bool worker_lost;
    bool breaker_open;
    bool sla;
    bool start_late;
    bool missed;
    bool deliver;               /* a webhook is to be told: new ones are pending */
    int64_t quiet_ms;           /* of one key */
    int64_t queue_age_ms;       /* the oldest that is ready waits for so long */
    uint64_t depth_warning;     /* so many wait in a queue */
    uint64_t depth_critical;    /* … */
    int64_t window_ms;          /* of what follows */
    uint64_t dead_letters;      /* so many failed for good within it */
    uint64_t rate_calls_min;    /* of so many that ended in a queue … */
    uint32_t rate_warning_pct;  /* … more than so many in a hundred failed */
    uint32_t rate_critical_pct; /* … */
    uint32_t slow_pct;          /* a run takes so much of its job's p95, … */
    int64_t slow_min_ms;        /* … and at least so long, … */
    uint64_t slow_runs_min;     /* … when it is the p95 of so many runs */
};

struct str alert_kind_name(enum alert_kind kind);
struct str alert_level_name(enum alert_level level);
struct str alert_state_name(enum alert_state state);
/* The names, by number, for reading them. */
extern const struct words alert_kind_words;
extern const struct words alert_level_words;
extern const struct words alert_state_words;
/* A pattern is a whole key, or the beginning of keys with `*` behind it; `*` alone fits all. */
bool alert_key_fits(struct str pattern, struct str key);
/* Whether the silence holds at that moment. */
static inline bool silence_holds(const struct silence_rec *silence, int64_t now_ms)
{
    return now_ms < silence->until_ms;
}

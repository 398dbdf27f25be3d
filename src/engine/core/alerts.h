/* alerts.h - events that a person should know about, and the keys that were told lately, so that
 * the same is not told again at once. */
#pragma once
#include "base/map.h"
#include "job/breaker.h"
#include "job/command/command.h"
#include "job/record/alert.h"

struct breaker;
struct engine;
struct exec;
struct question_list;
struct worker;

/* One key that was told. Memory only: a restart may tell a key once more. */
struct alert_mute {
    struct str key;        /* owned, behind the struct */
    int64_t told_ms;       /* boot clock; so long ago that it does not count: never */
    bool silenced;         /* … and then it was told under a silence, that is, to nobody */
    uint64_t repeats;      /* since then */
    uint64_t turn;         /* engine.newest.begun of the newest turn that raised it, … */
    uint64_t turn_repeats; /* … and how often it was muted in that turn */
};

enum { HUSHES_MAX = 10000 }; /* beyond that all new keys of a kind share one */

struct alerts {
    struct strmap alert_mutes; /* owned */
    int64_t look_ms;           /* boot clock: when to look at queues again; 0: nothing to look at */
    struct breaker_window finals; /* executions that ended, of all queues */
};

void alerts_free(struct alerts *a);

/* ---- raised by other modules */

void alert_job_failed(struct engine *e, const struct exec *x, struct str reason);
/* The lease of the execution ended without a report. */
void alert_worker_lost(struct engine *e, const struct exec *x);
void alert_breaker_open(struct engine *e, const struct breaker *b);
void alert_sla(struct engine *e, const struct exec *x, const struct sla_event_rec *event);
/* The execution has not started in time; why, in words. */
void alert_start_late(struct engine *e, const struct exec *x, struct str why);
/* The store has lost turns, as e->lost_turns says. */
void alert_turns_lost(struct engine *e);
/* The store must have lost turns: the worker names a lease of x whose token is not known here. The
 * next token of x will be larger. */
void alert_token_unknown(struct engine *e, const struct worker *w, struct exec *x, uint64_t token);
/* The run takes much longer than usual; why: "has run for …". */
void alert_slow(struct engine *e, const struct exec *x, struct str why);
/* A job that expects pings "was missed" or "has failed"; what: a clause that says more. */
void alert_missed(struct engine *e, const struct exec *x, const char *verb, struct str what);
void alert_clock(struct engine *e, struct str what);

/* ---- rates, ages and depths of queues */

/* Looks at all queues, when it is time to. */
void alerts_look(struct engine *e);
/* Counts an execution that ended, once its turn is durable. */
void alerts_count(struct engine *e, const struct exec *x);
/* There is something to look at: sets the timer. */
void alerts_arm(struct engine *e);
/* The turn is durable: mutes the keys that it told. */
void alerts_commit(struct engine *e);
void decide_alert_sent(struct engine *e, struct command *cmd);
/* The first to acknowledge it counts, and any other is told who that was. */
void ask_alert(struct engine *e, struct command *cmd, struct question_list *list);
void decide_alert_ack(struct engine *e, struct command *cmd);

/* clock_day.h - days on which clocks go wrong, and machines sleep, and nothing else does.
 *
 * A wrong reading, one that holds for less than clock_step_ms, a clock that flaps, one that is set for
 * good, forward or back, by seconds to years; of the machine that counts (alone the server's own, in a
 * cluster the database's) or of one that does not; a start with a wrong clock; a laptop that is closed, a
 * server or a worker that sleeps. One after the other, with time to settle. Promised, by clocks that the
 * engine knows nothing of:
 *
 * - the time that servers go by is the right one, or the one that was set for good, within two seconds;
 * - members of a cluster agree about it, within a beat and two seconds after one of them has accepted it;
 * - delays, pauses before retries, expiries and SLAs last as long as they should by the boot clock;
 * - slots go on: none is late, and none is further ahead than its schedule says, unless the clock was set
 *   back by less than ten minutes; one that is planned anew says why;
 * - nothing is deleted before clock_delete_wait_ms have passed after a step of more than an hour, or a start
 *   that did not fit;
 * - no sleep of servers costs anybody a lease. */
#pragma once
#include "clocks.h"
#include "job/state.h"

struct model_exec;
struct turn_view;
struct exec_rec;
struct trail_step;

struct clock_day {
    int64_t wrong_ms[CLOCKS]; /* by how much each wall clock is ahead of what is right */
    bool synced;              /* what machines say about their clocks */
    struct sim_server *by;    /* who looked at its clock last; NULL: nobody, or no such day */
    /* the clock that counts, as the day goes on */
    int64_t meant_ms;    /* it was set to be so much ahead for good, … */
    int64_t before_ms;   /* … and before that so much; either may be gone by … */
    int64_t most_ms;     /* it never was ahead by more, for good */
    int64_t settled_ms;  /* … until then (boot clock) */
    int64_t agreed_ms;   /* boot clock: all servers went by the same time */
    int64_t over_ms;     /* boot clock: the newest event is over */
    int64_t backlog_ms;  /* by how much the clock was set back in small steps */
    int64_t shaken_ms;   /* wall clock: deletions wait from there on; 0: they do not */
    int64_t merciful_ms; /* boot clock: leases may be lost until then: a worker slept alone */
    int64_t
        unsure_until_ms; /* boot clock: a server that has started does not know the time, until then at most */
    size_t events;
    bool last; /* the last has come */
};

/* Draws what is special about such a day. */
void clock_day_draw(struct world *w);
void clock_day_begin(struct world *w);
bool clock_day_is_over(const struct world *w);
/* A server has started with a clock, or accepted a step. */
void clock_day_started(struct sim_server *s);
void clock_day_stepped(struct sim_server *s);

/* ---- the model, in model_clocks.c */

/* Before the steps of x are taken: what moves along with the clock has moved in this turn. */
void clocks_shift(struct world *w, struct model_exec *x, const struct exec_rec *to,
                  const struct turn_view *view);
/* True: the step is a note of that. */
bool clocks_note(struct world *w, struct model_exec *x, const struct trail_step *step);
/* By how much the engine has moved what x was promised for. */
int64_t clocks_shifted_ms(const struct world *w, const struct model_exec *x);
/* Nothing is too late: the clock is not known, or was set just now. */
bool clocks_hold(const struct world *w);
/* A slot ahead is planned anew. False: not for the clock. */
bool clocks_replanned(struct world *w, struct model_exec *x, struct str reason,
                      const struct exec_rec *to, const struct turn_view *view);
/* A delay, or the pause before a retry, begins. */
void clocks_wait(struct world *w, struct model_exec *x, int64_t for_ms);
/* Any step of x, before it is taken. */
void clocks_step(struct world *w, struct model_exec *x, enum exec_event event, bool asked);
/* A limit of an SLA is told. */
void clocks_sla(struct world *w, const struct model_exec *x, int64_t limit_ms);
/* Something is deleted. */
void clocks_delete(struct world *w, const struct turn_view *view);
/* It is now this, by the wall clock. */
void clocks_set_back(struct world *w, int64_t now_ms);
/* A new engine knows nothing of boot times. */
void clocks_reloaded(struct world *w);
/* From time to time. */
void clocks_watch(struct world *w);

/* breaker.h - targets that keep failing, and the work that waits for them.
 *
 * One breaker per target (job/breaker.h) that is called, or was lately. Tracks of the same target
 * hang on its breaker; while it is not closed they are out of the order whole, as with a limit, so
 * ten thousand that wait for a dead service cost nothing. Jobs without a target, which most
 * commands are, have none and cost nothing either. Of a breaker the store keeps only that it is not
 * closed: a crash forgets at most a few failures of the window. */
#pragma once
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/when.h"
#include "job/breaker.h"

struct breaker_values {
    enum breaker_state state;
    struct breaker_window window; /* boot clock */
    int64_t opened_ms;            /* wall clock: not closed since; 0: it is closed */
    int64_t until_ms; /* wall clock: when a probe may go, open, or another one, half open
                                   * while one runs; else 0 */
    int64_t wake_ms;  /* boot clock: when to look after it */
    uint64_t probe;   /* half open: the newest execution that is tried; 0: one may go */
    bool gone;        /* no job names it, and nothing is to be said of it */
    bool unsure;      /* opened while the time was not known; memory only */
    bool newer;       /* opened by the time of a step that has yet to be carried out; memory only */
};

struct breaker {
    struct str target;  /* "smtp", "handler:mail"; owned, behind the struct */
    uint64_t serial;    /* so that wakes at one moment have an order */
    size_t members;     /* how often it was joined */
    struct list tracks; /* track.on_breaker */
    struct heap_node wake;
    struct breaker_values v;
    struct touched *touched;
};

struct breakers {
    struct breaker_rule rule;
    struct strmap by_target; /* owned */
    struct heap wakes;       /* boot clock */
    uint64_t serials;
};

void breakers_free(struct breakers *all);

/* The breaker, made when new. Each join needs one leave. One that has something to remember stays
 * without members for as long as its window lasts. */
struct breaker *breaker_join(struct breakers *all, struct str target);
void breaker_leave(struct breakers *all, struct breaker *b);
/* After the turn that changed it: frees it when nobody names it and it has nothing to remember. */
void breaker_forget_if_idle(struct breakers *all, struct breaker *b);

/* Gives it these values and the place among the wakes that follows from them. */
void breaker_set(struct breakers *all, struct breaker *b, const struct breaker_values *to);
/* True when work for its target may start now. */
bool breaker_lets_start(const struct breaker *b);

/* times.h - where a request has spent its time.
 *
 * A request is at each moment in one of the phases below. Whoever hands it on books the time since
 * the last mark to the phase that ends, so the phases add up to the whole, and a call costs no more
 * readings of the clock than it changes hands. They are told when a request was slow (slow.h). */
#pragma once
#include <stdint.h>

enum spent_phase {
    SPENT_READ,         /* from its head to the end of its body */
    SPENT_PARSE,        /* net thread: until it goes elsewhere, or is answered if it never does */
    SPENT_TURN_WAIT,    /* for the turn to take it */
    SPENT_ADMIT,        /* its turn asks the store */
    SPENT_DECIDE,       /* the engine decides */
    SPENT_COMMIT,       /* the store keeps the turn */
    SPENT_QUERY_WAIT,   /* for a query thread */
    SPENT_QUERY,        /* reads the store, prints */
    SPENT_PACK,         /* gzip and tag */
    SPENT_OTHER_THREAD, /* output log, scraper, numbers of the turn: waited for and worked */
    SPENT_OTHER_SERVER, /* forwarded, or all are asked */
    SPENT_RETURN,       /* done, and on its way to the net thread */
    SPENT_ANSWER,       /* net thread: prints, and gives the answer to the socket */
    SPENT_PHASES
};

struct request_times {
    int64_t mark_us;       /* monotonic: all before it is booked */
    enum spent_phase away; /* where it is until the next mark */
    int64_t spent_us[SPENT_PHASES];
};

/* All until now belongs to the phase. */
static inline void times_book(struct request_times *t, enum spent_phase phase, int64_t now_us)
{
    if (now_us > t->mark_us) {
        t->spent_us[phase] += now_us - t->mark_us;
        t->mark_us = now_us;
    }
}

/* It leaves the net thread; what is not booked before it is back was there. */
static inline void times_leave(struct request_times *t, enum spent_phase away, int64_t now_us)
{
    times_book(t, SPENT_PARSE, now_us);
    t->away = away;
}

static inline void times_return(struct request_times *t, int64_t now_us)
{
    times_book(t, t->away, now_us);
    t->away = SPENT_ANSWER;
}

/* event_names.h - the texts in events, for as long as the events are kept.
 *
 * Events outlive the engine that tells them, and most are about one of few names, so each name is
 * kept once for many events. Names are freed by generation: a new name goes into the newest one,
 * and when as many events were told as a reader can go back to, a new one begins and the one before
 * the last is not needed by any event any more. */
#pragma once
#include "base/map.h"

struct event_names { /* zeroed: empty */
    struct strmap now;
    struct strmap before;
    struct str last;         /* of `now`: most events are about the queue of the one before, … */
    struct str last_but_one; /* … and the handler of one before that */
    size_t told;             /* events since this generation began */
};

/* The same text, good until the second call of event_names_turn from now. */
struct str event_names_keep(struct event_names *n, struct str name);
/* Begins a generation. *ret_old is for the caller to free once nothing reads the events of its
 * time. */
void event_names_turn(struct event_names *n, struct strmap *ret_old);
void event_names_free_map(struct strmap *names);
void event_names_free(struct event_names *n);

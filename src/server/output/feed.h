/* feed.h - what the tail thread sends to those who follow. Part of the tail: `struct tail` is
 * shared by tail.c, feed.c and checkpoints.c only. */
#pragma once
#include "server/output/deletions.h"
#include "server/output/event_names.h"
#include "server/output/tail.h"

struct tail {
    struct server *server;
    struct mailbox *box;
    struct thread *thread;
    struct logs *logs;
    struct reader *reader;
    struct fence *fence; /* owned */
    struct arena arena;  /* of one read or write */
    struct list keeping; /* requests with output to keep */
    bool losing;         /* the last of it could not be kept, and somebody was told */
    struct list follows;
    bool lagging;             /* somebody has to be looked at again soon */
    int64_t trim_ms;          /* boot clock: when to delete old output next */
    int64_t look_ms;          /* the same: when to look for output that came to other servers */
    int64_t sweep_ms;         /* the same for checkpoints … */
    uint64_t sweep_after;     /* … and where to go on; 0: from the first */
    struct event_names names; /* owned: texts in events; the turn thread's */
    struct event *ring;       /* owned: EVENTS_KEPT of them */
    uint64_t event_first;     /* the oldest number in the ring */
    uint64_t event_next;      /* the number that the next event gets */
};

/* Whether what is old has to stay for now: see deletions.h. */
bool tail_deletes_nothing(const struct tail *t, struct moment now);
/* Mail: a request that wants to follow. */
void feed_start(struct parcel *parcel);
/* There is new output of an execution. */
void feed_output(struct tail *t, uint64_t exec_id);
/* There may be new output of any. */
void feed_look(struct tail *t);
/* Something happened. */
void feed_event(struct tail *t, const struct event *event);
/* Sends everyone what they can take. */
void feed_pump(struct tail *t);
/* Ends, as broken, what is about executions that are not in the set. */
void feed_moved(struct tail *t, const struct partition_set *owned);
/* The server goes away: ends all streams. */
void feed_end_all(struct tail *t);

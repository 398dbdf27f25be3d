/* followers.h - what the tail thread sends to those who follow. Part of the tail: `struct
 * output_log` is shared by output_log.c, followers.c and checkpoints.c only. */
#pragma once
#include "server/output/deletions.h"
#include "server/output/event_filter.h"
#include "server/output/event_names.h"
#include "server/output/feed.h"
#include "server/output/output_log.h"
#include "server/output/series.h"

struct output_log {
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
    bool lagging;             /* some follower has to be looked at again soon */
    int64_t trim_ms;          /* boot clock: when to delete old output next */
    int64_t look_ms;          /* the same: when to look for output that came to other servers */
    int64_t sweep_ms;         /* the same for checkpoints … */
    uint64_t sweep_after;     /* … and where to go on; 0: from the first */
    struct feed *feed;        /* owned: readers of the summary */
    struct series *series;    /* owned */
    struct log_reader *lines; /* owned: reads output by its lines */
    struct event_names names; /* owned: texts in events; the turn thread's */
    struct event *ring;       /* owned: EVENTS_KEPT of them */
    uint64_t event_first;     /* the oldest number in the ring */
    uint64_t event_next;      /* the number that the next event gets */
};

/* Text that many readers are sent, printed once. */
struct ink {
    atomic_int holders;
    struct buf text; /* owned */
};

struct ink *ink_new(struct buf *take_text);
void ink_release(struct ink *ink); /* NULL is fine */
/* Sends it to the reader, or (NULL) only the head of the answer. */
void followers_send(struct follow *f, struct ink *ink);

/* Whether what is old has to stay for now: see deletions.h. */
bool tail_deletes_nothing(const struct output_log *t, struct moment now);
/* Mail: a request that wants to follow. */
void followers_start(struct parcel *parcel);
/* There is new output of an execution. */
void followers_output(struct output_log *t, uint64_t exec_id);
/* There may be new output of any. */
void followers_look(struct output_log *t);
/* Something happened. */
void followers_event(struct output_log *t, const struct event *event);
/* Sends everyone what they can take. */
void followers_pump(struct output_log *t);
/* Ends, as broken, what is about executions that are not in the set. */
void followers_moved(struct output_log *t, const struct partition_set *owned);
/* The server goes away: ends all streams. */
void followers_end_all(struct output_log *t);

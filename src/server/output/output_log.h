/* output_log.h - the thread that keeps output and checkpoints, and tells what happens.
 *
 * It owns the writing side of the logs, the followers of output, and the ring of recent events with
 * its watchers. Output that workers send is kept when it is sent in the name of a lease that they
 * were given (`fence.h`), whole or not at all. Followers pull: each has a place, and is sent the
 * next page when its reader has taken most of the last one. The database (or the ring) is the
 * buffer, so a reader that never reads costs a few hundred bytes, whatever is printed meanwhile. */
#pragma once
#include "engine/explain/gauges.h"
#include "server/call/request.h"
#include "server/output/fence.h"
#include "server/output/log_lines.h"

enum {
    EVENTS_KEPT = 1 << 16,      /* so far can Last-Event-ID go back */
    LAST_CHUNK_WAIT_MS = 10000, /* for output that a worker could not deliver */
};

struct channel;
struct event_filter;

enum follow_kind {
    FOLLOW_TEXT,    /* output as it was printed, until the end for now */
    FOLLOW_OUTPUT,  /* output as events, until the execution is final */
    FOLLOW_LINES,   /* the same by lines, an event for each */
    FOLLOW_EVENTS,  /* everything that happens and fits the filter, for ever */
    FOLLOW_SUMMARY, /* numbers once a second, and what fits the filter, if there is one */
};

/* The output or events that a request follows. Filled by the route, owned by the tail until it is
 * closed. */
struct follow {
    enum follow_kind kind;
    uint64_t exec_id;
    struct log_place place; /* send what follows, … */
    struct line_place from; /* … behind this, which is in the first chunk of it; FOLLOW_LINES: with
                             * the number of the line before. token 0: from the beginning */
    uint32_t attempt;       /* 0: all */
    unsigned stream;        /* enum log_stream; 0: all */
    bool head_only;         /* HEAD: the answer ends where the body would begin */
    struct str filter_text; /* FOLLOW_EVENTS, FOLLOW_SUMMARY: of a struct event_filter */
    bool own_only;          /* FOLLOW_SUMMARY: another server reads, for its own readers */
    bool from_now;          /* FOLLOW_EVENTS: no Last-Event-ID was given */
    uint64_t event;         /* FOLLOW_EVENTS: the newest that the reader has */

    /* the tail's own */
    struct list_node node;
    struct request *request;
    struct event_filter *filter; /* owned; NULL: none */
    struct channel *channel;     /* FOLLOW_SUMMARY */
    struct line_cutter cutter;   /* FOLLOW_LINES: of the token place.token */
    uint32_t cut_attempt;        /* FOLLOW_LINES: the attempt of that */
    uint64_t skipped;            /* FOLLOW_SUMMARY: events that it was too slow for */
    atomic_size_t unsent;        /* kept by the net thread */
    atomic_size_t mailed;        /* bytes on their way to that thread, which are none of these */
    bool final;                  /* the execution ended … */
    enum exec_state state;       /* … like this … */
    struct log_place last;       /* … and this is its last chunk */
    int64_t final_ms;            /* since when that is known */
    bool awake;                  /* there may be something to send */
    bool open;                   /* the net thread's: the answer has begun */
    bool leaving;                /* the net thread's: the reader has gone, the tail was told */
    bool broken;           /* the net thread's: something is missing, the reader must notice */
    struct parcel goodbye; /* to the tail: forget it */
    struct parcel closed;  /* from the tail: forgotten */
};

/* Bytes that its reader has not taken yet. */
static inline size_t follow_unread(const struct follow *f)
{
    return atomic_load(&f->unsent) + atomic_load(&f->mailed);
}

enum checkpoint_kind {
    CHECKPOINT_PUT,   /* a worker keeps it */
    CHECKPOINT_FETCH, /* a worker starts with it; none is RC_OK without bytes */
    CHECKPOINT_SHOW,  /* a person looks at it; none is RC_NOT_FOUND */
};

/* A request's call about a checkpoint: to save it, or to fetch it. */
struct checkpoint_call {
    enum checkpoint_kind kind;
    struct lease_name name;       /* CHECKPOINT_SHOW: only the execution */
    struct checkpoint checkpoint; /* CHECKPOINT_PUT: its bytes; else the answer, in r's arena */
};

/* The numbers of the engine at one moment; the arena has their texts. */
struct gauges_news {
    struct parcel parcel;
    struct output_log *tail;
    struct arena arena;
    struct gauges gauges;
};
struct gauges_news *gauges_news_new(void);
void gauges_news_free(struct gauges_news *news);

enum rc output_log_start(struct server *server, struct output_log **ret_tail, struct err *err);
/* Keeps r->output and sends r home with r->rc. RC_BUSY, RC_SHUTDOWN: not
 * taken. */
enum rc output_log_keep(struct output_log *t, struct request *r);
/* Does what r->checkpoint says and sends r home with r->rc. */
enum rc output_log_checkpoint(struct output_log *t, struct request *r);
/* Does what r->own says (log_reader.h), on a thread of its own, and sends r home. */
enum rc output_log_lines(struct output_log *t, struct request *r);
/* Prints what r->series asks for into r->body and sends r home. */
enum rc output_log_series(struct output_log *t, struct request *r);
/* Follows r->follow. r is answered by the tail's pieces; when there is nothing to follow it comes
 * home with r->rc set. */
enum rc output_log_follow(struct output_log *t, struct request *r);
/* From the turn thread: this server decides about these partitions from now on, and hears of
 * nothing else. A follower of an execution outside them is cut off, to ask again, and be led to who
 * does. */
void output_log_moved(struct output_log *t, struct partition_set owned);
/* From the turn thread, after a commit, in order. Copies what the events name. */
void output_log_tell(struct output_log *t, const struct event *events, size_t count);
/* From the turn thread: the numbers of the engine, for metrics. */
void output_log_gauges(struct output_log *t, struct gauges_news *take_news);
/* Keeps what is still to be kept, ends all streams, and ends the thread. */
void output_log_stop(struct output_log *t);
/* After stop, when nobody can send any more. */
void output_log_free(struct output_log *t);

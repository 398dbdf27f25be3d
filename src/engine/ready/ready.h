/* ready.h - who is next.
 *
 * Work that is ready waits in lanes, one per queue and handler ("" is a command), so that a worker
 * never has to step over work it cannot do. Inside a lane it waits in tracks, one for what has no
 * limits and no breaker of its own, and one for each set of them (limit.h, breaker.h), so that the
 * grant never steps over work that may not start yet: a track whose limits have no room leaves its
 * lane whole, a lane whose queue is closed leaves the order whole, and ten thousand that are held
 * back cost nothing. An execution that has its permits (limit_remote.h) has its place in a full
 * queue already: it waits in tracks of its own, which only a pause holds back.
 *
 * The order is by rank: the moment since when it is ready, earlier by so much for each point of
 * priority. Waiting is thereby worth priority, so nothing starves; and since everybody ages alike,
 * the order of two that wait never changes.
 *
 * A lane is fresh from when there is something new to be had in it until a matching round looked at
 * it: a round needs to offer only fresh lanes to parked workers, because no parked worker wanted
 * what was there before. */
#pragma once
#include "engine/ready/breaker.h"
#include "engine/ready/learnt.h"
#include "engine/ready/limit.h"
#include "engine/ready/worker_class.h"
#include "job/spec.h"

struct track;

/* A limit as the jobs of a track see it. */
struct bar {
    struct limit *limit; /* NULL: none */
    uint32_t max;        /* concurrency: this many at once */
    int64_t interval_us; /* rate: starts are so far apart */
    struct track *track;
    struct list_node node; /* on limit.bars */
    struct rung *rung;
    struct list_node on_rung; /* on rung.waiting while something is in the track */
};

enum { BAR_CONCURRENCY, BAR_RATE, BAR_TEAM, BARS };

struct track {
    struct lane *lane;
    struct bar bars[BARS];
    struct breaker *breaker; /* of its target; NULL: it has none */
    struct list_node on_breaker;
    size_t members;           /* how often it was joined; without any it is gone */
    struct list_node sibling; /* on lane.tracks */
    struct heap heap;
    struct list_node waiting; /* on ready.waiting while not empty */
    struct learnt *learnt;    /* how long its runs take, of all who share its limits */
    struct copied copied;
    struct heap_node order; /* in lane.heap, or lane.twins, while not empty and open */
    struct track *twin;     /* for those of it that have their permits; NULL: there are none */
    struct track *main;     /* whose twin it is; NULL: it is none */
    struct track *shadow;   /* for the suspects among them; NULL: there are none */
    struct track *origin;   /* whose shadow it is; NULL: it is none */
    struct str key;         /* owned, behind the struct */
};

/* Which of its executions a queue lets out of its lanes. */
enum gate {
    GATE_OPEN,
    GATE_FULL,   /* for executions with permits, which count among those that fill the queue */
    GATE_PAUSED, /* nothing */
};

struct lane {
    struct str queue;         /* owned, with handler, in one allocation behind the struct */
    struct str handler;       /* empty: commands */
    struct list tracks;       /* track.sibling; without any it is gone */
    enum gate gate;           /* of its queue */
    bool suspects;            /* not every worker may have its executions: see ready_shadow */
    struct learnt *learnt;    /* how long its runs take */
    struct list_node sibling; /* on the list of its queue's lanes */
    struct heap heap;         /* tracks, by the best in each */
    struct heap twins;        /* the same of those that have their permits */
    struct heap_node order;   /* in ready.order while the gate lets something out */
    struct list_node fresh;   /* on ready.fresh while something new is in it */
};

struct ready {
    int64_t point_ms;      /* the waiting time that a point of priority is worth */
    struct strmap lanes;   /* owned, by "queue\nhandler" */
    struct strmap shadows; /* the same, of suspects */
    struct strmap tracks;  /* owned, by that and the limits */
    struct limits limits;
    struct breakers breakers;
    struct learnt_all learnt; /* by the keys of lanes and tracks */
    struct heap order;        /* lanes, by the best in each */
    struct list fresh;
    struct list waiting; /* tracks in which something is, held back or not */
    size_t len;          /* all that is ready, held back or not */
};

void ready_init(struct ready *r, int64_t point_ms, const struct breaker_rule *rule);
void ready_free(struct ready *r);

/* The track for such jobs, made when new with its lane and limits; NULL when that would be one lane
 * more than lanes_max. Each join needs one leave. */
struct track *ready_join(struct ready *r, const struct rules *rules, size_t lanes_max);
void ready_leave(struct ready *r, struct track *track);
/* One more of those who joined; the same as joining again. */
static inline void ready_stay(struct track *track)
{
    track->members++;
}

/* Where work stands that is ready: the smallest comes first. */
uint64_t ready_rank(const struct ready *r, int32_t priority, int64_t ready_ms);
void ready_put(struct ready *r, struct track *track, struct heap_node *node, int32_t priority,
               int64_t ready_ms, uint64_t id);
/* A track beside this one, for what no limit holds back any more. With the last one that is taken
 * out of it it is gone. */
struct track *ready_twin(struct ready *r, struct track *track);
/* The same for suspects (silence.c), with the limits of this one, in a lane beside its own: workers
 * that may have no other suspect pass it by as a whole. The lane may be new: its queue has to be
 * told. */
struct track *ready_shadow(struct ready *r, struct track *track);
void ready_remove(struct ready *r, struct track *track, struct heap_node *node);

/* A lease of the track's work begins, or ends: concurrency limits count it. */
void ready_hold(struct ready *r, struct track *track);
void ready_release(struct ready *r, struct track *track);
/* Permits of the limit that are no leases of ours: so many more, or fewer. */
void ready_lend(struct ready *r, struct limit *limit, int by);
/* One of the track waits for a start by a rate whose home is elsewhere, or does not any more. */
void ready_want_rate(struct ready *r, struct track *track, int by);
/* The limit's values have changed. */
void ready_limit(struct ready *r, struct limit *limit, const struct limit_values *to);
/* The breaker's values have changed. */
void ready_breaker(struct ready *r, struct breaker *b, const struct breaker_values *to);
/* The queue of this lane closes, or opens. */
void ready_gate(struct ready *r, struct lane *lane, enum gate gate);

/* ---- bar.c */

/* The bars of a new track, by the rules of its jobs, or like those of another. */
void bars_set(struct limits *l, struct track *track, const struct rules *rules);
void bars_copy(struct limits *l, const struct track *from, struct track *to);
void bars_leave(struct limits *l, struct track *track);
/* Something is in the track that was empty, or the other way round. */
void bars_wait(struct track *track, bool waits);
/* True when this limit, if there is one, lets something start now. */
bool bar_is_open(const struct bar *bar);
/* ---- ready.c */

/* True when something of the track may start now as far as its limits and its target go. */
bool track_is_open(const struct track *track);

/* The best of all that workers of this worker_class may be given, suspects among them or not, or
 * NULL. It stays where it is. */
struct heap_node *ready_best(const struct ready *r, const struct worker_class *worker_class,
                             bool suspects);
/* About how much a worker of this worker_class could be given at once, as far as limits go, but no
 * more than max. Suspects, where it may have one, count as one of each lane: they are given one by
 * one. Cheap: of very many lanes and tracks it looks at some. */
size_t ready_count(const struct ready *r, const struct worker_class *worker_class, bool suspects,
                   size_t max);
/* The first fresh lane, or NULL. It stays fresh until it was offered to all, or nothing is left in
 * it; a lane of suspects is gone with the last of them. */
struct lane *ready_fresh(const struct ready *r);
/* No worker takes work from the lane. */
static inline void ready_offered(struct lane *lane)
{
    list_remove(&lane->fresh);
}

/* limit.h - how many at once, and how often.
 *
 * A limit is a key that jobs name: those that name the same one share it. A concurrency limit
 * counts the leases of its jobs; the count follows from the leases themselves, so no crash can
 * leave a permit behind. A rate keeps one number, the moment from which the next start is allowed,
 * and spaces starts evenly: never more than so many in any window. Each job says how much it
 * tolerates (`struct bar`), so two jobs may see the same key differently. A team is a key like that
 * of concurrency, but what it tolerates is decided about the team, and perhaps never.
 *
 * Work that is held back waits in a track (ready.h); a limit knows the tracks that hang on it. */
#pragma once
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/when.h"
#include "engine/ready/copied.h"
#include "engine/ready/rung.h"
#include "job/record/inbox.h"

enum limit_kind {
    LIMIT_CONCURRENCY = 1,
    LIMIT_RATE,
    LIMIT_TEAM,
    LIMIT_QUEUE, /* of a queue, which is no struct limit: only in the keys of permits */
};

struct limit_values {
    int64_t next_us;     /* rate, wall clock: no start before this; 0: there was none */
    int64_t interval_us; /* of the start that set it */
    int64_t wake_ms;     /* the same moment by the boot clock, since the wall clock may be set */
    bool shut;           /* rate: waits for that moment */
    bool stored;         /* rate: the store knows it */
    bool gone;           /* no job names it and its moment is over; freed with the commit */
    uint32_t max;        /* team: this many at once; 0: no limit */
    int64_t changed_ms;  /* team: when that was decided, and by whom; 0: never */
    struct str changed_by;
};

struct limit {
    enum limit_kind kind;
    struct str key;        /* owned, behind the struct */
    uint64_t serial;       /* so that wakes at one moment have an order */
    size_t members;        /* how often it was joined */
    uint32_t held;         /* leases that count */
    uint32_t lent;         /* of those: no leases of ours, but permits (limit_remote.h) */
    uint32_t home;         /* the bucket that its key lives in */
    uint32_t reading;      /* team: the newest of engine.readings that had it */
    bool remote;           /* its home is another partition: a start needs a permit */
    struct list bars;      /* of tracks (bar.node) */
    struct rungs rungs;    /* the same, by what they bear; of a rate of ours and a team it is one */
    struct heap_node wake; /* in limits.wakes while shut, or while nobody names it any more */
    struct limit_values v;
    struct touched *touched;
    struct copied copied;
};

struct limits {
    struct partition_set owned;
    struct strmap by_key; /* owned, by kind and key */
    struct heap wakes;    /* boot clock */
    uint64_t serials;
};

void limits_free(struct limits *l);

/* The limit, made when new. Each join needs one leave. */
struct limit *limit_join(struct limits *l, enum limit_kind kind, struct str key);
/* A concurrency limit is gone with its last member, and so is a team about which nobody decided
 * anything. A rate stays until its moment is over, and wakes then, to be forgotten. */
void limit_leave(struct limits *l, struct limit *limit);
void limit_free(struct limits *l, struct limit *limit);
/* No job names it, and there is nothing to remember about it. */
bool limit_is_idle(const struct limit *limit);

/* The bucket that a key lives in. */
uint32_t limit_home(enum limit_kind kind, struct str key);
/* Kind and key, as permits name it. */
struct str limit_home_key(const struct limit *limit);

/* Gives it these values and the place among the wakes that follows from them. */
void limit_set(struct limits *l, struct limit *limit, const struct limit_values *to);

/* The values after a start now, where starts are interval_us apart. */
struct limit_values limit_started(const struct limit *limit, struct moment now,
                                  int64_t interval_us);
/* The values of one that was stored, as of now. */
struct limit_values limit_restored(int64_t next_us, int64_t interval_us, struct moment now);

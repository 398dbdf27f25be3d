/* day.h - a day of engines and workers under a virtual clock.
 *
 * One engine, or several with some partitions each, decide about everything; nothing fails, and
 * messages take no time. Workers poll all engines and spread their free slots by the real
 * worker/link/credits.h. How long a run takes is drawn when it is submitted or starts, from the
 * length of its kind, and nobody but the day knows it. Who uses a day says when what is submitted,
 * and reads what was said about each start and when it was. */
#pragma once
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

enum { SERVERS_MAX = 3, CREWS_MAX = 64 };

enum spread {
    SPREAD_NONE,      /* all take the same */
    SPREAD_LOGNORMAL, /* one in six takes more than twice the median, one in six less than half */
    SPREAD_TWO,       /* one in five takes ten times as long as the others */
};

/* How long runs take. */
struct length {
    int64_t ms; /* most of them, or the median */
    enum spread spread;
};

/* An execution of which it was said when it starts. */
struct watched {
    uint64_t exec_id;
    int64_t length_ms;
    int64_t asked_ms;
    int64_t told_ms;  /* 0: nothing could be said */
    int64_t start_ms; /* 0: it has not started */
    int category;     /* the user's; negative: it is not measured */
};

struct crew_member;
struct watched_list {
    struct watched **items;
    size_t len;
    size_t cap;
};

struct day {
    struct world worlds[SERVERS_MAX];
    size_t servers;
    struct post_box box;
    struct arena arena;
    struct rng rng;
    struct crew_member *crews; /* owned, CREWS_MAX of them */
    size_t crew_count;
    struct watched_list watched; /* in the order of submission, in the arena */
    struct map by_exec;          /* struct watched */
    struct map by_job;           /* struct length, of those that recur */
    struct heap ends;            /* of runs, by the wall clock */
    uint64_t runs;
    uint64_t turns;
};

void day_init(struct day *d, size_t servers, uint64_t seed);
void day_free(struct day *d);
int64_t day_now_ms(const struct day *d);

/* Before anything is submitted: so many workers, and a limit of a queue. */
void day_hire(struct day *d, struct skills skills, size_t count);
void day_limit(struct day *d, const char *queue, uint32_t concurrency);

/* Hands in a request of so many jobs, to the server with that number, and keeps what is said. */
void day_submit(struct day *d, size_t server, const struct wish *wishes, size_t count,
                struct length length, int category);
/* A job that recurs. */
void day_repeat(struct day *d, size_t server, struct wish wish, struct length length);

/* Lives until that moment of the wall clock. */
void day_live(struct day *d, int64_t until_ms);

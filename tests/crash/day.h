/* day.h - a server's day, step by step: what the power may cut short at any moment.
 *
 * The very turns of a server, driven by hand: workers register and poll, batches are submitted,
 * attempts succeed, fail, are tried again and cancelled; names are taken and given back, output is
 * kept, the log is folded into the database, the server stops and starts again. Each step is one
 * commit at most. The same script gives the same records on every store, so the memory store says
 * what a step should leave behind. */
#pragma once
#include "base/vec.h"
#include "server/turn/turn.h"

enum { DAY_WORKERS = 2, DAY_HELD_MAX = 32 };

struct day_worker {
    uint64_t id;
    uint64_t seq;
    struct poll_held held[DAY_HELD_MAX];
    size_t held_count;
};

/* How the store of a day is opened; dir is NULL for the one in memory. */
struct day_place {
    const char *dir;
    enum durability durability;
    bool careless; /* SQLite syncs nothing at all */
};

struct day {
    struct day_place place;
    struct store *store;
    struct turn turn;
    struct logs *logs;
    struct arena arena; /* of all commands, since some answers are looked at later */
    int64_t now_ms;
    struct day_worker workers[DAY_WORKERS];
    uint64_t jobs[256];  /* in the order of their making */
    uint64_t execs[256]; /* the first of each */
    size_t job_count;
    struct err err;

    /* What was promised. */
    size_t done;         /* steps that said RC_OK */
    size_t synced;       /* of those, the ones before the last restart that went well */
    uint64_t epoch;      /* the newest that was owned */
    uint64_t newest_id;  /* the newest that anybody was told */
    uint64_t log_chunks; /* of execs[0] */
};

extern const struct str day_keys[]; /* the names that jobs of that day take */
extern const size_t day_key_count;

size_t day_steps(void);
/* Opens the store and owns it; the first step of all. On failure there is only day_end to call. */
enum rc day_begin(struct day *day, const struct day_place *place);
/* The next step. Nothing may follow one that failed. */
enum rc day_step(struct day *day);
/* One more job: the store takes commits. Not a step. */
enum rc day_submit_one(struct day *day, uint64_t *ret_job);
void day_end(struct day *day);

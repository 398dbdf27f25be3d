/* world.h - drives an engine by hand, for its tests.
 *
 * A `struct world` is an engine, the time, a table in the place of a store, and the commands of
 * the turn that is being put together. `world_turn` decides them twice: the first decision is
 * undone, which must leave no trace, and the second must come to the same delta as the first, ids
 * apart. Then it commits, keeps the delta in the table, and compares the table with what the engine
 * holds. So every test of every behaviour is also one of undo.
 *
 * What a test does in it is told by jobs.h and fake.h. */
#pragma once
#include "base/mem.h"
#include "engine/core/model.h"
#include "engine/test/table.h"

/* A command and what became of it. */
struct asked {
    struct command cmd;
    struct arena arena;
    unsigned answers; /* how often it came back: 0 while it is parked, then 1 for ever */
    struct list_node node;
};

struct world {
    struct engine *engine;
    struct engine_options options;
    struct table table;
    struct partition_set owned; /* all there is, unless the test is about one of several servers */
    uint64_t epochs[PARTITIONS_MAX];         /* of several: under which it is loaded, */
    int64_t unsure_until_ms[PARTITIONS_MAX]; /* with these terms, by the boot clock, */
    int64_t alive_ms[PARTITIONS_MAX];        /* and this known about the owner before */
    int64_t now_ms;                          /* wall clock */
    int64_t booted_ms;  /* wall clock: when the boot clock began; moves when the clock is set */
    int64_t stepped_ms; /* as in a moment, and so are these */
    int64_t shaken_ms;
    bool unsure;
    struct list asked; /* all that were not forgotten */
    struct command *commands[4096];
    size_t command_count;
    struct arena arena; /* of the turn */
    /* What the last turn came to. Texts of jobs that ended in it are gone. */
    struct delta delta;
    const struct event *events;
    size_t event_count;
    bool relaxed; /* leaves out the checks that look at everything */
};

void world_init(struct world *w, const struct engine_options *options);

/* The same, as one of several servers. */
void world_init_part(struct world *w, const struct engine_options *options,
                     struct partition_set owned);

/* The cleanup of a test's world. */
void world_free(struct world *w);

#define WORLD_WITH(name, options)                                                                  \
    CLEANUP(world_free) struct world name;                                                         \
    world_init(&name, &(options))
#define WORLD(name) WORLD_WITH(name, engine_defaults)

struct moment world_now(const struct world *w);
int64_t world_wait_ms(const struct world *w);

/* The wall clock is another one, and nobody says why. */
void world_set_clock(struct world *w, int64_t by_ms);
/* It was set, and that was accepted. */
void world_step(struct world *w, int64_t by_ms);

/* ---- turns */

/* A command for the next turn, by an administrator; the world's until asked_free. */
struct asked *ask(struct world *w, enum command_kind kind);

/* Of a command that came back. */
void asked_free(struct asked *asked);

void world_turn(struct world *w);

/* Time goes by, then there is a turn. The server was awake: turns in which there was nothing to do
 * are left out. */
void world_pass(struct world *w, int64_t ms);
/* The same without that turn. */
void world_wake(struct world *w, int64_t ms);
/* The server stood still for so long, then there is a turn. */
void world_sleep(struct world *w, int64_t ms);

/* The server dies and another one loads what the table remembers. Parked polls are dropped. */
void world_restart(struct world *w);

/* The same, but the engine that was there is given back, for who wants to hand over:
 * engine_free. */
struct engine *world_replace(struct world *w);

/* A server that owns these partitions is in charge from now on. */
void world_own(struct world *w, struct partition_set owned);

/* ---- the parts of a turn, for who does something in between */

/* What the commands come to, not committed yet. */
const struct delta *world_decide(struct world *w);

/* Decides, and makes it undone. ret_delta: what was decided. */
void world_decide_and_undo(struct world *w, struct buf *ret_delta);

/* Keeps w->delta. */
void world_commit(struct world *w);

/* Everything that check.h knows. */
void world_check(struct world *w);

enum { TEXT_MAX = 64 << 20 }; /* of an engine, or of a delta */

/* Shows the first line that differs; the whole would be pages. */
void assert_same_text(const struct buf *expected, const struct buf *found);

/* model.h - the engine as its own files see it: all that it holds in memory.
 *
 * Jobs, executions and workers each have *values* (`v`), which a turn changes and undo restores,
 * and *places* (heaps and lists), which follow from the values: `exec_place` and `worker_place`
 * put a thing where its values say, `…_unplace` takes it out. So undo needs no log of what was
 * moved where: it takes the thing out, puts the old values back, and places it again. And the
 * delta needs no log either: it is the difference between before and after of what was touched.
 * Lists whose order matters are kept in the order of a number among the values, for the same
 * reason: a thing that was undone stands exactly where it stood.
 *
 * The structs of a module stand in its header, with its functions; this header has only what
 * joins them. */
#pragma once
#include "base/id.h"
#include "engine/core/tally.h"
#include "engine/core/turn.h"
#include "engine/ready/ready.h"
#include "engine/ready/worker_class.h"
#include "engine/submit/definition.h"

/* Numbers that only grow: undo does not take them back. */
struct newest_numbers {
    uint64_t turn;    /* of the newest commit */
    uint64_t begun;   /* turns, undone ones included */
    uint64_t poll;    /* polls decided; marks the leases that one of them listed */
    uint64_t grant;   /* leases granted */
    uint64_t parking; /* polls parked */
};

/* Per partition, what came with its ownership (`struct ownership`). */
struct tenure {
    uint64_t epochs[PARTITIONS_MAX];         /* of the owned partitions, in a cluster */
    int64_t unsure_until_ms[PARTITIONS_MAX]; /* boot clock */
    int64_t alive_ms[PARTITIONS_MAX];        /* boot clock; never 0 */
};

struct engine {
    struct engine_options options;
    struct id_gen ids;
    struct partition_set owned;
    bool shared; /* other servers may own the partitions that this one does not */
    struct tenure tenure;
    uint64_t voice; /* in a cluster, tells this engine from those before and after it */
    struct moment loaded;
    struct newest_numbers newest;
    uint32_t bucket;      /* of the newest job; the next job goes to the next bucket */
    uint64_t token_floor; /* tokens are larger: the store may have lost some that were given */
    uint64_t lost_turns;  /* turns that the store lost; the next turn raises an alert about them */
    struct map jobs;
    struct map execs;
    struct map workers;
    struct map charges; /* owned: struct str by execution, see breakers.h */
    struct map traces;  /* owned: struct str by execution, see traces.h */
    struct dependencies depends;
    struct strmap homes;      /* owned: struct home, by key */
    struct own_row *own_rows; /* owned; looked at in the first turn */
    struct queues queues;
    struct strmap names;       /* owned: texts that stay */
    struct strmap definitions; /* shared definitions, by their key */
    struct calendars calendars;
    uint32_t readings;     /* how often all calendars, queues and cordons were read so far */
    struct strmap uniques; /* key -> the execution in memory that holds it, see unique.h */
    struct ready ready;
    struct heap dues;      /* waiting executions, by the wall clock */
    struct heap deadlines; /* executions that should have started by then, by the wall clock */
    struct heap terms;     /* leases and workers, by the boot clock */
    bool slept;            /* the server stood still; leases have not got a new term for it yet */
    struct heap pacing;    /* executions that are PACE_ASKING, by id */
    struct worker_classes worker_classes;
    struct forecast *forecast; /* owned; NULL: nobody has asked yet */
    struct alerts alerts;
    struct silences silences;
    struct horizon horizon;
    struct zone_changes zones;
    struct list orphans; /* leases of workers that are not in memory */
    struct operations operations;
    struct retain retain;
    struct tally_keys tally_keys;
    struct inbox inbox;
    struct stepped_clock clock;
    int64_t newest_ready_ms; /* a clock set back lets no work overtake what waits already */

    /* The newest time that the engine was told: asked for between turns, too. */
    struct moment moment;
    int64_t now_ms;  /* wall clock */
    int64_t boot_ms; /* boot clock */

    struct engine_turn turn;
};

/* The time of this turn. */
static inline struct moment now_of(const struct engine *e)
{
    return (struct moment){.wall_ms = e->now_ms, .boot_ms = e->boot_ms};
}

/* A turn is under way. */
static inline bool in_turn(const struct engine *e)
{
    return e->turn.arena != NULL;
}

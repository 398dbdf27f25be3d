/* world.h - what a plan begins with: jobs, their runs ahead and under way, limits, calendars and
 * workers, as a server told them, and how long runs take.
 *
 * Records are those that stores keep, so the engine is loaded from here as it is from a store. Ids
 * are the real ones: a job's share of a stagger follows from its id. */
#pragma once
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/record/record.h"
#include "job/spec.h"
#include "wire/json/json.h"

struct zones;

/* Together they stay below PLAN_BYTES_MAX, with room for what will wait. */
enum {
    WORLD_JOBS_MAX = 50000,  /* 3.6 KB each, with what the engine has of them */
    WORLD_RUNS_MAX = 200000, /* unfinished executions, some 300 bytes each */
};

struct world_job {
    struct job_rec rec; /* spec: canonical, without the payload */
    struct rules rules;
    struct str zone; /* of its schedule by cron, by name */
    int64_t p50_ms;  /* of its runs; -1: none has completed lately */
    bool is_upstream;
};

/* Workers that take the same work; those that are away, draining or cordoned are not among them. */
struct world_crew {
    struct str queues;   /* newline-separated; empty: all */
    struct str handlers; /* newline-separated */
    bool runs_commands;
    uint64_t slots;
};

struct world {
    struct arena arena;  /* owned: all texts and rows */
    struct zones *zones; /* owned */
    int64_t now_ms;      /* by the server's clock, after all was read */
    VEC(struct world_job *) jobs;
    struct map jobs_by_id;
    struct strmap jobs_by_name; /* those that have a name */
    VEC(struct exec_rec) runs;
    VEC(struct exec_rec) ended; /* the newest slots of jobs that others wait for */
    VEC(struct dependency_rec) dependencies;
    VEC(struct queue_rec) queues;
    VEC(struct team_rec) teams;
    VEC(struct calendar_rec) calendars;
    VEC(struct world_crew) crews;
    size_t workers_out; /* those that take nothing new */
    size_t jobs_unread; /* their definition cannot be read here */
    size_t jobs_paused;
    size_t jobs_measured; /* recurring ones with a p50 */
    size_t jobs_recurring;
    size_t queues_paused;
};

void world_open(struct world *world);
void world_close(struct world *world); /* also usable as CLEANUP(world_close) */

/* Adds a job from its row and definition; its rules are made by the zones of this system. A job
 * that cannot be read is counted, and left out. */
void world_add_job(struct world *world, const struct job_rec *rec, int64_t p50_ms);
struct world_job *world_job(const struct world *world, uint64_t id);           /* NULL: none */
struct world_job *world_job_named(const struct world *world, struct str name); /* NULL: none */
/* Of jobs that recur and have nothing ahead, which may be where one was read a moment before the
 * other, puts the next slot ahead. Marks upstreams. Behind all that was added. */
void world_settle(struct world *world);
/* The job's name, or its id. */
struct str world_job_title(const struct world_job *job, struct arena *arena);

/* explain.h - why something does not run: the command, and what its two halves share.
 *
 * explain.c finds the execution and tells what lies in its own life: paused, scheduled, failed
 * before, behind another run, stopping, over. explain_ready.c tells what would keep a ready one
 * from a worker: queues, limits, workers, and who stands before it. Looking changes nothing: what
 * was read from the store for it and lies beyond the horizon leaves memory with the turn. */
#pragma once
#include "engine/core/model.h"

/* The execution that is explained, and its blockers found so far. */
struct scene {
    const struct engine *engine;
    struct arena *arena; /* the command's: the answer outlives the turn */
    const struct job *job;
    const struct exec *exec;       /* NULL: it is over, and only the store knows it */
    const struct exec_rec *record; /* as the store knows it; NULL: not asked */
    struct str job_trail;          /* as stored; this turn's steps come behind it */
    struct str exec_trail;         /* empty: not asked */
    VEC(struct blocker) blockers;
};

void scene_add(struct scene *s, struct blocker blocker);
/* "2026-11-16 03:00:00Z", in the scene's arena. */
struct str scene_when(const struct scene *s, int64_t at_ms);
struct str scene_id(const struct scene *s, const char *prefix, uint64_t id);

/* Adds a blocker, and returns true, when no connected worker would take it, now or later. */
bool explain_unserved(struct scene *s);
/* Adds all that keeps it from starting although its time has come. */
void explain_ready(struct scene *s);

/* ---- CMD_EXPLAIN_JOB, CMD_EXPLAIN_EXEC */

void ask_explain(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
void decide_explain(struct engine *e, struct command *cmd);

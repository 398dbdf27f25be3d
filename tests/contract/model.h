/* model.h - what a store should hold, in the plainest form: two arrays.
 *
 * Random lives are led by the model: it knows every job and execution, moves them along the table
 * of job/state.h, and hands the same delta to the store. Whatever the store then says is compared
 * with the arrays. */
#pragma once
#include "base/vec.h"
#include "world.h"

struct model {
    struct arena arena; /* owns every text below */
    VEC(struct job_rec) jobs;
    VEC(struct exec_rec) execs; /* finished ones too */
    VEC(struct attempt_rec) attempts;
};

void model_free(struct model *m);
void model_apply(struct model *m, const struct delta *delta);
const struct job_rec *model_job(const struct model *m, uint64_t id);
const struct exec_rec *model_exec(const struct model *m, uint64_t id);

/* A random turn: up to `count` new jobs and as many steps of executions that are under way. In
 * arena; not applied yet. */
struct delta model_turn(struct world *w, const struct model *m, size_t count, struct arena *arena);
/* Some turns, committed and applied, with a few on the way that fail and must leave no trace. */
void model_live(struct world *w, struct model *m, size_t turns);

enum detail { BRIEF, WHOLE }; /* brief: without payload, result and trail */

void assert_same_job(const struct job_rec *got, const struct job_rec *want, enum detail detail);
void assert_same_exec(const struct exec_rec *got, const struct exec_rec *want, enum detail detail);

/* promises.h - what must hold, after every step.
 *
 * What a delta alone can break is checked where it is kept (model.h); here is what takes two to
 * compare: answers and what was kept, the engine and what was kept, lists and what was kept. */
#pragma once
#include "server.h"

struct world;
struct model_exec;
struct submission;

/* Answers that are about to leave the server say what was kept, and no more. */
void promise_answers(struct world *w, struct sim_server *s, const struct list *done);
/* One of them: the reply to a poll. */
void promise_poll(struct world *w, const struct command *cmd);
/* What is told to be made into spans has ended, for good, and is told once: turn.on_ended, whose
 * argument is the world. */
void promise_ended(void *arg, const struct ended_trace *ended, size_t count);
/* … or the answer to a command about workers; kept_nothing: the turn has changed nothing. */
void promise_workers(struct world *w, const struct command *cmd, bool kept_nothing);
/* Those that are not forgotten. */
size_t promise_workers_known(const struct world *w);
/* What a worker is told to stop is not its own any more: when that is said, and when it is done. */
void promise_stop(struct world *w, uint64_t worker_id, const struct poll_stop *stop);
/* Whatever a turn took is answered by now, or is a poll that the engine has parked. */
void promise_parked(struct world *w, const struct sim_server *s);
/* When something is said to start: as an explanation tells it in a turn that kept nothing, and as the
 * answer to a submission does (promise_estimates.c). */
void promise_estimate(struct world *w, const struct model_exec *x, const struct estimate *told);
void promise_estimate_of_new(struct world *w, const struct submission *item);
/* A command that was refused because its turn could not be kept has left nothing behind. */
void promise_refused(struct world *w, const struct command *cmd);

/* Memory holds what the store holds within the horizon; slots and permits are the live leases;
 * whatever waits for a moment has a timer; nobody waits for work that waits for nobody. */
void promise_engine(struct world *w, const struct sim_server *s);
/* After a turn that was kept, and began at that moment: its server goes by calendars as they are, or were within
 * the lease of a node. */
void promise_calendars(struct world *w, struct sim_server *s, int64_t boot_ms);
/* After a turn that was kept: nothing is in memory that lies far ahead, even when the wall clock was
 * set back. */
void promise_near(struct world *w, const struct sim_server *s);
/* After a turn that failed: everything is as it was before. */
void promise_undone(struct world *w, const struct sim_server *s, struct str before);

/* Everything that was acknowledged is in the store. */
void promise_acknowledged(struct world *w);
/* A list or a record, read at random, says what the model says. */
void promise_reads(struct world *w);
/* After the last day: the whole store against the whole model. */
void promise_all_reads(struct world *w);

/* A worker starts a run: nobody else runs the same job. */
void promise_alone(struct world *w, const struct sim_worker *worker, uint64_t exec_id);

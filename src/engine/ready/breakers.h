/* breakers.h - what opens and closes breakers: reports about targets that keep failing. */
#pragma once
#include "job/command/command.h"

struct breaker;
struct definition;
struct engine;
struct exec;
struct job;
struct move;

/* A lease of the execution begins: it may be a probe. */
void breaker_started(struct engine *e, const struct exec *x);
/* A lease of the execution ended by this move, or a late success came in; recharged: the value
 * before the move. */
void breaker_heard(struct engine *e, const struct exec *x, const struct move *move, bool recharged);
/* The job has another definition: running executions stay charged to the target that they were
 * started for. */
void breaker_edited(struct engine *e, struct job *job, const struct definition *old);
/* The target that a lease is charged to when its job does not name it any more; empty: none; NULL:
 * the job's. Kept by the execution's id until that leaves memory, or its lease has ended in a
 * committed turn. */
const struct str *charge_of(const struct engine *e, const struct exec *x);
void charge_keep(struct engine *e, struct exec *x, struct str target);
void charge_drop(struct engine *e, const struct exec *x);
/* The breaker's rest is over, or it is to be forgotten. */
void breaker_wake(struct engine *e, struct breaker *b);
/* The clock was set: breakers that are not closed move as runs do, so that a run still began before
 * or after one opened. */
void breakers_step(struct engine *e, int64_t by_ms);
struct breaker_rec breaker_record(const struct breaker *b);
void decide_breakers(struct engine *e, struct command *cmd);
void decide_reset_breaker(struct engine *e, struct command *cmd);

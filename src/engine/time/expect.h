/* expect.h - jobs that are pinged and not run: a dead man's switch.
 *
 * What runs elsewhere (a cron job, a backup of another machine) tells with a *ping* how it went.
 * Such a job has one execution ahead (ORIGIN_PING), scheduled for the moment at which the silence
 * has lasted for `every` and `grace`. A ping ends it, as completed or failed, and puts the next one
 * ahead, counted from now; so do a resume and another expectation, without ending it. It has no
 * lease, no retry and no dead letter.
 *
 * When that moment comes without a ping, the execution is late: it is said in its trail, and it
 * goes on waiting, but not among the dues. A job is in trouble from its first silence or failure
 * until a ping tells of a success, and of one trouble the alert `missed` is raised once: SLA_MISSED
 * among the marks of the execution ahead remembers that, and goes from one to the next. Marks and
 * late are values that are stored, so neither a restart nor another owner repeats the alert. */
#pragma once
#include "engine/core/engine.h"

struct exec;
struct job;

/* The job waits for pings. */
bool job_expects(const struct job *job);
/* The execution waits for a ping that should have come by now: it has no timer. */
bool expect_is_missed(const struct exec *x);
/* The job was resumed: the wait for a ping begins anew, and what was told is forgotten. */
void expect_resume(struct engine *e, struct job *job);
/* The execution ahead is over: puts the next one ahead, whose wait begins now. */
void expect_put_next(struct engine *e, const struct exec *x);
/* Another expectation holds from now on. */
void expect_replan(struct engine *e, struct job *job, struct str actor);
/* The moment has come, and no ping. */
void expect_due(struct engine *e, struct exec *x);
/* The clock was set back by so much (a negative number): no wait is longer for it. */
void expect_step_back(struct engine *e, struct exec *x, int64_t by_ms, struct str reason);
/* True, and the command has failed: it asks for a run of a job that is not run here. */
bool refuse_expecting(struct engine *e, struct command *cmd, const struct job *job);
void decide_ping(struct engine *e, struct command *cmd);

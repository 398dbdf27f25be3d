/* jobs.h - commands about jobs and executions that exist: cancel, pause, run now, run again. */
#pragma once
#include "engine/core/engine.h"

struct job;

void decide_cancel_job(struct engine *e, struct command *cmd);
void decide_cancel_exec(struct engine *e, struct command *cmd);
void decide_retry(struct engine *e, struct command *cmd);
void decide_retry_letter(struct engine *e, struct command *cmd);
/* A retry that asked its questions and is not decided in this turn: gives back the name and the key
 * that it took. */
void retry_forgo(struct engine *e, const struct command *cmd);
void decide_pause(struct engine *e, struct command *cmd);
void decide_resume(struct engine *e, struct command *cmd);
void decide_trigger(struct engine *e, struct command *cmd);
void ask_target(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
/* True, and the command has failed, when the job has ended. */
bool refuse_over(struct engine *e, struct command *cmd, const struct job *job);
/* All unfinished executions of the job are in memory. Of a job in memory only the slot ahead may be
 * missing, since it may lie beyond the horizon (or the schedule is at its end, which memory cannot
 * tell). */
bool job_is_whole(const struct job *job);
/* The job that the command is about: the one in memory when nothing had to be asked, else
 * adopt_answer. */
struct job *target_job(struct engine *e, struct command *cmd);
/* Takes over the job and the unfinished executions that the store answered with. NULL: there is no
 * such thing, or it makes no sense, and the command has failed. */
struct job *adopt_answer(struct engine *e, struct command *cmd);

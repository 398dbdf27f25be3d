/* slow_runs.h - runs that take much longer than those of their job usually do. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct exec;
struct question;
struct question_list;

/* A question of this turn about how long the runs of a job take. */
struct slow_runs_asked {
    uint64_t exec_id;
    const struct question *question;
};

/* As far as is known the run may turn out to be slow. */
bool slow_runs_watches(const struct engine *e, const struct exec *x);
/* When to look at the run next; 0: never. */
int64_t pace_next_ms(const struct engine *e, const struct exec *x);
/* That moment has come. */
void slow_runs_due(struct engine *e, struct exec *x);
/* Asks what is usual for some of those that are to be looked at, and takes the answers. */
void slow_runs_ask(struct engine *e, struct question_list *list);
void slow_runs_answer(struct engine *e);

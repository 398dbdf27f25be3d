/* sla.h - runs that take longer than their job's SLA allows. */
#pragma once
#include "engine/core/exec.h"
#include "job/sla.h"

/* When the next limit comes that was not told yet, while the execution runs; 0: never. */
int64_t sla_next_ms(const struct exec *x);
/* That moment has come. */
void sla_due(struct engine *e, struct exec *x);
/* The same for all limits up to now. Terms end before dues come in a turn, and after an outage both
 * may have passed: a lease that ends in silence must not end as if its run had been in time. */
void sla_catch_up(struct engine *e, struct exec *x);
/* A lease begins: the clock runs from now, or goes on. */
void sla_begin(const struct engine *e, const struct exec *x, struct exec_values *to);
/* The attempt is about to end, by a report or for good. */
void sla_end(struct engine *e, struct exec *x);
/* Another attempt will follow, with a clock of its own. */
void sla_reset(struct exec_values *to);
/* The run took longer than it may and has to stop: its worker is told so. */
static inline bool sla_stops(const struct exec *x)
{
    return (x->v.sla_marks & SLA_STOP) != 0;
}
/* The limit had passed by then, or that is not known. */
bool sla_was_over(const struct exec *x, int64_t wall_ms);
/* Why the run was stopped, in words. */
struct str sla_error(struct engine *e, const struct exec *x);
void decide_extend_sla(struct engine *e, struct command *cmd);

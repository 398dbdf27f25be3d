/* silence.h - leases that nobody has named yet, and what may be said about leases by a server that
 * is not sure to be their owner. */
#pragma once
#include "base/plant.h"
#include "engine/core/model.h"

/* ---- silence.c: leases that end unseen */

enum { SUSPECT_FROM = 2, SUSPECT_FOR_GOOD_FROM = 8 };

/* It may be what takes servers and workers down. */
static inline bool exec_is_suspect(const struct exec *x)
{
    return x->v.unseen >= SUSPECT_FROM;
}
/* It runs, and what becomes of its worker is put down to it. */
bool exec_on_probation(const struct exec *x);
/* The worker has one of those, and may have no other. */
bool worker_on_probation(const struct worker *w);
/* Its worker names it in a poll. */
void probation_named(struct engine *e, struct exec *x);
/* No poll has named the lease since it was loaded. */
static inline bool lease_is_unseen(const struct lease *lease)
{
    return lease->inherited && !lease->confirmed;
}
/* Of an attempt that nobody has named since it was loaded: its time was over when its server was
 * last known to be alive, so that is how it ended. */
bool unseen_timed_out(const struct engine *e, const struct exec *x);
bool unseen_sla_over(const struct engine *e, const struct exec *x);
/* The server may have stood still until this turn, for so long that leases ran out meanwhile: a
 * closed laptop, a stopped process. They could not be renewed meanwhile, so that says nothing about
 * their workers. Leases that are ours to decide about get another term, once for each time; a turn
 * without the store, or without being the owner, leaves that to the next one that is kept. */
void silence_begin(struct engine *e, int64_t boot_ms);
void silence_spare(struct engine *e);
/* When the next turn has to be, so that one which comes later tells of that; INT64_MAX: whenever.
 * Boot clock. */
int64_t silence_turn_ms(const struct engine *e);
/* The term of a lease has passed. */
void silence_ended(struct engine *e, struct exec *x);
/* All that the worker had is over: it is dead for sure. */
void silence_dead(struct engine *e, uint64_t worker_id);

/* ---- kept.c: answers of a server that may not be the owner, and polls that it heard meanwhile */

/* The answers of this turn are provisional. */
static inline bool is_provisional(const struct engine *e)
{
    return e->turn.away && e->shared && !PLANTED(outage_decides);
}
/* Answers a poll within a turn that is provisional. */
void answer_provisionally(struct engine *e, struct command *cmd);
/* The reply to this poll says what we own, and under which epochs. */
void worker_told(struct engine *e, struct worker *w, struct command *cmd);
/* The worker has read such a reply of ours when it wrote the poll. */
bool worker_has_heard(const struct engine *e, const struct worker *w, const struct poll *poll);

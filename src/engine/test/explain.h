/* explain.h - asking why, for the tests of what is answered. */
#pragma once
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

/* Each takes a turn. */
const struct explanation *explain(struct world *w, enum command_kind kind, uint64_t id);
const struct explanation *explain_job(struct world *w, const struct submission *job);

/* The only thing that blocks the job, which must be of this kind. Takes a turn. */
const struct blocker *only(struct world *w, const struct submission *job, enum blocker_kind kind);
const struct blocker *find(const struct explanation *found, enum blocker_kind kind);
void assert_says(struct str text, const char *words);

/* A worker that waits with so many free slots. Takes two turns. */
struct fake hire_parked(struct world *w, struct skills skills, uint32_t free);
struct asked *ask_queue(struct world *w, const char *name, struct queue_wish wish);
void pause_job(struct world *w, uint64_t id, const char *reason);

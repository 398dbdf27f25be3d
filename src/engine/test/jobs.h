/* jobs.h - commands about jobs, and what became of those, for the engine's tests. */
#pragma once
#include "engine/test/wish.h"
#include "engine/test/world.h"

struct asked *ask_submit_all(struct world *w, const struct wish *wishes, size_t count);
struct submission *ask_submit_one(struct world *w, struct wish wish);

#define SUBMIT(world, ...) ask_submit_one((world), (struct wish){.unused = 0, __VA_ARGS__})

/* Any command whose target is a job or an execution. */
struct asked *ask_about(struct world *w, enum command_kind kind, uint64_t id);

/* Another definition for a job, made from that version; replan: when it runs is another wish,
 * too. */
struct asked *ask_edit_to(struct world *w, uint64_t id, uint32_t version, bool replan,
                          struct wish wish);

#define EDIT(world, id, version, replan, ...)                                                      \
    ask_edit_to((world), (id), (version), (replan), (struct wish){.unused = 0, __VA_ARGS__})

/* document NULL: deletes it. */
struct asked *ask_put_calendar(struct world *w, const char *name, const char *document);

/* In memory; NULL when it is not there. */
const struct exec *exec_of(const struct world *w, uint64_t id);

/* In the table or in its history; EXEC_NONE when there is no such execution. */
enum exec_state state_of(const struct world *w, uint64_t id);
enum job_state job_state_of(const struct world *w, uint64_t id);
const struct attempt_rec *attempt_of(const struct world *w, uint64_t id, uint64_t token);

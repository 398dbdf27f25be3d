/* run_env.h - the environment of a command.
 *
 * Three layers, each overriding the one before: the variables that the worker hands down of its own
 * (`job/job_env.h`: PATH, HOME, TZ ..., and no secrets); the job's own `env`; and what belfry tells
 * every command about itself. */
#pragma once
#include "base/arena.h"
#include "job/poll.h"
#include "job/spec.h"

/* Facts that belfry tells a command. */
struct run_facts {
    const struct poll_lease *lease;
    const char *payload_path;
    const char *result_path;
    const char *checkpoint_path;
    int64_t deadline_ms; /* wall clock; 0: none */
};

/* NUL-terminated "KEY=value" entries, a NULL behind the last; in the arena, or `inherited`'s
 * own. */
char **run_env(char *const *inherited, const struct spec *spec, const struct run_facts *facts,
               struct arena *arena);

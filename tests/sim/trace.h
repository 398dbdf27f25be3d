/* trace.h - what happened, a line each, and what must not happen.
 *
 * With tracing on, every event is a line: the moment on the boot clock since the day began, who,
 * what. Jobs and executions are called by the number of their submission: j17, x17; whatever was
 * run again is x17/2. A broken promise ends the process with the seed, the promise in a sentence,
 * and how to repeat it. */
#pragma once
#include "base/str.h"

struct world;

struct trace {
    bool on;
};

void trace_write(struct world *w, const char *who, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define SAY(w, who, ...)                                                                           \
    do {                                                                                           \
        if ((w)->trace.on)                                                                         \
            trace_write((w), (who), __VA_ARGS__);                                                  \
    } while (0)

/* The promise that does not hold, as a sentence. */
_Noreturn void promise_broken(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define PROMISE(w, holds, ...)                                                                     \
    do {                                                                                           \
        if (!(holds))                                                                              \
            promise_broken((w), __VA_ARGS__);                                                      \
    } while (0)

/* Names for people; good until the eighth next one. */
const char *job_label(const struct world *w, uint64_t id);
const char *exec_label(const struct world *w, uint64_t id);

/* An assert that fails says its seed, too. The world is the one that lives now, or NULL. */
void trace_catch_aborts(struct world *w);

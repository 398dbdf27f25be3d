/* child.h - another process of a benchmark: belfry itself, in another role.
 *
 * What is measured must not share a process with what measures, or the figures hide the cost of
 * sockets and switches, so server and worker are started from our own binary. A child speaks to us
 * in lines, on its standard output or standard error; it dies when we die, however that happens.
 * ^C reaches only us (a child has a process group of its own), so that we can end it in order. */
#pragma once
#include "base/str.h"

#include <uv.h>

struct child;

struct child_options {
    const char *const *argv; /* {"belfry", "server", ..., NULL}; at most 32 */
    int lines_fd;            /* STDOUT_FILENO or STDERR_FILENO: what on_line hears */
    void (*on_line)(void *arg, struct str line);
    void *arg;
};

/* Options are borrowed for the call. */
enum rc child_start(uv_loop_t *loop, const struct child_options *options, struct child **ret_child,
                    struct err *err);
/* Kills and reaps it when it still runs. The loop must run once more. NULL is fine. */
void child_free(struct child *c);

/* False once it has ended, been reaped, and all it said was heard. Asks the system, so it may be
 * called whenever there was a SIGCHLD. */
bool child_runs(struct child *c);
void child_signal(struct child *c, int signum);
/* How it ended, after child_runs said false: "exit code 1", "Killed"; NULL for exit code 0. */
const char *child_complaint(const struct child *c);

/* Processor time of all its threads so far, user and system. */
int64_t child_cpu_us(const struct child *c);
/* The most memory it ever had resident; known after its end only. */
int64_t child_peak_bytes(const struct child *c);

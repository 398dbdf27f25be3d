/* oom_watch.h - whether the kernel has killed for memory.
 *
 * A command that dies by SIGKILL without our doing may have been killed by anybody; the kernel
 * alone counts those it killed for memory, per cgroup where there are any, else for the machine.
 * When that number has grown while the command ran, its death is put down to it: a guess only when
 * others in the same cgroup die of memory at the same time. */
#pragma once
#include <stdint.h>

struct oom_watch {
    int fd; /* owned; -1: this machine does not say */
};

/* Looks for the place where the kernel counts, first of all for the cgroup we are in. */
void oom_watch_open(struct oom_watch *watch);
/* How many were killed so far; 0 when nobody says. */
int64_t oom_watch_count(const struct oom_watch *watch);
void oom_watch_close(struct oom_watch *watch);

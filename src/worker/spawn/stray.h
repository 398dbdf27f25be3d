/* stray.h - the children of this process, as the kernel sees them.
 *
 * A subreaper inherits every descendant whose parent has died, whatever session or group it moved
 * to. That makes "kill all that is left" a matter of asking for one's own children until there are
 * none. For the main thread: in /proc children belong to threads, and orphans go to the first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Calls visit for every child, zombies included. One that appears or vanishes meanwhile may be
 * missed, so a caller that wants all of them repeats. */
void stray_each(void (*visit)(void *arg, pid_t child), void *arg);

/* Finds the entry that starts with `prefix` ("KEY=") in the environment pid was started with, and
 * copies it, cut to `size` with its NUL. False when there is none or when it cannot be read. */
bool stray_env(pid_t pid, const char *prefix, char *ret_entry, size_t size);

/* Facts that the kernel keeps about a process, whatever that does to its environment. */
struct stray_birth {
    pid_t session;
    unsigned long long at; /* in ticks of the kernel's clock */
};
bool stray_birth(pid_t pid, struct stray_birth *ret_birth);
/* Now, by the clock that births are told by. */
unsigned long long stray_now(void);

/* Kills and reaps children, and what they leave to us, until there are none. Gives up on those that
 * cannot be killed (another user's, or stuck in the kernel) after timeout_ms, as a rule
 * STRAY_TIMEOUT_MS: false when some are left. */
enum { STRAY_TIMEOUT_MS = 5000 };
bool stray_kill_all(int timeout_ms);

/* thread.h - a named thread that no signal disturbs.
 *
 * Signals belong to the main loop (see signals.h); a thread started here has all of them blocked,
 * so a SIGTERM never interrupts a commit. Threads end by returning, usually because the mailbox
 * they listen to was closed; there is no way to kill one. */
#pragma once
#include "base/err.h"

struct thread;

typedef void thread_main(void *arg);

/* Starts run(arg). The name is what `top -H` shows, cut after 15 bytes. */
enum rc thread_start(const char *name, thread_main *run, void *arg, struct thread **ret_thread,
                     struct err *err);
/* Waits until it has returned, and frees it. NULL is fine. */
void thread_join(struct thread *t);

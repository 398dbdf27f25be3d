/* spawn_wire.h - what a worker and its spawner say to each other.
 *
 * They share a socket pair that keeps messages apart (SOCK_SEQPACKET). The worker asks for a
 * command to be run, or for one to be signalled; each request is one small message. The arguments
 * and the environment of a command are of any size, so they travel as a memory file (the plan)
 * beside the message, together with the three descriptors the command will see as 0, 1 and 2.
 *
 * Every SPAWN_RUN is answered by exactly one SPAWN_ENDED, whatever happens; when the command could
 * not be started, a SPAWN_FAILED with the reason comes before it. There is no message for success:
 * no caller waits for it, and a signal may be sent as soon as the request is on its way. Both ends
 * are one binary on one machine, so structs travel as they are.
 *
 * Until when each command may run stands in memory that both share: a worker with thousands of
 * commands moves all their deadlines several times in a lease, and the spawner has to know only
 * when one has come. */
#pragma once
#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The entry that every command carries in its environment, and no other command of this worker
 * carries with the same value: by it the spawner recognises whose child a stray process is. It
 * names the execution and the lease: the next attempt may run here while something of this one is
 * left. */
#define SPAWN_MARK "BELFRY_RUN="

enum { SPAWN_MARK_MAX = 64 };

enum spawn_verb {
    SPAWN_RUN = 1,
    SPAWN_SIGNAL, /* to the command's whole process group */
};

enum { SPAWN_COMMANDS_MAX = 16384 }; /* at once; more than a worker has slots */

/* Shared between the two processes; written by the worker, read by the spawner. A deadline is moved
 * to a later moment, never to an earlier one. */
struct spawn_deadlines {
    _Atomic int64_t at_ms[SPAWN_COMMANDS_MAX]; /* boot clock; 0: none */
};

struct spawn_request {
    uint64_t id; /* the worker's own number for the command */
    enum spawn_verb verb;
    int signal;
    uint32_t place;            /* SPAWN_RUN: in the deadlines */
    char mark[SPAWN_MARK_MAX]; /* the command's SPAWN_MARK entry, NUL-terminated */
};

/* Descriptors that come with SPAWN_RUN, in this order. */
enum spawn_fd { SPAWN_FD_STDIN, SPAWN_FD_STDOUT, SPAWN_FD_STDERR, SPAWN_FD_PLAN, SPAWN_FDS };

enum spawn_kind {
    SPAWN_FAILED = 1, /* step and error say what could not be done */
    SPAWN_ENDED,      /* the leader was reaped and its group killed */
};

enum spawn_step {
    SPAWN_STEP_FORK = 1,
    SPAWN_STEP_SETUP,
    SPAWN_STEP_CHDIR,
    SPAWN_STEP_EXEC,
};

struct spawn_event {
    uint64_t id;
    enum spawn_kind kind;
    enum spawn_step step; /* SPAWN_FAILED */
    int error;            /* SPAWN_FAILED: an errno */
    int wait_status;      /* SPAWN_ENDED: as of wait(2) */
    bool overdue;         /* SPAWN_ENDED: its deadline had come, and it was killed for that */
    int64_t cpu_ms;       /* user and system, of the leader and all it waited for */
    int64_t peak_memory_bytes;
};

/* A command to execute. Lists end with NULL. */
struct spawn_plan {
    const char *working_dir; /* NULL: where the worker was started */
    char *const *argv;
    char *const *env;
};

/* Writes a plan into a new memory file. */
enum rc spawn_plan_write(const struct spawn_plan *plan, int *ret_fd, struct err *err);
/* Reads it back, into the arena. Returns 0, or an errno. */
int spawn_plan_read(int fd, struct arena *arena, struct spawn_plan *ret_plan);

/* One message, with fd_count descriptors, or none. `flags` as of send(2). Returns 0, or an errno;
 * EAGAIN only with MSG_DONTWAIT. */
int spawn_send(int sock, const void *message, size_t bytes, const int *fds, size_t fd_count,
               int flags);
/* Takes one message of exactly `bytes`, without waiting, and up to SPAWN_FDS descriptors, which are
 * the caller's then (close-on-exec; absent ones are -1). ret_fds may be NULL when none are
 * expected. Returns 0, EAGAIN, or EPIPE when the other side is gone; before that ECONNRESET, once,
 * when it went with messages of ours unread: messages of its own may still follow. */
int spawn_receive(int sock, void *ret_message, size_t bytes, int ret_fds[SPAWN_FDS]);

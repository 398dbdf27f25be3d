/* spawner.h - the small process that starts all commands of a worker.
 *
 * It is started first, while the worker is small, because a fork copies the page tables of its
 * parent: 18 ms from a process of 512 MB. It has one thread and a memory that commands may be born
 * in (`spawn_cradle.h`). It adopts whatever
 * its commands leave behind (it is their subreaper), and when the worker's end of the socket
 * closes, for whatever reason, it kills all of it, removes the worker's temporary directory and
 * ends. So a worker killed with -9 leaves neither a process nor a file.
 *
 * A command ends when its leader ends; the rest of its process group is killed then, and so is what
 * left the group but is recognisably the command's (SPAWN_MARK). `spawn_wire.h` has the messages,
 * `spawner_loop.h` the process itself; this is the worker's handle on it. */
#pragma once
#include "worker/spawn/spawn_wire.h"

#include <sys/types.h>
#include <uv.h>

struct spawner;

struct spawner_events {
    void (*on_event)(void *arg, const struct spawn_event *event);
    /* There is room again after spawner_has_room said no. */
    void (*on_room)(void *arg);
    /* The process is gone, and no SPAWN_ENDED will come for what was running. */
    void (*on_gone)(void *arg);
    void *arg;
};

/* Forks the process; call it before there are threads or a loop. It inherits keep_fd (-1: none),
 * usually a lock that must be held until the last command is dead, and removes tmp_dir in the end.
 */
enum rc spawner_new(const char *tmp_dir, int keep_fd, struct spawner **ret_spawner,
                    struct err *err);
/* From now on events are reported, on this loop. */
void spawner_listen(struct spawner *s, uv_loop_t *loop, const struct spawner_events *events);
/* Closes the socket, at which the process kills everything and ends. The loop must run once more
 * when spawner_listen was called. NULL is fine. */
void spawner_free(struct spawner *s);
pid_t spawner_pid(const struct spawner *s);
/* To be called now and then: lets the process go on when a signal has stopped it, since nothing
 * starts, ends or is reported without it. */
void spawner_wake(struct spawner *s);

/* False when requests pile up: a start takes longer than asking for it. on_room follows. */
bool spawner_has_room(struct spawner *s);
/* Runs a plan; waits when there is no room. The three descriptors stay the caller's, who may close
 * them at once. plan->env must hold `mark`, an entry that begins with SPAWN_MARK. The command is
 * killed at deadline_ms (boot clock; 0: never) unless that is moved before: leases run out also
 * while the worker itself is stopped or starved; its end then says that it was overdue. RC_SHUTDOWN
 * when the spawner is gone, RC_BUSY when it has SPAWN_COMMANDS_MAX. */
enum rc spawner_run(struct spawner *s, uint64_t id, const struct spawn_plan *plan, const char *mark,
                    const int stdio[3], int64_t deadline_ms, struct err *err);
/* Signals the group of a command; nothing happens when it has ended. */
void spawner_signal(struct spawner *s, uint64_t id, int signum);
/* Moves the deadline of a command that has one to a later moment; the others' stay. Costs no system
 * call. */
void spawner_set_deadline(struct spawner *s, uint64_t id, int64_t deadline_ms);

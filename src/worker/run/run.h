/* run.h - one attempt at a command, from its lease to its result.
 *
 * Prepares files and environment, has the spawner start the command, reads what it prints, ends it
 * when it must end (TERM, and KILL after a grace), and says how it ended. The result is held back
 * until the server has the output, for a while at least, so that a reader who sees the end of an
 * execution finds its last line there; and, when it is no success, the checkpoint, so that the next
 * attempt does. */
#pragma once
#include "job/poll.h"
#include "worker/link/output_sender.h"
#include "worker/run/oom_watch.h"
#include "worker/run/run_checkpoint.h"
#include "worker/run/run_end.h"
#include "worker/spawn/spawner.h"

struct run;

enum { RUN_READ_BYTES = 64 << 10 }; /* a full pipe */

/* Shared by all attempts of a worker; outlives them. */
struct run_host {
    uv_loop_t *loop;
    struct spawner *spawner;
    struct output_sender *output_sender;
    struct checkpoint_client *checkpoint_client;
    const char *tmp_dir;
    struct run_spares spares; /* below it */
    char *const *env;         /* inherited by commands */
    uint64_t worker_id;       /* as the server calls us; new leases are given to this one */
    int64_t kill_grace_ms;
    size_t output_bytes_max;
    size_t checkpoint_bytes_max; /* 0: the server keeps none */
    int64_t checkpoint_ms;       /* between two looks at a command's checkpoint */
    struct oom_watch *oom;       /* NULL: not watched */
    size_t running;              /* attempts that exist; kept by run.c */
    /* The attempt is over; the owner reports the result, whose texts live until run_free, and
     * calls that. */
    void (*on_done)(void *arg, struct run *run, const struct poll_result *result);
    void *arg;
    char buffer[RUN_READ_BYTES]; /* of whoever reads right now */
};

/* An attempt that waits for its start; `id` is what the spawner will call it. The lease is copied.
 * RC_INVALID when its spec makes no sense here. */
enum rc run_new(struct run_host *host, uint64_t id, const struct poll_lease *lease,
                struct run **ret_run, struct err *err);
/* When the spawner ends the command by itself (boot clock), unless it is moved again; 0: never. To
 * be said before the start, and whenever the lease was renewed. */
void run_set_deadline(struct run *run, int64_t deadline_ms);
/* Starts it, as soon as what the attempt before has left was fetched. Waits for the spawner when
 * that has no room. May call on_done. */
void run_start(struct run *run);
/* Output that was not sent yet is left to the output_sender. The command must have ended, unless
 * the whole worker does. The loop must run once more. */
void run_free(struct run *run);

/* The spawner said something about this one. May call on_done. */
void run_on_event(struct run *run, const struct spawn_event *event);
/* Ends the command: by TERM and a grace, or at once when there is no time (RUN_CUT_LOST). The
 * first reason counts, but a later one may hurry. RUN_CUT_BROKEN: the command is
 * dead, and no SPAWN_ENDED will come, so it ends now. May call on_done. */
void run_cut(struct run *run, enum run_cut cut, struct str reason);

/* Tells the result at once when the command has ended, whatever of its output or checkpoint the
 * server does not have yet: there is no more time to wait for that. May call on_done. */
void run_hurry(struct run *run);

uint64_t run_id(const struct run *run);
uint64_t run_exec_id(const struct run *run);
uint64_t run_token(const struct run *run);

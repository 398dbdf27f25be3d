/* run_checkpoint.h - what one attempt finds from the one before, and leaves for the next.
 *
 * Before an attempt that is not the first the checkpoint is fetched from the server. While the
 * command runs its file is looked at every few seconds, and saved when it has changed; so whatever
 * dies, no more than that is lost. When the command has ended its last state is saved, and the
 * result is held back until that has happened: with the result the server may give the execution to
 * somebody else at once. A success saves nothing, since no attempt will ask for it.
 *
 * The file is read as it is, through one descriptor. A command that wants to be sure that no half
 * of it is saved writes another file and renames it. A file that was emptied or removed is taken
 * back from the server as well; unless its directory is gone too, which is not our doing. */
#pragma once
#include "worker/link/checkpoint_client.h"
#include "worker/run/run_files.h"

#include <time.h>

/* Which state of a file. */
struct file_version {
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct run_checkpoint_events {
    /* The checkpoint that the command is to find; ERRAND_LOST: it must not start. FAILED: text says
     * why. */
    void (*on_fetched)(void *arg, enum errand_end end, struct str text);
    /* It was not saved; worth a note, once for each state of it that is. */
    void (*on_complaint)(void *arg, struct str why);
    /* After run_checkpoint_end said that there is something to wait for. */
    void (*on_saved)(void *arg);
    void *arg;
};

struct run_checkpoint {
    struct checkpoint_client *checkpoint_client; /* borrowed */
    const struct run_files *files;               /* borrowed; NULL before run_checkpoint_watch */
    struct run_checkpoint_events events;
    uv_timer_t timer; /* the next look; at the end: patience */
    struct errand errand;
    bool under_way;  /* the errand */
    bool ended;      /* the command */
    bool kept;       /* the server may have one */
    bool complained; /* about the present state */
    struct {
        bool tried; /* something was sent at all */
        bool last;  /* after the command had ended */
        bool empty; /* to take the checkpoint back */
        struct file_version version;
    } sent;                    /* with the errand */
    struct file_version saved; /* the version that the server has; zero: look again */
};

/* For the lease that worker_id was given; bytes_max of 0: the server keeps none. */
void run_checkpoint_init(struct run_checkpoint *c, uv_loop_t *loop,
                         struct checkpoint_client *checkpoint_client, uint64_t worker_id,
                         const struct poll_lease *lease, size_t bytes_max,
                         const struct run_checkpoint_events *events);
/* Ends everything; *c must live until on_closed, which finds data. */
void run_checkpoint_close(struct run_checkpoint *c, uv_close_cb on_closed, void *data);

/* Asks for what the attempt before has left. False: there cannot be anything. */
bool run_checkpoint_fetch(struct run_checkpoint *c);
/* The command runs, and may write its file. `found`: there was one when it started. */
void run_checkpoint_watch(struct run_checkpoint *c, const struct run_files *files, bool found,
                          int64_t every_ms);
/* The command has ended, or will not start. False: there is nothing to wait for. */
bool run_checkpoint_end(struct run_checkpoint *c, bool succeeded);

/* run_end.h - how an attempt ended, in the server's words. Pure. */
#pragma once
#include "base/buf.h"
#include "job/poll.h"
#include "worker/spawn/spawn_wire.h"

/* Why we ended it, when it did not end by itself. */
enum run_cut {
    RUN_CUT_NONE,
    RUN_CUT_TIMEOUT,
    RUN_CUT_STOPPED,  /* the server asked */
    RUN_CUT_RETURNED, /* the worker is leaving */
    RUN_CUT_LOST,     /* the lease could not be renewed */
    RUN_CUT_BROKEN,   /* the spawner died, and the command with it */
};

struct run_end {
    enum run_cut cut;
    struct str reason;    /* RUN_CUT_STOPPED: the server's */
    int64_t timeout_ms;   /* RUN_CUT_TIMEOUT */
    bool started;         /* the spawner was asked */
    struct str unready;   /* why it could not be prepared on our side; empty: it was */
    enum spawn_step step; /* the step that failed when it was started; 0: none */
    int error;            /* and the errno */
    struct str program;   /* for the sentence about it */
    struct str working_dir;
    int wait_status;
    bool oom_killed; /* the kernel has killed for memory while it ran */
    struct str tail; /* the last lines it printed to stderr */
};

/* The outcome; the sentence about it, none for success, is appended to *error. */
enum outcome run_end_judge(const struct run_end *end, struct buf *error);
/* The code that goes with the outcome. */
enum poll_code run_end_code(const struct run_end *end, enum outcome outcome);
/* Why it failed; nothing for an outcome that is no failure. */
struct failure run_end_classify(const struct run_end *end, enum outcome outcome);
/* Fills in exit_code and signal. */
void run_end_usage(const struct run_end *end, struct usage *usage);

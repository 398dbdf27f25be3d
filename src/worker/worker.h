/* worker.h - the process that runs commands: `belfry worker`.
 *
 * It needs a server's address and a key, opens no port, and asks for work (`session.h`). Commands
 * are started by a small process of its own (`spawner.h`), so that nothing a worker has started
 * outlives it, however it dies. */
#pragma once
#include "base/str.h"

/* Everything is borrowed for the whole call. */
struct worker_options {
    struct str url;           /* http://HOST:PORT; of several servers: separated by commas */
    struct str token;         /* the worker's key */
    struct str token_file;    /* named when the key is refused; may be empty */
    struct str name;          /* for people; empty: host name and process id */
    uint32_t slots;           /* commands at once, 1 to POLL_SLOTS_MAX */
    const struct str *queues; /* none: all */
    size_t queue_count;
    const struct str *env; /* lists of variables that commands get, too (job/job_env.h) */
    size_t env_count;
    const char *lock_path;    /* NULL, or a file only one worker may hold; it gets the process id */
    const char *tmp_root;     /* where the temporary directory is made; NULL: $TMPDIR, else /tmp */
    int64_t drain_timeout_ms; /* how long SIGTERM waits for commands before it ends them */
};

enum { WORKER_DRAIN_TIMEOUT_MS = 30000 };

/* Works until SIGTERM or SIGINT (drains; the second one leaves at once) or until the server drains
 * it; with a lock also when that file is gone or replaced, or when no server has answered for the
 * `forget_ms` of the last one and there is nothing to run or to tell (ten seconds when the process
 * that started it died before any server was met). Returns the exit code: 0 when it left in order
 * or when another worker holds the lock, 1 when it could not start, was told twice, lost its
 * spawner, or left something that cannot be ended. Nothing it has started is left then. Must be
 * called before any thread is started and while the process is small: it forks. */
int worker_main(const struct worker_options *options);

#include "worker/ground.h"
#include "base/log.h"
#include "loop/clock.h"
#include "worker/spawn/stray.h"
#include "worker/spawn/tmpdir.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPAWNER_END_MS = 8000 }; /* it gives up earlier on what survives SIGKILL */

enum rc ground_lay(struct ground *g, const char *lock_path, const char *tmp_root, struct err *err)
{
    assert(g->lock.fd == -1 && g->tmp_dir == NULL && g->spawner == NULL);
    if (lock_path != NULL)
        TRY(pidlock_take(lock_path, &g->lock, err));
    g->tmp_dir = tmpdir_name(tmp_root);
    TRY(spawner_new(g->tmp_dir, g->lock.fd, &g->spawner, err));
    /* Not before: killed in between, we would leave it behind. */
    if (tmpdir_make(g->tmp_dir, err)) {
        spawner_free(g->spawner);
        return err->rc;
    }
    return RC_OK;
}

void ground_leave(struct ground *g)
{
    struct err err;
    /* The spawner has removed it, unless it was killed. */
    if (g->tmp_dir != NULL && tmpdir_remove(g->tmp_dir, &err) != RC_OK)
        log_warn("the temporary directory could not be removed", "error", err.text, NULL);
    free(g->tmp_dir);
    if (g->lock.fd >= 0)
        close(g->lock.fd);
}

void ground_await_spawner(pid_t spawner)
{
    assert(spawner > 0); /* else we would wait for, and kill, a whole group */
    static const struct timespec moment = {.tv_nsec = 20000000}; /* a missed signal is seen then */
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal, NULL); /* nothing is started any more */
    int64_t end_us = clock_mono_us() + SPAWNER_END_MS * INT64_C(1000);
    for (int status; clock_mono_us() < end_us; sigtimedwait(&child_signal, NULL, &moment)) {
        pid_t got = waitpid(spawner, &status, WNOHANG | WUNTRACED);
        bool stopped = got == spawner && WIFSTOPPED(status);
        if (stopped)
            kill(spawner, SIGCONT);
        else if (got != 0) /* just now, or before, when it died before us */
            return;
    }
    log_error("the spawner does not end, so it is killed", NULL);
    kill(spawner, SIGKILL);
    stray_kill_all(STRAY_TIMEOUT_MS);
}

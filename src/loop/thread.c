#include "loop/thread.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 16 }; /* with its NUL: the kernel's limit */

struct thread {
    pthread_t id;
    thread_main *run;
    void *arg;
    char name[NAME_BYTES];
};

static void *begin(void *arg)
{
    struct thread *t = arg;
    pthread_setname_np(pthread_self(), t->name);
    t->run(t->arg);
    return NULL;
}

enum rc thread_start(const char *name, thread_main *run, void *arg, struct thread **ret_thread,
                     struct err *err)
{
    struct thread *t = MEM_NEW(struct thread);
    t->run = run;
    t->arg = arg;
    snprintf(t->name, sizeof t->name, "%s", name);

    /* A thread inherits the mask of its creator. Blocking here rather than in the thread leaves no
     * moment in which a signal could land there. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&t->id, NULL, begin, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (failed != 0) {
        free(t);
        return err_set(err, RC_IO, "cannot start thread %s: %s", name, strerror(failed));
    }
    *ret_thread = t;
    return RC_OK;
}

void thread_join(struct thread *t)
{
    if (t == NULL)
        return;
    int failed = pthread_join(t->id, NULL);
    assert(failed == 0);
    (void)failed;
    free(t);
}

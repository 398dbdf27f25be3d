#include "loop/signals.h"
#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

static const int watched[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};

struct signals {
    uv_signal_t handles[COUNT_OF(watched)];
    size_t open;
    signals_handler *on_signal;
    void *arg;
};

static void on_uv_signal(uv_signal_t *handle, int signum)
{
    struct signals *s = handle->data;
    s->on_signal(s->arg, signum);
}

struct signals *signals_new(uv_loop_t *loop, signals_handler *on_signal, void *arg)
{
    struct signals *s = MEM_NEW(struct signals);
    s->on_signal = on_signal;
    s->arg = arg;
    /* For the thread sanitizer, which keeps signals aside in a record that it makes when a thread
     * first waits. That of gcc 12 loses a signal that arrives meanwhile, as SIGTERM did for a
     * server that had just said it was ready. So wait for nothing, before there is anything to
     * lose. */
    poll(NULL, 0, 0);
    signal(SIGPIPE, SIG_IGN); /* cannot fail: the number is right */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to report, as a full disk */
    for (size_t i = 0; i < COUNT_OF(watched); i++) {
        int failed = uv_signal_init(loop, &s->handles[i]);
        if (failed == 0)
            failed = uv_signal_start(&s->handles[i], on_uv_signal, watched[i]);
        assert(failed == 0); /* no descriptors left at start: nothing can work */
        (void)failed;
        s->handles[i].data = s;
        s->open++;
    }
    return s;
}

static void on_closed(uv_handle_t *handle)
{
    struct signals *s = handle->data;
    if (--s->open == 0)
        free(s);
}

void signals_free(struct signals *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < COUNT_OF(watched); i++)
        uv_close((uv_handle_t *)&s->handles[i], on_closed);
}

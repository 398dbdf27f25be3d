#include "base/err.h"

#include "base/test/test.h"
#include "loop/clock.h"
#include "loop/signals.h"
#include "loop/thread.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct seen {
    uv_loop_t loop;
    int signum;
};

static void on_signal(void *arg, int signum)
{
    struct seen *seen = arg;
    seen->signum = signum;
}

static void on_signal_stop(void *arg, int signum)
{
    struct seen *seen = arg;
    seen->signum = signum;
    uv_stop(&seen->loop);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

TEST(each_signal_arrives_on_the_loop)
{
    struct seen seen = {0};
    uv_timer_t tick; /* keeps the loop alive, so that it waits for a signal instead of spinning */
    uv_loop_init(&seen.loop);
    uv_timer_init(&seen.loop, &tick);
    uv_timer_start(&tick, on_tick, 100, 100);
    struct signals *signals = signals_new(&seen.loop, on_signal, &seen);
    static const int all[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        raise(all[i]);
        while (seen.signum != all[i])
            uv_run(&seen.loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&tick, NULL);
    signals_free(signals);
    uv_run(&seen.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&seen.loop), 0);
}

enum { WAITERS = 600, PATIENCE_MS = 5000 };

struct waiter {
    struct seen seen;
    uv_timer_t patience;
    _Atomic bool listens;
};

static void on_impatient(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void wait_for_term(void *arg)
{
    struct waiter *w = arg;
    uv_loop_init(&w->seen.loop);
    uv_timer_init(&w->seen.loop, &w->patience);
    uv_timer_start(&w->patience, on_impatient, PATIENCE_MS, 0);
    struct signals *signals = signals_new(&w->seen.loop, on_signal_stop, &w->seen);
    w->listens = true;
    uv_run(&w->seen.loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&w->patience, NULL);
    signals_free(signals);
    uv_run(&w->seen.loop, UV_RUN_DEFAULT);
    uv_loop_close(&w->seen.loop);
}

/* A little later each time, so that some hit the moment in which the thread first waits. */
TEST(a_signal_is_heard_however_early_it_comes)
{
    for (int64_t i = 0; i < WAITERS; i++) {
        struct waiter w = {0};
        uv_thread_t thread;
        assert_int_equal(uv_thread_create(&thread, wait_for_term, &w), 0);
        while (!w.listens)
            sched_yield();
        for (int64_t until_us = clock_mono_us() + i / 2; clock_mono_us() < until_us;) {
        }
        pthread_kill(thread, SIGTERM);
        uv_thread_join(&thread);
        assert_int_equal(w.seen.signum, SIGTERM);
    }
}

TEST(writing_to_a_closed_pipe_is_only_an_error)
{
    struct seen seen = {0};
    uv_loop_init(&seen.loop);
    struct signals *signals = signals_new(&seen.loop, on_signal, &seen);
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_int_equal(write(fds[1], "x", 1), -1);
    close(fds[1]);
    signals_free(signals);
    uv_run(&seen.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&seen.loop), 0);
}

static void ask_mask(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
}

TEST(threads_leave_signals_to_the_loop)
{
    sigset_t mask;
    sigemptyset(&mask);
    struct thread *thread;
    assert_int_equal(thread_start("quiet", ask_mask, &mask, &thread, NULL), RC_OK);
    thread_join(thread);
    assert_true(sigismember(&mask, SIGTERM));
    assert_true(sigismember(&mask, SIGCHLD));
}

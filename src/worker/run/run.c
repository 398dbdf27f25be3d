#include "worker/run/run.h"
#include "base/mem.h"
#include "base/when.h"
#include "loop/clock.h"
#include "worker/run/error_tail.h"
#include "worker/run/run_order.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOG_WAIT_MS = 10000, /* a result is worth more than the last lines of output */
    LAST_READS_MAX = 17, /* of RUN_READ_BYTES: the most a pipe may hold is 1 MiB */
};

/* Our end of a pipe that the command writes to. */
struct tap {
    struct run *run;
    uv_poll_t poll;
    int fd; /* owned; -1: closed */
    enum log_stream stream;
};

struct run {
    struct run_host *host;
    uint64_t id;
    struct run_order *order; /* owned; NULL once it was started */
    struct arena arena;      /* paths, reasons, the result */
    struct run_files files;  /* dir is NULL before the start */
    struct output *output;   /* owned */
    struct run_checkpoint checkpoint;
    struct tap taps[2];
    uv_timer_t timer; /* the timeout; then the grace; then the wait for the output_sender */
    size_t handles;   /* that are open; the last one to close frees */
    bool paused;      /* taps: too much is unsent */
    bool ended;
    bool output_waits; /* ended: the server does not have it all … */
    bool save_waits;   /* … or not the checkpoint */
    struct run_end end;
    enum outcome outcome; /* ended: and so are all of these */
    struct usage usage;
    struct str result;
    struct buf error;
    struct failure failure;
    struct error_tail tail;
    int64_t oom_before;  /* oom_watch_count at the start */
    int64_t deadline_ms; /* the spawner's; boot clock */
};

/* ---- output */

static void on_closed(uv_handle_t *handle)
{
    struct run *run = handle->data;
    assert(run->handles > 0);
    if (--run->handles > 0)
        return;
    arena_free(&run->arena);
    free(run);
}

/* The handle goes with its descriptor: libuv would else, when it is closed later, stop watching
 * another process that got the same number meanwhile. */
static void close_tap(struct tap *tap)
{
    if (tap->fd < 0)
        return;
    tap->poll.data = tap->run;
    uv_close((uv_handle_t *)&tap->poll, on_closed);
    close(tap->fd);
    tap->fd = -1;
}

/* True when there may be more. */
static bool read_some(struct tap *tap)
{
    struct run *run = tap->run;
    if (tap->fd < 0)
        return false;
    char *buffer = run->host->buffer;
    ssize_t len = read(tap->fd, buffer, RUN_READ_BYTES);
    if (len > 0 && tap->stream == LOG_STDERR)
        error_tail_add(&run->tail, str_of(buffer, (size_t)len));
    if (len > 0)
        output_add(run->output, tap->stream, str_of(buffer, (size_t)len), clock_wall_ms());
    else if (len == 0 || (errno != EAGAIN && errno != EINTR))
        close_tap(tap);
    return len > 0;
}

static void on_readable(uv_poll_t *poll, int status, int events);

static void set_paused(struct run *run, bool paused)
{
    run->paused = paused;
    for (size_t i = 0; i < COUNT_OF(run->taps); i++) {
        struct tap *tap = &run->taps[i];
        if (tap->fd >= 0 && paused)
            uv_poll_stop(&tap->poll);
        else if (tap->fd >= 0)
            uv_poll_start(&tap->poll, UV_READABLE, on_readable);
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct tap *tap = poll->data;
    struct run *run = tap->run;
    (void)status; /* an error shows when we read */
    (void)events;
    read_some(tap);
    output_sender_offer(run->host->output_sender, run->output, false);
    if (!output_is_full(run->output) &&
        run->output->unsent_bytes > output_sender_share(run->host->running))
        set_paused(run, true);
}

static void finish_when_told(struct run *run);

static void on_sent(void *arg)
{
    struct run *run = arg;
    size_t unsent = run->output->unsent_bytes;
    if (run->ended && unsent == 0) {
        run->output_waits = false;
        finish_when_told(run);
    } else if (!run->ended && run->paused &&
               unsent <= output_sender_share(run->host->running) / 2) {
        set_paused(run, false);
    }
}

/* Reads all that the command has printed and is still in the pipes. A stray that lives on may hold
 * them open; it is not waited for. */
static void read_rest(struct run *run)
{
    for (size_t i = 0; i < COUNT_OF(run->taps); i++) {
        for (int reads = 0; reads < LAST_READS_MAX && read_some(&run->taps[i]); reads++) {
        }
        close_tap(&run->taps[i]);
    }
}

/* ---- the end */

/* Tells the owner, who frees us, when the server has all it should have before. */
static void finish_when_told(struct run *run)
{
    assert(run->ended); /* a result is told once, and of an attempt that is over */
    if (run->output_waits || run->save_waits)
        return;
    uv_timer_stop(&run->timer);
    run->output->on_sent = NULL;
    struct poll_result result = {
        .exec_id = run->output->exec_id,
        .token = run->output->token,
        .outcome = run->outcome,
        .usage = run->usage,
        .result = run->result,
        .error = buf_str(&run->error),
        .class = run->failure.class,
        .permanent = run->failure.permanent,
        .tail = run->end.tail,
        .code = run_end_code(&run->end, run->outcome),
    };
    run->host->on_done(run->host->arg, run, &result);
}

static void on_log_wait(uv_timer_t *timer)
{
    struct run *run = timer->data;
    run->output_waits = false;
    finish_when_told(run);
}

/* At once: the command may say nothing for hours. */
static void on_complaint(void *arg, struct str why)
{
    struct run *run = arg;
    output_note(run->output, clock_wall_ms(), "the checkpoint was not saved: %.*s", STR_ARG(why));
    output_sender_offer(run->host->output_sender, run->output, false);
}

static void on_saved(void *arg)
{
    struct run *run = arg;
    run->save_waits = false;
    finish_when_told(run);
}

static void take_result(struct run *run, int64_t now_ms)
{
    struct err err;
    if (run->files.dir != NULL && run_files_result(&run->files, &run->arena, &run->result, &err))
        output_note(run->output, now_ms, "the result was dropped: %s", err.text);
}

static void count_usage(struct run *run)
{
    run_end_usage(&run->end, &run->usage);
    run->usage.output_bytes = (int64_t)run->output->total_bytes;
    run->usage.dropped_bytes = (int64_t)run->output->dropped_bytes;
    run->usage.log_seq = run->output->seq;
}

/* Called when the command has ended and all it printed was read: only then is all known. */
static void judge(struct run *run)
{
    const struct oom_watch *oom = run->host->oom;
    if (oom != NULL && run->end.started)
        run->end.oom_killed = oom_watch_count(oom) > run->oom_before;
    run->error = BUF(POLL_ERROR_BYTES_MAX);
    run->outcome = run_end_judge(&run->end, &run->error);
    if (run->outcome == OUTCOME_SUCCEEDED)
        return;
    run->end.tail = error_tail_text(&run->tail, &run->arena);
    run->failure = run_end_classify(&run->end, run->outcome);
}

static void end(struct run *run)
{
    int64_t now_ms = clock_wall_ms();
    assert(!run->ended);
    run->ended = true;
    read_rest(run);
    judge(run);
    take_result(run, now_ms);
    run->save_waits = run_checkpoint_end(&run->checkpoint, run->outcome == OUTCOME_SUCCEEDED);
    output_finish(run->output, now_ms);
    count_usage(run);
    output_sender_offer(run->host->output_sender, run->output, true);
    run->output_waits = run->output->unsent_bytes > 0;
    if (run->output_waits)
        uv_timer_start(&run->timer, on_log_wait, LOG_WAIT_MS, 0);
    else
        uv_timer_stop(&run->timer);
    finish_when_told(run);
}

void run_on_event(struct run *run, const struct spawn_event *event)
{
    if (run->ended)
        return;
    assert(run->end.started);          /* the spawner speaks of no run that it was not given */
    if (event->kind == SPAWN_FAILED) { /* the end follows */
        run->end.step = event->step;
        run->end.error = event->error;
        return;
    }
    if (event->overdue && run->end.cut == RUN_CUT_NONE) /* while we slept, or had too much to do */
        run->end.cut = RUN_CUT_LOST;
    run->end.wait_status = event->wait_status;
    run->usage.cpu_ms = event->cpu_ms;
    run->usage.peak_memory_bytes = event->peak_memory_bytes;
    end(run);
}

/* ---- ending it */

static void kill_now(struct run *run, const char *why)
{
    uv_timer_stop(&run->timer);
    output_note(run->output, clock_wall_ms(), "%s: sent SIGKILL", why);
    spawner_signal(run->host->spawner, run->id, SIGKILL);
}

static void on_grace_over(uv_timer_t *timer)
{
    kill_now(timer->data, "still there");
}

static void terminate(struct run *run, const char *why)
{
    char grace[WHEN_TEXT_MAX];
    duration_format(grace, run->host->kill_grace_ms);
    output_note(run->output, clock_wall_ms(), "%s: sent SIGTERM, SIGKILL follows in %s", why,
                grace);
    spawner_signal(run->host->spawner, run->id, SIGTERM);
    uv_timer_start(&run->timer, on_grace_over, (uint64_t)run->host->kill_grace_ms, 0);
}

void run_cut(struct run *run, enum run_cut cut, struct str reason)
{
    if (run->ended)
        return;
    bool first = run->end.cut == RUN_CUT_NONE;
    if (first) {
        run->end.cut = cut;
        run->end.reason = arena_str(&run->arena, reason);
    }
    if (cut == RUN_CUT_BROKEN)
        run->end.wait_status = SIGKILL; /* the spawner would have said so */
    if (cut == RUN_CUT_BROKEN || run->order != NULL)
        end(run);
    else if (cut == RUN_CUT_LOST)
        kill_now(run, "the lease is lost");
    else if (first)
        terminate(run, cut == RUN_CUT_TIMEOUT ? "the timeout has passed" : run->end.reason.ptr);
}

void run_hurry(struct run *run)
{
    if (!run->ended)
        return;
    run->output_waits = run->save_waits = false;
    finish_when_told(run);
}

static void on_timeout(uv_timer_t *timer)
{
    run_cut(timer->data, RUN_CUT_TIMEOUT, STR(""));
}

/* ---- the beginning */

static void open_taps(struct run *run, const int fds[2])
{
    static const enum log_stream streams[] = {LOG_STDOUT, LOG_STDERR};
    for (size_t i = 0; i < COUNT_OF(run->taps); i++) {
        struct tap *tap = &run->taps[i];
        tap->fd = fds[i];
        tap->stream = streams[i];
        int failed = uv_poll_init(run->host->loop, &tap->poll, tap->fd);
        assert(failed == 0); /* a pipe can always be polled */
        (void)failed;
        tap->poll.data = tap;
        tap->run = run;
        run->handles++;
    }
    set_paused(run, false);
}

static void launch(struct run *run, struct str checkpoint)
{
    struct run_order *order = run->order;
    struct err err;
    int taps[2];
    assert(order != NULL && !run->end.started && !run->ended);
    run->order = NULL;
    order->deadline_ms = run->deadline_ms;
    if (run_order_launch(order, run->host, run->id, checkpoint, &run->files, &run->arena, taps,
                         &err)) {
        if (err.rc == RC_SHUTDOWN) /* the spawner has died, and on_gone has not been called yet */
            run->end.cut = RUN_CUT_BROKEN;
        else
            run->end.unready = arena_str(&run->arena, str_c(err.text));
        end(run);
    } else {
        run->end.started = true;
        run->oom_before = run->host->oom == NULL ? 0 : oom_watch_count(run->host->oom);
        open_taps(run, taps);
        run_checkpoint_watch(&run->checkpoint, &run->files, checkpoint.len > 0,
                             run->host->checkpoint_ms);
        if (run->end.timeout_ms > 0)
            uv_timer_start(&run->timer, on_timeout, (uint64_t)run->end.timeout_ms, 0);
    }
    run_order_free(order);
}

/* To start without it would be to do again, unasked, what was done already. */
static void on_fetched(void *arg, enum errand_end how, struct str text)
{
    struct run *run = arg;
    if (how == ERRAND_DONE) {
        launch(run, text);
    } else if (how == ERRAND_LOST) {
        run_cut(run, RUN_CUT_LOST, STR(""));
    } else {
        run->end.unready = arena_printf(&run->arena, "fetch its checkpoint: %.*s", STR_ARG(text));
        end(run);
    }
}

void run_set_deadline(struct run *run, int64_t deadline_ms)
{
    run->deadline_ms = deadline_ms;
    if (run->end.started && !run->ended)
        spawner_set_deadline(run->host->spawner, run->id, deadline_ms);
}

void run_start(struct run *run)
{
    if (!run_checkpoint_fetch(&run->checkpoint))
        launch(run, STR(""));
}

enum rc run_new(struct run_host *host, uint64_t id, const struct poll_lease *lease,
                struct run **ret_run, struct err *err)
{
    struct run_order *order;
    TRY(run_order_new(lease, &order, err));
    struct run *run = MEM_NEW(struct run);
    run->host = host;
    run->id = id;
    run->order = order;
    run->taps[0].fd = run->taps[1].fd = -1;
    run->end.timeout_ms = order->spec.timeout_ms;
    run->end.program = arena_str(&run->arena, order->spec.argv[0]);
    run->end.working_dir = arena_str(&run->arena, order->spec.working_dir);
    run->output = output_new(host->worker_id, lease, host->output_bytes_max);
    run->output->on_sent = on_sent;
    run->output->arg = run;
    uv_timer_init(host->loop, &run->timer); /* cannot fail */
    run->timer.data = run;
    run_checkpoint_init(&run->checkpoint, host->loop, host->checkpoint_client, host->worker_id,
                        lease, host->checkpoint_bytes_max,
                        &(struct run_checkpoint_events){on_fetched, on_complaint, on_saved, run});
    run->handles = 2; /* the two timers */
    host->running++;
    *ret_run = run;
    return RC_OK;
}

void run_free(struct run *run)
{
    assert(run->host->running > 0);
    run->host->running--;
    for (size_t i = 0; i < COUNT_OF(run->taps); i++)
        close_tap(&run->taps[i]);
    uv_close((uv_handle_t *)&run->timer, on_closed);
    run_checkpoint_close(&run->checkpoint, on_closed, run);
    output_sender_leave(run->host->output_sender, run->output);
    if (run->files.dir != NULL)
        run_files_remove(&run->files, run->host->tmp_dir, &run->host->spares, run->host->loop);
    run_order_free(run->order);
    buf_free(&run->error);
    error_tail_free(&run->tail);
}

uint64_t run_id(const struct run *run)
{
    return run->id;
}

uint64_t run_exec_id(const struct run *run)
{
    return run->output->exec_id;
}

uint64_t run_token(const struct run *run)
{
    return run->output->token;
}

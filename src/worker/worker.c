#include "worker/worker.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "job/job_env.h"
#include "loop/clock.h"
#include "loop/machine.h"
#include "loop/signals.h"
#include "worker/ground.h"
#include "worker/link/failover_client.h"
#include "worker/link/session.h"
#include "worker/run/run.h"
#include "worker/spawn/pidlock.h"
#include "worker/spawn/stray.h"
#include "worker/spawn/tmpdir.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LEAVE_TICK_MS = 100,
    LEAVE_PATIENCE_MS = 10000, /* to send output to a server that does not answer */
    LEAVE_SPARE_MS = 3000,     /* a command that runs so long after its SIGKILL cannot be ended */
    WATCH_TICK_MS = 1000,
    UNMET_MS = 10000,       /* so long the server after the one that started us has time to come */
    SPAWNER_SPARE_MS = 250, /* the spawner's kill comes after ours, and before the lease's end */
};

struct worker {
    const struct worker_options *options;
    uint64_t replaces; /* as in struct hello */
    uv_loop_t loop;
    struct signals *signals;
    struct session *session;
    struct run_host host;
    struct arena env_arena; /* of host.env */
    struct oom_watch oom;
    struct map runs;       /* by the spawner's number */
    struct map by_exec;    /* the same by execution; there is one attempt of each at most */
    uint64_t last_run;     /* attempts are numbered in the order they came */
    uint64_t last_started; /* and started in that order */
    const struct pidlock *lock;
    pid_t starter;          /* our parent, when we began */
    int64_t outage_ms;      /* so long results may be wanted by a server that does not answer */
    int64_t forget_ms;      /* as in struct welcome */
    int64_t alone_since_us; /* no server answers and there is nothing to do; 0: it is not so */
    uv_timer_t watch_timer;
    uv_timer_t leave_timer;
    bool leaving;
    bool drained;          /* the session has told all */
    int64_t end_all_us;    /* when leaving: runs that go on then are ended; INT64_MAX: never */
    int64_t idle_since_us; /* when leaving: nothing runs since then; 0: something does */
    int exit_code;
};

/* ---- attempts */

static void on_run_done(void *arg, struct run *run, const struct poll_result *result)
{
    struct worker *w = arg;
    session_done(w->session, result);
    map_remove(&w->runs, run_id(run));
    map_remove(&w->by_exec, run_exec_id(run));
    run_free(run);
}

/* Starts what waits, oldest first, as long as the spawner keeps up. Attempts that were cut while
 * they waited are gone from the map. */
static void start_some(struct worker *w)
{
    while (w->last_started < w->last_run && spawner_has_room(w->host.spawner)) {
        struct run *run = map_get(&w->runs, ++w->last_started);
        if (run != NULL)
            run_start(run);
    }
}

/* The spawner kills by itself only what we have not killed in time. */
static void set_deadline(struct run *run, int64_t deadline_ms)
{
    run_set_deadline(run, deadline_ms + SPAWNER_SPARE_MS);
}

static void on_lease(void *arg, const struct poll_lease *lease, int64_t deadline_ms)
{
    struct worker *w = arg;
    struct run *run;
    struct err err;
    if (run_new(&w->host, w->last_run + 1, lease, &run, &err)) {
        session_done(w->session,
                     &(struct poll_result){
                         .exec_id = lease->exec_id,
                         .token = lease->token,
                         .outcome = OUTCOME_PERMANENT,
                         .usage = {.exit_code = -1},
                         .error = str_c(err.text),
                         .code = err.rc == RC_CORRUPT ? POLL_CODE_UNREADABLE : POLL_CODE_NONE,
                     });
        return;
    }
    w->last_run++;
    set_deadline(run, deadline_ms);
    map_put(&w->runs, run_id(run), run);
    map_put(&w->by_exec, run_exec_id(run), run);
    start_some(w);
}

static void cut_one(struct worker *w, uint64_t exec_id, uint64_t token, enum run_cut cut,
                    struct str reason)
{
    struct run *run = map_get(&w->by_exec, exec_id);
    if (run != NULL && run_token(run) == token)
        run_cut(run, cut, reason);
}

static void on_stop(void *arg, uint64_t exec_id, uint64_t token, struct str reason)
{
    cut_one(arg, exec_id, token, RUN_CUT_STOPPED, reason);
}

static void on_lost(void *arg, uint64_t exec_id, uint64_t token)
{
    cut_one(arg, exec_id, token, RUN_CUT_LOST, STR(""));
}

static void on_deadline(void *arg, uint64_t exec_id, uint64_t token, int64_t deadline_ms)
{
    const struct worker *w = arg;
    struct run *run = map_get(&w->by_exec, exec_id);
    if (run != NULL && run_token(run) == token)
        set_deadline(run, deadline_ms);
}

/* So that sums of times in microseconds cannot overflow; some ten thousand years. */
static int64_t at_most_ms(int64_t ms)
{
    return ms < INT64_MAX / 10000 ? ms : INT64_MAX / 10000;
}

static void on_welcome(void *arg, const struct welcome *welcome)
{
    struct worker *w = arg;
    w->host.kill_grace_ms = welcome->kill_grace_ms;
    w->host.output_bytes_max = (size_t)welcome->output_bytes_max;
    w->host.checkpoint_bytes_max = (size_t)welcome->checkpoint_bytes_max;
    w->host.checkpoint_ms = welcome->checkpoint_ms;
    w->host.worker_id = welcome->worker_id;
    w->outage_ms = at_most_ms(welcome->outage_grace_ms) + at_most_ms(welcome->lease_ms);
    w->forget_ms = at_most_ms(welcome->forget_ms);
    if (w->options->lock_path != NULL) /* before the first lease */
        pidlock_name(w->options->lock_path, welcome->worker_id);
}

/* A run that ends at once leaves the map, which must not change while it is walked: hence the
 * copy. */
static struct run **list_runs(const struct worker *w, struct arena *arena, size_t *ret_count)
{
    struct run **runs = ARENA_ARRAY(arena, struct run *, w->runs.len);
    *ret_count = 0;
    MAP_EACH(&w->runs, slot)
    {
        runs[(*ret_count)++] = slot->value;
    }
    return runs;
}

/* Ends all that runs. */
static void cut_all(struct worker *w, enum run_cut cut, struct str reason)
{
    CLEANUP(arena_free) struct arena arena = {0};
    size_t count;
    struct run **runs = list_runs(w, &arena, &count);
    for (size_t i = 0; i < count; i++)
        run_cut(runs[i], cut, reason);
}

/* Reports all that has ended: a result that waits for its checkpoint would be lost with us. */
static void hurry_all(struct worker *w)
{
    CLEANUP(arena_free) struct arena arena = {0};
    size_t count;
    struct run **runs = list_runs(w, &arena, &count);
    for (size_t i = 0; i < count; i++)
        run_hurry(runs[i]);
}

/* ---- leaving */

static bool is_busy(const struct worker *w)
{
    return session_running(w->session) > 0 || w->runs.len > 0;
}

/* Whether all that ran should have been dead for a while: those that are left are stuck in the
 * kernel, or the spawner does not do its work. Its lease is lost with us. */
static bool is_stuck(const struct worker *w, int64_t now_us)
{
    int64_t patience_us = (at_most_ms(w->host.kill_grace_ms) + LEAVE_SPARE_MS) * 1000;
    return is_busy(w) && w->end_all_us != INT64_MAX && now_us - w->end_all_us > patience_us;
}

/* A result may be taken as long as nobody else was given the run. */
static int64_t leave_patience_us(const struct worker *w)
{
    bool wanted = session_pending(w->session) > 0 && w->outage_ms > LEAVE_PATIENCE_MS;
    return (wanted ? w->outage_ms : LEAVE_PATIENCE_MS) * 1000;
}

static bool may_leave(struct worker *w, int64_t now_us)
{
    bool log_sent = output_sender_is_idle(w->host.output_sender);
    bool stuck = is_stuck(w, now_us);
    bool hopeless =
        session_pending(w->session) == 0 && (stuck || !session_is_connected(w->session));
    if (is_busy(w) && !stuck)
        return false;
    if (w->idle_since_us == 0)
        w->idle_since_us = now_us;
    return (log_sent && (w->drained || hopeless)) ||
           now_us - w->idle_since_us > leave_patience_us(w);
}

static void on_leave_tick(uv_timer_t *timer)
{
    struct worker *w = timer->data;
    int64_t now_us = clock_mono_us();
    if (now_us >= w->end_all_us)
        cut_all(w, RUN_CUT_RETURNED, STR("the worker is leaving"));
    if (is_stuck(w, now_us))
        hurry_all(w);
    if (!may_leave(w, now_us))
        return;
    if (is_busy(w)) {
        log_error("the worker leaves, though commands could not be ended", NULL);
        w->exit_code = EXIT_FAILURE;
    }
    uv_stop(&w->loop);
}

static void leave(struct worker *w, int64_t end_all_us, const char *why)
{
    char running[24];
    if (!w->leaving) {
        snprintf(running, sizeof(running), "%zu", w->runs.len);
        log_info("draining", "why", why, "running", running, NULL);
        w->leaving = true;
        session_drain(w->session);
        uv_timer_start(&w->leave_timer, on_leave_tick, 0, LEAVE_TICK_MS);
    }
    if (end_all_us < w->end_all_us)
        w->end_all_us = end_all_us;
}

static void on_drain(void *arg)
{
    leave(arg, INT64_MAX, "the server asks");
}

static void on_drained(void *arg)
{
    struct worker *w = arg;
    w->drained = true;
}

static void on_signal(void *arg, int signum)
{
    struct worker *w = arg;
    if (signum != SIGTERM && signum != SIGINT)
        return;
    /* A drain that the server asked for has no time limit; this gives it one. */
    bool again = w->end_all_us != INT64_MAX;
    if (again) {
        log_warn("the worker leaves at once, and its commands are killed", NULL);
        w->exit_code = EXIT_FAILURE;
        uv_stop(&w->loop);
        return;
    }
    leave(w, clock_mono_us() + w->options->drain_timeout_ms * 1000, strsignal(signum));
}

/* ---- watching */

/* A worker beside a server whose data directory was deleted has nobody left, and one whose lock was
 * replaced has a successor. */
static void look_at_lock(struct worker *w)
{
    if (w->leaving || w->options->lock_path == NULL ||
        pidlock_is_there(w->options->lock_path, w->lock))
        return;
    leave(w, clock_mono_us() + w->options->drain_timeout_ms * 1000, "its lock file is gone");
}

/* The server it was started by died before they met: no other server has any right to it, or knows
 * of it. */
static bool never_met(const struct worker *w)
{
    return w->host.worker_id == 0 && getppid() != w->starter;
}

/* The server it was started by is dead, and none has followed. */
static void look_for_server(struct worker *w, int64_t now_us)
{
    bool alone = w->options->lock_path != NULL && !w->leaving &&
                 !session_is_connected(w->session) && !is_busy(w) &&
                 session_pending(w->session) == 0;
    int64_t patience_ms = never_met(w) && w->forget_ms > UNMET_MS ? UNMET_MS : w->forget_ms;
    if (!alone)
        w->alone_since_us = 0;
    else if (w->alone_since_us == 0)
        w->alone_since_us = now_us;
    else if (now_us - w->alone_since_us > patience_ms * 1000)
        leave(w, now_us, "there is no server any more");
}

static void on_watch_tick(uv_timer_t *timer)
{
    struct worker *w = timer->data;
    spawner_wake(w->host.spawner);
    look_at_lock(w);
    look_for_server(w, clock_mono_us());
}

/* ---- the spawner */

static void on_spawn_event(void *arg, const struct spawn_event *event)
{
    struct worker *w = arg;
    struct run *run = map_get(&w->runs, event->id);
    if (run != NULL)
        run_on_event(run, event);
}

static void on_spawner_room(void *arg)
{
    start_some(arg);
}

/* The spawner's processes fell to the worker, a subreaper, too. They are killed before their leases
 * are given back, so that nothing runs twice; leases of any that cannot be killed end in silence.
 * The server beside this worker, or the service manager, starts another. */
static void on_spawner_gone(void *arg)
{
    struct worker *w = arg;
    bool all_dead = stray_kill_all(STRAY_TIMEOUT_MS);
    log_error("the spawner process was killed, perhaps by a job; this worker is leaving",
              "commands", all_dead ? "all killed" : "some could not be killed", NULL);
    w->exit_code = EXIT_FAILURE;
    leave(w, clock_mono_us(), "the spawner died");
    if (all_dead)
        cut_all(w, RUN_CUT_BROKEN, STR(""));
}

/* ---- beginning and end */

static const char *tmp_root(const struct worker_options *options)
{
    const char *variable = getenv("TMPDIR");
    if (options->tmp_root != NULL)
        return options->tmp_root;
    return variable != NULL && variable[0] != '\0' ? variable : "/tmp";
}

/* Each command takes two descriptors here. The spawner was forked before, so commands still get
 * the limit we were started with. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static struct str default_name(struct arena *arena)
{
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    return arena_printf(arena, "%s/%d", host, (int)getpid());
}

static struct str pick_server(void *arg, struct str now, bool failed)
{
    const struct worker *w = arg;
    return session_pick_server(w->session, now, failed);
}

static enum rc start_talking(struct worker *w, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct worker_options *options = w->options;
    struct session_options session = {
        .urls = options->url,
        .token = options->token,
        .token_file = options->token_file,
        .hello =
            {
                .name = options->name.len > 0 ? options->name : default_name(&arena),
                .queues = options->queues,
                .queue_count = options->queue_count,
                .runs_commands = true,
                .slots = options->slots,
                .boot_id = machine_boot_id(&arena),
                .replaces = w->replaces,
            },
        .events =
            {
                .on_welcome = on_welcome,
                .on_lease = on_lease,
                .on_stop = on_stop,
                .on_lost = on_lost,
                .on_deadline = on_deadline,
                .on_drain = on_drain,
                .on_drained = on_drained,
                .arg = w,
            },
    };
    TRY(output_sender_new(&w->loop, options->url, options->token, &w->host.output_sender, err));
    TRY(checkpoint_client_new(&w->loop, options->url, options->token, &w->host.checkpoint_client,
                              err));
    TRY(session_new(&w->loop, &session, &w->session, err));
    failover_client_guide(output_sender_link(w->host.output_sender), pick_server, w);
    failover_client_guide(checkpoint_client_link(w->host.checkpoint_client), pick_server, w);
    return RC_OK;
}

static enum rc work(struct worker *w, struct err *err)
{
    w->signals = signals_new(&w->loop, on_signal, w);
    uv_timer_init(&w->loop, &w->leave_timer); /* cannot fail */
    w->leave_timer.data = w;
    uv_timer_init(&w->loop, &w->watch_timer);
    w->watch_timer.data = w;
    spawner_listen(w->host.spawner, &w->loop,
                   &(struct spawner_events){
                       .on_event = on_spawn_event,
                       .on_room = on_spawner_room,
                       .on_gone = on_spawner_gone,
                       .arg = w,
                   });
    TRY(start_talking(w, err));
    uv_timer_start(&w->watch_timer, on_watch_tick, WATCH_TICK_MS, WATCH_TICK_MS);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    return RC_OK;
}

/* Closes all that is open; the spawner kills what still runs when it sees its socket closed. */
static void tear_down(struct worker *w)
{
    MAP_EACH(&w->runs, slot)
    {
        run_free(slot->value);
    }
    map_free(&w->runs);
    map_free(&w->by_exec);
    session_free(w->session);
    output_sender_free(w->host.output_sender);
    checkpoint_client_free(w->host.checkpoint_client);
    signals_free(w->signals);
    uv_close((uv_handle_t *)&w->leave_timer, NULL);
    uv_close((uv_handle_t *)&w->watch_timer, NULL);
    spawner_free(w->host.spawner);
    oom_watch_close(&w->oom);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    int failed = uv_loop_close(&w->loop);
    assert(failed == 0);
    (void)failed;
}

/* The part of our environment that commands inherit. */
static char **pick_env(const struct worker_options *options, struct arena *arena)
{
    size_t count = 0;
    size_t picked = 0;
    while (environ[count] != NULL)
        count++;
    char **env = ARENA_ARRAY(arena, char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct str name = str_of(environ[i], (size_t)(strchrnul(environ[i], '=') - environ[i]));
        if (job_env_allows(name, options->env, options->env_count))
            env[picked++] = environ[i];
    }
    return env;
}

static int run_worker(const struct worker_options *options, struct spawner *take_spawner,
                      const char *tmp_dir, const struct pidlock *lock, pid_t starter)
{
    struct err err;
    struct worker *w = MEM_NEW(struct worker);
    w->options = options;
    w->lock = lock;
    w->replaces = lock->dead;
    w->starter = starter;
    w->outage_ms = WELCOME_OUTAGE_GRACE_MS;
    w->forget_ms = WELCOME_FORGET_MS;
    w->end_all_us = INT64_MAX;
    w->host = (struct run_host){
        .loop = &w->loop,
        .spawner = take_spawner,
        .tmp_dir = tmp_dir,
        .env = pick_env(options, &w->env_arena),
        .oom = &w->oom,
        .on_done = on_run_done,
        .arg = w,
    };
    oom_watch_open(&w->oom);
    int failed = uv_loop_init(&w->loop);
    assert(failed == 0); /* no descriptors at the start: nothing can work */
    (void)failed;
    if (work(w, &err)) {
        log_error("the worker cannot start", "error", err.text, NULL);
        w->exit_code = EXIT_FAILURE;
    }
    int exit_code = w->exit_code;
    tear_down(w);
    arena_free(&w->env_arena);
    free(w);
    return exit_code;
}

int worker_main(const struct worker_options *options)
{
    CLEANUP(ground_leave) struct ground ground = {.lock = {.fd = -1}};
    struct err err;
    pid_t starter = getppid(); /* as early as can be: it may die any time */
    enum rc rc = ground_lay(&ground, options->lock_path, tmp_root(options), &err);
    if (rc != RC_OK) {
        bool elsewhere = rc == RC_CONFLICT;
        log_write(elsewhere ? LOG_INFO : LOG_ERROR, "no worker is started", "why", err.text, NULL);
        return elsewhere ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    pid_t spawner = spawner_pid(ground.spawner);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* for the day the spawner dies before us */
    raise_descriptors();
    int exit_code = run_worker(options, ground.spawner, ground.tmp_dir, &ground.lock, starter);
    ground_await_spawner(spawner);
    return exit_code;
}

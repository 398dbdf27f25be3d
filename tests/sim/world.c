#include "world.h"
#include "client.h"
#include "client_pings.h"
#include "client_wishes.h"
#include "promises.h"

#include <inttypes.h>

enum {
    STEPS_MAX = 4000000,              /* of a whole day; more would be a world that spins */
    HEAL_MAX_MS = 2 * 60 * 60 * 1000, /* from the last fault until everything has finished */
    LEAP_MAX_MS = 10 * 60 * 1000,
    TIDY_MS = 1000,
    HEALING_RUN_MAX_MS = 500,
    GOING_ON_MS = 30 * 1000, /* so long jobs that recur are watched after everything has healed */
    LATE_MAX_MS = 5000,
    ANSWERED_MS = 1000,
    CLOCK_DAYS = 20, /* one of so many is one of clocks */
    TERM_MIN_MS =
        4200, /* of a lease, beyond parking and the lease of a node: the margin for a kill, and more */
};

/* ---- the scene */

static void draw_engine(struct world *w)
{
    static const size_t keep_bytes[] = {0, 200, 4096};
    struct scene *s = &w->scene;
    s->engine = engine_defaults;
    s->engine.trace = (struct trace_rule){
        .on = w->seed % 2 == 1, .errors = true, .realm = 42, .ratio = trace_ratio_of(0.5)};
    s->engine.lease_ms = pick_ms(w, 2000, 20000);
    s->engine.park_ms = pick_ms(w, 100, 5000);
    s->engine.horizon_ms = pick_ms(w, 2000, 120000);
    s->engine.forget_ms = pick_ms(w, 10000, 60000);
    s->engine.live_max = 5 + pick(w, 80);
    s->engine.lanes_max = 1 + pick(w, 6);
    s->engine.keep_bytes_max = keep_bytes[pick(w, COUNT_OF(keep_bytes))];
    s->engine.breaker = (struct breaker_rule){
        .window_ms = pick_ms(w, 2000, 60000),
        .calls_min = 1 + (uint32_t)pick(w, 4),
        .percent = pick(w, 3) == 0 ? 0 : 5 + (uint32_t)pick(w, 70),
        .rest_ms = pick_ms(w, 100, 4000),
    };
    s->engine.alerts.quiet_ms = pick_ms(w, 1000, 600000);
    s->engine.alerts.queue_age_ms = pick_ms(w, 1000, 60000);
    s->engine.alerts.slow_pct = 50 + (uint32_t)pick(w, 200);
    s->engine.alerts.slow_min_ms = pick_ms(w, 1, 3000);
    s->engine.alerts.slow_runs_min = 1 + pick(w, 4);
    s->engine.alerts.deliver = pick(w, 2) == 0;
    s->engine.operation_step_max = 1 + pick(w, 5);
    s->engine.operation_per_s = pick(w, 4) > 0 ? 0 : 20 + pick(w, 2000);
    s->engine.letters_keep_ms = pick(w, 2) == 0 ? 0 : pick_ms(w, 1000, 200000);
    s->engine.history_keep_ms = pick(w, 2) == 0 ? 0 : pick_ms(w, 1000, 200000);
    s->engine.alerts_keep_ms = pick(w, 2) == 0 ? 0 : pick_ms(w, 1000, 200000);
    s->engine.tallies_keep_ms = pick(w, 2) == 0 ? 0 : pick_ms(w, 1000, 200000);
    s->engine.retain_rows_max = 1 + pick(w, 10);
    s->engine.retain_pause_ms = pick_ms(w, 1, 1000);
    s->engine.due_max = 1 + pick(w, 20);
    s->engine.load_max = 1 + pick(w, 20);
    s->engine.kill_grace_ms = pick_ms(w, 0, 3000);
    s->engine.lost_max = 1 + (uint32_t)pick(w, 4);
    s->engine.retry_after_max_ms = pick_ms(w, 0, 10000);
}

static void draw_scene(struct world *w)
{
    static const int64_t points_ms[] = {20, 1, 60000};
    struct scene *s = &w->scene;
    draw_engine(w);
    s->workers = 1 + pick(w, WORKERS_MAX);
    s->steps = 100 + pick(w, 700);
    s->at_max_ms = pick_ms(w, 1000, 300000);
    s->run_max_ms = pick_ms(w, 1, 15000);
    s->fail_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 500);
    s->waiting_permille = pick(w, 3) == 0 ? 0 : (uint32_t)pick(w, 400);
    s->timeout_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 700);
    s->sla_permille = pick(w, 3) > 0 ? 0 : (uint32_t)pick(w, 700);
    s->passing_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 800);
    if (s->passing_permille > 0) {
        s->engine.queues_max = 2 + pick(w, 6);
        s->engine.queues_keep_ms = pick(w, 3) == 0 ? 0 : pick_ms(w, 100, 60000);
    }
    s->named_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 500);
    s->limit_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 500);
    s->once_permille = pick(w, 3) == 0 ? 0 : (uint32_t)pick(w, 600);
    s->unique_permille = pick(w, 3) == 0 ? 0 : (uint32_t)pick(w, 900);
    s->engine.once_ms = pick(w, 2) == 0 ? pick_ms(w, 1000, 20000) : 86400000;
    s->engine.unique_keep_ms = pick(w, 3) == 0 ? pick_ms(w, 1000, 20000) : 0;
    s->recurring_max = pick(w, 3) == 0 ? 0 : pick(w, 6);
    s->pauses = pick(w, 2) == 0;
    s->deadline_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 600);
    /* What recurs must not keep others from finishing within the day: waiting counts for much. */
    s->engine.point_ms = points_ms[pick(w, s->recurring_max > 0 ? 2 : COUNT_OF(points_ms))];
    s->client_gap_ms = 1 + (uint32_t)pick(w, 1500);
    s->calendar_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 700);
}

/* As server/config/settings.c demands of a cluster: what a worker runs outlives the takeover of its owner. */
static void draw_terms(struct world *w)
{
    struct scene *s = &w->scene;
    struct engine_options *e = &s->engine;
    s->node_lease_ms = pick_ms(w, 300, 3000);
    s->session_ms = pick_ms(w, s->node_lease_ms / 4, 4 * s->node_lease_ms);
    e->lease_ms = s->node_lease_ms + TERM_MIN_MS + pick_ms(w, 0, 8000);
    if (e->park_ms > e->lease_ms - s->node_lease_ms - TERM_MIN_MS)
        e->park_ms = e->lease_ms - s->node_lease_ms - TERM_MIN_MS;
    s->grace_ms = s->node_lease_ms + pick_ms(w, 0, 3 * e->lease_ms);
}

/* Runs are long, so that storms meet some; clients have time. */
static void draw_storms(struct world *w)
{
    struct scene *s = &w->scene;
    s->storms_ms = pick_ms(w, 30000, 240000);
    s->run_max_ms = pick_ms(w, s->engine.lease_ms, 4 * (s->engine.lease_ms + s->grace_ms));
    s->client_gap_ms = 500 + (uint32_t)pick(w, 8000);
    s->engine.history_keep_ms =
        0; /* what others wait for would be deleted before they ask for it */
    if (pick(w, 4) > 0)
        return;
    int64_t probation_ms = s->engine.probation_ms = pick_ms(w, 3000, 8000);
    bool slow = pick(w, 3) == 0;
    s->killer_ms = slow ? 2 * (probation_ms + s->engine.park_ms + 1000) : pick_ms(w, 10, 2000);
    s->timeout_permille = s->sla_permille = 0; /* a run that has had its time is no riddle */
    s->storms_ms = 300000;
    s->run_max_ms = 20000;
    s->grace_ms = s->node_lease_ms + pick_ms(w, 0, s->engine.lease_ms);
}

/* Pages are small, so that few rows fill many. */
static void draw_inbox(struct world *w)
{
    struct scene *s = &w->scene;
    if (s->killer_ms > 0 || pick(w, 2) == 0)
        return;
    s->sql_gap_ms = pick_ms(w, 100, 10000);
    s->engine.inbox_page = 2 + pick(w, 10);
    s->engine.inbox_page_bytes = 500 + pick(w, 8000);
}

static void draw_cluster(struct world *w)
{
    draw_terms(w);
    if (pick(w, 3) == 0)
        draw_storms(w);
    else
        w->scene.lags = pick(w, 6) == 0;
    draw_inbox(w);
}

/* By the seed and not by the dice: other days stay as they are. */
static bool is_clock_day(const struct world *w)
{
    return w->seed % CLOCK_DAYS == 0 && w->scene.storms_ms == 0;
}

/* The same. */
static void draw_versions(struct world *w)
{
    w->scene.engine.versions_keep = 2 + w->seed % 3;
    w->scene.rolls_back = w->seed % (w->cluster ? 10 : 3) == 1;
}

static void begin(struct world *w, const struct day *day)
{
    static const char *const names[SERVERS_MAX] = {"server-1", "server-2", "server-3"};
    static const char *const labels[WORKERS_MAX] = {"worker-1", "worker-2", "worker-3", "worker-4"};
    *w = (struct world){.seed = day->seed,
                        .trace.on = day->traced,
                        .digest.wanted = day->digested,
                        .skew_ms = WORLD_BEGIN_MS,
                        .cluster = day->cluster,
                        .server_count = day->cluster ? 3 : 2};
    w->rng.state = day->seed;
    w->model.arena = &w->notes;
    list_init(&w->calls);
    draw_scene(w);
    if (w->cluster)
        draw_cluster(w);
    if (is_clock_day(w))
        clock_day_draw(w);
    draw_versions(w);
    faults_draw(w);
    sim_store_open(w, day->sqlite);
    past_begin(w);
    for (size_t i = 0; i < w->server_count; i++)
        sim_server_init(w, &w->servers[i], names[i], &w->doors[w->cluster ? i : 0]);
    w->server = &w->servers[0];
    for (size_t i = 0; i < (w->cluster ? w->server_count : 1); i++)
        sim_server_start(&w->servers[i]);
    for (size_t i = 0; i < w->scene.workers; i++) {
        w->workers[i].label = labels[i];
        sim_worker_start(w, &w->workers[i]);
    }
}

static void end(struct world *w)
{
    for (size_t i = 0; i < w->server_count; i++)
        sim_server_free(&w->servers[i]);
    for (size_t i = 0; i < WORKERS_MAX; i++)
        sim_worker_free(&w->workers[i]);
    LIST_EACH(&w->calls, node) call_free(CONTAINER_OF(node, struct call, all));
    sim_store_close(w);
    model_free(&w->model);
    map_free(&w->inbox.seen);
    agenda_free(&w->agenda);
    past_free(w);
    arena_free(&w->digest.scratch);
    arena_free(&w->notes);
    arena_free(&w->arena);
}

/* ---- what comes from outside: clients and weather */

static void clients(struct world *w, void *what, uint64_t no)
{
    if (w->healing)
        return;
    client_act(w);
    agenda_add(w, w->boot_ms + pick_ms(w, 0, w->scene.client_gap_ms), clients, what, no);
}

static void step_clock(struct world *w, int64_t by_ms)
{
    w->skew_ms += by_ms;
    SAY(w, "clock", "the wall clock steps by %" PRId64 " ms", by_ms);
}

/* Often just long enough for others to be given what it runs, and not to be done with it. */
static int64_t draw_sleep_ms(struct world *w)
{
    int64_t lease_ms = w->scene.engine.lease_ms;
    return pick(w, 2) == 0 ? pick_ms(w, lease_ms, lease_ms + 3000) : pick_ms(w, 1, 3 * lease_ms);
}

static void weather(struct world *w, void *what, uint64_t no)
{
    struct sim_worker *k = &w->workers[pick(w, w->scene.workers)];
    if (w->healing)
        return;
    if (k->alive && fault_strikes(w, FAULT_WORKER_CRASH))
        sim_worker_crash(w, k);
    if (k->alive && fault_strikes(w, FAULT_WORKER_SLEEP))
        sim_worker_sleep(w, k, draw_sleep_ms(w));
    if (k->alive && fault_strikes(w, FAULT_HANGUP))
        sim_worker_hang_up(w, k);
    if (fault_strikes(w, FAULT_CLOCK_FORWARD))
        step_clock(w, pick_ms(w, 1, LEAP_MAX_MS));
    if (!w->cluster && fault_strikes(w, FAULT_CLOCK_BACK)) /* the clock of a cluster never does */
        step_clock(w, -pick_ms(w, 1, LEAP_MAX_MS));
    if (w->cluster) {
        struct sim_server *s = &w->servers[pick(w, w->server_count)];
        if (s->up)
            spells_suffer(s);
        spells_strike(w);
        agenda_add(w, w->boot_ms + pick_ms(w, 10, 1000), weather, what, no);
        return;
    }
    if (w->server->up && fault_strikes(w, FAULT_SERVER_CRASH))
        sim_server_crash(w->server);
    if (fault_strikes(w, FAULT_TAKEOVER))
        sim_server_take_over(w);
    agenda_add(w, w->boot_ms + pick_ms(w, 10, 1000), weather, what, no);
}

/* ---- a day */

/* Whatever somebody paused goes on. */
static void tidy_up(struct world *w, void *what, uint64_t no)
{
    client_tidy_up(w);
    agenda_add(w, w->boot_ms + TIDY_MS, tidy_up, what, no);
}

/* Runs get short, so that jobs that recur leave room for the others. */
static void heal(struct world *w)
{
    SAY(w, "world", "the faults are over");
    w->healing = true;
    if (w->scene.run_max_ms > HEALING_RUN_MAX_MS)
        w->scene.run_max_ms = HEALING_RUN_MAX_MS;
    tidy_up(w, NULL, 0);
    if (!w->server->up && !w->cluster)
        sim_server_start(w->server);
    if (w->workers[0].alive) /* comes back as one that can do everything */
        sim_worker_crash(w, &w->workers[0]);
}

/* Unfinished, and nothing that begins anew for ever. */
static bool should_end(const struct model_exec *x)
{
    return !exec_is_final(x->rec.state) && (!model_recurs(x) || job_is_over(x->job->rec.state));
}

static const struct model_exec *find_unfinished(const struct world *w)
{
    for (size_t i = w->model.execs.len; i-- > 0;) {
        if (should_end(w->model.execs.items[i]))
            return w->model.execs.items[i];
    }
    return NULL;
}

/* Somebody runs what has ended, or should end. */
static bool runs_leftovers(const struct world *w)
{
    for (size_t i = 0; i < w->scene.workers; i++) {
        const struct sim_worker *k = &w->workers[i];
        for (size_t j = 0; k->alive && j < RUNS_MAX; j++) {
            const struct model_exec *x = model_exec(&w->model, k->runs[j].exec_id);
            if (k->runs[j].token != 0 &&
                (x == NULL || !model_recurs(x) || exec_is_final(x->rec.state)))
                return true;
        }
    }
    return false;
}

static bool is_quiet(const struct world *w)
{
    return w->model.once_count == 0 && !runs_leftovers(w) && find_unfinished(w) == NULL &&
           !operations_run(&w->model) && inbox_is_quiet(w);
}

static _Noreturn void stuck(struct world *w)
{
    const struct model_exec *x = find_unfinished(w);
    if (operations_run(&w->model))
        promise_broken(w, "an operation does not come to its end");
    if (!inbox_is_quiet(w))
        promise_broken(w, "a row of the inbox is never dealt with");
    if (x == NULL)
        promise_broken(w, "a worker runs something that has ended long ago");
    promise_broken(w, "%zu executions do not finish though all faults are over: %s is %.*s",
                   w->model.once_count, exec_label(w, x->rec.id),
                   STR_ARG(exec_state_name(x->rec.state)));
}

/* Nothing waits that should be over, or was to be told about. */
static void check_deadlines(struct world *w)
{
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        int64_t deadline_ms = model_deadline_ms(w, x);
        PROMISE(w, deadline_ms == 0 || world_now(w).wall_ms - deadline_ms < LATE_MAX_MS,
                "%s should be late, or over, since long", exec_label(w, x->rec.id));
    }
}

/* No slot is late, of no job. */
static void check_going_on(struct world *w)
{
    for (size_t i = 0; i < w->model.jobs.len; i++) {
        const struct model_job *job = w->model.jobs.items[i];
        if (job->schedule == NULL || job->rec.state != JOB_ACTIVE)
            continue;
        const struct model_exec *ahead = model_ahead(job);
        if (ahead->rec.late)
            continue; /* it waits for a ping, and that was told */
        int64_t due_ms =
            model_is_held_by_calendar(&ahead->rec) ? ahead->rec.due_ms : model_due_ms(ahead);
        int64_t late_ms = world_now(w).wall_ms - due_ms;
        PROMISE(w, late_ms < LATE_MAX_MS, "%s does not go on: its next slot is %" PRId64 " ms late",
                job_label(w, job->rec.id), late_ms);
    }
}

static void live_until_quiet(struct world *w, int64_t least_ms)
{
    int64_t from_ms = w->boot_ms + least_ms;
    int64_t until_ms = w->boot_ms + HEAL_MAX_MS;
    while (w->boot_ms < from_ms || !is_quiet(w)) {
        if (w->boot_ms >= until_ms || w->step >= STEPS_MAX || !agenda_step(w))
            stuck(w);
    }
}

static void finish(struct world *w)
{
    live_until_quiet(w, w->scene.recurring_max > 0 ? GOING_ON_MS : 0);
    client_want_names(w);
    live_until_quiet(w, ANSWERED_MS);
    check_going_on(w);
    check_deadlines(w);
    promise_acknowledged(w);
    past_check(w);
    for (size_t i = 0; i < w->server_count; i++)
        promise_engine(w, &w->servers[i]);
    promise_all_reads(w);
}

static bool has_had_steps(const struct world *w)
{
    return w->step >= w->scene.steps && (!w->scene.lags || w->past.gone_back);
}

/* The faulty phase. */
static bool is_over(const struct world *w)
{
    if (w->scene.clocks)
        return clock_day_is_over(w);
    return w->scene.storms_ms > 0 ? storm_is_over(w) : has_had_steps(w);
}

uint64_t world_live(const struct day *day)
{
    static struct world w;
    trace_catch_aborts(&w);
    begin(&w, day);
    agenda_add(&w, 0, clients, NULL, 0);
    agenda_add(&w, 0, weather, NULL, 0);
    inbox_begin(&w);
    pings_begin(&w);
    if (w.scene.storms_ms > 0)
        storm_begin(&w);
    if (w.scene.clocks)
        clock_day_begin(&w);
    while (!is_over(&w))
        agenda_step(&w);
    heal(&w);
    finish(&w);
    SAY(&w, "world", "the day is over: %zu jobs, %" PRIu64 " turns", w.model.jobs.len,
        w.model.turn);
    uint64_t digest = rng_next(&w.rng) ^ w.step << 32 ^ (uint64_t)w.boot_ms ^ w.digest.sum;
    end(&w);
    trace_catch_aborts(NULL);
    return digest;
}

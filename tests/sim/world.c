#include "world.h"
#include "client.h"
#include "promises.h"

#include <inttypes.h>

enum {
    STEPS_MAX = 1000000,              /* of a whole day; more would be a world that spins */
    HEAL_MAX_MS = 2 * 60 * 60 * 1000, /* from the last fault until everything has finished */
    LEAP_MAX_MS = 10 * 60 * 1000,
};

/* ---- the scene */

static void draw_scene(struct world *w)
{
    static const size_t keep_bytes[] = {0, 200, 4096};
    struct scene *s = &w->scene;
    s->engine = engine_defaults;
    s->engine.lease_ms = pick_ms(w, 2000, 20000);
    s->engine.park_ms = pick_ms(w, 100, 5000);
    s->engine.horizon_ms = pick_ms(w, 2000, 120000);
    s->engine.forget_ms = pick_ms(w, 10000, 60000);
    s->engine.live_max = 5 + pick(w, 80);
    s->engine.lanes_max = 1 + pick(w, 6);
    s->engine.keep_bytes_max = keep_bytes[pick(w, COUNT_OF(keep_bytes))];
    s->engine.due_max = 1 + pick(w, 20);
    s->engine.load_max = 1 + pick(w, 20);
    s->workers = 1 + pick(w, WORKERS_MAX);
    s->steps = 100 + pick(w, 700);
    s->at_max_ms = pick_ms(w, 1000, 300000);
    s->run_max_ms = pick_ms(w, 1, 15000);
    s->fail_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 500);
    s->named_permille = pick(w, 2) == 0 ? 0 : (uint32_t)pick(w, 500);
    s->client_gap_ms = 1 + (uint32_t)pick(w, 1500);
}

static void begin(struct world *w, const struct day *day)
{
    static const char *const labels[WORKERS_MAX] = {"worker-1", "worker-2", "worker-3", "worker-4"};
    *w = (struct world){.seed = day->seed, .trace.on = day->traced, .skew_ms = WORLD_BEGIN_MS};
    w->rng.state = day->seed;
    w->model.arena = &w->arena;
    list_init(&w->calls);
    draw_scene(w);
    faults_draw(w);
    sim_store_open(w, day->sqlite);
    sim_server_init(w, &w->servers[0], "server-1");
    sim_server_init(w, &w->servers[1], "server-2");
    w->server = &w->servers[0];
    sim_server_start(w->server);
    for (size_t i = 0; i < w->scene.workers; i++) {
        w->workers[i].label = labels[i];
        sim_worker_start(w, &w->workers[i]);
    }
}

static void end(struct world *w)
{
    for (size_t i = 0; i < SERVERS; i++)
        sim_server_free(&w->servers[i]);
    for (size_t i = 0; i < WORKERS_MAX; i++)
        sim_worker_free(&w->workers[i]);
    LIST_EACH(&w->calls, node) call_free(CONTAINER_OF(node, struct call, all));
    sim_store_close(&w->store);
    model_free(&w->model);
    agenda_free(&w->agenda);
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

static void weather(struct world *w, void *what, uint64_t no)
{
    struct sim_worker *k = &w->workers[pick(w, w->scene.workers)];
    if (w->healing)
        return;
    if (k->alive && fault_strikes(w, FAULT_WORKER_CRASH))
        sim_worker_crash(w, k);
    if (k->alive && fault_strikes(w, FAULT_WORKER_SLEEP))
        sim_worker_sleep(w, k, pick_ms(w, 1, 3 * w->scene.engine.lease_ms));
    if (k->alive && fault_strikes(w, FAULT_HANGUP))
        sim_worker_hang_up(w, k);
    if (fault_strikes(w, FAULT_CLOCK_FORWARD))
        step_clock(w, pick_ms(w, 1, LEAP_MAX_MS));
    if (fault_strikes(w, FAULT_CLOCK_BACK))
        step_clock(w, -pick_ms(w, 1, LEAP_MAX_MS));
    if (w->server->up && fault_strikes(w, FAULT_SERVER_CRASH))
        sim_server_crash(w->server);
    if (fault_strikes(w, FAULT_TAKEOVER))
        sim_server_take_over(w);
    agenda_add(w, w->boot_ms + pick_ms(w, 10, 1000), weather, what, no);
}

/* ---- a day */

static void heal(struct world *w)
{
    SAY(w, "world", "the faults are over");
    w->healing = true;
    if (!w->server->up)
        sim_server_start(w->server);
    if (w->workers[0].alive) /* comes back as one that can do everything */
        sim_worker_crash(w, &w->workers[0]);
}

static bool is_quiet(const struct world *w)
{
    for (size_t i = 0; i < w->scene.workers; i++) {
        if (w->workers[i].alive && w->workers[i].holdings.running_count > 0)
            return false;
    }
    return w->model.live_count == 0;
}

static _Noreturn void stuck(struct world *w)
{
    const struct model_exec *x = NULL;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        if (!exec_is_final(w->model.execs.items[i]->rec.state))
            x = w->model.execs.items[i];
    }
    if (x == NULL)
        promise_broken(w, "a worker runs something that has ended long ago");
    promise_broken(w, "%zu executions do not finish though all faults are over: %s is %.*s",
                   w->model.live_count, exec_label(w, x->rec.id),
                   STR_ARG(exec_state_name(x->rec.state)));
}

static void finish(struct world *w)
{
    int64_t until_ms = w->boot_ms + HEAL_MAX_MS;
    while (!is_quiet(w)) {
        if (w->boot_ms >= until_ms || w->step >= STEPS_MAX || !agenda_step(w))
            stuck(w);
    }
    promise_acknowledged(w);
    promise_engine(w, w->server);
    promise_all_reads(w);
}

uint64_t world_live(const struct day *day)
{
    static struct world w;
    trace_catch_aborts(&w);
    begin(&w, day);
    agenda_add(&w, 0, clients, NULL, 0);
    agenda_add(&w, 0, weather, NULL, 0);
    while (w.step < w.scene.steps)
        agenda_step(&w);
    heal(&w);
    finish(&w);
    SAY(&w, "world", "the day is over: %zu jobs, %" PRIu64 " turns", w.model.jobs.len,
        w.model.turn);
    uint64_t digest = rng_next(&w.rng) ^ w.step << 32 ^ (uint64_t)w.boot_ms;
    end(&w);
    trace_catch_aborts(NULL);
    return digest;
}

#include "worker_runs.h"
#include "base/plant.h"
#include "killer.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>

enum {
    WATCH_MS = 200,     /* as in worker/link/poller.c */
    STOP_MAX_MS = 2000, /* from being asked to stop to being gone */
};

static struct sim_run *find_run(struct sim_worker *k, uint64_t exec_id, uint64_t token)
{
    for (size_t i = 0; i < RUNS_MAX; i++) {
        if (k->runs[i].token == token && k->runs[i].exec_id == exec_id)
            return &k->runs[i];
    }
    return NULL;
}

static void run_ends(struct world *w, void *what, uint64_t no);

static void end_run_in(struct world *w, struct sim_worker *k, struct sim_run *run,
                       enum outcome outcome, int64_t delay_ms)
{
    run->outcome = outcome;
    run->ends_ms = w->boot_ms + delay_ms;
    run->no = ++k->run_no;
    agenda_add(w, run->ends_ms, run_ends, k, run->no);
}

static struct sim_run *run_with_no(struct sim_worker *k, uint64_t no)
{
    for (size_t i = 0; i < RUNS_MAX; i++) {
        if (k->runs[i].token != 0 && k->runs[i].no == no)
            return &k->runs[i];
    }
    return NULL;
}

static void draw_failure(struct world *w, struct poll_result *result)
{
    static const enum failure_class classes[] = {
        FAILURE_NONE,    FAILURE_NETWORK, FAILURE_NOT_FOUND, FAILURE_KILLED,
        FAILURE_UNKNOWN, FAILURE_USER,    FAILURE_DISK,
    };
    result->class = classes[pick(w, COUNT_OF(classes))];
    result->permanent = (enum permanence)pick(w, PERMANENT_YES + 1);
    result->retry_after_ms = pick(w, 2) == 0 ? 0 : pick_ms(w, 1, 12000);
    result->tail = STR(SIM_ERROR);
}

/* What a lost worker has done already cannot always be done again. */
static bool finds_it_done(struct world *w, const struct sim_run *run)
{
    const struct model_exec *x = model_exec(&w->model, run->exec_id);
    return x != NULL && x->rec.effect_done && pick(w, 4) > 0;
}

/* The process is gone. A worker that sleeps hears of it when it wakes up. */
static void run_ends(struct world *w, void *what, uint64_t no)
{
    struct sim_worker *k = what;
    struct sim_run *run = run_with_no(k, no);
    if (run == NULL)
        return;
    if (sim_worker_sleeps(w, k)) {
        agenda_add(w, k->asleep_until_ms, run_ends, k, no);
        return;
    }
    if (finds_it_done(w, run))
        run->outcome = OUTCOME_FAILED;
    SAY(w, k->label, "%s ended: %.*s", exec_label(w, run->exec_id),
        STR_ARG(outcome_name(run->outcome)));
    struct poll_result result = {
        .exec_id = run->exec_id,
        .token = run->token,
        .outcome = run->outcome,
        .result = run->outcome == OUTCOME_SUCCEEDED ? STR(SIM_RESULT) : STR(""),
        .error = run->outcome == OUTCOME_SUCCEEDED ? STR("") : STR(SIM_ERROR),
    };
    if (run->outcome == OUTCOME_FAILED)
        draw_failure(w, &result);
    *run = (struct sim_run){0};
    lease_set_end(&k->lease_set, &result);
    sim_worker_act(w, k);
}

static enum outcome draw_outcome(struct world *w)
{
    static const enum outcome bad[] = {OUTCOME_FAILED, OUTCOME_FAILED, OUTCOME_PERMANENT,
                                       OUTCOME_TIMEOUT, OUTCOME_RETURNED};
    if (w->healing || !chance(w, w->scene.fail_permille))
        return OUTCOME_SUCCEEDED;
    return bad[pick(w, COUNT_OF(bad))];
}

static int64_t timeout_of(const struct world *w, uint64_t exec_id)
{
    const struct model_exec *x = model_exec(&w->model, exec_id);
    return x == NULL ? 0 : model_wish(&w->model, x->job)->rules.timeout_ms;
}

void run_starts(struct world *w, struct sim_worker *k, const struct poll_lease *lease)
{
    struct sim_run *run = find_run(k, 0, 0);
    PROMISE(w, run != NULL, "a worker was given more runs than it has room for");
    SAY(w, k->label, "runs %s, token %" PRIu64 ", attempt %" PRIu32, exec_label(w, lease->exec_id),
        lease->token, lease->attempt);
    if (!past_is_ghost(w, lease->exec_id, lease->token))
        promise_alone(w, k, lease->exec_id);
    *run =
        (struct sim_run){.exec_id = lease->exec_id, .job_id = lease->job_id, .token = lease->token};
    enum outcome outcome = draw_outcome(w);
    /* What was lost before takes longer, so that who lost it can come back meanwhile. */
    int64_t more_ms = lease->token > 1 ? w->scene.engine.lease_ms : 0;
    int64_t run_ms = pick_ms(w, 0, w->scene.run_max_ms + more_ms);
    int64_t timeout_ms = timeout_of(w, lease->exec_id);
    run->defiant = timeout_ms > 0 && run_ms > timeout_ms && pick(w, 3) == 0;
    if (timeout_ms > 0 && run_ms > timeout_ms && !run->defiant) {
        outcome = OUTCOME_TIMEOUT;
        run_ms = pick_ms(w, timeout_ms, timeout_ms + w->scene.engine.kill_grace_ms);
    }
    bool kills = killer_is(w, lease->exec_id);
    end_run_in(w, k, run, outcome, kills ? 10 * w->scene.killer_ms : run_ms);
    if (kills)
        killer_starts(w, k, run);
}

/* Some are done before the signal comes. */
static enum outcome killed(struct world *w)
{
    return pick(w, 3) == 0 ? OUTCOME_SUCCEEDED : OUTCOME_RETURNED;
}

/* Within the margin that the lease leaves for it: a quarter of the term at most. */
static int64_t kill_ms(struct world *w)
{
    int64_t quarter_ms = w->scene.engine.lease_ms / 4;
    return pick_ms(w, 0, (quarter_ms < 1000 ? quarter_ms : 1000) / 2);
}

struct visit {
    struct world *w;
    struct sim_worker *k;
};

static void on_lost(void *arg, uint64_t exec_id, uint64_t token)
{
    const struct visit *visit = arg;
    struct sim_run *run = find_run(visit->k, exec_id, token);
    SAY(visit->w, visit->k->label, "kills %s: its lease could not be renewed",
        exec_label(visit->w, exec_id));
    storm_run_dies(visit->w, visit->k, exec_id, token);
    if (run != NULL && run->ends_ms > visit->w->boot_ms) /* else it ended while we slept */
        end_run_in(visit->w, visit->k, run, killed(visit->w), kill_ms(visit->w));
}

void runs_expire(struct world *w, struct sim_worker *k)
{
    struct visit visit = {w, k};
    bool late = w->boot_ms >= k->lease_set.deadline_ms;
    lease_set_expire(&k->lease_set, w->boot_ms, on_lost, &visit);
    for (size_t i = 0; late && PLANTED(one_deadline_for_all) && i < RUNS_MAX; i++) {
        if (k->runs[i].token != 0)
            on_lost(&visit, k->runs[i].exec_id, k->runs[i].token);
    }
}

/* The real one looks every 200 ms. */
static void watch(struct world *w, void *what, uint64_t no)
{
    struct sim_worker *k = what;
    if (no != k->watch_no || !k->alive || k->lease_set.running_count == 0)
        return;
    if (sim_worker_sleeps(w, k)) {
        agenda_add(w, k->asleep_until_ms, watch, k, no);
        return;
    }
    runs_expire(w, k);
    if (k->lease_set.deadline_ms == INT64_MAX)
        return;
    int64_t next_ms = k->lease_set.deadline_ms;
    agenda_add(w, next_ms + pick_ms(w, 1, WATCH_MS / 4), watch, k, no);
}

void runs_watch(struct world *w, struct sim_worker *k)
{
    watch(w, k, ++k->watch_no);
}

void runs_void(struct world *w, struct sim_worker *k)
{
    struct visit visit = {w, k};
    lease_set_void(&k->lease_set, on_lost, &visit);
}

void runs_stop(struct world *w, struct sim_worker *k, const struct sim_link *link,
               const struct poll_reply *reply, const struct partition_set *believed)
{
    for (size_t i = 0; i < reply->stop_count; i++) {
        const struct poll_stop *stop = &reply->stops[i];
        struct sim_run *run = find_run(k, stop->exec_id, stop->token);
        int64_t delay_ms = pick_ms(w, 0, STOP_MAX_MS);
        if (believed->count > 0 && !partition_has(believed, stop->exec_id))
            continue;
        if (run == NULL || !lease_set_runs(&k->lease_set, stop->exec_id, stop->token) ||
            run->ends_ms <= w->boot_ms + delay_ms)
            continue;
        SAY(w, k->label, "stops %s: %.*s", exec_label(w, stop->exec_id), STR_ARG(stop->reason));
        if (!link->lost)
            promise_stop(w, k->id, stop);
        bool too_late = pick(w, 4) == 0; /* it had ended by itself */
        end_run_in(w, k, run, too_late ? OUTCOME_SUCCEEDED : OUTCOME_STOPPED, delay_ms);
    }
}

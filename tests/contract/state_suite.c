/* Every life an execution can live, cell by cell of the table in job/state.c, and what a start
 * finds after every kind of commit. */
#include "model.h"

#include <inttypes.h>

/* An execution in that state, with all that belongs to it. */
static struct exec_rec exec_in(struct world *w, enum exec_state state)
{
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, state);
    exec.exec.ready_ms = T0 + 1;
    if (exec_is_leased(state)) {
        exec.exec.token = 5;
        exec.exec.attempts = 1;
        exec.exec.worker_id = 77;
        exec.exec.started_ms = T0 + 2;
    }
    if (exec_is_final(state))
        exec.exec.finished_ms = T0 + 3;
    job.job.last_exec = exec.exec.id;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    return exec.exec;
}

/* The change that a step makes, as an engine would write it down. */
static struct exec_change step_to(const struct exec_rec *from, enum exec_state to)
{
    bool ends = exec_is_final(to);
    struct exec_change change = next_change(from, ends ? CHANGE_FINISH : CHANGE_UPDATE, to);
    change.exec.due_ms = exec_is_waiting(to) ? T0 + 9 : 0;
    if (to == EXEC_RUNNING) {
        change.exec.token++;
        change.exec.worker_id = 78;
    }
    if (ends) {
        change.exec.finished_ms = T0 + 10;
        change.exec.result = STR("{\"n\":1}");
    }
    change.exec.error = STR("why");
    return change;
}

struct found {
    uint64_t id;
    struct exec_rec exec;
    size_t count;
};

static enum rc look_for(void *arg, const struct exec_rec *exec, struct err *err)
{
    struct found *found = arg;
    (void)err;
    if (exec->id == found->id) {
        found->exec = *exec;
        found->count++;
    }
    return RC_OK;
}

static size_t load_one(struct world *w, uint64_t id, int64_t until_ms, struct exec_rec *ret_exec)
{
    struct found found = {.id = id};
    struct load_sink sink = {.exec = look_for, .arg = &found};
    assert_rc(w->store->ops->load(w->store, &w->own, until_ms, &sink, &w->err), RC_OK);
    *ret_exec = found.exec;
    return found.count;
}

/* How often a list of one state, of one job, shows it. */
static size_t list_one(struct world *w, const struct exec_rec *exec, enum exec_state state)
{
    struct filter filter = {.states = FILTER_STATE(state), .job_id = exec->job_id};
    struct exec_page page;
    assert_rc(w->reader->ops->execs(w->reader, &filter, &(struct page){.limit = 9}, &w->arena,
                                    &page, &w->err),
              RC_OK);
    return page.count;
}

/* Reading, listing, asking and loading all tell the same. */
static void check_everywhere(struct world *w, const struct exec_rec *want, struct str trail)
{
    struct exec_rec loaded;
    struct exec_rec whole = *want;
    bool is_final = exec_is_final(want->state);
    whole.trail = trail;
    struct exec_rec read = read_exec(w, want->id);
    assert_same_exec(&read, &whole, WHOLE);
    struct question q = {.kind = ASK_EXEC, .id = want->id};
    world_admit(w, &q);
    assert_non_null(q.answer.exec);
    assert_same_exec(q.answer.exec, want, BRIEF);
    assert_int_equal(q.answer.newest != NULL, !is_final);
    w->store->ops->abort(w->store);
    assert_int_equal(list_one(w, want, want->state), 1);
    assert_int_equal(list_one(w, want, want->state == EXEC_QUEUED ? EXEC_FAILED : EXEC_QUEUED), 0);
    assert_int_equal(load_one(w, want->id, INT64_MAX, &loaded), !is_final);
    bool held = want->state == EXEC_SCHEDULED && want->ready_ms > 0;
    assert_int_equal(load_one(w, want->id, T0 - 1, &loaded),
                     !is_final && (held || !exec_is_waiting(want->state)));
}

PROMISE(every_step_of_the_table_is_kept)
{
    struct world *w = *state;
    size_t steps = 0;
    for (int from = EXEC_NONE + 1; from < EXEC_STATES; from++) {
        for (int event = 0; event < EXEC_EVENTS; event++) {
            enum exec_state to = exec_next((enum exec_state)from, (enum exec_event)event);
            if (to == EXEC_NONE)
                continue;
            struct exec_rec exec = exec_in(w, (enum exec_state)from);
            check_everywhere(w, &exec, STR("born\n"));
            struct exec_change change = step_to(&exec, to);
            world_commit(w, (struct delta){.execs = &change, .exec_count = 1});
            check_everywhere(w, &change.exec, STR("born\nmoved\n"));
            steps++;
        }
    }
    assert_true(steps > EXEC_EVENTS); /* the table was walked */
    world_reopen(w);
}

PROMISE(every_step_survives_a_restart)
{
    struct world *w = *state;
    VEC(struct exec_rec) all = {0};
    for (int from = EXEC_NONE + 1; from < EXEC_STATES; from++) {
        for (int event = 0; event < EXEC_EVENTS; event++) {
            enum exec_state to = exec_next((enum exec_state)from, (enum exec_event)event);
            if (to == EXEC_NONE)
                continue;
            struct exec_rec exec = exec_in(w, (enum exec_state)from);
            struct exec_change change = step_to(&exec, to);
            world_commit(w, (struct delta){.execs = &change, .exec_count = 1});
            *VEC_PUSH(&w->arena, &all) = change.exec;
        }
    }
    world_reopen(w);
    for (size_t i = 0; i < all.len; i++)
        check_everywhere(w, &all.items[i], STR("born\nmoved\n"));
}

PROMISE(no_step_leads_out_of_a_final_state)
{
    struct world *w = *state;
    for (int from = EXEC_NONE + 1; from < EXEC_STATES; from++) {
        if (!exec_is_final((enum exec_state)from))
            continue;
        struct exec_rec exec = exec_in(w, (enum exec_state)from);
        for (int to = EXEC_NONE + 1; to < EXEC_STATES; to++) {
            struct exec_change change = step_to(&exec, (enum exec_state)to);
            assert_rc(world_try(w, (struct delta){.execs = &change, .exec_count = 1}), RC_CONFLICT);
            change.kind = exec_is_final((enum exec_state)to) ? CHANGE_RECORD : CHANGE_INSERT;
            if (change.kind == CHANGE_RECORD) /* a live row of that id would be a second life */
                assert_rc(world_try(w, (struct delta){.execs = &change, .exec_count = 1}),
                          RC_CONFLICT);
        }
        check_everywhere(w, &exec, STR("born\n"));
    }
}

/* ---- load after every kind of commit */

struct contents {
    struct arena arena;
    VEC(struct str) lines;
};

static void note(struct contents *c, struct str line)
{
    *VEC_PUSH(&c->arena, &c->lines) = line;
}

static enum rc note_job(void *arg, const struct job_rec *job, struct err *err)
{
    struct contents *c = arg;
    (void)err;
    note(c, arena_printf(&c->arena, "job %" PRIu64 " %d v%" PRIu32, job->id, job->state,
                         job->version));
    return RC_OK;
}

static enum rc note_exec(void *arg, const struct exec_rec *exec, struct err *err)
{
    struct contents *c = arg;
    (void)err;
    note(c, arena_printf(&c->arena, "exec %" PRIu64 " %d %" PRIu64, exec->id, exec->state,
                         exec->token));
    return RC_OK;
}

static enum rc note_worker(void *arg, const struct worker_rec *worker, struct err *err)
{
    struct contents *c = arg;
    (void)err;
    note(c, arena_printf(&c->arena, "worker %" PRIu64 " %d", worker->id, worker->draining));
    return RC_OK;
}

static enum rc note_counter(void *arg, const struct counter *counter, struct err *err)
{
    struct contents *c = arg;
    (void)err;
    note(c,
         arena_printf(&c->arena, "counter %.*s %" PRId64, STR_ARG(counter->queue), counter->value));
    return RC_OK;
}

/* Exactly these lines are loaded, before and after a restart. */
static void assert_loads(struct world *w, const struct str *lines, size_t count)
{
    for (int restart = 0; restart < 2; restart++) {
        struct contents c = {0};
        struct load_sink sink = {
            .job = note_job,
            .exec = note_exec,
            .worker = note_worker,
            .counter = note_counter,
            .arg = &c,
        };
        assert_rc(w->store->ops->load(w->store, &w->own, INT64_MAX, &sink, &w->err), RC_OK);
        assert_int_equal(c.lines.len, count);
        for (size_t i = 0; i < count; i++)
            assert_str(c.lines.items[i], lines[i]);
        arena_free(&c.arena);
        world_reopen(w);
    }
}

#define ASSERT_LOADS(w, ...)                                                                       \
    do {                                                                                           \
        const struct str lines_[] = {__VA_ARGS__};                                                 \
        assert_loads((w), lines_, COUNT_OF(lines_));                                               \
    } while (0)

PROMISE(load_tells_every_kind_of_commit)
{
    struct world *w = *state;
    struct arena *a = &w->arena;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_QUEUED);
    uint64_t job_id = job.job.id;
    uint64_t id = exec.exec.id;
    struct str active = arena_printf(a, "job %" PRIu64 " 1 v1", job_id);
    assert_loads(w, NULL, 0);

    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    ASSERT_LOADS(w, active, arena_printf(a, "exec %" PRIu64 " %d 0", id, EXEC_QUEUED));

    struct exec_change leased = next_change(&exec.exec, CHANGE_UPDATE, EXEC_RUNNING);
    leased.exec.token = 3;
    world_commit(w, (struct delta){.execs = &leased, .exec_count = 1});
    struct str running = arena_printf(a, "exec %" PRIu64 " %d 3", id, EXEC_RUNNING);
    ASSERT_LOADS(w, active, running);

    struct exec_change bad = next_change(&exec.exec, CHANGE_UPDATE, EXEC_QUEUED);
    bad.exec.id++; /* refused: nothing of it is loaded, and what was there still is */
    assert_rc(world_try(w, (struct delta){.execs = &bad, .exec_count = 1}), RC_CONFLICT);
    ASSERT_LOADS(w, active, running);

    struct counter counter = {COUNTER_EXECS, STR("default"), EXEC_RUNNING, 4, 0};
    world_commit(w, (struct delta){.counters = &counter, .counter_count = 1});
    struct str four = STR("counter default 4");
    ASSERT_LOADS(w, four, active, running);

    struct worker_change worker = {.worker = {.id = world_id(w), .name = STR("a")}};
    world_commit(w, (struct delta){.workers = &worker, .worker_count = 1});
    struct str hired = arena_printf(a, "worker %" PRIu64 " 0", worker.worker.id);
    ASSERT_LOADS(w, four, hired, active, running);

    world_claim(w, STR("nightly"), job_id); /* a turn of claims alone, and one that is given up */
    world_commit(w, (struct delta){0});
    world_claim(w, STR("weekly"), job_id);
    w->store->ops->abort(w->store);
    struct attempt_rec attempt = {.exec_id = id, .token = 3, .outcome = OUTCOME_FAILED};
    world_commit(w, (struct delta){.attempts = &attempt, .attempt_count = 1});
    ASSERT_LOADS(w, four, hired, active, running);

    worker.forget = true;
    struct job_change ended = {.kind = CHANGE_UPDATE, .job = job.job, .step = STR("end\n")};
    ended.job.state = JOB_FAILED;
    struct exec_change failed = next_change(&leased.exec, CHANGE_FINISH, EXEC_FAILED);
    world_commit(w, (struct delta){.workers = &worker,
                                   .worker_count = 1,
                                   .jobs = &ended,
                                   .job_count = 1,
                                   .execs = &failed,
                                   .exec_count = 1});
    ASSERT_LOADS(w, four);

    struct exec_change record = new_exec(w, &job, EXEC_CANCELLED); /* final from the start */
    world_commit(w, (struct delta){.execs = &record, .exec_count = 1});
    struct key_rec key = {.id = world_id(w), .created_ms = T0};
    assert_rc(w->store->ops->key_put(w->store, &key, &w->err), RC_OK);
    ASSERT_LOADS(w, four);
}

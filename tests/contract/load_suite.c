/* Loading: everything unfinished up to a horizon, and what lies beyond it piece by piece. */
#include "loaded.h"
#include "model.h"

static void check_load(struct world *w, const struct model *m, int64_t until_ms)
{
    CLEANUP(loaded_free) struct loaded l = {0};
    size_t expected = 0;
    assert_rc(load(w, until_ms, &l), RC_OK);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct exec_rec *want = &m->execs.items[i];
        bool later = exec_is_waiting(want->state) && want->due_ms > until_ms;
        if (want->state == EXEC_RETRYING && want->origin != ORIGIN_ONCE)
            later = false; /* a slot that comes meanwhile must see it */
        if (exec_is_final(want->state) || later)
            continue;
        const struct exec_rec *got = loaded_exec(&l, want->id);
        assert_non_null(got);
        assert_same_exec(got, want, BRIEF);
        expected++;
    }
    assert_int_equal(l.execs.len, expected);
    for (size_t i = 0; i < l.jobs.len; i++) /* every job here has one execution */
        assert_same_job(&l.jobs.items[i], model_job(m, l.jobs.items[i].id), BRIEF);
    assert_int_equal(l.jobs.len, expected);
}

PROMISE(load_gives_what_random_lives_left_unfinished)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    for (int i = 0; i < 10; i++) {
        model_live(w, &m, 12);
        check_load(w, &m, T0 + (int64_t)rng_below(&w->rng, 60));
    }
    world_reopen(w);
    check_load(w, &m, INT64_MAX);
    check_load(w, &m, 0);
}

PROMISE(a_job_comes_with_each_of_its_executions)
{
    struct world *w = *state;
    CLEANUP(loaded_free) struct loaded l = {0};
    struct job_change jobs[] = {new_job(w), new_job(w)};
    struct exec_change execs[] = {
        new_exec(w, &jobs[0], EXEC_QUEUED),
        new_exec(w, &jobs[1], EXEC_RUNNING),
        new_exec(w, &jobs[0], EXEC_RUNNING),
    };
    world_commit(w, (struct delta){.jobs = jobs, .job_count = 2, .execs = execs, .exec_count = 3});
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.jobs.len, 3);
    assert_int_equal(l.execs.len, 3);
}

PROMISE(another_attempt_for_a_schedule_is_loaded_from_beyond_the_horizon)
{
    struct world *w = *state;
    CLEANUP(loaded_free) struct loaded l = {0};
    struct job_change jobs[] = {new_job(w), new_job(w)};
    struct exec_change execs[] = {
        new_exec(w, &jobs[0], EXEC_RETRYING),
        new_exec(w, &jobs[0], EXEC_SCHEDULED),
        new_exec(w, &jobs[1], EXEC_RETRYING),
    };
    for (size_t i = 0; i < COUNT_OF(execs); i++)
        execs[i].exec.due_ms = T0 + 1000;
    execs[0].exec.origin = execs[1].exec.origin = ORIGIN_SLOT;
    world_commit(w, (struct delta){.jobs = jobs, .job_count = 2, .execs = execs, .exec_count = 3});
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.execs.len, 1);
    assert_int_equal(l.execs.items[0].id, execs[0].exec.id);
    assert_int_equal(l.execs.items[0].origin, ORIGIN_SLOT);
}

PROMISE(a_sink_can_stop_the_load)
{
    struct world *w = *state;
    CLEANUP(loaded_free) struct loaded l = {.stop_after = 2};
    for (int i = 0; i < 5; i++)
        world_submit(w, EXEC_QUEUED);
    assert_rc(load(w, T0, &l), RC_TOO_LARGE);
    assert_int_equal(l.execs.len, 2);
    world_submit(w, EXEC_QUEUED); /* and the store goes on */
    struct load_sink nothing = {0};
    assert_rc(w->store->ops->load(w->store, &w->own, T0, &nothing, &w->err), RC_OK);
}

/* Whatever a store reads at a time: several times that, and a bit. */
PROMISE(many_come_each_once)
{
    struct world *w = *state;
    enum { MANY = 3500, JOBS = MANY / 2 };
    static struct job_change jobs[JOBS];
    static struct exec_change execs[MANY];
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = new_job(w);
    for (size_t i = 0; i < MANY; i++) /* two of each, with a great many in between */
        execs[i] = new_exec(w, &jobs[i % JOBS], EXEC_QUEUED);
    world_commit(
        w, (struct delta){.jobs = jobs, .job_count = JOBS, .execs = execs, .exec_count = MANY});
    CLEANUP(loaded_free) struct loaded part = {.stop_after = MANY / 2};
    assert_rc(load(w, T0, &part), RC_TOO_LARGE);
    assert_int_equal(part.execs.len, MANY / 2);
    CLEANUP(loaded_free) struct loaded all = {0};
    assert_rc(load(w, T0, &all), RC_OK);
    assert_int_equal(all.execs.len, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_non_null(loaded_exec(&all, execs[i].exec.id));
}

PROMISE(what_was_decided_about_a_queue_is_kept)
{
    struct world *w = *state;
    struct queue_rec queues[] = {
        {.name = STR("mail"), .paused = true, .paused_ms = T0, .paused_by = STR("key:ops")},
        {.name = STR("slow"), .concurrency = 3, .changed_ms = T0 + 1, .changed_by = STR("key:me")},
    };
    world_commit(w, (struct delta){.queues = queues, .queue_count = 2});
    queues[1].concurrency = 4;
    world_commit(w, (struct delta){.queues = &queues[1], .queue_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.queues.len, 2);
    const struct queue_rec *mail = &l.queues.items[str_eq(l.queues.items[1].name, STR("mail"))];
    const struct queue_rec *slow = &l.queues.items[mail == &l.queues.items[0]];
    assert_str(mail->name, STR("mail"));
    assert_true(mail->paused);
    assert_int_equal(mail->paused_ms, T0);
    assert_str(mail->paused_by, STR("key:ops"));
    assert_int_equal(slow->concurrency, 4);
    assert_int_equal(slow->changed_ms, T0 + 1);
    assert_str(slow->changed_by, STR("key:me"));
    assert_false(slow->paused);
}

PROMISE(what_was_decided_about_a_team_is_kept)
{
    struct world *w = *state;
    struct team_rec teams[] = {
        {.name = STR("data"), .concurrency = 3, .changed_ms = 7, .changed_by = STR("key:admin")},
        {.name = STR("web"), .concurrency = 1, .changed_ms = 8, .changed_by = STR("key:other")},
    };
    world_commit(w, (struct delta){.teams = teams, .team_count = 2});
    teams[1].concurrency = 0;
    world_commit(w, (struct delta){.teams = &teams[1], .team_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.teams.len, 2);
    const struct team_rec *data = &l.teams.items[str_eq(l.teams.items[1].name, STR("data"))];
    const struct team_rec *web = &l.teams.items[data == &l.teams.items[0]];
    assert_str(data->name, STR("data"));
    assert_int_equal(data->concurrency, 3);
    assert_int_equal(data->changed_ms, 7);
    assert_str(data->changed_by, STR("key:admin"));
    assert_str(web->name, STR("web"));
    assert_int_equal(web->concurrency, 0);
}

static void assert_same_calendar(const struct calendar_rec *a, const struct calendar_rec *b)
{
    assert_str(a->name, b->name);
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->policy, b->policy);
    assert_int_equal(a->entry_count, b->entry_count);
    assert_str(a->document, b->document);
    assert_int_equal(a->changed_ms, b->changed_ms);
    assert_str(a->changed_by, b->changed_by);
}

PROMISE(calendars_are_kept_replaced_and_forgotten)
{
    struct world *w = *state;
    struct calendar_rec found;
    struct calendar_rec *all;
    size_t count;
    struct calendar_change given[] = {
        {.calendar = {.name = STR("holidays"),
                      .version = 1,
                      .document = STR("{\"dates\":[]}"),
                      .changed_ms = T0,
                      .changed_by = STR("key:ops")}},
        {.calendar = {.name = STR("freeze"),
                      .version = 7,
                      .policy = CALENDAR_HOLD,
                      .entry_count = 3,
                      .document = STR("{\"policy\":\"hold\"}"),
                      .changed_ms = T0 + 1,
                      .changed_by = STR("key:me")}},
        {.calendar = {.name = STR("gone"), .version = 1}},
    };
    world_commit(w, (struct delta){.calendars = given, .calendar_count = 3});
    given[0].calendar.version = 2;
    given[0].calendar.document = STR("{\"dates\":[\"2026-12-25\"]}");
    given[0].calendar.entry_count = 1;
    given[2].forget = true;
    world_commit(w, (struct delta){.calendars = &given[0], .calendar_count = 1});
    world_commit(w, (struct delta){.calendars = &given[2], .calendar_count = 1});
    world_reopen(w);
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.calendars.len, 2);
    size_t freeze = str_eq(l.calendars.items[1].name, STR("freeze"));
    assert_same_calendar(&l.calendars.items[freeze], &given[1].calendar);
    assert_same_calendar(&l.calendars.items[!freeze], &given[0].calendar);
    assert_rc(w->reader->ops->calendar(w->reader, STR("holidays"), &w->arena, &found, &w->err),
              RC_OK);
    assert_same_calendar(&found, &given[0].calendar);
    assert_rc(w->reader->ops->calendar(w->reader, STR("gone"), &w->arena, &found, &w->err),
              RC_NOT_FOUND);
    assert_rc(w->reader->ops->calendars(w->reader, &w->arena, &all, &count, &w->err), RC_OK);
    assert_int_equal(count, 2); /* by name, and without their documents */
    assert_str(all[0].name, STR("freeze"));
    assert_str(all[1].changed_by, STR("key:ops"));
    assert_int_equal(all[1].document.len, 0);
}

PROMISE(who_goes_by_a_calendar_is_known_until_it_is_over)
{
    struct world *w = *state;
    struct calendar_use given[] = {
        {.calendar = STR("holidays"), .job_id = 30}, {.calendar = STR("freeze"), .job_id = 10},
        {.calendar = STR("holidays"), .job_id = 10}, {.calendar = STR("holidays"), .job_id = 20},
        {.calendar = STR("holidays"), .job_id = 20}, /* said twice is said once */
    };
    struct calendar_change calendars[] = {
        {.calendar = {.name = STR("holidays"), .version = 1}},
        {.calendar = {.name = STR("freeze"), .version = 1}},
    };
    struct question q = {.kind = ASK_CALENDAR, .name = STR("holidays"), .limit = 9};
    world_commit(w, (struct delta){.calendars = calendars,
                                   .calendar_count = 2,
                                   .calendar_uses = given,
                                   .calendar_use_count = 5});
    world_reopen(w);
    world_admit(w, &q);
    assert_int_equal(q.answer.id_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(q.answer.ids[i], 10 * (i + 1));
    w->store->ops->abort(w->store);
    given[3].forget = true;
    world_commit(w, (struct delta){.calendar_uses = &given[3], .calendar_use_count = 1});
    q.limit = 1;
    world_admit(w, &q);
    assert_int_equal(q.answer.id_count, 1);
    assert_int_equal(q.answer.ids[0], 10);
    q.limit = 9;
    world_admit(w, &q);
    assert_int_equal(q.answer.id_count, 2);
    q.name = STR("nobody's");
    world_admit(w, &q);
    assert_int_equal(q.answer.id_count, 0);
    w->store->ops->abort(w->store);
}

/* Its dependants, or what it waits for. */
static size_t read_side(struct world *w, uint64_t job_id, enum dependency_side side, size_t max,
                        struct dependency_rec **ret_dependencies)
{
    size_t count = 99;
    assert_rc(w->reader->ops->dependencies(w->reader, job_id, side, max, &w->arena,
                                           ret_dependencies, &count, &w->err),
              RC_OK);
    return count;
}

PROMISE(dependencies_are_kept_and_those_that_wait_are_loaded)
{
    struct world *w = *state;
    struct dependency_rec *found;
    struct dependency_rec given[] = {
        {.upstream = 12, .dependant = 20, .type = DEPENDS_FAILURE, .state = DEPENDENCY_WAITING},
        {.upstream = 11, .dependant = 20, .type = DEPENDS_SUCCESS, .state = DEPENDENCY_WAITING},
        {.upstream = 11, .dependant = 21, .type = DEPENDS_COMPLETION, .state = DEPENDENCY_WAITING},
        {.upstream = 20, .dependant = 22, .type = DEPENDS_SUCCESS, .state = DEPENDENCY_IMPOSSIBLE},
        {.upstream = 20, .dependant = 23, .type = DEPENDS_SUCCESS, .state = DEPENDENCY_PER_SLOT},
        {.upstream = 21, .dependant = 23, .type = DEPENDS_SUCCESS, .state = DEPENDENCY_PER_SLOT},
    };
    world_commit(w, (struct delta){.dependencies = given, .dependency_count = 6});
    given[5].state = DEPENDENCY_MOOT;
    world_commit(w, (struct delta){.dependencies = &given[5], .dependency_count = 1});
    given[1].state = DEPENDENCY_MET;
    world_commit(w, (struct delta){.dependencies = &given[1], .dependency_count = 1});
    world_reopen(w);
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.dependencies.len, 3);
    assert_memory_equal(&l.dependencies.items[0], &given[0], sizeof given[0]);
    assert_memory_equal(&l.dependencies.items[1], &given[2], sizeof given[2]);
    assert_memory_equal(&l.dependencies.items[2], &given[4], sizeof given[4]);
    assert_int_equal(read_side(w, 20, SIDE_UPSTREAMS, 9, &found), 2);
    assert_memory_equal(&found[0], &given[1], sizeof given[1]);
    assert_memory_equal(&found[1], &given[0], sizeof given[0]);
    assert_int_equal(read_side(w, 11, SIDE_DEPENDANTS, 9, &found), 2);
    assert_memory_equal(&found[1], &given[2], sizeof given[2]);
    assert_int_equal(read_side(w, 11, SIDE_DEPENDANTS, 1, &found), 1);
    assert_memory_equal(&found[0], &given[1], sizeof given[1]);
    assert_int_equal(read_side(w, 22, SIDE_DEPENDANTS, 9, &found), 0);
}

PROMISE(a_rate_is_kept_until_it_is_forgotten)
{
    struct world *w = *state;
    struct rate_change rates[] = {
        {.rate = {STR("smtp"), T0 * 1000 + 17, 250000}},
        {.rate = {STR("sms"), T0 * 1000, 1}},
    };
    world_commit(w, (struct delta){.rates = rates, .rate_count = 2});
    rates[0].rate.next_us++;
    rates[1].forget = true;
    world_commit(w, (struct delta){.rates = rates, .rate_count = 2});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.rates.len, 1);
    assert_str(l.rates.items[0].key, STR("smtp"));
    assert_int_equal(l.rates.items[0].next_us, T0 * 1000 + 18);
    assert_int_equal(l.rates.items[0].interval_us, 250000);
}

PROMISE(a_breaker_is_kept_until_it_closes)
{
    struct world *w = *state;
    struct breaker_rec breakers[] = {
        {STR("handler:mail"), BREAKER_OPEN, T0, T0 + 30000, 0},
        {STR("smtp"), BREAKER_OPEN, T0, T0 + 1, 0},
    };
    world_commit(w, (struct delta){.breakers = breakers, .breaker_count = 2});
    breakers[0].state = BREAKER_HALF_OPEN;
    breakers[0].probe = 4711;
    breakers[1].state = BREAKER_CLOSED;
    world_commit(w, (struct delta){.breakers = breakers, .breaker_count = 2});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.breakers.len, 1);
    assert_str(l.breakers.items[0].target, STR("handler:mail"));
    assert_int_equal(l.breakers.items[0].state, BREAKER_HALF_OPEN);
    assert_int_equal(l.breakers.items[0].opened_ms, T0);
    assert_int_equal(l.breakers.items[0].until_ms, T0 + 30000);
    assert_int_equal(l.breakers.items[0].probe, 4711);
}

static void assert_charged(struct world *w, const struct exec_change *change)
{
    CLEANUP(loaded_free) struct loaded l = {0};
    world_reopen(w);
    assert_rc(load(w, T0, &l), RC_OK);
    const struct exec_rec *exec = loaded_exec(&l, change->exec.id);
    assert_int_equal(exec->recharged, change->exec.recharged);
    assert_str(exec->charged, change->exec.charged);
}

/* Also a lease that is charged to nothing at all, and one that goes on and on. */
PROMISE(what_a_lease_is_charged_to_is_kept_until_the_next_change)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_RUNNING);
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    assert_charged(w, &exec);
    static const struct str targets[] = {STR_INIT("smtp"), STR_INIT(""), STR_INIT("handler:a/b")};
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        exec = next_change(&exec.exec, CHANGE_UPDATE, EXEC_RUNNING);
        exec.exec.recharged = true;
        exec.exec.charged = targets[i];
        world_commit(w, (struct delta){.execs = &exec, .exec_count = 1});
        assert_charged(w, &exec);
    }
    exec = next_change(&exec.exec, CHANGE_UPDATE, EXEC_QUEUED);
    exec.exec.recharged = false;
    exec.exec.charged = STR("");
    world_commit(w, (struct delta){.execs = &exec, .exec_count = 1});
    assert_charged(w, &exec);
}

static int64_t counter_value(const struct loaded *l, const struct counter *key)
{
    for (size_t i = 0; i < l->counters.len; i++) {
        const struct counter *c = &l->counters.items[i];
        if (c->kind == key->kind && c->state == key->state && str_eq(c->queue, key->queue))
            return c->value;
    }
    return 0;
}

PROMISE(counters_add_up)
{
    struct world *w = *state;
    CLEANUP(loaded_free) struct loaded l = {0};
    struct counter counters[] = {
        {COUNTER_JOBS, STR("mail"), JOB_ACTIVE, 5, 0},
        {COUNTER_JOBS, STR("mail"), JOB_ACTIVE, -2, 0},
        {COUNTER_EXECS, STR("mail"), EXEC_QUEUED, 7, 0},
        {COUNTER_EXECS, STR("default"), EXEC_QUEUED, -1, 0},
    };
    world_commit(w, (struct delta){.counters = counters, .counter_count = 4});
    world_commit(w, (struct delta){.counters = counters, .counter_count = 2});
    world_reopen(w);
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(counter_value(&l, &counters[0]), 6);
    assert_int_equal(counter_value(&l, &counters[2]), 7);
    assert_int_equal(counter_value(&l, &counters[3]), -1);
}

static size_t count_numbers(struct world *w, struct str queue)
{
    struct question q = {.kind = ASK_QUEUE, .name = queue};
    world_admit(w, &q);
    w->store->ops->abort(w->store);
    for (size_t i = 0; i < q.answer.counter_count; i++)
        assert_str(q.answer.counters[i].queue, queue);
    return q.answer.counter_count;
}

PROMISE(a_queue_that_is_forgotten_leaves_its_numbers_to_no_name)
{
    struct world *w = *state;
    CLEANUP(loaded_free) struct loaded l = {0};
    struct queue_rec queues[] = {{.name = STR("mail"), .paused = true},
                                 {.name = STR("slow"), .paused = true}};
    struct counter counters[] = {
        {COUNTER_JOBS, STR("mail"), JOB_CANCELLED, 5, 0},
        {COUNTER_EXECS, STR("mail"), EXEC_CANCELLED, 7, 0},
        {COUNTER_EXECS, STR("slow"), EXEC_CANCELLED, 2, 0},
    };
    struct counter last = {COUNTER_EXECS, STR("mail"), EXEC_CANCELLED, 1, 0};
    const struct counter moved[] = {
        {COUNTER_JOBS, STR(""), JOB_CANCELLED, 10, 0},
        {COUNTER_EXECS, STR(""), EXEC_CANCELLED, 15, 0},
    };
    const struct queue_gone gone[] = {{STR("mail"), true, true}, {STR("slow"), false, false}};
    world_commit(w,
                 (struct delta){
                     .queues = queues, .queue_count = 2, .counters = counters, .counter_count = 3});
    assert_int_equal(count_numbers(w, STR("mail")), 2);
    const struct delta forgotten = {
        .queues_gone = gone, .queue_gone_count = 2, .counters = &last, .counter_count = 1};
    world_commit(w, forgotten);
    assert_int_equal(count_numbers(w, STR("mail")), 0);
    assert_int_equal(count_numbers(w, STR("slow")), 1);
    world_commit(w, (struct delta){.counters = counters, .counter_count = 2});
    world_commit(w, (struct delta){.queues_gone = gone, .queue_gone_count = 1});
    assert_int_equal(count_numbers(w, STR("mail")), 0);
    world_reopen(w);
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.queues.len, 1);
    assert_str(l.queues.items[0].name, STR("slow"));
    assert_int_equal(l.counters.len, 3);
    assert_int_equal(counter_value(&l, &counters[2]), 2);
    assert_int_equal(counter_value(&l, &moved[0]), 10);
    assert_int_equal(counter_value(&l, &moved[1]), 15);
}

/* ---- ASK_DUE */

static bool comes_before(const struct exec_rec *a, const struct exec_rec *b)
{
    return a->due_ms < b->due_ms || (a->due_ms == b->due_ms && a->id < b->id);
}

/* All executions of the model that are due in (after, until], page by page. */
static void check_due(struct world *w, const struct model *m, int64_t after_ms, int64_t until_ms,
                      size_t limit)
{
    struct exec_rec last = {.due_ms = after_ms, .id = INT64_MAX};
    size_t seen = 0;
    size_t expected = 0;
    for (bool more = true; more;) {
        struct question q = {.kind = ASK_DUE,
                             .after_ms = last.due_ms,
                             .after_id = last.id,
                             .until_ms = until_ms,
                             .limit = limit};
        world_admit(w, &q);
        assert_true(q.answer.live_count == limit || !q.answer.more);
        for (size_t i = 0; i < q.answer.live_count; i++) {
            assert_true(comes_before(&last, &q.answer.live[i]));
            last = q.answer.live[i];
            assert_true(exec_is_waiting(last.state) && last.due_ms <= until_ms);
        }
        for (size_t i = 0; i < q.answer.job_count; i++)
            assert_same_job(&q.answer.jobs[i], model_job(m, q.answer.jobs[i].id), BRIEF);
        assert_int_equal(q.answer.job_count, q.answer.live_count);
        seen += q.answer.live_count;
        more = q.answer.more;
    }
    w->store->ops->abort(w->store);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct exec_rec *exec = &m->execs.items[i];
        expected +=
            exec_is_waiting(exec->state) && exec->due_ms > after_ms && exec->due_ms <= until_ms;
    }
    assert_int_equal(seen, expected);
}

PROMISE(what_is_due_comes_in_pages_although_many_moments_are_equal)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    model_live(w, &m, 100);
    for (int i = 0; i < 20; i++) {
        int64_t after_ms = T0 - 1 + (int64_t)rng_below(&w->rng, 50);
        int64_t until_ms = after_ms + (int64_t)rng_below(&w->rng, 30);
        check_due(w, &m, after_ms, until_ms, 1 + rng_below(&w->rng, 5));
    }
}

PROMISE(a_job_with_two_due_executions_is_told_once)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change execs[] = {new_exec(w, &job, EXEC_SCHEDULED),
                                  new_exec(w, &job, EXEC_RETRYING)};
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = execs, .exec_count = 2});
    struct question q = {.kind = ASK_DUE, .until_ms = INT64_MAX, .limit = 10};
    world_admit(w, &q);
    assert_int_equal(q.answer.live_count, 2);
    assert_int_equal(q.answer.job_count, 1);
    assert_false(q.answer.more);
    q.after_ms = T0;
    q.after_id = UINT64_MAX; /* behind everything of that moment */
    world_admit(w, &q);
    assert_int_equal(q.answer.live_count, 0);
}

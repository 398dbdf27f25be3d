/* Targets that keep failing are left alone for a while. */
#include "engine/ready/breakers.h"
#include "engine/test/explain.h"
#include "engine/test/jobs.h"
#include "engine/time/steps.h"

static const struct breaker *breaker_of(const struct world *w, const char *target)
{
    return strmap_get(&w->engine->ready.breakers.by_target, str_c(target));
}

static enum breaker_state state_at(const struct world *w, const char *target)
{
    const struct breaker *b = breaker_of(w, target);
    return b == NULL ? BREAKER_CLOSED : b->v.state;
}

/* Polls with so many free slots and says how many leases came. */
static size_t take(struct world *w, struct fake *f, uint32_t free)
{
    struct asked *asked = ask_poll(w, f, free);
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    fake_take(f, asked);
    return asked->cmd.reply.poll.lease_count;
}

static void report_first(struct world *w, struct fake *f, enum outcome outcome)
{
    struct poll_lease lease = {.exec_id = f->held[0].exec_id, .token = f->held[0].token};
    struct asked *asked = ask_report(w, f, &lease, outcome);
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    assert_true(was_accepted(asked));
}

/* So many such jobs, and an outcome for each that runs. */
static void run(struct world *w, struct fake *f, unsigned times, enum outcome outcome,
                struct wish wish)
{
    for (unsigned i = 0; i < times; i++) {
        ask_submit_one(w, wish);
        assert_int_equal(take(w, f, 1), 1);
        report_first(w, f, outcome);
    }
}

/* The same of jobs that call the handler. */
static void call(struct world *w, struct fake *f, unsigned times, enum outcome outcome)
{
    run(w, f, times, outcome, (struct wish){.handler = "mail"});
}

TEST(a_handler_that_fails_half_of_the_time_is_left_alone)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail,other");
    call(&w, &f, 2, OUTCOME_SUCCEEDED);
    call(&w, &f, 2, OUTCOME_FAILED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    call(&w, &f, 1, OUTCOME_FAILED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);

    const struct submission *waits = SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .handler = "other");
    assert_int_equal(take(&w, &f, 4), 1); /* the other one */
    assert_int_equal(state_of(&w, waits->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, waits->exec_id)->v.attempts, 0); /* waiting burns none */
}

static void five_fail(struct world *w, struct fake *f)
{
    call(w, f, 5, OUTCOME_FAILED);
    assert_int_equal(state_at(w, "handler:mail"), BREAKER_OPEN);
}

TEST(after_a_rest_one_probe_goes_and_its_success_lets_the_rest_follow)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    for (int i = 0; i < 3; i++)
        SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms - 1);
    assert_int_equal(take(&w, &f, 8), 0);
    world_pass(&w, 1);
    assert_int_equal(take(&w, &f, 8), 1);
    assert_int_equal(take(&w, &f, 8), 0); /* one at a time */
    report_first(&w, &f, OUTCOME_SUCCEEDED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    assert_int_equal(take(&w, &f, 8), 2);
}

TEST(a_probe_that_fails_opens_it_for_another_rest)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    int64_t since_ms = breaker_of(&w, "handler:mail")->v.opened_ms;
    SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
    report_first(&w, &f, OUTCOME_FAILED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
    assert_int_equal(breaker_of(&w, "handler:mail")->v.opened_ms, since_ms);
    assert_int_equal(take(&w, &f, 8), 0);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(a_probe_that_is_given_back_makes_way_for_the_next)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    const struct submission *first = SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
    assert_int_equal(breaker_of(&w, "handler:mail")->v.probe, first->exec_id);
    report_first(&w, &f, OUTCOME_RETURNED);
    assert_int_equal(take(&w, &f, 8), 1);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_HALF_OPEN);
}

TEST(an_open_breaker_outlives_a_restart)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    SUBMIT(&w, .handler = "mail");
    world_restart(&w);
    assert_int_equal(take(&w, &f, 8), 0);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(a_restart_sends_no_second_probe)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
    world_restart(&w);
    assert_int_equal(take(&w, &f, 7), 0);
    report_first(&w, &f, OUTCOME_SUCCEEDED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(what_nobody_calls_any_more_is_forgotten)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    call(&w, &f, 1, OUTCOME_FAILED);
    assert_non_null(breaker_of(&w, "handler:mail"));
    world_pass(&w, w.options.breaker.window_ms);
    assert_null(breaker_of(&w, "handler:mail"));
    five_fail(&w, &f);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_null(breaker_of(&w, "handler:mail"));
}

/* Joins and leaves a breaker that this turn wakes up to forget it. */
TEST(refused_work_of_that_turn_leaves_nothing_of_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    SUBMIT(&w, .unique = "u", .when = WHEN_DELAY, .when_ms = HOUR_MS);
    call(&w, &f, 1, OUTCOME_FAILED);
    assert_non_null(breaker_of(&w, "handler:mail"));
    const struct submission *refused =
        SUBMIT(&w, .handler = "mail", .unique = "u", .on_conflict = CONFLICT_REJECT);
    world_pass(&w, w.options.breaker.window_ms);
    assert_int_equal(refused->rc, RC_CONFLICT);
    assert_null(breaker_of(&w, "handler:mail"));
}

TEST(somebody_who_knows_better_may_reset_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    SUBMIT(&w, .handler = "mail");
    struct asked *reset = ask(&w, CMD_RESET_BREAKER);
    reset->cmd.breaker.target = STR("handler:mail");
    world_turn(&w);
    assert_int_equal(reset->cmd.reply.rc, RC_OK);
    assert_int_equal(take(&w, &f, 8), 1);

    reset = ask(&w, CMD_RESET_BREAKER);
    reset->cmd.breaker.target = STR("handler:nobody");
    world_turn(&w);
    assert_int_equal(reset->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(without_a_percentage_there_are_no_breakers)
{
    struct engine_options options = engine_defaults;
    options.breaker.percent = 0;
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    call(&w, &f, 20, OUTCOME_FAILED);
    assert_null(breaker_of(&w, "handler:mail"));
}

TEST(it_is_explained)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    const struct submission *waits = SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    const struct blocker *b = find(explain_job(&w, waits), BLOCKER_BREAKER);
    assert_non_null(b);
    assert_int_equal(b->until_ms, w.now_ms + w.options.breaker.rest_ms);
    assert_true(str_eq(b->key, STR("handler:mail")));
}

/* ---- whose breaker it is */

TEST(a_command_has_none_unless_it_names_one)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    run(&w, &f, 12, OUTCOME_FAILED, (struct wish){.queue = "default"});
    assert_int_equal(w.engine->ready.breakers.by_target.len, 0);
    run(&w, &f, 5, OUTCOME_FAILED, (struct wish){.breaker = "smtp"});
    assert_int_equal(state_at(&w, "smtp"), BREAKER_OPEN);

    SUBMIT(&w, .breaker = "smtp");
    SUBMIT(&w, .handler = "mail", .breaker = "smtp", .queue = "other"); /* whoever names it */
    assert_int_equal(take(&w, &f, 8), 0);
    SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .breaker = "imap");
    assert_int_equal(take(&w, &f, 8), 2);
}

TEST(a_handlers_breaker_can_be_shared_by_its_name)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    call(&w, &f, 4, OUTCOME_FAILED);
    run(&w, &f, 1, OUTCOME_FAILED, (struct wish){.breaker = "handler:mail"});
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
}

TEST(whoever_wants_none_is_neither_counted_nor_held_back)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    run(&w, &f, 12, OUTCOME_FAILED, (struct wish){.handler = "mail", .breaker = "none"});
    assert_null(breaker_of(&w, "handler:mail"));
    call(&w, &f, 5, OUTCOME_FAILED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
    SUBMIT(&w, .handler = "mail");
    const struct submission *free = SUBMIT(&w, .handler = "mail", .breaker = "none");
    assert_int_equal(take(&w, &f, 8), 1);
    assert_int_equal(state_of(&w, free->exec_id), EXEC_RUNNING);
}

TEST(jobs_without_a_breaker_share_their_track)
{
    WORLD(w);
    for (int i = 0; i < 100; i++)
        SUBMIT(&w, .breaker = i % 2 == 0 ? NULL : "none");
    world_turn(&w);
    assert_int_equal(w.engine->ready.tracks.len, 1);
    assert_int_equal(w.engine->ready.breakers.by_target.len, 0);
}

/* ---- what counts */

static void report_class(struct world *w, struct fake *f, enum failure_class class,
                         enum permanence permanent)
{
    struct poll_lease lease = {.exec_id = f->held[0].exec_id, .token = f->held[0].token};
    fake_drop(f, lease.exec_id);
    struct asked *asked = ask_poll(w, f, 0);
    struct poll_result *result = add_result(asked, &lease, OUTCOME_FAILED);
    result->class = class;
    result->permanent = permanent;
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    assert_true(was_accepted(asked));
}

TEST(failures_of_the_jobs_own_making_do_not_count)
{
    static const struct failure own[] = {
        {FAILURE_NETWORK, PERMANENT_YES},
        {FAILURE_USER, PERMANENT_BY_CLASS},
        {FAILURE_USER, PERMANENT_NO},
        {FAILURE_NOT_FOUND, PERMANENT_BY_CLASS},
        {FAILURE_PERMISSION, PERMANENT_BY_CLASS},
    };
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail");
    call(&w, &f, 4, OUTCOME_FAILED);
    for (size_t i = 0; i < 3 * COUNT_OF(own); i++) {
        SUBMIT(&w, .handler = "mail", .retries = i % 2);
        assert_int_equal(take(&w, &f, 1), 1);
        report_class(&w, &f, own[i % COUNT_OF(own)].class, own[i % COUNT_OF(own)].permanent);
    }
    assert_int_equal(breaker_of(&w, "handler:mail")->v.window.calls,
                     4); /* not as successes either */
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    SUBMIT(&w, .handler = "mail");
    assert_int_equal(take(&w, &f, 1), 1);
    report_class(&w, &f, FAILURE_NOT_FOUND, PERMANENT_NO); /* a guess from words */
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
}

TEST(a_probe_that_fails_by_its_own_fault_closes_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    for (int i = 0; i < 3; i++)
        SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
    report_class(&w, &f, FAILURE_USER, PERMANENT_YES);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    assert_int_equal(breaker_of(&w, "handler:mail")->v.window.calls, 0);
    assert_int_equal(take(&w, &f, 8), 2);
}

/* ---- probes that take long */

/* Half open, with a probe that has run for a rest, and another that began just now. */
static void two_probes(struct world *w, struct fake *f)
{
    five_fail(w, f);
    for (int i = 0; i < 4; i++)
        SUBMIT(w, .handler = "mail");
    world_turn(w);
    world_pass(w, w->options.breaker.rest_ms);
    assert_int_equal(take(w, f, 8), 1);
    world_pass(w, w->options.breaker.rest_ms - 1);
    assert_int_equal(take(w, f, 8), 0);
    world_pass(w, 1);
    assert_int_equal(take(w, f, 8), 1);
    assert_int_equal(take(w, f, 8), 0);
}

static struct engine_options patient(void)
{
    struct engine_options options = engine_defaults;
    options.lease_ms = HOUR_MS; /* nobody is lost meanwhile */
    return options;
}

TEST(another_probe_goes_when_one_takes_long_and_the_first_success_closes_it)
{
    for (unsigned i = 0; i < 2; i++) {
        struct engine_options options = patient();
        WORLD_WITH(w, options);
        struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
        two_probes(&w, &f);
        struct poll_held other = f.held[1 - i];
        if (i == 1) {
            f.held[0] = f.held[1];
            f.held[1] = other;
        }
        report_first(&w, &f, OUTCOME_SUCCEEDED);
        assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
        assert_int_equal(take(&w, &f, 6), 2);
        report_first(&w, &f, OUTCOME_FAILED); /* one call like any other by now */
        assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    }
}

TEST(one_of_two_probes_that_fails_makes_it_rest_and_the_other_still_counts)
{
    struct engine_options options = patient();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    two_probes(&w, &f);
    report_first(&w, &f, OUTCOME_FAILED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
    assert_int_equal(take(&w, &f, 8), 0);
    report_first(&w, &f, OUTCOME_SUCCEEDED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    assert_int_equal(take(&w, &f, 8), 2);
}

TEST(what_began_before_it_opened_decides_nothing)
{
    struct engine_options options = patient();
    WORLD_WITH(w, options);
    struct fake old = HIRE(&w, .slots = 1, .handlers = "mail");
    SUBMIT(&w, .handler = "mail");
    assert_int_equal(take(&w, &old, 1), 1);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
    report_first(&w, &old, OUTCOME_SUCCEEDED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_HALF_OPEN);
}

TEST(nor_does_it_when_the_clock_is_set)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct engine_options options = patient();
        WORLD_WITH(w, options);
        struct fake old = HIRE(&w, .slots = 1, .handlers = "mail");
        SUBMIT(&w, .handler = "mail");
        assert_int_equal(take(&w, &old, 1), 1);
        struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
        five_fail(&w, &f);
        SUBMIT(&w, .handler = "mail");
        world_turn(&w);
        world_step(&w, HOUR_MS);
        world_turn(&w);
        if (restarts == 1)
            world_restart(&w);
        report_first(&w, &old, OUTCOME_SUCCEEDED);
        assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
        world_pass(&w, w.options.breaker.rest_ms);
        assert_int_equal(take(&w, &f, 8), 1);
    }
}

TEST(nor_does_it_when_both_began_before_the_time_was_known)
{
    struct engine_options options = patient();
    WORLD_WITH(w, options);
    w.unsure = true;
    world_restart(&w);
    struct fake old = HIRE(&w, .slots = 1, .handlers = "mail");
    SUBMIT(&w, .handler = "mail");
    assert_int_equal(take(&w, &old, 1), 1);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    w.unsure = false;
    world_step(&w, 240 * HOUR_MS);
    world_turn(&w);
    assert_int_equal(breaker_of(&w, "handler:mail")->v.until_ms,
                     w.now_ms + w.options.breaker.rest_ms);
    report_first(&w, &old, OUTCOME_SUCCEEDED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
}

/* The first step moves an execution in each turn, so the second has to wait. */
TEST(nor_does_it_when_it_opens_while_one_step_waits_for_another)
{
    struct engine_options options = patient();
    options.due_max = 1;
    WORLD_WITH(w, options);
    for (int i = 0; i < 20; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = HOUR_MS / 6);
    struct fake old = HIRE(&w, .slots = 1, .handlers = "mail");
    SUBMIT(&w, .handler = "mail");
    assert_int_equal(take(&w, &old, 1), 1);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    world_step(&w, HOUR_MS);
    world_turn(&w);
    world_step(&w, -HOUR_MS / 2);
    five_fail(&w, &f);
    assert_true(steps_pending(w.engine));
    int64_t opened_ms = breaker_of(&w, "handler:mail")->v.opened_ms;
    while (steps_pending(w.engine))
        world_turn(&w);
    assert_int_equal(breaker_of(&w, "handler:mail")->v.opened_ms, opened_ms);
    report_first(&w, &old, OUTCOME_SUCCEEDED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
}

TEST(a_restart_does_not_forget_when_another_probe_may_go)
{
    struct engine_options options = patient();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
    world_pass(&w, w.options.breaker.rest_ms / 2);
    world_restart(&w);
    assert_int_equal(take(&w, &f, 7), 0);
    world_pass(&w, w.options.breaker.rest_ms / 2);
    assert_int_equal(take(&w, &f, 7), 1);
}

/* ---- edits of what runs */

/* A job that runs for the old target, and is edited to another meanwhile. */
static uint64_t run_and_edit(struct world *w, struct fake *f, struct wish from, struct wish to)
{
    const struct submission *job = ask_submit_one(w, from);
    assert_int_equal(take(w, f, 1), 1);
    struct asked *edit = ask_edit_to(w, job->job_id, 1, false, to);
    world_turn(w);
    assert_int_equal(edit->cmd.reply.rc, RC_OK);
    return job->exec_id;
}

TEST(what_runs_is_charged_to_what_it_was_started_for)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        WORLD(w);
        struct fake f = HIRE(&w, .slots = 4, .handlers = "mail,sms");
        run(&w, &f, 4, OUTCOME_FAILED, (struct wish){.breaker = "old"});
        run(&w, &f, 4, OUTCOME_FAILED, (struct wish){.breaker = "new"});
        if (restarts == 0) {
            run_and_edit(&w, &f, (struct wish){.breaker = "old"}, (struct wish){.breaker = "new"});
            report_first(&w, &f, OUTCOME_FAILED);
            assert_int_equal(state_at(&w, "old"), BREAKER_OPEN);
            assert_int_equal(state_at(&w, "new"), BREAKER_CLOSED);
            continue;
        }
        run_and_edit(&w, &f, (struct wish){.breaker = "old"}, (struct wish){.breaker = "new"});
        SUBMIT(&w, .breaker = "old", .when = WHEN_DELAY, .when_ms = MINUTE_MS);
        world_restart(&w); /* which forgets what was counted */
        report_first(&w, &f, OUTCOME_FAILED);
        assert_int_equal(breaker_of(&w, "old")->v.window.failures, 1);
        assert_true(breaker_of(&w, "new") == NULL || breaker_of(&w, "new")->v.window.failures == 0);
    }
}

TEST(a_success_that_comes_after_its_lease_is_charged_to_nobody)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    uint64_t exec_id =
        run_and_edit(&w, &f, (struct wish){.breaker = "old"}, (struct wish){.breaker = "new"});
    world_pass(&w, w.options.lease_ms);
    assert_int_equal(state_of(&w, exec_id), EXEC_QUEUED);
    SUBMIT(&w, .breaker = "new", .handler = "nobody"); /* so that it is there */
    report_first(&w, &f, OUTCOME_SUCCEEDED);
    assert_int_equal(breaker_of(&w, "new")->v.window.calls, 0);
}

TEST(what_was_charged_to_none_stays_so_and_edits_add_up)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail,sms");
    uint64_t id =
        run_and_edit(&w, &f, (struct wish){.retries = 3}, (struct wish){.breaker = "new"});
    const struct exec *x = exec_of(&w, id);
    ask_edit_to(&w, x->job->id, 2, false, (struct wish){.breaker = "newer", .retries = 3});
    world_turn(&w);
    assert_int_equal(charge_of(w.engine, x)->len, 0);
    report_first(&w, &f, OUTCOME_FAILED);
    assert_int_equal(breaker_of(&w, "newer")->v.window.calls, 0);
    assert_null(breaker_of(&w, "new"));
    assert_null(charge_of(w.engine, x));

    world_turn(&w); /* its next attempt is for the new one */
    assert_int_equal(take(&w, &f, 1), 1);
    report_first(&w, &f, OUTCOME_FAILED);
    assert_int_equal(breaker_of(&w, "newer")->v.window.failures, 1);
}

TEST(a_probe_stays_one_when_its_job_names_another_breaker)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail");
    five_fail(&w, &f);
    const struct submission *probe = SUBMIT(&w, .handler = "mail");
    const struct submission *next = SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 4), 1);
    ask_edit_to(&w, probe->job_id, 1, false, (struct wish){.handler = "mail", .breaker = "none"});
    world_turn(&w);
    assert_int_equal(take(&w, &f, 4), 0);
    report_first(&w, &f, OUTCOME_SUCCEEDED);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    assert_int_equal(take(&w, &f, 4), 1);
    assert_int_equal(state_of(&w, next->exec_id), EXEC_RUNNING);
}

/* Targets that keep failing are left alone for a while. */
#include "engine/test/explain.h"

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

/* So many jobs that call the handler, and an outcome for each that runs. */
static void call(struct world *w, struct fake *f, unsigned times, enum outcome outcome)
{
    for (unsigned i = 0; i < times; i++) {
        SUBMIT(w, .handler = "mail");
        assert_int_equal(take(w, f, 1), 1);
        report_first(w, f, outcome);
    }
}

static void a_handler_that_fails_half_of_the_time_is_left_alone(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail,other");
    call(&w, &f, 2, OUTCOME_SUCCEEDED);
    call(&w, &f, 2, OUTCOME_PERMANENT);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_CLOSED);
    call(&w, &f, 1, OUTCOME_PERMANENT);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);

    const struct submission *waits = SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .handler = "other");
    assert_int_equal(take(&w, &f, 4), 1); /* the other one */
    assert_int_equal(state_of(&w, waits->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, waits->exec_id)->v.attempts, 0); /* waiting burns none */
}

static void five_fail(struct world *w, struct fake *f)
{
    call(w, f, 5, OUTCOME_PERMANENT);
    assert_int_equal(state_at(w, "handler:mail"), BREAKER_OPEN);
}

static void after_a_rest_one_probe_goes_and_its_success_lets_the_rest_follow(void **state)
{
    (void)state;
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

static void a_probe_that_fails_opens_it_for_another_rest(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    five_fail(&w, &f);
    int64_t since_ms = breaker_of(&w, "handler:mail")->v.opened_ms;
    SUBMIT(&w, .handler = "mail");
    SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
    report_first(&w, &f, OUTCOME_PERMANENT);
    assert_int_equal(state_at(&w, "handler:mail"), BREAKER_OPEN);
    assert_int_equal(breaker_of(&w, "handler:mail")->v.opened_ms, since_ms);
    assert_int_equal(take(&w, &f, 8), 0);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_int_equal(take(&w, &f, 8), 1);
}

static void a_probe_that_is_given_back_makes_way_for_the_next(void **state)
{
    (void)state;
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

static void an_open_breaker_outlives_a_restart(void **state)
{
    (void)state;
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

static void a_restart_sends_no_second_probe(void **state)
{
    (void)state;
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

static void what_nobody_calls_any_more_is_forgotten(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    call(&w, &f, 1, OUTCOME_PERMANENT);
    assert_non_null(breaker_of(&w, "handler:mail"));
    world_pass(&w, w.options.breaker.window_ms);
    assert_null(breaker_of(&w, "handler:mail"));
    five_fail(&w, &f);
    world_pass(&w, w.options.breaker.rest_ms);
    assert_null(breaker_of(&w, "handler:mail"));
}

/* Joins and leaves a breaker that this turn wakes up to forget it. */
static void refused_work_of_that_turn_leaves_nothing_of_it(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    SUBMIT(&w, .unique = "u", .when = WHEN_DELAY, .when_ms = HOUR_MS);
    call(&w, &f, 1, OUTCOME_PERMANENT);
    assert_non_null(breaker_of(&w, "handler:mail"));
    const struct submission *refused =
        SUBMIT(&w, .handler = "mail", .unique = "u", .on_conflict = CONFLICT_REJECT);
    world_pass(&w, w.options.breaker.window_ms);
    assert_int_equal(refused->rc, RC_CONFLICT);
    assert_null(breaker_of(&w, "handler:mail"));
}

static void somebody_who_knows_better_may_reset_it(void **state)
{
    (void)state;
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

static void without_a_percentage_there_are_no_breakers(void **state)
{
    (void)state;
    struct engine_options options = engine_defaults;
    options.breaker.percent = 0;
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "mail");
    call(&w, &f, 20, OUTCOME_PERMANENT);
    assert_null(breaker_of(&w, "handler:mail"));
}

static void it_is_explained(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_that_fails_half_of_the_time_is_left_alone),
        cmocka_unit_test(after_a_rest_one_probe_goes_and_its_success_lets_the_rest_follow),
        cmocka_unit_test(a_probe_that_fails_opens_it_for_another_rest),
        cmocka_unit_test(a_probe_that_is_given_back_makes_way_for_the_next),
        cmocka_unit_test(an_open_breaker_outlives_a_restart),
        cmocka_unit_test(a_restart_sends_no_second_probe),
        cmocka_unit_test(what_nobody_calls_any_more_is_forgotten),
        cmocka_unit_test(refused_work_of_that_turn_leaves_nothing_of_it),
        cmocka_unit_test(somebody_who_knows_better_may_reset_it),
        cmocka_unit_test(without_a_percentage_there_are_no_breakers),
        cmocka_unit_test(it_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

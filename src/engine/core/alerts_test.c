/* What somebody should know about: told once, in the turn that gave rise to it. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

/* The alerts of one kind that were kept. */
static size_t count_of(const struct world *w, enum alert_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < w->table.alerts.len; i++)
        count += w->table.alerts.items[i]->kind == kind;
    return count;
}

static const struct alert_rec *newest(const struct world *w)
{
    assert_true(w->table.alerts.len > 0);
    return w->table.alerts.items[w->table.alerts.len - 1];
}

static void end_one(struct world *w, struct fake *f, enum outcome outcome)
{
    SUBMIT(w, .handler = "mail");
    struct poll_lease lease = fake_start(w, f);
    ask_report(w, f, &lease, outcome);
    world_turn(w);
}

static void fail_one(struct world *w, struct fake *f)
{
    end_one(w, f, OUTCOME_FAILED);
}

static struct engine_options without_breakers(void)
{
    struct engine_options options = engine_defaults;
    options.breaker.percent = 0;
    return options;
}

TEST(a_failure_for_good_is_told_once_within_the_quiet_time)
{
    struct engine_options options = without_breakers();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail");
    fail_one(&w, &f);
    assert_int_equal(count_of(&w, ALERT_JOB_FAILED), 1);
    assert_int_equal(newest(&w)->level, ALERT_CRITICAL);
    assert_int_equal(newest(&w)->repeats, 0);
    fail_one(&w, &f);
    fail_one(&w, &f);
    assert_int_equal(count_of(&w, ALERT_JOB_FAILED), 1);
    world_pass(&w, w.options.alerts.quiet_ms);
    f = HIRE(&w, .slots = 4, .handlers = "mail");
    fail_one(&w, &f);
    assert_int_equal(count_of(&w, ALERT_JOB_FAILED), 2);
    assert_int_equal(newest(&w)->repeats, 2);
}

TEST(a_failure_that_is_retried_is_not_told)
{
    struct engine_options options = without_breakers();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 4);
    SUBMIT(&w, .retries = 1);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(w.table.alerts.len, 0);
}

TEST(jobs_of_other_names_are_other_matters)
{
    struct engine_options options = without_breakers();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 4);
    const char *const names[] = {"a", "b"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        SUBMIT(&w, .name = names[i]);
        struct poll_lease lease = fake_start(&w, &f);
        ask_report(&w, &f, &lease, OUTCOME_PERMANENT);
        world_turn(&w);
    }
    assert_int_equal(count_of(&w, ALERT_JOB_FAILED), 2);
}

TEST(a_worker_that_vanishes_with_work_is_told)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    SUBMIT(&w, .queue = "mail");
    fake_start(&w, &f);
    world_pass(&w, w.options.lease_ms + w.options.park_ms);
    assert_int_equal(count_of(&w, ALERT_WORKER_LOST), 1);
    assert_true(str_eq(newest(&w)->queue, STR("mail")));
}

TEST(a_breaker_that_opens_is_told)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail");
    for (int i = 0; i < 5; i++)
        fail_one(&w, &f);
    assert_int_equal(count_of(&w, ALERT_BREAKER_OPEN), 1);
    assert_true(str_eq(newest(&w)->key, STR("breaker_open:handler:mail")));
}

TEST(what_waits_for_too_long_is_told_unless_somebody_paused_it)
{
    WORLD(w);
    SUBMIT(&w, .queue = "mail");
    SUBMIT(&w, .queue = "held");
    struct asked *pause = ask(&w, CMD_QUEUE);
    pause->cmd.queue = (struct queue_wish){.name = STR("held"), .run = QUEUE_PAUSE};
    world_turn(&w);
    for (int64_t ms = 0; ms < w.options.alerts.queue_age_ms + MINUTE_MS; ms += MINUTE_MS)
        world_pass(&w, MINUTE_MS);
    assert_int_equal(count_of(&w, ALERT_QUEUE_OLD), 1);
    assert_true(str_eq(newest(&w)->queue, STR("mail")));
}

TEST(a_long_queue_is_told_and_a_very_long_one_again)
{
    struct engine_options options = engine_defaults;
    options.alerts.depth_warning = 2;
    options.alerts.depth_critical = 4;
    WORLD_WITH(w, options);
    for (int i = 0; i < 3; i++)
        SUBMIT(&w, .queue = "mail");
    world_turn(&w);
    world_pass(&w, 10000);
    assert_int_equal(count_of(&w, ALERT_QUEUE_DEPTH), 1);
    assert_int_equal(newest(&w)->level, ALERT_WARNING);
    SUBMIT(&w, .queue = "mail");
    SUBMIT(&w, .queue = "mail");
    world_turn(&w);
    world_pass(&w, 10000);
    assert_int_equal(count_of(&w, ALERT_QUEUE_DEPTH), 2);
    assert_int_equal(newest(&w)->level, ALERT_CRITICAL);
}

TEST(a_queue_where_too_much_fails_is_told)
{
    struct engine_options options = without_breakers();
    options.alerts.rate_calls_min = 5;
    options.alerts.dead_letters = 4;
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail");
    for (int i = 0; i < 5; i++)
        fail_one(&w, &f);
    world_pass(&w, 10000);
    assert_int_equal(count_of(&w, ALERT_FAILURE_RATE), 1);
    assert_int_equal(count_of(&w, ALERT_DEAD_LETTERS), 1);
}

/* So many ends in the queue, the last of which are failures; the alert about their rate, or
 * NULL. */
static const struct alert_rec *rate_of(struct world *w, struct fake *f, int ends, int failures)
{
    for (int i = 0; i < ends - failures; i++)
        end_one(w, f, OUTCOME_SUCCEEDED);
    for (int i = 0; i < failures; i++)
        fail_one(w, f);
    world_pass(w, 10000);
    return count_of(w, ALERT_FAILURE_RATE) > 0 ? newest(w) : NULL;
}

TEST(one_failure_in_a_hundred_is_borne_and_five_are_no_more_than_a_warning)
{
    static const struct {
        int failures;
        enum alert_level level;
    } rows[] = {{1, 0}, {2, ALERT_WARNING}, {5, ALERT_WARNING}, {6, ALERT_CRITICAL}};
    struct engine_options options = without_breakers();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        WORLD_WITH(w, options);
        struct fake f = HIRE(&w, .slots = 4, .handlers = "mail");
        assert_null(rate_of(&w, &f, 99 - rows[i].failures, 0)); /* too few to say anything */
        const struct alert_rec *alert = rate_of(&w, &f, rows[i].failures + 1, rows[i].failures);
        assert_int_equal(alert == NULL ? 0 : alert->level, rows[i].level);
    }
}

TEST(the_depths_are_a_hundred_thousand_and_a_million)
{
    assert_int_equal(engine_defaults.alerts.depth_warning, 100000);
    assert_int_equal(engine_defaults.alerts.depth_critical, 1000000);
}

TEST(an_idle_engine_looks_at_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4, .handlers = "mail");
    fail_one(&w, &f);
    assert_true(w.engine->alerts.look_ms > 0);
    for (int i = 0; i < 40; i++)
        world_pass(&w, 10000);
    assert_int_equal(w.engine->alerts.look_ms, 0);
    for (int i = 0; i < 70; i++)
        world_pass(&w, 10000);
    assert_int_equal(w.engine->alerts.look_ms, 0);
}

/* ---- a store that was set back */

TEST(turns_that_the_store_lost_are_told_once)
{
    WORLD(w);
    engine_note_lost(w.engine, 7);
    world_turn(&w);
    assert_int_equal(count_of(&w, ALERT_TURNS_LOST), 1);
    assert_int_equal(newest(&w)->level, ALERT_CRITICAL);
    assert_non_null(
        memmem(newest(&w)->text.ptr, newest(&w)->text.len, " 7 turns", strlen(" 7 turns")));
    assert_int_equal(engine_lost_turns(w.engine), 0);
    world_turn(&w);
    assert_int_equal(count_of(&w, ALERT_TURNS_LOST), 1);
}

TEST(tokens_begin_behind_their_floor)
{
    WORLD(w);
    engine_load_tokens(w.engine, 1 << 20);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    assert_int_equal(fake_lease(&w, &f).token, (1 << 20) + 1);
}

/* Every server was started again since, so nobody but the worker knows of the lease. */
TEST(a_token_that_nobody_gave_is_told_and_exceeded)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct fake other = HIRE(&w);
    SUBMIT(&w);
    (void)fake_lease(&w, &f);
    other.held[other.held_count++] = (struct poll_held){f.held[0].exec_id, 5};
    struct asked *poll = ask_poll(&w, &other, 0);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.poll.stop_count, 1);
    assert_int_equal(count_of(&w, ALERT_TURNS_LOST), 1);
    other.held_count = f.held_count = 0;
    world_pass(&w, w.options.lease_ms + 1); /* f has lost it, too */
    struct fake third = HIRE(&w);
    assert_true(fake_lease(&w, &third).token > 5);
}

/* What the store has left is the first lease; the worker has run it, told so, and been given the
 * second. */
TEST(a_lease_from_before_the_loss_is_not_sent_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    (void)fake_lease(&w, &f);
    f.held_count = 0;
    world_restart(&w);
    engine_load_tokens(w.engine, 1 << 20);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.poll.lease_count,
                     0); /* the poll may be older than the lease */
    world_pass(&w, w.options.lease_ms);
    assert_true(fake_lease(&w, &f).token > 1 << 20);
}

TEST(a_lease_that_a_worker_has_left_behind_is_not_sent_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    (void)fake_lease(&w, &f);
    f.held[0].token = 5;
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.poll.stop_count, 1);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
    assert_int_equal(poll->cmd.reply.poll.leases[0].token, 6);
}

TEST(a_token_that_makes_no_sense_is_not_believed)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct fake other = HIRE(&w);
    SUBMIT(&w);
    (void)fake_lease(&w, &f);
    other.held[other.held_count++] = (struct poll_held){f.held[0].exec_id, INT64_MAX};
    (void)ask_poll(&w, &other, 0);
    world_turn(&w);
    assert_int_equal(count_of(&w, ALERT_TURNS_LOST), 0);
    SUBMIT(&w);
    assert_int_equal(fake_lease(&w, &f).token, 1);
}

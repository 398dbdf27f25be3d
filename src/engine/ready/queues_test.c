/* Queues that are paused or full, and limits by key. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static struct asked *ask_queue(struct world *w, const char *name, struct queue_wish wish)
{
    struct asked *asked = ask(w, CMD_QUEUE);
    wish.name = str_c(name);
    asked->cmd.queue = wish;
    return asked;
}

/* Takes a turn. */
static void pause(struct world *w, const char *name)
{
    ask_queue(w, name, (struct queue_wish){.run = QUEUE_PAUSE});
    world_turn(w);
}

static void resume(struct world *w, const char *name)
{
    ask_queue(w, name, (struct queue_wish){.run = QUEUE_RESUME});
    world_turn(w);
}

/* Polls with so many free slots, takes what comes, and says how much that was. */
static size_t take(struct world *w, struct fake *f, uint32_t free)
{
    struct asked *asked = ask_poll(w, f, free);
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    fake_take(f, asked);
    return asked->cmd.reply.poll.lease_count;
}

/* Reports success of the first lease that the fake holds. Takes a turn. */
static void finish_first(struct world *w, struct fake *f)
{
    struct poll_lease lease = {.exec_id = f->held[0].exec_id, .token = f->held[0].token};
    struct asked *asked = ask_report(w, f, &lease, OUTCOME_SUCCEEDED);
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    assert_true(was_accepted(asked));
}

/* ---- pausing */

TEST(a_paused_queue_gives_out_nothing_until_it_is_resumed)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    pause(&w, "mail");
    SUBMIT(&w, .queue = "mail");
    SUBMIT(&w, .queue = "default");
    assert_int_equal(take(&w, &f, 4), 1);
    resume(&w, "mail");
    assert_int_equal(take(&w, &f, 4), 1);
}

TEST(resuming_wakes_a_worker_that_waits)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    pause(&w, "mail");
    SUBMIT(&w, .queue = "mail");
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    resume(&w, "mail");
    assert_int_equal(poll->answers, 1);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
}

TEST(a_queue_stays_paused_over_a_restart_and_says_by_whom)
{
    WORLD(w);
    int64_t then_ms = w.now_ms;
    pause(&w, "mail");
    world_pass(&w, 1000);
    pause(&w, "mail"); /* asked twice: still the first time */
    world_restart(&w);
    struct asked *asked = ask(&w, CMD_QUEUES);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.queue_count, 1);
    const struct queue_rec *queue = &asked->cmd.reply.queues[0].queue;
    assert_true(queue->paused);
    assert_int_equal(queue->paused_ms, then_ms);
    assert_true(str_eq(queue->paused_by, STR("key:admin")));
}

TEST(what_runs_goes_on_when_its_queue_is_paused)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .queue = "mail");
    take(&w, &f, 1);
    pause(&w, "mail");
    finish_first(&w, &f);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_COMPLETED);
}

TEST(nothing_is_kept_when_nothing_changes)
{
    WORLD(w);
    resume(&w, "mail");
    assert_true(delta_is_empty(&w.delta));
}

/* ---- looking */

/* Takes a turn; NULL when there is no such queue. */
static const struct queue_view *look(struct world *w, const char *name)
{
    struct asked *asked = ask_queue(w, name, (struct queue_wish){.run = QUEUE_LEAVE});
    world_turn(w);
    assert_true(asked->cmd.reply.rc == RC_OK || asked->cmd.reply.rc == RC_NOT_FOUND);
    return asked->cmd.reply.rc == RC_OK ? asked->cmd.reply.queues : NULL;
}

TEST(a_queue_is_known_once_somebody_used_it_or_decided_about_it)
{
    WORLD(w);
    assert_null(look(&w, "mail"));
    struct asked *resumed = ask_queue(&w, "mail", (struct queue_wish){.run = QUEUE_RESUME});
    struct asked *lifted = ask_queue(&w, "mail", (struct queue_wish){.set_concurrency = true});
    world_turn(&w);
    assert_int_equal(resumed->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(lifted->cmd.reply.rc, RC_NOT_FOUND);
    pause(&w, "mail");
    assert_true(look(&w, "mail")->queue.paused);
    SUBMIT(&w, .queue = "used");
    world_turn(&w);
    assert_int_equal(look(&w, "used")->execs[EXEC_QUEUED], 1);
    struct asked *all = ask(&w, CMD_QUEUES);
    world_turn(&w);
    assert_int_equal(all->cmd.reply.queue_count, 2);
}

TEST(every_change_of_a_queue_says_when_and_by_whom)
{
    WORLD(w);
    pause(&w, "mail");
    int64_t paused_ms = w.now_ms;
    world_pass(&w, 1000);
    ask_queue(&w, "mail", (struct queue_wish){.set_concurrency = true, .concurrency = 2});
    world_turn(&w);
    world_restart(&w);
    const struct queue_rec *queue = &look(&w, "mail")->queue;
    assert_int_equal(queue->paused_ms, paused_ms);
    assert_int_equal(queue->changed_ms, paused_ms + 1000);
    assert_true(str_eq(queue->changed_by, STR("key:admin")));
    world_pass(&w, 1000);
    resume(&w, "mail");
    queue = &look(&w, "mail")->queue;
    assert_int_equal(queue->changed_ms, paused_ms + 2000);
    assert_int_equal(queue->paused_ms, 0);
    assert_int_equal(queue->paused_by.len, 0);
}

TEST(changes_of_a_queue_are_told_and_others_are_not)
{
    WORLD(w);
    ask_queue(&w, "mail",
              (struct queue_wish){.run = QUEUE_PAUSE, .set_concurrency = true, .concurrency = 3});
    world_turn(&w);
    assert_int_equal(w.event_count, 2);
    assert_int_equal(w.events[0].queue_event, QUEUE_PAUSED);
    assert_int_equal(w.events[1].queue_event, QUEUE_LIMITED);
    assert_true(str_eq(w.events[0].queue, STR("mail")));
    assert_true(str_eq(w.events[0].actor, STR("key:admin")));
    assert_true(w.events[0].paused);
    assert_int_equal(w.events[0].concurrency, 3);
    pause(&w, "mail");
    assert_int_equal(w.event_count, 0);
    resume(&w, "mail");
    assert_int_equal(w.event_count, 1);
    assert_int_equal(w.events[0].queue_event, QUEUE_RESUMED);
}

TEST(the_oldest_is_found_behind_what_is_more_important)
{
    WORLD(w);
    SUBMIT(&w, .queue = "mail", .priority = 100);
    world_turn(&w);
    world_pass(&w, 90000);
    SUBMIT(&w, .queue = "mail", .priority = 900);
    world_turn(&w);
    world_pass(&w, 10000);
    assert_int_equal(look(&w, "mail")->waited_ms, 100000);
}

/* ---- limits of a queue */

TEST(a_queue_runs_no_more_at_once_than_its_limit)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    ask_queue(&w, "mail", (struct queue_wish){.set_concurrency = true, .concurrency = 2});
    for (size_t i = 0; i < 5; i++)
        SUBMIT(&w, .queue = "mail", .handler = i % 2 == 0 ? "x" : NULL);
    struct fake g = HIRE(&w, .slots = 8, .handlers = "x");
    assert_int_equal(take(&w, &g, 8), 2);
    assert_int_equal(take(&w, &f, 8), 0);
    finish_first(&w, &g);
    assert_int_equal(take(&w, &g, 8), 1);
    ask_queue(&w, "mail", (struct queue_wish){.set_concurrency = true, .concurrency = 0});
    assert_int_equal(take(&w, &g, 8), 2);
}

TEST(a_limit_below_what_runs_waits_for_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    for (size_t i = 0; i < 4; i++)
        SUBMIT(&w, .queue = "mail");
    assert_int_equal(take(&w, &f, 3), 3);
    ask_queue(&w, "mail", (struct queue_wish){.set_concurrency = true, .concurrency = 1});
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(take(&w, &f, 8), 0);
        finish_first(&w, &f);
    }
    assert_int_equal(take(&w, &f, 8), 1);
}

/* ---- concurrency by key */

TEST(no_more_of_one_key_run_at_once_than_its_limit)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    for (size_t i = 0; i < 4; i++)
        SUBMIT(&w, .key = "customer-42", .limit = 2);
    const struct submission *free = SUBMIT(&w, .key = "customer-43", .limit = 2);
    assert_int_equal(take(&w, &f, 8), 3);
    assert_int_equal(state_of(&w, free->exec_id), EXEC_RUNNING);
    finish_first(&w, &f);
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(a_key_is_shared_by_queues_and_handlers)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "x");
    SUBMIT(&w, .queue = "a", .key = "k", .limit = 1);
    SUBMIT(&w, .queue = "b", .handler = "x", .key = "k", .limit = 1);
    assert_int_equal(take(&w, &f, 8), 1);
    finish_first(&w, &f);
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(what_is_stopping_still_holds_its_permit)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    const struct submission *first = SUBMIT(&w, .key = "k", .limit = 1);
    const struct submission *second = SUBMIT(&w, .key = "k", .limit = 1);
    take(&w, &f, 8);
    ask_about(&w, CMD_CANCEL_EXEC, first->exec_id);
    world_turn(&w);
    assert_int_equal(take(&w, &f, 8), 0);
    struct poll_lease lease = {.exec_id = f.held[0].exec_id, .token = f.held[0].token};
    ask_report(&w, &f, &lease, OUTCOME_STOPPED);
    world_turn(&w);
    assert_int_equal(take(&w, &f, 8), 1);
    assert_int_equal(state_of(&w, second->exec_id), EXEC_RUNNING);
}

TEST(permits_are_as_many_after_a_restart_as_before)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w, .key = "k", .limit = 2);
    assert_int_equal(take(&w, &f, 8), 2);
    world_restart(&w);
    f.seq = 0;
    assert_int_equal(take(&w, &f, 8), 0);
    world_pass(&w, 2 * w.options.lease_ms); /* and the leases end: both may be given again */
    struct fake g = HIRE(&w, .slots = 8);
    assert_int_equal(take(&w, &g, 8), 2);
}

/* Were they looked at one by one, this would take minutes. */
TEST(ten_thousand_that_wait_for_one_key_cost_nothing)
{
    WORLD(w);
    w.relaxed = true;
    struct fake f = HIRE(&w, .slots = 8);
    struct wish wishes[10000];
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        wishes[i] = (struct wish){.key = "k", .limit = 1};
    ask_submit_all(&w, wishes, COUNT_OF(wishes));
    assert_int_equal(take(&w, &f, 8), 1);
    const struct heap *order = &w.engine->ready.order;
    assert_int_equal(order->len, 0);
    finish_first(&w, &f);
    assert_int_equal(order->len, 1);
}

/* ---- rates */

TEST(starts_of_a_rate_are_spread_over_its_window)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w, .rate = "smtp", .starts = 4, .per_ms = 1000);
    assert_int_equal(take(&w, &f, 8), 1);
    struct asked *poll = ask_poll(&w, &f, 8);
    world_turn(&w);
    assert_int_equal(world_wait_ms(&w), 250);
    world_pass(&w, 249);
    assert_int_equal(poll->answers, 0);
    world_pass(&w, 1);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
}

TEST(a_rate_is_not_forgotten_by_a_restart)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    for (size_t i = 0; i < 2; i++)
        SUBMIT(&w, .rate = "smtp", .starts = 1, .per_ms = 5000);
    assert_int_equal(take(&w, &f, 8), 1);
    world_restart(&w);
    f.seq = 0;
    assert_int_equal(take(&w, &f, 8), 0);
    w.now_ms += 5000;
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(a_rate_nobody_names_any_more_is_forgotten_when_its_time_is_over)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    SUBMIT(&w, .rate = "smtp", .starts = 1, .per_ms = 5000);
    assert_int_equal(take(&w, &f, 8), 1);
    finish_first(&w, &f);
    assert_int_equal(w.table.rates.len, 1);
    SUBMIT(&w, .rate = "smtp", .starts = 1, .per_ms = 5000);
    assert_int_equal(take(&w, &f, 8), 0); /* the pause holds for who comes later, too */
    world_pass(&w, 5000);
    assert_int_equal(take(&w, &f, 8), 1);
    finish_first(&w, &f);
    world_pass(&w, 5000);
    assert_int_equal(w.table.rates.len, 0);
    assert_int_equal(w.engine->ready.limits.by_key.len, 0);
}

TEST(a_job_with_two_limits_waits_for_both)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    struct wish both = {.key = "k", .limit = 1, .rate = "smtp", .starts = 1, .per_ms = 5000};
    ask_submit_all(&w, &both, 1);
    ask_submit_all(&w, &both, 1);
    assert_int_equal(take(&w, &f, 8), 1);
    world_pass(&w, 5000);
    assert_int_equal(take(&w, &f, 8), 0);
    finish_first(&w, &f);
    assert_int_equal(take(&w, &f, 8), 1);
}

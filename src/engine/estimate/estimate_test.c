/* When something that waits is likely to start, against what happens then. */
#include "engine/estimate/estimate.h"
#include "engine/test/duo.h"
#include "engine/test/explain.h"

#include <stdio.h>

enum { RUN_MS = 1000 };

static struct estimate estimate_of(struct world *w, const struct submission *job)
{
    return explain_job(w, job)->estimate;
}

static void assert_reason(struct world *w, const struct submission *job, const char *reason)
{
    struct estimate found = estimate_of(w, job);
    assert_int_equal(found.at_ms, 0);
    assert_true(str_eq(found.reason, str_c(reason)));
}

static struct submission *submit_asking(struct world *w, struct wish wish)
{
    struct asked *asked = ask_submit_all(w, &wish, 1);
    asked->cmd.submit.estimate = true;
    world_turn(w);
    return &asked->cmd.submit.items[0];
}

/* A run of so long, so that it is known what is usual. */
static void run_one(struct world *w, struct fake *f)
{
    struct poll_lease lease = fake_start(w, f);
    world_pass(w, RUN_MS);
    ask_report(w, f, &lease, OUTCOME_SUCCEEDED);
    world_turn(w);
}

TEST(with_a_free_slot_it_starts_now)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    const struct submission *job = submit_asking(&w, (struct wish){0});
    assert_int_equal(job->estimate.at_ms, job->created_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

TEST(with_cordoned_workers_alone_nobody_can_say)
{
    WORLD(w);
    struct fake f = hire_parked(&w, (struct skills){.slots = 1}, 1);
    const struct submission *first = submit_asking(&w, (struct wish){0});
    assert_true(first->estimate.at_ms > 0);
    ask_about(&w, CMD_CORDON, f.id);
    const struct submission *job = submit_asking(&w, (struct wish){0});
    assert_int_equal(job->estimate.at_ms, 0);
    assert_true(str_eq(job->estimate.reason, STR("workers_cordoned")));
}

/* Two slots that are always taken, and a line of twelve. */
TEST(the_last_of_a_line_starts_about_when_it_was_said)
{
    enum { LINE = 12 };
    WORLD(w);
    struct fake f[] = {HIRE(&w, .slots = 1), HIRE(&w, .slots = 1)};
    const struct submission *last = NULL;
    struct poll_lease leases[2];
    SUBMIT(&w);
    world_turn(&w);
    run_one(&w, &f[0]);
    for (size_t i = 0; i < 2; i++) {
        SUBMIT(&w);
        world_turn(&w);
        leases[i] = fake_start(&w, &f[i]);
    }
    for (size_t i = 0; i < LINE; i++)
        last = submit_asking(&w, (struct wish){0});
    int64_t said_ms = last->estimate.at_ms;
    assert_true(said_ms > w.now_ms);
    while (state_of(&w, last->exec_id) != EXEC_RUNNING) {
        world_pass(&w, RUN_MS);
        for (size_t i = 0; i < 2; i++) {
            ask_report(&w, &f[i], &leases[i], OUTCOME_SUCCEEDED);
            world_turn(&w);
            leases[i] = fake_start(&w, &f[i]);
            if (state_of(&w, last->exec_id) == EXEC_RUNNING)
                break;
        }
    }
    int64_t off_ms = said_ms - w.now_ms;
    assert_true(off_ms >= -RUN_MS && off_ms <= RUN_MS);
}

TEST(without_a_worker_or_in_a_paused_queue_nobody_can_say)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .queue = "q");
    world_turn(&w);
    assert_reason(&w, job, "no_worker");
    hire_parked(&w, (struct skills){.slots = 1, .queues = "other"}, 1);
    assert_reason(&w, job, "no_worker");
    ask_queue(&w, "q", (struct queue_wish){.run = QUEUE_PAUSE});
    world_turn(&w);
    assert_reason(&w, job, "queue_paused");
    pause_job(&w, job->job_id, "");
    assert_reason(&w, job, "job_paused");
}

TEST(while_nothing_has_ended_it_is_not_known_how_long_a_slot_is_taken)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    assert_reason(&w, submit_asking(&w, (struct wish){0}), "duration_unknown");
}

TEST(a_moment_that_is_far_is_its_estimate_whatever_is_in_the_way)
{
    WORLD(w);
    const struct submission *job =
        submit_asking(&w, (struct wish){.when = WHEN_DELAY, .when_ms = HOUR_MS});
    assert_int_equal(job->estimate.at_ms, job->due_ms);
}

TEST(a_rate_spaces_those_that_wait_for_it)
{
    WORLD(w);
    struct wish wish = {.rate = "sms", .starts = 1, .per_ms = 10000};
    hire_parked(&w, (struct skills){.slots = 8}, 8);
    const struct submission *first = submit_asking(&w, wish);
    const struct submission *second = submit_asking(&w, wish);
    const struct submission *third = submit_asking(&w, wish);
    assert_int_equal(first->estimate.at_ms, first->created_ms);
    assert_int_equal(second->estimate.at_ms, first->created_ms + 10000);
    assert_int_equal(third->estimate.at_ms, first->created_ms + 20000);
}

TEST(a_concurrency_limit_is_a_line_of_its_own)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    struct wish wish = {.key = "db", .limit = 1};
    SUBMIT(&w);
    world_turn(&w);
    run_one(&w, &f);
    submit_asking(&w, wish);
    fake_start(&w, &f);
    const struct submission *behind = submit_asking(&w, wish);
    int64_t wait_ms = behind->estimate.at_ms - behind->created_ms;
    assert_true(wait_ms >= RUN_MS && wait_ms <= 2 * RUN_MS);
}

TEST(what_waits_for_others_or_runs_says_so)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    const struct submission *first = SUBMIT(&w);
    world_turn(&w);
    const struct dependency_wish after = {.job_id = first->job_id, .type = DEPENDS_SUCCESS};
    const struct submission *second = SUBMIT(&w, .after = &after);
    world_turn(&w);
    assert_reason(&w, first, "started");
    assert_reason(&w, second, "dependency");
}

TEST(who_submits_many_does_not_pay_for_estimates)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_true(job->estimate.at_ms == 0 && job->estimate.reason.len == 0);
}

/* More classes of workers than a forecast copies. */
TEST(where_each_worker_serves_its_own_queue_a_line_is_told)
{
    enum { QUEUES = 40, LINE = 5 };
    WORLD(w);
    char queues[QUEUES][8];
    struct fake fakes[QUEUES];
    struct poll_lease leases[QUEUES];
    for (size_t i = 0; i < QUEUES; i++) {
        snprintf(queues[i], sizeof queues[i], "q%zu", i);
        fakes[i] = HIRE(&w, .slots = 1, .queues = queues[i]);
        SUBMIT(&w, .queue = queues[i]);
        SUBMIT(&w, .queue = queues[i]);
        world_turn(&w);
        leases[i] = fake_start(&w, &fakes[i]);
    }
    world_pass(&w, RUN_MS);
    for (size_t i = 0; i < QUEUES; i++) {
        ask_report(&w, &fakes[i], &leases[i], OUTCOME_SUCCEEDED);
        world_turn(&w);
        fake_start(&w, &fakes[i]);
    }
    for (size_t i = 0; i < QUEUES; i++) {
        const struct submission *last = NULL;
        for (size_t n = 0; n < LINE; n++)
            last = submit_asking(&w, (struct wish){.queue = queues[i]});
        int64_t wait_ms = last->estimate.at_ms - last->created_ms;
        assert_true(wait_ms >= (LINE - 1) * RUN_MS && wait_ms <= (LINE + 1) * RUN_MS);
    }
}

TEST(where_nothing_else_waits_its_own_length_is_enough)
{
    enum { QUEUES = 40 };
    WORLD(w);
    for (size_t i = 0; i < QUEUES; i++) {
        char queue[8];
        (void)snprintf(queue, sizeof queue, "q%zu", i);
        struct fake f = HIRE(&w, .slots = 1, .queues = queue);
        SUBMIT(&w, .queue = queue);
        world_turn(&w);
        run_one(&w, &f);
        SUBMIT(&w, .queue = queue);
        world_turn(&w);
        struct poll_lease lease = fake_start(&w, &f);
        const struct submission *behind = submit_asking(&w, (struct wish){.queue = queue});
        assert_true(behind->estimate.at_ms > behind->created_ms);
        ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
        world_turn(&w);
        run_one(&w, &f);
    }
}

/* ---- one of two servers, each with half of the partitions */

static int64_t last_of_batch_ms(struct world *w)
{
    struct wish wishes[16] = {{0}};
    struct asked *asked = ask_submit_all(w, wishes, COUNT_OF(wishes));
    asked->cmd.submit.estimate = true;
    world_turn(w);
    const struct submission *last = &asked->cmd.submit.items[COUNT_OF(wishes) - 1];
    assert_true(last->estimate.at_ms > 0);
    return last->estimate.at_ms - last->created_ms;
}

/* The worker offers four of its eight slots to each server. A batch lies with one of them, which
 * is then offered all: it takes two waves. */
TEST(a_batch_has_the_idle_slots_of_other_servers_too)
{
    DUO(s);
    struct fake f = HIRE(&s.a, .slots = 8);
    SUBMIT(&s.a);
    world_turn(&s.a);
    run_one(&s.a, &f);
    ask_poll(&s.a, &f, 4);
    world_turn(&s.a);
    int64_t wait_ms = last_of_batch_ms(&s.a);
    assert_true(wait_ms >= RUN_MS && wait_ms < RUN_MS * 3 / 2);
}

/* Its slots are taken by runs of the other server: they end, and are shared from then on. */
TEST(slots_that_another_server_has_taken_come_later)
{
    DUO(s);
    struct fake f = HIRE(&s.a, .slots = 8);
    SUBMIT(&s.a);
    world_turn(&s.a);
    run_one(&s.a, &f);
    ask_poll(&s.a, &f, 0);
    world_turn(&s.a);
    int64_t wait_ms = last_of_batch_ms(&s.a);
    assert_true(wait_ms >= RUN_MS && wait_ms <= 3 * RUN_MS);
}

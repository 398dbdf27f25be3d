/* probation_test.c - which of the jobs that died together is to blame, and how that is found out. */
#include "engine/ready/silence_fixture_test.h"

/* ---- one at a time */

/* Two deaths with all of them running. */
static void make_suspects(struct world *w, const struct submission **jobs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        jobs[i] = SUBMIT(w);
    world_turn(w);
    for (int i = 0; i < 2; i++) {
        hire_and_start(w, count);
        crash(w);
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(values_of(w, jobs[i]->exec_id)->unseen, 2);
}

TEST(a_worker_has_one_on_probation_and_other_work_beside_it)
{
    WORLD(w);
    const struct submission *jobs[3];
    make_suspects(&w, jobs, 3);
    const struct submission *other = SUBMIT(&w, .priority = 1);
    world_turn(&w);
    struct fake f = hire_and_start(&w, 4);
    assert_int_equal(f.held_count, 2);
    assert_true(holds(&f, jobs[0]->exec_id) && holds(&f, other->exec_id));
    struct fake g = hire_and_start(&w, 4); /* another worker may have another */
    assert_int_equal(g.held_count, 1);
    assert_true(holds(&g, jobs[1]->exec_id));
}

TEST(a_parked_worker_is_passed_by_for_one_that_may_have_it)
{
    WORLD(w);
    const struct submission *jobs[2];
    make_suspects(&w, jobs, 2);
    struct fake f = hire_and_start(&w, 1);
    assert_true(holds(&f, jobs[0]->exec_id));
    struct asked *first = ask_poll(&w, &f, 3); /* waits longer, but has one */
    world_turn(&w);
    struct fake g = HIRE(&w, .slots = 1);
    struct asked *second = ask_poll(&w, &g, 1);
    world_turn(&w);
    assert_int_equal(first->answers, 0);
    assert_int_equal(second->cmd.reply.poll.lease_count, 1);
    assert_int_equal(second->cmd.reply.poll.leases[0].exec_id, jobs[1]->exec_id);
}

/* With the last of them its lane is gone, while it is being offered. */
TEST(a_parked_worker_is_given_the_last_suspect)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    hire_and_start(&w, 1);
    crash(&w);
    hire_and_start(&w, 1);
    world_restart(&w);
    struct fake f = HIRE(&w, .slots = 2);
    world_wake(&w, w.options.lease_ms - 1);
    struct asked *poll = ask_poll(&w, &f, 2);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    world_pass(&w, 1);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(poll->cmd.reply.poll.leases[0].exec_id, job->exec_id);
}

/* Else a worker would offer its slots to servers with other work for as long as there is some. */
TEST(a_suspect_is_a_reason_to_offer_a_slot)
{
    CLEANUP(world_free) struct world w;
    world_init_part(&w, &engine_defaults, (struct partition_set){.count = 2, .bits = 1});
    const struct submission *jobs[3];
    make_suspects(&w, jobs, 3);
    struct fake f = HIRE(&w, .slots = 2);
    struct asked *poll = ask_poll(&w, &f, 0);
    poll->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.poll.backlog, 1);
    poll = ask_poll(&w, &f, 2);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
    assert_int_equal(poll->cmd.reply.poll.backlog, 0); /* it may have no other */
}

TEST(probation_ends_with_the_run)
{
    WORLD(w);
    const struct submission *jobs[2];
    make_suspects(&w, jobs, 2);
    struct fake f = HIRE(&w, .slots = 2);
    struct poll_lease lease = fake_start(&w, &f);
    fake_drop(&f, lease.exec_id);
    struct asked *poll = ask_poll(&w, &f, 2);
    add_result(poll, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
    assert_int_equal(poll->cmd.reply.poll.leases[0].exec_id, jobs[1]->exec_id);
}

TEST(or_when_it_was_named_for_a_while)
{
    WORLD(w);
    const struct submission *jobs[2];
    make_suspects(&w, jobs, 2);
    struct fake f = hire_and_start(&w, 2);
    live_for(&w, &f, 2, w.options.probation_ms - 1);
    assert_int_equal(f.held_count, 1);
    live_for(&w, &f, 2, 1);
    assert_true(values_of(&w, jobs[0]->exec_id)->proven);
    live_for(&w, &f, 2, 1);
    assert_int_equal(f.held_count, 2);
    assert_true(exec_on_probation(exec_of(&w, jobs[1]->exec_id)));
    world_restart(&w); /* which is known to the next server, too */
    assert_true(values_of(&w, jobs[0]->exec_id)->proven);
}

TEST(suspects_obey_their_queue_and_limits)
{
    WORLD(w);
    const struct submission *a = SUBMIT(&w, .key = "k", .limit = 1);
    world_turn(&w);
    for (int i = 0; i < 2; i++) {
        hire_and_start(&w, 1);
        crash(&w);
    }
    const struct submission *b = SUBMIT(&w, .key = "k", .limit = 1, .priority = 900);
    world_turn(&w);
    struct fake f = hire_and_start(&w, 1);
    assert_true(holds(&f, b->exec_id));
    struct fake g = hire_and_start(&w, 1);
    assert_int_equal(g.held_count, 0);
    struct poll_lease lease = {.exec_id = b->exec_id, .token = f.held[0].token};
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    struct asked *poll = ask_poll(&w, &g, 1);
    world_turn(&w);
    fake_take(&g, poll);
    assert_true(holds(&g, a->exec_id));
}

/* ---- together */

TEST(the_one_on_probation_alone_is_to_blame)
{
    WORLD(w);
    const struct submission *killer;
    make_suspects(&w, &killer, 1);
    const struct submission *innocent = SUBMIT(&w);
    world_turn(&w);
    struct fake f = hire_and_start(&w, 2);
    assert_int_equal(f.held_count, 2);
    crash(&w);
    assert_int_equal(values_of(&w, killer->exec_id)->lost, 1);
    assert_int_equal(values_of(&w, killer->exec_id)->unseen, 2);
    assert_int_equal(values_of(&w, innocent->exec_id)->lost, 0);
    assert_int_equal(values_of(&w, innocent->exec_id)->unseen, 0);
    assert_int_equal(values_of(&w, innocent->exec_id)->returned, 1);
}

TEST(without_one_all_are_counted)
{
    WORLD(w);
    const struct submission *jobs[3];
    make_suspects(&w, jobs, 3);
    struct fake f = hire_and_start(&w, 3);
    for (int i = 0; i < 3; i++)
        live_for(&w, &f, 3, w.options.probation_ms + 10000);
    assert_int_equal(f.held_count, 3);
    crash(&w);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(values_of(&w, jobs[i]->exec_id)->unseen, 3);
        assert_int_equal(values_of(&w, jobs[i]->exec_id)->lost, 0);
    }
}

TEST(leases_of_another_worker_are_another_matter)
{
    WORLD(w);
    const struct submission *killer;
    make_suspects(&w, &killer, 1);
    hire_and_start(&w, 1);
    const struct submission *other = SUBMIT(&w);
    world_turn(&w);
    hire_and_start(&w, 1);
    crash(&w);
    assert_int_equal(values_of(&w, killer->exec_id)->lost, 1);
    assert_int_equal(values_of(&w, other->exec_id)->unseen, 1);
}

/* ---- how it ends */

static int crashes_until_it_is_out(struct world *w, uint64_t exec_id, int64_t lives_ms)
{
    for (int crashes = 1;; crashes++) {
        struct fake f = hire_and_start(w, 1);
        assert_true(holds(&f, exec_id));
        live_for(w, &f, 1, lives_ms);
        crash(w);
        if (state_of(w, exec_id) != EXEC_QUEUED)
            return crashes;
        assert_true(crashes < 20);
    }
}

TEST(a_fast_killer_is_out_by_its_fifth_crash)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(crashes_until_it_is_out(&w, job->exec_id, 1000), 5);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_FAILED);
}

TEST(a_slow_killer_is_out_by_its_eleventh)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(crashes_until_it_is_out(&w, job->exec_id, 2 * w.options.probation_ms), 11);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_FAILED);
}

TEST(innocents_survive_reboots_that_are_a_minute_apart)
{
    WORLD(w);
    const struct submission *jobs[] = {SUBMIT(&w), SUBMIT(&w)};
    world_turn(&w);
    for (int i = 0; i < 8; i++) {
        struct fake f = hire_and_start(&w, 2);
        live_for(&w, &f, 2, MINUTE_MS + 15000);
        crash(&w);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(state_of(&w, jobs[i]->exec_id), EXEC_QUEUED);
        assert_int_equal(values_of(&w, jobs[i]->exec_id)->lost, 0);
        assert_int_equal(values_of(&w, jobs[i]->exec_id)->unseen, 8);
    }
}

/* ---- commands that die together, while the worker lives to tell it */

/* A worker with room for so many runs what it can get; then all of that dies together, and it says
 * so. */
static void run_and_break(struct world *w, uint32_t slots, struct fake *f)
{
    struct fake hired = hire_and_start(w, slots);
    *f = hired;
    struct asked *poll = ask_poll(w, &hired, 0);
    poll->cmd.poll.held_count = 0;
    for (size_t i = 0; i < f->held_count; i++) {
        struct poll_lease lease = {.exec_id = f->held[i].exec_id, .token = f->held[i].token};
        add_result(poll, &lease, OUTCOME_STOPPED)->code = POLL_CODE_SPAWNER_DIED;
    }
    world_turn(w);
}

TEST(commands_that_die_together_are_queued_again_at_no_cost)
{
    WORLD(w);
    const struct submission *jobs[] = {SUBMIT(&w), SUBMIT(&w)};
    struct fake f;
    world_turn(&w);
    run_and_break(&w, 2, &f);
    assert_int_equal(f.held_count, 2);
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        assert_int_equal(state_of(&w, jobs[i]->exec_id), EXEC_QUEUED);
        assert_int_equal(values_of(&w, jobs[i]->exec_id)->attempts, 0);
        assert_int_equal(values_of(&w, jobs[i]->exec_id)->lost, 0);
        assert_int_equal(values_of(&w, jobs[i]->exec_id)->unseen, 1);
    }
}

TEST(of_commands_that_die_together_the_one_on_probation_is_to_blame)
{
    WORLD(w);
    const struct submission *killer;
    make_suspects(&w, &killer, 1);
    const struct submission *innocent = SUBMIT(&w);
    struct fake f;
    world_turn(&w);
    run_and_break(&w, 2, &f);
    assert_int_equal(f.held_count, 2);
    assert_int_equal(values_of(&w, killer->exec_id)->lost, 1);
    assert_int_equal(values_of(&w, killer->exec_id)->unseen, 2);
    assert_int_equal(values_of(&w, innocent->exec_id)->lost, 0);
    assert_int_equal(values_of(&w, innocent->exec_id)->unseen, 0);
}

TEST(what_kills_the_commands_beside_it_is_out_by_its_fifth_time)
{
    WORLD(w);
    const struct submission *killer = SUBMIT(&w);
    const struct submission *innocent = SUBMIT(&w);
    struct fake f;
    int times = 0;
    world_turn(&w);
    for (; state_of(&w, killer->exec_id) == EXEC_QUEUED; times++) {
        run_and_break(&w, 2, &f);
        assert_true(holds(&f, killer->exec_id));
        assert_int_equal(values_of(&w, innocent->exec_id)->lost, 0);
    }
    assert_int_equal(times, 5);
    assert_int_equal(state_of(&w, killer->exec_id), EXEC_FAILED);
    assert_int_equal(state_of(&w, innocent->exec_id), EXEC_QUEUED);
}

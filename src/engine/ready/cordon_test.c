#include "engine/ready/cordon.h"
#include "engine/test/explain.h"
#include "engine/test/fake.h"

static const struct poll_reply *reply_of(const struct asked *asked)
{
    return &asked->cmd.reply.poll;
}

static struct asked *ask_cordon(struct world *w, uint64_t worker_id, const char *reason)
{
    struct asked *asked = ask_about(w, CMD_CORDON, worker_id);
    asked->cmd.target.reason = str_c(reason);
    return asked;
}

static void cordon(struct world *w, const struct fake *f)
{
    struct asked *asked = ask_cordon(w, f->id, "new disk");
    world_turn(w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.reply.worker_count, 1);
    assert_true(asked->cmd.reply.workers[0].worker.cordoned_ms > 0);
}

static void uncordon(struct world *w, const struct fake *f)
{
    struct asked *asked = ask_about(w, CMD_UNCORDON, f->id);
    world_turn(w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.reply.workers[0].worker.cordoned_ms, 0);
}

static size_t leases_at_once(struct world *w, struct fake *f)
{
    struct asked *poll = ask_poll(w, f, 1);
    poll->cmd.poll.wait_ms = 0;
    world_turn(w);
    fake_take(f, poll);
    return reply_of(poll)->lease_count;
}

/* ---- no new leases */

TEST(a_cordoned_worker_is_given_nothing_new_and_keeps_what_it_runs)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 2);
    SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    cordon(&w, &f);
    SUBMIT(&w);
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 0); /* parked, as one that has nothing to do */
    world_pass(&w, w.options.lease_ms / 2);
    assert_int_equal(leases_at_once(&w, &f), 0); /* and its lease is renewed */
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
    assert_false(reply_of(report)->drain);
    assert_int_equal(reply_of(report)->backlog, 0);
    assert_int_equal(w.engine->ready.len, 1);
}

TEST(a_poll_that_is_parked_is_offered_nothing_from_then_on)
{
    WORLD(w);
    struct fake f = hire_parked(&w, (struct skills){.slots = 1}, 1);
    cordon(&w, &f);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_poll_in_the_turn_of_its_cordon_gets_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    ask_cordon(&w, f.id, "");
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    assert_int_equal(w.engine->ready.len, 1);
}

TEST(others_take_what_it_leaves)
{
    WORLD(w);
    struct fake f = hire_parked(&w, (struct skills){.slots = 1}, 1);
    struct fake other = hire_parked(&w, (struct skills){.slots = 1}, 1);
    cordon(&w, &f);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    assert_int_equal(leases_at_once(&w, &f), 0);
    (void)other;
}

TEST(once_uncordoned_its_parked_poll_comes_back_at_once)
{
    WORLD(w);
    struct fake f = hire_parked(&w, (struct skills){.slots = 1}, 1);
    cordon(&w, &f);
    SUBMIT(&w);
    struct asked *parked = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(parked->answers, 0);
    uncordon(&w, &f);
    world_turn(&w); /* the time to look after it has come, whatever the clock says */
    assert_int_equal(parked->answers, 1);
    assert_int_equal(leases_at_once(&w, &f), 1);
}

TEST(uncordoned_in_the_turn_of_its_poll_it_polls_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    cordon(&w, &f);
    SUBMIT(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    ask_about(&w, CMD_UNCORDON, f.id);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(leases_at_once(&w, &f), 1);
}

/* ---- what is kept */

TEST(cordoning_twice_keeps_the_first_time_and_reason)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    cordon(&w, &f);
    int64_t since_ms = w.delta.workers[0].worker.cordoned_ms;
    assert_true(w.delta.workers[0].cordon); /* so that all servers hear of it */
    world_pass(&w, 1000);
    struct asked *again = ask_cordon(&w, f.id, "something else");
    struct asked *unknown = ask_cordon(&w, 999, "");
    world_turn(&w);
    const struct worker_rec *rec = &again->cmd.reply.workers[0].worker;
    assert_int_equal(rec->cordoned_ms, since_ms);
    assert_true(str_eq(rec->cordon_reason, STR("new disk")));
    assert_true(rec->cordoned_by.len > 0);
    assert_int_equal(unknown->cmd.reply.rc, RC_NOT_FOUND);
    assert_true(delta_is_empty(&w.delta));
    uncordon(&w, &f);
    uncordon(&w, &f);
    assert_true(delta_is_empty(&w.delta));
}

TEST(a_cordon_outlives_the_server)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    cordon(&w, &f);
    world_restart(&w);
    SUBMIT(&w);
    assert_int_equal(leases_at_once(&w, &f), 0);
    uncordon(&w, &f);
    world_restart(&w);
    assert_int_equal(leases_at_once(&w, &f), 1);
}

TEST(several_in_one_turn_end_as_the_last)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    ask_cordon(&w, f.id, "a");
    ask_about(&w, CMD_UNCORDON, f.id);
    struct asked *last = ask_cordon(&w, f.id, "b");
    world_turn(&w);
    assert_true(str_eq(last->cmd.reply.workers[0].worker.cordon_reason, STR("b")));
    assert_true(str_eq(w.delta.workers[0].worker.cordon_reason, STR("b")));
}

TEST(the_next_process_of_a_worker_is_cordoned_too)
{
    WORLD(w);
    struct fake f = HIRE(&w, .boot_id = "k");
    cordon(&w, &f);
    struct fake next = HIRE(&w, .boot_id = "another kernel", .replaces = f.id);
    SUBMIT(&w);
    assert_int_equal(leases_at_once(&w, &next), 0);
    const struct worker_rec *kept = map_get(&w.table.workers, next.id);
    assert_true(str_eq(kept->cordon_reason, STR("new disk")));
    world_restart(&w);
    assert_int_equal(leases_at_once(&w, &next), 0);
    uncordon(&w, &next);
    assert_int_equal(leases_at_once(&w, &next), 1);
}

TEST(the_former_process_is_forgotten_as_soon_as_any_other)
{
    WORLD(w);
    struct fake f = HIRE(&w, .boot_id = "k");
    cordon(&w, &f);
    HIRE(&w, .boot_id = "another kernel", .replaces = f.id);
    assert_true(((struct worker_rec *)map_get(&w.table.workers, f.id))->cordoned_ms > 0);
    world_pass(&w, w.options.forget_ms);
    assert_null(map_get(&w.table.workers, f.id));
}

TEST(a_cordoned_worker_that_is_silent_is_remembered_for_a_week)
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    WORLD(w);
    struct fake f = HIRE(&w);
    struct fake other = HIRE(&w);
    cordon(&w, &f);
    for (int day = 0; day < 6; day++)
        world_pass(&w, DAY_MS);
    assert_non_null(map_get(&w.table.workers, f.id));
    assert_null(map_get(&w.table.workers, other.id));
    SUBMIT(&w);
    assert_int_equal(leases_at_once(&w, &f), 0);
    for (int day = 0; day < 8; day++)
        world_pass(&w, DAY_MS);
    assert_null(map_get(&w.table.workers, f.id));
}

TEST(one_that_is_uncordoned_after_a_long_silence_is_forgotten)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    cordon(&w, &f);
    world_pass(&w, 2 * w.options.forget_ms);
    assert_non_null(map_get(&w.table.workers, f.id));
    uncordon(&w, &f);
    world_turn(&w);
    assert_null(map_get(&w.table.workers, f.id));
}

/* ---- one worker, with what it runs */

TEST(a_worker_is_shown_with_what_it_runs)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    const struct submission *job = SUBMIT(&w, .name = "nightly", .queue = "mail");
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    struct asked *asked = ask_about(&w, CMD_WORKER, f.id);
    struct asked *unknown = ask_about(&w, CMD_WORKER, 999);
    world_turn(&w);
    const struct worker_view *view = asked->cmd.reply.workers;
    assert_int_equal(view->busy, 1);
    assert_int_equal(view->run_count, 1);
    assert_int_equal(view->runs[0].exec_id, lease.exec_id);
    assert_int_equal(view->runs[0].job_id, job->job_id);
    assert_true(str_eq(view->runs[0].job_name, STR("nightly")));
    assert_true(str_eq(view->runs[0].queue, STR("mail")));
    assert_int_equal(view->runs[0].attempt, 1);
    assert_int_equal(view->runs[0].lease_until_ms - view->runs[0].started_ms, w.options.lease_ms);
    assert_int_equal(unknown->cmd.reply.rc, RC_NOT_FOUND);
}

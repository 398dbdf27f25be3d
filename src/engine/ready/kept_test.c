/* kept_test.c - leases while nobody is sure who owns them: provisional answers, owners that fell
 * silent, engines that take one another's place. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

enum { PARTITIONS = 16, EPOCH = 5 };

static const struct partition_set ours = {.count = PARTITIONS, .bits = 0x00ff};

static int64_t boot_ms(const struct world *w)
{
    return world_now(w).boot_ms;
}

static void set_epochs(struct world *w, uint64_t epoch)
{
    for (uint32_t i = 0; i < PARTITIONS; i++)
        w->epochs[i] = (w->owned.bits >> i & 1) != 0 ? epoch : 0;
}

static void cluster_init(struct world *w)
{
    world_init_part(w, &engine_defaults, ours);
    set_epochs(w, EPOCH);
    world_restart(w);
}

#define CLUSTER(name)                                                                              \
    CLEANUP(world_free) struct world name;                                                         \
    cluster_init(&name)

/* Another server takes what this one had, after its owner was silent: leases may be alive for so
 * long. */
static void take_over(struct world *w, int64_t unsure_ms)
{
    set_epochs(w, w->epochs[0] + 1);
    for (uint32_t i = 0; i < PARTITIONS; i++)
        w->unsure_until_ms[i] = boot_ms(w) + unsure_ms;
    world_restart(w);
}

/* A poll that the engine never decides. */
static struct asked *kept_answer(struct world *w, struct fake *f)
{
    struct asked *asked = ask_poll(w, f, 3);
    w->command_count--;
    engine_answer_kept(w->engine, &asked->cmd, world_now(w));
    asked->answers++;
    return asked;
}

static const struct poll_reply *reply_of(const struct asked *asked)
{
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    return &asked->cmd.reply.poll;
}

static bool keeps(const struct poll_reply *reply, uint64_t exec_id)
{
    for (size_t i = 0; i < reply->kept_count; i++) {
        if (reply->kept[i].exec_id == exec_id)
            return true;
    }
    return false;
}

static void assert_says_nothing_else(const struct poll_reply *reply)
{
    assert_true(reply->provisional);
    assert_int_equal(reply->owned.count, PARTITIONS);
    assert_int_equal(reply->owned.bits, 0);
    assert_int_equal(reply->stop_count + reply->lease_count + reply->verdict_count, 0);
    assert_false(reply->drain);
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        bool speaks = false;
        for (size_t i = 0; i < reply->kept_count; i++)
            speaks |= partition_of(PARTITIONS, reply->kept[i].exec_id) == p;
        assert_true((reply->epochs[p] != 0) == speaks);
    }
}

/* ---- provisional answers */

TEST(an_owner_names_its_epochs)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    poll->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_false(reply_of(poll)->provisional);
    assert_int_equal(reply_of(poll)->epochs[0], EPOCH);
    assert_int_equal(reply_of(poll)->epochs[PARTITIONS - 1], 0);
}

TEST(what_is_known_to_be_the_workers_is_kept_and_nothing_is_stopped)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    SUBMIT(&w);
    fake_start(&w, &f);
    f.held[f.held_count++] = (struct poll_held){12345, 1};        /* of a newer owner, perhaps */
    f.held[f.held_count++] = (struct poll_held){job->exec_id, 9}; /* the same, of the same thing */
    const struct poll_reply *reply = reply_of(kept_answer(&w, &f));
    assert_says_nothing_else(reply);
    assert_int_equal(reply->kept_count, 1);
    assert_int_equal(reply->kept[0].exec_id, job->exec_id);
    assert_int_equal(reply->epochs[partition_of(PARTITIONS, job->exec_id)], EPOCH);
}

TEST(nobody_is_refused)
{
    CLUSTER(w);
    struct fake stranger = {.id = 999};
    stranger.held[stranger.held_count++] = (struct poll_held){77, 1};
    assert_says_nothing_else(reply_of(kept_answer(&w, &stranger)));
    struct fake f = HIRE(&w);
    fake_start(&w, (SUBMIT(&w), &f));
    ask_about(&w, CMD_DRAIN, f.id);
    world_turn(&w);
    struct fake late = f;
    late.seq = 0; /* a poll from long ago: nothing is known from it about now */
    assert_int_equal(reply_of(kept_answer(&w, &late))->kept_count, 0);
    const struct poll_reply *reply = reply_of(kept_answer(&w, &f));
    assert_says_nothing_else(reply);
    assert_int_equal(reply->kept_count, 1);
}

TEST(what_is_kept_is_renewed_and_what_was_done_waits)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *runs = SUBMIT(&w);
    const struct submission *done = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    struct poll_lease lease = fake_start(&w, &f);
    for (int i = 0; i < 4; i++) {
        w.now_ms += w.options.lease_ms / 2;
        struct asked *asked = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
        w.command_count--;
        engine_answer_kept(w.engine, &asked->cmd, world_now(&w));
        asked->answers++;
        assert_true(keeps(reply_of(asked), runs->exec_id));
        assert_true(keeps(reply_of(asked), done->exec_id));
    }
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, runs->exec_id), EXEC_RUNNING);
    assert_int_equal(state_of(&w, done->exec_id), EXEC_RUNNING);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, runs->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, runs->exec_id)->v.lost, 1);
}

TEST(a_run_past_its_time_is_not_kept)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w, .timeout_ms = 1000);
    fake_start(&w, &f);
    w.now_ms += 1000 + w.options.kill_grace_ms;
    assert_int_equal(reply_of(kept_answer(&w, &f))->kept_count, 0);
}

/* ---- while a commit is under way */

TEST(what_is_kept_during_a_commit_holds_whatever_becomes_of_it)
{
    for (int kept = 0; kept <= 1; kept++) {
        CLUSTER(w);
        struct fake f = HIRE(&w);
        const struct submission *job = SUBMIT(&w);
        fake_start(&w, &f);
        world_wake(&w, w.options.lease_ms - 1);
        ask_about(&w, CMD_CANCEL_EXEC, job->exec_id); /* touches it */
        SUBMIT(&w);
        w.delta = *world_decide(&w);
        w.now_ms += w.options.lease_ms / 2; /* the store takes its time */
        size_t count = w.command_count;
        assert_true(keeps(reply_of(kept_answer(&w, &f)), job->exec_id));
        assert_int_equal(w.command_count, count);
        if (kept) {
            world_commit(&w);
        } else {
            engine_undo(w.engine);
            table_abort(&w.table);
        }
        world_pass(&w, w.options.lease_ms - 1); /* undone, the commands are decided here */
        assert_int_equal(state_of(&w, job->exec_id), EXEC_STOPPING);
        world_pass(&w, 1);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
    }
}

TEST(what_the_turn_has_taken_away_is_not_kept)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    struct fake before = f;
    world_wake(&w, w.options.lease_ms);
    w.delta = *world_decide(&w); /* the lease ends */
    assert_int_equal(reply_of(kept_answer(&w, &before))->kept_count, 0);
    world_commit(&w);
    world_check(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

/* ---- turns without a store, as one of several */

static void outage_turn(struct world *w)
{
    for (int undone = 1; undone >= 0; undone--) {
        arena_reset(&w->arena);
        engine_begin(w->engine, world_now(w), &w->arena);
        engine_outage(w->engine);
        for (size_t i = 0; i < w->command_count; i++)
            engine_decide(w->engine, w->commands[i]);
        w->delta = *engine_seal(w->engine);
        assert_true(delta_is_empty(&w->delta));
        if (undone)
            engine_undo(w->engine);
    }
    world_commit(w);
    world_check(w);
}

TEST(one_of_several_says_no_stop_while_the_store_is_away)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    f.held[f.held_count++] = (struct poll_held){job->exec_id + 1, 4};
    struct asked *poll = ask_poll(&w, &f, 2);
    outage_turn(&w);
    assert_int_equal(poll->answers, 0); /* for a moment, so that nobody asks in a circle */
    w.now_ms += 1000;
    outage_turn(&w);
    assert_says_nothing_else(reply_of(poll));
    assert_int_equal(reply_of(poll)->kept_count, 1);
    assert_true(exec_of(&w, job->exec_id)->v.lease.ends_ms >=
                boot_ms(&w) + w.options.lease_ms - 1000);
}

/* ---- owners that fell silent */

TEST(a_lease_of_a_silent_worker_waits_until_it_cannot_be_alive)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    take_over(&w, 4 * w.options.lease_ms);
    world_pass(&w, 4 * w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

/* The worker may have been cut off behind this very poll, and go on with what the former owner
 * says. */
TEST(a_worker_that_has_not_heard_us_may_listen_to_another)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    take_over(&w, 4 * w.options.lease_ms);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_true(exec_of(&w, job->exec_id)->v.lease.confirmed);
    assert_int_equal(engine_unsure(w.engine), UINT64_C(1)
                                                  << partition_of(PARTITIONS, job->exec_id));
    world_pass(&w, 4 * w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

TEST(a_worker_that_has_heard_us_keeps_its_lease_for_a_plain_term)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    take_over(&w, 4 * w.options.lease_ms);
    struct asked *first = ask_poll(&w, &f, 0);
    first->cmd.poll.wait_ms = 0;
    world_turn(&w);
    f.heard = first->cmd.poll.seq;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(engine_unsure(w.engine), 0);
    world_pass(&w, w.options.lease_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, job->exec_id)->v.lost, 1);
}

/* Two polls of before came late, and the first of them was answered by us: its number is not what
 * our answer is known by. */
TEST(an_answer_of_the_engine_before_us_is_not_ours)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    struct asked *before = ask_poll(&w, &f, 0);
    before->cmd.poll.wait_ms = 0;
    world_turn(&w);
    uint64_t heard_before = reply_of(before)->heard_as;
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    f.held_count = 0; /* polls that were written before the lease was read */
    take_over(&w, 4 * w.options.lease_ms);
    struct asked *first = ask_poll(&w, &f, 0);
    first->cmd.poll.wait_ms = 0;
    world_turn(&w);
    f.heard = heard_before;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    f.heard = reply_of(first)->heard_as;
    assert_true(f.heard >= POLL_HEARD_AS && f.heard < 2 * POLL_HEARD_AS && f.heard != heard_before);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

/* The attempt's time was over when its worker named it for the first time: it is not renewed any
 * more, but its end comes as near as that of any other. */
TEST(so_does_one_that_names_it_after_its_timeout)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .timeout_ms = 1000);
    fake_start(&w, &f);
    take_over(&w, 4 * w.options.lease_ms);
    world_pass(&w, 1000 + w.options.kill_grace_ms);
    struct asked *first = ask_poll(&w, &f, 0);
    first->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_true(exec_of(&w, job->exec_id)->v.lease.ends_ms > boot_ms(&w) + w.options.lease_ms);
    f.heard = first->cmd.poll.seq;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(exec_of(&w, job->exec_id)->v.lease.ends_ms, boot_ms(&w) + w.options.lease_ms);
    ask_poll(&w, &f, 0);
    world_pass(&w, w.options.lease_ms);
    assert_int_not_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

TEST(what_a_worker_that_has_heard_us_does_not_name_is_sent_again)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    struct asked *lost = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(lost->cmd.reply.poll.lease_count, 1); /* which never arrives */
    take_over(&w, 4 * w.options.lease_ms);
    struct asked *first = ask_poll(&w, &f, 0);
    first->cmd.poll.wait_ms = 0;
    world_turn(&w);
    f.heard = first->cmd.poll.seq - 1; /* an answer of the former owner */
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    f.heard = first->cmd.poll.seq;
    struct asked *again = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(reply_of(again)->lease_count, 1);
    assert_int_equal(reply_of(again)->leases[0].token, lost->cmd.reply.poll.leases[0].token);
    assert_int_equal(engine_unsure(w.engine), 0);
}

TEST(or_returned_at_once_when_there_is_no_room_for_it)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    take_over(&w, 4 * w.options.lease_ms);
    struct asked *first = ask_poll(&w, &f, 0);
    first->cmd.poll.wait_ms = 0;
    world_turn(&w);
    f.heard = first->cmd.poll.seq;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, job->exec_id)->v.unseen, 0);
    assert_int_equal(exec_of(&w, job->exec_id)->v.returned, 1);
}

/* It names no epochs of what the worker does not hold: so it is no answer of an owner. */
TEST(a_provisional_answer_is_not_heard)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    take_over(&w, 4 * w.options.lease_ms);
    struct asked *first = ask_poll(&w, &f, 0);
    first->cmd.poll.wait_ms = 0;
    world_turn(&w); /* whose answer is lost */
    f.heard = kept_answer(&w, &f)->cmd.poll.seq;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

/* ---- predecessors */

TEST(a_worker_that_replaces_another_ends_its_leases)
{
    CLUSTER(w);
    struct fake old = HIRE(&w, .boot_id = "k1");
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &old);
    take_over(&w, 4 * w.options.lease_ms);
    HIRE(&w, .boot_id = "k2",
         .replaces = old.id); /* another start of the machine: nobody can say */
    HIRE(&w, .boot_id = "", .replaces = old.id);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    HIRE(&w, .boot_id = "k1", .replaces = old.id);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, job->exec_id)->v.unseen, 1);
}

TEST(what_was_confirmed_is_lost_by_that)
{
    CLUSTER(w);
    struct fake old = HIRE(&w, .boot_id = "k1");
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &old);
    HIRE(&w, .boot_id = "k1", .replaces = old.id);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, job->exec_id)->v.lost, 1);
}

TEST(other_servers_hear_of_it_by_the_first_poll)
{
    CLUSTER(w);
    struct fake old = HIRE(&w, .boot_id = "k1");
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &old);
    struct id_gen ids = {0};
    struct worker_change change = {
        .worker = {.id = id_next(&ids, 1794816000000, partition_first_bucket(PARTITIONS, 9)),
                   .name = STR("far/1"),
                   .runs_commands = true,
                   .slots = 1,
                   .boot_id = STR("k1"),
                   .replaces = old.id}};
    table_keep_worker(&w.table, &change);
    struct fake young = {.id = change.worker.id};
    ask_poll(&w, &young, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, job->exec_id)->v.lost, 1);
}

/* A worker that another server has registered. */
static struct fake hire_elsewhere(struct world *w)
{
    struct id_gen ids = {0};
    struct worker_change change = {
        .worker = {.id = id_next(&ids, 1794816000000, partition_first_bucket(PARTITIONS, 9)),
                   .name = STR("far/1"),
                   .runs_commands = true,
                   .slots = 1}};
    table_keep_worker(&w->table, &change);
    return (struct fake){.id = change.worker.id};
}

/* Two polls may be under way at once, and nobody has kept the number of the one that was
 * answered. */
TEST(what_an_older_poll_does_not_name_was_kept_for_a_newer_one)
{
    CLUSTER(w);
    struct fake f = hire_elsewhere(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    take_over(&w, 4 * w.options.lease_ms);
    struct fake before = {.id = f.id, .seq = f.seq};
    f.seq++;
    assert_int_equal(reply_of(kept_answer(&w, &f))->kept_count, 1);
    ask_poll(&w, &before, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

/* ---- from one engine to the next */

TEST(an_engine_goes_on_with_what_the_one_before_knew)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    w.now_ms += w.options.lease_ms / 2;
    struct engine *former = world_replace(&w);
    engine_inherit(w.engine, former);
    engine_free(former);
    assert_true(exec_of(&w, job->exec_id)->v.lease.confirmed);
    world_pass(&w, w.options.lease_ms / 2 - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_pass(&w, 1); /* no new term */
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, job->exec_id)->v.lost, 1);
}

/* Its server and its worker died before; when this server loads anew says nothing about it. */
TEST(a_timeout_that_passed_between_two_loads_is_none)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .timeout_ms = 1000);
    fake_start(&w, &f);
    set_epochs(&w, EPOCH + 1);
    world_restart(&w);
    w.now_ms += 1000 + w.options.kill_grace_ms;
    struct engine *former = world_replace(&w);
    engine_inherit(w.engine, former);
    engine_free(former);
    world_pass(&w, w.options.lease_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(exec_of(&w, job->exec_id)->v.unseen, 1);
}

TEST(but_not_where_somebody_else_was_the_owner_since)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    w.now_ms += w.options.lease_ms / 2;
    set_epochs(&w, EPOCH + 2);
    struct engine *former = world_replace(&w);
    engine_inherit(w.engine, former);
    engine_free(former);
    assert_false(exec_of(&w, job->exec_id)->v.lease.confirmed);
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

TEST(polls_from_before_stay_old)
{
    CLUSTER(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    struct engine *former = world_replace(&w);
    engine_inherit(w.engine, former);
    engine_free(former);
    struct fake old = {.id = f.id};
    struct asked *poll = ask_poll(&w, &old, 0);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.rc, RC_STALE);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

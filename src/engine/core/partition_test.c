/* partition_test.c - an engine that is one of several: what it says to workers, and what not. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

enum { PARTITIONS = 16 };

/* This server owns the lower half of all buckets; the other one has the upper. */
static const struct partition_set ours = {.count = PARTITIONS, .bits = 0x00ff};
static const struct partition_set theirs = {.count = PARTITIONS, .bits = 0xff00};

/* An id that another server made: far from any of ours in number, too. */
static uint64_t foreign_id(uint32_t nth)
{
    struct id_gen ids = {0};
    uint64_t id = 0;
    for (uint32_t i = 0; i <= nth; i++)
        id = id_next(&ids, 1794816000000, partition_first_bucket(PARTITIONS, 8) + i);
    assert_true(partition_has(&theirs, id));
    return id;
}

#define HALF_WORLD(name)                                                                           \
    WORLD(name);                                                                                   \
    world_own(&name, ours)

/* Another server has registered it. */
static struct fake hire_elsewhere(struct world *w, bool draining)
{
    struct worker_change change = {.worker = {.id = foreign_id(0),
                                              .name = STR("far/1"),
                                              .queues = STR(""),
                                              .handlers = STR(""),
                                              .runs_commands = true,
                                              .draining = draining,
                                              .slots = 4,
                                              .registered_ms = 5}};
    table_keep_worker(&w->table, &change);
    return (struct fake){.id = change.worker.id};
}

static const struct poll_reply *reply_of(const struct asked *asked)
{
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    return &asked->cmd.reply.poll;
}

/* ---- what is not ours */

TEST(what_other_servers_own_is_passed_over)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    assert_int_equal(lease.exec_id, job->exec_id);
    f.held[f.held_count++] = (struct poll_held){foreign_id(3), 1};
    struct asked *asked = ask_poll(&w, &f, 0);
    asked->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(reply_of(asked)->stop_count, 0);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

TEST(what_is_ours_and_nobodys_must_stop)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    uint64_t gone = id_next(&(struct id_gen){0}, 1794816000000, 3);
    assert_true(partition_has(&ours, gone));
    f.held[f.held_count++] = (struct poll_held){gone, 1};
    struct asked *asked = ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->stop_count, 1);
    assert_int_equal(reply_of(asked)->stops[0].exec_id, gone);
}

TEST(a_result_that_others_decide_about_gets_no_verdict)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    const struct poll_lease foreign = {.exec_id = foreign_id(3), .token = 2};
    struct asked *asked = ask_poll(&w, &f, 0);
    asked->cmd.poll.held_count = 0;
    add_result(asked, &foreign, OUTCOME_SUCCEEDED);
    add_result(asked, &lease, OUTCOME_SUCCEEDED);
    add_result(asked, &(struct poll_lease){.exec_id = foreign_id(4), .token = 1}, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->verdict_count, 1);
    assert_int_equal(reply_of(asked)->verdicts[0].exec_id, job->exec_id);
    assert_true(reply_of(asked)->verdicts[0].accepted);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_COMPLETED);
}

TEST(a_poll_with_results_of_others_is_answered_at_once)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *asked = ask_poll(&w, &f, 1);
    add_result(asked, &(struct poll_lease){.exec_id = foreign_id(4), .token = 1}, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->verdict_count, 0);
}

/* ---- what every reply says */

TEST(a_reply_says_what_the_server_owns)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *parked = ask_poll(&w, &f, 1);
    world_turn(&w);
    struct asked *second = ask_poll(&w, &f, 1);
    struct asked *third = ask_poll(&w, &f, 1);
    third->cmd.poll.wait_ms = 0;
    world_turn(&w);
    const struct asked *all[] = {parked, second, third};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_int_equal(reply_of(all[i])->owned.count, PARTITIONS);
        assert_int_equal(reply_of(all[i])->owned.bits, ours.bits);
    }
}

TEST(who_is_alone_says_nothing_of_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .queues = "a");
    SUBMIT(&w, .queue = "a");
    SUBMIT(&w, .queue = "a");
    struct asked *asked = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->lease_count, 1);
    assert_int_equal(reply_of(asked)->owned.count, 0);
    assert_int_equal(reply_of(asked)->backlog, 0);
}

TEST(a_reply_says_how_much_more_this_worker_could_take)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w, .queues = "a");
    for (size_t i = 0; i < 5; i++)
        SUBMIT(&w, .queue = "a");
    SUBMIT(&w, .queue = "b");
    SUBMIT(&w, .queue = "a", .handler = "mail");
    SUBMIT(&w, .queue = "a", .when = WHEN_DELAY, .when_ms = MINUTE_MS);
    struct asked *asked = ask_poll(&w, &f, 2);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->lease_count, 2);
    assert_int_equal(reply_of(asked)->backlog, 3);
}

TEST(a_backlog_of_what_may_not_start_is_none)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *pause = ask(&w, CMD_QUEUE);
    pause->cmd.queue = (struct queue_wish){.name = STR("default"), .run = QUEUE_PAUSE};
    for (size_t i = 0; i < 5; i++)
        SUBMIT(&w);
    struct asked *asked = ask_poll(&w, &f, 4);
    asked->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(reply_of(asked)->lease_count, 0);
    assert_int_equal(reply_of(asked)->backlog, 0);
}

TEST(numbers_are_counted_in_the_partition_of_what_is_counted)
{
    HALF_WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_true(w.delta.counter_count > 0);
    for (size_t i = 0; i < w.delta.counter_count; i++)
        assert_int_equal(w.delta.counters[i].partition,
                         partition_of(w.engine->owned.count, job->job_id));
}

TEST(a_very_long_backlog_is_cut)
{
    HALF_WORLD(w);
    w.relaxed = true;
    struct fake f = HIRE(&w);
    static struct wish wishes[POLL_BACKLOG_MAX + 10];
    ask_submit_all(&w, wishes, COUNT_OF(wishes));
    struct asked *asked = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->backlog, POLL_BACKLOG_MAX);
}

/* ---- workers that others have registered */

TEST(a_worker_of_another_server_is_found_in_the_store)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, false);
    const struct submission *job = SUBMIT(&w);
    struct asked *asked = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->lease_count, 1);
    assert_int_equal(reply_of(asked)->leases[0].exec_id, job->exec_id);
    assert_int_equal(w.delta.worker_count, 0); /* its record is not ours to write */
    fake_take(&f, asked);
    struct asked *report = ask_report(&w, &f, &reply_of(asked)->leases[0], OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
    assert_null(report->cmd.questions); /* it is in memory now */
}

TEST(a_result_may_come_with_the_first_poll_of_a_worker)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, false);
    SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    struct asked *first = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(first));
    struct worker_change change = {.forget = true,
                                   .worker = *(struct worker_rec *)map_get(&w.table.workers, f.id)};
    table_keep_worker(&w.table, &change);
    world_restart(&w); /* a server that has not heard of it yet */
    change.forget = false;
    table_keep_worker(&w.table, &change);
    struct asked *again = ask_poll(&w, &f, 0);
    add_result(again, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(again)); /* the answer of before got lost */
}

TEST(two_first_polls_in_one_turn_are_of_one_worker)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, false);
    SUBMIT(&w);
    struct asked *first = ask_poll(&w, &f, 1);
    struct asked *second = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(reply_of(first)->lease_count, 0);
    assert_int_equal(reply_of(second)->lease_count, 1);
}

TEST(a_worker_that_nobody_registered_is_told_so)
{
    HALF_WORLD(w);
    struct fake f = {.id = foreign_id(9)};
    struct asked *asked = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(a_worker_that_drains_elsewhere_drains_here)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, true);
    SUBMIT(&w);
    struct asked *asked = ask_poll(&w, &f, 1);
    asked->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(reply_of(asked)->lease_count, 0);
    assert_true(reply_of(asked)->drain);
}

TEST(only_its_home_writes_down_that_a_worker_drains)
{
    HALF_WORLD(w);
    struct fake far = hire_elsewhere(&w, false);
    struct fake near = HIRE(&w);
    struct asked *parked = ask_poll(&w, &far, 1);
    world_turn(&w);
    ask_about(&w, CMD_DRAIN, far.id);
    world_turn(&w);
    assert_true(reply_of(parked)->drain);
    assert_int_equal(w.delta.worker_count, 0);
    ask_about(&w, CMD_DRAIN, near.id);
    world_turn(&w);
    assert_int_equal(w.delta.worker_count, 1);
    assert_int_equal(w.delta.workers[0].worker.id, near.id);
}

static void read_settings(struct world *w, const struct worker_rec *cordoned)
{
    engine_settings_begin(w->engine);
    if (cordoned != NULL)
        engine_load_cordon(w->engine, cordoned);
    engine_settings_end(w->engine);
}

TEST(a_cordon_of_another_server_is_read_with_the_settings)
{
    HALF_WORLD(w);
    struct fake far = hire_elsewhere(&w, false);
    struct worker_rec rec = *(struct worker_rec *)map_get(&w.table.workers, far.id);
    struct asked *parked = ask_poll(&w, &far, 1);
    world_turn(&w);
    rec.cordoned_ms = 1;
    rec.cordoned_by = STR("key:admin");
    read_settings(&w, &rec);
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(parked->answers, 0);
    read_settings(&w, &rec); /* and again, when anything else has changed */
    read_settings(&w, NULL);
    world_turn(&w);
    assert_int_equal(parked->answers, 1);
    struct asked *poll = ask_poll(&w, &far, 1);
    world_turn(&w);
    assert_int_equal(reply_of(poll)->lease_count, 1);
}

TEST(a_cordon_comes_with_the_record_of_a_worker)
{
    HALF_WORLD(w);
    struct fake far = hire_elsewhere(&w, false);
    struct worker_change change = {.worker =
                                       *(struct worker_rec *)map_get(&w.table.workers, far.id)};
    change.worker.cordoned_ms = 1;
    table_keep_worker(&w.table, &change);
    SUBMIT(&w);
    struct asked *poll = ask_poll(&w, &far, 1);
    poll->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(reply_of(poll)->lease_count, 0);
    assert_false(reply_of(poll)->drain);
}

TEST(its_home_knows_better_than_what_it_reads_of_its_own_worker)
{
    HALF_WORLD(w);
    struct fake near = HIRE(&w);
    ask_about(&w, CMD_CORDON, near.id);
    world_turn(&w);
    read_settings(&w, NULL); /* read before that was kept */
    SUBMIT(&w);
    struct asked *poll = ask_poll(&w, &near, 1);
    poll->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(reply_of(poll)->lease_count, 0);
}

TEST(a_silent_worker_of_another_server_leaves_memory_only)
{
    HALF_WORLD(w);
    struct fake far = hire_elsewhere(&w, false);
    ask_poll(&w, &far, 1)->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_non_null(map_get(&w.engine->workers, far.id));
    world_pass(&w, w.options.forget_ms + 1);
    assert_null(map_get(&w.engine->workers, far.id));
    assert_int_equal(w.delta.worker_count, 0);
    struct asked *asked = ask_poll(&w, &far, 0);
    asked->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
}

/* A server without its store refuses polls for long; its first turn hears one, and would forget who
 * sent it. */
TEST(a_worker_of_another_server_that_polls_is_not_forgotten)
{
    HALF_WORLD(w);
    struct fake far = hire_elsewhere(&w, false);
    ask_poll(&w, &far, 1)->cmd.poll.wait_ms = 0;
    world_turn(&w);
    world_wake(&w, w.options.forget_ms + 1);
    struct asked *asked = ask_poll(&w, &far, 1);
    world_turn(&w);
    assert_int_equal(asked->answers, 0); /* parked: it is known */
    world_pass(&w, w.options.park_ms);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    world_pass(&w, w.options.forget_ms + 1);
    assert_null(map_get(&w.engine->workers, far.id));
}

/* It may be talking to all others; those that start must find its record. */
TEST(its_home_is_patient_with_a_silent_worker)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    world_pass(&w, w.options.forget_ms * 20);
    assert_int_equal(w.delta.worker_count, 0);
    assert_non_null(map_get(&w.engine->workers, f.id));
    world_pass(&w, w.options.forget_ms * 5);
    assert_int_equal(w.delta.worker_count, 1);
    assert_true(w.delta.workers[0].forget);
}

TEST(a_server_that_owns_nothing_registers_nobody)
{
    WORLD(w);
    world_own(&w, (struct partition_set){.count = PARTITIONS});
    struct asked *asked = ask_register(&w, &(struct skills){.slots = 1});
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_BUSY);
}

TEST(nobody_is_called_unknown_while_the_store_is_away)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, false);
    struct asked *asked = ask_poll(&w, &f, 1);
    struct list done;
    list_init(&done);
    engine_begin(w.engine, world_now(&w), &w.arena);
    engine_outage(w.engine);
    engine_decide(w.engine, &asked->cmd);
    engine_seal(w.engine);
    engine_commit(w.engine, &done, &w.events, &w.event_count);
    w.command_count = 0;
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_true(asked->cmd.reply.poll.provisional);
    assert_int_equal(asked->cmd.reply.poll.kept_count, 0);
}

/* ---- partitions that move */

TEST(a_lease_whose_partition_came_is_renewed_by_its_new_owner)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, false);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    world_own(&w, theirs); /* another server, which knows nothing of what is in the lower half */
    assert_null(exec_of(&w, job->exec_id));
    struct asked *asked = ask_poll(&w, &f, 0);
    asked->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(reply_of(asked)->stop_count, 0);
    world_own(&w, partition_all(PARTITIONS)); /* and one that takes over all */
    world_pass(&w, w.options.lease_ms - 1);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

/* The worker may not have heard yet that the partition is here, and name it elsewhere. */
TEST(a_lease_whose_partition_came_is_kept_until_its_worker_has_heard_of_it)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, false);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    world_own(&w, ours);
    f.held_count = 0;
    struct asked *asked = ask_poll(&w, &f, 0);
    asked->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(reply_of(asked)->stop_count, 0);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    f.held[f.held_count++] = (struct poll_held){lease.exec_id, lease.token};
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
}

/* A store hands over the workers that are at home here; others hold leases, too. */
TEST(leases_of_a_worker_are_known_before_it_is)
{
    HALF_WORLD(w);
    struct fake f = hire_elsewhere(&w, false);
    const struct submission *kept = SUBMIT(&w);
    const struct submission *cancelled = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    fake_start(&w, &f);
    struct worker_change change = {.forget = true,
                                   .worker = *(struct worker_rec *)map_get(&w.table.workers, f.id)};
    table_keep_worker(&w.table, &change);
    world_own(&w, ours);
    change.forget = false;
    table_keep_worker(&w.table, &change);
    ask_about(&w, CMD_CANCEL_EXEC, cancelled->exec_id);
    world_turn(&w);
    struct asked *asked = ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(reply_of(asked)->stop_count, 1);
    assert_int_equal(reply_of(asked)->stops[0].exec_id, cancelled->exec_id);
    fake_drop(&f, kept->exec_id); /* it has lost this one meanwhile, */
    fake_drop(&f, cancelled->exec_id);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, kept->exec_id), EXEC_QUEUED); /* which is noticed */
    assert_int_equal(state_of(&w, cancelled->exec_id), EXEC_CANCELLED);
}

/* ---- keys and numbers */

TEST(unique_work_that_others_have_is_returned_or_refused)
{
    WORLD(w);
    world_own(&w, theirs);
    const struct submission *first = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    world_own(&w, ours);
    w.engine->newest.turn--; /* numbers of turns are a server's own: this is the same as that */
    w.table.turn--;
    const struct submission *same = SUBMIT(&w, .unique = "u");
    const struct submission *other = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REJECT);
    const struct submission *newer = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_int_equal(same->rc, RC_OK);
    assert_true(same->existing);
    assert_int_equal(same->job_id, first->job_id);
    assert_int_equal(same->exec_id, first->exec_id);
    assert_int_equal(other->rc, RC_CONFLICT);
    assert_int_equal(newer->rc, RC_DEPOSED); /* to end that job is for its owner */
    assert_null(map_get(&w.engine->execs, first->exec_id));
    assert_true(delta_is_empty(&w.delta));
}

TEST(who_takes_the_place_of_an_engine_can_go_on_with_its_numbers)
{
    HALF_WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    uint64_t id;
    uint64_t turn;
    engine_floors(w.engine, &id, &turn);
    assert_true(id >= job->exec_id && id >= job->job_id);
    assert_int_equal(turn, w.delta.turn);
}

/* ---- letting go */

TEST(a_poll_is_let_go_without_what_an_undone_turn_granted)
{
    HALF_WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *parked = ask_poll(&w, &f, 1);
    world_turn(&w);
    SUBMIT(&w);
    CLEANUP(buf_free) struct buf delta = BUF(TEXT_MAX);
    struct list let_go;
    list_init(&let_go);
    world_decide_and_undo(&w, &delta);
    engine_unpark(w.engine, &let_go);
    assert_ptr_equal(list_pop_front(&let_go), &parked->cmd.node);
    assert_int_equal(parked->cmd.reply.poll.lease_count, 0);
    assert_int_equal(parked->cmd.reply.poll.owned.bits, ours.bits);
    w.relaxed = true;
}

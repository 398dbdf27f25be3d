#include "engine/explain/waits.h"
#include "engine/test/explain.h"

/* Of one queue; all zero when it is not among the answer. */
static struct waits waits_of(struct world *w, const char *queue)
{
    struct asked *asked = ask(w, CMD_WAITS);
    world_turn(w);
    assert_false(asked->cmd.reply.waits_sampled);
    for (size_t i = 0; i < asked->cmd.reply.wait_count; i++) {
        if (str_eq(asked->cmd.reply.waits[i].queue, str_c(queue)))
            return asked->cmd.reply.waits[i];
    }
    return (struct waits){.queue = str_c(queue)};
}

TEST(what_is_not_due_waits_for_its_time)
{
    WORLD(w);
    SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000);
    world_turn(&w);
    assert_int_equal(waits_of(&w, "default").by_kind[BLOCKER_SCHEDULED], 1);
}

TEST(without_a_worker_the_ready_wait_for_one)
{
    WORLD(w);
    SUBMIT(&w);
    SUBMIT(&w, .handler = "mail");
    world_turn(&w);
    assert_int_equal(waits_of(&w, "default").by_kind[BLOCKER_NO_WORKER], 2);
}

TEST(with_a_worker_they_wait_for_a_slot)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w);
    fake_start(&w, &f);
    SUBMIT(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct waits waits = waits_of(&w, "default");
    assert_int_equal(waits.by_kind[BLOCKER_WORKERS_BUSY], 2);
    assert_int_equal(waits.by_kind[BLOCKER_NO_WORKER], 0);
}

TEST(where_all_workers_are_cordoned_they_wait_for_that)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1, .queues = "mail");
    struct fake g = HIRE(&w, .slots = 1, .queues = "mail");
    SUBMIT(&w, .queue = "mail");
    ask_about(&w, CMD_CORDON, f.id);
    world_turn(&w);
    assert_int_equal(waits_of(&w, "mail").by_kind[BLOCKER_WORKERS_BUSY], 1);
    ask_about(&w, CMD_CORDON, g.id);
    world_turn(&w);
    assert_int_equal(waits_of(&w, "mail").by_kind[BLOCKER_WORKERS_CORDONED], 1);
}

TEST(a_paused_queue_holds_all_that_is_ready_in_it)
{
    WORLD(w);
    HIRE(&w, .slots = 1);
    ask_queue(&w, "mail", (struct queue_wish){.run = QUEUE_PAUSE});
    SUBMIT(&w, .queue = "mail");
    SUBMIT(&w, .queue = "mail");
    world_turn(&w);
    assert_int_equal(waits_of(&w, "mail").by_kind[BLOCKER_QUEUE_PAUSED], 2);
}

TEST(a_limit_without_room_is_named_by_its_kind)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 9);
    SUBMIT(&w, .key = "db", .limit = 1);
    fake_start(&w, &f);
    SUBMIT(&w, .key = "db", .limit = 1);
    SUBMIT(&w, .key = "db", .limit = 1);
    world_turn(&w);
    assert_int_equal(waits_of(&w, "default").by_kind[BLOCKER_CONCURRENCY], 2);
}

TEST(of_very_many_some_stand_for_all)
{
    enum { MANY = WAITS_LOOK_MAX + 1000 };
    WORLD(w);
    for (size_t i = 0; i < MANY; i++) {
        SUBMIT(&w);
        if (i % 1000 == 0)
            world_turn(&w);
    }
    world_turn(&w);
    struct asked *asked = ask(&w, CMD_WAITS);
    world_turn(&w);
    assert_true(asked->cmd.reply.waits_sampled);
    assert_int_equal(asked->cmd.reply.waits[0].by_kind[BLOCKER_NO_WORKER], MANY);
}

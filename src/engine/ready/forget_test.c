/* Queues come with their work, and go when nobody needs them. */
#include "engine/test/duo.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#include <string.h>

enum { DAY_MS = 86400000 };

static struct asked *ask_delete(struct world *w, const char *name)
{
    struct asked *asked = ask(w, CMD_QUEUE);
    asked->cmd.queue = (struct queue_wish){.name = str_c(name), .forget = true};
    return asked;
}

/* Takes a turn. */
static enum rc delete_now(struct world *w, const char *name)
{
    struct asked *asked = ask_delete(w, name);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    return asked->cmd.reply.rc;
}

static void pause_queue(struct world *w, const char *name, bool paused)
{
    struct asked *asked = ask(w, CMD_QUEUE);
    asked->cmd.queue =
        (struct queue_wish){.name = str_c(name), .run = paused ? QUEUE_PAUSE : QUEUE_RESUME};
    world_turn(w);
}

static bool shows(struct world *w, const char *name)
{
    struct asked *asked = ask(w, CMD_QUEUES);
    world_turn(w);
    for (size_t i = 0; i < asked->cmd.reply.queue_count; i++) {
        if (str_eq(asked->cmd.reply.queues[i].queue.name, str_c(name)))
            return true;
    }
    return false;
}

/* A job that is submitted there and is cancelled at once. */
static void pass_through(struct world *w, const char *queue)
{
    const struct submission *job = SUBMIT(w, .queue = queue);
    world_turn(w);
    assert_int_equal(job->rc, RC_OK);
    ask_about(w, CMD_CANCEL_JOB, job->job_id);
    world_turn(w);
}

static int64_t cancelled_in_all(struct world *w)
{
    int64_t sum = 0;
    struct asked *asked = ask(w, CMD_STATS);
    world_turn(w);
    const struct stats_view *stats = &asked->cmd.reply.stats;
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *c = &stats->counters[i];
        if (c->kind == COUNTER_EXECS && c->state == EXEC_CANCELLED)
            sum += c->value;
    }
    return sum;
}

/* ---- made with its job */

TEST(a_refused_submission_leaves_no_queue)
{
    WORLD(w);
    SUBMIT(&w, .name = "a");
    SUBMIT(&w, .unique = "key");
    world_turn(&w);
    size_t before = w.engine->queues.by_name.len;
    const struct submission *named = SUBMIT(&w, .name = "a", .queue = "one");
    const struct submission *twin = SUBMIT(&w, .unique = "key", .queue = "two");
    world_turn(&w);
    assert_int_equal(named->rc, RC_CONFLICT);
    assert_true(twin->rc == RC_OK && twin->existing);
    assert_int_equal(w.engine->queues.by_name.len, before);
}

TEST(an_undone_turn_leaves_no_queue)
{
    WORLD(w);
    SUBMIT(&w, .queue = "mail");
    struct asked *limit = ask(&w, CMD_QUEUE);
    limit->cmd.queue =
        (struct queue_wish){.name = STR("slow"), .set_concurrency = true, .concurrency = 2};
    CLEANUP(buf_free) struct buf delta = BUF(TEXT_MAX);
    world_decide_and_undo(&w, &delta);
    assert_int_equal(w.engine->queues.by_name.len, 0);
    world_turn(&w);
    assert_int_equal(w.engine->queues.by_name.len, 2);
}

TEST(an_edit_that_is_refused_leaves_no_queue)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = 60000);
    world_turn(&w);
    struct asked *first = EDIT(&w, job->job_id, 1, false, .every_ms = 60000, .queue = "one");
    struct asked *second = EDIT(&w, job->job_id, 2, false, .every_ms = 60000, .queue = "two");
    world_turn(&w);
    assert_int_equal(first->cmd.reply.rc, RC_OK);
    assert_int_equal(second->cmd.reply.rc, RC_OK);
    assert_null(strmap_get(&w.engine->queues.by_name, STR("one")));
    assert_non_null(strmap_get(&w.engine->queues.by_name, STR("two")));
}

/* ---- as many as there may be */

#define AT_MOST(name, queues)                                                                      \
    struct engine_options name##_options = engine_defaults;                                        \
    name##_options.queues_max = (queues);                                                          \
    WORLD_WITH(name, name##_options)

TEST(empty_queues_make_room_the_oldest_first)
{
    AT_MOST(w, 2);
    pass_through(&w, "a");
    pass_through(&w, "b");
    pass_through(&w, "a");
    const struct submission *third = SUBMIT(&w, .queue = "c");
    world_turn(&w);
    assert_int_equal(third->rc, RC_OK);
    assert_true(shows(&w, "a") && !shows(&w, "b") && shows(&w, "c"));
    assert_int_equal(cancelled_in_all(&w), 3);
    world_restart(&w);
    assert_true(shows(&w, "a") && !shows(&w, "b") && shows(&w, "c"));
    assert_int_equal(cancelled_in_all(&w), 3);
}

TEST(empty_queues_in_the_store_lock_nobody_out)
{
    AT_MOST(w, 100);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%d", i);
        pass_through(&w, name);
    }
    assert_int_equal(w.engine->queues.by_name.len, 100);
    w.options.queues_max = 2;
    world_restart(&w);
    const struct submission *job = SUBMIT(&w, .queue = "new");
    world_turn(&w);
    world_turn(&w);
    assert_int_equal(job->rc, RC_OK);
}

TEST(queues_with_work_or_settings_stay_and_one_more_is_refused)
{
    AT_MOST(w, 2);
    SUBMIT(&w, .queue = "a", .when = WHEN_DELAY, .when_ms = 10 * DAY_MS);
    pause_queue(&w, "b", true);
    world_restart(&w); /* the job is beyond the horizon */
    const struct submission *third = SUBMIT(&w, .queue = "c", .name = "named");
    const struct submission *known = SUBMIT(&w, .queue = "b");
    const struct submission *plain = SUBMIT(&w);
    struct asked *limit = ask(&w, CMD_QUEUE);
    limit->cmd.queue =
        (struct queue_wish){.name = STR("d"), .set_concurrency = true, .concurrency = 2};
    world_turn(&w);
    assert_int_equal(third->rc, RC_LIMITED);
    assert_non_null(strstr(third->err->text, "queues_max is 2"));
    assert_int_equal(limit->cmd.reply.rc, RC_LIMITED);
    assert_int_equal(known->rc, RC_OK);
    assert_int_equal(plain->rc, RC_OK); /* jobs that name no queue are always taken */
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 0);
    assert_int_equal(w.engine->queues.by_name.len, 3);
}

TEST(what_was_forgotten_in_a_lost_turn_is_there)
{
    AT_MOST(w, 1);
    pass_through(&w, "a");
    const struct submission *b = SUBMIT(&w, .queue = "b");
    CLEANUP(buf_free) struct buf delta = BUF(TEXT_MAX);
    world_decide_and_undo(&w, &delta);
    assert_int_equal(w.engine->queues.by_name.len, 1);
    assert_non_null(strmap_get(&w.engine->queues.by_name, STR("a")));
    world_turn(&w);
    assert_int_equal(b->rc, RC_OK);
    assert_null(strmap_get(&w.engine->queues.by_name, STR("a")));
}

TEST(a_queue_that_is_wanted_again_in_the_same_turn_keeps_its_numbers)
{
    AT_MOST(w, 1);
    pass_through(&w, "a");
    const struct submission *plain = SUBMIT(&w, .queue = "b");
    const struct submission *again = SUBMIT(&w, .queue = "a");
    world_turn(&w);
    assert_int_equal(plain->rc, RC_OK);
    assert_int_equal(again->rc, RC_LIMITED);
    assert_int_equal(delete_now(&w, "a"), RC_NOT_FOUND);
    ask_about(&w, CMD_CANCEL_JOB, plain->job_id);
    world_turn(&w);
    ask_delete(&w, "b");
    SUBMIT(&w, .queue = "b");
    world_turn(&w);
    assert_true(shows(&w, "b"));
    assert_int_equal(cancelled_in_all(&w), 2);
}

/* ---- idle for long */

TEST(a_queue_without_work_is_forgotten_after_a_day)
{
    WORLD(w);
    pass_through(&w, "a");
    pause_queue(&w, "b", true);
    pause_queue(&w, "c", true);
    pause_queue(&w, "c", false);
    assert_true(shows(&w, "a") && shows(&w, "c"));
    world_pass(&w, DAY_MS - 1000);
    assert_true(shows(&w, "a") && shows(&w, "c"));
    assert_int_equal(w.table.queues.len, 2);
    world_pass(&w, 2000);
    assert_true(!shows(&w, "a") && shows(&w, "b") && !shows(&w, "c"));
    assert_int_equal(w.table.queues.len, 1);
    assert_int_equal(cancelled_in_all(&w), 1);
}

TEST(a_turn_forgets_a_page_and_the_next_goes_on)
{
    WORLD(w);
    for (int i = 0; i < 250; i++) {
        char name[16];
        snprintf(name, sizeof name, "q%d", i);
        pass_through(&w, name);
    }
    world_pass(&w, 2 * DAY_MS);
    assert_int_equal(w.engine->queues.by_name.len, 150);
    assert_int_equal(world_wait_ms(&w), 0);
    world_turn(&w);
    world_turn(&w);
    assert_int_equal(w.engine->queues.by_name.len, 0);
    assert_true(world_wait_ms(&w) > 0);
}

/* ---- deleted */

TEST(deleting_takes_the_settings_along)
{
    WORLD(w);
    pause_queue(&w, "mail", true);
    assert_int_equal(delete_now(&w, "mail"), RC_OK);
    assert_int_equal(delete_now(&w, "mail"), RC_NOT_FOUND);
    assert_int_equal(delete_now(&w, "nowhere"), RC_NOT_FOUND);
    assert_false(shows(&w, "mail"));
    assert_int_equal(w.table.queues.len, 0);
    world_restart(&w);
    assert_false(shows(&w, "mail"));
    struct fake f = HIRE(&w);
    SUBMIT(&w, .queue = "mail");
    (void)fake_start(&w, &f); /* nobody has paused this one */
}

TEST(a_queue_with_work_is_not_deleted)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .queue = "mail", .when = WHEN_DELAY, .when_ms = 10 * DAY_MS);
    world_turn(&w);
    world_restart(&w);
    struct asked *asked = ask_delete(&w, "mail");
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(strstr(asked->cmd.reply.err.text, "unfinished executions: 1, dead letters: 0"));
    SUBMIT(&w, .queue = "other");
    assert_int_equal(delete_now(&w, "other"), RC_CONFLICT); /* it came in the same turn */
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(delete_now(&w, "mail"), RC_OK);
}

TEST(a_queue_with_dead_letters_is_neither_deleted_nor_forgotten)
{
    AT_MOST(w, 1);
    struct fake f = HIRE(&w);
    SUBMIT(&w, .queue = "mail", .retries = 0);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(delete_now(&w, "mail"), RC_CONFLICT);
    const struct submission *other = SUBMIT(&w, .queue = "other");
    world_turn(&w);
    assert_int_equal(other->rc, RC_LIMITED);
    ask_about(&w, CMD_DISCARD_LETTER, lease.exec_id);
    world_turn(&w);
    assert_int_equal(delete_now(&w, "mail"), RC_OK);
}

/* ---- among two */

TEST(the_other_server_forgets_its_part_of_a_deleted_queue)
{
    DUO(s);
    pass_through(&s.a, "mail");
    pass_through(&s.b, "mail");
    assert_int_equal(delete_now(&s.a, "mail"), RC_OK);
    duo_settle(&s);
    assert_null(strmap_get(&s.a.engine->queues.by_name, STR("mail")));
    assert_null(strmap_get(&s.b.engine->queues.by_name, STR("mail")));
    assert_int_equal(delete_now(&s.a, "mail"), RC_NOT_FOUND);
}

/* However many partitions it has, and so letters about it. */
TEST(a_server_that_is_told_of_a_deleted_queue_asks_nothing_about_it)
{
    DUO(s);
    pass_through(&s.b, "mail");
    struct command cmd = {.kind = CMD_QUEUE, .own = true, .arena = &s.b.arena};
    cmd.queue = (struct queue_wish){.name = STR("mail"), .forget = true, .deleted_ms = 1};
    struct question_list list = {0};
    engine_begin(s.b.engine, world_now(&s.b), &s.b.arena);
    engine_ask(s.b.engine, &cmd, 0, &list);
    assert_int_equal(list.len, 0);
    engine_undo(s.b.engine);
}

TEST(a_queue_without_settings_takes_none_along)
{
    AT_MOST(w, 1);
    pass_through(&w, "a");
    assert_int_equal(delete_now(&w, "a"), RC_OK);
    assert_int_equal(w.delta.queue_gone_count, 1);
    assert_false(w.delta.queues_gone[0].settings); /* so nobody has to read settings again */
}

TEST(work_of_another_server_keeps_a_queue_from_being_deleted)
{
    DUO(s);
    SUBMIT(&s.b, .queue = "mail");
    world_turn(&s.b);
    assert_int_equal(delete_now(&s.a, "mail"), RC_CONFLICT);
    assert_non_null(strmap_get(&s.b.engine->queues.by_name, STR("mail")));
}

TEST(what_was_decided_elsewhere_about_a_deleted_queue_is_void)
{
    WORLD(w);
    pause_queue(&w, "mail", true);
    strmap_remove(&w.table.queues, STR("mail")); /* by another server */
    engine_settings_begin(w.engine);
    engine_settings_end(w.engine);
    struct fake f = HIRE(&w);
    SUBMIT(&w, .queue = "mail");
    (void)fake_start(&w, &f);
}

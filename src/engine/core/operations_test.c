/* Actions on many jobs and executions, some of them a turn. Those on dead letters: letters_test.c. */
#include "base/test/test.h"
#include "engine/test/jobs.h"

#define STEPS(name, step_max)                                                                      \
    struct engine_options options = engine_defaults;                                               \
    CLEANUP(world_free) struct world name;                                                         \
    options.operation_step_max = (step_max);                                                       \
    options.operation_per_s = 0;                                                                   \
    world_init(&(name), &options)

static const struct operation_rec *begin(struct world *w, enum operation_kind kind,
                                         const char *which)
{
    struct asked *asked = ask(w, CMD_OPERATE);
    asked->cmd.operate.kind = kind;
    asked->cmd.operate.which = str_c(which);
    world_turn(w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    return map_get(&w->table.operations, asked->cmd.reply.operation_id);
}

static const struct operation_rec *now(struct world *w, const struct operation_rec *op)
{
    return map_get(&w->table.operations, op->id);
}

static const struct operation_rec *finish(struct world *w, const struct operation_rec *op)
{
    for (int i = 0; i < 100 && now(w, op)->state == OPERATION_RUNNING; i++)
        world_turn(w);
    assert_int_equal(now(w, op)->state, OPERATION_DONE);
    return now(w, op);
}

TEST(jobs_that_fit_are_cancelled_step_by_step_and_over_a_restart)
{
    STEPS(w, 2);
    for (int i = 0; i < 5; i++)
        SUBMIT(&w, .queue = "mail");
    const struct submission *other = SUBMIT(&w, .queue = "other");
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_CANCEL_JOBS, "queue=mail\n");
    assert_int_equal(op->done, 0);
    world_turn(&w);
    assert_int_equal(now(&w, op)->done, 2);
    world_restart(&w);
    world_turn(&w);
    assert_int_equal(now(&w, op)->done, 4);
    assert_int_equal(finish(&w, op)->done, 5);
    assert_int_equal(w.table.live.len, 1);
    assert_int_equal(state_of(&w, other->exec_id), EXEC_QUEUED);
    assert_true(world_wait_ms(&w) > 0);
}

TEST(what_is_submitted_later_is_none_of_its_business)
{
    STEPS(w, 1);
    SUBMIT(&w);
    SUBMIT(&w);
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_CANCEL_EXECS, "all=true\n");
    const struct submission *later = SUBMIT(&w);
    assert_int_equal(finish(&w, op)->done, 2);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_QUEUED);
}

TEST(what_fits_no_more_when_it_is_reached_is_left_alone)
{
    STEPS(w, 1);
    SUBMIT(&w);
    const struct submission *second = SUBMIT(&w);
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_PAUSE_JOBS, "all=true\n");
    ask_about(&w, CMD_CANCEL_JOB, second->job_id);
    const struct operation_rec *done = finish(&w, op);
    assert_true(done->done == 1 && done->refused == 0);
}

TEST(what_a_command_of_the_same_turn_took_is_not_done_again)
{
    STEPS(w, 200);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_CANCEL_EXECS, "all=true\n");
    ask_about(&w, CMD_CANCEL_EXEC, job->exec_id); /* in the turn of the step */
    const struct operation_rec *done = finish(&w, op);
    assert_true(done->done + done->refused <= 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
}

TEST(named_ones_that_cannot_be_are_refused_with_their_reasons)
{
    STEPS(w, 1);
    const struct submission *job = SUBMIT(&w);
    const struct submission *over = SUBMIT(&w);
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, over->job_id);
    world_turn(&w);
    char ids[3 * ID_TEXT_MAX];
    id_format(ids, "", 17); /* there is none */
    id_format(ids + ID_DIGITS, "", job->job_id);
    id_format(ids + 2 * ID_DIGITS, "", over->job_id);
    struct asked *asked = ask(&w, CMD_OPERATE);
    asked->cmd.operate.kind = OPERATION_PAUSE_JOBS;
    asked->cmd.operate.by_ids = true;
    asked->cmd.operate.ids = str_of(ids, 3 * ID_DIGITS);
    world_turn(&w);
    const struct operation_rec *op =
        finish(&w, map_get(&w.table.operations, asked->cmd.reply.operation_id));
    assert_true(op->done == 1 && op->refused == 2);
    struct str lines = op->refusals;
    assert_true(str_starts(str_cut(&lines, '\n'), STR("000000000000h there is no job")));
    assert_int_equal(operation_id(lines, 0), over->job_id);
    assert_int_equal(lines.ptr[lines.len - 1], '\n');
}

static bool changes(const struct delta *delta, uint64_t exec_id)
{
    bool found = false;
    for (size_t i = 0; i < delta->exec_count; i++)
        found |= delta->execs[i].exec.id == exec_id;
    return found;
}

/* A turn, again and again until the store takes it: it would not take a change of this one. */
static void turn_without(struct world *w, uint64_t exec_id)
{
    const struct delta *delta = world_decide(w);
    for (int tries = 0; changes(delta, exec_id); tries++) {
        assert_true(tries < 6);
        engine_undo(w->engine);
        table_abort(&w->table);
        assert_true(engine_operation_doubt(w->engine, "there is no calendar"));
        delta = world_decide(w);
    }
    w->delta = *delta;
    world_commit(w);
    world_check(w);
}

TEST(what_the_store_does_not_take_is_refused_and_the_rest_is_done)
{
    STEPS(w, 4);
    const struct submission *jobs[6];
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        jobs[i] = SUBMIT(&w);
    world_turn(&w);
    uint64_t bad_id = jobs[2]->exec_id;
    const struct operation_rec *op = begin(&w, OPERATION_CANCEL_EXECS, "all=true\n");
    for (int i = 0; i < 20 && now(&w, op)->state == OPERATION_RUNNING; i++)
        turn_without(&w, bad_id);
    const struct operation_rec *done = now(&w, op);
    assert_int_equal(done->state, OPERATION_DONE);
    assert_true(done->done == 5 && done->refused == 1);
    assert_true(str_eq(done->refusal, STR("the store does not take it: there is no calendar")));
    assert_int_equal(state_of(&w, bad_id), EXEC_QUEUED);
    world_turn(&w);
    assert_false(engine_operation_doubt(w.engine, "it was something else"));
}

TEST(a_cancelled_operation_stops_where_it_is)
{
    STEPS(w, 1);
    for (int i = 0; i < 3; i++)
        SUBMIT(&w);
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_PAUSE_JOBS, "all=true\n");
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_OPERATION, op->id);
    for (int i = 0; i < 3; i++)
        world_turn(&w);
    assert_int_equal(now(&w, op)->state, OPERATION_CANCELLED);
    assert_true(now(&w, op)->done < 3);
    assert_int_equal(now(&w, op)->finished_ms, w.now_ms);
}

TEST(a_small_one_does_not_wait_for_a_large_one)
{
    STEPS(w, 1);
    for (int i = 0; i < 20; i++)
        SUBMIT(&w, .queue = "large");
    SUBMIT(&w, .queue = "small");
    world_turn(&w);
    const struct operation_rec *large = begin(&w, OPERATION_PAUSE_JOBS, "queue=large\n");
    const struct operation_rec *small = begin(&w, OPERATION_PAUSE_JOBS, "queue=small\n");
    finish(&w, small);
    assert_int_equal(now(&w, large)->state, OPERATION_RUNNING);
}

TEST(an_operation_whose_filter_cannot_be_read_ends_with_the_reason)
{
    STEPS(w, 2);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_CANCEL_JOBS, "colour=red\n");
    for (int i = 0; i < 3; i++)
        world_turn(&w);
    assert_int_equal(now(&w, op)->state, OPERATION_FAILED);
    assert_int_equal(now(&w, op)->finished_ms, w.now_ms);
    assert_true(str_starts(now(&w, op)->refusal, STR("a filter with colour=red cannot be read")));
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(what_a_version_before_began_goes_on_with_what_it_meant)
{
    STEPS(w, 2);
    for (int i = 0; i < 3; i++)
        SUBMIT(&w, .queue = "mail");
    const struct submission *other = SUBMIT(&w, .queue = "other");
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_CANCEL_JOBS, "all=true\n");
    struct operation_rec *old = map_get(&w.table.operations, op->id); /* as it would stand there */
    old->kind = (enum operation_kind)5;
    old->which = (struct str){0};
    old->old.queues = STR("mail");
    world_restart(&w);
    assert_int_equal(finish(&w, op)->done, 3);
    assert_int_equal(state_of(&w, other->exec_id), EXEC_QUEUED);
}

/* ---- room for others */

#define PACED(name, per_s)                                                                         \
    struct engine_options options = engine_defaults;                                               \
    CLEANUP(world_free) struct world name;                                                         \
    options.operation_step_max = 100;                                                              \
    options.operation_per_s = (per_s);                                                             \
    world_init(&(name), &options)

/* Something else is asked for in each turn; how much is done beside it in so many milliseconds. */
static uint64_t done_beside(struct world *w, const struct operation_rec *op, int ms, int step_ms)
{
    uint64_t before = now(w, op)->done;
    for (int i = 0; i < ms; i += step_ms) {
        w->now_ms += step_ms;
        ask(w, CMD_STATS);
        world_turn(w);
    }
    return now(w, op)->done - before;
}

TEST(beside_other_work_steps_are_as_large_as_the_time_allows)
{
    PACED(w, 1000);
    for (int i = 0; i < 700; i++)
        SUBMIT(&w);
    world_turn(&w);
    const struct operation_rec *op = begin(&w, OPERATION_PAUSE_JOBS, "all=true\n");
    done_beside(&w, op, 200, 10); /* what it had saved up */
    uint64_t short_turns = done_beside(&w, op, 200, 1);
    assert_true(short_turns >= 180 && short_turns <= 220);
    uint64_t long_turns = done_beside(&w, op, 200, 50);
    assert_true(long_turns >= 180 && long_turns <= 220);
    assert_true(world_wait_ms(&w) > 0); /* it waits for time to pass */
    w.now_ms += 100;                    /* nobody has come for so long */
    assert_int_equal(world_wait_ms(&w), 0);
    uint64_t before = now(&w, op)->done;
    world_turn(&w);
    assert_int_equal(now(&w, op)->done - before, 100 < 700 - before ? 100 : 700 - before);
}

/* Jobs of which many runs wait: who asks something of one reads no more than of any other, and what
 * memory does not hold of it is not forgotten. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

enum { FEW = 3, MANY = 300 };

/* A job whose next slot is beyond the horizon, with runs that somebody asked for and nobody gives,
 * and one that has ended. */
struct crowd {
    struct world w;
    uint64_t job_id;
    uint64_t ahead; /* executions */
    uint64_t ended;
};

static void trigger(struct crowd *c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ask_about(&c->w, CMD_TRIGGER_JOB, c->job_id);
        if (c->w.command_count == COUNT_OF(c->w.commands) || i + 1 == count)
            world_turn(&c->w);
    }
}

static void crowd_init(struct crowd *c, size_t waiting)
{
    world_init(&c->w, &engine_defaults);
    struct fake f = HIRE(&c->w, .slots = 1);
    const struct submission *job =
        SUBMIT(&c->w, .every_ms = 24 * HOUR_MS, .overlap = OVERLAP_PARALLEL, .name = "report");
    world_turn(&c->w);
    c->job_id = job->job_id;
    c->ahead = job->exec_id;
    trigger(c, 1);
    struct poll_lease lease = fake_lease(&c->w, &f);
    c->ended = lease.exec_id;
    struct asked *report = ask_report(&c->w, &f, &lease, OUTCOME_PERMANENT);
    report->cmd.poll.wait_ms = 0;
    world_turn(&c->w);
    trigger(c, waiting);
    assert_null(map_get(&c->w.engine->execs, c->ahead));
    assert_int_equal(engine_live_count(c->w.engine), waiting);
}

static void crowd_free(struct crowd *c)
{
    world_free(&c->w);
}

/* Executions that the store told because of a command. */
static size_t count_told(const struct command *cmd)
{
    size_t count = 0;
    for (size_t i = 0; i < cmd->question_count; i++) {
        const struct answer *a = &cmd->questions[i].answer;
        count += a->live_count + (a->newest != NULL) + (a->exec != NULL);
    }
    return count;
}

/* What a command of this kind costs in executions: told by the store, or touched by the turn. */
struct cost {
    size_t told;
    size_t touched;
};

static struct cost cost_of(size_t waiting, enum command_kind kind)
{
    CLEANUP(crowd_free) struct crowd c = {0};
    crowd_init(&c, waiting);
    bool about_exec = kind == CMD_RETRY_EXEC || kind == CMD_RETRY_LETTER ||
                      kind == CMD_DISCARD_LETTER || kind == CMD_EXPLAIN_EXEC;
    uint64_t id = kind == CMD_CANCEL_EXEC ? c.ahead : about_exec ? c.ended : c.job_id;
    struct asked *asked = ask_about(&c.w, kind, id);
    world_turn(&c.w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    return (struct cost){count_told(&asked->cmd), c.w.engine->turn.touched.len};
}

TEST(however_many_wait_a_command_reads_and_touches_the_same)
{
    static const enum command_kind kinds[] = {
        CMD_TRIGGER_JOB,  CMD_PAUSE_JOB,      CMD_CANCEL_EXEC, CMD_RETRY_EXEC,
        CMD_RETRY_LETTER, CMD_DISCARD_LETTER, CMD_EXPLAIN_JOB, CMD_EXPLAIN_EXEC,
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct cost few = cost_of(FEW, kinds[i]);
        struct cost many = cost_of(MANY, kinds[i]);
        assert_int_equal(few.told, many.told);
        assert_int_equal(few.touched, many.touched);
        assert_in_range(many.told, 0, 2);
    }
    assert_int_equal(cost_of(MANY, CMD_TRIGGER_JOB).told, 0);
    assert_int_equal(cost_of(MANY, CMD_PAUSE_JOB).told, 0);
}

/* They change all that waits; but what memory holds of it need not be read for that. */
TEST(who_is_for_all_that_waits_reads_the_slot_ahead_alone)
{
    CLEANUP(crowd_free) struct crowd c = {0};
    crowd_init(&c, MANY);
    struct asked *pause = ask_about(&c.w, CMD_PAUSE_JOB, c.job_id);
    world_turn(&c.w);
    struct asked *resume = ask_about(&c.w, CMD_RESUME_JOB, c.job_id);
    world_turn(&c.w);
    struct asked *edit = EDIT(&c.w, c.job_id, 1, false, .every_ms = 24 * HOUR_MS,
                              .overlap = OVERLAP_PARALLEL, .name = "report", .queue = "slow");
    world_turn(&c.w);
    const struct exec_rec *ahead = map_get(&c.w.table.live, c.ahead);
    assert_true(str_eq(ahead->queue, STR("slow")));
    struct asked *cancel = ask_about(&c.w, CMD_CANCEL_JOB, c.job_id);
    world_turn(&c.w);
    assert_int_equal(c.w.table.live.len, 0);
    assert_int_equal(state_of(&c.w, c.ahead), EXEC_CANCELLED);
    const struct asked *all[] = {pause, resume, edit, cancel};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_int_equal(all[i]->cmd.reply.rc, RC_OK);
        assert_in_range(count_told(&all[i]->cmd), 0, 2);
    }
}

/* Memory is asked about all that is under way: no store has to tell. */
TEST(what_is_under_way_is_in_the_way_also_after_a_restart)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = 24 * HOUR_MS);
    world_turn(&w);
    ask_about(&w, CMD_TRIGGER_JOB, job->job_id);
    world_turn(&w);
    world_restart(&w);
    struct asked *again = ask_about(&w, CMD_TRIGGER_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(again->cmd.question_count, 0);
    assert_int_equal(again->cmd.reply.rc, RC_CONFLICT); /* overlap: skip */
}

/* Two commands of one turn, of which one has read half of what the other needs. */
TEST(a_pause_does_not_hide_the_slot_ahead_from_who_comes_after_it)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = 24 * HOUR_MS);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 0);
    ask_about(&w, CMD_PAUSE_JOB, job->job_id);
    struct asked *why = ask_about(&w, CMD_EXPLAIN_JOB, job->job_id);
    struct asked *cancel = ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(why->cmd.reply.exec_id, job->exec_id);
    assert_int_equal(cancel->cmd.reply.rc, RC_OK);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
}

/* The next attempt of its newest run is beyond the horizon, and holds the key. */
TEST(a_question_about_an_old_run_does_not_hide_who_holds_a_key)
{
    struct engine_options options = engine_defaults;
    options.horizon_ms = HOUR_MS / 6;
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job =
        SUBMIT(&w, .unique = "night", .retries = 1, .retry_ms = HOUR_MS / 2);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_PERMANENT)->cmd.poll.wait_ms = 0;
    world_turn(&w);
    ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w);
    struct poll_lease second = fake_lease(&w, &f);
    ask_report(&w, &f, &second, OUTCOME_FAILED)->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(state_of(&w, second.exec_id), EXEC_RETRYING);
    assert_int_equal(engine_live_count(w.engine), 0);
    struct asked *retry = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    const struct submission *other = SUBMIT(&w, .unique = "night", .on_conflict = CONFLICT_REJECT);
    world_turn(&w);
    assert_int_equal(retry->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(other->rc, RC_CONFLICT);
}

/* Dead letters: when there is one, why, and what becomes of it; alone, in numbers, and in time. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

/* A worker that fails whatever it is given. */
struct stage {
    struct world w;
    struct fake f;
};

static struct stage *stage_new(const struct engine_options *options)
{
    struct stage *s = MEM_NEW(struct stage);
    struct engine_options unpaced = *options;
    unpaced.operation_per_s = 0; /* time stands still here */
    world_init(&s->w, &unpaced);
    s->f = HIRE(&s->w, .slots = 8);
    return s;
}

static void stage_free(struct stage **s)
{
    world_free(&(*s)->w);
    free(*s);
}

#define STAGE_WITH(name, options) CLEANUP(stage_free) struct stage *name = stage_new(&(options))
#define STAGE(name) STAGE_WITH(name, engine_defaults)

static struct poll_result *end_next(struct stage *s, enum outcome outcome)
{
    struct poll_lease lease = fake_start(&s->w, &s->f);
    struct asked *asked = ask_report(&s->w, &s->f, &lease, outcome);
    return &((struct poll_result *)(void *)(uintptr_t)asked->cmd.poll.results)[0];
}

/* A job that fails for good; returns its execution. */
static uint64_t bury(struct stage *s, struct wish wish, enum outcome outcome)
{
    const struct submission *job = ask_submit_one(&s->w, wish);
    world_turn(&s->w);
    end_next(s, outcome);
    world_turn(&s->w);
    return job->exec_id;
}

#define BURY(s, outcome, ...) bury((s), (struct wish){.unused = 0, __VA_ARGS__}, (outcome))

static const struct letter_rec *letter(const struct stage *s, uint64_t exec_id)
{
    return map_get(&s->w.table.letters, exec_id);
}

static struct asked *about(struct stage *s, enum command_kind kind, uint64_t exec_id)
{
    struct asked *asked = ask_about(&s->w, kind, exec_id);
    world_turn(&s->w);
    return asked;
}

/* ---- becoming one */

TEST(what_has_used_up_its_attempts_is_a_dead_letter)
{
    STAGE(s);
    uint64_t id = BURY(s, OUTCOME_FAILED, .name = "nightly", .queue = "mail");
    const struct letter_rec *l = letter(s, id);
    assert_non_null(l);
    assert_int_equal(l->reason, LETTER_EXHAUSTED);
    assert_int_equal(l->state, EXEC_FAILED);
    assert_int_equal(l->place.died_ms, s->w.now_ms);
    assert_int_equal(l->attempts, 1);
    assert_true(str_eq(l->name, STR("nightly")) && str_eq(l->queue, STR("mail")));
    assert_true(str_eq(l->error, STR("exit code 3")));
    assert_int_equal(l->fingerprint, attempt_of(&s->w, id, 1)->fingerprint);
    assert_int_equal(l->class, attempt_of(&s->w, id, 1)->class);
    assert_true(l->line.len > 0);
}

TEST(each_reason_to_give_up_has_its_name)
{
    STAGE(s);
    uint64_t permanent = BURY(s, OUTCOME_PERMANENT, .retries = 3);
    uint64_t timeout = BURY(s, OUTCOME_TIMEOUT, .retries = 0);
    uint64_t other = BURY(s, OUTCOME_TIMEOUT, .retries = 3, .retry_on = 1U << FAILURE_NETWORK);
    assert_int_equal(letter(s, permanent)->reason, LETTER_PERMANENT);
    assert_int_equal(letter(s, timeout)->reason, LETTER_EXHAUSTED);
    assert_int_equal(letter(s, timeout)->state, EXEC_TIMEOUT);
    assert_int_equal(letter(s, other)->reason, LETTER_NOT_RETRIED);
}

TEST(what_lost_too_many_workers_is_a_dead_letter)
{
    struct engine_options options = engine_defaults;
    options.lost_max = 1;
    STAGE_WITH(s, options);
    const struct submission *job = SUBMIT(&s->w);
    world_turn(&s->w);
    fake_start(&s->w, &s->f);
    world_pass(&s->w, options.lease_ms + 1);
    assert_int_equal(letter(s, job->exec_id)->reason, LETTER_QUARANTINED);
    assert_int_equal(letter(s, job->exec_id)->lost, 1);
}

TEST(what_will_be_tried_again_is_none_and_what_was_cancelled_is_none)
{
    STAGE(s);
    const struct submission *job = SUBMIT(&s->w, .retries = 1);
    world_turn(&s->w);
    end_next(s, OUTCOME_FAILED);
    world_turn(&s->w);
    assert_null(letter(s, job->exec_id));
    about(s, CMD_CANCEL_JOB, job->job_id);
    assert_int_equal(state_of(&s->w, job->exec_id), EXEC_CANCELLED);
    assert_null(letter(s, job->exec_id));
}

/* ---- one of them */

TEST(a_letter_that_is_run_again_is_none_from_that_commit_on)
{
    STAGE(s);
    uint64_t id = BURY(s, OUTCOME_FAILED, .name = "a");
    struct asked *asked = about(s, CMD_RETRY_LETTER, id);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_null(letter(s, id));
    assert_int_equal(state_of(&s->w, asked->cmd.reply.exec_id), EXEC_QUEUED);
    const struct exec_rec *again = map_get(&s->w.table.live, asked->cmd.reply.exec_id);
    assert_int_equal(again->retry_of, id);
    assert_int_equal(about(s, CMD_RETRY_LETTER, id)->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(running_an_execution_again_takes_its_letter_too)
{
    STAGE(s);
    uint64_t id = BURY(s, OUTCOME_FAILED);
    assert_int_equal(about(s, CMD_RETRY_EXEC, id)->cmd.reply.rc, RC_OK);
    assert_null(letter(s, id));
}

/* Runs it again, with this payload if there is one; fails it again. The new execution. */
static uint64_t run_again_with(struct stage *s, uint64_t id, const char *payload)
{
    struct asked *asked = ask_about(&s->w, CMD_RETRY_LETTER, id);
    asked->cmd.target.payload = payload == NULL ? STR("") : str_c(payload);
    world_turn(&s->w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    world_restart(&s->w);
    s->f = HIRE(&s->w, .slots = 8);
    end_next(s, OUTCOME_FAILED);
    world_turn(&s->w);
    return asked->cmd.reply.exec_id;
}

TEST(a_letter_can_be_run_again_with_another_payload)
{
    STAGE(s);
    uint64_t id = BURY(s, OUTCOME_FAILED, .name = "a");
    struct asked *asked = ask_about(&s->w, CMD_RETRY_LETTER, id);
    asked->cmd.target.payload = STR("{\"n\":2}");
    world_turn(&s->w);
    uint64_t again = asked->cmd.reply.exec_id;
    const struct exec_rec *rec = map_get(&s->w.table.live, again);
    assert_true(rec->own_payload && str_eq(rec->payload, STR("{\"n\":2}")));
    const struct job_rec *job = map_get(&s->w.table.jobs, rec->job_id);
    assert_false(str_eq(job->payload, rec->payload));
    world_restart(&s->w);
    s->f = HIRE(&s->w, .slots = 8);
    struct poll_lease lease = fake_lease(&s->w, &s->f);
    assert_true(lease.exec_id == again && lease.own_payload && lease.spec.len == 0);
}

TEST(what_is_repeated_has_the_payload_of_the_run_before)
{
    STAGE(s);
    uint64_t first = BURY(s, OUTCOME_FAILED);
    uint64_t plain = run_again_with(s, first, NULL);
    uint64_t second = run_again_with(s, plain, "[2]");
    uint64_t same = run_again_with(s, second, NULL);
    uint64_t third = run_again_with(s, same, "[3]");
    const struct map *all = &s->w.table.history;
    assert_false(((struct exec_rec *)map_get(all, first))->own_payload);
    assert_false(((struct exec_rec *)map_get(all, plain))->own_payload);
    assert_true(str_eq(((struct exec_rec *)map_get(all, second))->payload, STR("[2]")));
    assert_true(str_eq(((struct exec_rec *)map_get(all, same))->payload, STR("[2]")));
    assert_true(str_eq(((struct exec_rec *)map_get(all, third))->payload, STR("[3]")));
}

TEST(a_slot_can_be_run_again_with_another_payload)
{
    STAGE(s);
    SUBMIT(&s->w, .every_ms = HOUR_MS);
    world_turn(&s->w);
    world_pass(&s->w, HOUR_MS);
    s->f = HIRE(&s->w, .slots = 8);
    end_next(s, OUTCOME_FAILED);
    world_turn(&s->w);
    uint64_t id = 0;
    MAP_EACH(&s->w.table.letters, slot) id = slot->key;
    uint64_t again = run_again_with(s, id, "[2]");
    const struct exec_rec *rec = map_get(&s->w.table.history, again);
    assert_true(rec->own_payload && str_eq(rec->payload, STR("[2]")));
    assert_int_equal(rec->slot_ms, ((struct exec_rec *)map_get(&s->w.table.history, id))->slot_ms);
}

TEST(a_run_that_is_asked_for_with_a_payload_has_that)
{
    STAGE(s);
    const struct submission *job = SUBMIT(&s->w, .every_ms = HOUR_MS);
    const struct submission *once =
        SUBMIT(&s->w, .when = WHEN_AT, .when_ms = s->w.now_ms + HOUR_MS);
    world_turn(&s->w);
    for (size_t i = 0; i < 2; i++) {
        uint64_t id = i == 0 ? job->job_id : once->job_id;
        struct asked *asked = ask_about(&s->w, CMD_TRIGGER_JOB, id);
        asked->cmd.target.payload = STR("[5]");
        world_turn(&s->w);
        assert_int_equal(asked->cmd.reply.rc, i == 0 ? RC_OK : RC_CONFLICT);
        if (i > 0)
            continue;
        const struct exec_rec *rec = map_get(&s->w.table.live, asked->cmd.reply.exec_id);
        assert_true(rec->own_payload && str_eq(rec->payload, STR("[5]")));
    }
}

TEST(only_a_letter_can_be_retried_as_one)
{
    STAGE(s);
    const struct submission *job = SUBMIT(&s->w);
    world_turn(&s->w);
    assert_int_equal(about(s, CMD_RETRY_LETTER, job->exec_id)->cmd.reply.rc, RC_CONFLICT);
    end_next(s, OUTCOME_SUCCEEDED);
    world_turn(&s->w);
    assert_int_equal(about(s, CMD_RETRY_LETTER, job->exec_id)->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(about(s, CMD_DISCARD_LETTER, job->exec_id)->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(about(s, CMD_DISCARD_LETTER, 4711)->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(a_letter_whose_name_is_taken_stays_one)
{
    STAGE(s);
    uint64_t id = BURY(s, OUTCOME_FAILED, .name = "a");
    SUBMIT(&s->w, .name = "a");
    world_turn(&s->w);
    assert_int_equal(about(s, CMD_RETRY_LETTER, id)->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(letter(s, id));
}

TEST(a_slot_of_a_cancelled_job_cannot_be_run_again)
{
    STAGE(s);
    const struct submission *job = SUBMIT(&s->w, .every_ms = MINUTE_MS);
    world_turn(&s->w);
    world_pass(&s->w, MINUTE_MS);
    end_next(s, OUTCOME_FAILED);
    world_turn(&s->w);
    assert_int_equal(s->w.table.letters.len, 1);
    about(s, CMD_CANCEL_JOB, job->job_id);
    uint64_t id = 0;
    MAP_EACH(&s->w.table.letters, slot) id = slot->key;
    assert_int_equal(about(s, CMD_RETRY_LETTER, id)->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(letter(s, id));
}

TEST(discarding_and_running_again_in_one_turn_do_one_of_the_two)
{
    STAGE(s);
    uint64_t id = BURY(s, OUTCOME_FAILED, .name = "a");
    struct asked *discard = ask_about(&s->w, CMD_DISCARD_LETTER, id);
    struct asked *again = ask_about(&s->w, CMD_RETRY_LETTER, id);
    struct asked *anyway = ask_about(&s->w, CMD_RETRY_EXEC, id);
    world_turn(&s->w); /* which sees to it that the name is the runner's */
    assert_int_equal(discard->cmd.reply.rc, RC_OK);
    assert_int_equal(again->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(anyway->cmd.reply.rc, RC_OK);
    assert_null(letter(s, id));
}

TEST(a_discarded_letter_gives_its_name_back)
{
    STAGE(s);
    uint64_t id = BURY(s, OUTCOME_FAILED, .name = "a");
    ask_about(&s->w, CMD_DISCARD_LETTER, id);
    ask_about(&s->w, CMD_RETRY_LETTER, id);
    world_turn(&s->w);
    const struct submission *job = SUBMIT(&s->w, .name = "a");
    world_turn(&s->w);
    assert_int_equal(job->rc, RC_OK);
}

/* ---- many of them */

static struct asked *operate(struct stage *s, enum operation_kind kind, struct letter_filter filter)
{
    struct asked *asked = ask(&s->w, CMD_OPERATE);
    asked->cmd.operate.kind = kind;
    asked->cmd.operate.filter = filter;
    asked->cmd.operate.total = 7;
    world_turn(&s->w);
    return asked;
}

static const struct operation_rec *operation(const struct stage *s, const struct asked *asked)
{
    return map_get(&s->w.table.operations, asked->cmd.reply.operation_id);
}

TEST(an_operation_goes_on_step_by_step_and_over_a_restart)
{
    struct engine_options options = engine_defaults;
    options.operation_step_max = 2;
    STAGE_WITH(s, options);
    for (int i = 0; i < 5; i++)
        BURY(s, OUTCOME_FAILED, .queue = "mail");
    uint64_t other = BURY(s, OUTCOME_FAILED, .queue = "other");
    struct asked *asked = operate(s, OPERATION_RETRY, (struct letter_filter){.queue = STR("mail")});
    assert_int_equal(operation(s, asked)->total, 7);
    assert_int_equal(operation(s, asked)->state, OPERATION_RUNNING);
    assert_int_equal(operation(s, asked)->done, 0);
    assert_int_equal(world_wait_ms(&s->w), 0);
    world_turn(&s->w);
    assert_int_equal(operation(s, asked)->done, 2);
    world_restart(&s->w);
    world_turn(&s->w);
    assert_int_equal(operation(s, asked)->done, 4);
    world_turn(&s->w);
    assert_int_equal(operation(s, asked)->done, 5);
    assert_int_equal(operation(s, asked)->state, OPERATION_DONE);
    assert_int_equal(operation(s, asked)->finished_ms, s->w.now_ms);
    assert_int_equal(s->w.table.letters.len, 1);
    assert_non_null(letter(s, other));
    assert_int_equal(s->w.table.live.len, 5);
    assert_true(world_wait_ms(&s->w) > 0);
}

TEST(what_cannot_be_run_again_is_counted_and_stays)
{
    STAGE(s);
    BURY(s, OUTCOME_FAILED, .name = "a");
    BURY(s, OUTCOME_FAILED, .name = "a");
    uint64_t third = BURY(s, OUTCOME_FAILED);
    struct asked *asked = operate(s, OPERATION_RETRY, (struct letter_filter){0});
    world_turn(&s->w);
    const struct operation_rec *op = operation(s, asked);
    assert_int_equal(op->done, 2); /* whoever had the name first, and the one without */
    assert_int_equal(op->refused, 1);
    assert_true(str_starts(op->refusal, STR("the name 'a' is in use")));
    assert_int_equal(s->w.table.letters.len, 1);
    assert_null(letter(s, third));
}

TEST(what_dies_later_is_none_of_its_business)
{
    struct engine_options options = engine_defaults;
    options.operation_step_max = 1;
    STAGE_WITH(s, options);
    for (int i = 0; i < 8; i++)
        BURY(s, OUTCOME_FAILED);
    struct asked *asked = operate(s, OPERATION_DISCARD, (struct letter_filter){0});
    s->w.now_ms += 5;
    uint64_t later = BURY(s, OUTCOME_FAILED);
    while (operation(s, asked)->state == OPERATION_RUNNING)
        world_turn(&s->w);
    assert_int_equal(operation(s, asked)->done, 8);
    assert_int_equal(s->w.table.letters.len, 1);
    assert_non_null(letter(s, later));
}

TEST(a_full_server_makes_an_operation_wait)
{
    struct engine_options options = engine_defaults;
    options.live_max = 1;
    STAGE_WITH(s, options);
    BURY(s, OUTCOME_FAILED);
    BURY(s, OUTCOME_FAILED);
    struct asked *asked = operate(s, OPERATION_RETRY, (struct letter_filter){0});
    world_turn(&s->w);
    assert_int_equal(operation(s, asked)->done, 1);
    assert_int_equal(operation(s, asked)->refused, 0);
    assert_int_equal(operation(s, asked)->state, OPERATION_RUNNING);
    assert_int_equal(world_wait_ms(&s->w), 1000);
    end_next(s, OUTCOME_SUCCEEDED);
    world_pass(&s->w, 2000);
    world_pass(&s->w, 2000);
    assert_int_equal(operation(s, asked)->done, 2);
    assert_int_equal(operation(s, asked)->state, OPERATION_DONE);
}

TEST(an_operation_that_had_to_wait_has_its_turns_beside_others)
{
    struct engine_options options = engine_defaults;
    options.live_max = 1;
    options.operation_step_max = 1;
    STAGE_WITH(s, options);
    for (int i = 0; i < 2; i++)
        BURY(s, OUTCOME_FAILED, .queue = "few");
    for (int i = 0; i < 10; i++)
        BURY(s, OUTCOME_FAILED, .queue = "many");
    struct asked *few = operate(s, OPERATION_RETRY, (struct letter_filter){.queue = STR("few")});
    world_turn(&s->w);
    world_turn(&s->w);
    assert_int_equal(world_wait_ms(&s->w), 1000); /* there is no room for the second one */
    end_next(s, OUTCOME_SUCCEEDED);
    struct asked *many =
        operate(s, OPERATION_DISCARD, (struct letter_filter){.queue = STR("many")});
    world_wake(&s->w, 1000);
    for (int i = 0; i < 4; i++)
        world_turn(&s->w);
    assert_int_equal(operation(s, few)->state, OPERATION_DONE);
    assert_int_equal(operation(s, few)->done, 2);
    assert_int_equal(operation(s, many)->state, OPERATION_RUNNING);
}

TEST(what_an_operation_has_no_room_for_keeps_neither_name_nor_key)
{
    struct engine_options options = engine_defaults;
    options.live_max = 1;
    STAGE_WITH(s, options);
    BURY(s, OUTCOME_FAILED, .name = "first");
    BURY(s, OUTCOME_FAILED, .name = "second");
    BURY(s, OUTCOME_FAILED, .name = "third", .unique = "key");
    struct asked *asked = operate(s, OPERATION_RETRY, (struct letter_filter){0});
    world_turn(&s->w);
    assert_int_equal(operation(s, asked)->done, 1);
    assert_int_equal(s->w.table.claims[CLAIM_NAME].len, 1); /* of the first, which is queued */
    assert_int_equal(s->w.table.claims[CLAIM_UNIQUE].len, 0);
}

TEST(the_oldest_operation_that_is_done_makes_room)
{
    STAGE(s);
    struct asked *first = operate(s, OPERATION_DISCARD, (struct letter_filter){0});
    for (int i = 1; i < OPERATIONS_MAX; i++)
        operate(s, OPERATION_DISCARD, (struct letter_filter){0});
    world_turn(&s->w);
    assert_non_null(operation(s, first));
    struct asked *last = operate(s, OPERATION_DISCARD, (struct letter_filter){0});
    assert_int_equal(last->cmd.reply.rc, RC_OK);
    assert_null(operation(s, first));
    assert_int_equal(s->w.table.operations.len, OPERATIONS_MAX);
}

/* ---- what is too old */

TEST(letters_and_history_go_when_they_are_old_enough)
{
    struct engine_options options = engine_defaults;
    options.letters_keep_ms = HOUR_MS;
    options.history_keep_ms = 2 * HOUR_MS;
    options.retain_rows_max = 2;
    STAGE_WITH(s, options);
    uint64_t dead = BURY(s, OUTCOME_FAILED);
    uint64_t well[3];
    for (size_t i = 0; i < COUNT_OF(well); i++)
        well[i] = BURY(s, OUTCOME_SUCCEEDED);
    world_pass(&s->w, HOUR_MS);
    assert_non_null(letter(s, dead)); /* to the millisecond */
    world_pass(&s->w, HOUR_MS / 30);
    assert_null(letter(s, dead));
    assert_int_equal(s->w.table.history.len, 4);
    world_pass(&s->w, HOUR_MS);
    assert_int_equal(s->w.table.history.len, 2); /* a step at a time */
    assert_int_equal(world_wait_ms(&s->w), options.retain_pause_ms);
    world_pass(&s->w, options.retain_pause_ms);
    assert_int_equal(s->w.table.history.len, 0);
    assert_non_null(map_get(&s->w.table.forgotten, well[2]));
}

TEST(a_dead_letter_is_kept_with_its_history)
{
    struct engine_options options = engine_defaults;
    options.letters_keep_ms = 2 * HOUR_MS;
    options.history_keep_ms = HOUR_MS;
    STAGE_WITH(s, options);
    uint64_t dead = BURY(s, OUTCOME_FAILED);
    world_pass(&s->w, HOUR_MS + 1);
    world_pass(&s->w, HOUR_MS / 2);
    assert_non_null(letter(s, dead));
    assert_int_equal(state_of(&s->w, dead), EXEC_FAILED);
    world_pass(&s->w, HOUR_MS);
    world_pass(&s->w, HOUR_MS / 2);
    assert_null(letter(s, dead));
    assert_int_equal(state_of(&s->w, dead), EXEC_NONE);
}

TEST(what_began_long_ago_is_kept_from_its_end_on)
{
    struct engine_options options = engine_defaults;
    options.history_keep_ms = HOUR_MS;
    STAGE_WITH(s, options);
    const struct submission *job = SUBMIT(&s->w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS);
    world_turn(&s->w);
    for (int i = 0; i < 3; i++)
        world_pass(&s->w, HOUR_MS);
    s->f = HIRE(&s->w, .slots = 8); /* the first one was forgotten */
    end_next(s, OUTCOME_SUCCEEDED);
    world_turn(&s->w);
    world_pass(&s->w, HOUR_MS);
    assert_int_equal(state_of(&s->w, job->exec_id), EXEC_COMPLETED);
    world_pass(&s->w, HOUR_MS);
    assert_int_equal(state_of(&s->w, job->exec_id), EXEC_NONE);
}

TEST(alerts_go_when_they_are_old_unless_somebody_is_to_be_told)
{
    struct engine_options options = engine_defaults;
    options.alerts_keep_ms = HOUR_MS;
    options.alerts.quiet_ms = 1;
    options.retain_rows_max = 1;
    STAGE_WITH(s, options);
    for (size_t i = 0; i < 3; i++) {
        BURY(s, OUTCOME_FAILED);
        world_pass(&s->w, 1);
    }
    assert_int_equal(s->w.table.alerts.len, 3);
    uint64_t pending = s->w.table.alerts.items[0]->id;
    s->w.table.alerts.items[0]->state = ALERT_PENDING;
    world_pass(&s->w, HOUR_MS / 2);
    assert_int_equal(s->w.table.alerts.len, 3);
    world_pass(&s->w, HOUR_MS / 2 + HOUR_MS / 30);
    for (int i = 0; i < 3; i++)
        world_pass(&s->w, options.retain_pause_ms);
    assert_int_equal(s->w.table.alerts.len, 1);
    assert_int_equal(s->w.table.alerts.items[0]->id, pending);
    s->w.table.alerts.items[0]->state = ALERT_GIVEN_UP;
    world_pass(&s->w, HOUR_MS / 30);
    assert_int_equal(s->w.table.alerts.len, 0);
}

TEST(numbers_of_reports_go_by_their_hours)
{
    struct engine_options options = engine_defaults;
    options.tallies_keep_ms = 2 * HOUR_MS;
    options.retain_rows_max = 1;
    STAGE_WITH(s, options);
    BURY(s, OUTCOME_SUCCEEDED);
    size_t rows = s->w.table.tallies.len;
    int64_t hour = s->w.now_ms / HOUR_MS;
    assert_true(rows >= 2);
    while (s->w.now_ms - 2 * HOUR_MS < (hour + 1) * HOUR_MS) {
        assert_int_equal(s->w.table.tallies.len, rows);
        world_pass(&s->w, HOUR_MS / 2);
    }
    for (size_t i = 0; i < rows + 1; i++)
        world_pass(&s->w, HOUR_MS / 15);
    assert_int_equal(s->w.table.tallies.len, 0);
}

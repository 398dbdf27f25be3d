/* Jobs that wait for other jobs. Every turn here is also undone once (`world_turn`). */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#include <time.h>

#define ON(id_, type_) (&(struct dependency_wish){.job_id = (id_), .type = (type_)})

static struct asked *cancel(struct world *w, uint64_t job_id)
{
    struct asked *asked = ask_about(w, CMD_CANCEL_JOB, job_id);
    world_turn(w);
    return asked;
}

/* The only job that is ready runs, and ends so. */
static void run_out(struct world *w, struct fake *f, uint64_t exec_id, enum outcome outcome)
{
    struct poll_lease lease = fake_lease(w, f);
    assert_int_equal(lease.exec_id, exec_id);
    struct asked *asked = ask_report(w, f, &lease, outcome);
    world_turn(w);
    assert_true(was_accepted(asked));
}

static enum dependency_state edge_state(const struct world *w, uint64_t dependant,
                                        uint64_t upstream)
{
    const struct dependency_rec rec = {.upstream = upstream, .dependant = dependant};
    const struct dependency_rec *kept = strmap_get(&w->table.depends, depend_key(&rec));
    return kept == NULL ? 0 : kept->state;
}

static bool trail_says(const struct world *w, uint64_t exec_id, const char *text)
{
    const struct exec_rec *x = map_get(&w->table.history, exec_id);
    struct buf copy = BUF(1 << 16);
    buf_add(&copy, x->trail);
    buf_add_char(&copy, '\0');
    bool found = strstr(copy.ptr, text) != NULL;
    buf_free(&copy);
    return found;
}

TEST(a_dependant_is_ready_in_the_turn_in_which_its_upstream_ends)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *a = SUBMIT(&w);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    assert_int_equal(b->rc, RC_OK);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_BLOCKED);
    assert_int_equal(edge_state(&w, b->job_id, a->job_id), DEPENDENCY_WAITING);
    run_out(&w, &f, a->exec_id, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_QUEUED);
    assert_int_equal(edge_state(&w, b->job_id, a->job_id), DEPENDENCY_MET);
    run_out(&w, &f, b->exec_id, OUTCOME_SUCCEEDED);
    assert_int_equal(job_state_of(&w, b->job_id), JOB_COMPLETED);
}

TEST(each_type_waits_for_its_own_end)
{
    static const struct {
        enum outcome outcome;
        enum exec_state expected[3]; /* of success, failure, completion */
    } cases[] = {
        {OUTCOME_SUCCEEDED, {EXEC_QUEUED, EXEC_SKIPPED, EXEC_QUEUED}},
        {OUTCOME_FAILED, {EXEC_SKIPPED, EXEC_QUEUED, EXEC_QUEUED}},
        {OUTCOME_TIMEOUT, {EXEC_SKIPPED, EXEC_QUEUED, EXEC_QUEUED}},
        {OUTCOME_NONE, {EXEC_SKIPPED, EXEC_SKIPPED, EXEC_QUEUED}}, /* cancelled */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WORLD(w);
        struct fake f = HIRE(&w);
        const struct submission *a = SUBMIT(&w);
        world_turn(&w);
        const struct submission *dependants[3];
        for (size_t k = 0; k < 3; k++)
            dependants[k] =
                SUBMIT(&w, .after = ON(a->job_id, (enum dependency_type)(DEPENDS_SUCCESS + k)));
        world_turn(&w);
        if (cases[i].outcome == OUTCOME_NONE)
            cancel(&w, a->job_id);
        else
            run_out(&w, &f, a->exec_id, cases[i].outcome);
        for (size_t k = 0; k < 3; k++) /* and one that comes too late to wait */
            assert_int_equal(state_of(&w, dependants[k]->exec_id), cases[i].expected[k]);
        for (size_t k = 0; k < 3; k++)
            dependants[k] =
                SUBMIT(&w, .after = ON(a->job_id, (enum dependency_type)(DEPENDS_SUCCESS + k)));
        world_turn(&w);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(state_of(&w, dependants[k]->exec_id), cases[i].expected[k]);
    }
}

TEST(one_that_can_never_run_is_skipped_and_says_why)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    char id[ID_TEXT_MAX];
    const struct submission *a = SUBMIT(&w);
    const struct submission *other = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 5 * HOUR_MS);
    world_turn(&w);
    const struct dependency_wish both[] = {
        {.job_id = a->job_id, .type = DEPENDS_SUCCESS},
        {.job_id = other->job_id, .type = DEPENDS_SUCCESS},
    };
    const struct submission *b = SUBMIT(&w, .name = "b", .after = both, .after_count = 2);
    world_turn(&w);
    run_out(&w, &f, a->exec_id, OUTCOME_FAILED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_SKIPPED);
    assert_int_equal(job_state_of(&w, b->job_id), JOB_CANCELLED);
    id_format(id, ID_JOB, a->job_id);
    assert_true(trail_says(&w, b->exec_id, "waited for the success of"));
    assert_true(trail_says(&w, b->exec_id, id));
    assert_int_equal(edge_state(&w, b->job_id, a->job_id), DEPENDENCY_IMPOSSIBLE);
    assert_int_equal(edge_state(&w, b->job_id, other->job_id), DEPENDENCY_MOOT);
}

/* Skipped is neither a success nor a failure. */
TEST(a_skip_runs_down_the_whole_chain)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct dependency_wish on[] = {
        {.number = 0, .type = DEPENDS_SUCCESS},
        {.number = 1, .type = DEPENDS_SUCCESS},
        {.number = 2, .type = DEPENDS_FAILURE},
        {.number = 3, .type = DEPENDS_COMPLETION},
    };
    struct wish wishes[] = {
        {.name = "a"}, {.after = &on[0]}, {.after = &on[1]}, {.after = &on[2]}, {.after = &on[3]},
    };
    const struct submission *s = ask_submit_all(&w, wishes, COUNT_OF(wishes))->cmd.submit.items;
    world_turn(&w);
    run_out(&w, &f, s[0].exec_id, OUTCOME_FAILED);
    assert_int_equal(state_of(&w, s[1].exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, s[2].exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, s[3].exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, s[4].exec_id), EXEC_QUEUED);
}

TEST(it_waits_until_the_last_of_many_is_over)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *ups[3];
    struct dependency_wish on[3];
    for (size_t i = 0; i < 3; i++) {
        ups[i] = SUBMIT(&w);
        world_turn(&w);
        on[i] = (struct dependency_wish){.job_id = ups[i]->job_id, .type = DEPENDS_SUCCESS};
    }
    run_out(&w, &f, ups[0]->exec_id, OUTCOME_SUCCEEDED); /* met when it comes */
    const struct submission *b = SUBMIT(&w, .after = on, .after_count = 3);
    world_turn(&w);
    assert_int_equal(edge_state(&w, b->job_id, ups[0]->job_id), DEPENDENCY_MET);
    run_out(&w, &f, ups[1]->exec_id, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_BLOCKED);
    world_restart(&w);
    world_turn(&w);
    f = HIRE(&w);
    run_out(&w, &f, ups[2]->exec_id, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_QUEUED);
}

TEST(an_upstream_beyond_the_horizon_still_finds_its_dependants)
{
    WORLD(w);
    const struct submission *a = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 50 * HOUR_MS);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_COMPLETION));
    world_turn(&w);
    assert_null(exec_of(&w, a->exec_id));
    assert_int_equal(state_of(&w, b->exec_id), EXEC_BLOCKED);
    world_restart(&w);
    world_turn(&w);
    cancel(&w, a->job_id);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_QUEUED);
}

TEST(a_cancelled_upstream_is_over_only_when_its_run_is)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *a = SUBMIT(&w);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_COMPLETION));
    struct poll_lease lease = fake_start(&w, &f);
    cancel(&w, a->job_id);
    assert_int_equal(job_state_of(&w, a->job_id), JOB_CANCELLED);
    const struct submission *c = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_COMPLETION));
    world_turn(&w);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_BLOCKED);
    assert_int_equal(state_of(&w, c->exec_id), EXEC_BLOCKED);
    ask_report(&w, &f, &lease, OUTCOME_STOPPED);
    world_turn(&w);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&w, c->exec_id), EXEC_QUEUED);
}

TEST(a_failed_attempt_is_not_yet_a_failure)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *a = SUBMIT(&w, .retries = 1, .policy = RETRY_FIXED, .retry_ms = 1000);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_FAILURE));
    world_turn(&w);
    run_out(&w, &f, a->exec_id, OUTCOME_FAILED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_BLOCKED);
    world_pass(&w, 2000);
    run_out(&w, &f, a->exec_id, OUTCOME_FAILED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_QUEUED);
}

TEST(a_time_of_its_own_holds_a_dependant_too)
{
    WORLD(w);
    const struct submission *a = SUBMIT(&w);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 10 * HOUR_MS,
                                        .after = ON(a->job_id, DEPENDS_COMPLETION));
    world_turn(&w);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_BLOCKED);
    cancel(&w, a->job_id);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_SCHEDULED);
    assert_null(exec_of(&w, b->exec_id)); /* beyond the horizon, like any other */
    for (int i = 0; i < 20; i++)
        world_pass(&w, HOUR_MS / 2);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_QUEUED);
}

TEST(a_cancelled_dependant_waits_for_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *a = SUBMIT(&w);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_SUCCESS));
    const struct submission *c = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    cancel(&w, b->job_id);
    assert_int_equal(edge_state(&w, b->job_id, a->job_id), DEPENDENCY_MOOT);
    run_out(&w, &f, a->exec_id, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_CANCELLED);
    assert_int_equal(state_of(&w, c->exec_id), EXEC_QUEUED);
}

TEST(a_skipped_job_runs_when_somebody_asks_again)
{
    WORLD(w);
    const struct submission *a = SUBMIT(&w);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_BLOCKED);
    struct asked *early = ask_about(&w, CMD_TRIGGER_JOB, b->job_id);
    cancel(&w, a->job_id);
    assert_int_equal(early->cmd.reply.rc, RC_CONFLICT);
    struct asked *retry = ask_about(&w, CMD_RETRY_EXEC, b->exec_id);
    world_turn(&w);
    assert_int_equal(retry->cmd.reply.rc, RC_OK);
    assert_int_equal(retry->cmd.reply.exec_state, EXEC_QUEUED);
}

/* ---- batches */

TEST(jobs_of_a_batch_may_name_one_another_before_and_behind)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct dependency_wish last[] = {
        {.number = 1, .type = DEPENDS_SUCCESS},
        {.name = STR_INIT("extract"), .type = DEPENDS_SUCCESS},
    };
    struct dependency_wish middle = {.name = STR_INIT("extract"), .type = DEPENDS_SUCCESS};
    struct wish wishes[] = {
        {.name = "report", .after = last, .after_count = 2},
        {.name = "load", .after = &middle},
        {.name = "extract"},
    };
    const struct submission *s = ask_submit_all(&w, wishes, 3)->cmd.submit.items;
    world_turn(&w);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(s[i].rc, RC_OK);
    run_out(&w, &f, s[2].exec_id, OUTCOME_SUCCEEDED);
    run_out(&w, &f, s[1].exec_id, OUTCOME_SUCCEEDED);
    run_out(&w, &f, s[0].exec_id, OUTCOME_SUCCEEDED);
}

TEST(a_cycle_is_refused_and_named)
{
    WORLD(w);
    struct dependency_wish on[] = {
        {.number = 1, .type = DEPENDS_SUCCESS}, {.number = 2, .type = DEPENDS_SUCCESS},
        {.number = 0, .type = DEPENDS_SUCCESS}, {.number = 1, .type = DEPENDS_SUCCESS},
        {.number = 5, .type = DEPENDS_SUCCESS},
    };
    struct wish wishes[] = {
        {.name = "a", .after = &on[0]},
        {.after = &on[1]},
        {.name = "c", .after = &on[2]},
        {.after = &on[3]}, /* behind it */
        {.name = "fine"},
        {.after = &on[4]}, /* itself */
    };
    struct submission *s = ask_submit_all(&w, wishes, COUNT_OF(wishes))->cmd.submit.items;
    world_turn(&w);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(s[i].rc, RC_INVALID);
        assert_non_null(strstr(s[i].err->text, "cycle: 'a' waits for #1 waits for 'c' waits for"));
    }
    assert_int_equal(s[4].rc, RC_OK);
    assert_int_equal(s[5].rc, RC_INVALID);
    assert_non_null(strstr(s[5].err->text, "cycle: #5 waits for #5"));
    const struct submission *again = SUBMIT(&w, .name = "a"); /* its name was not kept */
    world_turn(&w);
    assert_int_equal(again->rc, RC_OK);
}

TEST(what_cannot_be_waited_for_is_refused)
{
    WORLD(w);
    const struct submission *a = SUBMIT(&w);
    world_turn(&w);
    const struct dependency_wish twice[] = {
        {.job_id = a->job_id, .type = DEPENDS_SUCCESS},
        {.job_id = a->job_id, .type = DEPENDS_FAILURE},
    };
    struct dependency_wish none = {.number = 7, .type = DEPENDS_SUCCESS};
    struct dependency_wish nobody = {.name = STR_INIT("x"), .type = DEPENDS_SUCCESS};
    struct dependency_wish refused = {.number = 4, .type = DEPENDS_SUCCESS};
    struct wish wishes[] = {
        {.after = ON(12345, DEPENDS_SUCCESS)},
        {.after = twice, .after_count = 2},
        {.after = &none},
        {.after = &nobody},
        {.every_ms = MINUTE_MS, .after = ON(12345, DEPENDS_SUCCESS)},
        {.after = &refused},
    };
    static const char *const words[] = {
        "there is no job",         "is there twice",  "#7 is not in this batch",
        "no job has the name 'x'", "there is no job", "#4 is not in this batch, or was refused",
    };
    struct submission *s = ask_submit_all(&w, wishes, COUNT_OF(wishes))->cmd.submit.items;
    world_turn(&w);
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        assert_int_equal(s[i].rc, RC_INVALID);
        assert_non_null(strstr(s[i].err->text, words[i]));
    }
    assert_int_equal(w.table.depends.len, 0);
}

TEST(more_than_the_server_may_hold_are_refused_as_busy)
{
    struct engine_options options = engine_defaults;
    options.edges_max = 1;
    WORLD_WITH(w, options);
    const struct submission *a = SUBMIT(&w);
    world_turn(&w);
    const struct submission *b = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_SUCCESS));
    const struct submission *c = SUBMIT(&w, .after = ON(a->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    assert_int_equal(b->rc, RC_OK);
    assert_int_equal(c->rc, RC_BUSY);
}

/* ---- many */

/* A turn without all the looking that a test usually does. */
static void plain_turn(struct world *w)
{
    w->delta = *world_decide(w);
    world_commit(w);
}

static int64_t cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* Runs so many by one worker, one after the other; what follows then is its for the asking. */
static void run_all(struct world *w, struct fake *f, size_t count)
{
    struct asked *asked = ask_poll(w, f, 1);
    plain_turn(w);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(asked->answers, 1);
        assert_int_equal(asked->cmd.reply.poll.lease_count, 1);
        struct poll_lease lease = asked->cmd.reply.poll.leases[0];
        asked_free(asked);
        asked = ask_poll(w, f, 1);
        add_result(asked, &lease, OUTCOME_SUCCEEDED);
        plain_turn(w);
        assert_true(w->delta.dependency_count <= 1);
    }
}

/* The last first, so that every one names one that comes behind it. */
static int64_t chain_us(size_t count, bool fails)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct wish *wishes = mem_new(count * sizeof *wishes);
    struct dependency_wish *on = mem_new(count * sizeof *on);
    for (size_t i = 0; i < count; i++) {
        on[i] = (struct dependency_wish){.number = i + 1, .type = DEPENDS_SUCCESS};
        wishes[i] = (struct wish){.after = i + 1 < count ? &on[i] : NULL};
    }
    const struct submission *s = ask_submit_all(&w, wishes, count)->cmd.submit.items;
    int64_t began_us = cpu_us();
    plain_turn(&w);
    if (fails) { /* all others are skipped in one turn */
        struct asked *asked = ask_about(&w, CMD_CANCEL_JOB, s[count - 1].job_id);
        plain_turn(&w);
        assert_int_equal(asked->cmd.reply.rc, RC_OK);
        assert_int_equal(w.delta.exec_count, count);
        assert_int_equal(w.table.live.len, 0);
    } else {
        run_all(&w, &f, count);
    }
    int64_t took_us = cpu_us() - began_us;
    assert_int_equal(w.table.history.len, count);
    world_check(&w);
    free(wishes);
    free(on);
    return took_us;
}

static int64_t fan_in_us(size_t count)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct wish *wishes = mem_new((count + 1) * sizeof *wishes);
    struct dependency_wish *on = mem_new(count * sizeof *on);
    for (size_t i = 0; i < count; i++)
        on[i] = (struct dependency_wish){.number = i, .type = DEPENDS_COMPLETION};
    wishes[count] = (struct wish){.after = on, .after_count = count, .priority = 999};
    const struct submission *s = ask_submit_all(&w, wishes, count + 1)->cmd.submit.items;
    int64_t began_us = cpu_us();
    plain_turn(&w);
    assert_int_equal(s[count].rc, RC_OK);
    run_all(&w, &f, count);
    assert_int_equal(state_of(&w, s[count].exec_id), EXEC_RUNNING);
    int64_t took_us = cpu_us() - began_us;
    free(wishes);
    free(on);
    return took_us;
}

/* Jobs without names that refer to one: all of them are refused. They are ten times as many as in
 * the other stories, so that memory which is touched for the first time counts alike in few and in
 * many. */
static int64_t names_in_vain_us(size_t count)
{
    WORLD(w);
    count *= 10;
    struct wish *wishes = mem_new(count * sizeof *wishes);
    struct dependency_wish on = {.name = STR("nobody"), .type = DEPENDS_SUCCESS};
    for (size_t i = 0; i < count; i++)
        wishes[i] = (struct wish){.after = &on};
    const struct submission *s = ask_submit_all(&w, wishes, count)->cmd.submit.items;
    int64_t began_us = cpu_us();
    plain_turn(&w);
    int64_t took_us = cpu_us() - began_us;
    assert_int_equal(s[count - 1].rc, RC_INVALID);
    free(wishes);
    return took_us;
}

static int64_t chain_that_runs_us(size_t count)
{
    return chain_us(count, false);
}

static int64_t chain_that_fails_us(size_t count)
{
    return chain_us(count, true);
}

static int64_t best_of_three_us(int64_t (*story_us)(size_t), size_t count)
{
    int64_t best_us = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        int64_t took_us = story_us(count);
        best_us = took_us < best_us ? took_us : best_us;
    }
    return best_us;
}

/* What is quadratic takes 16 times as long for 4 times as many. */
static void assert_linear(const char *name, int64_t (*story_us)(size_t))
{
    int64_t few_us = best_of_three_us(story_us, 2500);
    int64_t many_us = best_of_three_us(story_us, 10000);
    print_message("%s: 2,500 in %" PRId64 " us, 10,000 in %" PRId64 " us\n", name, few_us, many_us);
    assert_true(many_us < 9 * few_us);
}

TEST(chains_and_fans_of_ten_thousand_cost_no_more_than_their_length)
{
    assert_linear("a chain that runs", chain_that_runs_us);
    assert_linear("a chain that is skipped", chain_that_fails_us);
    assert_linear("a fan-in", fan_in_us);
    assert_linear("names that nobody has", names_in_vain_us);
}

#include "engine/ready/limit.h"
#include "engine/test/crew.h"
#include "engine/test/duo.h"
#include "engine/test/jobs.h"
#include "engine/test/limits.h"

#define FAR_KEY key_at(LIMIT_CONCURRENCY, 0, 0) /* for what runs with b */

static size_t running(const struct world *w)
{
    size_t count = 0;
    MAP_EACH(&w->table.live, slot)
    count += exec_is_leased(((const struct exec_rec *)slot->value)->state);
    return count;
}

static void settle(struct duo *d, struct crew *a, struct crew *b)
{
    for (int i = 0; i < 3; i++) {
        if (a != NULL)
            crew_poll(&d->a, a);
        if (b != NULL)
            crew_poll(&d->b, b);
        duo_settle(d);
    }
    if (a != NULL)
        crew_take(a);
    if (b != NULL)
        crew_take(b);
}

TEST(a_limit_elsewhere_is_asked_before_a_start)
{
    DUO(d);
    struct crew crew = crew_hire(&d.b, 4);
    const struct submission *one = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    const struct submission *two = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    world_turn(&d.b);
    assert_int_equal(d.box.rows.len, 0); /* nobody could run them */
    crew_poll(&d.b, &crew);
    world_turn(&d.b);
    assert_int_equal(duo_mail(&d, INBOX_ASK), 1); /* for one: the other could not be granted */
    assert_int_equal(running(&d.b), 0);
    mail_turn(&d.a);
    assert_int_equal(d.a.table.permits.len, 1);
    mail_turn(&d.b);
    assert_int_equal(state_of(&d.b, one->exec_id), EXEC_RUNNING);
    assert_int_equal(state_of(&d.b, two->exec_id), EXEC_QUEUED);
    settle(&d, NULL, &crew);
    assert_int_equal(running(&d.b), 1);
    crew_end(&d.b, &crew, 0, OUTCOME_SUCCEEDED);
    assert_int_equal(duo_mail(&d, INBOX_FREE), 1); /* in the commit of the end */
    settle(&d, NULL, &crew);
    assert_int_equal(state_of(&d.b, two->exec_id), EXEC_RUNNING);
    crew_end(&d.b, &crew, 0, OUTCOME_SUCCEEDED);
    settle(&d, NULL, &crew);
    assert_int_equal(d.a.table.permits.len, 0);
}

static const struct blocker *first_blocker(struct world *w, uint64_t exec_id)
{
    struct asked *why = ask_about(w, CMD_EXPLAIN_EXEC, exec_id);
    world_turn(w);
    assert_true(why->cmd.reply.explanation->blocker_count > 0);
    return &why->cmd.reply.explanation->blockers[0];
}

TEST(explain_names_the_key_and_its_home)
{
    DUO(d);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 4);
    SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, NULL);
    const struct submission *item = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    settle(&d, NULL, &b);
    const struct blocker *blocker = first_blocker(&d.b, item->exec_id);
    assert_int_equal(blocker->kind, BLOCKER_PERMIT);
    assert_true(str_eq(blocker->key, str_c(FAR_KEY)));
    assert_non_null(strstr(blocker->text.ptr, "whose home is partition 0"));
}

TEST(a_key_at_home_needs_no_message)
{
    DUO(d);
    struct crew crew = crew_hire(&d.a, 4);
    SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &crew, NULL);
    assert_int_equal(running(&d.a), 1);
    assert_int_equal(d.box.numbers, 0);
    assert_int_equal(d.a.table.permits.len, 0);
}

TEST(both_count_together)
{
    DUO(d);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 4);
    for (int i = 0; i < 3; i++) {
        SUBMIT(&d.a, .key = FAR_KEY, .limit = 2);
        SUBMIT(&d.b, .key = FAR_KEY, .limit = 2);
    }
    settle(&d, &a, &b);
    assert_int_equal(running(&d.a) + running(&d.b), 2);
    for (int left = 6; left > 0; left--) {
        bool of_a = a.fake.held_count > 0;
        crew_end(of_a ? &d.a : &d.b, of_a ? &a : &b, 0, OUTCOME_SUCCEEDED);
        settle(&d, &a, &b);
        assert_int_equal(running(&d.a) + running(&d.b), left - 1 < 2 ? left - 1 : 2);
    }
    assert_int_equal(d.a.table.permits.len, 0);
}

TEST(who_waits_longest_is_next_wherever_it_is)
{
    DUO(d);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 4);
    SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    const struct submission *first = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    d.a.now_ms += 1000;
    d.b.now_ms += 1000;
    const struct submission *second = SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    crew_end(&d.a, &a, 0, OUTCOME_SUCCEEDED);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.b, first->exec_id), EXEC_RUNNING);
    assert_int_equal(state_of(&d.a, second->exec_id), EXEC_QUEUED);
    crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.a, second->exec_id), EXEC_RUNNING);
}

TEST(work_that_another_limit_holds_back_is_not_before_others)
{
    DUO(d);
    const char *queue = key_at(LIMIT_QUEUE, 0, 0);
    limit_queue(&d.a, queue, 1);
    limit_queue(&d.b, queue, 1);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 4);
    SUBMIT(&d.a, .queue = queue);
    SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    SUBMIT(&d.a, .queue = queue, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    duo_pass(&d, 1000);
    const struct submission *next = SUBMIT(&d.b, .queue = queue);
    settle(&d, &a, &b);
    duo_pass(&d, 1000);
    const struct submission *last = SUBMIT(&d.a, .queue = queue);
    settle(&d, &a, &b);
    struct crew idle = crew_hire(&d.a, 1);
    crew_poll(&d.a, &idle);
    world_turn(&d.a);
    crew_end(&d.a, &a, 0, OUTCOME_SUCCEEDED);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.b, next->exec_id), EXEC_RUNNING);
    assert_int_equal(state_of(&d.a, last->exec_id), EXEC_QUEUED);
}

TEST(a_request_that_bears_few_is_not_in_the_way_of_one_that_bears_more)
{
    DUO(d);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 4);
    SUBMIT(&d.a, .key = FAR_KEY, .limit = 3);
    settle(&d, &a, &b);
    const struct submission *strict = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    const struct submission *lax = SUBMIT(&d.b, .key = FAR_KEY, .limit = 3);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.b, strict->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&d.b, lax->exec_id), EXEC_RUNNING);
    crew_end(&d.a, &a, 0, OUTCOME_SUCCEEDED);
    crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.b, strict->exec_id), EXEC_RUNNING);
}

TEST(a_home_that_starts_anew_grants_nothing_twice)
{
    DUO(d);
    struct crew b = crew_hire(&d.b, 4);
    SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    settle(&d, NULL, &b);
    world_restart(&d.a);
    struct crew a = crew_hire(&d.a, 4);
    const struct submission *other = SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.a, other->exec_id), EXEC_QUEUED);
    crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.a, other->exec_id), EXEC_RUNNING);
}

TEST(a_server_that_starts_anew_still_gives_back)
{
    DUO(d);
    struct crew b = crew_hire(&d.b, 4);
    SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    settle(&d, NULL, &b);
    world_restart(&d.b);
    b.poll = NULL;
    assert_int_equal(b.fake.held_count, 1);
    crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    duo_settle(&d);
    assert_int_equal(d.a.table.permits.len, 0);
}

TEST(a_grant_that_nobody_waits_for_goes_back)
{
    DUO(d);
    struct crew b = crew_hire(&d.b, 4);
    const struct submission *item = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    crew_poll(&d.b, &b);
    world_turn(&d.b);
    mail_turn(&d.a); /* grants it */
    world_restart(&d.b);
    mail_turn(&d.b);
    assert_int_equal(duo_mail(&d, INBOX_FREE), 1);
    duo_settle(&d);
    assert_int_equal(d.a.table.permits.len, 0);
    assert_int_equal(state_of(&d.b, item->exec_id), EXEC_QUEUED);
}

TEST(a_grant_of_an_older_request_counts_for_nothing)
{
    DUO(d);
    struct crew b = crew_hire(&d.b, 4);
    const struct submission *item = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    crew_poll(&d.b, &b);
    world_turn(&d.b);
    mail_turn(&d.a);
    struct inbox_rec old = d.box.rows.items[0]; /* the grant */
    assert_int_equal(old.kind, INBOX_GRANT);
    settle(&d, NULL, &b);
    crew_end(&d.b, &b, 0, OUTCOME_RETURNED);
    settle(&d, NULL, NULL);
    SUBMIT(&d.a, .key = FAR_KEY, .limit = 1, .priority = 999);
    struct crew a = crew_hire(&d.a, 4);
    settle(&d, &a, NULL);
    assert_int_equal(running(&d.a), 1);
    settle(&d, NULL, &b);
    assert_int_equal(state_of(&d.b, item->exec_id), EXEC_QUEUED);
    post_put(&d.box, &old);
    settle(&d, NULL, &b);
    assert_int_equal(running(&d.b), 0);
}

TEST(what_is_cancelled_while_it_waits_withdraws)
{
    DUO(d);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 4);
    SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, NULL);
    const struct submission *item = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    settle(&d, NULL, &b);
    assert_int_equal(d.a.table.permits.len, 1);
    ask_about(&d.b, CMD_CANCEL_JOB, item->job_id);
    duo_settle(&d);
    assert_int_equal(d.a.table.permits.len, 0);
}

TEST(what_no_worker_takes_goes_back_after_a_while)
{
    DUO(d);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 1);
    const struct submission *item = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    crew_poll(&d.b, &b);
    world_turn(&d.b);
    SUBMIT(&d.b); /* the worker has something else to do meanwhile */
    world_turn(&d.b);
    settle(&d, NULL, &b);
    assert_int_equal(d.a.table.permits.len, 1);
    const struct submission *other = SUBMIT(&d.a, .key = FAR_KEY, .limit = 1);
    settle(&d, &a, &b);
    assert_int_equal(state_of(&d.a, other->exec_id), EXEC_QUEUED);
    for (int i = 0; i < 3; i++) {
        d.a.now_ms += 5000;
        d.b.now_ms += 5000;
        settle(&d, &a, &b);
    }
    assert_int_equal(state_of(&d.a, other->exec_id), EXEC_RUNNING);
    assert_int_equal(state_of(&d.b, item->exec_id), EXEC_QUEUED);
}

TEST(a_rate_is_kept_over_both)
{
    DUO(d);
    const char *key = key_at(LIMIT_RATE, 0, 0);
    struct crew a = crew_hire(&d.a, 9);
    struct crew b = crew_hire(&d.b, 9);
    for (int i = 0; i < 3; i++) {
        SUBMIT(&d.a, .rate = key, .starts = 1, .per_ms = 10000);
        SUBMIT(&d.b, .rate = key, .starts = 1, .per_ms = 10000);
    }
    settle(&d, &a, &b);
    assert_int_equal(running(&d.a) + running(&d.b), 1);
    for (size_t i = 2; i <= 6; i++) {
        d.a.now_ms += 9000;
        d.b.now_ms += 9000;
        settle(&d, &a, &b);
        assert_int_equal(running(&d.a) + running(&d.b), i - 1);
        d.a.now_ms += 1000;
        d.b.now_ms += 1000;
        settle(&d, &a, &b);
        assert_int_equal(running(&d.a) + running(&d.b), i);
        if (i == 4)
            world_restart(&d.a), a.poll = NULL;
    }
    assert_int_equal(d.a.table.permits.len, 0);
    assert_int_equal(running(&d.b), 3);
}

/* Its home grants one permit, and what has it must start although the queue counts as full. */
TEST(a_full_queue_lets_start_what_has_its_permit)
{
    DUO(d);
    const char *queue = key_at(LIMIT_QUEUE, 0, 0);
    struct crew a = crew_hire(&d.a, 4);
    struct crew b = crew_hire(&d.b, 4);
    limit_queue(&d.a, queue, 1);
    limit_queue(&d.b, queue, 1);
    for (int i = 0; i < 3; i++)
        SUBMIT(&d.b, .queue = queue);
    for (int left = 3; left > 0; left--) {
        settle(&d, &a, &b);
        assert_int_equal(running(&d.b), 1);
        crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    }
    settle(&d, &a, &b);
    assert_int_equal(d.a.table.permits.len, 0);
}

/* Granted, but nobody is there to run it. */
static const struct submission *wait_with_permit(struct duo *d, const char *queue)
{
    struct crew b = crew_hire(&d->b, 1);
    limit_queue(&d->a, queue, 1);
    limit_queue(&d->b, queue, 1);
    const struct submission *item = SUBMIT(&d->b, .queue = queue);
    crew_poll(&d->b, &b);
    world_turn(&d->b); /* asks */
    ask_about(&d->b, CMD_DRAIN, b.fake.id);
    world_turn(&d->b); /* so that nobody takes it */
    duo_settle(d);
    assert_int_equal(d->a.table.permits.len, 1);
    assert_int_equal(state_of(&d->b, item->exec_id), EXEC_QUEUED);
    return item;
}

TEST(explain_tells_permits_from_runs)
{
    DUO(d);
    const char *queue = key_at(LIMIT_QUEUE, 0, 0);
    wait_with_permit(&d, queue);
    const struct submission *behind = SUBMIT(&d.b, .queue = queue);
    world_turn(&d.b);
    const struct blocker *blocker = first_blocker(&d.b, behind->exec_id);
    assert_int_equal(blocker->kind, BLOCKER_QUEUE_FULL);
    assert_int_equal(blocker->exec_count, 0);
    assert_non_null(
        strstr(blocker->text.ptr, "is at 1 of 1, 1 of that as a permit between servers"));
}

TEST(a_pause_holds_back_what_has_its_permit)
{
    DUO(d);
    const char *queue = key_at(LIMIT_QUEUE, 0, 0);
    const struct submission *item = wait_with_permit(&d, queue);
    pause_queue(&d.b, queue, true);
    struct crew b = crew_hire(&d.b, 1);
    settle(&d, NULL, &b);
    assert_int_equal(state_of(&d.b, item->exec_id), EXEC_QUEUED);
    assert_int_equal(first_blocker(&d.b, item->exec_id)->kind, BLOCKER_QUEUE_PAUSED);
    pause_queue(&d.b, queue, false);
    settle(&d, NULL, &b);
    assert_int_equal(state_of(&d.b, item->exec_id), EXEC_RUNNING);
}

TEST(queues_and_teams_have_homes_too)
{
    DUO(d);
    const char *queue = key_at(LIMIT_QUEUE, 0, 0);
    const char *team = key_at(LIMIT_TEAM, 1, 0);
    limit_queue(&d.a, queue, 3);
    limit_queue(&d.b, queue, 3);
    limit_team(&d.a, team, 2);
    limit_team(&d.b, team, 2);
    struct crew a = crew_hire(&d.a, 9);
    struct crew b = crew_hire(&d.b, 9);
    for (int i = 0; i < 4; i++) {
        SUBMIT(&d.a, .queue = queue, .team = team);
        SUBMIT(&d.b, .queue = queue, .team = team);
    }
    settle(&d, &a, &b);
    for (int i = 0; i < 10; i++) { /* the queue's permits that wait for the team's go back */
        d.a.now_ms += 5000;
        d.b.now_ms += 5000;
        settle(&d, &a, &b);
    }
    assert_int_equal(running(&d.a) + running(&d.b), 2);
    limit_team(&d.b, team, 0);
    limit_team(&d.a, team, 0);
    for (int i = 0; i < 5; i++) {
        d.a.now_ms += 5000;
        d.b.now_ms += 5000;
        settle(&d, &a, &b);
    }
    assert_int_equal(running(&d.a) + running(&d.b), 3);
}

TEST(what_runs_already_counts_when_a_limit_comes)
{
    DUO(d);
    const char *queue = key_at(LIMIT_QUEUE, 0, 0);
    const char *team = key_at(LIMIT_TEAM, 0, 0);
    struct crew a = crew_hire(&d.a, 9);
    struct crew b = crew_hire(&d.b, 9);
    SUBMIT(&d.b, .queue = queue);
    SUBMIT(&d.b, .team = team);
    settle(&d, NULL, &b);
    limit_queue(&d.a, queue, 1);
    limit_queue(&d.b, queue, 1);
    limit_team(&d.a, team, 1);
    limit_team(&d.b, team, 1);
    settle(&d, NULL, &b);
    assert_int_equal(d.a.table.permits.len, 2);
    SUBMIT(&d.a, .queue = queue);
    SUBMIT(&d.a, .team = team);
    settle(&d, &a, &b);
    assert_int_equal(running(&d.a), 0);
    crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    settle(&d, &a, &b);
    assert_int_equal(running(&d.a), 2);
}

/* What a owns has the home of one, and needs the other; and the other way round. */
TEST(two_that_wait_for_one_another_both_get_through)
{
    DUO(d);
    const char *key = key_at(LIMIT_CONCURRENCY, 0, 0);
    const char *team = key_at(LIMIT_TEAM, 1, 0);
    limit_team(&d.a, team, 1);
    limit_team(&d.b, team, 1);
    struct crew a = crew_hire(&d.a, 9);
    struct crew b = crew_hire(&d.b, 9);
    SUBMIT(&d.a, .key = key, .limit = 1, .team = team);
    SUBMIT(&d.b, .key = key, .limit = 1, .team = team);
    crew_poll(&d.a, &a);
    crew_poll(&d.b, &b);
    world_turn(&d.a);
    world_turn(&d.b);
    size_t done = 0;
    for (int i = 0; i < 40 && done < 2; i++) {
        settle(&d, &a, &b);
        assert_true(running(&d.a) + running(&d.b) <= 1);
        if (a.fake.held_count + b.fake.held_count > 0) {
            bool of_a = a.fake.held_count > 0;
            crew_end(of_a ? &d.a : &d.b, of_a ? &a : &b, 0, OUTCOME_SUCCEEDED);
            done++;
        }
        d.a.now_ms += 3000;
        d.b.now_ms += 3000;
    }
    assert_int_equal(done, 2);
    duo_settle(&d);
    assert_int_equal(d.a.table.permits.len + d.b.table.permits.len, 0);
}

TEST(an_edit_takes_its_permit_along)
{
    DUO(d);
    struct crew b = crew_hire(&d.b, 4);
    const struct submission *job = SUBMIT(&d.b, .key = FAR_KEY, .limit = 1);
    settle(&d, NULL, &b);
    assert_int_equal(running(&d.b), 1);
    const struct submission *wish = SUBMIT(&d.b, .key = key_at(LIMIT_CONCURRENCY, 0, 1), .limit = 1,
                                           .when = WHEN_AT, .when_ms = d.b.now_ms + 9 * HOUR_MS);
    world_turn(&d.b);
    struct asked *edit = ask(&d.b, CMD_EDIT_JOB);
    struct submission *item = ARENA_NEW(&edit->arena, struct submission);
    *item = *wish;
    edit->cmd.edit.id = job->job_id;
    edit->cmd.edit.version = 1;
    edit->cmd.edit.item = item;
    world_turn(&d.b);
    assert_int_equal(edit->cmd.reply.rc, RC_OK);
    duo_settle(&d);
    assert_int_equal(d.a.table.permits.len, 1);
    for (size_t i = 0; i < d.a.table.permits.cap; i++) {
        const struct permit_rec *rec = d.a.table.permits.slots[i].value;
        assert_true(rec == NULL ||
                    (rec->granted &&
                     str_eq(str_from(rec->key, 1), str_c(key_at(LIMIT_CONCURRENCY, 0, 1)))));
    }
    crew_take(&b);
    crew_end(&d.b, &b, 0, OUTCOME_SUCCEEDED);
    duo_settle(&d);
    assert_int_equal(d.a.table.permits.len, 0);
}

TEST(one_who_owns_both_leaves_a_row_for_when_they_part)
{
    struct post_box box = {0};
    struct engine_options options = engine_defaults;
    options.mail_ms = 1000;
    CLEANUP(world_free) struct world w;
    world_init_part(&w, &options, partition_all(2));
    w.table.box = &box;
    struct crew crew = crew_hire(&w, 20);
    for (int i = 0; i < 20; i++)
        SUBMIT(&w, .queue = "q"); /* anywhere */
    limit_queue(&w, "q", 10);
    for (int i = 0; i < 3; i++) {
        crew_poll(&w, &crew);
        world_turn(&w);
    }
    crew_take(&crew);
    assert_int_equal(running(&w), 10);
    size_t apart = 0;
    uint32_t home = partition_of_bucket(2, inbox_home(STR("4q")));
    MAP_EACH(&w.table.live, slot)
    {
        const struct exec_rec *x = slot->value;
        apart += exec_is_leased(x->state) && partition_of(2, x->id) != home;
    }
    assert_int_equal(w.table.permits.len, apart);
    assert_int_equal(box.numbers, 0);
    world_restart(&w);
    crew.poll = NULL;
    world_turn(&w);
    while (crew.fake.held_count > 0)
        crew_end(&w, &crew, 0, OUTCOME_SUCCEEDED);
    assert_int_equal(w.table.permits.len, 0);
    arena_free(&box.arena);
}

/* a dies with a request of b's in its books; whoever takes both finds nothing to grant there. */
TEST(rows_that_hold_nothing_go_when_partitions_meet)
{
    struct post_box box = {0};
    struct engine_options options = engine_defaults;
    options.mail_ms = 1000;
    CLEANUP(world_free) struct world w;
    world_init_part(&w, &options, partition_all(2));
    w.table.box = &box;
    const struct submission *item = SUBMIT(&w, .queue = "q");
    world_turn(&w);
    table_keep_permit(&w.table, &(struct permit_change){.permit = {.key = STR("4q"),
                                                                   .exec_id = item->exec_id,
                                                                   .bucket = inbox_home(STR("4q")),
                                                                   .granted = true}});
    world_restart(&w);
    world_turn(&w);
    assert_int_equal(w.table.permits.len, 0);
    arena_free(&box.arena);
}

TEST(a_job_with_a_key_is_made_where_its_home_is)
{
    struct post_box box = {0};
    struct engine_options options = engine_defaults;
    CLEANUP(world_free) struct world w;
    world_init_part(&w, &options, partition_all(2));
    w.table.box = &box;
    for (uint32_t home = 0; home < 2; home++) {
        for (int i = 0; i < 10; i++) {
            const struct submission *item =
                SUBMIT(&w, .key = key_at(LIMIT_CONCURRENCY, home, 0), .limit = 1);
            world_turn(&w);
            assert_int_equal(partition_of(2, item->job_id), home);
        }
    }
    arena_free(&box.arena);
}

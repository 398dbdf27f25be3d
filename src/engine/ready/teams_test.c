/* Limits over all jobs of a team. */
#include "engine/test/explain.h"

static struct asked *ask_team(struct world *w, const char *name, uint32_t concurrency)
{
    struct asked *asked = ask(w, CMD_TEAM);
    asked->cmd.team = (struct team_wish){
        .name = str_c(name), .set_concurrency = true, .concurrency = concurrency};
    return asked;
}

static struct asked *look_at(struct world *w, const char *name)
{
    struct asked *asked = ask(w, CMD_TEAM);
    asked->cmd.team = (struct team_wish){.name = str_c(name)};
    return asked;
}

/* Polls with so many free slots, takes what comes, and says how much that was. */
static size_t take(struct world *w, struct fake *f, uint32_t free)
{
    struct asked *asked = ask_poll(w, f, free);
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    fake_take(f, asked);
    return asked->cmd.reply.poll.lease_count;
}

/* Reports success of the first lease that the fake holds. Takes a turn. */
static void finish_first(struct world *w, struct fake *f)
{
    struct poll_lease lease = {.exec_id = f->held[0].exec_id, .token = f->held[0].token};
    struct asked *asked = ask_report(w, f, &lease, OUTCOME_SUCCEEDED);
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    assert_true(was_accepted(asked));
}

TEST(a_team_runs_no_more_at_once_than_its_limit_in_any_queue)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8, .handlers = "x");
    ask_team(&w, "data", 2);
    SUBMIT(&w, .team = "data", .queue = "a");
    SUBMIT(&w, .team = "data", .queue = "b", .handler = "x");
    SUBMIT(&w, .team = "data", .queue = "a", .key = "k", .limit = 5);
    const struct submission *other = SUBMIT(&w, .team = "web", .queue = "a");
    const struct submission *nobodys = SUBMIT(&w, .queue = "a");
    assert_int_equal(take(&w, &f, 8), 4);
    assert_int_equal(state_of(&w, other->exec_id), EXEC_RUNNING);
    assert_int_equal(state_of(&w, nobodys->exec_id), EXEC_RUNNING);
    finish_first(&w, &f);
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(a_team_without_a_limit_runs_what_it_has)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    for (size_t i = 0; i < 5; i++)
        SUBMIT(&w, .team = "data");
    assert_int_equal(take(&w, &f, 8), 5);
}

TEST(a_lifted_limit_wakes_a_worker_that_waits)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    struct fake g = HIRE(&w, .slots = 4);
    ask_team(&w, "data", 1);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w, .team = "data");
    assert_int_equal(take(&w, &f, 4), 1);
    struct asked *poll = ask_poll(&w, &g, 4);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    ask_team(&w, "data", 0);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 2);
}

TEST(a_limit_below_what_runs_waits_for_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    for (size_t i = 0; i < 4; i++)
        SUBMIT(&w, .team = "data");
    assert_int_equal(take(&w, &f, 3), 3);
    ask_team(&w, "data", 1);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(take(&w, &f, 8), 0);
        finish_first(&w, &f);
    }
    assert_int_equal(take(&w, &f, 8), 1);
}

TEST(what_is_stopping_still_counts_for_its_team)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    ask_team(&w, "data", 1);
    const struct submission *first = SUBMIT(&w, .team = "data");
    SUBMIT(&w, .team = "data");
    assert_int_equal(take(&w, &f, 8), 1);
    ask_about(&w, CMD_CANCEL_EXEC, first->exec_id);
    world_turn(&w);
    assert_int_equal(take(&w, &f, 8), 0);
}

TEST(a_limit_is_the_same_after_a_restart_and_says_whose_it_is)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    int64_t then_ms = w.now_ms;
    ask_team(&w, "data", 2);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w, .team = "data");
    assert_int_equal(take(&w, &f, 8), 2);
    world_restart(&w);
    struct asked *look = look_at(&w, "data");
    world_turn(&w);
    assert_int_equal(look->cmd.reply.teams[0].running, 2);
    assert_int_equal(look->cmd.reply.teams[0].team.concurrency, 2);
    assert_int_equal(look->cmd.reply.teams[0].team.changed_ms, then_ms);
    assert_true(str_eq(look->cmd.reply.teams[0].team.changed_by, STR("key:admin")));
    f.seq = 0;
    assert_int_equal(take(&w, &f, 8), 0);
}

/* The database has gone back, and this server has lost nothing that it kept itself. */
TEST(a_limit_that_the_store_has_forgotten_holds_nothing_back)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    ask_team(&w, "data", 1);
    ask_team(&w, "idle", 1);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w, .team = "data");
    assert_int_equal(take(&w, &f, 8), 1);
    strmap_remove(&w.table.teams, STR("data"));
    strmap_remove(&w.table.teams, STR("idle"));
    engine_settings_begin(w.engine);
    engine_settings_end(w.engine);
    assert_int_equal(take(&w, &f, 7), 2);
    struct asked *idle = look_at(&w, "idle");
    world_turn(&w);
    assert_int_equal(idle->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(teams_are_listed_by_name_while_they_have_jobs_or_a_limit)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    ask_team(&w, "web", 3);
    SUBMIT(&w, .team = "data");
    SUBMIT(&w, .team = "ops");
    world_turn(&w);
    struct asked *all = ask(&w, CMD_TEAMS);
    world_turn(&w);
    assert_int_equal(all->cmd.reply.team_count, 3);
    assert_true(str_eq(all->cmd.reply.teams[0].team.name, STR("data")));
    assert_true(str_eq(all->cmd.reply.teams[2].team.name, STR("web")));
    assert_int_equal(take(&w, &f, 8), 2);
    finish_first(&w, &f);
    f.held[0] = f.held[1];
    finish_first(&w, &f);
    all = ask(&w, CMD_TEAMS);
    world_turn(&w);
    assert_int_equal(all->cmd.reply.team_count, 1);
}

TEST(a_team_that_nobody_knows_is_not_there)
{
    WORLD(w);
    struct asked *look = look_at(&w, "nobody");
    struct asked *lift = ask_team(&w, "nobody", 0);
    world_turn(&w);
    assert_int_equal(look->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(lift->cmd.reply.rc, RC_NOT_FOUND);
    assert_true(delta_is_empty(&w.delta));
}

TEST(a_full_team_names_who_fills_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 9);
    ask_team(&w, "data", 1);
    const struct submission *first = SUBMIT(&w, .team = "data", .queue = "a");
    fake_start(&w, &f);
    const struct submission *job = SUBMIT(&w, .team = "data", .queue = "b");
    ask_poll(&w, &f, 8);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_TEAM_LIMIT);
    assert_true(str_eq(b->team, STR("data")));
    assert_int_equal(b->used, 1);
    assert_int_equal(b->limit, 1);
    assert_int_equal(b->exec_count, 1);
    assert_int_equal(b->execs[0], first->exec_id);
    assert_says(b->text, "the limit of team 'data' is at 1 of 1, held by exec_");
}

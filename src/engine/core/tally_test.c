/* Numbers for reports: what ended in a turn, added up. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static uint64_t count_of(const struct world *w, enum tally_scope scope, const char *key,
                         enum exec_state end)
{
    uint64_t count = 0;
    for (size_t i = 0; i < w->delta.tally_count; i++) {
        const struct tally *row = &w->delta.tallies[i];
        if (row->scope == scope && row->end == end && str_eq(row->key, str_c(key)))
            count += row->count;
    }
    return count;
}

/* Starts so many and reports all of them in one turn. */
static void run(struct world *w, struct fake *f, unsigned count, enum outcome outcome)
{
    for (unsigned i = 0; i < count; i++)
        SUBMIT(w, .queue = "mail");
    struct asked *poll = ask_poll(w, f, count);
    world_turn(w);
    fake_take(f, poll);
    struct asked *report = ask_poll(w, f, 0);
    for (size_t i = 0; i < poll->cmd.reply.poll.lease_count; i++) {
        add_result(report, &poll->cmd.reply.poll.leases[i], outcome);
        fake_drop(f, poll->cmd.reply.poll.leases[i].exec_id);
    }
    world_turn(w);
}

TEST(the_ends_of_a_turn_are_a_row_for_each_scope)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 50);
    run(&w, &f, 50, OUTCOME_SUCCEEDED);
    assert_int_equal(count_of(&w, TALLY_ALL, "", EXEC_COMPLETED), 50);
    assert_int_equal(count_of(&w, TALLY_QUEUE, "mail", EXEC_COMPLETED), 50);
    assert_in_range(w.delta.tally_count, 2, 3); /* and the owner, if the test has one */
    run(&w, &f, 3, OUTCOME_PERMANENT);
    assert_int_equal(count_of(&w, TALLY_QUEUE, "mail", EXEC_FAILED), 3);
    assert_int_equal(count_of(&w, TALLY_QUEUE, "mail", EXEC_COMPLETED), 0);
}

TEST(what_was_cancelled_says_nothing)
{
    WORLD(w);
    struct submission *job = SUBMIT(&w, .queue = "mail");
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(w.delta.tally_count, 0);
}

TEST(a_job_that_recurs_has_numbers_of_its_own)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    char id[ID_TEXT_MAX];
    id_format(id, ID_JOB, job->job_id);
    world_pass(&w, HOUR_MS);
    f = HIRE(&w, .slots = 1);
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, 1234);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(count_of(&w, TALLY_JOB, id, EXEC_COMPLETED), 1);
    for (size_t i = 0; i < w.delta.tally_count; i++) {
        assert_int_equal(w.delta.tallies[i].sum_ms, 1234);
        assert_int_equal(w.delta.tallies[i].bucket, sketch_bucket(1234));
        assert_int_equal(w.delta.tallies[i].hour, w.now_ms / TALLY_HOUR_MS);
    }
}

/* Of the executions of a job that recurs: how many rows of the turn count as this, and how long. */
static uint64_t sla_of(const struct world *w, enum tally_sla kind, uint64_t *ret_ms)
{
    uint64_t count = 0;
    *ret_ms = 0;
    for (size_t i = 0; i < w->delta.tally_count; i++) {
        const struct tally *row = &w->delta.tallies[i];
        if (row->scope != TALLY_SLA || row->bucket != kind)
            continue;
        count += row->count;
        *ret_ms += row->sum_ms;
    }
    return count;
}

TEST(a_job_that_recurs_counts_how_it_stands_to_its_sla)
{
    WORLD(w);
    uint64_t ms;
    SUBMIT(&w, .every_ms = HOUR_MS, .sla = {.max_ms = 1000, .policy = SLA_FLEXIBLE});
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    struct fake f = HIRE(&w, .slots = 1);
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, 400);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(sla_of(&w, TALLY_SLA_MET, &ms), 1);
    assert_int_equal(ms, 400);
    assert_int_equal(sla_of(&w, TALLY_SLA_BROKEN, &ms) + sla_of(&w, TALLY_SLA_OVERRUN, &ms), 0);

    world_pass(&w, HOUR_MS);
    f = HIRE(&w, .slots = 1);
    lease = fake_start(&w, &f);
    world_pass(&w, 1700);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(sla_of(&w, TALLY_SLA_BROKEN, &ms), 1);
    assert_int_equal(ms, 1700);
    assert_int_equal(sla_of(&w, TALLY_SLA_OVERRUN, &ms), 1);
    assert_int_equal(ms, 700);
    assert_int_equal(sla_of(&w, TALLY_SLA_MET, &ms), 0);
    assert_int_equal(sla_of(&w, TALLY_SLA_PERCENT, &ms), 1);
    assert_int_equal(ms, 7000);
    assert_int_equal(sla_of(&w, TALLY_SLA_EXPECTED, &ms), 1); /* nothing was expected */
}

TEST(a_job_that_recurs_counts_what_took_longer_than_expected)
{
    WORLD(w);
    uint64_t ms;
    SUBMIT(&w, .every_ms = HOUR_MS, .sla = {.expected_ms = 1000});
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    struct fake f = HIRE(&w, .slots = 1);
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, 1500);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(sla_of(&w, TALLY_SLA_EXCEEDED, &ms), 1);
    assert_int_equal(sla_of(&w, TALLY_SLA_EXPECTED, &ms), 0);
    assert_int_equal(sla_of(&w, TALLY_SLA_BROKEN, &ms), 1); /* there is no max */
    assert_int_equal(sla_of(&w, TALLY_SLA_PERCENT, &ms), 1);
    assert_int_equal(ms, 5000);
}

TEST(a_job_that_runs_once_has_no_numbers_of_its_own)
{
    WORLD(w);
    uint64_t ms;
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w, .sla = {.max_ms = 1000, .policy = SLA_FLEXIBLE});
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, 1700);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(count_of(&w, TALLY_ALL, "", EXEC_COMPLETED), 1);
    for (enum tally_sla kind = 0; kind < TALLY_SLA_KINDS; kind++)
        assert_int_equal(sla_of(&w, kind, &ms), 0);
}

/* The same for a queue, an owner or a team. */
static uint64_t sla_by(const struct world *w, enum tally_scope scope, const char *key,
                       enum tally_sla kind)
{
    uint64_t count = 0;
    for (size_t i = 0; i < w->delta.tally_count; i++) {
        const struct tally *row = &w->delta.tallies[i];
        if (row->scope == scope && row->bucket == kind && str_eq(row->key, str_c(key)))
            count += row->count;
    }
    return count;
}

TEST(queue_owner_and_team_count_the_slas_of_all_their_jobs)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 2);
    for (int i = 0; i < 3; i++) /* the last one waits, so that its team stays */
        SUBMIT(&w, .queue = "mail", .team = "ops",
               .sla = {.expected_ms = 500, .max_ms = 1000, .policy = SLA_FLEXIBLE});
    struct asked *poll = ask_poll(&w, &f, 2);
    world_turn(&w);
    fake_take(&f, poll);
    struct poll_lease leases[2] = {poll->cmd.reply.poll.leases[0], poll->cmd.reply.poll.leases[1]};
    static const enum tally_scope scopes[] = {TALLY_SLA_QUEUE, TALLY_SLA_OWNER, TALLY_SLA_TEAM};
    static const char *const keys[] = {"mail", "admin", "ops"};
    world_pass(&w, 400);
    ask_report(&w, &f, &leases[0], OUTCOME_SUCCEEDED);
    world_turn(&w);
    for (size_t i = 0; i < COUNT_OF(scopes); i++) {
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_MET), 1);
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_EXPECTED), 1);
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_BROKEN), 0);
    }
    world_pass(&w, 1300);
    ask_report(&w, &f, &leases[1], OUTCOME_PERMANENT);
    world_turn(&w);
    for (size_t i = 0; i < COUNT_OF(scopes); i++) {
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_BROKEN), 1);
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_EXCEEDED), 1);
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_OVERRUN), 1);
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_PERCENT), 1);
        assert_int_equal(sla_by(&w, scopes[i], keys[i], TALLY_SLA_MET), 0);
    }
}

/* Submits and runs a job with an SLA for each of so many teams, from the first on. */
static void run_teams(struct world *w, struct fake *f, int first, int count)
{
    static char names[TALLY_SLA_KEYS_MAX + 100][24]; /* until the turn has read them */
    for (int i = first; i < first + count; i++) {
        snprintf(names[i], sizeof names[i], "team-%d", i);
        SUBMIT(w, .queue = "mail", .team = names[i],
               .sla = {.max_ms = HOUR_MS, .policy = SLA_FLEXIBLE});
    }
    struct asked *poll = ask_poll(w, f, (unsigned)count);
    world_turn(w);
    fake_take(f, poll);
    struct asked *report = ask_poll(w, f, 0);
    for (size_t i = 0; i < poll->cmd.reply.poll.lease_count; i++) {
        add_result(report, &poll->cmd.reply.poll.leases[i], OUTCOME_SUCCEEDED);
        fake_drop(f, poll->cmd.reply.poll.leases[i].exec_id);
    }
    world_turn(w);
}

/* SLAs that were met, of teams that have a name or of all others. The names are gone by now. */
static uint64_t met_by_teams(const struct world *w, bool named)
{
    uint64_t count = 0;
    for (size_t i = 0; i < w->delta.tally_count; i++) {
        const struct tally *row = &w->delta.tallies[i];
        if (row->scope == TALLY_SLA_TEAM && row->bucket == TALLY_SLA_MET &&
            named == (row->key.len > 0))
            count += row->count;
    }
    return count;
}

TEST(an_hour_has_rows_for_so_many_teams_and_one_for_the_others)
{
    WORLD(w);
    enum { STEP = 200 };
    struct fake f = HIRE(&w, .slots = STEP);
    for (int i = 0; i < TALLY_SLA_KEYS_MAX; i += STEP) {
        run_teams(&w, &f, i, STEP);
        assert_int_equal(met_by_teams(&w, true), STEP);
    }
    run_teams(&w, &f, TALLY_SLA_KEYS_MAX - 1, 11); /* one of them has rows already */
    assert_int_equal(met_by_teams(&w, true), 1);
    assert_int_equal(sla_by(&w, TALLY_SLA_TEAM, "", TALLY_SLA_MET), 10);
    assert_int_equal(sla_by(&w, TALLY_SLA_QUEUE, "mail", TALLY_SLA_MET), 11);
    world_pass(&w, HOUR_MS);
    f = HIRE(&w, .slots = STEP);
    run_teams(&w, &f, 0, 10); /* a new hour, new names */
    assert_int_equal(met_by_teams(&w, true), 10);
    assert_int_equal(met_by_teams(&w, false), 0);
}

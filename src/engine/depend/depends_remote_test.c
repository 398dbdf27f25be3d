#include "engine/test/duo.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#define ON(id, how) (&(const struct dependency_wish){.job_id = (id), .type = (how)})

static struct submission *settle_one(struct duo *s, struct submission *item)
{
    duo_settle(s);
    assert_int_equal(item->rc, RC_OK);
    return item;
}

TEST(a_dependant_elsewhere_is_blocked_until_it_hears_of_the_end)
{
    DUO(s);
    struct fake f = HIRE(&s.a);
    const struct submission *up = settle_one(&s, SUBMIT(&s.a));
    const struct submission *down =
        settle_one(&s, SUBMIT(&s.b, .after = ON(up->job_id, DEPENDS_SUCCESS)));
    assert_int_equal(partition_of(2, up->job_id), 0);
    assert_int_equal(partition_of(2, down->job_id), 1);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_BLOCKED);
    assert_int_equal(s.a.table.waiters.len, 1);
    struct poll_lease lease = fake_start(&s.a, &f);
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_BLOCKED);
    ask_report(&s.a, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&s.a);
    assert_int_equal(duo_mail(&s, INBOX_OVER), 1); /* in the commit of the end */
    assert_int_equal(s.a.table.waiters.len, 0);
    mail_turn(&s.b);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_QUEUED);
    assert_int_equal(s.box.rows.len, 0);
}

TEST(an_upstream_that_ended_long_ago_is_known_at_once)
{
    DUO(s);
    struct fake f = HIRE(&s.a);
    const struct submission *up = settle_one(&s, SUBMIT(&s.a));
    struct poll_lease lease = fake_start(&s.a, &f);
    ask_report(&s.a, &f, &lease, OUTCOME_SUCCEEDED);
    duo_settle(&s);
    const struct submission *met = SUBMIT(&s.b, .after = ON(up->job_id, DEPENDS_SUCCESS));
    const struct submission *never = SUBMIT(&s.b, .after = ON(up->job_id, DEPENDS_FAILURE));
    world_turn(&s.b);
    assert_int_equal(state_of(&s.b, met->exec_id), EXEC_BLOCKED); /* never by a read */
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, met->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&s.b, never->exec_id), EXEC_SKIPPED);
    assert_int_equal(s.a.table.waiters.len, 0);
}

TEST(a_job_that_is_nowhere_is_refused)
{
    DUO(s);
    const struct submission *item = SUBMIT(&s.b, .after = ON(UINT64_C(1) << 23, DEPENDS_SUCCESS));
    duo_settle(&s);
    assert_int_equal(item->rc, RC_INVALID);
    assert_int_equal(s.box.rows.len, 0);
}

TEST(one_that_ends_first_takes_its_name_off_the_list)
{
    DUO(s);
    const struct submission *up = settle_one(&s, SUBMIT(&s.a));
    const struct submission *down =
        settle_one(&s, SUBMIT(&s.b, .after = ON(up->job_id, DEPENDS_SUCCESS)));
    ask_about(&s.b, CMD_CANCEL_JOB, down->job_id);
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_CANCELLED);
    assert_int_equal(s.a.table.waiters.len, 0);
    ask_about(&s.a, CMD_CANCEL_JOB, up->job_id);
    world_turn(&s.a);
    assert_int_equal(s.box.rows.len, 0);
}

TEST(word_and_cancel_may_cross)
{
    DUO(s);
    const struct submission *up = settle_one(&s, SUBMIT(&s.a));
    const struct submission *down =
        settle_one(&s, SUBMIT(&s.b, .after = ON(up->job_id, DEPENDS_COMPLETION)));
    ask_about(&s.a, CMD_CANCEL_JOB, up->job_id);
    ask_about(&s.b, CMD_CANCEL_JOB, down->job_id);
    world_turn(&s.a);
    world_turn(&s.b);
    assert_int_equal(s.box.rows.len, 2);
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_CANCELLED);
}

TEST(it_waits_for_the_last_of_many_here_and_there)
{
    DUO(s);
    const struct submission *far = settle_one(&s, SUBMIT(&s.a));
    const struct submission *near = settle_one(&s, SUBMIT(&s.b));
    const struct dependency_wish both[] = {
        {.job_id = far->job_id, .type = DEPENDS_COMPLETION},
        {.job_id = near->job_id, .type = DEPENDS_COMPLETION},
    };
    const struct submission *down = settle_one(&s, SUBMIT(&s.b, .after = both, .after_count = 2));
    ask_about(&s.a, CMD_CANCEL_JOB, far->job_id);
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_BLOCKED);
    world_restart(&s.b); /* what it has heard is not forgotten */
    duo_settle(&s);
    ask_about(&s.b, CMD_CANCEL_JOB, near->job_id);
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_QUEUED);
}

/* Restarts one of them at every step of the way. */
TEST(whoever_dies_the_word_arrives_once)
{
    for (unsigned dies = 0; dies < 16; dies++) {
        DUO(s);
        const struct submission *up = settle_one(&s, SUBMIT(&s.a));
        const struct submission *down = SUBMIT(&s.b, .after = ON(up->job_id, DEPENDS_COMPLETION));
        world_turn(&s.b);
        if (dies & 1)
            world_restart(&s.b);
        if (dies & 2)
            world_restart(&s.a);
        mail_turn(&s.a); /* reads it … */
        if (dies & 4)
            world_restart(&s.a);
        duo_settle(&s);
        ask_about(&s.a, CMD_CANCEL_JOB, up->job_id);
        world_turn(&s.a);
        if (dies & 8) {
            world_restart(&s.a);
            world_restart(&s.b);
        }
        duo_settle(&s);
        assert_int_equal(state_of(&s.b, down->exec_id), EXEC_QUEUED);
        assert_int_equal(s.a.table.waiters.len, 0);
    }
}

TEST(slots_wait_for_slots_elsewhere)
{
    DUO(s);
    struct fake f = HIRE(&s.a);
    const struct submission *up = settle_one(&s, SUBMIT(&s.a, .every_ms = MINUTE_MS));
    const struct submission *down = settle_one(
        &s, SUBMIT(&s.b, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_SUCCESS)));
    duo_pass(&s, MINUTE_MS);
    assert_int_equal(state_of(&s.a, up->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_BLOCKED);
    assert_int_equal(s.a.table.waiters.len, 1);
    world_restart(&s.b); /* asks again, in the place of what it asked before */
    duo_settle(&s);
    assert_int_equal(s.a.table.waiters.len, 1);
    world_restart(&s.a);
    duo_settle(&s);
    struct poll_lease lease = fake_start(&s.a, &f);
    ask_report(&s.a, &f, &lease, OUTCOME_SUCCEEDED);
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, down->exec_id), EXEC_QUEUED);
    assert_int_equal(s.a.table.waiters.len, 0);
}

TEST(a_slot_whose_upstream_failed_is_skipped_and_says_which)
{
    DUO(s);
    struct fake f = HIRE(&s.a);
    const struct submission *up = settle_one(&s, SUBMIT(&s.a, .every_ms = MINUTE_MS));
    const struct submission *down = settle_one(
        &s, SUBMIT(&s.b, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_SUCCESS)));
    duo_pass(&s, MINUTE_MS);
    struct poll_lease lease = fake_start(&s.a, &f);
    ask_report(&s.a, &f, &lease, OUTCOME_PERMANENT);
    duo_settle(&s);
    const struct exec_rec *x = map_get(&s.b.table.history, down->exec_id);
    assert_int_equal(x->state, EXEC_SKIPPED);
    char id[ID_TEXT_MAX];
    CLEANUP(buf_free) struct buf error = BUF(1000);
    buf_printf(&error, "%.*s%c", STR_ARG(x->error), '\0');
    assert_non_null(strstr(error.ptr, id_format(id, ID_EXEC, up->exec_id).ptr));
}

TEST(nothing_is_sent_where_one_owns_both)
{
    DUO(s);
    const struct submission *up = settle_one(&s, SUBMIT(&s.a));
    settle_one(&s, SUBMIT(&s.a, .after = ON(up->job_id, DEPENDS_SUCCESS)));
    assert_int_equal(s.box.numbers, 0);
}

/* ---- both ends were of one server, and part; or meet again */

static const struct partition_set low = {.count = 2, .bits = 1};
static const struct partition_set high = {.count = 2, .bits = 2};

/* One that waits in the upper half for one in the lower, both of one server. */
static const struct submission *submit_both(struct world *w, const struct submission **ret_up)
{
    world_own(w, partition_all(2));
    *ret_up = SUBMIT(w);
    world_turn(w);
    w->engine->bucket = partition_first_bucket(2, 1) - 1; /* the next goes behind this */
    const struct submission *first = SUBMIT(w);
    world_turn(w);
    const struct dependency_wish both[] = {
        {.job_id = first->job_id, .type = DEPENDS_COMPLETION}, /* it goes where this is */
        {.job_id = (*ret_up)->job_id, .type = DEPENDS_COMPLETION},
    };
    const struct submission *down = SUBMIT(w, .after = both, .after_count = 2);
    world_turn(w);
    ask_about(w, CMD_CANCEL_JOB, first->job_id);
    world_turn(w);
    assert_int_equal(state_of(w, down->exec_id), EXEC_BLOCKED);
    assert_true(partition_has(&low, (*ret_up)->job_id) && partition_has(&high, down->job_id));
    return down;
}

TEST(who_waits_for_what_went_elsewhere_asks_there)
{
    DUO(s);
    const struct submission *up;
    const struct submission *down = submit_both(&s.a, &up);
    world_own(&s.a, high);
    world_turn(&s.a);
    assert_int_equal(duo_mail(&s, INBOX_WAIT), 1);
    assert_int_equal(s.box.rows.items[0].about, up->job_id);
    assert_int_equal(s.box.rows.items[0].from, down->exec_id);
}

TEST(an_end_that_nobody_told_is_found_when_both_are_back)
{
    DUO(s);
    const struct submission *up;
    const struct submission *down = submit_both(&s.a, &up);
    world_own(&s.a, low);
    ask_about(&s.a, CMD_CANCEL_JOB, up->job_id);
    world_turn(&s.a);
    world_own(&s.a, partition_all(2));
    world_turn(&s.a);
    assert_int_equal(state_of(&s.a, down->exec_id), EXEC_QUEUED);
}

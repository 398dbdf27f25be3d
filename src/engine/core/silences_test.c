/* Alerts that are not sent for a while, and those that somebody looks after. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static struct engine_options with_webhook(void)
{
    struct engine_options options = engine_defaults;
    options.breaker.percent = 0;
    options.alerts.deliver = true;
    return options;
}

static const struct alert_rec *newest(const struct world *w)
{
    assert_true(w->table.alerts.len > 0);
    return w->table.alerts.items[w->table.alerts.len - 1];
}

static struct asked *ask_silence(struct world *w, const char *key, int64_t for_ms)
{
    struct asked *asked = ask(w, CMD_SILENCE);
    asked->cmd.silence_wish =
        (struct silence_wish){.key = str_c(key), .for_ms = for_ms, .reason = STR("moving house")};
    return asked;
}

/* Until for_ms from now on; its id. */
static uint64_t silence(struct world *w, const char *key, int64_t for_ms)
{
    struct asked *asked = ask_silence(w, key, for_ms);
    world_turn(w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    uint64_t id = asked->cmd.reply.silence.id;
    asked_free(asked);
    return id;
}

static enum rc lift(struct world *w, uint64_t id)
{
    struct asked *asked = ask(w, CMD_LIFT_SILENCE);
    asked->cmd.target.id = id;
    world_turn(w);
    enum rc rc = asked->cmd.reply.rc;
    asked_free(asked);
    return rc;
}

static struct asked *ask_ack(struct world *w, uint64_t id, const char *actor, const char *note)
{
    struct asked *asked = ask(w, CMD_ALERT_ACK);
    asked->cmd.actor = str_c(actor);
    asked->cmd.target.id = id;
    asked->cmd.target.reason = str_c(note);
    return asked;
}

/* A job of this name fails for good: "job_failed:NAME". */
static void fail_for_good(struct world *w, const char *name)
{
    struct fake f = HIRE(w, .slots = 1, .handlers = "mail");
    SUBMIT(w, .name = name, .handler = "mail");
    struct poll_lease lease = fake_start(w, &f);
    ask_report(w, &f, &lease, OUTCOME_FAILED);
    world_turn(w);
}

TEST(what_is_raised_under_a_silence_is_kept_and_not_to_be_sent)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    uint64_t id = silence(&w, "job_failed:a", HOUR_MS);
    fail_for_good(&w, "a");
    assert_int_equal(newest(&w)->state, ALERT_SILENCED);
    assert_int_equal(newest(&w)->silenced_by, id);
    fail_for_good(&w, "ab"); /* another key */
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
    assert_int_equal(newest(&w)->silenced_by, 0);
}

TEST(a_silence_over_the_beginning_of_keys_is_over_all_of_them)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    silence(&w, "job_failed:a*", HOUR_MS);
    fail_for_good(&w, "a");
    assert_int_equal(newest(&w)->state, ALERT_SILENCED);
    fail_for_good(&w, "ab");
    assert_int_equal(newest(&w)->state, ALERT_SILENCED);
    fail_for_good(&w, "b");
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
    silence(&w, "*", HOUR_MS);
    fail_for_good(&w, "c");
    assert_int_equal(newest(&w)->state, ALERT_SILENCED);
}

TEST(without_a_webhook_a_silenced_alert_is_silenced_all_the_same)
{
    WORLD(w);
    silence(&w, "*", HOUR_MS);
    fail_for_good(&w, "a");
    assert_int_equal(newest(&w)->state, ALERT_SILENCED);
}

TEST(what_was_raised_before_is_sent_as_it_would_have_been)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    fail_for_good(&w, "a");
    silence(&w, "*", HOUR_MS);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(w.table.alerts.len, 1);
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
}

TEST(a_silence_ends_at_its_time_and_its_row_goes)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    silence(&w, "job_failed:a", HOUR_MS);
    world_pass(&w, HOUR_MS - 1);
    assert_int_equal(w.table.silences.len, 1);
    fail_for_good(&w, "a");
    assert_int_equal(newest(&w)->state, ALERT_SILENCED);
    world_pass(&w, 1);
    assert_int_equal(w.table.silences.len, 0);
    fail_for_good(&w, "a"); /* told a moment ago, but to nobody */
    assert_int_equal(w.table.alerts.len, 2);
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
    assert_int_equal(newest(&w)->repeats, 0);
    fail_for_good(&w, "a"); /* and this one is told too often */
    assert_int_equal(w.table.alerts.len, 2);
}

TEST(under_a_silence_a_key_is_kept_once_in_a_while_and_what_follows_tells_the_rest)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    uint64_t id = silence(&w, "*", HOUR_MS);
    for (int i = 0; i < 3; i++)
        fail_for_good(&w, "a");
    assert_int_equal(w.table.alerts.len, 1);
    assert_int_equal(lift(&w, id), RC_OK);
    fail_for_good(&w, "a");
    assert_int_equal(w.table.alerts.len, 2);
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
    assert_int_equal(newest(&w)->repeats, 2);
}

TEST(a_lifted_silence_is_gone_and_cannot_be_lifted_again)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    uint64_t id = silence(&w, "*", HOUR_MS);
    struct asked *twice[2];
    for (size_t i = 0; i < COUNT_OF(twice); i++) {
        twice[i] = ask(&w, CMD_LIFT_SILENCE);
        twice[i]->cmd.target.id = id;
    }
    world_turn(&w);
    assert_int_equal(twice[0]->cmd.reply.rc, RC_OK);
    assert_true(str_eq(twice[0]->cmd.reply.silence.key, STR("*")));
    assert_int_equal(twice[1]->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(w.table.silences.len, 0);
    assert_int_equal(lift(&w, id), RC_NOT_FOUND);
    fail_for_good(&w, "a");
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
}

TEST(a_restart_knows_silences)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    uint64_t id = silence(&w, "job_failed:*", HOUR_MS);
    world_restart(&w);
    fail_for_good(&w, "a");
    assert_int_equal(newest(&w)->silenced_by, id);
    assert_int_equal(lift(&w, id), RC_OK);
}

TEST(settings_that_are_read_again_bring_silences_and_take_them_away)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    const struct silence_rec rec = {
        .id = 77, .key = STR("*"), .until_ms = w.now_ms + HOUR_MS, .actor = STR("key:ann")};
    engine_settings_begin(w.engine);
    engine_load_silence(w.engine, &rec);
    engine_settings_end(w.engine);
    assert_int_equal(w.engine->silences.by_id.len, 1);
    engine_settings_begin(w.engine);
    engine_load_silence(w.engine, &rec); /* the same */
    engine_settings_end(w.engine);
    assert_int_equal(w.engine->silences.by_id.len, 1);
    engine_settings_begin(w.engine);
    engine_settings_end(w.engine);
    assert_int_equal(w.engine->silences.by_id.len, 0);
}

TEST(who_does_not_own_the_first_partition_forgets_no_rows)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    silence(&w, "*", HOUR_MS);
    world_own(&w, (struct partition_set){.count = 16, .bits = 0xff00});
    world_pass(&w, HOUR_MS + 1);
    assert_int_equal(w.table.silences.len, 1);
    world_own(&w, partition_all(16));
    world_pass(&w, MINUTE_MS);
    assert_int_equal(w.table.silences.len, 0);
}

TEST(a_silence_needs_an_end_that_is_to_come_and_not_too_far)
{
    WORLD(w);
    const struct {
        int64_t until_ms;
        int64_t for_ms;
        enum rc rc;
    } rows[] = {
        {w.now_ms, 0, RC_INVALID},
        {w.now_ms - HOUR_MS, 0, RC_INVALID},
        {w.now_ms + 1, 0, RC_OK},
        {w.now_ms + SILENCE_MAX_MS, 0, RC_OK},
        {w.now_ms + SILENCE_MAX_MS + 1, 0, RC_INVALID},
        {0, 1, RC_OK},
        {0, SILENCE_MAX_MS, RC_OK},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct asked *asked = ask_silence(&w, "*", rows[i].for_ms);
        asked->cmd.silence_wish.until_ms = rows[i].until_ms;
        world_turn(&w);
        assert_int_equal(asked->cmd.reply.rc, rows[i].rc);
        asked_free(asked);
    }
}

TEST(one_silence_too_many_is_refused_also_within_a_turn)
{
    struct engine_options options = with_webhook();
    options.silences_max = 2;
    WORLD_WITH(w, options);
    uint64_t first = silence(&w, "a", MINUTE_MS);
    struct asked *second = ask_silence(&w, "b", HOUR_MS);
    struct asked *third = ask_silence(&w, "c", HOUR_MS);
    world_turn(&w);
    assert_int_equal(second->cmd.reply.rc, RC_OK);
    assert_int_equal(third->cmd.reply.rc, RC_LIMITED);
    struct asked *lifts = ask(&w, CMD_LIFT_SILENCE);
    lifts->cmd.target.id = first;
    struct asked *again = ask_silence(&w, "c", HOUR_MS);
    world_turn(&w);
    assert_int_equal(again->cmd.reply.rc, RC_OK);
}

TEST(an_ended_silence_does_not_count)
{
    struct engine_options options = with_webhook();
    options.silences_max = 1;
    WORLD_WITH(w, options);
    silence(&w, "a", MINUTE_MS);
    world_wake(&w, MINUTE_MS);
    silence(&w, "b", MINUTE_MS);
}

/* ---- acknowledging */

TEST(the_first_to_acknowledge_counts_and_any_other_is_told_so)
{
    WORLD(w);
    fail_for_good(&w, "a");
    struct asked *first = ask_ack(&w, newest(&w)->id, "key:ann", "on it");
    struct asked *second = ask_ack(&w, newest(&w)->id, "key:bob", "me, too");
    world_turn(&w);
    int64_t at_ms = w.now_ms;
    assert_int_equal(first->cmd.reply.rc, RC_OK);
    assert_int_equal(second->cmd.reply.rc, RC_OK);
    assert_true(str_eq(second->cmd.reply.alert.acked_by, STR("key:ann")));
    world_pass(&w, MINUTE_MS);
    struct asked *third = ask_ack(&w, newest(&w)->id, "key:bob", "me, too");
    world_turn(&w);
    assert_true(str_eq(third->cmd.reply.alert.acked_by, STR("key:ann")));
    assert_true(str_eq(newest(&w)->acked_by, STR("key:ann")));
    assert_true(str_eq(newest(&w)->ack_note, STR("on it")));
    assert_int_equal(newest(&w)->acked_ms, at_ms);
    assert_int_equal(newest(&w)->state, ALERT_KEPT);
}

TEST(what_is_acknowledged_need_not_be_sent)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    fail_for_good(&w, "a");
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
    struct asked *ack = ask_ack(&w, newest(&w)->id, "key:ann", "");
    world_turn(&w);
    assert_int_equal(ack->cmd.reply.alert.state, ALERT_KEPT);
    assert_int_equal(newest(&w)->state, ALERT_KEPT);
}

TEST(what_was_sent_stays_so_when_it_is_acknowledged_in_the_same_turn)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    fail_for_good(&w, "a");
    struct asked *sent = ask(&w, CMD_ALERT_SENT);
    sent->cmd.alert = (struct alert_mark){newest(&w)->id, ALERT_SENT};
    struct asked *ack = ask_ack(&w, newest(&w)->id, "key:ann", "");
    world_turn(&w);
    assert_int_equal(ack->cmd.reply.alert.state, ALERT_SENT);
    assert_int_equal(newest(&w)->state, ALERT_SENT);
    assert_true(newest(&w)->acked_ms != 0);
}

TEST(an_unknown_alert_cannot_be_acknowledged)
{
    WORLD(w);
    struct asked *ack = ask_ack(&w, 4711, "key:ann", "");
    world_turn(&w);
    assert_int_equal(ack->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(an_acknowledged_alert_does_not_keep_the_next_one_of_its_key_from_being_told)
{
    struct engine_options options = with_webhook();
    WORLD_WITH(w, options);
    fail_for_good(&w, "a");
    (void)ask_ack(&w, newest(&w)->id, "key:ann", "");
    world_pass(&w, w.options.alerts.quiet_ms);
    fail_for_good(&w, "a");
    assert_int_equal(w.table.alerts.len, 2);
    assert_int_equal(newest(&w)->state, ALERT_PENDING);
}

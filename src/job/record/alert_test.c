/* Which keys a pattern fits, and which alerts a filter. */
#include "base/test/test.h"
#include "job/record/alert_filter.h"

TEST(a_pattern_is_a_key_or_the_beginning_of_keys)
{
    static const struct {
        const char *pattern;
        const char *key;
        bool fits;
    } rows[] = {
        {"job_failed:a", "job_failed:a", true},
        {"job_failed:a", "job_failed:ab", false},
        {"job_failed:a*", "job_failed:ab", true},
        {"job_failed:a*", "job_failed:a", true},
        {"job_failed:a*", "job_failed:b", false},
        {"*", "clock", true},
        {"*", "", true},
        {"", "clock", false},
        {"a*b", "a*b", true}, /* only the last one means more than itself */
        {"a*b", "axb", false},
        {"queue_old:**", "queue_old:*x", true},
        {"queue_old:**", "queue_old:x", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(alert_key_fits(str_c(rows[i].pattern), str_c(rows[i].key)), rows[i].fits);
}

TEST(a_filter_lets_through_what_fits_all_that_it_says)
{
    const struct alert_rec alert = {.id = 7,
                                    .at_ms = 1000,
                                    .kind = ALERT_SLOW,
                                    .level = ALERT_WARNING,
                                    .state = ALERT_SENT,
                                    .key = STR("slow:a"),
                                    .queue = STR("mail"),
                                    .job_id = 5};
    static const struct {
        struct alert_filter filter;
        bool fits;
    } rows[] = {
        {{0}, true},
        {{.states = 1U << ALERT_SENT}, true},
        {{.states = 1U << ALERT_PENDING | 1U << ALERT_SENT}, true},
        {{.states = 1U << ALERT_SILENCED}, false},
        {{.kinds = 1U << ALERT_SLOW}, true},
        {{.kinds = 1U << ALERT_CLOCK}, false},
        {{.levels = 1U << ALERT_WARNING}, true},
        {{.levels = 1U << ALERT_CRITICAL}, false},
        {{.key = STR_INIT("slow:*")}, true},
        {{.key = STR_INIT("slow:")}, false},
        {{.queue = STR_INIT("mail")}, true},
        {{.queue = STR_INIT("mai")}, false},
        {{.job_id = 5}, true},
        {{.job_id = 6}, false},
        {{.after_ms = 1000}, true},
        {{.after_ms = 1001}, false},
        {{.before_ms = 1000}, false},
        {{.before_ms = 1001}, true},
        {{.acked = ALERT_ACKED}, false},
        {{.acked = ALERT_ACKED_NOT}, true},
        {{.kinds = 1U << ALERT_SLOW, .acked = ALERT_ACKED}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(alert_fits(&rows[i].filter, &alert), rows[i].fits);
}

TEST(a_silence_holds_until_its_end_and_not_at_it)
{
    const struct silence_rec silence = {.until_ms = 1000};
    assert_true(silence_holds(&silence, 999));
    assert_false(silence_holds(&silence, 1000));
}

TEST(a_filter_is_read_from_parameters_and_says_what_is_wrong)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const struct {
        const char *name;
        const char *value;
        enum rc rc;
    } rows[] = {
        {"state", "silenced", RC_OK},
        {"state", "loud", RC_INVALID},
        {"kind", "slow", RC_OK},
        {"kind", "", RC_INVALID},
        {"level", "critical", RC_OK},
        {"level", "fatal", RC_INVALID},
        {"key", "slow:*", RC_OK},
        {"key", "\xff", RC_INVALID},
        {"queue", "mail", RC_OK},
        {"job", "mail", RC_INVALID},
        {"acknowledged", "true", RC_OK},
        {"acknowledged", "yes", RC_INVALID},
        {"created_after", "now", RC_INVALID},
        {"created_after", "2026-11-19T00:00:00Z", RC_OK},
        {"severity", "critical", RC_NOT_FOUND},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct alert_filter f = {0};
        struct err err;
        assert_int_equal(
            alert_filter_set(&f, str_c(rows[i].name), str_c(rows[i].value), &arena, &err),
            rows[i].rc);
    }
}

TEST(several_states_are_one_of_them_and_other_filters_have_other_hashes)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct alert_filter f = {0};
    struct err err;
    uint64_t all = alert_filter_hash(&f);
    assert_int_equal(alert_filter_set(&f, STR("state"), STR("kept"), &arena, &err), RC_OK);
    uint64_t kept = alert_filter_hash(&f);
    assert_int_equal(alert_filter_set(&f, STR("state"), STR("sent"), &arena, &err), RC_OK);
    assert_int_equal(f.states, 1U << ALERT_KEPT | 1U << ALERT_SENT);
    assert_true(all != kept && kept != alert_filter_hash(&f));
}

TEST(what_nothing_can_fit_is_refused)
{
    struct str name;
    struct err err;
    struct alert_filter f = {.after_ms = 5, .before_ms = 5};
    assert_int_equal(alert_filter_check(&f, &name, &err), RC_INVALID);
    assert_true(str_eq(name, STR("created_before")));
    f = (struct alert_filter){.states = 1U << ALERT_PENDING, .acked = ALERT_ACKED};
    assert_int_equal(alert_filter_check(&f, &name, &err), RC_INVALID);
    assert_true(str_eq(name, STR("acknowledged")));
    f.states |= 1U << ALERT_SENT;
    assert_int_equal(alert_filter_check(&f, &name, &err), RC_OK);
}

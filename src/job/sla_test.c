#include "job/sla.h"

#include "base/test/test.h"

TEST(a_policy_is_what_its_name_says)
{
    unsigned policy;
    for (unsigned i = 0; i < SLA_POLICIES; i++) {
        assert_true(words_parse(&sla_policy_words, words_name(&sla_policy_words, i), &policy));
        assert_int_equal(policy, i);
    }
    assert_false(words_parse(&sla_policy_words, STR("lenient"), &policy));
}

TEST(an_overrun_is_of_the_limit_that_the_event_is_about)
{
    struct sla_event_rec event = {.expected_ms = 1000, .max_ms = 2000, .actual_ms = 2500};
    event.kind = SLA_EVENT_WARNING;
    assert_int_equal(sla_event_overrun_ms(&event), 1500);
    assert_int_equal(sla_event_overrun_percent(&event), 150);
    event.kind = SLA_EVENT_END;
    assert_int_equal(sla_event_overrun_ms(&event), 500);
    assert_int_equal(sla_event_overrun_percent(&event), 25);
    event.kind = SLA_EVENT_EXTENSION;
    assert_int_equal(sla_event_overrun_ms(&event), 0);
    assert_int_equal(sla_event_overrun_percent(&event), 0);
}

TEST(what_is_done_follows_from_the_policy)
{
    struct sla_event_rec event = {.kind = SLA_EVENT_VIOLATION, .policy = SLA_STRICT};
    assert_true(str_eq(sla_event_action(&event), STR("stop")));
    event.policy = SLA_FLEXIBLE;
    assert_true(str_eq(sla_event_action(&event), STR("critical_alert")));
    event.policy = SLA_WARNING_ONLY;
    assert_true(str_eq(sla_event_action(&event), STR("alert")));
}

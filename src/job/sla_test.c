#include "job/sla.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_policy_is_what_its_name_says(void **state)
{
    (void)state;
    for (int i = 0; i < SLA_POLICIES; i++) {
        enum sla_policy policy;
        assert_true(sla_policy_parse(sla_policy_name((enum sla_policy)i), &policy));
        assert_int_equal(policy, i);
    }
    enum sla_policy policy;
    assert_false(sla_policy_parse(STR("lenient"), &policy));
}

static void an_overrun_is_of_the_limit_that_the_event_is_about(void **state)
{
    (void)state;
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

static void what_is_done_follows_from_the_policy(void **state)
{
    (void)state;
    struct sla_event_rec event = {.kind = SLA_EVENT_VIOLATION, .policy = SLA_STRICT};
    assert_true(str_eq(sla_event_action(&event), STR("stop")));
    event.policy = SLA_FLEXIBLE;
    assert_true(str_eq(sla_event_action(&event), STR("critical_alert")));
    event.policy = SLA_WARNING_ONLY;
    assert_true(str_eq(sla_event_action(&event), STR("alert")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_is_what_its_name_says),
        cmocka_unit_test(an_overrun_is_of_the_limit_that_the_event_is_about),
        cmocka_unit_test(what_is_done_follows_from_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

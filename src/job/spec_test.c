#include "job/spec.h"

#include "base/test/test.h"

static struct rng rng;

static struct retry plain(enum retry_policy policy)
{
    return (struct retry){
        .max_retries = 10,
        .policy = policy,
        .delay_ms = 1000,
        .max_delay_ms = 60000,
    };
}

TEST(an_exponential_delay_doubles_up_to_its_cap)
{
    struct retry retry = plain(RETRY_EXPONENTIAL);
    assert_int_equal(retry_delay_ms(&retry, 1, 7), 1000);
    assert_int_equal(retry_delay_ms(&retry, 2, 7), 2000);
    assert_int_equal(retry_delay_ms(&retry, 6, 7), 32000);
    assert_int_equal(retry_delay_ms(&retry, 7, 7), 60000);
    assert_int_equal(retry_delay_ms(&retry, 1000, 7), 60000);
}

TEST(a_linear_delay_grows_by_itself)
{
    struct retry retry = plain(RETRY_LINEAR);
    assert_int_equal(retry_delay_ms(&retry, 1, 7), 1000);
    assert_int_equal(retry_delay_ms(&retry, 3, 7), 3000);
    assert_int_equal(retry_delay_ms(&retry, 61, 7), 60000);
}

TEST(a_fixed_delay_stays_and_an_immediate_one_is_none)
{
    struct retry fixed = plain(RETRY_FIXED);
    struct retry immediate = plain(RETRY_IMMEDIATE);
    immediate.jitter_permille = 1000;
    for (uint32_t attempt = 1; attempt < 50; attempt++) {
        assert_int_equal(retry_delay_ms(&fixed, attempt, 7), 1000);
        assert_int_equal(retry_delay_ms(&immediate, attempt, 7), 0);
    }
}

TEST(no_delay_overflows)
{
    static const enum retry_policy policies[] = {RETRY_EXPONENTIAL, RETRY_LINEAR, RETRY_FIXED};
    struct retry retry = {
        .delay_ms = DURATION_MAX_MS,
        .max_delay_ms = DURATION_MAX_MS,
        .jitter_permille = 1000,
    };
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        retry.policy = policies[i];
        for (uint64_t attempt = 1; attempt < UINT32_MAX; attempt = attempt * 3 + 1) {
            int64_t delay_ms = retry_delay_ms(&retry, (uint32_t)attempt, rng_next(&rng));
            assert_in_range(delay_ms, 0, DURATION_MAX_MS);
        }
    }
}

TEST(jitter_stays_within_its_bounds_and_uses_them)
{
    struct retry retry = plain(RETRY_FIXED);
    retry.jitter_permille = 300;
    int64_t least = INT64_MAX;
    int64_t most = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t delay_ms = retry_delay_ms(&retry, 1, rng_next(&rng));
        assert_in_range(delay_ms, 1000, 1300);
        least = delay_ms < least ? delay_ms : least;
        most = delay_ms > most ? delay_ms : most;
    }
    assert_true(least < 1010 && most > 1290);
}

TEST(jitter_spreads_below_the_longest_delay)
{
    static const int64_t delays_ms[] = {1000, 1000, 900};
    static const int64_t least_ms[] = {700, 0, 830};
    static const uint32_t jitters[] = {300, 1000, 300};
    for (size_t i = 0; i < COUNT_OF(delays_ms); i++) {
        struct retry retry = plain(RETRY_FIXED);
        retry.delay_ms = delays_ms[i];
        retry.max_delay_ms = 1000;
        retry.jitter_permille = jitters[i];
        int64_t least = INT64_MAX;
        int64_t most = 0;
        for (int k = 0; k < 10000; k++) {
            int64_t delay_ms = retry_delay_ms(&retry, 1, rng_next(&rng));
            assert_in_range(delay_ms, least_ms[i], 1000);
            least = delay_ms < least ? delay_ms : least;
            most = delay_ms > most ? delay_ms : most;
        }
        assert_true(least < least_ms[i] + 10 && most > 990);
    }
}

TEST(the_same_failure_waits_the_same_time)
{
    struct retry retry = retry_default;
    assert_int_equal(retry_delay_ms(&retry, 3, 4711), retry_delay_ms(&retry, 3, 4711));
}

TEST(executions_that_failed_together_come_back_apart)
{
    struct retry retry = plain(RETRY_FIXED);
    retry.jitter_permille = 1000;
    int same = 0;
    for (uint64_t id = 1000; id < 1100; id++) /* ids made in one millisecond differ by one */
        same += retry_delay_ms(&retry, 1, id) == retry_delay_ms(&retry, 1, id + 1);
    assert_true(same < 5);
}

TEST(names_of_policies_read_back)
{
    unsigned back;
    for (unsigned i = RETRY_EXPONENTIAL; i <= RETRY_IMMEDIATE; i++) {
        assert_true(words_parse(&retry_policy_words, words_name(&retry_policy_words, i), &back));
        assert_int_equal(back, i);
    }
    assert_false(words_parse(&retry_policy_words, STR("sometimes"), &back));
}

TEST(a_job_is_due_now_at_the_earliest)
{
    assert_int_equal(spec_due_ms(&(struct spec){.when = WHEN_NOW}, 1000), 1000);
    assert_int_equal(spec_due_ms(&(struct spec){.when = WHEN_AT, .when_ms = 5000}, 1000), 5000);
    assert_int_equal(spec_due_ms(&(struct spec){.when = WHEN_AT, .when_ms = 500}, 1000), 1000);
    assert_int_equal(spec_due_ms(&(struct spec){.when = WHEN_DELAY, .when_ms = 70}, 1000), 1070);
}

TEST(tags_are_text_with_a_line_each)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct pair tags[] = {{STR_INIT("env"), STR_INIT("prod")}, {STR_INIT("a"), STR_INIT("")}};
    struct spec spec = {.tags = tags, .tag_count = 2};
    assert_true(str_eq(spec_tags_text(&spec, &arena), STR("\nenv:prod\na:\n")));
    spec.tag_count = 0;
    assert_int_equal(spec_tags_text(&spec, &arena).len, 0);
}

TEST(rules_are_the_part_that_decides)
{
    struct spec spec = {
        .queue = STR("mail"),
        .handler = STR("send"),
        .priority = 7,
        .timeout_ms = 90,
        .retry = retry_default,
    };
    struct rules rules = spec_rules(&spec);
    assert_true(str_eq(rules.queue, STR("mail")) && str_eq(rules.handler, STR("send")));
    assert_int_equal(rules.priority, 7);
    assert_int_equal(rules.timeout_ms, 90);
    assert_int_equal(rules.retry.max_retries, SPEC_RETRIES_DEFAULT);
}

TEST(a_target_is_what_the_job_names_or_its_handler)
{
    char text[SPEC_TARGET_MAX];
    struct rules rules = {.queue = STR("default")};
    assert_int_equal(rules_target(&rules, text).len, 0); /* a command has none */
    rules.breaker.name = STR("smtp");
    assert_true(str_eq(rules_target(&rules, text), STR("smtp")));
    rules.handler = STR("mail");
    assert_true(str_eq(rules_target(&rules, text), STR("smtp")));
    rules.breaker.name = STR("");
    assert_true(str_eq(rules_target(&rules, text), STR("handler:mail")));
    rules.breaker.none = true;
    assert_int_equal(rules_target(&rules, text).len, 0);
    char longest[SPEC_NAME_MAX];
    memset(longest, 'x', sizeof longest);
    rules = (struct rules){.handler = str_of(longest, sizeof longest)};
    assert_int_equal(rules_target(&rules, text).len, SPEC_TARGET_MAX);
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)

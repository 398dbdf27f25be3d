#include "job/time/almanac.h"

#include "base/test/test.h"

#define HOUR_MS INT64_C(3600000)

static struct arena arena;

/* One period, in hours since 1970. */
static struct almanac almanac(enum calendar_policy policy, int64_t from, int64_t to)
{
    struct calendar_draft draft = {.arena = &arena};
    struct err err;
    struct calendar_span span = {from * 3600, to * 3600};
    assert_int_equal(calendar_add_local(&draft, span, &err), RC_OK);
    return (struct almanac){.calendar = calendar_make(&draft), .policy = policy};
}

static struct almanac_use use(const struct almanac *a, const char *name)
{
    return (struct almanac_use){str_c(name), a, a == NULL ? CALENDAR_SKIP : a->policy};
}

TEST(a_moment_outside_is_free_and_the_end_is_outside)
{
    struct almanac a = almanac(CALENDAR_HOLD, 10, 12);
    struct almanac_use uses[] = {use(&a, "a")};
    assert_int_equal(almanac_ruling(uses, 1, zone_utc(), 10 * HOUR_MS - 1).verdict, CALENDAR_FREE);
    assert_int_equal(almanac_ruling(uses, 1, zone_utc(), 12 * HOUR_MS).verdict, CALENDAR_FREE);
    struct ruling inside = almanac_ruling(uses, 1, zone_utc(), 12 * HOUR_MS - 1);
    assert_int_equal(inside.verdict, CALENDAR_HOLDS);
    assert_int_equal(inside.until_ms, 12 * HOUR_MS);
    assert_int_equal(almanac_ruling(NULL, 0, zone_utc(), 0).verdict, CALENDAR_FREE);
}

TEST(to_skip_weighs_more_and_the_longest_is_named)
{
    struct almanac hold = almanac(CALENDAR_HOLD, 10, 20);
    struct almanac longer = almanac(CALENDAR_HOLD, 10, 30);
    struct almanac skip = almanac(CALENDAR_SKIP, 10, 11);
    struct almanac_use uses[] = {use(&hold, "hold"), use(&longer, "longer"), use(&skip, "skip")};
    struct ruling first = almanac_ruling(uses, 3, zone_utc(), 10 * HOUR_MS);
    assert_int_equal(first.verdict, CALENDAR_SKIPS);
    assert_int_equal(first.until_ms, 11 * HOUR_MS);
    struct ruling then = almanac_ruling(uses, 3, zone_utc(), 11 * HOUR_MS);
    assert_int_equal(then.verdict, CALENDAR_HOLDS);
    assert_true(str_eq(then.calendar, STR("longer")));
}

TEST(one_that_nobody_can_read_holds_for_a_while)
{
    struct almanac_use uses[] = {use(NULL, "gone")};
    struct ruling ruling = almanac_ruling(uses, 1, zone_utc(), 5 * HOUR_MS);
    assert_int_equal(ruling.verdict, CALENDAR_HOLDS);
    assert_true(ruling.unreadable);
    assert_int_equal(ruling.until_ms, 5 * HOUR_MS + ALMANAC_LOOK_AGAIN_MS);
}

TEST(policies_have_names)
{
    unsigned policy;
    assert_true(words_parse(&calendar_policy_words, STR("hold"), &policy));
    assert_int_equal(policy, CALENDAR_HOLD);
    assert_false(words_parse(&calendar_policy_words, STR("wait"), &policy));
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

TEST_GROUP(NULL, end)

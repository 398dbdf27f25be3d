#include "job/time/timeline.h"

#include "base/test/test.h"

#define S INT64_C(1000000)
#define HOUR (3600 * S)
#define DAY (24 * HOUR)
#define STEP_MS 60000
#define OFFSET_US (INT64_C(1800000000) * S) /* of a clock that is right */

/* The clock as it is sampled each second, and what the server makes of it. */
struct stage {
    struct timeline line;
    int64_t boot_us;
    int64_t offset_us;
    int64_t accepted_us; /* by how much the newest step was; 0: none */
};

static int64_t right_ms(int64_t boot_us)
{
    return (boot_us + OFFSET_US) / 1000;
}

static enum timeline_verdict sample(struct stage *s, int64_t offset_us)
{
    enum timeline_verdict verdict = timeline_judge(&s->line, offset_us, s->boot_us, false);
    if (verdict == TIMELINE_NEAR)
        timeline_follow(&s->line, offset_us, s->boot_us);
    if (verdict == TIMELINE_HELD)
        s->accepted_us = timeline_accept(&s->line, offset_us, s->boot_us);
    return verdict;
}

/* So many seconds in which the clock is off by this. */
static void live(struct stage *s, int seconds, int64_t off_us)
{
    for (int i = 0; i < seconds; i++) {
        s->boot_us += S;
        (void)sample(s, OFFSET_US + off_us);
    }
}

static int64_t off_us(const struct stage *s)
{
    return timeline_offset_us(&s->line, s->boot_us) - OFFSET_US;
}

static struct stage begin(int64_t step_ms, int64_t newest_ms, int64_t first_off_us, bool synced)
{
    struct stage s = {.boot_us = 100 * S};
    timeline_begin(&s.line, step_ms, newest_ms, OFFSET_US + first_off_us, s.boot_us, synced);
    return s;
}

static struct stage begin_usual(void)
{
    return begin(STEP_MS, right_ms(100 * S) - 5000, 0, false);
}

/* ---- near */

TEST(forwards_is_followed_at_once)
{
    struct stage s = begin_usual();
    live(&s, 1, 1900 * 1000);
    assert_int_equal(off_us(&s), 1900 * 1000);
    assert_int_equal(s.line.stepped_us, 0);
}

TEST(back_is_followed_by_going_slower)
{
    struct stage s = begin_usual();
    live(&s, 1, -S);
    int64_t before_us = s.boot_us + off_us(&s);
    assert_int_equal(off_us(&s), 0);
    s.boot_us += 5 * S;
    assert_int_equal(off_us(&s), -S / 2);
    assert_true(s.boot_us + off_us(&s) > before_us);
    s.boot_us += 60 * S;
    assert_int_equal(off_us(&s), -S);
    assert_int_equal(s.line.stepped_us, 0);
}

/* ---- candidates */

TEST(an_hour_for_a_few_seconds_does_nothing)
{
    struct stage s = begin_usual();
    live(&s, 59, HOUR);
    assert_int_equal(off_us(&s), 0);
    live(&s, 1, 0);
    live(&s, 59, HOUR); /* it begins anew */
    assert_int_equal(off_us(&s), 0);
    live(&s, 10, 0);
    assert_int_equal(s.line.steps.count, 0);
    assert_int_equal(s.line.shaken_ms, 0);
}

TEST(what_holds_for_a_minute_is_accepted)
{
    for (int64_t by_us = -DAY; by_us <= DAY; by_us += 2 * DAY) {
        struct stage s = begin_usual();
        live(&s, 60, by_us);
        assert_int_equal(s.accepted_us, 0);
        live(&s, 1, by_us);
        assert_int_equal(s.accepted_us, by_us);
        assert_int_equal(off_us(&s), by_us);
        assert_int_equal(s.line.stepped_us, by_us);
        assert_int_equal(s.line.steps.count, 1);
        assert_int_equal(s.line.steps.by_ms, by_us / 1000);
        assert_int_equal(s.line.shaken_ms, (s.boot_us + OFFSET_US + by_us) / 1000);
        live(&s, 100, by_us); /* and from then on it is as any other */
        assert_int_equal(s.line.steps.count, 1);
    }
}

TEST(a_candidate_needs_thirty_samples)
{
    struct stage s = begin_usual();
    for (int i = 1; i < 30; i++) { /* of three beats two fail */
        s.boot_us += 3 * S;
        assert_int_equal(sample(&s, OFFSET_US + HOUR), TIMELINE_DOUBTED);
    }
    s.boot_us += 3 * S;
    assert_int_equal(sample(&s, OFFSET_US + HOUR), TIMELINE_HELD);
}

TEST(another_value_starts_over)
{
    struct stage s = begin_usual();
    for (int i = 0; i < 100; i++) { /* it goes to and fro */
        live(&s, 20, HOUR);
        live(&s, 20, 2 * HOUR);
    }
    assert_int_equal(s.line.steps.count, 0);
    live(&s, 30, HOUR);
    live(&s, 31, HOUR + S); /* within two seconds of its first */
    assert_int_equal(s.line.steps.count, 1);
    assert_int_equal(off_us(&s), HOUR + S);
}

TEST(a_candidate_that_runs_away_is_never_accepted)
{
    struct stage s = begin_usual();
    for (int i = 0; i < 600; i++)
        live(&s, 1, HOUR + i * S);
    assert_int_equal(s.line.steps.count, 0);
}

TEST(an_hour_or_less_shakes_nothing)
{
    struct stage s = begin_usual();
    live(&s, 61, HOUR);
    assert_int_equal(s.line.steps.count, 1);
    assert_int_equal(s.line.shaken_ms, 0);
}

TEST(without_a_wait_the_first_sample_counts)
{
    struct stage s = begin(0, right_ms(100 * S), 0, false);
    live(&s, 1, DAY);
    assert_int_equal(off_us(&s), DAY);
    live(&s, 1, -DAY);
    assert_int_equal(off_us(&s), -DAY);
    assert_int_equal(s.line.stepped_us, -DAY);
}

TEST(a_short_wait_needs_fewer_samples)
{
    struct stage s = begin(4000, right_ms(100 * S), 0, false);
    live(&s, 1, DAY);
    s.boot_us += 3 * S;
    assert_int_equal(sample(&s, OFFSET_US + DAY), TIMELINE_DOUBTED);
    s.boot_us += S;
    assert_int_equal(sample(&s, OFFSET_US + DAY), TIMELINE_HELD);
}

TEST(a_suspend_leaves_the_offset_alone)
{
    struct stage s = begin_usual();
    s.boot_us += 3 * DAY;
    live(&s, 1, 0);
    assert_int_equal(off_us(&s), 0);
    assert_int_equal(s.line.steps.count, 0);
}

/* ---- the start */

TEST(a_start_that_fits_to_the_newest_id_is_accepted)
{
    const int64_t ids_ms[] = {TIMELINE_NO_ID, right_ms(100 * S) + 2000, right_ms(100 * S),
                              right_ms(100 * S) - TIMELINE_AHEAD_MS};
    for (size_t i = 0; i < sizeof ids_ms / sizeof *ids_ms; i++) {
        struct stage s = begin(STEP_MS, ids_ms[i], 0, false);
        assert_true(s.line.sure);
        assert_int_equal(off_us(&s), 0);
        assert_int_equal(s.line.shaken_ms, 0);
    }
}

TEST(another_start_is_unsure_and_goes_on_from_the_newest_id)
{
    const int64_t offs_us[] = {-20000 * DAY, -HOUR, 8 * DAY, 365 * DAY};
    for (size_t i = 0; i < sizeof offs_us / sizeof *offs_us; i++) {
        struct stage s = begin(STEP_MS, right_ms(100 * S), offs_us[i], false);
        assert_false(s.line.sure);
        assert_int_equal(off_us(&s), 0);
        live(&s, 59, offs_us[i]);
        assert_false(s.line.sure);
        live(&s, 1, offs_us[i]);
        assert_true(s.line.sure);
        assert_int_equal(off_us(&s), offs_us[i]);
        assert_int_equal(s.line.shaken_ms, (s.boot_us + OFFSET_US + offs_us[i]) / 1000);
    }
}

TEST(a_synchronised_clock_is_accepted_but_shakes)
{
    struct stage s = begin(STEP_MS, right_ms(100 * S) - 30 * DAY / 1000, 0, true);
    assert_true(s.line.sure);
    assert_int_equal(off_us(&s), 0);
    assert_int_equal(s.line.shaken_ms, right_ms(s.boot_us));
}

TEST(a_bad_clock_that_is_mended_is_accepted_at_once)
{
    struct stage s = begin(STEP_MS, right_ms(100 * S), -20000 * DAY, false);
    live(&s, 10, -20000 * DAY);
    assert_false(s.line.sure);
    live(&s, 1, 0);
    assert_true(s.line.sure);
    assert_int_equal(off_us(&s), 0);
    assert_true(s.line.shaken_ms > 0);
}

TEST(a_clock_that_never_holds_is_taken_in_the_end)
{
    struct stage s = begin(STEP_MS, right_ms(100 * S), -20000 * DAY, false);
    for (int i = 0; i < 599; i++) {
        live(&s, 1, -20000 * DAY + i * 3 * S);
        assert_false(timeline_is_overdue(&s.line, s.boot_us));
    }
    assert_false(s.line.sure);
    live(&s, 1, 365 * DAY);
    assert_true(timeline_is_overdue(&s.line, s.boot_us));
}

TEST(a_joiner_takes_what_it_is_told)
{
    struct timeline line;
    timeline_join(&line, STEP_MS, OFFSET_US, 5 * S);
    assert_true(line.sure);
    assert_int_equal(timeline_offset_us(&line, 6 * S), OFFSET_US);
    assert_int_equal(line.shaken_ms, 0);
}

TEST(of_an_even_number_the_lower_middle_counts)
{
    assert_int_equal(timeline_median((int64_t[]){7}, 1), 7);
    assert_int_equal(timeline_median((int64_t[]){9, 7}, 2), 7);
    assert_int_equal(timeline_median((int64_t[]){9, 1, 5}, 3), 5);
    assert_int_equal(timeline_median((int64_t[]){9, 1, 5, 4}, 4), 4);
}

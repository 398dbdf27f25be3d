#include "base/when.h"

#include "base/test/test.h"
#include "job/time/schedule.h"
#include "job/time/tzif_test.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60000, HOUR_MS = 3600000, DAY_MS = 86400000 };

static struct rng rng;

static int64_t at(const char *text)
{
    int64_t ms;
    struct err err;
    if (when_parse(str_c(text), &ms, &err))
        fail_msg("%s", err.text);
    return ms;
}

static struct schedule by_cron(const char *text, const struct zone *zone, int64_t made_ms)
{
    struct cron cron;
    struct str zone_name;
    struct err err = {0};
    struct cron_options options = {0};
    struct cron_clock clock = {.zone = zone};
    if (cron_parse(str_c(text), &options, &cron, &zone_name, &err))
        fail_msg("'%s': %s", text, err.text);
    return schedule_cron(made_ms, &cron, &clock);
}

static struct slot first_of(const struct schedule *s)
{
    struct slot slot = {0};
    assert_true(schedule_first(s, &slot));
    return slot;
}

static struct slot next_of(const struct schedule *s, const struct slot *last)
{
    struct slot slot = {0};
    assert_true(schedule_next(s, last, &slot));
    return slot;
}

/* ---- slots */

TEST(a_moment_has_one_slot)
{
    struct schedule s = schedule_at(5000);
    struct slot slot = first_of(&s);
    assert_int_equal(slot.at_ms, 5000);
    assert_int_equal(slot.nominal_ms, 5000);
    assert_false(schedule_next(&s, &slot, &slot));
    assert_false(schedule_after(&s, 5000, &slot));
    assert_true(schedule_after(&s, 4999, &slot));
    assert_int_equal(schedule_count(&s, &slot, INT64_MAX), 0);
    s = schedule_delay(1000, 250);
    assert_int_equal(first_of(&s).at_ms, 1250);
}

TEST(an_interval_does_not_drift)
{
    struct schedule s = schedule_every(12345, 90 * SECOND_MS);
    struct slot slot = first_of(&s);
    for (int64_t i = 1; i <= 100000; i++, slot = next_of(&s, &slot))
        assert_int_equal(slot.at_ms, 12345 + i * 90 * SECOND_MS);
}

TEST(an_interval_that_is_resumed_keeps_its_beat)
{
    struct schedule s = schedule_every(1000, 60 * SECOND_MS);
    struct slot slot;
    assert_true(schedule_after(&s, 1000 + 3 * MINUTE_MS, &slot));
    assert_int_equal(slot.at_ms, 1000 + 4 * MINUTE_MS);
    assert_true(schedule_after(&s, 1000 + 3 * MINUTE_MS - 1, &slot));
    assert_int_equal(slot.at_ms, 1000 + 3 * MINUTE_MS);
    assert_true(schedule_after(&s, -5, &slot));
    assert_int_equal(slot.at_ms, 1000 + MINUTE_MS);
}

TEST(cron_slots_lie_behind_the_moment_strictly)
{
    struct schedule s = by_cron("* * * * *", zone_utc(), 0);
    struct slot slot;
    assert_true(schedule_after(&s, 60000, &slot));
    assert_int_equal(slot.at_ms, 120000);
    assert_true(schedule_after(&s, 59999, &slot));
    assert_int_equal(slot.at_ms, 60000);
}

TEST(the_shortest_time_between_slots_is_the_interval)
{
    static const struct {
        const char *text;
        int64_t interval_ms;
    } cases[] = {
        {"*/15 * * * *", 900000},
        {"0 9 * * MON-FRI", 86400000},
        {"0,10 3 * * *", 600000},
        {"@every 90s", 90000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct schedule s = by_cron(cases[i].text, zone_utc(), at("2026-11-16T00:00:00Z"));
        assert_int_equal(schedule_interval_ms(&s), cases[i].interval_ms);
    }
    struct schedule once = schedule_at(1000);
    assert_int_equal(schedule_interval_ms(&once), 0);
}

/* Slot by slot over two years, in a zone with gaps and folds: nothing moves when nothing
 * changed. */
TEST(a_slot_stays_where_it_is_while_its_zone_does)
{
    static const char *const texts[] = {"30 2 * * *", "0,15,30,45 1-3 * * *", "*/20 * * * *",
                                        "0 0 29 2 *", "5 0 * * SUN"};
    struct zone *zone = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    for (size_t i = 0; i < COUNT_OF(texts) * 3; i++) {
        struct schedule s = by_cron(texts[i / 3], zone, at("2026-01-01T00:00:00Z"));
        s.clock.fold = (enum cron_fold)(i % 3);
        struct slot slot = first_of(&s);
        for (int k = 0; k < 3000 && slot.at_ms < at("2028-01-01T00:00:00Z"); k++) {
            struct slot to;
            assert_true(schedule_resettle(&s, &slot, slot.at_ms - 1000, &to));
            assert_int_equal(to.at_ms, slot.at_ms);
            assert_int_equal(to.nominal_ms, slot.nominal_ms);
            slot = next_of(&s, &slot);
        }
    }
    zone_free(zone);
}

/* Summer time is given up: three o'clock is an hour later than it was promised. */
TEST(a_promise_moves_with_its_time_of_day)
{
    struct zone *zone = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    struct schedule s = by_cron("0 3 * * *", zone, at("2026-07-01T12:00:00Z"));
    struct slot slot = first_of(&s);
    struct slot to;
    assert_int_equal(slot.at_ms, at("2026-07-02T01:00:00Z"));
    s.clock.zone = zone_utc();
    assert_true(schedule_resettle(&s, &slot, at("2026-07-01T12:00:00Z"), &to));
    assert_int_equal(to.at_ms, at("2026-07-02T03:00:00Z"));
    assert_int_equal(to.nominal_ms, slot.nominal_ms);
    zone_free(zone);
}

TEST(what_follows_real_time_goes_on_from_now)
{
    struct zone *zone = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    struct schedule s = by_cron("* 3 * * *", zone, at("2026-07-01T12:00:00Z"));
    struct slot slot = first_of(&s);
    struct slot to;
    s.clock.zone = zone_utc();
    assert_true(schedule_resettle(&s, &slot, at("2026-07-01T12:00:00Z"), &to));
    assert_int_equal(to.at_ms, at("2026-07-02T03:00:00Z"));
    zone_free(zone);
}

/* A clock that was set back, and an edit then: the schedule begins behind a slot that stands. */
TEST(a_slot_before_the_start_stays_where_it_is)
{
    struct zone *zone = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    struct schedule s = by_cron("* 3 * * *", zone, at("2026-07-01T12:00:00Z"));
    struct slot slot = first_of(&s);
    struct slot to;
    s.start_ms = slot.at_ms + 86400000;
    assert_true(schedule_resettle(&s, &slot, at("2026-07-01T12:00:00Z"), &to));
    assert_int_equal(to.at_ms, slot.at_ms);
    zone_free(zone);
}

TEST(a_cron_of_every_is_an_interval)
{
    struct schedule s = by_cron("@every 1500ms", zone_utc(), 77);
    assert_int_equal(s.kind, SCHEDULE_EVERY);
    assert_int_equal(first_of(&s).at_ms, 1577);
}

TEST(a_slot_is_known_by_its_local_time)
{
    struct zone *berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    struct schedule s = by_cron("30 2 * * *", berlin, at("2026-03-28T12:00:00Z"));
    struct slot slot = first_of(&s);
    assert_int_equal(slot.at_ms, at("2026-03-29T01:00:00Z"));
    assert_int_equal(slot.nominal_ms, at("2026-03-29T02:30:00Z"));
    zone_free(berlin);
}

TEST(schedules_end_where_times_cannot_be_written)
{
    struct slot slot = {.at_ms = WHEN_MAX_MS, .nominal_ms = WHEN_MAX_MS};
    struct schedule every = schedule_every(0, SECOND_MS);
    struct schedule cron = by_cron("* * * * *", zone_utc(), 0);
    assert_false(schedule_next(&every, &slot, &slot));
    assert_false(schedule_next(&cron, &slot, &slot));
    assert_false(schedule_after(&cron, INT64_MAX, &slot));
}

TEST(two_zones_must_agree)
{
    struct str name;
    struct str berlin = STR("Europe/Berlin");
    assert_int_equal(schedule_zone_name(berlin, (struct str){0}, &name, NULL), RC_OK);
    assert_true(str_eq(name, berlin));
    assert_int_equal(schedule_zone_name((struct str){0}, berlin, &name, NULL), RC_OK);
    assert_true(str_eq(name, berlin));
    assert_int_equal(schedule_zone_name(berlin, berlin, &name, NULL), RC_OK);
    assert_int_equal(schedule_zone_name(berlin, STR("UTC"), &name, NULL), RC_INVALID);
    assert_int_equal(schedule_zone_name((struct str){0}, (struct str){0}, &name, NULL), RC_OK);
    assert_true(str_eq(name, STR("UTC")));
}

TEST(stagger_spreads_evenly_and_stays)
{
    enum { JOBS = 60000, MINUTES = 30 };
    int64_t stagger_ms = INT64_C(30) * MINUTE_MS;
    unsigned per_minute[MINUTES] = {0};
    for (uint64_t id = 1; id <= JOBS; id++) {
        int64_t share_ms = schedule_stagger_ms(id << 22, stagger_ms);
        assert_in_range(share_ms, 0, stagger_ms - 1);
        assert_int_equal(schedule_stagger_ms(id << 22, stagger_ms), share_ms);
        per_minute[share_ms / MINUTE_MS]++;
    }
    for (size_t i = 0; i < MINUTES; i++)
        assert_in_range(per_minute[i], JOBS / MINUTES * 9 / 10, JOBS / MINUTES * 11 / 10);
    assert_int_equal(schedule_stagger_ms(7, 0), 0);
}

/* ---- catching up */

/* Looks at every slot, one by one: the plan as it ought to be. */
static struct catch_up walk_plan(const struct schedule *s, struct slot due, int64_t now_ms,
                                 const struct misfire *misfire)
{
    struct catch_up plan = {0};
    uint64_t total = 0;
    uint64_t fire = misfire->policy == MISFIRE_LATEST ? 1 : misfire->limit;
    now_ms -= s->stagger_ms;
    struct slot slot = due;
    for (bool more = true; more && slot.at_ms <= now_ms; more = schedule_next(s, &slot, &slot))
        total++;
    slot = due;
    for (uint64_t i = 0; i < total; i++) {
        bool stalled = slot.at_ms >= now_ms - SCHEDULE_STALL_MS;
        bool fires =
            misfire->policy == MISFIRE_SKIP ? stalled && i + 1 == total : i + fire >= total;
        struct slot_range *range = slot.at_ms < now_ms - misfire->grace_ms ? &plan.expired
                                   : fires                                 ? &plan.fire
                                                                           : &plan.passed;
        if (range->count++ == 0)
            range->first = slot;
        range->last = slot;
        plan.has_next = schedule_next(s, &slot, &plan.next);
        slot = plan.next;
    }
    return plan;
}

static void expect_range(const struct slot_range *found, const struct slot_range *wanted)
{
    assert_int_equal(found->count, wanted->count);
    if (found->count == 0)
        return;
    assert_int_equal(found->first.at_ms, wanted->first.at_ms);
    assert_int_equal(found->first.nominal_ms, wanted->first.nominal_ms);
    assert_int_equal(found->last.at_ms, wanted->last.at_ms);
    assert_int_equal(found->last.nominal_ms, wanted->last.nominal_ms);
    assert_int_equal(found->last.again, wanted->last.again);
}

static void expect_plan(const struct schedule *s, struct slot due, int64_t now_ms,
                        const struct misfire *misfire)
{
    struct catch_up found;
    struct catch_up wanted = walk_plan(s, due, now_ms, misfire);
    schedule_catch_up(s, &due, now_ms, misfire, &found);
    expect_range(&found.expired, &wanted.expired);
    expect_range(&found.passed, &wanted.passed);
    expect_range(&found.fire, &wanted.fire);
    assert_int_equal(found.has_next, wanted.has_next);
    if (found.has_next) {
        assert_int_equal(found.next.at_ms, wanted.next.at_ms);
        assert_true(found.next.at_ms > now_ms - s->stagger_ms);
    }
}

TEST(a_slot_on_time_just_fires)
{
    struct schedule s = by_cron("0 3 * * *", zone_utc(), at("2026-11-15T12:00:00Z"));
    struct slot due = first_of(&s);
    struct catch_up plan;
    for (int policy = MISFIRE_LATEST; policy <= MISFIRE_SKIP; policy++) {
        struct misfire misfire = {(enum misfire_policy)policy, DAY_MS, 10};
        schedule_catch_up(&s, &due, due.at_ms + 3, &misfire, &plan);
        assert_int_equal(plan.expired.count + plan.passed.count, 0);
        assert_int_equal(plan.fire.count, 1);
        assert_int_equal(plan.fire.first.at_ms, due.at_ms);
        assert_int_equal(plan.next.at_ms, due.at_ms + DAY_MS);
    }
}

TEST(after_a_week_the_latest_fires_and_the_rest_is_one_range)
{
    struct schedule s = by_cron("*/15 * * * *", zone_utc(), at("2026-11-09T00:00:00Z"));
    struct slot due = first_of(&s);
    struct catch_up plan;
    schedule_catch_up(&s, &due, at("2026-11-16T00:07:00Z"), &misfire_default, &plan);
    assert_int_equal(plan.expired.count, 6 * 96);
    assert_int_equal(plan.expired.first.at_ms, at("2026-11-09T00:15:00Z"));
    assert_int_equal(plan.expired.last.at_ms, at("2026-11-15T00:00:00Z"));
    assert_int_equal(plan.passed.count, 95);
    assert_int_equal(plan.passed.last.at_ms, at("2026-11-15T23:45:00Z"));
    assert_int_equal(plan.fire.count, 1);
    assert_int_equal(plan.fire.first.at_ms, at("2026-11-16T00:00:00Z"));
    assert_int_equal(plan.next.at_ms, at("2026-11-16T00:15:00Z"));
}

TEST(all_means_the_newest_up_to_the_limit)
{
    struct schedule s = schedule_every(0, MINUTE_MS);
    struct slot due = first_of(&s);
    struct misfire misfire = {MISFIRE_ALL, 10 * HOUR_MS, 100};
    struct catch_up plan;
    schedule_catch_up(&s, &due, 300 * MINUTE_MS, &misfire, &plan);
    assert_int_equal(plan.expired.count, 0);
    assert_int_equal(plan.passed.count, 200);
    assert_int_equal(plan.fire.count, 100);
    assert_int_equal(plan.fire.first.at_ms, 201 * MINUTE_MS);
    assert_int_equal(plan.fire.last.at_ms, 300 * MINUTE_MS);
    assert_int_equal(plan.next.at_ms, 301 * MINUTE_MS);
}

TEST(skip_fires_the_newest_unless_that_is_late)
{
    struct schedule s = schedule_every(0, HOUR_MS);
    struct slot due = first_of(&s);
    struct misfire misfire = {MISFIRE_SKIP, DAY_MS, 100};
    struct catch_up plan;
    schedule_catch_up(&s, &due, 5 * HOUR_MS + MINUTE_MS + 1, &misfire, &plan);
    assert_int_equal(plan.passed.count, 5);
    assert_int_equal(plan.fire.count, 0);
    schedule_catch_up(&s, &due, 5 * HOUR_MS + MINUTE_MS, &misfire, &plan);
    assert_int_equal(plan.passed.count, 4);
    assert_int_equal(plan.fire.count, 1);
    s = schedule_every(0, 10000); /* of several in that time only one */
    due = first_of(&s);
    schedule_catch_up(&s, &due, 60000, &misfire, &plan);
    assert_int_equal(plan.passed.count, 5);
    assert_int_equal(plan.fire.first.at_ms, 60000);
    assert_int_equal(plan.fire.count, 1);
}

TEST(nothing_older_than_the_grace_fires)
{
    struct schedule s = by_cron("0 3 * * 1", zone_utc(), at("2026-11-08T00:00:00Z"));
    struct slot due = first_of(&s);
    struct catch_up plan;
    schedule_catch_up(&s, &due, at("2026-11-14T00:00:00Z"), &misfire_default, &plan);
    assert_int_equal(plan.expired.count, 1);
    assert_int_equal(plan.fire.count, 0);
    assert_int_equal(plan.next.at_ms, at("2026-11-16T03:00:00Z"));
}

TEST(a_staggered_slot_is_not_late_before_its_share)
{
    struct schedule s = by_cron("0 0 * * *", zone_utc(), at("2026-11-15T12:00:00Z"));
    struct misfire misfire = {MISFIRE_SKIP, DAY_MS, 1};
    struct catch_up plan;
    s.stagger_ms = 20 * MINUTE_MS;
    struct slot due = first_of(&s);
    assert_int_equal(schedule_due_ms(&s, &due), at("2026-11-16T00:20:00Z"));
    schedule_catch_up(&s, &due, at("2026-11-16T00:20:00.5Z"), &misfire, &plan);
    assert_int_equal(plan.fire.count, 1);
}

/* A minute for a thousand years: a walk would take minutes. */
TEST(a_thousand_years_are_counted_not_walked)
{
    struct zone *berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    struct schedule s = by_cron("* * * * *", berlin, at("2026-01-01T00:00:00Z"));
    struct slot due = first_of(&s);
    struct catch_up plan;
    int64_t now_ms = at("3026-01-01T00:00:00Z");
    schedule_catch_up(&s, &due, now_ms, &misfire_default, &plan);
    assert_int_equal(plan.expired.count + plan.passed.count + 1,
                     (now_ms - at("2026-01-01T00:00:00Z")) / MINUTE_MS);
    assert_int_equal(plan.fire.first.at_ms, now_ms);
    zone_free(berlin);
}

TEST(random_plans_agree_with_a_walk)
{
    static const char *const texts[] = {"*/15 * * * *", "30 2 * * *",     "0,20,40 1-3 * * *",
                                        "0 0 1 * *",    "5 * * * MON",    "0 2,3 * * *",
                                        "0 9 LW * *",   "*/30 2 * * SUN", "@every 37m"};
    struct zone *berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    for (int i = 0; i < 3000; i++) {
        int64_t made_ms =
            at("2026-01-01T00:00:00Z") + (int64_t)rng_below(&rng, (uint64_t)300 * DAY_MS);
        struct schedule s = by_cron(texts[rng_below(&rng, COUNT_OF(texts))], berlin, made_ms);
        s.clock.gap = (enum cron_gap)rng_below(&rng, 2);
        s.clock.fold = (enum cron_fold)rng_below(&rng, 3);
        s.stagger_ms = rng_below(&rng, 2) == 0 ? 0 : (int64_t)rng_below(&rng, HOUR_MS);
        struct misfire misfire = {(enum misfire_policy)rng_below(&rng, 3),
                                  (int64_t)rng_below(&rng, (uint64_t)20 * DAY_MS),
                                  1 + (uint32_t)rng_below(&rng, 50)};
        struct slot due = first_of(&s);
        int64_t now_ms = due.at_ms + s.stagger_ms +
                         (int64_t)rng_below(&rng, (uint64_t)(i % 3 == 0 ? 30 : 2) * DAY_MS);
        expect_plan(&s, due, now_ms, &misfire);
    }
    zone_free(berlin);
}

TEST(a_range_ends_with_the_last_slot_until_a_moment)
{
    struct schedule s = schedule_every(1000, 500);
    struct slot first;
    assert_true(schedule_first(&s, &first));
    struct slot_range range = schedule_range(&s, &first, 3100);
    assert_int_equal(range.count, 4); /* 1500, 2000, 2500, 3000 */
    assert_int_equal(range.first.at_ms, 1500);
    assert_int_equal(range.last.at_ms, 3000);
    assert_int_equal(schedule_range(&s, &first, 1500).count, 1);
    assert_int_equal(schedule_range(&s, &first, 1499).count, 0);
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)

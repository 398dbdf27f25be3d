#include "base/when.h"
#include "job/time/preview.h"
#include "job/time/tzif_test.h"

static struct arena arena;
static struct zone *berlin;

static int64_t at(const char *text)
{
    int64_t ms;
    struct err err;
    if (when_parse(str_c(text), &ms, &err))
        fail_msg("%s", err.text);
    return ms;
}

/* The preview of an expression in Berlin. */
static struct preview preview_of(const char *text, const char *from, size_t count,
                                 enum cron_gap gap, enum cron_fold fold)
{
    struct cron cron;
    struct str zone_name;
    struct err err = {0};
    struct cron_options options = {0};
    struct cron_clock clock = {berlin, gap, fold};
    struct preview preview;
    if (cron_parse(str_c(text), &options, &cron, &zone_name, &err))
        fail_msg("'%s': %s", text, err.text);
    struct schedule s = schedule_cron(at(from), &cron, &clock);
    preview_make(&s, STR("Europe/Berlin"), at(from), count, &arena, &preview);
    return preview;
}

static void expect_note(const struct preview *p, const char *when, const char *text)
{
    assert_int_equal(p->note_count, 1);
    assert_string_equal(p->notes[0].text.ptr, text);
    assert_int_equal(p->notes[0].at_ms, at(when));
}

TEST(runs_follow_the_moment_strictly)
{
    struct preview p =
        preview_of("0 3 * * *", "2026-11-16T02:00:00Z", 3, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    assert_string_equal(p.text.ptr, "at 03:00 every day (Europe/Berlin)");
    assert_int_equal(p.run_count, 3);
    assert_int_equal(p.runs[0].at_ms, at("2026-11-17T02:00:00Z"));
    assert_int_equal(p.runs[2].at_ms, at("2026-11-19T02:00:00Z"));
    assert_int_equal(p.runs[0].offset_s, 3600);
    assert_int_equal(p.note_count, 0);
}

TEST(a_time_in_a_gap_is_noted)
{
    const char *from = "2026-03-28T12:00:00Z";
    struct preview p = preview_of("30 2 * * *", from, 2, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    expect_note(&p, "2026-03-29T01:00:00Z",
                "clocks go forward from 02:00 to 03:00 on 2026-03-29, so 02:30 does not exist: it "
                "runs at 03:00");
    assert_int_equal(p.runs[0].at_ms, p.notes[0].at_ms);
    p = preview_of("30 2 * * *", from, 2, CRON_GAP_SKIP, CRON_FOLD_FIRST);
    expect_note(&p, "2026-03-29T01:00:00Z",
                "clocks go forward from 02:00 to 03:00 on 2026-03-29, so 02:30 does not exist: no "
                "run");
    p = preview_of("0,15,30 2 * * *", from, 2, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    expect_note(
        &p, "2026-03-29T01:00:00Z",
        "clocks go forward from 02:00 to 03:00 on 2026-03-29, so 3 times from 02:00 to 02:30 "
        "do not exist: they run once, at 03:00");
}

TEST(a_time_in_a_fold_is_noted)
{
    const char *from = "2026-10-24T12:00:00Z";
    struct preview p = preview_of("30 2 * * *", from, 2, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    expect_note(
        &p, "2026-10-25T00:30:00Z",
        "clocks go back from 03:00 to 02:00 on 2026-10-25, so 02:30 comes up twice: it runs "
        "the first time");
    p = preview_of("30 2 * * *", from, 2, CRON_GAP_AFTER, CRON_FOLD_SECOND);
    expect_note(
        &p, "2026-10-25T01:30:00Z",
        "clocks go back from 03:00 to 02:00 on 2026-10-25, so 02:30 comes up twice: it runs "
        "the second time");
    p = preview_of("*/30 * * * *", "2026-10-24T23:00:00Z", 4, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    expect_note(&p, "2026-10-25T00:00:00Z",
                "clocks go back from 03:00 to 02:00 on 2026-10-25, so 2 times from 02:00 to 02:30 "
                "come up twice: they run both times");
}

TEST(a_note_about_the_last_run_is_not_lost)
{
    struct preview p =
        preview_of("30 2 * * *", "2026-10-24T12:00:00Z", 1, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    assert_int_equal(p.run_count, 1);
    assert_int_equal(p.note_count, 1);
    assert_int_equal(p.notes[0].at_ms, p.runs[0].at_ms);
}

TEST(changes_that_touch_nothing_are_not_noted)
{
    struct preview p =
        preview_of("0 12 * * *", "2026-03-01T00:00:00Z", 300, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    assert_int_equal(p.run_count, 300);
    assert_int_equal(p.note_count, 0);
}

TEST(notes_have_a_limit)
{
    struct preview p = preview_of("30 2 * 3,10 SUNL", "2026-01-01T00:00:00Z", PREVIEW_RUNS_MAX,
                                  CRON_GAP_AFTER, CRON_FOLD_FIRST);
    assert_int_equal(p.run_count, PREVIEW_RUNS_MAX);
    assert_int_equal(p.note_count, PREVIEW_NOTES_MAX);
}

TEST(a_schedule_may_end_before_the_count)
{
    struct preview p;
    struct schedule s = schedule_at(at("2026-11-16T08:00:00Z"));
    preview_make(&s, STR("UTC"), at("2026-11-16T00:00:00Z"), 5, &arena, &p);
    assert_int_equal(p.run_count, 1);
    assert_string_equal(p.text.ptr, "once, at 2026-11-16T08:00:00.000Z");
    preview_make(&s, STR("UTC"), at("2026-11-16T08:00:00Z"), 5, &arena, &p);
    assert_int_equal(p.run_count, 0);
}

TEST(an_interval_counts_from_the_moment)
{
    struct preview p =
        preview_of("@every 90s", "2026-11-16T00:00:10Z", 2, CRON_GAP_AFTER, CRON_FOLD_FIRST);
    assert_string_equal(p.text.ptr, "every 1m30s");
    assert_int_equal(p.runs[0].at_ms, at("2026-11-16T00:01:40Z"));
    assert_int_equal(p.runs[1].at_ms, at("2026-11-16T00:03:10Z"));
    assert_int_equal(p.runs[0].offset_s, 3600);
}

static int begin(void **state)
{
    (void)state;
    berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    zone_free(berlin);
    return 0;
}

TEST_GROUP(begin, end)

/* report_test.c - heat maps, the order of rows, and why a plan fails. */
#include "base/test/test.h"
#include "plan/report.h"

#include <string.h>

#define NOW_MS INT64_C(1767225600000) /* 2026-01-01, a Thursday */
#define HOUR_MS INT64_C(3600000)

static struct world world;
static struct plan before;
static struct plan after;
static struct arena arena;
static struct buf out;

static int open_plans(void **state)
{
    (void)state;
    world_open(&world);
    world.now_ms = NOW_MS;
    before = after = (struct plan){0};
    out = BUF(1 << 16);
    return 0;
}

static int close_plans(void **state)
{
    (void)state;
    score_close(&before.score);
    score_close(&after.score);
    world_close(&world);
    arena_free(&arena);
    buf_free(&out);
    return 0;
}

static void add_job(uint64_t id, const char *name)
{
    struct job_rec rec = {
        .id = id,
        .state = JOB_ACTIVE,
        .name = str_c(name),
        .queue = STR("q"),
        .spec =
            STR("{\"command\":[\"true\"],\"queue\":\"q\",\"schedule\":{\"cron\":\"* * * * *\"}}"),
    };
    world_add_job(&world, &rec, -1);
}

static void open_score(struct score *s, int64_t for_ms)
{
    struct err err = {0};
    struct score_window window = {NOW_MS, NOW_MS + for_ms, HOUR_MS, STR(""), STR("")};
    assert_int_equal(score_open(s, &world, &window, &err), RC_OK);
}

static struct counts *counts_of(struct plan *plan, const char *name)
{
    return &((struct score_row *)strmap_get(&plan->score.rows_by_name, str_c(name)))->counts;
}

static bool has_line(const char *line)
{
    size_t len = strlen(line);
    struct str rest = buf_str(&out);
    while (rest.len > 0) {
        struct str one = str_cut(&rest, '\n');
        if (one.len == len && memcmp(one.ptr, line, len) == 0)
            return true;
    }
    return false;
}

TEST(few_days_have_a_line_each, open_plans, close_plans)
{
    add_job(1, "a");
    open_score(&before.score, 48 * HOUR_MS);
    for (int i = 0; i < 9; i++)
        score_firing(&before.score, 1, NOW_MS + 3 * HOUR_MS + i, FATE_RUNS);
    score_firing(&before.score, 1, NOW_MS + 47 * HOUR_MS, FATE_RUNS);
    score_firing(&before.score, 1, NOW_MS + 48 * HOUR_MS, FATE_RUNS); /* behind the end */
    heat_print(&before.score, &out);
    assert_true(has_line("2026-01-01 Thu |      @@                                        | 9"));
    assert_true(has_line("2026-01-02 Fri |                                              ..| 1"));
    assert_int_equal(before.score.all.firings, 10);
}

TEST(many_days_are_averaged_by_weekday, open_plans, close_plans)
{
    add_job(1, "a");
    open_score(&before.score, 15 * 24 * HOUR_MS); /* three Thursdays, two of all others */
    for (int day = 0; day < 15; day++) {
        for (int i = 0; i < 6; i++)
            score_firing(&before.score, 1, NOW_MS + (day * 24 + 5) * HOUR_MS + i, FATE_RUNS);
    }
    heat_print(&before.score, &out);
    assert_true(has_line("Mon            |          @@                                    | 6"));
    assert_true(has_line("Thu            |          @@                                    | 6"));
}

TEST(nothing_has_no_heat, open_plans, close_plans)
{
    open_score(&before.score, HOUR_MS);
    heat_print(&before.score, &out);
    assert_int_equal(out.len, 0);
}

TEST(what_is_in_trouble_comes_first, open_plans, close_plans)
{
    size_t count;
    add_job(1, "quiet");
    add_job(2, "busy");
    add_job(3, "troubled");
    add_job(4, "silent");
    open_score(&before.score, HOUR_MS);
    counts_of(&before, "quiet")->firings = 1;
    counts_of(&before, "busy")->firings = 9;
    counts_of(&before, "troubled")->firings = 1;
    counts_of(&before, "troubled")->late = 1;
    const struct score_row **rows = rows_sorted(&before.score, BY_JOB, &arena, &count);
    assert_int_equal(count, 3);
    assert_true(str_eq(rows[0]->name, STR("troubled")));
    assert_true(str_eq(rows[1]->name, STR("busy")));
    assert_true(str_eq(rows[2]->name, STR("quiet")));
}

TEST(a_plan_fails_by_what_was_asked_for, open_plans, close_plans)
{
    struct err err;
    unsigned bits;
    struct report r = {.before = &before};
    add_job(1, "a");
    add_job(2, "b");
    open_score(&before.score, HOUR_MS);
    counts_of(&before, "a")->late = 1;
    counts_of(&before, "b")->late = 2;
    assert_int_equal(fail_on_parse("overlap,late", &bits, &err), RC_OK);
    struct str why = fail_reason(&r, bits, &arena);
    assert_true(str_eq(why, STR("3 start late (most of 'b')")));
    assert_int_equal(fail_on_parse("overlap,skipped", &bits, &err), RC_OK);
    assert_int_equal(fail_reason(&r, bits, &arena).len, 0);
    before.end.why = STOP_FIRINGS;
    assert_true(fail_reason(&r, bits, &arena).len > 0);
    assert_int_equal(fail_reason(&r, 0, &arena).len, 0);
    assert_int_equal(fail_on_parse("overlap,", &bits, &err), RC_INVALID);
    assert_int_equal(fail_on_parse("", &bits, &err), RC_INVALID);
}

TEST(with_a_file_only_what_gets_worse_counts, open_plans, close_plans)
{
    struct report r = {.before = &before, .after = &after};
    add_job(1, "better");
    add_job(2, "worse");
    open_score(&before.score, HOUR_MS);
    open_score(&after.score, HOUR_MS);
    counts_of(&before, "better")->skips[SKIP_OVERLAP] = 10;
    counts_of(&before, "worse")->skips[SKIP_MISSED] = 1;
    counts_of(&after, "worse")->skips[SKIP_CALENDAR] = 3;
    struct str why = fail_reason(&r, FAIL_SKIPPED, &arena);
    assert_true(str_eq(why, STR("2 more are skipped (most of 'worse')")));
    assert_true(row_is_worse(counts_of(&before, "worse"), counts_of(&after, "worse")));
    assert_false(row_is_worse(counts_of(&before, "better"), counts_of(&after, "better")));
}

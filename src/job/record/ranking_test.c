/* The keys of a scope side by side. */
#include "base/test/test.h"
#include "job/record/ranking.h"

static struct arena arena;

#define ROW(...) (&(const struct tally){__VA_ARGS__})

static void add(struct ranking *r, const char *key, enum exec_state end, uint64_t count,
                uint64_t sum_ms)
{
    ranking_add(r, ROW(.scope = TALLY_QUEUE, .key = str_c(key), .end = end, .count = count,
                       .sum_ms = sum_ms));
}

static void assert_shown(const struct ranking *r, size_t i, const char *key)
{
    assert_true(i < r->shown_count);
    assert_true(str_eq(r->shown[i]->key, str_c(key)));
}

static struct ranking sample(void)
{
    struct ranking r = ranking_new(&arena);
    add(&r, "good", EXEC_COMPLETED, 90, 900);
    add(&r, "bad", EXEC_FAILED, 5, 0);
    add(&r, "bad", EXEC_COMPLETED, 95, 9500);
    add(&r, "bad", EXEC_TIMEOUT, 2, 0);
    add(&r, "worse", EXEC_FAILED, 3, 0);
    add(&r, "worse", EXEC_DEDUPLICATED, 1, 0);
    add(&r, "good", EXEC_COMPLETED, 10, 100);
    return r;
}

TEST(rows_of_a_key_are_added_up)
{
    CLEANUP(ranking_free) struct ranking r = sample();
    ranking_sort(&r, REPORT_FAILURES, ranking_order_find(REPORT_FAILURES, STR("")), 10);
    assert_int_equal(r.shown_count, 2); /* one of them never failed */
    assert_shown(&r, 0, "bad");
    assert_shown(&r, 1, "worse");
    assert_true(r.shown[0]->failed == 7 && r.shown[0]->completed == 95);
    assert_true(r.others_count == 0 && ranked_ended(&r.others) == 100);
    assert_int_equal(ranked_ended(&r.total), 206);
}

TEST(an_order_puts_first_what_it_is_about)
{
    static const struct {
        enum report_kind kind;
        const char *order;
        const char *first;
    } cases[] = {
        {REPORT_FAILURES, "rate", "worse"},  {REPORT_FAILURES, "total", "bad"},
        {REPORT_FAILURES, "key", "bad"},     {REPORT_SUCCESSES, "", "good"},
        {REPORT_SUCCESSES, "rate", "worse"}, {REPORT_SLOWEST, "", "bad"},
        {REPORT_SLOWEST, "time", "bad"},     {REPORT_SLOWEST, "completed", "good"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(ranking_free) struct ranking r = sample();
        ranking_sort(&r, cases[i].kind, ranking_order_find(cases[i].kind, str_c(cases[i].order)),
                     1);
        assert_shown(&r, 0, cases[i].first);
    }
    assert_null(ranking_order_find(REPORT_SLOWEST, STR("failed")));
    assert_true(str_eq(ranking_orders(REPORT_FAILURES, &arena), STR("failed, rate, total, key")));
}

TEST(what_is_not_shown_is_one_sum)
{
    CLEANUP(ranking_free) struct ranking r = sample();
    r.lines.items[0]->left_out = true; /* "good" */
    ranking_sort(&r, REPORT_SUCCESSES, ranking_order_find(REPORT_SUCCESSES, STR("")), 1);
    assert_shown(&r, 0, "bad");
    assert_true(r.others_count == 1 && r.others.failed == 3 && r.others.deduplicated == 1);
    assert_int_equal(ranked_ended(&r.total), 106);
}

TEST(slas_are_counted_apart_and_those_without_a_name_are_among_the_others)
{
    CLEANUP(ranking_free) struct ranking r = ranking_new(&arena);
    ranking_add(&r, ROW(.scope = TALLY_SLA_TEAM, .key = STR("ops"), .end = EXEC_COMPLETED,
                        .bucket = TALLY_SLA_MET, .count = 9));
    ranking_add(&r, ROW(.scope = TALLY_SLA_TEAM, .key = STR("ops"), .end = EXEC_COMPLETED,
                        .bucket = TALLY_SLA_BROKEN, .count = 1));
    ranking_add(&r, ROW(.scope = TALLY_SLA_TEAM, .key = STR(""), .end = EXEC_COMPLETED,
                        .bucket = TALLY_SLA_MET, .count = 5));
    ranking_add(&r, ROW(.scope = TALLY_SLA_TEAM, .key = STR("new"), .end = EXEC_COMPLETED,
                        .bucket = TALLY_SLA_KINDS, .count = 5)); /* of a newer version */
    ranking_sort(&r, REPORT_SLA, ranking_order_find(REPORT_SLA, STR("")), 10);
    assert_int_equal(r.shown_count, 1);
    assert_shown(&r, 0, "ops");
    assert_int_equal(ranked_slas(r.shown[0]), 10);
    assert_int_equal(ranked_slas(&r.others), 5);
    assert_int_equal(ranked_slas(&r.total), 15);
}

#include "base/test/test.h"
#include "server/metrics/metric_table.h"

#include <stdlib.h>

static const struct str total = STR_INIT("_total");

static bool ends_with(struct str name, struct str end)
{
    return name.len > end.len && str_eq(str_from(name, name.len - end.len), end);
}

TEST(a_name_is_good_and_there_is_one_metric_of_it)
{
    for (size_t i = 0; i < metric_count; i++) {
        struct str name = metric_table[i].name;
        for (size_t k = 0; k < name.len; k++)
            assert_true((name.ptr[k] >= 'a' && name.ptr[k] <= 'z') || name.ptr[k] == '_');
        for (size_t k = 0; k < i; k++)
            assert_false(str_eq(name, metric_table[k].name));
        assert_true(str_c(metric_table[i].words).len > 0);
        assert_int_equal(str_index(str_c(metric_table[i].words), '\\'),
                         str_c(metric_table[i].words).len);
    }
}

TEST(counters_and_only_counters_are_totals)
{
    for (size_t i = 0; i < metric_count; i++)
        assert_int_equal(ends_with(metric_table[i].name, total),
                         metric_table[i].kind == METRIC_COUNTER);
}

/* Readers of OpenMetrics would take them for something else. */
TEST(no_name_has_an_ending_that_formats_use)
{
    static const struct str ends[] = {STR_INIT("_sum"), STR_INIT("_count"), STR_INIT("_bucket"),
                                      STR_INIT("_created_total"), STR_INIT("_created")};
    for (size_t i = 0; i < metric_count; i++) {
        for (size_t k = 0; k < COUNT_OF(ends); k++) {
            bool promised = str_eq(metric_table[i].name, STR("pending_job_count"));
            assert_false(!promised && ends_with(metric_table[i].name, ends[k]));
        }
    }
}

TEST(what_is_in_seconds_is_kept_in_a_scale_of_time)
{
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *m = &metric_table[i];
        bool seconds =
            ends_with(m->name, STR("_seconds")) || ends_with(m->name, STR("_seconds_total"));
        bool timed = m->scale != SCALE_ONE && m->scale != SCALE_HALF && m->scale != SCALE_PERMILLE;
        assert_int_equal(seconds, timed);
        assert_int_equal(m->kind == METRIC_HISTOGRAM, m->scale >= SCALE_RUN);
    }
}

/* metrics.c sets all gauges of a queue from the first one on. */
TEST(gauges_of_queues_come_last)
{
    for (size_t i = 0; i < metric_count; i++) {
        if (metric_table[i].axis == AXIS_QUEUE)
            assert_int_equal(metric_table[i].kind == METRIC_GAUGE,
                             metric_table[i].cell >= CELL_DEPTH);
    }
}

TEST(a_value_at_a_bound_is_below_it)
{
    assert_int_equal(metric_bucket(SCALE_RUN, 0), 0);
    assert_int_equal(metric_bucket(SCALE_RUN, 100), 0);
    assert_int_equal(metric_bucket(SCALE_RUN, 101), 1);
    assert_int_equal(metric_bucket(SCALE_RUN, 3600001), METRIC_BUCKETS - 1);
    assert_int_equal(metric_bucket(SCALE_CALL, INT64_MAX), METRIC_BUCKETS - 1);
}

TEST(bounds_grow_and_are_written_as_they_are)
{
    static const struct {
        enum metric_scale scale;
        double unit;
    } scales[] = {{SCALE_RUN, 1e3}, {SCALE_WAIT, 1e3}, {SCALE_CALL, 1e6}};
    for (size_t s = 0; s < COUNT_OF(scales); s++) {
        const int64_t *bounds = metric_bounds(scales[s].scale);
        for (size_t i = 0; i + 1 < METRIC_BUCKETS; i++) {
            char *end;
            double shown = strtod(metric_bound_text(scales[s].scale, i).ptr, &end);
            assert_true(bounds[i] < bounds[i + 1]);
            assert_true((int64_t)(shown * scales[s].unit + 0.5) == bounds[i]);
        }
        assert_true(str_eq(metric_bound_text(scales[s].scale, METRIC_BUCKETS - 1), STR("+Inf")));
    }
}

TEST(endings_that_dashboards_use_are_there)
{
    static const char *const names[] = {
        "jobs_enqueued_total",
        "jobs_completed_total",
        "jobs_failed_total",
        "queue_depth",
        "circuit_breaker_state",
        "scheduler_is_leader",
        "pending_job_count",
        "dlq_depth",
        "worker_utilization",
        "schedule_lag_seconds",
        "execution_duration_seconds",
        "queue_wait_seconds",
        "alerts_total",
    };
    for (size_t n = 0; n < COUNT_OF(names); n++) {
        size_t found = 0;
        for (size_t i = 0; i < metric_count; i++)
            found += str_eq(metric_table[i].name, str_c(names[n]));
        assert_int_equal(found, 1);
    }
}

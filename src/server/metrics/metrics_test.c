#include "base/arena.h"
#include "base/test/test.h"
#include "engine/explain/gauges.h"
#include "job/command/command.h"
#include "server/metrics/exposition.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 10000, ROUTES = 3 };
#define HOUR_MS INT64_C(3600000)

static struct metrics *m;
static struct arena arena;

static int start(void **state)
{
    (void)state;
    m = metrics_new(LINES, 2, ROUTES);
    return 0;
}

static int end(void **state)
{
    (void)state;
    metrics_free(m);
    arena_free(&arena);
    return 0;
}

static void label(size_t route, struct buf *out)
{
    buf_printf(out, "route=\"r%zu\",method=\"GET\"", route);
}

/* The whole scrape. */
static struct str scrape(bool openmetrics)
{
    CLEANUP(buf_free) struct buf out = BUF(16 << 20);
    struct metric_copy *copy = ARENA_NEW(&arena, struct metric_copy);
    const struct exposition x = {STR("t_"), openmetrics};
    metrics_copy(m, &arena, label, copy);
    copy->axes[AXIS_THREAD] = (struct metric_rows){NULL, 0};
    exposition_print(&x, copy, &out);
    assert_false(out.overflow);
    return arena_str(&arena, buf_str(&out));
}

static bool has(struct str text, const char *line)
{
    char *z = arena_zstr(&arena, text);
    const char *at = strstr(z, line);
    size_t len = str_c(line).len;
    for (; at != NULL; at = strstr(at + 1, line)) {
        if ((at == z || at[-1] == '\n') && (at[len] == '\n' || at[len] == '\0'))
            return true;
    }
    return false;
}

static void expect(const char *line)
{
    struct str text = scrape(false);
    if (!has(text, line))
        fail_msg("no line %s in\n%.*s", line, STR_ARG(text));
}

static void expect_none(const char *part)
{
    assert_null(strstr(arena_zstr(&arena, scrape(false)), part));
}

static size_t count_lines(struct str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

static struct event created(const char *queue)
{
    return (struct event){.exec_id = 1,
                          .event = EV_CREATE,
                          .state = EXEC_QUEUED,
                          .queue = str_c(queue),
                          .lag_ms = -1,
                          .took_ms = -1};
}

static void happens(const struct event *event)
{
    metrics_event(m, event, 1000);
}

static void happens_in(const char *queue, int64_t now_ms)
{
    const struct event event = created(queue);
    metrics_event(m, &event, now_ms);
}

static struct event ended(enum exec_event event, enum exec_state state)
{
    return (struct event){.exec_id = 1,
                          .event = event,
                          .state = state,
                          .queue = STR("mail"),
                          .handler = STR("send"),
                          .lag_ms = -1,
                          .took_ms = 1500};
}

/* ---- events */

TEST(the_life_of_an_execution_is_counted_once, start, end)
{
    struct event event = created("mail");
    happens(&event);
    event.event = EV_LEASE;
    event.state = EXEC_RUNNING;
    event.waited_ms = 20;
    event.lag_ms = 31000;
    happens(&event);
    event = ended(EV_SUCCEED, EXEC_COMPLETED);
    happens(&event);
    expect("t_executions_added_total{queue=\"mail\"} 1");
    expect("t_jobs_enqueued_total{queue=\"mail\"} 1");
    expect("t_jobs_started_total{queue=\"mail\"} 1");
    expect("t_jobs_completed_total{queue=\"mail\"} 1");
    expect("t_jobs_failed_total{queue=\"mail\"} 0");
    expect("t_queue_wait_seconds_bucket{queue=\"mail\",le=\"0.01\"} 0");
    expect("t_queue_wait_seconds_bucket{queue=\"mail\",le=\"0.025\"} 1");
    expect("t_schedule_lag_seconds_bucket{queue=\"mail\",le=\"30.0\"} 0");
    expect("t_schedule_lag_seconds_bucket{queue=\"mail\",le=\"300.0\"} 1");
    expect("t_execution_duration_seconds_bucket{queue=\"mail\",le=\"1.0\"} 0");
    expect("t_execution_duration_seconds_bucket{queue=\"mail\",le=\"+Inf\"} 1");
    expect("t_execution_duration_seconds_sum{queue=\"mail\"} 1.5");
    expect("t_execution_duration_seconds_count{queue=\"mail\"} 1");
    expect("t_handler_attempts_total{handler=\"send\",outcome=\"completed\"} 1");
    expect("t_handler_run_seconds_total{handler=\"send\"} 1.5");
}

TEST(a_failure_is_told_apart_by_what_follows, start, end)
{
    struct event retried = ended(EV_RETRY, EXEC_RETRYING);
    struct event failed = ended(EV_EXHAUST, EXEC_FAILED);
    struct event timed_out = ended(EV_EXPIRE, EXEC_TIMEOUT);
    happens(&retried);
    happens(&failed);
    happens(&timed_out);
    expect("t_jobs_retried_total{queue=\"mail\"} 1");
    expect("t_jobs_failed_total{queue=\"mail\"} 2");
    expect("t_jobs_timed_out_total{queue=\"mail\"} 1");
    expect("t_jobs_dead_lettered_total{queue=\"mail\"} 2");
    expect("t_handler_attempts_total{handler=\"send\",outcome=\"retried\"} 1");
    expect("t_handler_attempts_total{handler=\"send\",outcome=\"failed\"} 2");
}

TEST(what_is_queued_again_was_not_enqueued_again, start, end)
{
    struct event event = created("mail");
    happens(&event);
    event.event = EV_LOST;
    happens(&event);
    event.event = EV_RETURN;
    happens(&event);
    event.event = EV_LATE;
    happens(&event);
    expect("t_jobs_enqueued_total{queue=\"mail\"} 1");
    expect("t_leases_lost_total{queue=\"mail\"} 1");
    expect("t_leases_returned_total{queue=\"mail\"} 1");
    event = (struct event){.queue = event.queue,
                           .exec_id = 1,
                           .event = EV_LEASE,
                           .waited_ms = -1,
                           .lag_ms = -1,
                           .took_ms = -1};
    happens(&event);
    expect("t_jobs_started_total{queue=\"mail\"} 1");
    expect("t_queue_wait_seconds_count{queue=\"mail\"} 0");
}

TEST(the_loss_that_quarantines_is_a_lost_lease_too, start, end)
{
    struct event event = ended(EV_QUARANTINE, EXEC_FAILED);
    event.took_ms = -1;
    event.handler = STR("send");
    happens(&event);
    expect("t_leases_lost_total{queue=\"mail\"} 1");
    expect("t_jobs_failed_total{queue=\"mail\"} 1");
    expect("t_jobs_dead_lettered_total{queue=\"mail\"} 1");
    expect("t_handler_attempts_total{handler=\"send\",outcome=\"lost\"} 1");
}

TEST(an_sla_event_is_no_step, start, end)
{
    struct event event = ended(EV_CREATE, EXEC_RUNNING);
    event.sla = SLA_EVENT_VIOLATION;
    happens(&event);
    expect("t_sla_violations_total{queue=\"mail\"} 1");
    expect("t_executions_added_total{queue=\"mail\"} 0");
    expect("t_execution_duration_seconds_count{queue=\"mail\"} 0");
}

/* ---- names */

TEST(hostile_names_stay_inside_their_label, start, end)
{
    happens_in("a\"b\\c\nd", 0);
    expect("t_executions_added_total{queue=\"a\\\"b\\\\c\\nd\"} 1");
}

TEST(names_that_could_look_like_others_have_no_row_of_their_own, start, end)
{
    happens_in("other", 0);
    happens_in("a\xFF", 0);
    happens_in("a\xFE", 0);
    expect("t_executions_added_total{queue=\"other\"} 3");
}

static void happens_in_many(size_t count, int64_t now_ms)
{
    for (size_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "q%zu", i);
        happens_in(name, now_ms);
    }
}

TEST(the_hundred_and_first_queue_is_counted_with_others, start, end)
{
    happens_in_many(NAMED_ROWS_MAX + 2, 0);
    expect("t_executions_added_total{queue=\"q99\"} 1");
    expect_none("q100");
    expect("t_executions_added_total{queue=\"other\"} 2");
    expect("t_metrics_dropped_total{label=\"queue\"} 2");
    happens_in("q100", 0);
    expect("t_metrics_dropped_total{label=\"queue\"} 2");
}

TEST(a_row_that_was_idle_for_an_hour_makes_room, start, end)
{
    happens_in_many(NAMED_ROWS_MAX, 0);
    happens_in_many(NAMED_ROWS_MAX - 1, HOUR_MS / 2);
    happens_in("late", HOUR_MS - 1);
    expect_none("\"late\"");
    happens_in("late", HOUR_MS + 1000);
    expect("t_executions_added_total{queue=\"late\"} 1");
    expect_none("\"q99\"");
    expect("t_executions_added_total{queue=\"other\"} 1"); /* the past is not moved */
}

TEST(a_million_handlers_take_no_more_lines_than_hundred, start, end)
{
    struct event event = ended(EV_SUCCEED, EXEC_COMPLETED);
    char name[24];
    for (int i = 0; i < 1000000; i++) {
        snprintf(name, sizeof name, "handler-%d", i);
        event.handler = str_c(name);
        happens(&event);
    }
    expect("t_handler_attempts_total{handler=\"other\",outcome=\"completed\"} 999900");
    expect("t_execution_duration_seconds_count{queue=\"mail\"} 1000000");
    assert_true(count_lines(scrape(true)) < 2000);
}

static void give(const struct queue_gauges *queues, size_t count, int64_t now_ms)
{
    struct queue_gauges copies[256];
    for (size_t i = 0; i < count; i++)
        copies[i] = queues[i];
    metrics_gauges(m, &(struct gauges){.queues = copies, .queue_count = count, .slots = 8}, now_ms);
}

TEST(no_scrape_has_more_lines_than_it_may, start, end)
{
    enum { FEW = 1500 };
    struct queue_gauges queues[FEW / 10];
    char names[COUNT_OF(queues)][24];
    metrics_free(m);
    m = metrics_new(FEW, 2, ROUTES);
    happens_in_many(1000, 0);
    for (size_t i = 0; i < COUNT_OF(queues); i++) {
        snprintf(names[i], sizeof names[i], "q%zu", i);
        queues[i] = (struct queue_gauges){.queue = str_c(names[i]), .home = true, .limit = 1};
    }
    give(queues, COUNT_OF(queues), 1);
    struct event event = ended(EV_SUCCEED, EXEC_COMPLETED);
    for (int i = 0; i < 1000; i++) {
        char name[24];
        snprintf(name, sizeof name, "handler-%d", i);
        event.handler = str_c(name);
        happens(&event);
    }
    for (size_t route = 0; route <= ROUTES; route++)
        metrics_answer(m, &(struct answered){.route = route, .status = 200});
    size_t lines = count_lines(scrape(true));
    assert_in_range(lines, FEW - 200, FEW);
    char told[64];
    snprintf(told, sizeof told, "t_metrics_lines %zu", count_lines(scrape(false)));
    expect(told);
}

/* ---- gauges */

TEST(numbers_that_nobody_gave_are_not_there, start, end)
{
    expect_none("\nt_worker_slots ");
    give(NULL, 0, 1);
    expect("t_worker_slots 8");
}

TEST(gauges_of_queues_without_a_row_add_up, start, end)
{
    char names[NAMED_ROWS_MAX + 3][24];
    struct queue_gauges queues[NAMED_ROWS_MAX + 3] = {{.waited_ms = 0}};
    for (size_t i = 0; i < COUNT_OF(queues); i++) {
        snprintf(names[i], sizeof names[i], "q%zu", i);
        queues[i].queue = str_c(names[i]);
        queues[i].execs[EXEC_QUEUED] = 2;
    }
    give(queues, COUNT_OF(queues), 1);
    give(queues, COUNT_OF(queues), 1000);
    expect("t_queue_depth{queue=\"q0\"} 2");
    expect("t_queue_depth{queue=\"other\"} 6");
    expect("t_pending_job_count 206");
    give(queues + 1, 1, 2000);
    expect("t_queue_depth{queue=\"q0\"} 0");
    expect("t_queue_depth{queue=\"q1\"} 2");
    expect("t_queue_depth{queue=\"other\"} 0");
}

TEST(what_does_not_add_up_is_the_largest_of_all_others, start, end)
{
    struct target_gauges targets[NAMED_ROWS_MAX + 3];
    char names[COUNT_OF(targets)][24];
    struct queue_gauges queues[COUNT_OF(targets)] = {{.waited_ms = 0}};
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        snprintf(names[i], sizeof names[i], "q%zu", i);
        queues[i] = (struct queue_gauges){.queue = str_c(names[i]), .letters = 1};
        queues[i].waited_ms = i == NAMED_ROWS_MAX + 1 ? 9000 : 5000;
        targets[i] = (struct target_gauges){str_c(names[i]), BREAKER_OPEN};
    }
    metrics_gauges(m,
                   &(struct gauges){.queues = queues,
                                    .queue_count = COUNT_OF(targets),
                                    .targets = targets,
                                    .target_count = COUNT_OF(targets)},
                   1);
    expect("t_dlq_depth{queue=\"other\"} 3");
    expect("t_queue_oldest_age_seconds{queue=\"other\"} 9");
    expect("t_circuit_breaker_state{target=\"other\"} 1");
}

TEST(a_name_that_is_not_told_of_has_no_limit, start, end)
{
    struct queue_gauges queue = {.queue = STR("mail"), .home = true, .limit = 5, .used = 3};
    struct queue_gauges other = {.queue = STR("other"), .letters = 1};
    happens_in("web", 0);
    expect_none("t_queue_limit{");
    expect_none("t_queue_depth{"); /* not told yet */
    give(&queue, 1, 1);
    expect("t_queue_depth{queue=\"web\"} 0");
    expect_none("t_queue_limit{queue=\"web\"}");
    give(&other, 1, 1000); /* its partitions have moved */
    expect("t_queue_depth{queue=\"mail\"} 0");
    expect("t_dlq_depth{queue=\"other\"} 1");
    expect_none("t_queue_limit{");
    expect_none("t_queue_limit_used{");
}

TEST(numbers_that_others_tell_are_left_out, start, end)
{
    static const char *const gone[] = {"\nt_queue_depth{", "\nt_queue_limit{", "\nt_dlq_depth{",
                                       "\nt_worker_slots "};
    struct metric_copy *copy = ARENA_NEW(&arena, struct metric_copy);
    struct queue_gauges queue = {.queue = STR("mail"), .home = true, .limit = 5, .letters = 1};
    CLEANUP(buf_free) struct buf out = BUF(16 << 20);
    happens_in("mail", 0);
    give(&queue, 1, 1);
    metrics_copy(m, &arena, label, copy);
    metric_copy_hide_second(copy);
    exposition_print(&(struct exposition){.prefix = STR("t_")}, copy, &out);
    struct str text = arena_str(&arena, buf_str(&out));
    assert_true(has(text, "t_executions_added_total{queue=\"mail\"} 1"));
    assert_true(has(text, "t_turns_total 0"));
    for (size_t i = 0; i < COUNT_OF(gone); i++)
        assert_null(strstr(arena_zstr(&arena, text), gone[i]));
}

TEST(a_queue_without_a_limit_has_no_line_of_it, start, end)
{
    struct queue_gauges queue = {.queue = STR("mail"), .home = true, .limit = 5, .used = 3};
    give(&queue, 1, 1);
    expect("t_queue_limit{queue=\"mail\"} 5");
    expect("t_queue_limit_used{queue=\"mail\"} 3");
    queue.limit = 0;
    give(&queue, 1, 1000);
    expect_none("t_queue_limit{");
    queue.limit = 5;
    queue.home = false; /* its home tells it */
    give(&queue, 1, 2000);
    expect_none("t_queue_limit{");
}

TEST(a_row_with_something_in_its_gauges_is_not_idle, start, end)
{
    struct queue_gauges queue = {.queue = STR("mail"), .letters = 1};
    give(&queue, 1, 1);
    give(&queue, 1, HOUR_MS);
    happens_in_many(NAMED_ROWS_MAX, HOUR_MS + 1000);
    expect("t_dlq_depth{queue=\"mail\"} 1");
}

TEST(breakers_have_three_states, start, end)
{
    struct target_gauges targets[] = {
        {STR("a"), BREAKER_CLOSED}, {STR("b"), BREAKER_HALF_OPEN}, {STR("c"), BREAKER_OPEN}};
    metrics_gauges(m, &(struct gauges){.targets = targets, .target_count = 3}, 1);
    expect("t_circuit_breaker_state{target=\"a\"} 0");
    expect("t_circuit_breaker_state{target=\"b\"} 0.5");
    expect("t_circuit_breaker_state{target=\"c\"} 1");
}

/* ---- turns and connections */

TEST(jobs_are_counted_by_what_a_turn_adds, start, end)
{
    const struct counter counters[] = {
        {COUNTER_JOBS, STR("a"), JOB_ACTIVE, 3, 0},
        {COUNTER_JOBS, STR("a"), JOB_COMPLETED, 2, 1},
        {COUNTER_EXECS, STR("a"), EXEC_QUEUED, 9, 0},
    };
    const struct counter moved[] = {
        {COUNTER_JOBS, STR("a"), JOB_ACTIVE, -1, 0},
        {COUNTER_JOBS, STR("b"), JOB_ACTIVE, 1, 0},
    };
    const struct alert_rec alert = {.kind = ALERT_CLOCK};
    metrics_kept(m,
                 &(struct delta){
                     .counters = counters, .counter_count = 3, .alerts = &alert, .alert_count = 1});
    metrics_kept(m, &(struct delta){.counters = moved, .counter_count = 2});
    expect("t_jobs_submitted_total 5");
    expect("t_alerts_total{kind=\"clock\"} 1");
    expect("t_alerts_total{kind=\"slow\"} 0");
}

TEST(threads_of_connections_add_up, start, end)
{
    metrics_answer(m, &(struct answered){.net = 0, .route = 1, .status = 200, .took_us = 600});
    metrics_answer(m, &(struct answered){.net = 1, .route = 1, .status = 201, .took_us = 400});
    metrics_answer(m, &(struct answered){.net = 1, .route = 1, .status = 503, .took_us = -1});
    metrics_stream(m, 0, 1);
    metrics_stream(m, 1, 1);
    metrics_stream(m, 0, -1);
    expect("t_http_requests_total{route=\"r1\",method=\"GET\",class=\"2xx\"} 2");
    expect("t_http_requests_total{route=\"r1\",method=\"GET\",class=\"5xx\"} 1");
    expect("t_http_request_duration_seconds_bucket{route=\"r1\",method=\"GET\",le=\"0.0005\"} 1");
    expect("t_http_request_duration_seconds_sum{route=\"r1\",method=\"GET\"} 0.001");
    expect("t_http_streams 1");
    expect_none("route=\"r0\"");
}

TEST(a_route_that_found_no_room_stays_among_the_others, start, end)
{
    enum { FEW = 1000 };
    metrics_free(m);
    m = metrics_new(FEW, 2, 100);
    happens_in_many(1000, 0);
    for (size_t route = 0; route < 50; route++)
        metrics_answer(m, &(struct answered){.route = route, .status = 200, .took_us = 1});
    struct metric_copy *before = ARENA_NEW(&arena, struct metric_copy);
    struct metric_copy *after = ARENA_NEW(&arena, struct metric_copy);
    metrics_copy(m, &arena, label, before);
    assert_in_range(before->axes[AXIS_ROUTE].count, 2, 49);
    expect_none("route=\"r49\"");
    happens_in("q0", HOUR_MS); /* the others are idle, and one more queue makes room of them */
    happens_in("late", HOUR_MS + 1);
    metrics_copy(m, &arena, label, after);
    assert_int_equal(after->axes[AXIS_ROUTE].count, before->axes[AXIS_ROUTE].count);
    expect_none("route=\"r49\"");
}

/* ---- formats */

TEST(openmetrics_names_families_of_counters_without_their_ending, start, end)
{
    happens_in("mail", 0);
    struct str text = scrape(true);
    assert_true(has(text, "# TYPE t_executions_added counter"));
    assert_true(has(text, "t_executions_added_total{queue=\"mail\"} 1"));
    assert_true(has(text, "# TYPE t_turn_phase_seconds counter"));
    assert_true(has(text, "# UNIT t_turn_phase_seconds seconds"));
    assert_true(has(text, "# UNIT process_resident_memory_bytes bytes"));
    assert_true(str_eq(str_from(text, text.len - 6), STR("# EOF\n")));
    expect_none("# EOF");
    expect_none("# UNIT");
}

TEST(seconds_have_the_decimals_that_they_need, start, end)
{
    metrics_phase(m, PHASE_COMMIT, 1250000);
    metrics_phase(m, PHASE_DECIDE, 7);
    expect("t_turn_phase_seconds_total{phase=\"commit\"} 1.25");
    expect("t_turn_phase_seconds_total{phase=\"decide\"} 0.000007");
    expect("t_turn_phase_seconds_total{phase=\"admit\"} 0");
}

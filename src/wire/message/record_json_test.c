#include "base/when.h"

#include "base/test/test.h"
#include "job/job_fields.h"
#include "job/record/trail.h"
#include "wire/message/record_json.h"
#include "wire/message/stats_json.h"

#include <string.h>

#define AT_MS INT64_C(1794816000000)
#define AT "2026-11-16T08:00:00.000Z"

static struct arena arena;
static struct buf out = {.max = 1 << 20};
static struct json_writer w;

static int clear(void **state)
{
    (void)state;
    buf_clear(&out);
    w = JSON_WRITER(&out);
    return 0;
}

static int release(void **state)
{
    (void)state;
    buf_free(&out);
    arena_free(&arena);
    return 0;
}

/* What was written must be good JSON; this is the member of it called key. */
static const struct json *written(const char *key)
{
    struct json *doc = ARENA_NEW(&arena, struct json);
    struct err err;
    struct str text = arena_str(&arena, buf_str(&out));
    if (json_parse(text, &arena, doc, &err))
        fail_msg("%s: %s", text.ptr, err.text);
    const struct json *value = json_get(doc, str_c(key));
    if (value == NULL)
        fail_msg("no %s in %s", key, text.ptr);
    return value;
}

static void assert_raw(const char *key, const char *expected)
{
    struct str raw = written(key)->raw;
    assert_string_equal(arena_zstr(&arena, raw), expected);
}

static void assert_absent(const char *key)
{
    struct str needle = arena_printf(&arena, "\"%s\":", key);
    buf_add_char(&out, '\0');
    assert_null(strstr(out.ptr, needle.ptr));
    out.len--;
}

static struct str trail_of(const char *event, const char *to)
{
    struct buf trail = BUF(1000);
    trail_add(&trail, &(struct trail_step){AT_MS, str_c(event), str_c(to), STR("key:admin"),
                                           STR("say \"why\"")});
    struct str text = arena_str(&arena, buf_str(&trail));
    buf_free(&trail);
    return text;
}

static struct job_rec a_job(void)
{
    return (struct job_rec){
        .id = 1,
        .version = 1,
        .state = JOB_ACTIVE,
        .owner = STR("admin"),
        .created_ms = AT_MS,
        .last_exec = 2,
        .spec = STR("{\"name\":\"nightly\",\"command\":[\"true\"]}"),
        .payload = STR("{\"month\": 11}"),
        .trail = trail_of("create", "active"),
    };
}

static struct exec_rec an_exec(enum exec_state state)
{
    return (struct exec_rec){
        .id = 2,
        .job_id = 1,
        .state = state,
        .queue = STR("default"),
        .priority = 500,
        .slot_ms = AT_MS,
        .created_ms = AT_MS,
        .token = 1,
        .trail = trail_of("create", "queued"),
    };
}

TEST(a_job_is_shown_with_its_definition, clear)
{
    struct job_rec job = a_job();
    struct exec_rec exec = an_exec(EXEC_RUNNING);
    struct job_view view = {.phase = PHASE_ACTIVE,
                            .schedule_text = STR("once, right away"),
                            .current = &exec,
                            .last = &exec};
    job_print(&w, &job, &view);
    assert_raw("job_id", "\"job_0000000000001\"");
    assert_raw("status", "\"active\"");
    assert_raw("version", "1");
    assert_raw("owner", "\"admin\"");
    assert_raw("created_at", "\"" AT "\"");
    assert_raw("finished_at", "null");
    assert_raw("last_execution_id", "\"exec_0000000000002\"");
    assert_raw("schedule_text", "\"once, right away\"");
    assert_raw("next_run_at", "null");
    assert_raw("name", "\"nightly\"");
    assert_raw("command", "[\"true\"]");
    assert_raw("payload", "{\"month\": 11}");
    assert_raw("transitions", "[{\"at\":\"" AT "\",\"event\":\"create\",\"status\":\"active\","
                              "\"actor\":\"key:admin\",\"reason\":\"say \\\"why\\\"\"}]");
}

TEST(what_is_odd_about_a_job_is_told, clear)
{
    struct job_rec job = a_job();
    const struct warning warning = {WARNING_SLOWER_THAN_INTERVAL, 75100, 60000, 100};
    job_print(&w, &job,
              &(struct job_view){.phase = PHASE_ACTIVE, .warnings = &warning, .warning_count = 1});
    assert_raw("warnings",
               "[{\"code\":\"slower_than_interval\",\"text\":\"its runs take about 1m15s "
               "(p95 of the newest 100), longer than the 1m between two slots\","
               "\"p95_ms\":75100,\"interval_ms\":60000,\"runs\":100}]");
}

TEST(an_unfinished_execution_is_the_current_one, clear)
{
    struct job_rec job = a_job();
    struct exec_rec exec = an_exec(EXEC_RETRYING);
    exec.attempts = 3;
    exec.lost = 1;
    job_print(&w, &job,
              &(struct job_view){
                  .phase = PHASE_ACTIVE, .current = &exec, .last = &exec, .next_run_ms = AT_MS});
    const struct json *current = written("current_execution");
    assert_true(str_eq(json_get(current, STR("status"))->string, STR("retrying")));
    assert_null(json_get(current, STR("attempts")));
    assert_raw("next_run_at", "\"" AT "\"");
    assert_raw("retry_count", "2");
    assert_raw("lost_count", "1");
}

TEST(a_finished_execution_is_not_current, clear)
{
    struct job_rec job = a_job();
    struct exec_rec exec = an_exec(EXEC_FAILED);
    exec.attempts = 4;
    job_print(&w, &job, &(struct job_view){.phase = PHASE_ACTIVE, .last = &exec});
    assert_raw("current_execution", "null");
    assert_raw("next_run_at", "null");
    assert_raw("retry_count", "3");
}

TEST(a_job_whose_execution_is_not_known_is_shown_too, clear)
{
    struct job_rec job = a_job();
    job.last_exec = 0;
    job.payload = STR("");
    job_print(&w, &job, &(struct job_view){.phase = PHASE_ACTIVE});
    assert_raw("current_execution", "null");
    assert_raw("last_execution_id", "null");
    assert_raw("retry_count", "0");
    assert_raw("depends_on", "[]");
    assert_absent("payload");
}

TEST(the_newest_run_of_a_schedule_is_not_the_one_the_job_began_with, clear)
{
    struct job_rec job = a_job();
    struct exec_rec exec = an_exec(EXEC_COMPLETED);
    exec.id = 9;
    job_print(&w, &job,
              &(struct job_view){.phase = PHASE_ACTIVE, .last = &exec, .next_run_ms = AT_MS});
    assert_raw("last_execution_id", "\"exec_0000000000009\"");
    assert_raw("current_execution", "null");
    assert_raw("next_run_at", "\"" AT "\"");
}

TEST(both_ends_of_its_dependencies_are_shown_with_their_state, clear)
{
    struct job_rec job = a_job();
    const struct dependency_rec upstreams[] = {
        {.upstream = 7, .dependant = 1, .type = DEPENDS_SUCCESS, .state = DEPENDENCY_MET},
        {.upstream = 8, .dependant = 1, .type = DEPENDS_FAILURE, .state = DEPENDENCY_WAITING},
    };
    const struct dependency_rec dependant = {
        .upstream = 1, .dependant = 9, .type = DEPENDS_COMPLETION, .state = DEPENDENCY_MOOT};
    const struct job_waits waits = {
        .upstreams = upstreams,
        .upstream_count = 2,
        .dependants = &dependant,
        .dependant_count = 1,
        .more_dependants = true,
    };
    job_print(&w, &job, &(struct job_view){.phase = PHASE_ACTIVE, .waits = &waits});
    assert_raw("depends_on",
               "[{\"job\":\"job_0000000000007\",\"type\":\"success\",\"state\":\"met\"},"
               "{\"job\":\"job_0000000000008\",\"type\":\"failure\",\"state\":\"waiting\"}]");
    assert_raw("dependants", "[{\"job\":\"job_0000000000009\",\"type\":\"completion\","
                             "\"state\":\"moot\"}]");
    assert_raw("more_dependants", "true");
}

TEST(a_job_in_a_list_is_short, clear)
{
    struct job_rec job = a_job();
    struct job_view view = {
        .phase = PHASE_ACTIVE, .schedule_text = STR("every 15m"), .next_run_ms = AT_MS};
    job_print_short(&w, &job, &view);
    assert_raw("name", "\"nightly\"");
    assert_raw("schedule_text", "\"every 15m\"");
    assert_raw("next_run_at", "\"" AT "\"");
    assert_absent("current_execution");
    assert_absent("payload");
    assert_absent("transitions");
}

TEST(a_run_of_a_job_without_a_schedule_stands_for_no_slot, clear)
{
    struct exec_rec exec = an_exec(EXEC_QUEUED);
    exec_print_short(&w, &exec, STR("nightly"));
    assert_raw("origin", "\"once\"");
    assert_raw("slot", "\"" AT "\"");
    assert_raw("nominal_time", "null");
    assert_raw("start_late", "false");
    assert_raw("slot_last", "null");
    assert_raw("slot_count", "0");
}

TEST(a_slot_is_shown_by_its_moment_and_by_the_local_time_promised, clear)
{
    struct exec_rec exec = an_exec(EXEC_QUEUED);
    exec.origin = ORIGIN_SLOT;
    exec.nominal_ms = AT_MS + 3600000;
    exec_print_short(&w, &exec, STR("nightly"));
    char local[WHEN_TEXT_MAX];
    struct str text = when_format(local, exec.nominal_ms);
    struct str shown = written("nominal_time")->string;
    assert_raw("origin", "\"slot\"");
    assert_raw("slot", "\"" AT "\"");
    assert_int_equal(shown.len, text.len - 1); /* without the Z */
    assert_memory_equal(shown.ptr, text.ptr, shown.len);
    assert_raw("slot_last", "null");
    assert_raw("slot_count", "1");
}

TEST(slots_skipped_together_are_one_record_with_their_number, clear)
{
    struct exec_rec exec = an_exec(EXEC_SKIPPED);
    exec.origin = ORIGIN_SLOT;
    exec.slot_ms = AT_MS - 58 * 60000;
    exec.slot_last_ms = AT_MS;
    exec.slot_count = 59;
    exec.error = STR("missed while the job was paused");
    exec_print_short(&w, &exec, STR("nightly"));
    assert_raw("status", "\"skipped\"");
    assert_raw("slot_last", "\"" AT "\"");
    assert_raw("slot_count", "59");
    assert_raw("error", "\"missed while the job was paused\"");
}

TEST(an_execution_is_shown_with_its_attempts, clear)
{
    struct exec_rec exec = an_exec(EXEC_COMPLETED);
    exec.started_ms = AT_MS;
    exec.finished_ms = AT_MS + 41;
    exec.attempts = 1;
    exec.result = STR("{\"rows\": 12}");
    const struct attempt_rec attempt = {
        .token = 1,
        .number = 1,
        .worker_id = 3,
        .started_ms = AT_MS,
        .ended_ms = AT_MS + 41,
        .outcome = OUTCOME_SUCCEEDED,
        .usage = {0, 0, 12, 9437184, 120, 0, 3},
    };
    exec_print(&w, &exec, STR("nightly"), &attempt, 1, NULL, 0);
    assert_raw("execution_id", "\"exec_0000000000002\"");
    assert_raw("status", "\"completed\"");
    assert_raw("stopping", "false");
    assert_raw("duration_ms", "41");
    assert_raw("retry_of", "null");
    assert_raw("worker_id", "null");
    assert_raw("error", "null");
    assert_raw("result", "{\"rows\": 12}");
    assert_raw("attempts",
               "[{\"attempt\":1,\"token\":1,\"worker_id\":\"wrk_0000000000003\","
               "\"outcome\":\"succeeded\",\"started_at\":\"" AT "\","
               "\"ended_at\":\"2026-11-16T08:00:00.041Z\",\"duration_ms\":41,\"exit_code\":0,"
               "\"signal\":null,\"cpu_ms\":12,\"peak_memory_bytes\":9437184,\"output_bytes\":120,"
               "\"dropped_bytes\":0,\"error\":null,\"error_class\":null,\"fingerprint\":null,"
               "\"fingerprint_text\":null,\"error_tail\":null,\"stack_trace\":null}]");
}

TEST(a_failure_is_shown_with_its_class_and_its_last_lines, clear)
{
    static const struct attempt_rec attempt = {
        .outcome = OUTCOME_FAILED,
        .usage = {.exit_code = 1},
        .error = STR_INIT("exit code 1"),
        .class = FAILURE_NETWORK,
        .fingerprint = 0xabc,
        .tail = STR_INIT("one\nhost 17 refused"),
    };
    struct exec_rec exec = an_exec(EXEC_RETRYING);
    exec.due_ms = 1000;
    exec.returned = 4;
    exec_print(&w, &exec, STR("nightly"), &attempt, 1, NULL, 0);
    assert_raw("next_attempt_at", "\"1970-01-01T00:00:01.000Z\"");
    assert_raw("returned_count", "4");
    const struct json *shown = &written("attempts")->items[0];
    assert_true(str_eq(json_get(shown, STR("error_class"))->string, STR("network_error")));
    assert_true(str_eq(json_get(shown, STR("fingerprint"))->string, STR("000000000abc")));
    assert_true(str_eq(json_get(shown, STR("fingerprint_text"))->string, STR("host # refused")));
    assert_true(str_eq(json_get(shown, STR("error_tail"))->string, attempt.tail));
    assert_int_equal(json_get(shown, STR("stack_trace"))->kind, JSON_NULL);
}

TEST(an_attempt_without_an_exit_code_has_null_there, clear)
{
    struct exec_rec exec = an_exec(EXEC_QUEUED);
    const struct attempt_rec attempt = {
        .outcome = OUTCOME_FAILED,
        .usage = {.exit_code = -1, .signal = 9},
        .error = STR("killed"),
    };
    exec_print(&w, &exec, STR("nightly"), &attempt, 1, NULL, 0);
    const struct json *shown = &written("attempts")->items[0];
    assert_int_equal(json_get(shown, STR("exit_code"))->kind, JSON_NULL);
    assert_int_equal(json_get(shown, STR("signal"))->integer, 9);
    assert_true(str_eq(json_get(shown, STR("error"))->string, STR("killed")));
}

TEST(a_stopping_execution_shows_running, clear)
{
    struct exec_rec exec = an_exec(EXEC_STOPPING);
    exec.worker_id = 3;
    exec_print_short(&w, &exec, STR("nightly"));
    assert_raw("status", "\"running\"");
    assert_raw("stopping", "true");
    assert_raw("worker_id", "\"wrk_0000000000003\"");
    assert_raw("duration_ms", "null");
    assert_absent("result");
    assert_absent("transitions");
}

TEST(a_worker_is_active_draining_or_away, clear)
{
    struct worker_view view = {
        .worker = {.id = 3,
                   .name = STR("host-1/4711"),
                   .queues = STR("default\nmail"),
                   .slots = 8,
                   .runs_commands = true,
                   .registered_ms = AT_MS},
        .busy = 2,
        .silent_ms = 1000,
    };
    worker_view_print(&w, &view, AT_MS, 1000);
    assert_raw("status", "\"active\"");
    assert_raw("queues", "[\"default\",\"mail\"]");
    assert_raw("handlers", "[]");
    assert_raw("busy", "2");
    assert_raw("commands", "true");
    assert_raw("free", "6");
    assert_raw("cordoned_at", "null");
    clear(NULL);
    view.worker.cordoned_ms = AT_MS;
    view.worker.cordoned_by = STR("key:admin");
    worker_view_print(&w, &view, AT_MS, 1000);
    assert_raw("status", "\"cordoned\"");
    assert_raw("cordoned_by", "\"key:admin\"");
    assert_raw("cordon_reason", "null");
    clear(NULL);
    view.worker.draining = true;
    worker_view_print(&w, &view, AT_MS, 1000);
    assert_raw("status", "\"draining\"");
    clear(NULL);
    worker_view_print(&w, &view, AT_MS, 999);
    assert_raw("status", "\"away\"");
}

static void count(struct stats_view *stats, struct counter *counters, enum counter_kind kind,
                  const char *queue, uint32_t state, int64_t value)
{
    counters[stats->counter_count++] = (struct counter){kind, str_c(queue), state, value, 0};
}

TEST(numbers_are_summed_and_grouped_by_queue, clear)
{
    struct counter *counters = ARENA_ARRAY(&arena, struct counter, 6);
    struct stats_view stats = {.counters = counters,
                               .worker_count = 1,
                               .slots = 8,
                               .busy = 4,
                               .quarantined = 3,
                               .mail_waiting = 5,
                               .mail_unknown = 6,
                               .cost = {.commits = 31, .syncs = 33, .sync_us = 19999}};
    count(&stats, counters, COUNTER_EXECS, "mail", EXEC_QUEUED, 5);
    count(&stats, counters, COUNTER_EXECS, "default", EXEC_RUNNING, 2);
    count(&stats, counters, COUNTER_EXECS, "mail", EXEC_RUNNING, 1);
    count(&stats, counters, COUNTER_EXECS, "mail", EXEC_STOPPING, 1);
    count(&stats, counters, COUNTER_JOBS, "mail", JOB_ACTIVE, 7);
    count(&stats, counters, COUNTER_JOBS, "default", JOB_ACTIVE, 2);
    struct stats_moment moment = {.now_ms = AT_MS, .as_of_ms = AT_MS, .uptime_ms = 12000};
    stats_print(&w, &stats, &moment, &arena);
    assert_raw("as_of", "\"" AT "\"");
    assert_raw("time", "\"" AT "\"");
    assert_raw("uptime_ms", "12000");
    assert_raw("jobs", "{\"active\":9,\"completed\":0,\"failed\":0,\"cancelled\":0,\"paused\":0}");
    assert_raw(
        "executions",
        "{\"scheduled\":0,\"queued\":5,\"running\":4,\"retrying\":0,\"completed\":0,"
        "\"failed\":0,\"timeout\":0,\"cancelled\":0,\"skipped\":0,\"blocked\":0,\"expired\":0,\"deduplicated\":0}");
    assert_raw("workers", "{\"count\":1,\"slots\":8,\"busy\":4}");
    assert_raw("quarantined", "3");
    assert_raw("inbox", "{\"waiting\":5,\"unknown\":6}");
    assert_raw("store", "{\"commits\":31,\"syncs\":33,\"sync_ms\":19}");
    const struct json *queues = written("queues");
    assert_int_equal(queues->count, 2);
    assert_true(str_eq(json_get(&queues->items[0], STR("queue"))->string, STR("default")));
    assert_int_equal(json_get(&queues->items[1], STR("queued"))->integer, 5);
    assert_int_equal(json_get(&queues->items[1], STR("running"))->integer, 2);
}

TEST(no_numbers_at_all_are_fine, clear)
{
    stats_print(&w, &(struct stats_view){0}, &(struct stats_moment){.now_ms = AT_MS}, &arena);
    assert_raw("queues", "[]");
}

TEST(an_event_looks_as_the_protocol_says, clear)
{
    event_print(&w, &(struct event){.at_ms = AT_MS,
                                    .job_id = 1,
                                    .exec_id = 2,
                                    .event = EV_LEASE,
                                    .state = EXEC_RUNNING,
                                    .queue = STR("default")});
    assert_true(
        str_eq(buf_str(&out), STR("{\"at\":\"" AT "\",\"execution_id\":\"exec_0000000000002\","
                                  "\"job_id\":\"job_0000000000001\",\"queue\":\"default\","
                                  "\"event\":\"lease\",\"status\":\"running\"}")));
}

TEST(output_that_is_not_text_is_shown_as_text, clear)
{
    log_chunk_print(
        &w, &(struct log_chunk){
                .attempt = 1, .stream = LOG_STDOUT, .at_ms = AT_MS, .bytes = STR("a\xff\n")});
    assert_true(str_eq(buf_str(&out), STR("{\"attempt\":1,\"stream\":\"stdout\",\"at\":\"" AT
                                          "\",\"text\":\"a\xef\xbf\xbd\\n\"}")));
}

/* ---- by name */

static const struct json *read_written(void)
{
    struct json *doc = ARENA_NEW(&arena, struct json);
    struct err err;
    assert_int_equal(json_parse(arena_str(&arena, buf_str(&out)), &arena, doc, &err), RC_OK);
    return doc;
}

/* That what was written has the members of the table that are kept so, and no others. */
static void expect_members(const struct shown_members *members, bool is_list)
{
    const struct json *doc = read_written();
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct shown_member *m = shown_find(members, doc->members[i].key);
        if (m == NULL || (is_list && m->kept == SHOWN_OF_ONE))
            fail_msg("%.*s is printed, and not so in the table", STR_ARG(doc->members[i].key));
    }
    for (size_t i = 0; i < members->count; i++) {
        const struct shown_member *m = &members->all[i];
        bool wanted = m->kept != SHOWN_NEVER && !(is_list && m->kept == SHOWN_OF_ONE);
        bool is_field = false; /* which a definition need not have */
        for (size_t f = 0; members == &job_members && f < JOB_FIELD_COUNT; f++)
            is_field |= job_fields[f].kept != JOB_KEPT_APART && str_eq(job_fields[f].key, m->name);
        if (wanted && !is_field && json_get(doc, m->name) == NULL)
            fail_msg("%.*s is in the table, and not printed", STR_ARG(m->name));
    }
}

TEST(the_table_has_the_members_of_a_job, clear)
{
    struct job_rec job = a_job();
    struct exec_rec exec = an_exec(EXEC_FAILED);
    struct last_outcomes outcomes = {&exec, 1};
    struct estimate estimate = {.at_ms = AT_MS};
    struct job_pace pace = {.known = true, .p50_ms = 7};
    struct job_waits waits = {0};
    struct job_view view = {.phase = PHASE_ACTIVE,
                            .outcomes = &outcomes,
                            .estimate = &estimate,
                            .pace = &pace,
                            .waits = &waits};
    job_print(&w, &job, &view);
    expect_members(&job_members, false);
    clear(NULL);
    job_print_short(&w, &job, &view);
    expect_members(&job_members, true);
    assert_null(shown_find(&job_members, STR("idempotency_key"))); /* which is not shown */
}

TEST(the_table_has_the_members_of_an_execution, clear)
{
    struct exec_rec exec = an_exec(EXEC_FAILED);
    exec_print(&w, &exec, STR("nightly"), NULL, 0, NULL, 0);
    expect_members(&exec_members, false);
    clear(NULL);
    exec_print_short(&w, &exec, STR("nightly"));
    expect_members(&exec_members, true);
}

TEST(the_last_outcomes_are_shown_when_they_are_asked_for, clear)
{
    struct job_rec job = a_job();
    struct exec_rec exec = an_exec(EXEC_FAILED);
    exec.started_ms = AT_MS - 5;
    exec.finished_ms = AT_MS;
    struct last_outcomes outcomes = {&exec, 1};
    job_print_short(&w, &job, &(struct job_view){.phase = PHASE_ACTIVE, .outcomes = &outcomes});
    assert_raw("last_outcomes", "[{\"execution_id\":\"exec_0000000000002\",\"status\":\"failed\","
                                "\"finished_at\":\"" AT "\",\"duration_ms\":5}]");
    clear(NULL);
    job_print_short(&w, &job, &(struct job_view){.phase = PHASE_ACTIVE});
    assert_absent("last_outcomes");
}

TEST(a_list_says_how_long_runs_take_and_what_a_job_waits_for_when_it_is_asked, clear)
{
    struct job_rec job = a_job();
    struct job_pace pace = {.known = true, .p50_ms = 1500};
    struct dependency_rec waits_for = {
        .upstream = 3, .dependant = job.id, .type = DEPENDS_SUCCESS, .state = DEPENDENCY_PER_SLOT};
    struct job_waits waits = {.upstreams = &waits_for, .upstream_count = 1};
    struct job_view view = {.phase = PHASE_ACTIVE, .pace = &pace, .waits = &waits};
    job_print_short(&w, &job, &view);
    assert_raw("p50_duration_ms", "1500");
    assert_raw("depends_on",
               "[{\"job\":\"job_0000000000003\",\"type\":\"success\",\"state\":\"per_slot\"}]");
    clear(NULL);
    pace.known = false;
    view.waits = NULL;
    job_print_short(&w, &job, &view);
    assert_raw("p50_duration_ms", "null");
    assert_absent("depends_on");
}

TEST(the_likely_start_is_shown_when_it_is_asked_for, clear)
{
    struct job_rec job = a_job();
    struct estimate known = {.at_ms = AT_MS};
    struct estimate unknown = {.reason = STR("no_worker")};
    job_print(&w, &job, &(struct job_view){.phase = PHASE_WAITING, .estimate = &known});
    assert_raw("estimated_start_time", "\"" AT "\"");
    assert_raw("estimated_start_reason", "null");
    clear(NULL);
    job_print(&w, &job, &(struct job_view){.phase = PHASE_WAITING, .estimate = &unknown});
    assert_raw("estimated_start_time", "null");
    assert_raw("estimated_start_reason", "\"no_worker\"");
    clear(NULL);
    job_print(&w, &job, &(struct job_view){.phase = PHASE_WAITING});
    assert_absent("estimated_start_time");
}

TEST_GROUP(NULL, release)

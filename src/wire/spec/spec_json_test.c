#include "wire/spec/spec_rig_test.h"

#include <stdio.h>

TEST(a_full_document_is_understood)
{
    struct spec spec = spec_of(
        "{\"command\": [\"python3\", \"report.py\"], \"name\": \"nightly-report\","
        " \"description\": \"Builds it.\", \"payload\": {\"month\":  11}, \"env\": {\"MODE\": \"full\"},"
        " \"working_dir\": \"/srv/reports\", \"schedule\": {\"delay\": \"10m\"}, \"priority\": 600,"
        " \"queue\": \"reports\", \"timeout\": \"1h\", \"tags\": {\"env\": \"prod\"},"
        " \"retry\": {\"max_retries\": 5, \"policy\": \"linear\", \"delay\": \"2s\","
        " \"max_delay\": \"2h\", \"jitter\": 0.25}}");
    assert_int_equal(spec.work, WORK_ARGV);
    assert_int_equal(spec.argc, 2);
    assert_true(str_eq(spec.argv[1], STR("report.py")));
    assert_true(str_eq(spec.name, STR("nightly-report")));
    assert_true(str_eq(spec.description, STR("Builds it.")));
    assert_true(str_eq(spec.payload, STR("{\"month\":  11}"))); /* as it was written */
    assert_int_equal(spec.env_count, 1);
    assert_true(str_eq(spec.env[0].key, STR("MODE")) && str_eq(spec.env[0].value, STR("full")));
    assert_true(str_eq(spec.working_dir, STR("/srv/reports")));
    assert_int_equal(spec.when, WHEN_DELAY);
    assert_int_equal(spec.when_ms, 600000);
    assert_int_equal(spec.priority, 600);
    assert_true(str_eq(spec.queue, STR("reports")));
    assert_int_equal(spec.timeout_ms, 3600000);
    assert_int_equal(spec.tag_count, 1);
    assert_int_equal(spec.retry.max_retries, 5);
    assert_int_equal(spec.retry.policy, RETRY_LINEAR);
    assert_int_equal(spec.retry.delay_ms, 2000);
    assert_int_equal(spec.retry.max_delay_ms, 7200000);
    assert_int_equal(spec.retry.jitter_permille, 250);
}

TEST(what_is_not_said_has_its_default)
{
    struct spec spec = spec_of("{\"command\": [\"true\"]}");
    assert_true(str_eq(spec.queue, STR("default")));
    assert_int_equal(spec.priority, SPEC_PRIORITY_DEFAULT);
    assert_int_equal(spec.when, WHEN_NOW);
    assert_int_equal(spec.timeout_ms, 0);
    assert_memory_equal(&spec.retry, &retry_default, sizeof spec.retry);
    assert_int_equal(spec.name.len + spec.payload.len + spec.env_count + spec.tag_count, 0);
}

TEST(a_schedule_recurs_by_interval_or_by_cron)
{
    struct spec every =
        spec_of("{\"command\": \"a\", \"schedule\": {\"every\": \"15m\"},"
                " \"overlap\": \"queue\", \"stagger\": \"30s\","
                " \"misfire\": {\"policy\": \"all\", \"grace\": \"1h\", \"limit\": 7}}");
    assert_int_equal(every.when, WHEN_EVERY);
    assert_int_equal(every.when_ms, 900000);
    assert_int_equal(every.overlap, OVERLAP_QUEUE);
    assert_int_equal(every.stagger_ms, 30000);
    assert_int_equal(every.misfire.policy, MISFIRE_ALL);
    assert_int_equal(every.misfire.grace_ms, 3600000);
    assert_int_equal(every.misfire.limit, 7);
    struct spec cron = spec_of("{\"command\": \"a\", \"schedule\": {\"cron\": \"0 3 * * *\","
                               " \"timezone\": \"Europe/Berlin\"},"
                               " \"dst\": {\"gap\": \"skip\", \"fold\": \"both\"}}");
    assert_int_equal(cron.when, WHEN_CRON);
    assert_true(str_eq(cron.zone, STR("Europe/Berlin")));
    assert_int_equal(cron.gap, CRON_GAP_SKIP);
    assert_int_equal(cron.fold, CRON_FOLD_BOTH);
    assert_int_equal(cron.misfire.policy, MISFIRE_LATEST);
    struct spec back = spec_of(spec_text(&cron, &arena).ptr);
    assert_true(str_eq(back.cron_text, cron.cron_text) && back.fold == CRON_FOLD_BOTH);
}

TEST(schedules_that_make_no_sense_are_refused)
{
    assert_member_problem("\"schedule\": {\"every\": \"999ms\"}", "schedule.every",
                          "must be at least 1s");
    assert_member_problem("\"schedule\": {\"delay\": \"1s\", \"timezone\": \"UTC\"}", "schedule",
                          "must have timezone and seconds only beside cron");
    assert_member_problem("\"overlap\": \"skip\"", "overlap",
                          "is for jobs whose schedule is every or cron");
    assert_int_equal(
        errors_of(STR("{\"command\": \"a\", \"schedule\": {\"cron\": \"61 * * * *\"}}")).count, 1);
}

TEST(limits_are_keys_with_numbers)
{
    struct spec spec = spec_of("{\"command\": \"a\","
                               " \"concurrency\": {\"key\": \"customer-42\", \"limit\": 2},"
                               " \"rate\": {\"key\": \"smtp\", \"limit\": 100, \"per\": \"1m\"}}");
    assert_true(str_eq(spec.concurrency.key, STR("customer-42")));
    assert_int_equal(spec.concurrency.limit, 2);
    assert_true(str_eq(spec.rate.key, STR("smtp")));
    assert_int_equal(spec.rate.limit, 100);
    assert_int_equal(spec.rate.per_ms, 60000);
    assert_problem("{\"command\": \"a\", \"concurrency\": {\"key\": \"k\", \"limit\": 0}}",
                   "concurrency.limit", "must be between 1 and 1000000");
    assert_problem("{\"command\": \"a\", \"concurrency\": {\"limit\": 1}}", "concurrency.key",
                   "is required");
    assert_problem("{\"command\": \"a\", \"rate\": {\"key\": \"k\", \"limit\": 1}}", "rate.per",
                   "is required");
    assert_member_problem("\"rate\": {\"key\": \"k\", \"limit\": 1, \"per\": \"0s\"}", "rate.per",
                          "must be at least 1ms");
    assert_member_problem("\"rate\": {\"key\": \"\", \"limit\": 1, \"per\": \"1s\"}", "rate.key",
                          "must not be empty");
    assert_member_problem("\"concurrency\": {\"key\": \"k\", \"limit\": 1, \"per\": \"1s\"}",
                          "concurrency.per", "unknown field");
}

TEST(null_means_absent)
{
    struct spec spec = spec_of("{\"command\": \"true\", \"handler\": null, \"name\": null,"
                               " \"payload\": null, \"env\": null, \"schedule\": null,"
                               " \"priority\": null, \"timeout\": null, \"retry\": null,"
                               " \"tags\": null}");
    assert_int_equal(spec.work, WORK_SHELL);
    assert_int_equal(spec.payload.len, 0);
    assert_int_equal(spec.priority, SPEC_PRIORITY_DEFAULT);
    assert_memory_equal(&spec.retry, &retry_default, sizeof spec.retry);
}

TEST(a_command_is_an_array_or_a_text_for_the_shell)
{
    struct spec shell = spec_of("{\"command\": \"a | b\\n\"}");
    assert_int_equal(shell.work, WORK_SHELL);
    assert_true(str_eq(shell.argv[0], STR("a | b\n")));
    struct spec handler = spec_of("{\"handler\": \"mail/send\"}");
    assert_int_equal(handler.work, WORK_HANDLER);
    assert_int_equal(handler.argc, 0);
    assert_int_equal(spec_of("{\"command\": [\"x\", \"\"]}").argc, 2);
}

TEST(there_is_exactly_one_kind_of_work)
{
    assert_problem("{}", "command", "is required, or handler, or expect");
    assert_problem("{\"command\": null}", "command", "is required, or handler, or expect");
    assert_problem("{\"command\": \"a\", \"handler\": \"b\"}", "handler",
                   "must not stand beside command");
}

TEST(a_job_that_expects_pings_runs_nothing)
{
    struct spec spec = spec_of("{\"expect\": {\"every\": \"1d\", \"grace\": \"1h\"}}");
    assert_int_equal(spec.work, WORK_PING);
    assert_int_equal(spec.when, WHEN_PING);
    assert_int_equal(spec.expect.every_ms, 86400000);
    assert_int_equal(spec.expect.grace_ms, 3600000);
    assert_true(spec_recurs(&spec) && !spec_has_slots(&spec));
    assert_problem("{\"expect\": {}}", "expect.every", "is required");
    assert_problem("{\"expect\": {\"every\": \"1ms\"}}", "expect.every", "must be at least 1s");
    assert_problem("{\"expect\": {\"every\": \"1d\", \"at\": 1}}", "expect.at", "unknown field");
    static const char *const others[] = {"\"command\": \"a\"",
                                         "\"handler\": \"h\"",
                                         "\"schedule\": {\"every\": \"1h\"}",
                                         "\"timeout\": \"1s\"",
                                         "\"retry\": {}",
                                         "\"overlap\": \"skip\"",
                                         "\"stagger\": \"1m\"",
                                         "\"depends_on\": []",
                                         "\"payload\": 1",
                                         "\"breaker\": \"b\"",
                                         "\"unique\": {\"key\": \"k\"}",
                                         "\"start_within\": \"1s\""};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char doc[200];
        char field[40];
        snprintf(doc, sizeof doc, "{\"expect\": {\"every\": \"1d\"}, %s}", others[i]);
        snprintf(field, sizeof field, "%.*s", (int)strcspn(others[i] + 1, "\""), others[i] + 1);
        assert_problem(doc, field,
                       "must not stand beside expect: such a job is pinged, and not run here");
    }
}

TEST(a_bad_command_is_refused)
{
    assert_problem("{\"command\": []}", "command", "must not be empty");
    assert_problem("{\"command\": \"\"}", "command", "must not be empty");
    assert_problem("{\"command\": 7}", "command", "must be an array or a string, not a number");
    assert_problem("{\"command\": [\"a\", \"b\", 7]}", "command[2]",
                   "must be a string, not a number");
    assert_problem("{\"command\": [\"\"]}", "command[0]", "must not be empty");
    assert_problem("{\"handler\": \"a b\"}", "handler",
                   "may have letters, digits and _ . : - / only");
}

/* {"command": ["x…", "x…", …]}, count items of len bytes. */
static struct str command_of(size_t count, size_t len)
{
    struct buf out = BUF(4 << 20);
    buf_add(&out, STR("{\"command\":["));
    for (size_t i = 0; i < count; i++) {
        buf_add(&out, i == 0 ? STR("\"") : STR(",\""));
        char *to = buf_reserve(&out, len);
        memset(to, 'x', len);
        out.len += len;
        buf_add_char(&out, '"');
    }
    buf_add(&out, STR("]}"));
    struct str text = arena_str(&arena, buf_str(&out));
    buf_free(&out);
    return text;
}

TEST(a_command_is_as_large_as_the_kernel_takes_it)
{
    struct spec spec;
    assert_int_equal(spec_read(command_of(2, 65535), &arena, &spec, NULL), RC_OK);
    assert_string_equal(errors_of(command_of(2, 65536)).items[0].message.ptr,
                        "must be at most 131072 bytes in all");
    assert_string_equal(errors_of(command_of(SPEC_ARGS_MAX + 1, 1)).items[0].message.ptr,
                        "must have at most 4096 items");
}

TEST(names_have_no_control_characters_and_an_end)
{
    assert_member_problem("\"name\": \"\"", "name", "must not be empty");
    assert_member_problem("\"name\": \"a\\nb\"", "name", "must not have control characters");
    assert_member_problem("\"name\": \"a\\u007fb\"", "name", "must not have control characters");
    assert_member_problem("\"queue\": \"a b\"", "queue",
                          "may have letters, digits and _ . : - only");
    assert_member_problem("\"queue\": \"\"", "queue", "must not be empty");
    assert_int_equal(
        spec_of("{\"command\": \"x\", \"name\": \"\xc3\xa4 & \xe2\x82\xac\"}").name.len, 8);
    char text[400] = "{\"command\": \"x\", \"name\": \"";
    size_t at = strlen(text);
    memset(text + at, 'n', 201);
    memcpy(text + at + 201, "\"}", 3);
    assert_problem(text, "name", "must be at most 200 bytes long");
}

TEST(a_mistyped_field_is_named_with_what_it_should_be)
{
    assert_member_problem("\"name\": 7", "name", "must be a string, not a number");
    assert_member_problem("\"priority\": \"high\"", "priority", "must be a number, not a string");
    assert_member_problem("\"priority\": 1.5", "priority", "must be a whole number");
    assert_member_problem("\"timeout\": 60", "timeout", "must be a string, not a number");
    assert_member_problem("\"env\": []", "env", "must be an object, not an array");
    assert_member_problem("\"tags\": {\"a\": 1}", "tags.a", "must be a string, not a number");
    assert_member_problem("\"retry\": true", "retry", "must be an object, not true or false");
    assert_problem("[]", "", "must be an object, not an array");
}

TEST(priority_has_a_range)
{
    assert_int_equal(spec_of("{\"command\": \"x\", \"priority\": 0}").priority, 0);
    assert_int_equal(spec_of("{\"command\": \"x\", \"priority\": 1000}").priority, 1000);
    assert_member_problem("\"priority\": -1", "priority", "must be between 0 and 1000");
    assert_member_problem("\"priority\": 1001", "priority", "must be between 0 and 1000");
    assert_member_problem("\"priority\": 4294967796", "priority", "must be between 0 and 1000");
}

TEST(durations_have_a_unit_and_a_range)
{
    const char *what = "must be a duration with a unit as in 90s, 15m, 1h30m or 2d";
    assert_member_problem("\"timeout\": \"60\"", "timeout", what);
    assert_member_problem("\"timeout\": \"0s\"", "timeout", "must be at least 1ms");
    assert_member_problem("\"timeout\": \"4000d\"", "timeout", "must be at most 3660d");
    assert_int_equal(spec_of("{\"command\": \"x\", \"timeout\": \"3660d\"}").timeout_ms,
                     DURATION_MAX_MS);
}

TEST(a_schedule_is_a_moment_or_a_delay)
{
    struct spec at =
        spec_of("{\"command\": \"x\", \"schedule\": {\"at\": \"2026-11-16T09:00:00+01:00\"}}");
    assert_int_equal(at.when, WHEN_AT);
    assert_int_equal(at.when_ms, NOW_MS);
    assert_int_equal(spec_of("{\"command\":\"x\",\"schedule\":{\"delay\":\"0s\"}}").when,
                     WHEN_DELAY);
    assert_member_problem("\"schedule\": {}", "schedule",
                          "must have one of at, delay, every and cron");
    assert_member_problem("\"schedule\": {\"at\": null}", "schedule",
                          "must have one of at, delay, every and cron");
    assert_member_problem("\"schedule\": {\"at\": \"2026-11-16T09:00:00Z\", \"delay\": \"1s\"}",
                          "schedule", "must have only one of at, delay, every and cron");
    assert_member_problem("\"schedule\": {\"at\": \"tomorrow\"}", "schedule.at",
                          "must be a time as in 2026-11-16T03:00:00Z (RFC 3339)");
    assert_member_problem("\"schedule\": {\"delay\": \"3661d\"}", "schedule.delay",
                          "must be at most 3660d");
}

TEST(retry_has_its_limits)
{
    assert_member_problem("\"retry\": {\"max_retries\": 1001}", "retry.max_retries",
                          "must be between 0 and 1000");
    assert_member_problem("\"retry\": {\"policy\": \"never\"}", "retry.policy",
                          "must be one of exponential, linear, fixed and immediate");
    assert_member_problem("\"retry\": {\"jitter\": 1.01}", "retry.jitter",
                          "must be between 0 and 1");
    assert_member_problem("\"retry\": {\"jitter\": \"x\"}", "retry.jitter",
                          "must be a number, not a string");
    assert_member_problem("\"retry\": {\"delay\": \"2h\", \"max_delay\": \"1h\"}", "retry.delay",
                          "must not be longer than max_delay");
    assert_member_problem("\"retry\": {\"tries\": 1}", "retry.tries", "unknown field");
    assert_member_problem("\"retry\": {\"max_retries\": -1}", "retry.max_retries",
                          "must be between 0 and 1000");
    assert_member_problem("\"retry\": {\"max_retries\": 1000000000}", "retry.max_retries",
                          "must be between 0 and 1000");
    assert_member_problem("\"retry\": {\"retry_on\": []}", "retry.retry_on",
                          "must not be empty: without retries, max_retries is 0");
    assert_member_problem("\"retry\": {\"retry_on\": \"timeout\"}", "retry.retry_on",
                          "must be an array, not a string");
    assert_member_problem("\"retry\": {\"retry_on\": [\"timeout\", \"flu\"]}", "retry.retry_on[1]",
                          "must be one of timeout, out_of_memory, permission_error, network_error, "
                          "not_found, disk_error, killed, crashed, lost_worker, user_error and "
                          "unknown");
    assert_int_equal(spec_of("{\"command\":\"x\",\"retry\":{\"jitter\":1}}").retry.jitter_permille,
                     1000);
}

TEST(a_default_delay_gives_way_to_the_other_one)
{
    struct spec longer = spec_of("{\"command\":\"x\",\"retry\":{\"delay\":\"2h\"}}");
    assert_int_equal(longer.retry.max_delay_ms, 7200000);
    struct spec shorter = spec_of("{\"command\":\"x\",\"retry\":{\"max_delay\":\"10ms\"}}");
    assert_int_equal(shorter.retry.delay_ms, 10);
}

TEST(environment_names_are_names)
{
    assert_member_problem("\"env\": {\"\": \"x\"}", "env", "must not have an empty name");
    assert_member_problem("\"env\": {\"A=B\": \"x\"}", "env.A=B", "must not have '=' in its name");
    assert_member_problem("\"env\": {\"A\\n\": \"x\"}", "env.A\n",
                          "must not have control characters");
    assert_member_problem("\"env\": {\"FOO\": null}", "env.FOO", "must be a string, not null");
    assert_int_equal(spec_of("{\"command\":\"x\",\"env\":{\"A\":\"line\\nline=\"}}").env_count, 1);
}

TEST(tags_are_lines_and_not_too_many)
{
    assert_member_problem("\"tags\": {\"a\": \"b\\nc:d\"}", "tags.a",
                          "must not have control characters");
    struct buf out = BUF(10000);
    buf_add(&out, STR("{\"command\":\"x\",\"tags\":{\"a\":\"\""));
    for (int i = 0; i < SPEC_TAGS_MAX; i++)
        buf_printf(&out, ",\"k%d\":\"v\"", i);
    buf_add(&out, STR("}}"));
    assert_string_equal(errors_of(buf_str(&out)).items[0].message.ptr,
                        "must have at most 64 members");
    buf_free(&out);
}

TEST(unknown_fields_are_named)
{
    assert_member_problem("\"colour\": \"red\"", "colour", "unknown field");
    assert_member_problem("\"Name\": \"x\"", "Name", "unknown field");
    assert_member_problem("\"schedule\": {\"delay\": \"1s\", \"when\": 1}", "schedule.when",
                          "unknown field");
}

TEST(calendars_are_names_or_say_otherwise)
{
    struct json doc;
    struct err err;
    struct spec spec;
    struct field_errors errors = {0};
    assert_int_equal(json_parse(STR("{\"command\": \"x\", \"calendars\": [\"a\","
                                    " {\"name\": \"b\", \"policy\": \"hold\"}]}"),
                                &arena, &doc, &err),
                     RC_OK);
    assert_int_equal(spec_parse(&doc, &arena, &spec, &errors), RC_OK);
    assert_int_equal(spec.calendar_count, 2);
    assert_true(str_eq(spec.calendars[0].name, STR("a")) && !spec.calendars[0].has_policy);
    assert_true(spec.calendars[1].has_policy && spec.calendars[1].policy == CALENDAR_HOLD);
    struct str text = spec_text(&spec, &arena);
    const char want[] = "\"calendars\":[\"a\",{\"name\":\"b\",\"policy\":\"hold\"}]";
    assert_non_null(memmem(text.ptr, text.len, want, sizeof want - 1));
    assert_member_problem("\"calendars\": [\"a\", \"a\"]", "calendars[1]", "is there twice");
    assert_member_problem("\"calendars\": [\"a b\"]", "calendars[0]",
                          "may have letters, digits and _ . : - only");
}

TEST(unique_work_has_a_key_and_a_time_in_which_it_holds)
{
    struct spec spec = spec_of("{\"command\": \"x\", \"unique\": {\"key\": \"k\"}}");
    assert_true(str_eq(spec.unique.key, STR("k")));
    assert_false(spec.unique.until_start);
    assert_int_equal(spec.unique.on_conflict, CONFLICT_RETURN);
    spec = spec_of("{\"command\": \"x\", \"unique\": {\"key\": \"k\", \"while\": [\"queued\"],"
                   " \"on_conflict\": \"replace\"}}");
    assert_true(spec.unique.until_start);
    assert_int_equal(spec.unique.on_conflict, CONFLICT_REPLACE);
    struct str text = spec_text(&spec, &arena);
    assert_non_null(strstr(arena_zstr(&arena, text),
                           "\"unique\":{\"key\":\"k\",\"while\":[\"queued\"],"
                           "\"on_conflict\":\"replace\"}"));
    spec = spec_of("{\"command\": \"x\", \"unique\": {\"key\": \"k\", \"keep\": \"7d\"}}");
    assert_true(spec.unique.has_keep);
    assert_int_equal(spec.unique.keep_ms, INT64_C(7) * 86400000);
    text = spec_text(&spec, &arena);
    assert_non_null(
        strstr(arena_zstr(&arena, text), "\"while\":[\"queued\",\"running\"],\"keep\":\"7d\","));
    assert_member_problem(
        "\"unique\": {\"key\": \"k\", \"while\": [\"queued\"], \"keep\": \"7d\"}", "unique.keep",
        "needs running in while: a key that is let go at the first start cannot be kept after "
        "success");
    assert_member_problem(
        "\"unique\": {\"key\": \"k\", \"while\": [\"running\"]}", "unique.while",
        "must have queued, too: one at a time that runs is what `concurrency` with "
        "a limit of 1 does");
    assert_member_problem(
        "\"unique\": {\"key\": \"k\"}, \"schedule\": {\"every\": \"1h\"}", "unique",
        "is for jobs that run once; of one that recurs, overlap says what becomes "
        "of a slot while an earlier one is not over");
}

TEST(a_breaker_is_a_name_or_false)
{
    struct spec spec = spec_of("{\"command\": \"x\", \"breaker\": \"smtp\"}");
    assert_true(str_eq(spec.breaker.name, STR("smtp")) && !spec.breaker.none);
    assert_non_null(strstr(arena_zstr(&arena, spec_text(&spec, &arena)), "\"breaker\":\"smtp\""));
    spec = spec_of("{\"handler\": \"x\", \"breaker\": false}");
    assert_true(spec.breaker.none && spec.breaker.name.len == 0);
    assert_non_null(strstr(arena_zstr(&arena, spec_text(&spec, &arena)), "\"breaker\":false"));
    spec = spec_of("{\"handler\": \"x\", \"breaker\": null}");
    assert_true(!spec.breaker.none && spec.breaker.name.len == 0);
    assert_null(strstr(arena_zstr(&arena, spec_text(&spec, &arena)), "breaker"));
    assert_member_problem("\"breaker\": true", "breaker", "must be a name or false, not true");
    assert_member_problem("\"breaker\": 7", "breaker", "must be a name or false, not a number");
    assert_member_problem("\"breaker\": \"\"", "breaker", "must not be empty");
    assert_member_problem("\"breaker\": \"a b\"", "breaker",
                          "may have letters, digits and _ . : - only");
}

TEST(an_idempotency_key_is_of_the_submission_and_not_of_the_job)
{
    struct spec spec = spec_of("{\"command\": \"x\", \"idempotency_key\": \"a-1\"}");
    assert_true(str_eq(spec.idempotency_key, STR("a-1")));
    assert_null(strstr(arena_zstr(&arena, spec_text(&spec, &arena)), "idempotency"));
    assert_member_problem("\"idempotency_key\": \"a b\"", "idempotency_key",
                          "must be 1 to 255 characters of visible ASCII");
    assert_member_problem("\"idempotency_key\": \"\"", "idempotency_key",
                          "must be 1 to 255 characters of visible ASCII");
}

TEST(fields_that_come_later_are_refused_even_when_null)
{
    static const char *const later[] = {
        "http",         "container", "kubernetes",  "task",        "resources", "labels",
        "prefer",       "exclusive", "preemptible", "permissions", "group",     "notify",
        "at_most_once", "secrets",   "user",        "sandbox",
    };
    for (size_t i = 0; i < COUNT_OF(later); i++) {
        struct str text = arena_printf(&arena, "{\"command\": \"x\", \"%s\": null}", later[i]);
        assert_problem(text.ptr, later[i], "is not supported by this version yet");
    }
    assert_problem("{\"http\": {}}", "http", "is not supported by this version yet");
    assert_problem("{\"kubernetes\": {}}", "kubernetes", "is not supported by this version yet");
}

TEST(deadlines_of_a_start_are_durations)
{
    struct spec spec =
        spec_of("{\"command\": \"x\", \"start_within\": \"5m\", \"expires_in\": \"6h\"}");
    assert_int_equal(spec.start_within_ms, 300000);
    assert_int_equal(spec.expires_in_ms, 6 * 3600000);
    spec = spec_of("{\"command\": \"x\"}");
    assert_true(spec.start_within_ms == 0 && spec.expires_in_ms == 0);
    assert_member_problem("\"expires_in\": 60", "expires_in", "must be a string, not a number");
    assert_member_problem("\"expires_in\": \"0s\"", "expires_in", "must be at least 1ms");
    assert_member_problem("\"start_within\": \"0s\"", "start_within", "must be at least 1ms");
    assert_member_problem("\"start_within\": \"4000d\"", "start_within", "must be at most 3660d");
    assert_member_problem("\"start_within\": \"5m\", \"expires_in\": \"5m\"", "start_within",
                          "must be shorter than expires_in");
}

TEST(all_problems_are_reported_at_once)
{
    struct field_errors errors = errors_of(
        STR("{\"command\": [1, \"a\", 2], \"priority\": 5000, \"retry\": {\"max_retries\": -1,"
            " \"jitter\": 2}, \"colour\": 1, \"sla\": {}, \"env\": {\"\": \"\"}}"));
    static const char *const fields[] = {
        "command[0]",   "command[2]", "priority", "retry.max_retries",
        "retry.jitter", "colour",     "sla",      "env"};
    assert_int_equal(errors.count, COUNT_OF(fields));
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        assert_string_equal(errors.items[i].field.ptr, fields[i]);
}

TEST(a_hostile_document_gets_a_bounded_answer)
{
    struct buf out = BUF(1 << 20);
    buf_add(&out, STR("{\"a\":1"));
    for (int i = 0; i < 10000; i++)
        buf_printf(&out, ",\"unknown-field-number-%d\":1", i);
    buf_add_char(&out, '}');
    assert_int_equal(errors_of(buf_str(&out)).count, FIELD_ERRORS_MAX);
    buf_free(&out);
}

TEST(stored_text_that_makes_no_sense_gets_one_sentence)
{
    struct spec spec;
    struct err err;
    assert_int_equal(spec_read(STR("{"), &arena, &spec, &err), RC_INVALID);
    assert_int_equal(spec_read(STR("{\"command\": \"x\", \"priority\": -1}"), &arena, &spec, &err),
                     RC_INVALID);
    assert_string_equal(err.text, "priority must be between 0 and 1000");
}

/* Left out of an engine, or refused by a worker, a job would never run again. */
TEST(what_an_older_version_took_is_still_read)
{
    static const struct str text = STR_INIT(
        "{\"command\": \"x\", \"name\": \"pay\u200froll\", \"tags\": {\"a\": \"\\u0085\"}}");
    struct field_errors errors = {.count = 0};
    struct json doc;
    struct spec spec;
    assert_int_equal(json_parse(text, &arena, &doc, NULL), RC_OK);
    assert_int_equal(spec_parse(&doc, &arena, &spec, &errors), RC_INVALID);
    assert_int_equal(spec_read(text, &arena, &spec, NULL), RC_OK);
    assert_true(str_eq(spec.name, STR("pay\u200froll")));
    assert_int_equal(spec_read(spec_text(&spec, &arena), &arena, &spec, NULL), RC_OK);
}

TEST_GROUP(NULL, release)

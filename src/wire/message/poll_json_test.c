#include "base/id.h"

#include "base/test/test.h"
#include "wire/message/poll_json.h"

#include <string.h>

static struct arena arena;
static struct buf out = {.max = 64 << 20};

static int clear(void **state)
{
    (void)state;
    buf_clear(&out);
    return 0;
}

static int release(void **state)
{
    (void)state;
    buf_free(&out);
    arena_free(&arena);
    return 0;
}

static struct json json_of(struct str text)
{
    struct json doc;
    struct err err;
    if (json_parse_by(&json_from_user, text, &arena, &doc, &err))
        fail_msg("%s", err.text);
    return doc;
}

static struct poll poll_of(struct str text)
{
    struct json doc = json_of(text);
    struct field_errors errors = {0};
    struct poll poll;
    if (poll_parse(&doc, &arena, &poll, &errors))
        fail_msg("%s", field_errors_text(&errors, &arena).ptr);
    return poll;
}

static void assert_poll_problem(const char *text, const char *field, const char *message)
{
    struct json doc = json_of(str_c(text));
    struct field_errors errors = {0};
    struct poll poll;
    assert_int_equal(poll_parse(&doc, &arena, &poll, &errors), RC_INVALID);
    assert_string_equal(errors.items[0].field.ptr, field);
    assert_string_equal(errors.items[0].message.ptr, message);
    assert_int_equal(errors.count, 1);
}

static void assert_hello_problem(const char *text, const char *field, const char *message)
{
    struct json doc = json_of(str_c(text));
    struct field_errors errors = {0};
    struct hello hello;
    assert_int_equal(hello_parse(&doc, &arena, &hello, &errors), RC_INVALID);
    assert_string_equal(errors.items[0].field.ptr, field);
    assert_string_equal(errors.items[0].message.ptr, message);
    assert_int_equal(errors.count, 1);
}

/* ---- registration */

static struct hello hello_of(struct str text)
{
    struct json doc = json_of(text);
    struct field_errors errors = {0};
    struct hello hello;
    assert_int_equal(hello_parse(&doc, &arena, &hello, &errors), RC_OK);
    return hello;
}

TEST(a_registration_reads_back_as_it_was_printed, clear)
{
    const struct str queues[] = {STR_INIT("default"), STR_INIT("mail")};
    const struct str handlers[] = {STR_INIT("mail/send")};
    const struct hello hello = {
        .name = STR("host-1/4711"),
        .slots = 8,
        .queues = queues,
        .queue_count = 2,
        .handlers = handlers,
        .handler_count = 1,
        .runs_commands = true,
        .boot_id = STR("5f6f0c0e-8f0a-4c5e-9d57-0b9f4f0d6a11"),
        .replaces = 4711,
    };
    hello_print(&out, &hello);
    struct hello back = hello_of(buf_str(&out));
    assert_true(str_eq(back.name, hello.name));
    assert_int_equal(back.slots, 8);
    assert_int_equal(back.queue_count, 2);
    assert_true(str_eq(back.queues[1], STR("mail")));
    assert_int_equal(back.handler_count, 1);
    assert_true(str_eq(back.handlers[0], STR("mail/send")));
    assert_true(back.runs_commands);
    assert_true(str_eq(back.boot_id, hello.boot_id));
    assert_int_equal(back.replaces, 4711);
}

/* An older server refuses what it does not know. */
TEST(a_registration_leaves_out_what_is_not_known, clear)
{
    hello_print(&out, &(struct hello){.name = STR("a"), .slots = 1, .runs_commands = true});
    assert_true(str_eq(buf_str(&out), STR("{\"name\":\"a\",\"slots\":1,\"commands\":true}")));
    struct hello back = hello_of(buf_str(&out));
    assert_int_equal(back.boot_id.len, 0);
    assert_int_equal(back.replaces, 0);
}

TEST(a_worker_without_handlers_runs_commands, clear)
{
    assert_true(hello_of(STR("{\"name\":\"a\",\"slots\":1}")).runs_commands);
    assert_false(hello_of(STR("{\"name\":\"a\",\"slots\":1,\"handlers\":[\"x\"]}")).runs_commands);
    assert_false(hello_of(STR("{\"name\":\"a\",\"slots\":1,\"commands\":false}")).runs_commands);
}

TEST(a_bad_registration_is_refused, clear)
{
    assert_hello_problem("{\"slots\":1}", "name", "is required");
    assert_hello_problem("{\"name\":\"a\"}", "slots", "is required");
    assert_hello_problem("{\"name\":\"a\",\"slots\":0}", "slots", "must be between 1 and 10000");
    assert_hello_problem("{\"name\":\"a\",\"slots\":10001}", "slots",
                         "must be between 1 and 10000");
    assert_hello_problem("{\"name\":null,\"slots\":1}", "name", "must be a string, not null");
    assert_hello_problem("{\"name\":\"a\",\"slots\":1,\"queues\":[\"a\",\"\"]}", "queues[1]",
                         "must not be empty");
    assert_hello_problem("{\"name\":\"a\",\"slots\":1,\"queues\":[\"a/b\"]}", "queues[0]",
                         "may have letters, digits and _ . : - only");
    assert_hello_problem("{\"name\":\"a\",\"slots\":1,\"labels\":{}}", "labels", "unknown field");
    assert_hello_problem("{\"name\":\"a\",\"slots\":1,\"boot_id\":\"a b\"}", "boot_id",
                         "may have letters, digits and _ . : - only");
    assert_hello_problem("{\"name\":\"a\",\"slots\":1,\"replaces\":7}", "replaces",
                         "must be a string, not a number");
}

TEST(a_welcome_reads_back_as_it_was_printed, clear)
{
    const struct welcome welcome = {77, 20000, 5000, 10000, 16777216, 1048576, 5000, 45000, 90000};
    struct welcome back;
    welcome_print(&out, &welcome);
    assert_int_equal(welcome_parse(buf_str(&out), &arena, &back, NULL), RC_OK);
    assert_memory_equal(&back, &welcome, sizeof back);
}

TEST(an_older_server_keeps_no_checkpoints, clear)
{
    struct welcome back;
    assert_int_equal(
        welcome_parse(STR("{\"worker_id\":\"wrk_0000000000001\",\"lease_ms\":1,\"park_ms\":1,"
                          "\"kill_grace_ms\":1,\"output_bytes_max\":1}"),
                      &arena, &back, NULL),
        RC_OK);
    assert_int_equal(back.checkpoint_bytes_max, 0);
    assert_int_equal(back.outage_grace_ms, 60000);
    assert_int_equal(back.forget_ms, 300000);
}

TEST(a_worker_says_what_is_wrong_with_a_welcome, clear)
{
    struct welcome welcome;
    struct err err;
    assert_int_equal(welcome_parse(STR("<html>"), &arena, &welcome, &err), RC_INVALID);
    assert_int_equal(
        welcome_parse(STR("{\"worker_id\":\"job_0000000000001\"}"), &arena, &welcome, &err),
        RC_INVALID);
    assert_string_equal(err.text, "worker_id must be an id: wrk_ and 13 digits (and 4 more)");
}

/* ---- polls */

TEST(a_poll_reads_back_as_it_was_printed, clear)
{
    const struct poll_held held[] = {{11, 1}, {12, INT64_MAX}};
    const struct poll_result results[] = {
        {.exec_id = 13,
         .token = 2,
         .outcome = OUTCOME_SUCCEEDED,
         .usage = {0, 0, 12, 9437184, 120, 7, 3},
         .result = STR("{\"rows\": 12}")},
        {.exec_id = 14,
         .token = 3,
         .outcome = OUTCOME_FAILED,
         .usage = {.exit_code = -1, .signal = 9},
         .error = STR("killed by \"KILL\"\n"),
         .class = FAILURE_KILLED,
         .permanent = PERMANENT_NO,
         .retry_after_ms = 90000,
         .tail = STR("one\ntwo")},
        {.exec_id = 15,
         .token = 4,
         .outcome = OUTCOME_PERMANENT,
         .usage = {.exit_code = -1},
         .error = STR("what is this?"),
         .code = POLL_CODE_UNREADABLE},
        {.exec_id = 16,
         .token = 5,
         .outcome = OUTCOME_STOPPED,
         .usage = {.exit_code = -1},
         .error = STR("all commands died"),
         .code = POLL_CODE_SPAWNER_DIED},
    };
    const struct poll poll = {
        .seq = 7,
        .free = 3,
        .wait_ms = 5000,
        .held = held,
        .held_count = 2,
        .results = results,
        .result_count = COUNT_OF(results),
        .heard = 6,
    };
    poll_print(&out, &poll);
    struct poll back = poll_of(buf_str(&out));
    assert_int_equal(back.heard, 6);
    assert_true(back.seq == 7 && back.free == 3 && back.wait_ms == 5000);
    assert_int_equal(back.held_count, 2);
    assert_memory_equal(back.held, held, sizeof held);
    assert_int_equal(back.result_count, COUNT_OF(results));
    for (size_t i = 0; i < COUNT_OF(results); i++) {
        assert_int_equal(back.results[i].exec_id, results[i].exec_id);
        assert_int_equal(back.results[i].token, results[i].token);
        assert_int_equal(back.results[i].outcome, results[i].outcome);
        assert_memory_equal(&back.results[i].usage, &results[i].usage, sizeof(struct usage));
        assert_true(str_eq(back.results[i].result, results[i].result));
        assert_true(str_eq(back.results[i].error, results[i].error));
        assert_int_equal(back.results[i].class, results[i].class);
        assert_int_equal(back.results[i].permanent, results[i].permanent);
        assert_int_equal(back.results[i].retry_after_ms, results[i].retry_after_ms);
        assert_true(str_eq(back.results[i].tail, results[i].tail));
        assert_int_equal(back.results[i].code, results[i].code);
    }
}

TEST(a_poll_may_be_short, clear)
{
    struct poll poll = poll_of(STR("{\"seq\":1,\"free\":0}"));
    assert_int_equal(poll.wait_ms, 0);
    assert_int_equal(poll.held_count + poll.result_count, 0);
    assert_int_equal(poll.heard, 0);
    poll_print(&out, &poll);
    assert_true(str_eq(buf_str(&out), STR("{\"seq\":1,\"free\":0,\"wait_ms\":0,\"running\":[],"
                                          "\"results\":[]}")));
}

TEST(a_result_without_an_exit_code_has_none, clear)
{
    struct poll poll =
        poll_of(STR("{\"seq\":1,\"free\":0,\"results\":[{\"execution_id\":\"exec_0000000000001\","
                    "\"token\":1,\"outcome\":\"returned\",\"exit_code\":null,\"result\":null}]}"));
    assert_int_equal(poll.results[0].usage.exit_code, -1);
    assert_int_equal(poll.results[0].result.len, 0);
}

TEST(numbers_of_a_poll_have_ranges, clear)
{
    assert_poll_problem("{\"seq\":0,\"free\":0}", "seq",
                        "must be between 1 and 9223372036854775807");
    assert_poll_problem("{\"seq\":1,\"free\":-1}", "free", "must be between 0 and 10000");
    assert_poll_problem("{\"seq\":1,\"free\":1000000000}", "free", "must be between 0 and 10000");
    assert_poll_problem("{\"seq\":1,\"free\":4294967297}", "free", "must be between 0 and 10000");
    assert_poll_problem("{\"seq\":1,\"free\":0,\"wait_ms\":-1}", "wait_ms",
                        "must be between 0 and 3600000");
    assert_poll_problem("{\"seq\":1,\"free\":0,\"heard\":0}", "heard",
                        "must be between 1 and 9223372036854775807");
    assert_poll_problem("{\"seq\":1}", "free", "is required");
    assert_poll_problem("{\"seq\":1,\"free\":0,\"colour\":1}", "colour", "unknown field");
}

#define RESULT(member)                                                                             \
    "{\"seq\":1,\"free\":0,\"results\":[{\"execution_id\":\"exec_0000000000001\",\"token\":1,"     \
    "\"outcome\":\"failed\"," member "}]}"

TEST(entries_of_a_poll_are_named_by_their_place, clear)
{
    assert_poll_problem("{\"seq\":1,\"free\":0,\"running\":[{\"execution_id\":\"exec_1\","
                        "\"token\":1}]}",
                        "running[0].execution_id", "must be an id: exec_ and 13 digits");
    assert_poll_problem("{\"seq\":1,\"free\":0,\"running\":[{\"execution_id\":"
                        "\"exec_0000000000001\",\"token\":0}]}",
                        "running[0].token", "must be between 1 and 9223372036854775807");
    assert_poll_problem("{\"seq\":1,\"free\":0,\"running\":[7]}", "running[0]",
                        "must be an object, not a number");
    assert_poll_problem("{\"seq\":1,\"free\":0,\"running\":{}}", "running",
                        "must be an array, not an object");
    assert_poll_problem(RESULT("\"exit_code\":2147483648"), "results[0].exit_code",
                        "must be between -1 and 2147483647");
    assert_poll_problem(RESULT("\"signal\":500"), "results[0].signal", "must be between 0 and 128");
    assert_poll_problem(RESULT("\"cpu_ms\":-1"), "results[0].cpu_ms",
                        "must be between 0 and 9223372036854775807");
    assert_poll_problem(RESULT("\"pid\":1"), "results[0].pid", "unknown field");
}

TEST(only_a_server_can_say_that_a_lease_was_lost, clear)
{
    assert_poll_problem(
        "{\"seq\":1,\"free\":0,\"results\":[{\"execution_id\":\"exec_0000000000001\",\"token\":1,"
        "\"outcome\":\"lost\"}]}",
        "results[0].outcome",
        "must be one of succeeded, failed, permanent, timeout, stopped and returned");
}

static struct str result_of(const char *member, size_t bytes)
{
    struct buf text = BUF(1 << 20);
    buf_printf(&text,
               "{\"seq\":1,\"free\":0,\"results\":[{\"execution_id\":\"exec_0000000000001\","
               "\"token\":1,\"outcome\":\"failed\",\"%s\":\"",
               member);
    memset(buf_reserve(&text, bytes), 'x', bytes);
    text.len += bytes;
    buf_add(&text, STR("\"}]}"));
    struct str copy = arena_str(&arena, buf_str(&text));
    buf_free(&text);
    return copy;
}

#define FAILURE(outcome, more)                                                                     \
    "{\"seq\":1,\"free\":0,\"results\":[{\"execution_id\":\"exec_0000000000001\",\"token\":1,"     \
    "\"outcome\":\"" outcome "\"," more "}]}"

TEST(what_is_said_about_a_failure_must_make_sense, clear)
{
    assert_poll_problem(FAILURE("failed", "\"error_class\":\"flu\""), "results[0].error_class",
                        "'flu' must be one of timeout, out_of_memory, permission_error, "
                        "network_error, not_found, disk_error, killed, crashed, lost_worker, "
                        "user_error and unknown");
    assert_poll_problem(FAILURE("failed", "\"error_class\":\"lost_worker\""),
                        "results[0].error_class",
                        "must not be lost_worker: only the server can say that");
    assert_poll_problem(FAILURE("succeeded", "\"error_class\":\"killed\""),
                        "results[0].error_class",
                        "must stand only beside failed, permanent and timeout");
    assert_poll_problem(FAILURE("timeout", "\"error_class\":\"killed\""), "results[0].error_class",
                        "must be timeout beside the outcome timeout");
    assert_poll_problem(FAILURE("permanent", "\"permanent\":false"), "results[0].permanent",
                        "must not be false beside the outcome permanent");
    assert_poll_problem(FAILURE("stopped", "\"permanent\":true"), "results[0].permanent",
                        "must stand only beside failed, permanent and timeout");
    assert_poll_problem(FAILURE("failed", "\"retry_after_ms\":-1"), "results[0].retry_after_ms",
                        "must be between 0 and 316224000000");
    assert_poll_problem(FAILURE("failed", "\"code\":\"spawner_died\""), "results[0].code",
                        "must be spawner_died only beside stopped");
    assert_poll_problem(FAILURE("stopped", "\"code\":\"unreadable\""), "results[0].code",
                        "must be unreadable only beside permanent and returned");
    assert_poll_problem(FAILURE("stopped", "\"code\":\"flu\""), "results[0].code",
                        "must be unreadable or spawner_died");
    poll_of(STR(FAILURE("failed", "\"permanent\":true,\"error_class\":\"network_error\"")));
}

TEST(results_and_errors_are_limited, clear)
{
    poll_of(result_of("result", POLL_RESULT_BYTES_MAX - 2)); /* with its quotes */
    assert_poll_problem(result_of("result", POLL_RESULT_BYTES_MAX - 1).ptr, "results[0].result",
                        "must be at most 262144 bytes long");
    poll_of(result_of("error", POLL_ERROR_BYTES_MAX));
    assert_poll_problem(result_of("error", POLL_ERROR_BYTES_MAX + 1).ptr, "results[0].error",
                        "must be at most 4096 bytes long");
}

TEST(the_number_of_entries_is_limited, clear)
{
    buf_add(&out, STR("{\"seq\":1,\"free\":0,\"running\":[0"));
    for (int i = 0; i < POLL_HELD_MAX; i++)
        buf_add(&out, STR(",0"));
    buf_add(&out, STR("]}"));
    buf_add_char(&out, '\0');
    assert_poll_problem(out.ptr, "running", "must have at most 20000 items");
}

TEST_GROUP(NULL, release)

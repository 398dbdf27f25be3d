#include "base/id.h"
#include "server/trace/spans.h"
#include "wire/json/json.h"

#include "base/test/test.h"

enum { REALM = 7 };
#define T0 INT64_C(1794816000000)

struct stage {
    struct arena arena;
    struct buf text;
    struct json spans;
};

static int stage_set_up(void **state)
{
    static struct stage s;
    s = (struct stage){.text = BUF(1 << 20)};
    *state = &s;
    return 0;
}

static int stage_tear_down(void **state)
{
    struct stage *s = *state;
    buf_free(&s->text);
    arena_free(&s->arena);
    return 0;
}

static struct trace_record completed(void)
{
    return (struct trace_record){
        .trace = {.id = {1, 2}, .flags = TRACE_SAMPLED},
        .exec_id = 11,
        .job_id = 10,
        .token = 3,
        .state = EXEC_COMPLETED,
        .attempts = 1,
        .slot_ms = T0,
        .created_ms = T0,
        .ready_ms = T0,
        .finished_ms = T0 + 500,
        .attempt = {.token = 3,
                    .number = 1,
                    .started_ms = T0 + 100,
                    .ended_ms = T0 + 500,
                    .outcome = OUTCOME_SUCCEEDED,
                    .worker_id = 12},
        .whole = true,
        .queue = STR("mail"),
    };
}

static void print(struct stage *s, const struct trace_record *record, const struct trace_past *past)
{
    static const struct trace_past none;
    struct err err;
    buf_add_char(&s->text, '[');
    size_t count = spans_print(&s->text, REALM, record, past == NULL ? &none : past, false);
    buf_add_char(&s->text, ']');
    assert_int_equal(json_parse(buf_str(&s->text), &s->arena, &s->spans, &err), RC_OK);
    assert_int_equal(s->spans.count, count);
}

static const struct json *span(const struct stage *s, const char *name, size_t nth)
{
    for (size_t i = 0; i < s->spans.count; i++) {
        const struct json *one = &s->spans.items[i];
        if (str_eq(json_get(one, STR("name"))->string, str_c(name)) && nth-- == 0)
            return one;
    }
    return NULL;
}

static struct str text(const struct json *of, const char *key)
{
    const struct json *value = json_get(of, str_c(key));
    return value == NULL ? STR("") : value->string;
}

static struct str attribute(const struct json *of, const char *key)
{
    const struct json *all = json_get(of, STR("attributes"));
    for (size_t i = 0; i < all->count; i++) {
        const struct json *value = json_get(&all->items[i], STR("value"));
        if (str_eq(text(&all->items[i], "key"), str_c(key)))
            return value->members[0].value.string;
    }
    return STR("");
}

static void assert_text(struct str got, const char *expected)
{
    if (!str_eq(got, str_c(expected)))
        fail_msg("'%.*s' is not '%s'", STR_ARG(got), expected);
}

TEST(an_execution_is_the_parent_of_what_it_went_through, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct trace_record record = completed();
    print(s, &record, NULL);
    const struct json *root = span(s, "execute mail", 0);
    assert_int_equal(s->spans.count, 4);
    assert_null(json_get(root, STR("parentSpanId")));
    assert_null(json_get(root, STR("status")));
    assert_text(text(root, "traceId"), "00000000000000010000000000000002");
    assert_text(text(root, "startTimeUnixNano"), "1794816000000000000");
    assert_text(text(root, "endTimeUnixNano"), "1794816000500000000");
    assert_text(attribute(root, "messaging.destination.name"), "mail");
    static const char *const others[] = {"submit mail", "wait mail", "process mail"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_true(str_eq(text(span(s, others[i], 0), "parentSpanId"), text(root, "spanId")));
    assert_text(attribute(span(s, "wait mail", 0), "belfry.wait.for"), "line");
    assert_text(text(span(s, "wait mail", 0), "endTimeUnixNano"), "1794816000100000000");
}

/* Else the spans of a command would have a parent that nobody knows. */
TEST(an_attempt_has_the_id_that_its_command_was_given, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct trace_record record = completed();
    const struct trace_rule rule = {.on = true, .realm = REALM};
    char id[TRACE_TEXT_MAX];
    struct trace_parent given = trace_for_attempt(&rule, 11, 3, &record.trace);
    print(s, &record, NULL);
    assert_true(
        str_eq(text(span(s, "process mail", 0), "spanId"), trace_span_format(id, given.span)));
}

TEST(the_span_of_the_caller_is_the_parent_of_all, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct trace_record record = completed();
    record.trace.caller = 0xabc;
    record.trace.state = STR("a=1");
    print(s, &record, NULL);
    assert_text(text(span(s, "execute mail", 0), "parentSpanId"), "0000000000000abc");
    assert_text(text(span(s, "process mail", 0), "traceState"), "a=1");
}

TEST(a_failure_is_an_error_with_its_class_and_message, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct trace_record record = completed();
    record.state = EXEC_FAILED;
    record.error = record.attempt.error = STR("exit code 3: \"no\" \xff");
    record.attempt.outcome = OUTCOME_FAILED;
    record.attempt.class = FAILURE_TIMEOUT;
    print(s, &record, NULL);
    const struct json *root = span(s, "execute mail", 0);
    const struct json *status = json_get(root, STR("status"));
    assert_int_equal(json_get(status, STR("code"))->integer, 2);
    assert_text(text(status, "message"), "exit code 3: \"no\" \xef\xbf\xbd");
    assert_true(str_eq(attribute(root, "error.type"), failure_name(FAILURE_TIMEOUT)));
}

TEST(a_slot_begins_at_its_moment_and_nobody_submitted_it, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct trace_record record = completed();
    record.origin = ORIGIN_SLOT;
    record.created_ms = T0 - 86400000;
    print(s, &record, NULL);
    assert_text(text(span(s, "execute mail", 0), "startTimeUnixNano"), "1794816000000000000");
    assert_null(span(s, "submit mail", 0));
    assert_int_equal(s->spans.count, 3);
}

TEST(the_trail_tells_what_was_waited_for, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct trace_record record = completed();
    static const struct attempt_rec attempts[] = {
        {.token = 3,
         .number = 1,
         .started_ms = T0 + 200,
         .ended_ms = T0 + 300,
         .outcome = OUTCOME_FAILED,
         .class = FAILURE_TIMEOUT},
        {.token = 4,
         .number = 2,
         .started_ms = T0 + 450,
         .ended_ms = T0 + 500,
         .outcome = OUTCOME_SUCCEEDED},
    };
    const struct trace_past past = {
        .trail = STR("1794816000000\tcreate\tblocked\tkey:a\twaits for job_x\n"
                     "1794816000100\tdue\tqueued\tserver\t\n"
                     "1794816000200\tlease\trunning\tserver\tleased\n"
                     "1794816000300\tretry\tretrying\tserver\texit code 1\n"
                     "1794816000400\tdue\tqueued\tserver\t\n"
                     "1794816000450\tlease\trunning\tserver\tleased\n"
                     "1794816000500\tsucceed\tcompleted\tserver\t\n"),
        .attempts = attempts,
        .attempt_count = COUNT_OF(attempts),
    };
    print(s, &record, &past);
    static const char *const waits[] = {"other", "line", "backoff", "line"};
    for (size_t i = 0; i < COUNT_OF(waits); i++)
        assert_text(attribute(span(s, "wait mail", i), "belfry.wait.for"), waits[i]);
    assert_null(span(s, "wait mail", COUNT_OF(waits)));
    assert_text(attribute(span(s, "wait mail", 0), "belfry.wait.reason"), "waits for job_x");
    assert_true(
        str_eq(attribute(span(s, "process mail", 0), "error.type"), failure_name(FAILURE_TIMEOUT)));
    for (size_t i = 0; i < s->spans.count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_false(
                str_eq(text(&s->spans.items[i], "spanId"), text(&s->spans.items[j], "spanId")));
    }
}

TEST(a_batch_is_one_document, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct trace_record record = completed();
    static const struct trace_past none;
    struct err err;
    spans_begin(&s->text, &(struct span_source){STR("a \"service\""), STR("node")});
    spans_print(&s->text, REALM, &record, &none, false);
    spans_print(&s->text, REALM, &record, &none, true);
    spans_end(&s->text);
    assert_int_equal(json_parse(buf_str(&s->text), &s->arena, &s->spans, &err), RC_OK);
}

#include "job/spec.h"

#include "base/test/test.h"
#include "wire/message/queue_json.h"
#include "wire/message/record_json.h"

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

static void assert_written(const char *expected)
{
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
}

/* ---- printing */

TEST(a_queue_nobody_decided_about_shows_its_numbers, clear)
{
    struct queue_view view = {.queue.name = STR("default"), .running = 4, .waited_ms = 1500};
    for (int i = 0; i < EXEC_STATES; i++)
        view.execs[i] = 1000; /* of states that are not shown */
    view.execs[EXEC_BLOCKED] = 0;
    view.execs[EXEC_SCHEDULED] = 1;
    view.execs[EXEC_QUEUED] = 20;
    view.execs[EXEC_RETRYING] = 300;
    queue_view_print(&w, &view);
    assert_written("{\"name\":\"default\",\"depth\":321,\"queued\":20,\"scheduled\":1,"
                   "\"retrying\":300,\"running\":4,\"oldest_age_ms\":1500,\"concurrency\":null,"
                   "\"paused\":false,\"paused_at\":null,\"paused_by\":null,\"changed_at\":null,"
                   "\"changed_by\":null}");
}

TEST(a_paused_queue_shows_since_when_and_by_whom, clear)
{
    queue_view_print(&w, &(struct queue_view){.queue = {.name = STR("mail"),
                                                        .concurrency = 3,
                                                        .paused = true,
                                                        .paused_ms = AT_MS,
                                                        .paused_by = STR("key:ops"),
                                                        .changed_ms = AT_MS + 1,
                                                        .changed_by = STR("key:admin")}});
    assert_written("{\"name\":\"mail\",\"depth\":0,\"queued\":0,\"scheduled\":0,\"retrying\":0,"
                   "\"running\":0,\"oldest_age_ms\":0,\"concurrency\":3,\"paused\":true,"
                   "\"paused_at\":\"" AT "\",\"paused_by\":\"key:ops\","
                   "\"changed_at\":\"2026-11-16T08:00:00.001Z\",\"changed_by\":\"key:admin\"}");
}

TEST(an_event_of_a_queue_is_of_its_own_kind, clear)
{
    struct event event = {.at_ms = AT_MS,
                          .queue = STR("mail"),
                          .queue_event = QUEUE_RESUMED,
                          .actor = STR("key:ops"),
                          .concurrency = 2};
    assert_true(str_eq(event_kind(&event), STR("queue")));
    assert_true(str_eq(event_kind(&(struct event){.exec_id = 1}), STR("execution")));
    event_print(&w, &event);
    assert_written("{\"at\":\"" AT "\",\"queue\":\"mail\",\"event\":\"resume\","
                   "\"actor\":\"key:ops\",\"paused\":false,\"concurrency\":2}");
}

/* ---- reading */

static struct queue_wish wish;

static const struct field_errors *errors_of(const char *text)
{
    struct json doc;
    struct field_errors *errors = ARENA_NEW(&arena, struct field_errors);
    wish = (struct queue_wish){.concurrency = 77};
    assert_int_equal(json_parse(str_c(text), &arena, &doc, NULL), RC_OK);
    enum rc rc = queue_limit_parse(&doc, &arena, &wish, errors);
    assert_int_equal(rc, errors->count == 0 ? RC_OK : RC_INVALID);
    return errors;
}

static void assert_refused(const char *text, const char *field, const char *message)
{
    const struct field_errors *errors = errors_of(text);
    assert_int_equal(errors->count, 1);
    assert_true(str_eq(errors->items[0].field, str_c(field)));
    assert_true(str_eq(errors->items[0].message, str_c(message)));
}

TEST(a_limit_is_a_number_or_none)
{
    assert_int_equal(errors_of("{\"concurrency\": 3}")->count, 0);
    assert_true(wish.set_concurrency && wish.concurrency == 3);
    assert_int_equal(errors_of("{\"concurrency\": 1000000}")->count, 0);
    assert_int_equal(errors_of("{\"concurrency\": null}")->count, 0);
    assert_true(wish.set_concurrency && wish.concurrency == 0);
}

TEST(a_bad_limit_is_refused_with_its_field)
{
    assert_refused("{\"concurrency\": 0}", "concurrency", "must be between 1 and 1000000");
    assert_refused("{\"concurrency\": 1000001}", "concurrency", "must be between 1 and 1000000");
    assert_refused("{\"concurrency\": 1.5}", "concurrency", "must be a whole number");
    assert_refused("{\"concurrency\": \"3\"}", "concurrency", "must be a number, not a string");
    assert_refused("{}", "concurrency", "is required: a number, or null for no limit");
    assert_refused("{\"concurrency\": 3, \"rate\": 1}", "rate", "unknown field");
    assert_refused("[]", "", "must be an object, not an array");
}

TEST(a_queue_is_called_as_in_a_job)
{
    char longest[SPEC_NAME_MAX + 1];
    struct field_errors errors = {0};
    memset(longest, 'q', sizeof longest);
    assert_int_equal(queue_name_check(STR("a.B:c-d_1"), &arena, &errors), RC_OK);
    assert_int_equal(queue_name_check(str_of(longest, SPEC_NAME_MAX), &arena, &errors), RC_OK);
    assert_int_equal(errors.count, 0);
    assert_int_equal(queue_name_check(str_of(longest, sizeof longest), &arena, &errors),
                     RC_INVALID);
    assert_int_equal(queue_name_check(STR("a b"), &arena, &errors), RC_INVALID);
    assert_int_equal(queue_name_check(STR("a/b"), &arena, &errors), RC_INVALID);
    assert_int_equal(queue_name_check(STR(""), &arena, &errors), RC_INVALID);
    assert_int_equal(errors.count, 4);
    assert_true(str_eq(errors.items[0].field, STR("queue")));
    assert_true(str_eq(errors.items[1].message, STR("may have letters, digits and _ . : - only")));
}

TEST_GROUP(NULL, release)

#include "base/id.h"
#include "base/test/test.h"
#include "server/output/event_filter.h"

static struct event_filter filter_of(const char *name, const char *value)
{
    struct arena arena = {0};
    struct field_errors errors = {0};
    struct event_filter f = {0};
    event_filter_add(&f, name, str_c(value), &errors, &arena);
    event_filter_end(&f);
    assert_int_equal(errors.count, 0);
    arena_free(&arena);
    return f;
}

static const struct event run = {.job_id = 7, .exec_id = 8, .queue = STR_INIT("mail")};
static const struct event pause_event = {.queue = STR_INIT("mail"), .queue_event = QUEUE_PAUSED};

TEST(a_filter_that_names_nothing_lets_everything_through)
{
    struct event_filter f = {0};
    event_filter_end(&f);
    assert_true(event_filter_is_empty(&f));
    assert_true(event_filter_fits(&f, &run));
    assert_int_equal(f.text.len, 0);
    event_filter_free(&f);
}

TEST(an_event_fits_when_it_is_about_any_of_those_named)
{
    struct event_filter f = filter_of("job", ID_TEXT(ID_JOB, 7));
    assert_true(event_filter_fits(&f, &run));
    assert_false(event_filter_fits(&f, &pause_event));
    event_filter_free(&f);
    f = filter_of("execution", ID_TEXT(ID_EXEC, 9));
    assert_false(event_filter_fits(&f, &run));
    event_filter_free(&f);
    f = filter_of("queue", "mail");
    assert_true(event_filter_fits(&f, &run));
    assert_true(event_filter_fits(&f, &pause_event));
    event_filter_free(&f);
}

TEST(types_narrow)
{
    struct event_filter f = filter_of("type", "queue");
    assert_false(event_filter_fits(&f, &run));
    assert_true(event_filter_fits(&f, &pause_event));
    event_filter_free(&f);
}

TEST(what_a_reader_may_not_see_fits_no_filter)
{
    struct event_filter f = filter_of("queue", "mail");
    f.rights.all = false;
    assert_false(event_filter_fits(&f, &run));
    event_filter_free(&f);
}

TEST(the_same_filter_has_the_same_text)
{
    struct arena arena = {0};
    struct field_errors errors = {0};
    struct event_filter a = {0};
    struct event_filter b = {0};
    event_filter_add(&a, "queue", STR("x"), &errors, &arena);
    event_filter_add(&a, "type", STR("sla"), &errors, &arena);
    event_filter_add(&a, "queue", STR("a"), &errors, &arena);
    event_filter_add(&b, "queue", STR("a"), &errors, &arena);
    event_filter_add(&b, "queue", STR("x"), &errors, &arena);
    event_filter_add(&b, "queue", STR("x"), &errors, &arena);
    event_filter_add(&b, "type", STR("sla"), &errors, &arena);
    event_filter_end(&a);
    event_filter_end(&b);
    assert_true(str_eq(a.text, STR("queue=a&queue=x&type=sla")));
    assert_true(str_eq(a.text, b.text));
    event_filter_free(&a);
    event_filter_free(&b);
    arena_free(&arena);
}

TEST(more_than_a_hundred_values_are_refused)
{
    struct arena arena = {0};
    struct field_errors errors = {0};
    struct event_filter f = {0};
    for (uint64_t i = 0; i <= FILTER_VALUES_MAX; i++)
        event_filter_add(&f, "job", str_c(ID_TEXT(ID_JOB, 100 + i)), &errors, &arena);
    assert_int_equal(errors.count, 1);
    event_filter_add(&f, "type", STR("nonsense"), &errors, &arena);
    assert_true(errors.count > 1);
    event_filter_free(&f);
    arena_free(&arena);
}

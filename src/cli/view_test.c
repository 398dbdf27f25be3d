#include "cli/view.h"

#include "base/test/test.h"

static struct arena arena;

/* What people see of the member `key` of a document, NUL-terminated. */
static const char *text_of(enum view_kind kind, const char *key, const char *document)
{
    struct json object;
    struct view_field field = {.kind = kind, .key = key};
    assert_int_equal(json_parse(str_c(document), &arena, &object, NULL), RC_OK);
    return arena_zstr(&arena, view_text(&field, &object, &arena));
}

TEST(a_value_is_found_by_its_path)
{
    const char *job = "{\"name\":\"n\",\"retry\":{\"max_retries\":3},\"gone\":null}";
    assert_string_equal(text_of(VIEW_TEXT, "name", job), "n");
    assert_string_equal(text_of(VIEW_TEXT, "retry.max_retries", job), "3");
    assert_string_equal(text_of(VIEW_TEXT, "gone", job), "");
    assert_string_equal(text_of(VIEW_TEXT, "retry.delay.unit", job), "");
}

TEST(durations_are_as_exact_as_anyone_wants)
{
    assert_string_equal(text_of(VIEW_DURATION, "d", "{\"d\":41}"), "41ms");
    assert_string_equal(text_of(VIEW_DURATION, "d", "{\"d\":3299}"), "3.2s");
    assert_string_equal(text_of(VIEW_DURATION, "d", "{\"d\":312999}"), "5m12s");
    assert_string_equal(text_of(VIEW_DURATION, "d", "{\"d\":null}"), "");
}

TEST(a_rate_is_in_percent_and_rounds_neither_to_nothing_nor_to_all)
{
    assert_string_equal(text_of(VIEW_RATE, "r", "{\"r\":0.1234}"), "12.3%");
    assert_string_equal(text_of(VIEW_RATE, "r", "{\"r\":0.00042}"), "0.04%");
    assert_string_equal(text_of(VIEW_RATE, "r", "{\"r\":0.99958}"), "99.96%");
    assert_string_equal(text_of(VIEW_RATE, "r", "{\"r\":1}"), "100.0%");
    assert_string_equal(text_of(VIEW_RATE, "r", "{\"r\":0}"), "0.0%");
    assert_string_equal(text_of(VIEW_RATE, "r", "{\"r\":null}"), "");
}

TEST(moments_are_short_and_in_utc)
{
    assert_string_equal(text_of(VIEW_WHEN, "t", "{\"t\":\"2026-11-16T08:00:00.123Z\"}"),
                        "2026-11-16 08:00:00Z");
}

TEST(sizes_have_the_unit_that_fits)
{
    assert_string_equal(text_of(VIEW_BYTES, "b", "{\"b\":120}"), "120 B");
    assert_string_equal(text_of(VIEW_BYTES, "b", "{\"b\":9437184}"), "9.0 MiB");
}

TEST(work_is_a_command_or_a_handler)
{
    assert_string_equal(text_of(VIEW_WORK, "", "{\"command\":[\"echo\",\"a b\"]}"), "echo a b");
    assert_string_equal(text_of(VIEW_WORK, "", "{\"command\":\"ls | wc\"}"), "ls | wc");
    assert_string_equal(text_of(VIEW_WORK, "", "{\"handler\":\"mail\"}"), "handler mail");
}

TEST(skipped_slots_are_told_with_their_number_and_the_reason)
{
    assert_string_equal(text_of(VIEW_WHY, "", "{\"error\":\"exit code 3\",\"slot_count\":1}"),
                        "exit code 3");
    assert_string_equal(text_of(VIEW_WHY, "", "{\"error\":null,\"slot_count\":0}"), "");
    assert_string_equal(text_of(VIEW_WHY, "", "{\"error\":\"missed\",\"slot_count\":59}"),
                        "59 slots skipped: missed");
}

TEST(lists_and_objects_become_one_line)
{
    assert_string_equal(text_of(VIEW_WORDS, "q", "{\"q\":[\"a\",\"b\"]}"), "a, b");
    assert_string_equal(text_of(VIEW_PAIRS, "t", "{\"t\":{\"a\":\"1\",\"b\":\"2\"}}"), "a=1, b=2");
}

TEST(control_characters_do_not_reach_the_terminal)
{
    assert_string_equal(text_of(VIEW_TEXT, "n", "{\"n\":\"a\\n\\u001b[31mb\"}"), "a  [31mb");
    assert_string_equal(text_of(VIEW_TEXT, "n", "{\"n\":\"a\\u009b31mb\\u202ec\"}"), "a 31mb c");
}

static int drop_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

TEST_GROUP(NULL, drop_arena)

#include "job/spec_scan.h"
#include "wire/spec/spec_rig_test.h"

/* Written as it is, not put together: it must say what the default is, and nothing else. */
TEST(the_default_retry_is_printed_as_any_other)
{
    struct spec spec = {
        .work = WORK_HANDLER, .handler = STR("h"), .queue = STR("default"), .retry = retry_default};
    struct spec other = spec;
    struct spec again;
    assert_int_equal(spec_read(spec_text(&spec, &arena), &arena, &again, NULL), RC_OK);
    assert_memory_equal(&again.retry, &retry_default, sizeof again.retry);
    other.retry.max_retries = 4;
    struct str text = spec_text(&spec, &arena);
    struct str with = spec_text(&other, &arena);
    assert_int_equal(text.len, with.len);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != with.ptr[i])
            assert_true(text.ptr[i] == '3' && with.ptr[i] == '4');
    }
}

TEST(what_is_printed_reads_back_as_the_same)
{
    static const char *const docs[] = {
        "{\"command\": [\"a\", \"\", \"\\\"\\n\"]}",
        "{\"command\": \"echo $HOME\", \"timeout\": \"1d1ms\", \"priority\": 0}",
        "{\"command\": \"x\", \"breaker\": \"a.b:c_d-e\"}",
        "{\"handler\": \"x\", \"breaker\": false}",
        "{\"command\": \"x\", \"start_within\": \"5m\", \"expires_in\": \"1h30m\"}",
        "{\"handler\": \"send_email\", \"schedule\": {\"at\": \"2031-01-01T00:00:00.5Z\"}}",
        "{\"handler\": \"x\", \"schedule\": {\"at\": \"1970-01-01T00:00:00Z\"}}",
        "{\"handler\": \"x\", \"schedule\": {\"delay\": \"0s\"}, \"retry\": {\"jitter\": 0}}",
        "{\"command\": \"x\", \"env\": {\"A\": \"1\", \"B\": \"\"}, \"tags\": {\"t\": \"\"}}",
        "{\"command\": \"x\", \"retry\": {\"jitter\": 0.333, \"policy\": \"immediate\"}}",
        "{\"command\": \"x\", \"retry\": {\"jitter\": 1, \"max_retries\": 0, \"delay\": \"0s\"}}",
        "{\"command\": \"x\", \"retry\": {\"jitter\": 0.05, \"max_delay\": \"90m\"}}",
        ("{\"command\": \"x\", \"concurrency\": {\"limit\": 1, \"key\": \"a \\\"b\\\"\"},"
         " \"rate\": {\"key\": \"smtp\", \"limit\": 1000000, \"per\": \"3660d\"}}"),
    };
    for (size_t i = 0; i < COUNT_OF(docs); i++) {
        struct spec first = spec_of(docs[i]);
        struct str text = spec_text(&first, &arena);
        struct spec second = spec_of(text.ptr);
        assert_true(str_eq(text, spec_text(&second, &arena)));
        assert_int_equal(first.retry.jitter_permille, second.retry.jitter_permille);
        assert_int_equal(first.when_ms, second.when_ms);
        assert_int_equal(first.rate.per_ms, second.rate.per_ms);
        assert_true(str_eq(first.concurrency.key, second.concurrency.key));
    }
}

/* Stores keep these bytes, and idempotency keys their hashes: no version may print others. */
TEST(stored_text_is_printed_again_byte_for_byte)
{
    static const char *const texts[] = {
        ("{\"name\":\"n\",\"description\":\"d\\n\",\"command\":[\"a\",\"b c\"],\"env\":{"
         "\"K\":\"V\"},\"working_dir\":\"/srv\",\"schedule\":{\"cron\":\"0 3 * * *\","
         "\"timezone\":\"Europe/Berlin\"},\"priority\":7,\"queue\":\"mail\",\"team\":\"data\","
         "\"timeout\":\"30m\",\"start_within\":\"1m\",\"expires_in\":\"1h\",\"retry\":{"
         "\"max_retries\":1,\"policy\":\"linear\",\"delay\":\"2s\",\"max_delay\":\"5m\","
         "\"jitter\":0.5,\"retry_on\":[\"timeout\",\"killed\"]},\"sla\":{\"expected\":\"5m\","
         "\"max\":\"10m\",\"policy\":\"strict\"},\"overlap\":\"replace\",\"misfire\":{"
         "\"policy\":\"all\",\"grace\":\"2h\",\"limit\":7},\"dst\":{\"gap\":\"skip\","
         "\"fold\":\"second\"},\"stagger\":\"1m30s\",\"concurrency\":{\"key\":\"c\","
         "\"limit\":2},\"rate\":{\"key\":\"r\",\"limit\":5,\"per\":\"1m\"},"
         "\"breaker\":\"smtp\",\"calendars\":[\"x\",{\"name\":\"y\",\"policy\":\"hold\"}],"
         "\"tags\":{\"a\":\"1\",\"b\":\"\"}}"),
        ("{\"handler\":\"h/1\",\"schedule\":{\"delay\":\"1h30m\"},\"priority\":500,"
         "\"queue\":\"default\",\"retry\":{\"max_retries\":3,\"policy\":\"exponential\","
         "\"delay\":\"1s\",\"max_delay\":\"1h\",\"jitter\":0.3},\"unique\":{\"key\":\"u\","
         "\"while\":[\"queued\"],\"on_conflict\":\"reject\"},\"breaker\":false}"),
        ("{\"command\":\"echo\",\"schedule\":{\"every\":\"1h\"},\"priority\":500,"
         "\"queue\":\"default\",\"retry\":{\"max_retries\":3,\"policy\":\"exponential\","
         "\"delay\":\"1s\",\"max_delay\":\"1h\",\"jitter\":0.3},\"overlap\":\"skip\","
         "\"misfire\":{\"policy\":\"latest\",\"grace\":\"1d\",\"limit\":100}}"),
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct spec spec = spec_of(texts[i]);
        assert_string_equal(spec_text(&spec, &arena).ptr, texts[i]);
    }
}

TEST(the_canonical_form_has_its_defaults_filled_in)
{
    struct spec spec = spec_of("{\"payload\": 1, \"command\": [\"true\"]}");
    assert_string_equal(
        spec_text(&spec, &arena).ptr,
        "{\"command\":[\"true\"],\"priority\":500,\"queue\":\"default\",\"retry\":{"
        "\"max_retries\":3,\"policy\":\"exponential\",\"delay\":\"1s\",\"max_delay\":\"1h\","
        "\"jitter\":0.3}}");
}

TEST(retry_on_is_printed_in_the_order_of_the_classes)
{
    struct spec spec = spec_of("{\"command\": \"x\", \"retry\": {\"retry_on\": "
                               "[\"unknown\", \"timeout\", \"unknown\"]}}");
    assert_int_equal(spec.retry.retry_on, 1U << FAILURE_TIMEOUT | 1U << FAILURE_UNKNOWN);
    assert_non_null(strstr(spec_text(&spec, &arena).ptr, "\"retry_on\":[\"timeout\",\"unknown\"]"));
}

TEST(the_schedule_is_told_in_words)
{
    static const struct {
        const char *doc;
        const char *words;
    } cases[] = {
        {"{\"command\":\"x\"}", "once, right away"},
        {"{\"command\":\"x\",\"schedule\":{\"delay\":\"10m\"}}",
         "once, 10m after it was submitted"},
        {"{\"command\":\"x\",\"schedule\":{\"at\":\"2026-11-16T08:00:01Z\"}}",
         "once, at 2026-11-16T08:00:01.000Z"},
        {"{\"command\":\"x\",\"schedule\":{\"at\":\"2020-01-01T00:00:00Z\"}}",
         "once, right away (the time given, 2020-01-01T00:00:00.000Z, has passed)"},
        {"{\"command\":\"x\",\"schedule\":{\"every\":\"15m\"}}", "every 15m"},
        {"{\"command\":\"x\",\"schedule\":{\"cron\":\"0 3 * * *\",\"timezone\":"
         "\"Europe/Berlin\"}}",
         "at 03:00 every day (Europe/Berlin)"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct spec spec = spec_of(cases[i].doc);
        assert_string_equal(spec_schedule_text(&spec, NOW_MS, &arena).ptr, cases[i].words);
    }
}

TEST_GROUP(NULL, release)

TEST(whether_a_job_recurs_can_be_told_from_its_text_alone)
{
    static const char *const schedules[] = {
        "",
        ",\"schedule\":{\"at\":\"2026-11-16T09:00:00Z\"}",
        ",\"schedule\":{\"delay\":\"10m\"}",
        ",\"schedule\":{\"every\":\"15m\"}",
        ",\"schedule\":{\"cron\":\"0 0 3 * * *\",\"seconds\":true,\"timezone\":\"Europe/Berlin\"}",
        ",\"env\":{\"cron\":\"x\",\"schedule\":\"{\\\"cron\\\":\\\"x\\\"}\"}"};
    size_t recurring = 0;
    for (size_t i = 0; i < COUNT_OF(schedules); i++) {
        struct str document = arena_printf(&arena, "{\"command\":\"x\"%s}", schedules[i]);
        struct spec spec = spec_of(arena_zstr(&arena, document));
        assert_int_equal(spec_scan_recurs(spec_text(&spec, &arena)), spec_recurs(&spec));
        recurring += spec_recurs(&spec);
    }
    assert_int_equal(recurring, 2);
}

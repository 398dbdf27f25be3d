#include "wire/json/merge_json.h"

#include "base/test/test.h"

static void expect(const char *const *texts, size_t count, size_t limit, const char *merged)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf out = BUF(1 << 16);
    struct json *docs = ARENA_ARRAY(&arena, struct json, count);
    struct json_writer w = JSON_WRITER(&out);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(json_parse(str_c(texts[i]), &arena, &docs[i], NULL), RC_OK);
    json_open(&w);
    merge_json_members(&w, docs, count, limit, &arena);
    json_close(&w);
    assert_string_equal(arena_zstr(&arena, buf_str(&out)), merged);
}

TEST(counts_are_added_up_and_the_rest_is_not)
{
    const char *const texts[] = {
        "{\"time\":\"2026-01-01T00:00:00.000Z\",\"uptime_ms\":5,\"jobs\":{\"active\":2},"
        "\"workers\":{\"count\":3,\"slots\":8,\"busy\":1}}",
        "{\"time\":\"2026-01-01T00:00:01.000Z\",\"uptime_ms\":9,\"jobs\":{\"active\":3},"
        "\"workers\":{\"count\":3,\"slots\":8,\"busy\":2}}",
    };
    expect(texts, 2, 0,
           "{\"time\":\"2026-01-01T00:00:01.000Z\",\"uptime_ms\":9,\"jobs\":{\"active\":5},"
           "\"workers\":{\"count\":3,\"slots\":8,\"busy\":3}}");
}

TEST(the_same_thing_is_merged_and_others_stand_beside_it)
{
    const char *const texts[] = {
        "{\"workers\":[{\"worker_id\":\"wrk_1\",\"status\":\"away\",\"slots\":4,\"busy\":1},"
        "{\"worker_id\":\"wrk_2\",\"status\":\"active\",\"slots\":2,\"busy\":0}]}",
        "{\"workers\":[{\"worker_id\":\"wrk_1\",\"status\":\"active\",\"slots\":4,\"busy\":2}]}",
    };
    expect(texts, 2, 0,
           "{\"workers\":[{\"worker_id\":\"wrk_1\",\"status\":\"active\",\"slots\":4,\"busy\":3},"
           "{\"worker_id\":\"wrk_2\",\"status\":\"active\",\"slots\":2,\"busy\":0}]}");
}

TEST(what_a_worker_runs_is_put_together_and_its_free_slots_are_those_that_nobody_fills)
{
    const char *const texts[] = {
        "{\"worker_id\":\"wrk_1\",\"status\":\"active\",\"slots\":4,\"busy\":1,\"free\":3,"
        "\"cordoned_at\":null,\"executions\":[{\"execution_id\":\"exec_1\",\"queue\":\"a\"}]}",
        "{\"worker_id\":\"wrk_1\",\"status\":\"cordoned\",\"slots\":4,\"busy\":2,\"free\":2,"
        "\"cordoned_at\":\"2026-01-01T00:00:00.000Z\",\"executions\":["
        "{\"execution_id\":\"exec_2\",\"queue\":\"a\"},"
        "{\"execution_id\":\"exec_3\",\"queue\":\"a\"}]}",
    };
    expect(texts, 2, 0,
           "{\"worker_id\":\"wrk_1\",\"status\":\"cordoned\",\"slots\":4,\"busy\":3,\"free\":1,"
           "\"cordoned_at\":\"2026-01-01T00:00:00.000Z\",\"executions\":["
           "{\"execution_id\":\"exec_1\",\"queue\":\"a\"},"
           "{\"execution_id\":\"exec_2\",\"queue\":\"a\"},"
           "{\"execution_id\":\"exec_3\",\"queue\":\"a\"}]}");
}

TEST(of_who_only_counts_nothing_else_is_believed)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf out = BUF(1 << 10);
    struct json docs[2];
    struct json_writer w = JSON_WRITER(&out);
    assert_int_equal(
        json_parse(STR("{\"name\":\"a\",\"depth\":1,\"concurrency\":null,\"paused\":false}"),
                   &arena, &docs[0], NULL),
        RC_OK);
    assert_int_equal(
        json_parse(STR("{\"name\":\"a\",\"depth\":2,\"concurrency\":7,\"paused\":true}"), &arena,
                   &docs[1], NULL),
        RC_OK);
    docs[1] = merge_json_numbers(&docs[1], &arena);
    json_open(&w);
    merge_json_members(&w, docs, 2, 0, &arena);
    json_close(&w);
    assert_string_equal(arena_zstr(&arena, buf_str(&out)),
                        "{\"name\":\"a\",\"depth\":3,\"concurrency\":null,\"paused\":false}");
}

TEST(pages_of_all_make_one_page_by_name)
{
    const char *const texts[] = {
        "{\"queues\":[{\"name\":\"b\",\"depth\":1,\"concurrency\":null}],\"next_cursor\":null,"
        "\"total\":1,\"total_is_estimate\":false}",
        "{\"queues\":[{\"name\":\"a\",\"depth\":1,\"concurrency\":null},"
        "{\"name\":\"b\",\"depth\":2,\"concurrency\":7}],\"next_cursor\":\"b\",\"total\":3,"
        "\"total_is_estimate\":false}",
    };
    expect(texts, 2, 2,
           "{\"queues\":[{\"name\":\"a\",\"depth\":1,\"concurrency\":null},"
           "{\"name\":\"b\",\"depth\":3,\"concurrency\":7}],\"next_cursor\":\"b\",\"total\":3,"
           "\"total_is_estimate\":true}");
    expect(texts, 2, 1,
           "{\"queues\":[{\"name\":\"a\",\"depth\":1,\"concurrency\":null}],\"next_cursor\":\"a\","
           "\"total\":3,\"total_is_estimate\":true}");
}

TEST(the_total_of_all_is_exact_when_everybody_showed_all)
{
    const char *const texts[] = {
        "{\"queues\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"next_cursor\":null,\"total\":2,"
        "\"total_is_estimate\":false}",
        "{\"queues\":[{\"name\":\"b\"},{\"name\":\"c\"}],\"next_cursor\":null,\"total\":2,"
        "\"total_is_estimate\":false}",
        "{\"queues\":[{\"name\":\"d\"}],\"next_cursor\":\"d\",\"total\":3,"
        "\"total_is_estimate\":false}",
    };
    expect(texts, 2, 9,
           "{\"queues\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}],\"next_cursor\":null,"
           "\"total\":3,\"total_is_estimate\":false}");
    expect(texts, 3, 1,
           "{\"queues\":[{\"name\":\"a\"}],\"next_cursor\":\"a\",\"total\":4,"
           "\"total_is_estimate\":true}");
}

TEST(a_breaker_is_as_open_as_anybody_finds_it)
{
    const char *const texts[] = {
        "{\"breakers\":[{\"target\":\"x\",\"state\":\"closed\",\"calls\":3,\"opened_at\":null}]}",
        "{\"breakers\":[{\"target\":\"x\",\"state\":\"open\",\"calls\":9,"
        "\"opened_at\":\"2026-01-01T00:00:00.000Z\"}]}",
    };
    expect(texts, 2, 0,
           "{\"breakers\":[{\"target\":\"x\",\"state\":\"open\",\"calls\":12,"
           "\"opened_at\":\"2026-01-01T00:00:00.000Z\"}]}");
}

TEST(one_answer_stays_as_it_is)
{
    const char *const texts[] = {"{\"queues\":[],\"next_cursor\":null,\"x\":[1,2],\"y\":1.5}"};
    expect(texts, 1, 0, "{\"queues\":[],\"next_cursor\":null}");
    const char *const other[] = {"{\"x\":[1,2],\"y\":1.5,\"z\":null,\"b\":false}"};
    expect(other, 1, 0, "{\"x\":[1,2],\"y\":1.5,\"z\":null,\"b\":false}");
}

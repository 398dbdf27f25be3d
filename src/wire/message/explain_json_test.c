#include "base/id.h"

#include "base/test/test.h"
#include "wire/message/explain_json.h"

#include <string.h>

static void assert_printed(const struct command *cmd, const char *expected)
{
    CLEANUP(buf_free) struct buf out = BUF(4096);
    struct json_writer w = JSON_WRITER(&out);
    explanation_print(&w, cmd, NULL, 0);
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
}

TEST(what_a_blocker_has_is_printed_and_nothing_else)
{
    static const uint64_t holders[] = {3, 4};
    const struct blocker blockers[] = {
        {.kind = BLOCKER_QUEUE_PAUSED,
         .text = STR("the queue is paused"),
         .since_ms = INT64_C(1800000000000),
         .by = STR("key:admin"),
         .queue = STR("mail")},
        {.kind = BLOCKER_CONCURRENCY,
         .text = STR("full"),
         .key = STR("db"),
         .used = 2,
         .limit = 2,
         .execs = holders,
         .exec_count = 2},
        {.kind = BLOCKER_RATE, .text = STR("later"), .until_ms = INT64_C(1800000001000)},
        {.kind = BLOCKER_NO_HANDLER, .text = STR("nobody"), .handler = STR("sms")},
        {.kind = BLOCKER_BEHIND, .text = STR("wait"), .ahead = 1000, .ahead_is_min = true},
    };
    const struct explanation explanation = {
        .summary = STR("much"), .blockers = blockers, .blocker_count = COUNT_OF(blockers)};
    struct command cmd = {.reply = {.job_id = 1,
                                    .version = 3,
                                    .exec_id = 2,
                                    .exec_state = EXEC_QUEUED,
                                    .explanation = &explanation}};
    assert_printed(
        &cmd,
        "{\"job_id\":\"job_0000000000001\",\"version\":3,"
        "\"execution_id\":\"exec_0000000000002\","
        "\"status\":\"queued\",\"summary\":\"much\",\"expires_at\":null,\"estimated_start_time\":null,"
        "\"estimated_start_reason\":null,\"blockers\":["
        "{\"kind\":\"queue_paused\",\"text\":\"the queue is paused\",\"until\":null,"
        "\"since\":\"2027-01-15T08:00:00.000Z\",\"by\":\"key:admin\",\"queue\":\"mail\"},"
        "{\"kind\":\"concurrency\",\"text\":\"full\",\"until\":null,\"key\":\"db\",\"used\":2,"
        "\"limit\":2,\"executions\":[\"exec_0000000000003\",\"exec_0000000000004\"]},"
        "{\"kind\":\"rate\",\"text\":\"later\",\"until\":\"2027-01-15T08:00:01.000Z\"},"
        "{\"kind\":\"no_handler\",\"text\":\"nobody\",\"until\":null,\"handler\":\"sms\"},"
        "{\"kind\":\"behind\",\"text\":\"wait\",\"until\":null,\"ahead\":1000,"
        "\"ahead_is_min\":true}],\"warnings\":[]}");
}

TEST(a_job_without_an_execution_to_speak_of_has_its_own_status)
{
    const struct explanation explanation = {.summary = STR("over")};
    struct command cmd = {
        .reply = {
            .job_id = 1, .version = 3, .job_state = JOB_CANCELLED, .explanation = &explanation}};
    assert_printed(
        &cmd,
        "{\"job_id\":\"job_0000000000001\",\"version\":3,\"execution_id\":null,"
        "\"status\":\"cancelled\",\"summary\":\"over\",\"expires_at\":null,\"estimated_start_time\":null,"
        "\"estimated_start_reason\":null,\"blockers\":[],"
        "\"warnings\":[]}");
}

TEST(every_kind_has_a_word_of_its_own)
{
    for (int i = BLOCKER_NONE + 1; i < BLOCKER_KINDS; i++) {
        assert_true(blocker_kind_name((enum blocker_kind)i).len > 0);
        for (int j = BLOCKER_NONE + 1; j < i; j++)
            assert_false(str_eq(blocker_kind_name((enum blocker_kind)i),
                                blocker_kind_name((enum blocker_kind)j)));
    }
}

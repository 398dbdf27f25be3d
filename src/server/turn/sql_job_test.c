#include "server/turn/sql_job.h"

#include "base/test/test.h"

#include <string.h>

static enum rc read_job(const char *body, struct arena *arena, struct submission *item,
                        struct err *err)
{
    struct inbox_rec rec = {
        .kind = INBOX_SUBMIT, .name = STR("red"), .actor = STR("sql:alice"), .body = str_c(body)};
    static const struct sql_job_rule rule = {.payload_bytes_max = 40, .document_bytes_max = 200};
    return sql_job_read(&rule, &rec, arena, item, err);
}

TEST(the_role_decides_team_and_owner)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct submission item;
    struct err err;
    assert_int_equal(
        read_job("{\"command\": [\"true\"], \"queue\": \"mail\"}", &arena, &item, &err), RC_OK);
    assert_true(str_eq(item.team, STR("red")) && str_eq(item.owner, STR("sql:alice")));
    assert_true(str_eq(item.rules.team, STR("red")) && str_eq(item.rules.queue, STR("mail")));
    assert_int_equal(item.once.key.len, 0);
    assert_int_equal(read_job("{\"command\": [\"true\"], \"team\": \"red\"}", &arena, &item, &err),
                     RC_OK);
    assert_int_equal(read_job("{\"command\": [\"true\"], \"team\": \"blue\"}", &arena, &item, &err),
                     RC_INVALID);
    assert_non_null(strstr(err.text, "team"));
}

TEST(what_is_wrong_is_said_in_one_sentence)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct submission item;
    struct err err;
    assert_int_not_equal(read_job("{", &arena, &item, &err), RC_OK);
    assert_int_equal(read_job("[]", &arena, &item, &err), RC_INVALID);
    assert_int_equal(read_job("{\"command\": [\"true\"], \"pryority\": 3}", &arena, &item, &err),
                     RC_INVALID);
    assert_non_null(strstr(err.text, "pryority"));
    assert_int_equal(read_job("{\"command\": [\"true\"], \"schedule\": {\"cron\": \"0 0 * * *\", "
                              "\"timezone\": \"Mars/Base\"}}",
                              &arena, &item, &err),
                     RC_INVALID);
}

TEST(what_is_too_large_over_http_is_too_large_here)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct submission item;
    struct err err;
    assert_int_equal(read_job("{\"command\": [\"true\"], \"payload\": "
                              "\"12345678901234567890123456789012345678\"}",
                              &arena, &item, &err),
                     RC_OK);
    assert_int_equal(read_job("{\"command\": [\"true\"], \"payload\": "
                              "\"123456789012345678901234567890123456789\"}",
                              &arena, &item, &err),
                     RC_TOO_LARGE);
    assert_string_equal(err.text, "the payload has 41 bytes; at most 40 are taken");
    char large[202];
    memset(large, '[', sizeof large - 1); /* no JSON: nobody looks */
    large[sizeof large - 1] = '\0';
    assert_int_equal(read_job(large, &arena, &item, &err), RC_TOO_LARGE);
    assert_string_equal(err.text, "the document has 201 bytes; at most 200 are taken");
}

TEST(a_key_counts_among_those_of_the_role)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct submission a, b;
    struct err err;
    const char *body = "{\"command\": [\"true\"], \"idempotency_key\": \"k1\"}";
    assert_int_equal(read_job(body, &arena, &a, &err), RC_OK);
    assert_int_equal(read_job(body, &arena, &b, &err), RC_OK);
    assert_true(a.once.key.len > 0 && str_eq(a.once.key, b.once.key));
    assert_true(str_eq(a.once.hash, b.once.hash));
}

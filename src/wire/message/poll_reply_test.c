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

TEST(a_reply_reads_back_as_it_was_printed, clear)
{
    const struct poll_lease leases[] = {
        {.exec_id = 21,
         .job_id = 22,
         .token = 1,
         .attempt = 2,
         .slot_ms = 1794816000000,
         .ttl_ms = 20000,
         .spec = STR("{\"command\":[\"true\"]}"),
         .payload = STR("{\"any\": \"json\"}")},
        {.exec_id = 23,
         .job_id = 24,
         .token = 9,
         .attempt = 1,
         .slot_ms = 0, /* the first moment of 1970 is a moment too */
         .ttl_ms = 1,
         .spec = STR("{}")},
    };
    const struct poll_stop stops[] = {{25, 1, STR_INIT("cancelled by key:admin")}};
    const struct poll_verdict verdicts[] = {{26, 2, true}, {27, 3, false}};
    const struct poll_reply reply = {
        .leases = leases,
        .lease_count = 2,
        .stops = stops,
        .stop_count = 1,
        .verdicts = verdicts,
        .verdict_count = 2,
        .drain = true,
    };
    poll_reply_print(&out, &reply);
    struct poll_reply back;
    assert_int_equal(poll_reply_parse(buf_str(&out), &arena, &back, NULL), RC_OK);
    assert_int_equal(back.lease_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(back.leases[i].exec_id, leases[i].exec_id);
        assert_int_equal(back.leases[i].job_id, leases[i].job_id);
        assert_int_equal(back.leases[i].token, leases[i].token);
        assert_int_equal(back.leases[i].attempt, leases[i].attempt);
        assert_int_equal(back.leases[i].slot_ms, leases[i].slot_ms);
        assert_int_equal(back.leases[i].ttl_ms, leases[i].ttl_ms);
        assert_true(str_eq(back.leases[i].spec, leases[i].spec));
        assert_true(str_eq(back.leases[i].payload, leases[i].payload));
    }
    assert_int_equal(back.stop_count, 1);
    assert_true(str_eq(back.stops[0].reason, stops[0].reason));
    assert_int_equal(back.verdict_count, 2);
    assert_true(back.verdicts[0].accepted && !back.verdicts[1].accepted);
    assert_int_equal(back.verdicts[1].token, 3);
    assert_true(back.drain);
}

TEST(an_empty_reply_is_an_answer, clear)
{
    struct poll_reply back;
    poll_reply_print(&out, &(struct poll_reply){0});
    assert_true(
        str_eq(buf_str(&out), STR("{\"leases\":[],\"stop\":[],\"results\":[],\"drain\":false}")));
    assert_int_equal(poll_reply_parse(buf_str(&out), &arena, &back, NULL), RC_OK);
    assert_int_equal(poll_reply_parse(STR("{}"), &arena, &back, NULL), RC_OK);
    assert_int_equal(back.lease_count + back.stop_count + back.verdict_count, 0);
}

TEST(a_server_says_what_it_owns_and_who_else_is_there, clear)
{
    const struct str servers[] = {STR_INIT("http://10.0.0.1:7420"), STR_INIT("http://[::1]:7420")};
    const struct poll_reply reply = {
        .owned = {.count = 16, .bits = 1U << 0 | 1U << 5 | 1U << 15},
        .backlog = 420,
        .server = servers[1],
        .servers = servers,
        .server_count = 2,
    };
    struct poll_reply back;
    poll_reply_print(&out, &reply);
    assert_true(str_eq(
        buf_str(&out),
        STR("{\"leases\":[],\"stop\":[],\"results\":[],\"drain\":false,\"partitions\":{\"count\":16,\"owned\":[0,5,15]},"
            "\"backlog\":420,\"server\":\"http://[::1]:7420\",\"servers\":"
            "[\"http://10.0.0.1:7420\",\"http://[::1]:7420\"]}")));
    assert_int_equal(poll_reply_parse(buf_str(&out), &arena, &back, NULL), RC_OK);
    assert_int_equal(back.owned.count, 16);
    assert_int_equal(back.owned.bits, reply.owned.bits);
    assert_int_equal(back.backlog, 420);
    assert_true(str_eq(back.server, servers[1]));
    assert_int_equal(back.server_count, 2);
    assert_true(str_eq(back.servers[0], servers[0]));
}

TEST(a_server_that_owns_nothing_says_so, clear)
{
    struct poll_reply back;
    poll_reply_print(&out, &(struct poll_reply){.owned = {.count = 16}});
    assert_int_equal(poll_reply_parse(buf_str(&out), &arena, &back, NULL), RC_OK);
    assert_int_equal(back.owned.count, 16);
    assert_int_equal(back.owned.bits, 0);
}

TEST(a_server_says_under_which_epochs_it_speaks, clear)
{
    uint64_t epochs[PARTITIONS_MAX] = {[0] = 7, [5] = INT64_MAX};
    const struct poll_reply reply = {
        .owned = {.count = 16, .bits = 1}, .epochs = epochs, .heard_as = POLL_HEARD_AS + 7};
    struct poll_reply back;
    poll_reply_print(&out, &reply);
    assert_true(str_eq(
        buf_str(&out),
        STR("{\"leases\":[],\"stop\":[],\"results\":[],\"drain\":false,\"partitions\":{\"count\":16,\"owned\":[0]},"
            "\"epochs\":[{\"partition\":0,\"epoch\":7},{\"partition\":5,\"epoch\":9223372036854775807}],"
            "\"heard_as\":4503599627370503,\"backlog\":0}")));
    assert_int_equal(poll_reply_parse(buf_str(&out), &arena, &back, NULL), RC_OK);
    assert_memory_equal(back.epochs, epochs, sizeof epochs);
    assert_int_equal(back.heard_as, POLL_HEARD_AS + 7);
    assert_false(back.provisional);
}

/* An older worker renews all it holds when a reply says nothing about partitions, and what is named
 * by `owned` otherwise: nothing. */
TEST(a_provisional_reply_keeps_what_it_names, clear)
{
    const struct poll_held kept[] = {{11, 1}, {12, 5}};
    const uint64_t epochs[PARTITIONS_MAX] = {[3] = 2};
    const struct poll_reply reply = {
        .owned = {.count = 16},
        .epochs = epochs,
        .provisional = true,
        .kept = kept,
        .kept_count = 2,
    };
    struct poll_reply back;
    poll_reply_print(&out, &reply);
    assert_true(str_eq(
        buf_str(&out),
        STR("{\"leases\":[],\"stop\":[],\"results\":[],\"drain\":false,\"provisional\":true,"
            "\"kept\":[{\"execution_id\":\"exec_000000000000b\",\"token\":1},"
            "{\"execution_id\":\"exec_000000000000c\",\"token\":5}],"
            "\"partitions\":{\"count\":16,\"owned\":[]},\"epochs\":[{\"partition\":3,\"epoch\":2}],"
            "\"backlog\":0}")));
    assert_int_equal(poll_reply_parse(buf_str(&out), &arena, &back, NULL), RC_OK);
    assert_true(back.provisional);
    assert_int_equal(back.kept_count, 2);
    assert_memory_equal(back.kept, kept, sizeof kept);
    assert_int_equal(back.owned.count, 16);
    assert_int_equal(back.owned.bits, 0);
}

TEST(an_older_server_says_nothing_about_epochs, clear)
{
    struct poll_reply back;
    assert_int_equal(
        poll_reply_parse(STR("{\"partitions\":{\"count\":16,\"owned\":[1]}}"), &arena, &back, NULL),
        RC_OK);
    assert_null(back.epochs);
    assert_int_equal(back.heard_as, 0);
    assert_false(back.provisional);
    assert_int_equal(back.kept_count, 0);
}

TEST(partitions_that_make_no_sense_are_refused, clear)
{
    static const struct {
        const char *text;
        const char *why;
    } cases[] = {
        {"{\"partitions\":{\"owned\":[1]}}", "partitions.count is required"},
        {"{\"partitions\":{\"count\":65,\"owned\":[]}}",
         "partitions.count must be between 1 and 64"},
        {"{\"partitions\":{\"count\":16,\"owned\":[64]}}",
         "partitions.owned[0] must be the number of a partition"},
        {"{\"servers\":[7]}", "servers[0] must be a string, not a number"},
        {"{\"epochs\":[{\"partition\":64,\"epoch\":1}]}",
         "epochs[0].partition must be between 0 and 63"},
        {"{\"epochs\":[{\"partition\":1}]}", "epochs[0].epoch is required"},
        {"{\"epochs\":[{\"partition\":1,\"epoch\":0}]}",
         "epochs[0].epoch must be between 1 and 9223372036854775807"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct poll_reply back;
        struct err err;
        assert_int_equal(poll_reply_parse(str_c(cases[i].text), &arena, &back, &err), RC_INVALID);
        assert_string_equal(err.text, cases[i].why);
    }
}

TEST(an_older_worker_survives_a_newer_server, clear)
{
    struct poll_reply back;
    assert_int_equal(
        poll_reply_parse(STR("{\"servers\":[\"a\"],\"stop\":[{\"execution_id\":"
                             "\"exec_0000000000001\",\"token\":1,\"grace_ms\":5}],\"drain\":null}"),
                         &arena, &back, NULL),
        RC_OK);
    assert_int_equal(back.stop_count, 1);
    assert_false(back.drain);
}

#define LEASE(id, more)                                                                            \
    "{" id "\"job_id\":\"job_0000000000001\",\"token\":1,\"attempt\":1,"                           \
    "\"slot\":\"2026-11-16T08:00:00Z\",\"ttl_ms\":1" more "}"
#define LEASE_ID "\"execution_id\":\"exec_0000000000001\","

TEST(a_lease_that_lacks_something_costs_no_other, clear)
{
    struct poll_reply back;
    struct err err;
    const char *text = "{\"leases\":[" LEASE(LEASE_ID, "") "," LEASE(LEASE_ID, ",\"spec\":{}") "]}";
    assert_int_equal(poll_reply_parse(str_c(text), &arena, &back, &err), RC_OK);
    assert_int_equal(back.lease_count, 1);
    assert_true(str_eq(back.leases[0].spec, STR("{}")));
    assert_int_equal(back.unread_count, 1);
    assert_int_equal(back.unread[0].exec_id, 1);
    assert_int_equal(back.unread[0].token, 1);
    assert_true(str_eq(back.unread[0].why, STR("leases[0].spec is required")));
}

TEST(a_lease_that_nobody_can_name_is_refused, clear)
{
    struct poll_reply back;
    struct err err;
    const char *text = "{\"leases\":[" LEASE("", ",\"spec\":{}") "]}";
    assert_int_equal(poll_reply_parse(str_c(text), &arena, &back, &err), RC_INVALID);
    assert_string_equal(err.text, "leases[0].execution_id is required");
}

TEST(leases_share_neither_depth_nor_values, clear)
{
    enum { COUNT = 4, VALUES = JSON_VALUES_MAX / 2, DEPTH = 1000 };
    struct poll_reply back;
    struct err err;
    char *payload = arena_bytes(&arena, 2 * VALUES + 2 * DEPTH + 1);
    memset(payload, '[', DEPTH);
    payload[DEPTH] = '1';
    for (size_t i = 0; i < VALUES; i++)
        memcpy(payload + DEPTH + 1 + 2 * i, ",1", 2);
    memset(payload + DEPTH + 1 + 2 * (size_t)VALUES, ']', DEPTH);
    struct poll_lease leases[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        leases[i] = (struct poll_lease){.exec_id = 1 + i,
                                        .job_id = 1,
                                        .token = 1,
                                        .attempt = 1,
                                        .slot_ms = 1000,
                                        .ttl_ms = 1,
                                        .spec = str_of(payload, 2 * VALUES + 2 * DEPTH + 1),
                                        .payload = str_of(payload, 2 * VALUES + 2 * DEPTH + 1)};
    poll_reply_print(&out, &(struct poll_reply){.leases = leases, .lease_count = COUNT});
    assert_int_equal(poll_reply_parse(buf_str(&out), &arena, &back, &err), RC_OK);
    assert_int_equal(back.lease_count, COUNT);
    assert_true(str_eq(back.leases[COUNT - 1].payload, leases[0].payload));
}

TEST_GROUP(NULL, release)

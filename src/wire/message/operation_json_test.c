#include "base/id.h"
#include "base/test/test.h"
#include "wire/message/operation_json.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* ---- printing */

static struct str refusals(size_t count)
{
    CLEANUP(buf_free) struct buf lines = BUF(OPERATION_REFUSALS_BYTES);
    for (size_t i = 1; i <= count; i++) {
        char id[ID_TEXT_MAX];
        buf_add(&lines, id_format(id, "", i));
        buf_add(&lines, STR(" it is over\n"));
    }
    return arena_str(&arena, buf_str(&lines));
}

TEST(the_first_refusals_of_all_parts_are_told_and_no_more, NULL, release)
{
    struct operation_rec parts[3];
    CLEANUP(buf_free) struct buf out = BUF(1 << 20);
    struct json_writer w = JSON_WRITER(&out);
    struct json doc;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        parts[i] = (struct operation_rec){.id = 7,
                                          .partition = (uint32_t)i,
                                          .parts = COUNT_OF(parts),
                                          .kind = OPERATION_CANCEL_JOBS,
                                          .state = OPERATION_DONE,
                                          .refused = 60,
                                          .refusals = refusals(60)};
    }
    operation_print(&w, parts, COUNT_OF(parts), true);
    assert_int_equal(json_parse(buf_str(&out), &arena, &doc, &err), RC_OK);
    assert_int_equal(json_get(&doc, STR("refusals"))->count, OPERATION_REFUSALS_MAX);
    assert_int_equal(json_get(&doc, STR("refused"))->integer, 180);
}

/* ---- reading */

static enum rc parse(const char *text, struct action_wish *ret_wish)
{
    struct field_errors errors = {0};
    struct json doc;
    struct err err;
    assert_int_equal(json_parse(str_c(text), &arena, &doc, &err), RC_OK);
    return action_wish_parse(&doc, true, &arena, ret_wish, &errors);
}

TEST(a_name_that_is_any_name_restricts_nothing, NULL, release)
{
    struct action_wish wish;
    assert_int_equal(parse("{\"action\": \"cancel\", \"filter\": {\"name\": \"*\"}}", &wish),
                     RC_INVALID);
    assert_int_equal(parse("{\"action\": \"cancel\", \"filter\": {\"name\": \"**\"}}", &wish),
                     RC_INVALID);
    assert_int_equal(parse("{\"action\": \"cancel\", \"filter\": {\"name\": \"a*\"}}", &wish),
                     RC_OK);
}

/* What was dropped from its text would not restrict any more. */
TEST(a_filter_that_is_too_long_to_keep_is_refused, NULL, release)
{
    enum { QUEUES = 17 };
    CLEANUP(buf_free) struct buf text = BUF(2 << 20);
    struct action_wish wish;
    char *queue = arena_bytes(&arena, OPERATION_FILTER_BYTES_MAX);
    memset(queue, 'q', OPERATION_FILTER_BYTES_MAX);
    for (int queues = QUEUES; queues <= QUEUES + 1; queues++) {
        buf_clear(&text);
        buf_add(&text, STR("{\"action\": \"cancel\", \"filter\": {\"queue\": [\"mail\""));
        for (int i = 1; i < queues; i++)
            buf_printf(&text, ", \"%02d%.*s\"", i, OPERATION_FILTER_BYTES_MAX / QUEUES, queue);
        buf_add(&text, STR("], \"tag\": \"env:test\"}}"));
        buf_add_char(&text, '\0');
        assert_int_equal(parse(text.ptr, &wish), queues == QUEUES ? RC_OK : RC_INVALID);
    }
}

TEST(ids_are_named_once_each_in_their_order, NULL, release)
{
    struct action_wish wish;
    assert_int_equal(parse("{\"action\": \"pause\", \"ids\": [\"job_0000000000002\", "
                           "\"job_0000000000001\", \"job_0000000000002\"]}",
                           &wish),
                     RC_OK);
    assert_int_equal(operation_id_count(wish.ids), 2);
    assert_int_equal(operation_id(wish.ids, 0), 1);
    assert_int_equal(operation_id(wish.ids, 1), 2);
    assert_int_equal(parse("{\"action\": \"pause\", \"ids\": [\"exec_0000000000002\"]}", &wish),
                     RC_INVALID);
}

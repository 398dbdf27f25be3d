#include "base/id.h"

#include "base/test/test.h"
#include "wire/json/fields.h"

struct inner {
    uint32_t number;
    bool flag;
};

struct message {
    struct str text;
    int32_t small;
    uint64_t id;
    int64_t at_ms;
    int64_t lasting_ms;
    struct str raw;
    const struct inner *list;
    size_t list_count;
    const struct str *words;
    size_t word_count;
    unsigned colour;
};

static const struct words colours = WORDS([1] = "red", "green", "blue");

static const struct inner blank = {.number = 9};

static const struct field inner_fields[] = {
    {FIELD("number", struct inner, number), .kind = FIELD_INT, .min = 1, .max = 5},
    {FIELD("flag", struct inner, flag), .kind = FIELD_BOOL, .required = true},
};

static const struct field_list inner_list = {
    .fields = inner_fields,
    .field_count = COUNT_OF(inner_fields),
    .item_bytes = sizeof(struct inner),
    .blank = &blank,
};

static const struct field message_fields[] = {
    {FIELD("text", struct message, text), .kind = FIELD_LINE, .min = 1, .max = 10},
    {FIELD("small", struct message, small), .kind = FIELD_INT, .min = -5, .max = 5},
    {FIELD("id", struct message, id), .kind = FIELD_ID, .prefix = ID_JOB},
    {FIELD("at", struct message, at_ms), .kind = FIELD_WHEN},
    {FIELD("lasting", struct message, lasting_ms), .kind = FIELD_DURATION, .max = 1000},
    {FIELD("raw", struct message, raw), .kind = FIELD_RAW},
    {FIELD_ARRAY("list", struct message, list, list_count), .kind = FIELD_LIST, .max = 3,
     .items = &inner_list},
    {FIELD_ARRAY("words", struct message, words, word_count), .kind = FIELD_WORDS, .max = 2},
    {FIELD("colour", struct message, colour), .kind = FIELD_ONE_OF, .words = &colours},
    {.name = STR_INIT("soon"), .kind = FIELD_LATER},
    {FIELD("bound", struct message, at_ms), .kind = FIELD_WHEN, .min = 1},
};

static struct arena arena;
static struct field_errors errors;
static struct message message;
static uint64_t seen;

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void read_text(struct str text, bool lenient)
{
    struct json doc;
    const struct fields f = {.arena = &arena, .errors = &errors, .lenient = lenient};
    errors = (struct field_errors){0};
    message = (struct message){0};
    assert_int_equal(json_parse(text, &arena, &doc, NULL), RC_OK);
    seen = fields_read(&f, NULL, &doc, message_fields, COUNT_OF(message_fields), &message);
}

static void assert_problem(const char *text, const char *field, const char *says)
{
    read_text(str_c(text), false);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].field.ptr, field);
    assert_string_equal(errors.items[0].message.ptr, says);
}

TEST(every_kind_lands_in_its_member)
{
    read_text(
        STR("{\"words\":[\"a\",\"b\"],\"text\":\"x\",\"small\":-5,"
            "\"id\":\"job_000000000000z\",\"at\":\"1970-01-01T00:00:01Z\","
            "\"lasting\":\"1s\",\"colour\":\"green\",\"raw\":[1, 2],\"list\":[{\"flag\":true},"
            "{\"number\":2,\"flag\":false}]}"),
        false);
    assert_int_equal(errors.count, 0);
    assert_true(str_eq(message.text, STR("x")));
    assert_int_equal(message.small, -5);
    assert_int_equal(message.id, 31);
    assert_int_equal(message.at_ms, 1000);
    assert_int_equal(message.lasting_ms, 1000);
    assert_int_equal(message.colour, 2);
    assert_true(str_eq(message.raw, STR("[1, 2]")));
    assert_int_equal(message.list_count, 2);
    assert_int_equal(message.list[0].number, 9); /* as the blank has it */
    assert_true(message.list[0].flag);
    assert_int_equal(message.list[1].number, 2);
    assert_int_equal(message.word_count, 2);
    assert_true(str_eq(message.words[1], STR("b")));
}

TEST(the_answer_says_which_fields_were_there)
{
    read_text(STR("{\"raw\":0,\"text\":null,\"small\":1}"), false);
    assert_int_equal(seen, 1 << 1 | 1 << 5);
    assert_true(fields_seen(seen, 5) && !fields_seen(seen, 0));
}

TEST(paths_lead_to_the_place)
{
    assert_problem("{\"list\":[{\"flag\":true},{\"flag\":1}]}", "list[1].flag",
                   "must be true or false, not a number");
    assert_problem("{\"list\":[{}]}", "list[0].flag", "is required");
    assert_problem("{\"list\":[{\"flag\":null}]}", "list[0].flag",
                   "must be true or false, not null");
    assert_problem("{\"words\":[\"a\",7]}", "words[1]", "must be a string, not a number");
    assert_problem("{\"words\":[\"a\",\"b\",\"c\"]}", "words", "must have at most 2 items");
}

TEST(a_number_must_fit_its_range_and_not_only_its_bits)
{
    assert_problem("{\"small\":6}", "small", "must be between -5 and 5");
    assert_problem("{\"small\":4294967296}", "small", "must be between -5 and 5");
    assert_problem("{\"small\":1.0}", "small", "must be a whole number");
}

TEST(a_word_that_is_none_of_them_is_answered_with_all)
{
    assert_problem("{\"colour\":\"pink\"}", "colour", "must be one of red, green and blue");
    assert_problem("{\"colour\":2}", "colour", "must be a string, not a number");
    assert_int_equal(message.colour, 0);
}

TEST(a_line_has_nothing_that_a_terminal_acts_upon)
{
    assert_problem("{\"text\":\"a\\u001b[2J\"}", "text", "must not have control characters");
    assert_problem("{\"text\":\"a\\u009b2J\"}", "text", "must not have control characters");
    assert_problem("{\"text\":\"a\\u202e\"}", "text", "must not have control characters");
    read_text(STR("{\"text\":\"gr\\u00fc\\u00df\"}"), false);
    assert_int_equal(errors.count, 0);
}

TEST(what_stands_for_absent_cannot_be_given)
{
    assert_problem("{\"id\":\"job_0000000000000\"}", "id",
                   "must be an id, and nothing has the id zero");
    assert_problem("{\"bound\":\"1970-01-01T00:00:00Z\"}", "bound",
                   "must be after 1970-01-01T00:00:00Z");
    assert_problem("{\"bound\":\"1969-12-31T00:00:00Z\"}", "bound",
                   "must be after 1970-01-01T00:00:00Z");
    assert_int_equal(message.at_ms, 0);
}

TEST(unknown_members_are_passed_over_only_when_asked)
{
    assert_problem("{\"new\":1}", "new", "unknown field");
    read_text(STR("{\"new\":1,\"list\":[{\"flag\":true,\"newer\":2}],\"small\":3}"), true);
    assert_int_equal(errors.count, 0);
    assert_int_equal(message.small, 3);
}

TEST(a_mistyped_member_is_a_problem_for_the_lenient_too)
{
    read_text(STR("{\"small\":\"3\"}"), true);
    assert_int_equal(errors.count, 1);
}

TEST(what_comes_later_is_always_refused)
{
    assert_problem("{\"soon\":null}", "soon", "is not supported by this version yet");
}

TEST(a_document_that_is_no_object_is_one_problem)
{
    assert_problem("7", "", "must be an object, not a number");
    assert_int_equal(seen, 0);
}

TEST(endless_keys_make_short_paths)
{
    struct buf text = BUF(1 << 20);
    buf_add(&text, STR("{\""));
    for (int i = 0; i < 100000; i++)
        buf_add_char(&text, 'k');
    buf_add(&text, STR("\":1}"));
    read_text(buf_str(&text), false);
    assert_int_equal(errors.count, 1);
    assert_true(errors.items[0].field.len < 100);
    buf_free(&text);
}

TEST_GROUP(NULL, release)

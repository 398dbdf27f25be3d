#include "base/words.h"

#include "base/test/test.h"

enum { NONE, RED, GREEN, BLUE };

static const struct words colours = WORDS([RED] = "red", [GREEN] = "green", [BLUE] = "blue");
static const struct words one = WORDS("skip");
static const struct words two = WORDS("skip", "hold");
static const unsigned loudest_first[] = {BLUE, RED};
static const struct words loud =
    WORDS_ORDERED(loudest_first, [RED] = "red", [GREEN] = "green", [BLUE] = "blue");

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void assert_list(const struct words *words, const char *text)
{
    assert_string_equal(words_text(words, &arena).ptr, text);
}

TEST(a_word_and_its_value_lead_to_each_other)
{
    unsigned value = NONE;
    assert_true(words_parse(&colours, STR("green"), &value));
    assert_int_equal(value, GREEN);
    assert_true(str_eq(words_name(&colours, BLUE), STR("blue")));
}

TEST(what_is_no_word_leaves_the_value_alone)
{
    unsigned value = RED;
    assert_false(words_parse(&colours, STR("pink"), &value));
    assert_false(words_parse(&colours, STR(""), &value));
    assert_int_equal(value, RED);
}

TEST(a_list_of_words_reads_as_a_sentence_does)
{
    assert_list(&one, "skip");
    assert_list(&two, "skip and hold");
    assert_list(&colours, "red, green and blue");
}

TEST(a_list_may_have_an_order_of_its_own)
{
    assert_list(&loud, "blue and red");
}

TEST(choices_stand_between_bars)
{
    assert_string_equal(words_choices(&colours, &arena).ptr, "red|green|blue");
    assert_string_equal(words_choices(&one, &arena).ptr, "skip");
}

TEST_GROUP(NULL, release)

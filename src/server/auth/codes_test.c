#include "server/auth/codes.h"

#include "base/test/test.h"

#include <string.h>

enum { NOW_MS = 1000, KEY = 7 };

struct made {
    struct codes *codes;
    char code[CODE_TEXT];
};

static struct made make(void)
{
    struct made made = {.codes = codes_new()};
    codes_make(made.codes, KEY, NOW_MS, made.code);
    return made;
}

static enum code_answer use(const struct made *made, int64_t now_ms)
{
    uint64_t key_id = 0;
    enum code_answer answer = codes_use(made->codes, str_c(made->code), now_ms, &key_id);
    assert_int_equal(key_id, answer == CODE_GOOD ? KEY : 0);
    return answer;
}

TEST(a_code_is_good_once)
{
    struct made made = make();
    assert_int_equal(use(&made, NOW_MS + 1), CODE_GOOD);
    assert_int_equal(use(&made, NOW_MS + 2), CODE_USED);
    codes_free(made.codes);
}

TEST(a_code_is_late_after_two_minutes_and_forgotten_after_four)
{
    struct made made = make();
    assert_int_equal(use(&made, NOW_MS + CODE_LIVES_MS), CODE_LATE);
    assert_int_equal(use(&made, NOW_MS + 2 * CODE_LIVES_MS), CODE_UNKNOWN);
    assert_int_equal(use(&made, NOW_MS + CODE_LIVES_MS - 1), CODE_GOOD);
    codes_free(made.codes);
}

TEST(a_code_that_nobody_made_is_unknown)
{
    struct made made = make();
    uint64_t key_id;
    made.code[3] = made.code[3] == 'A' ? 'B' : 'A';
    assert_int_equal(use(&made, NOW_MS), CODE_UNKNOWN);
    assert_int_equal(codes_use(made.codes, STR(""), NOW_MS, &key_id), CODE_UNKNOWN);
    codes_free(made.codes);
}

TEST(the_oldest_makes_room)
{
    struct made made = make();
    char other[CODE_TEXT];
    for (uint64_t i = 0; i < CODES_MAX - 1; i++)
        codes_make(made.codes, KEY + 1 + i, NOW_MS, other);
    codes_make(made.codes, KEY, NOW_MS, other);
    struct made newest = {.codes = made.codes};
    memcpy(newest.code, other, sizeof other);
    assert_int_equal(use(&made, NOW_MS), CODE_UNKNOWN);
    assert_int_equal(use(&newest, NOW_MS), CODE_GOOD);
    codes_free(made.codes);
}

TEST(no_key_pushes_out_the_codes_of_another)
{
    struct made made = make();
    struct made first = {.codes = made.codes};
    char other[CODE_TEXT];
    codes_make(made.codes, KEY + 1, NOW_MS, first.code);
    for (int i = 0; i < 2 * CODES_MAX; i++)
        codes_make(made.codes, KEY + 1, NOW_MS, other);
    assert_int_equal(use(&first, NOW_MS), CODE_UNKNOWN);
    assert_int_equal(use(&made, NOW_MS), CODE_GOOD);
    codes_free(made.codes);
}

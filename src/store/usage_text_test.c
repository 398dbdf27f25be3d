#include "store/usage_text.h"

#include "base/test/test.h"

TEST(what_is_printed_reads_back)
{
    static const struct usage all[] = {
        {0, 0, 0, 0, 0, 0, 0},
        {-1, 9, 1, 2, 3, 4, 5},
        {INT32_MIN, INT32_MAX, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        char text[USAGE_TEXT_MAX];
        struct usage back;
        assert_true(usage_parse(usage_print(&all[i], text), &back));
        assert_int_equal(back.exit_code, all[i].exit_code);
        assert_int_equal(back.signal, all[i].signal);
        assert_int_equal(back.cpu_ms, all[i].cpu_ms);
        assert_int_equal(back.peak_memory_bytes, all[i].peak_memory_bytes);
        assert_int_equal(back.output_bytes, all[i].output_bytes);
        assert_int_equal(back.dropped_bytes, all[i].dropped_bytes);
        assert_true(back.log_seq == all[i].log_seq);
    }
}

TEST(a_handler_has_nothing_to_say)
{
    char text[USAGE_TEXT_MAX];
    assert_int_equal(usage_print(&(struct usage){.exit_code = -1}, text).len, 0);
}

TEST(what_is_no_usage_is_refused)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "1 2 3 4 5 6",
                                        "1 2 3 4 5 6 7 8",
                                        "x 2 3 4 5 6 7",
                                        "9999999999 2 3 4 5 6 7",
                                        "1 2 3 4 5 6 ",
                                        "1 2 3 4 5 6 -7"};
    struct usage back;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_false(usage_parse(str_c(texts[i]), &back));
}

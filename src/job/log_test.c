#include "job/log.h"

#include "base/test/test.h"

TEST(names_of_streams_read_back)
{
    for (int i = LOG_STDOUT; i <= LOG_NOTE; i++) {
        enum log_stream back;
        assert_true(log_stream_parse(log_stream_name((enum log_stream)i), &back));
        assert_int_equal(back, i);
    }
    enum log_stream none;
    assert_false(log_stream_parse(STR(""), &none));
    assert_false(log_stream_parse(STR("stdin"), &none));
}

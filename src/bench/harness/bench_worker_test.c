#include "bench/harness/bench_worker.h"

#include "base/test/test.h"

#include <stdint.h>

TEST(a_note_survives_being_told)
{
    CLEANUP(buf_free) struct buf line = BUF(256);
    struct note told = {UINT64_MAX, 512, 4711, 42, 1767225600000, 17};
    struct note heard;
    struct err err;
    note_print(&line, &told);
    assert_int_equal(line.ptr[line.len - 1], '\n');
    assert_int_equal(note_parse(str_of(line.ptr, line.len - 1), &heard, &err), RC_OK);
    assert_int_equal(heard.calls, told.calls);
    assert_int_equal(heard.start_us, told.start_us);
    assert_int_equal(heard.drained_us, told.drained_us);
    assert_int_equal(heard.number, told.number);
    assert_int_equal(heard.slot_ms, told.slot_ms);
    assert_int_equal(heard.retries, told.retries);
}

TEST(a_line_that_is_no_note_is_refused)
{
    static const char *const lines[] = {
        "", "1", "1 2 3", "1 2 3 4 5 x", "1 2 3 4 5 6 7", "-1 2 3 4 5 6"};
    struct note heard;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        assert_int_equal(note_parse(str_c(lines[i]), &heard, &err), RC_INVALID);
}

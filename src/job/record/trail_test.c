#include "job/record/trail.h"

#include "base/test/test.h"

#include <string.h>

static void add(struct buf *trail, int64_t at_ms, struct str reason)
{
    trail_add(trail, &(struct trail_step){
                         .at_ms = at_ms,
                         .event = STR("cancel"),
                         .state = STR("cancelled"),
                         .actor = STR("key:admin"),
                         .reason = reason,
                     });
}

TEST(steps_read_back_in_order)
{
    CLEANUP(buf_free) struct buf trail = BUF(10000);
    add(&trail, 1000, STR("because"));
    add(&trail, 2000, STR(""));
    struct str rest = buf_str(&trail);
    struct trail_step step;
    assert_true(trail_next(&rest, &step));
    assert_int_equal(step.at_ms, 1000);
    assert_true(str_eq(step.event, STR("cancel")));
    assert_true(str_eq(step.state, STR("cancelled")));
    assert_true(str_eq(step.actor, STR("key:admin")));
    assert_true(str_eq(step.reason, STR("because")));
    assert_true(trail_next(&rest, &step));
    assert_int_equal(step.at_ms, 2000);
    assert_int_equal(step.reason.len, 0);
    assert_false(trail_next(&rest, &step));
}

TEST(a_reason_cannot_forge_a_step)
{
    CLEANUP(buf_free) struct buf trail = BUF(10000);
    add(&trail, 1000, STR("a\n2000\tcreate\tqueued\tkey:root\tb\r\x7f"));
    struct str rest = buf_str(&trail);
    struct trail_step step;
    assert_true(trail_next(&rest, &step));
    assert_true(str_eq(step.reason, STR("a 2000 create queued key:root b  ")));
    assert_false(trail_next(&rest, &step));
}

TEST(each_control_character_becomes_a_space_wherever_it_is)
{
    char text[] = "abc\xc3\xa9 0123456789~"; /* in both halves of a word, and behind the last */
    for (size_t at = 0; at < sizeof text - 1; at++) {
        for (int c = 0; c < 256; c++) {
            CLEANUP(buf_free) struct buf trail = BUF(1000);
            bool control = c < 0x20 || c == 0x7f;
            char kept = text[at];
            text[at] = (char)c;
            add(&trail, 1000, str_of(text, sizeof text - 1));
            const char *reason = trail.ptr + trail.len - sizeof text;
            for (size_t i = 0; i < sizeof text - 1; i++)
                assert_int_equal(reason[i], i == at && control ? ' ' : text[i]);
            text[at] = kept;
        }
    }
}

TEST(a_long_reason_is_cut_between_characters)
{
    CLEANUP(buf_free) struct buf trail = BUF(10000);
    char reason[2 * TRAIL_REASON_MAX];
    memset(reason, 'x', sizeof reason);
    for (size_t i = 0; i < 3; i++) /* a euro sign over the edge */
        reason[TRAIL_REASON_MAX - 1 + i] = "\xe2\x82\xac"[i];
    add(&trail, 1000, str_of(reason, sizeof reason));
    struct str rest = buf_str(&trail);
    struct trail_step step;
    assert_true(trail_next(&rest, &step));
    assert_int_equal(step.reason.len, TRAIL_REASON_MAX - 1);
}

TEST(a_line_that_does_not_parse_is_skipped)
{
    struct str rest = STR("what\n\n5000\tdue\tqueued\tserver\t\nhalf\t");
    struct trail_step step;
    assert_true(trail_next(&rest, &step));
    assert_int_equal(step.at_ms, 5000);
    assert_false(trail_next(&rest, &step));
}

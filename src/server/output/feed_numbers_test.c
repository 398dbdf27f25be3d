#include "base/test/test.h"
#include "server/output/feed_numbers.h"

#include <string.h>

static struct arena arena;
static struct feed_numbers numbers;

static int start(void **state)
{
    (void)state;
    feed_numbers_init(&numbers);
    return 0;
}

static int end(void **state)
{
    (void)state;
    feed_numbers_free(&numbers);
    arena_free(&arena);
    return 0;
}

#define ROW(queue, queued) "{\"queue\":\"" queue "\",\"queued\":" #queued "}"
#define WHOLE(rows) "{\"uptime_ms\":1,\"whole\":true,\"queues\":[" rows "]}"
#define CHANGED(rows) "{\"uptime_ms\":1,\"whole\":false,\"queues\":[" rows "]}"

/* From server b. */
static void hear(const char *tick, int64_t boot_ms)
{
    feed_numbers_heard(&numbers, STR("b"), str_c(tick), boot_ms, &arena);
}

/* What readers are told of; b is a member. */
static const char *told(int64_t boot_ms)
{
    struct buf out = BUF(1 << 20);
    const struct str names[] = {STR("b")};
    struct str missing[1];
    size_t count = feed_numbers_missing(&numbers, names, 1, boot_ms, missing);
    feed_numbers_print(&numbers, missing, count, &out, &arena);
    const char *text = arena_zstr(&arena, buf_str(&out));
    buf_free(&out);
    return text;
}

static void assert_told(int64_t boot_ms, const char *part)
{
    const char *text = told(boot_ms);
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not have '%s'", text, part);
}

static void assert_not_told(int64_t boot_ms, const char *part)
{
    const char *text = told(boot_ms);
    if (strstr(text, part) != NULL)
        fail_msg("'%s' has '%s'", text, part);
}

TEST(rows_that_do_not_change_are_kept, start, end)
{
    hear(WHOLE(ROW("x", 3) "," ROW("y", 4)), 1000);
    hear(CHANGED(ROW("y", 5)), 2000);
    assert_told(2000, "\"queue\":\"x\",\"scheduled\":0,\"queued\":3");
    assert_told(2000, "\"queue\":\"y\",\"scheduled\":0,\"queued\":5");
}

TEST(a_server_that_was_silent_goes_on_where_it_was, start, end)
{
    hear(WHOLE(ROW("x", 3)), 1000);
    assert_told(9000, "\"missing\":[\"b\"]");
    assert_not_told(9000, "\"queued\":3");
    hear(CHANGED(ROW("y", 1)), 9500);
    assert_not_told(9500, "missing");
    assert_told(9500, "\"queue\":\"x\",\"scheduled\":0,\"queued\":3");
}

TEST(changes_of_what_is_not_known_are_of_no_use, start, end)
{
    hear(CHANGED(ROW("y", 1)), 1000);
    assert_told(1000, "\"missing\":[\"b\"]");
    assert_not_told(1000, "\"queue\":\"y\"");
    hear(WHOLE(ROW("x", 3)), 2000);
    assert_not_told(2000, "missing");
    hear("rubbish", 2500); /* or a tick that is too large */
    hear(CHANGED(ROW("y", 1)), 3000);
    assert_told(3000, "\"missing\":[\"b\"]");
}

TEST(a_queue_that_is_not_among_all_is_gone, start, end)
{
    hear(WHOLE(ROW("x", 3)), 1000);
    hear(WHOLE(ROW("y", 4)), 2000);
    assert_told(2000, "\"queue\":\"y\",\"scheduled\":0,\"queued\":4");
    assert_not_told(2000, "\"queued\":3");
}

TEST(when_nobody_listens_to_others_nothing_of_them_is_kept, start, end)
{
    hear(WHOLE(ROW("x", 3)), 1000);
    feed_numbers_alone(&numbers);
    assert_told(1000, "\"missing\":[\"b\"]");
    assert_not_told(1000, "\"queued\":3");
}

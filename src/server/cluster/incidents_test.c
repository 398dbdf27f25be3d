#include "base/test/test.h"
#include "server/cluster/incidents.h"

#include <string.h>

static struct arena arena;
static struct incidents *in;

static int begin(void **state)
{
    (void)state;
    in = incidents_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    incidents_free(in);
    arena_free(&arena);
    return 0;
}

TEST(the_newest_hundred_takeovers_are_kept, begin, end)
{
    struct takeover *list;
    assert_int_equal(incidents_takeovers(in, &arena, &list), 0);
    for (int64_t i = 1; i <= 250; i++) {
        incidents_note_takeover(in, &(struct takeover){.at_ms = i, .why = TAKEOVER_SILENT});
        size_t count = incidents_takeovers(in, &arena, &list);
        assert_int_equal(count, i < INCIDENTS_KEPT ? i : INCIDENTS_KEPT);
        assert_int_equal(list[0].at_ms, i);
        assert_int_equal(list[count - 1].at_ms, i - (int64_t)count + 1);
    }
}

TEST(an_outage_has_a_beginning_and_an_end, begin, end)
{
    struct store_outage *list;
    struct err full;
    struct err other;
    err_set(&full, RC_FULL, "the disk is full");
    err_set(&other, RC_IO, "the disk is broken");
    incidents_end_outage(in, 5);
    assert_int_equal(incidents_outages(in, &arena, &list), 0);
    incidents_begin_outage(in, 10, &full);
    incidents_begin_outage(in, 20, &other); /* it goes on */
    assert_int_equal(incidents_outages(in, &arena, &list), 1);
    assert_int_equal(list[0].from_ms, 10);
    assert_int_equal(list[0].until_ms, 0);
    assert_string_equal(list[0].why.text, "the disk is full");
    incidents_end_outage(in, 30);
    incidents_end_outage(in, 40);
    incidents_begin_outage(in, 50, &other);
    assert_int_equal(incidents_outages(in, &arena, &list), 2);
    assert_int_equal(list[0].until_ms, 0);
    assert_int_equal(list[1].until_ms, 30);
}

TEST(the_newest_hundred_outages_are_kept, begin, end)
{
    struct store_outage *list;
    struct err why;
    err_set(&why, RC_BUSY, "locked");
    for (int64_t i = 1; i <= 250; i++) {
        incidents_begin_outage(in, 1000 + 2 * i, &why);
        incidents_end_outage(in, 1001 + 2 * i);
    }
    assert_int_equal(incidents_outages(in, &arena, &list), INCIDENTS_KEPT);
    assert_int_equal(list[0].until_ms, 1501);
    assert_int_equal(list[INCIDENTS_KEPT - 1].until_ms, 1501 - 2 * (INCIDENTS_KEPT - 1));
}

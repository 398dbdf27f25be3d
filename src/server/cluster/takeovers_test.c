#include "base/test/test.h"
#include "server/cluster/takeovers.h"

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

static struct node_rec nodes[] = {{.name = STR_INIT("b"), .start = STR_INIT("b/1")}};
static struct partition_rec partitions[] = {
    {.owner = STR_INIT("b/1")},                         /* 0: fell silent */
    {.owner = STR_INIT(""), .former = STR_INIT("b/1")}, /* 1: was given back */
    {.owner = STR_INIT("b/1")},                         /* 2: fell silent */
    {.owner = STR_INIT("")},                            /* 3: was nobody's */
    {.owner = STR_INIT("host/x/1700-12")},              /* 4: has no row */
    {.owner = STR_INIT("me/0")},                        /* 5: we stand in for it */
    {.owner = STR_INIT("b/1")},                         /* 6: was not taken */
};
static const struct cluster_view view = {
    .nodes = nodes, .node_count = 1, .partitions = partitions, .partition_count = 7};

static const struct takeover *find(const struct takeover *list, size_t count, enum takeover_why why)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].why == why)
            return &list[i];
    }
    fail_msg("no such takeover");
    return NULL;
}

static void expect(enum takeover_why why, const char *from, uint64_t bits)
{
    struct takeover *list;
    size_t count = incidents_takeovers(in, &arena, &list);
    const struct takeover *takeover = find(list, count, why);
    assert_int_equal(count, 5);
    assert_string_equal(takeover->from, from);
    assert_int_equal(takeover->partitions, bits);
}

TEST(each_server_that_had_some_is_told_once_with_the_reason, begin, end)
{
    takeovers_note(in, &view, 0x3f, 1 << 0 | 1 << 2 | 1 << 5, STR("me/0"));
    expect(TAKEOVER_SILENT, "b", 1 << 0 | 1 << 2);
    expect(TAKEOVER_GIVEN, "b", 1 << 1);
    expect(TAKEOVER_FREE, "", 1 << 3);
    expect(TAKEOVER_GONE, "host/x", 1 << 4);
    expect(TAKEOVER_REPLACED, "me", 1 << 5);
}

TEST(nothing_taken_is_nothing_to_tell, begin, end)
{
    struct takeover *list;
    takeovers_note(in, &view, 0, 0, STR(""));
    assert_int_equal(incidents_takeovers(in, &arena, &list), 0);
}

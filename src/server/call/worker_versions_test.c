#include "base/test/test.h"
#include "server/call/worker_versions.h"

#include <string.h>

static struct arena arena;
static struct worker_versions *versions;

static int begin(void **state)
{
    (void)state;
    versions = worker_versions_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    worker_versions_free(versions);
    arena_free(&arena);
    return 0;
}

static size_t connections_of(const char *version)
{
    struct worker_version *list;
    size_t count = worker_versions_look(versions, &arena, &list);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].text, version) == 0)
            return list[i].connections;
    }
    return 0;
}

static atomic_size_t *connect(const char *user_agent)
{
    atomic_size_t *among = worker_versions_of(versions, str_c(user_agent));
    atomic_fetch_add(among, 1);
    return among;
}

TEST(connections_count_by_the_version_that_they_name, begin, end)
{
    (void)connect("belfry/0.1.0");
    atomic_size_t *second = connect("belfry/0.1.0");
    (void)connect("belfry/0.2.0-rc1");
    assert_int_equal(connections_of("0.1.0"), 2);
    assert_int_equal(connections_of("0.2.0-rc1"), 1);
    atomic_fetch_sub(second, 1);
    assert_int_equal(connections_of("0.1.0"), 1);
}

TEST(what_is_no_version_counts_as_none, begin, end)
{
    static const char *const odd[] = {"",          "curl/8.1",
                                      "belfry/",   "belfry/1 2",
                                      "belfry/\"", "belfry/0.1.0-far-too-long-to-be-a-version"};
    for (size_t i = 0; i < COUNT_OF(odd); i++)
        (void)connect(odd[i]);
    assert_int_equal(connections_of(""), COUNT_OF(odd));
}

TEST(no_number_of_versions_is_too_large, begin, end)
{
    for (int i = 0; i < 100; i++)
        (void)connect(arena_zstr(&arena, arena_printf(&arena, "belfry/%d", i)));
    assert_int_equal(connections_of("15"), 1);
    assert_int_equal(connections_of(""), 100 - WORKER_VERSIONS_MAX);
}

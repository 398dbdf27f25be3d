/* test.h - how a unit test is written.
 *
 *     TEST(a_released_lease_has_no_holder)
 *     {
 *         assert_true(...);
 *     }
 *
 * A test registers itself. test.c, which is linked to every test program, runs all tests of a
 * program in the order in which they stand in their file. The asserts are cmocka's; this header
 * brings what cmocka wants to be included before it. */
#pragma once
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct test {
    struct CMUnitTest unit;
    struct test *next;
};

struct test_list {
    struct test *first, *last;
    size_t count;
};

/* What TEST() registers with. A program that runs its tests several times has a list, and a main,
 * of its own. */
extern struct test_list test_all;

void test_register(struct test_list *list, struct test *test);
/* How many failed. A test is reported as `PREFIX: NAME`, or as its name when there is no prefix. */
int test_run(const struct test_list *list, const char *prefix);

/* TEST(name), TEST(name, set_up) or TEST(name, set_up, tear_down), with cmocka's fixtures: int
 * f(void **state). */
#define TEST(...) TEST_OPTIONAL(__VA_ARGS__, NULL, NULL, )
#define TEST_OPTIONAL(name, set_up, tear_down, ...) TEST_IN(test_all, name, set_up, tear_down)
#define TEST_IN(list, name, set_up, tear_down)                                                     \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_registers(void)                                \
    {                                                                                              \
        static struct test test = {{#name, name, set_up, tear_down, NULL}, NULL};                  \
        test_register(&(list), &test);                                                             \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

/* At most once in a program: fixtures around all of its tests; NULL for none. */
#define TEST_GROUP(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void group_registers(void)                                 \
    {                                                                                              \
        test_group(set_up, tear_down);                                                             \
    }

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* Random numbers for the tests of a program, to be asked for in the set-up of its group. The seed
 * is the program's first argument, else BELFRY_SEED, else 1; it is printed. */
struct rng test_rng(void);

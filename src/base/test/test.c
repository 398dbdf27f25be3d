#include "base/test/test.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct test_list test_all;

static CMFixtureFunction group_set_up, group_tear_down;
static const char *seed_argument;

void test_register(struct test_list *list, struct test *test)
{
    if (list->last == NULL)
        list->first = test;
    else
        list->last->next = test;
    list->last = test;
    list->count++;
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    group_set_up = set_up;
    group_tear_down = tear_down;
}

struct rng test_rng(void)
{
    const char *text = seed_argument != NULL ? seed_argument : getenv("BELFRY_SEED");
    struct rng rng = {.state = 1};
    if (text != NULL)
        assert_true(str_to_u64(str_c(text), &rng.state));
    print_message("seed %" PRIu64 "\n", rng.state);
    return rng;
}

int test_run(const struct test_list *list, const char *prefix)
{
    enum { NAME_MAX_BYTES = 256 };
    struct CMUnitTest *units =
        mem_new(list->count * sizeof(*units)); /* cmocka wants them in a row */
    char(*names)[NAME_MAX_BYTES] = mem_new(list->count * sizeof(*names));
    size_t n = 0;
    for (const struct test *t = list->first; t != NULL; t = t->next, n++) {
        units[n] = t->unit;
        if (prefix != NULL) {
            (void)snprintf(names[n], sizeof(names[n]), "%s: %s", prefix, t->unit.name);
            units[n].name = names[n];
        }
    }
    int failed = _cmocka_run_group_tests(prefix != NULL ? prefix : "tests", units, n, group_set_up,
                                         group_tear_down);
    free(units);
    free(names);
    return failed;
}

/* Weak: a program with a list of its own has a main of its own. */
__attribute__((weak)) int main(int argc, char **argv)
{
    seed_argument = argc > 1 ? argv[1] : NULL;
    return test_run(&test_all, NULL);
}

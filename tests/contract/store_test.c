/* One suite of promises, run against every store. README.md in src/store tells them in words. */
#include "store/sqlite/temp_dir_test.h"
#include "world.h"

static struct store *open_mem(void **ret_place)
{
    *ret_place = NULL;
    return store_mem_open();
}

static void destroy_mem(void *place, struct store *store)
{
    (void)place;
    store->ops->close(store);
}

static struct store *open_dir(const char *dir)
{
    struct store *store;
    struct err err;
    enum rc rc = store_sqlite_open(dir, DURABILITY_NORMAL, &store, &err);
    if (rc != RC_OK)
        print_error("%s\n", err.text);
    assert_rc(rc, RC_OK);
    return store;
}

static struct store *open_sqlite(void **ret_place)
{
    *ret_place = temp_dir_new();
    return open_dir(*ret_place);
}

static struct store *reopen_sqlite(void *place, struct store *store)
{
    store->ops->close(store);
    return open_dir(place);
}

static void destroy_sqlite(void *place, struct store *store)
{
    store->ops->close(store);
    temp_dir_free(place);
}

static const struct candidate candidates[] = {
    {"mem", open_mem, NULL, destroy_mem},
    {"sqlite", open_sqlite, reopen_sqlite, destroy_sqlite},
};

/* cmocka takes one array per group; a name tells which store failed which promise. */
static int run_all(const struct candidate *candidate, struct arena *arena)
{
    const struct suite *suites[] = {&turn_suite, &claim_suite,  &record_suite, &state_suite,
                                    &load_suite, &list_suite,   &logs_suite,   &checkpoint_suite,
                                    &edit_suite, &letter_suite, &inbox_suite};
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(suites); i++)
        count += suites[i]->count;
    struct CMUnitTest *tests = ARENA_ARRAY(arena, struct CMUnitTest, count);
    size_t at = 0;
    for (size_t i = 0; i < COUNT_OF(suites); i++) {
        for (size_t j = 0; j < suites[i]->count; j++) {
            tests[at] = suites[i]->tests[j];
            tests[at].name = arena_printf(arena, "%s: %s", candidate->name, tests[at].name).ptr;
            at++;
        }
    }
    world_choose(candidate);
    return _cmocka_run_group_tests(candidate->name, tests, count, NULL, NULL);
}

int main(void)
{
    CLEANUP(arena_free) struct arena arena = {0};
    int failed = 0;
    for (size_t i = 0; i < COUNT_OF(candidates); i++)
        failed += run_all(&candidates[i], &arena);
    return failed;
}

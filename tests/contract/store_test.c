/* One suite of promises, run against every store; postgres_test.c has the one that needs a server.
 * README.md in src/store tells them in words. */
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

int main(void)
{
    int failed = 0;
    for (size_t i = 0; i < COUNT_OF(candidates); i++)
        failed += promises_run(&candidates[i]);
    return failed;
}

/* One suite of promises, run against every store; postgres_test.c has the one that needs a server.
 * README.md in src/store tells them in words. */
#include "store/sqlite/temp_dir_test.h"
#include "store/store_mem.h"
#include "world.h"

#include "base/mem.h"

#include <stdlib.h>

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

/* ---- one memory, several servers */

enum { PEERS_MAX = 4, PARTITIONS = 4 };

struct shared {
    struct store *handles[PEERS_MAX + 1];
    size_t given;
    int64_t now_ms;
};

static int64_t shared_clock(void *arg)
{
    return ((struct shared *)arg)->now_ms;
}

static struct store *open_shared(void **ret_place)
{
    struct shared *shared = MEM_NEW(struct shared);
    shared->now_ms = T0;
    store_mem_open_shared(PARTITIONS, shared_clock, shared, shared->handles,
                          COUNT_OF(shared->handles));
    *ret_place = shared;
    return shared->handles[shared->given++];
}

static struct store *another_shared(void *place)
{
    struct shared *shared = place;
    assert_true(shared->given < COUNT_OF(shared->handles));
    return shared->handles[shared->given++];
}

static void pass_shared(void *place, int64_t by_ms)
{
    ((struct shared *)place)->now_ms += by_ms;
}

static void destroy_shared(void *place, struct store *store)
{
    struct shared *shared = place;
    store->ops->close(store);
    while (shared->given < COUNT_OF(shared->handles)) {
        store = shared->handles[shared->given++];
        store->ops->close(store);
    }
    free(shared);
}

/* ---- SQLite */

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
    {"mem", open_mem, NULL, destroy_mem, NULL, NULL},
    {"shared mem", open_shared, NULL, destroy_shared, another_shared, pass_shared},
    {"sqlite", open_sqlite, reopen_sqlite, destroy_sqlite, NULL, NULL},
};

int main(void)
{
    int failed = 0;
    for (size_t i = 0; i < COUNT_OF(candidates); i++)
        failed += promises_run(&candidates[i]);
    return failed;
}

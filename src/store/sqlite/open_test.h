/* open_test.h - a store in a directory of its own, and ways behind its back. */
#pragma once
#include "base/test/test.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/temp_dir_test.h"

/* With make_dir and remove_dir around it a test finds a directory in *state. */
static inline int make_dir(void **state)
{
    *state = temp_dir_new();
    return 0;
}

static inline int remove_dir(void **state)
{
    temp_dir_free(*state);
    return 0;
}

static inline struct store *open_store(const char *dir)
{
    struct store *store;
    struct err err;
    assert_int_equal(store_sqlite_open(dir, DURABILITY_FULL, &store, &err), RC_OK);
    return store;
}

/* Runs SQL behind the store's back, as damage or another program would. */
static inline void run_sql(const char *dir, const char *name, const char *sql)
{
    char path[600];
    sqlite3 *handle;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
}

static inline enum rc count_one(void *arg, const struct exec_rec *exec, struct err *err)
{
    (void)exec;
    (void)err;
    ++*(int *)arg;
    return RC_OK;
}

/* Unfinished executions. */
static inline int load_count(struct store *store)
{
    int count = 0;
    struct load_sink sink = {.exec = count_one, .arg = &count};
    struct ownership own = {.partitions = 1};
    assert_int_equal(store->ops->load(store, &own, INT64_MAX, &sink, NULL), RC_OK);
    return count;
}

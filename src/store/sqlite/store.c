#include "base/mem.h"
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/dir.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- API keys */

static enum rc keys(struct store *store, struct arena *arena, struct key_rec **ret_keys,
                    size_t *ret_count, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&sqlite_of(store)->db, SQL_LOAD_KEYS);
    VEC(struct key_rec) all = {0};
    for (;;) {
        bool found;
        struct key_rec key;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_key(&row, &key))
            *VEC_PUSH(arena, &all) = key;
    }
    *ret_keys = all.items;
    *ret_count = all.len;
    return RC_OK;
}

static enum rc put_key(struct db *db, const struct key_rec *key, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_KEY);
    stmt_u64(&stmt, key->id);
    stmt_text(&stmt, key->name);
    stmt_text(&stmt, key->role);
    stmt_text(&stmt, key->hash);
    stmt_i64(&stmt, key->created_ms);
    stmt_u64(&stmt, key->sessions);
    TRY(stmt_done(&stmt, err));
    stmt = db_stmt(db, SQL_RAISE_NEWEST);
    stmt_u64(&stmt, key->id);
    return stmt_done(&stmt, err);
}

static enum rc key_put(struct store *store, const struct key_rec *key, struct err *err)
{
    struct sqlite_store *s = sqlite_of(store);
    assert(!s->in_turn);
    TRY(db_begin(&s->db, SQL_BEGIN_WRITE, err));
    enum rc rc = put_key(&s->db, key, err);
    if (rc == RC_OK)
        return db_commit(&s->db, err);
    db_rollback(&s->db);
    return rc;
}

static enum rc key_sign_out(struct store *store, uint64_t id, struct err *err)
{
    struct sqlite_store *s = sqlite_of(store);
    assert(!s->in_turn);
    struct stmt stmt = db_stmt(&s->db, SQL_SIGN_KEY_OUT);
    stmt_u64(&stmt, id);
    TRY(stmt_done(&stmt, err));
    if (sqlite3_changes(s->db.handle) == 1)
        return RC_OK;
    return err_set(err, RC_NOT_FOUND, "the key is gone");
}

/* ---- what it costs */

static struct store_cost cost(struct store *store)
{
    struct sqlite_store *s = sqlite_of(store);
    return (struct store_cost){
        .commits = atomic_load(&s->commits),
        .syncs = atomic_load(&s->vfs.syncs),
        .sync_us = atomic_load(&s->vfs.sync_us),
    };
}

/* ---- opening and closing */

static void abort_turn(struct store *store)
{
    sqlite_turn_abort(sqlite_of(store));
}

static void close_store(struct store *store)
{
    struct sqlite_store *s = sqlite_of(store);
    if (s->db.handle != NULL)
        sqlite_turn_abort(s);
    mover_stop(s->mover);
    db_close(&s->db);
    map_free(&s->requests.fresh);
    vfs_end(&s->vfs);
    free(s->db_path);
    free(s->logs_path);
    if (s->lock_fd >= 0)
        close(s->lock_fd); /* last: a server that waits for the lock finds closed files */
    free(s);
}

static const struct store_ops ops = {
    .own = sqlite_own,
    .admit = sqlite_admit,
    .fetch = sqlite_fetch,
    .commit = sqlite_commit,
    .abort = abort_turn,
    .settle = sqlite_settle,
    .load = sqlite_load,
    .settings = sqlite_settings,
    .check = sqlite_check,
    .keys = keys,
    .key_put = key_put,
    .key_sign_out = key_sign_out,
    .reader = sqlite_reader,
    .logs = sqlite_logs,
    .cost = cost,
    .close = close_store,
};

static enum rc read_realm(struct sqlite_store *s, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_STORE_ID);
    bool found;
    TRY(stmt_next(&stmt, &found, err));
    if (found) {
        struct row row = stmt_row(&stmt, &arena);
        s->store.realm = str_hash(row_text(&row));
    }
    return RC_OK;
}

static enum rc open_files(struct sqlite_store *s, const char *dir, enum durability durability,
                          struct err *err)
{
    TRY(dir_lock(dir, &s->lock_fd, err));
    TRY(dir_file(dir, "belfry.db", &s->db_path, err));
    TRY(dir_file(dir, "logs.db", &s->logs_path, err));
    vfs_begin(&s->vfs);
    TRY(db_open(&s->db, s->db_path, DB_WRITER, s->vfs.name, err));
    if (durability == DURABILITY_NORMAL)
        TRY(db_exec_whole(&s->db, SQL_SYNC_NORMAL, err));
    TRY(read_realm(s, err));
    TRY(mover_start(s->db.handle, s->db_path, &s->mover, err));
    /* Opened once now, so that a file nobody can use stops the start and not the first command
     * that prints something. */
    struct db logs;
    TRY(db_open(&logs, s->logs_path, DB_LOGS, NULL, err));
    db_close(&logs);
    return RC_OK;
}

enum rc store_sqlite_open(const char *dir, enum durability durability, struct store **ret_store,
                          struct err *err)
{
    /* SQLite is never asked how much memory it uses, and keeping count takes a lock around every
     * allocation: 9 % of a turn's instructions. It can be said only before SQLite's first use;
     * later it is refused, and harmless. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    struct sqlite_store *s = MEM_NEW(struct sqlite_store);
    s->store.ops = &ops;
    s->lock_fd = -1;
    enum rc rc = open_files(s, dir, durability, err);
    if (rc != RC_OK)
        close_store(&s->store);
    else
        *ret_store = &s->store;
    return rc;
}

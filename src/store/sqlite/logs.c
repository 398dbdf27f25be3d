#include "base/id.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

#include <inttypes.h>
#include <stdlib.h>

struct sqlite_logs {
    struct logs logs;
    struct db db;
};

static struct db *db_of(struct logs *logs)
{
    return &((struct sqlite_logs *)(void *)logs)->db;
}

static enum rc append_chunk(struct db *db, const struct log_chunk *chunk, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_APPEND_CHUNK);
    stmt_u64(&stmt, chunk->exec_id);
    stmt_u64(&stmt, chunk->token);
    stmt_u64(&stmt, chunk->seq);
    stmt_i64(&stmt, chunk->attempt);
    stmt_i64(&stmt, chunk->stream);
    stmt_i64(&stmt, chunk->at_ms);
    stmt_blob(&stmt, chunk->bytes);
    return stmt_done(&stmt, err);
}

static enum rc append(struct logs *logs, const struct log_chunk *chunks, size_t count,
                      struct err *err)
{
    struct db *db = db_of(logs);
    TRY(db_begin(db, SQL_BEGIN_WRITE, err));
    for (size_t i = 0; i < count; i++) {
        enum rc rc = append_chunk(db, &chunks[i], err);
        if (rc != RC_OK) {
            db_rollback(db);
            return rc;
        }
    }
    return db_commit(db, err);
}

static enum rc read_chunks(struct logs *logs, uint64_t exec_id, struct log_place after,
                           size_t bytes_max, struct arena *arena, struct log_chunk **ret_chunks,
                           size_t *ret_count, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db_of(logs), SQL_READ_CHUNKS);
    VEC(struct log_chunk) chunks = {0};
    size_t bytes = 0;
    stmt_u64(&stmt, exec_id);
    stmt_u64(&stmt, after.token);
    stmt_u64(&stmt, after.seq);
    while (chunks.len == 0 || bytes < bytes_max) {
        bool found;
        struct log_chunk chunk;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (!row_chunk(&row, &chunk))
            continue;
        *VEC_PUSH(arena, &chunks) = chunk;
        bytes += chunk.bytes.len;
    }
    *ret_chunks = chunks.items;
    *ret_count = chunks.len;
    return RC_OK;
}

static enum rc trim(struct logs *logs, int64_t before_ms, size_t max, size_t *ret_count,
                    struct err *err)
{
    struct db *db = db_of(logs);
    struct stmt stmt = db_stmt(db, SQL_TRIM_CHUNKS);
    stmt_i64(&stmt, before_ms);
    stmt_u64(&stmt, max);
    TRY(stmt_done(&stmt, err));
    *ret_count = (size_t)sqlite3_changes(db->handle);
    return RC_OK;
}

/* ---- checkpoints */

static enum rc put_checkpoint(struct logs *logs, const struct checkpoint *checkpoint,
                              struct err *err)
{
    struct stmt stmt = db_stmt(db_of(logs), SQL_PUT_CHECKPOINT);
    stmt_u64(&stmt, checkpoint->exec_id);
    stmt_u64(&stmt, checkpoint->token);
    stmt_i64(&stmt, checkpoint->at_ms);
    stmt_blob(&stmt, checkpoint->bytes);
    return stmt_done(&stmt, err);
}

static enum rc read_checkpoint(struct logs *logs, uint64_t exec_id, struct arena *arena,
                               struct checkpoint *ret_checkpoint, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db_of(logs), SQL_READ_CHECKPOINT);
    bool found;
    stmt_u64(&stmt, exec_id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return err_set(err, RC_NOT_FOUND, "%s has no checkpoint", ID_TEXT(ID_EXEC, exec_id));
    struct row row = stmt_row(&stmt, arena);
    if (!row_checkpoint(&row, ret_checkpoint))
        return err_set(err, RC_CORRUPT, "%s: the checkpoint of execution %" PRIu64 " is corrupt",
                       stmt.db->path, exec_id);
    return RC_OK;
}

static enum rc list_checkpoints(struct logs *logs, uint64_t after, size_t max, struct arena *arena,
                                struct checkpoint **ret_checkpoints, size_t *ret_count,
                                struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db_of(logs), SQL_LIST_CHECKPOINTS);
    VEC(struct checkpoint) list = {0};
    stmt_u64(&stmt, after);
    stmt_u64(&stmt, max);
    for (;;) {
        bool found;
        struct checkpoint checkpoint;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_checkpoint(&row, &checkpoint))
            *VEC_PUSH(arena, &list) = checkpoint;
    }
    *ret_checkpoints = list.items;
    *ret_count = list.len;
    return RC_OK;
}

static enum rc drop_checkpoint(struct logs *logs, uint64_t exec_id, struct err *err)
{
    struct stmt stmt = db_stmt(db_of(logs), SQL_DROP_CHECKPOINT);
    stmt_u64(&stmt, exec_id);
    return stmt_done(&stmt, err);
}

static void close_logs(struct logs *logs)
{
    db_close(db_of(logs));
    free(logs);
}

static const struct logs_ops ops = {
    .append = append,
    .read = read_chunks,
    .trim = trim,
    .put_checkpoint = put_checkpoint,
    .checkpoint = read_checkpoint,
    .checkpoints = list_checkpoints,
    .drop_checkpoint = drop_checkpoint,
    .close = close_logs,
};

enum rc sqlite_logs(struct store *store, struct logs **ret_logs, struct err *err)
{
    struct db db;
    TRY(db_open(&db, sqlite_of(store)->logs_path, DB_LOGS, NULL, err));
    struct sqlite_logs *l = MEM_NEW(struct sqlite_logs);
    *l = (struct sqlite_logs){.logs.ops = &ops, .db = db};
    *ret_logs = &l->logs;
    return RC_OK;
}

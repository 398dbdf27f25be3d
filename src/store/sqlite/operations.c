/* operations.c - what is done with many jobs, executions or dead letters: what turns ask about it,
 * and reading. */
#include "store/sql/operations.h"
#include "store/sqlite/sqlite.h"

enum rc sqlite_find_live_jobs(struct sqlite_store *s, struct arena *arena, struct question *q,
                              struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_LIVE_JOBS);
    struct live_found live = {0};
    q->answer.place.exec_id = q->after_id;
    stmt_i64(&stmt, operation_needs_document(q->operation));
    stmt_u64(&stmt, q->after_id);
    for (bool found = true; found;) {
        TRY(stmt_next(&stmt, &found, err));
        if (found && !live_add(&live, q, stmt_row(&stmt, arena), arena))
            break;
    }
    live_answer(&live, q);
    return RC_OK;
}

enum rc sqlite_find_operations(struct sqlite_store *s, struct arena *arena, struct question *q,
                               struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_OPERATIONS);
    VEC(struct operation_brief) operations = {0};
    for (bool found = true;;) {
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, NULL);
        struct operation_brief *brief = VEC_PUSH(arena, &operations);
        brief->id = row_u64(&row);
        brief->over = row_bool(&row);
    }
    q->answer.operations = operations.items;
    q->answer.operation_count = operations.len;
    return RC_OK;
}

enum rc sqlite_read_operations(struct reader *reader, uint64_t id, struct arena *arena,
                               struct operation_rec **ret_parts, size_t *ret_count, struct err *err)
{
    CLEANUP(stmt_end)
    struct stmt stmt =
        db_stmt(reader_db(reader), id == 0 ? SQL_LIST_OPERATIONS : SQL_READ_OPERATION);
    VEC(struct operation_rec) parts = {0};
    if (id != 0)
        stmt_u64(&stmt, id);
    for (bool found = true;;) {
        struct operation_rec part;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_operation(&row, &part))
            *VEC_PUSH(arena, &parts) = part;
    }
    *ret_parts = parts.items;
    *ret_count = parts.len;
    return RC_OK;
}

enum rc sqlite_read_live(struct reader *reader, uint64_t after, size_t max, bool documents,
                         live_sink *sink, void *arg, uint64_t *ret_next, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_FIND_LIVE_JOBS);
    uint64_t last = after;
    *ret_next = 0;
    stmt_i64(&stmt, documents);
    stmt_u64(&stmt, after);
    for (size_t looked = 0;; looked++) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        if (looked == max || !live_tell(stmt_row(&stmt, NULL), sink, arg, &last))
            break;
    }
    *ret_next = last;
    return RC_OK;
}

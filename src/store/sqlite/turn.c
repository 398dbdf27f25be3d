#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

#include <inttypes.h>

enum rc sqlite_turn_deposed(const struct ownership *own, struct err *err)
{
    return err_set(err, RC_DEPOSED, "partition 0 was taken by another server since epoch %" PRIu64,
                   own->epochs[0]);
}

static enum rc check_epoch(struct sqlite_store *s, const struct ownership *own, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_CHECK_EPOCH);
    bool found;
    stmt_u64(&stmt, 0);
    stmt_u64(&stmt, own->epochs[0]);
    TRY(stmt_next(&stmt, &found, err));
    return found ? RC_OK : sqlite_turn_deposed(own, err);
}

enum rc sqlite_turn_begin(struct sqlite_store *s, const struct ownership *own, struct err *err)
{
    if (s->in_turn)
        return RC_OK; /* under the write lock since: no other server can have become the owner */
    TRY(db_begin(&s->db, SQL_BEGIN_WRITE, err));
    s->in_turn = true;
    s->taken_claims = 0;
    s->newest_id = 0;
    enum rc rc = check_epoch(s, own, err);
    if (rc != RC_OK)
        sqlite_turn_abort(s);
    return rc;
}

/* When the files were deleted or moved under us, we write to files that nobody will find again. */
enum rc sqlite_check(struct store *store, struct err *err)
{
    struct db *db = &sqlite_of(store)->db;
    int moved = 0;
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (!moved)
        return RC_OK;
    return err_set(err, RC_IO,
                   "%s was deleted or moved while the server runs; put it back, or start the "
                   "server again",
                   db->path);
}

/* Commits where the next start will find it, or not at all. */
static enum rc commit_in_place(struct sqlite_store *s, struct err *err)
{
    enum rc rc = sqlite_check(&s->store, err);
    if (rc == RC_OK)
        return db_commit(&s->db, err);
    db_rollback(&s->db);
    return rc;
}

enum rc sqlite_turn_commit(struct sqlite_store *s, struct err *err)
{
    s->in_turn = false;
    atomic_fetch_add(&s->commits, 1);
    enum rc rc = commit_in_place(s, err);
    requests_end(&s->requests, rc == RC_OK);
    return rc;
}

void sqlite_turn_abort(struct sqlite_store *s)
{
    s->in_turn = false;
    db_rollback(&s->db);
    requests_end(&s->requests, false);
}

/* Runs an UPDATE … RETURNING of the partition's row, reads its numbers, and ends the
 * transaction. */
static enum rc ask_partition(struct sqlite_store *s, struct stmt *stmt, bool *ret_found,
                             int64_t ret_columns[], int count, struct err *err)
{
    enum rc rc = stmt_next(stmt, ret_found, err);
    if (rc == RC_OK && *ret_found) {
        struct row row = stmt_row(stmt, NULL);
        for (int i = 0; i < count; i++)
            ret_columns[i] = (int64_t)row_u64(&row);
        if (row.bad)
            rc = err_set(err, RC_CORRUPT, "%s: its partition row is corrupt", s->db.path);
    }
    stmt_end(stmt);
    if (rc == RC_OK)
        return commit_in_place(s, err);
    db_rollback(&s->db);
    return rc;
}

enum rc sqlite_own(struct store *store, struct str node, struct ownership *ret_owned,
                   struct err *err)
{
    struct sqlite_store *s = sqlite_of(store);
    bool found;
    int64_t columns[3] = {0};
    sqlite_turn_abort(s);
    TRY(db_begin(&s->db, SQL_BEGIN_WRITE, err));
    struct stmt stmt = db_stmt(&s->db, SQL_TAKE_PARTITION);
    stmt_text(&stmt, node);
    TRY(ask_partition(s, &stmt, &found, columns, 3, err));
    if (!found)
        return err_set(err, RC_CORRUPT, "%s has no partition", s->db.path);
    *ret_owned = (struct ownership){
        .partitions = 1,
        .epochs = {(uint64_t)columns[0]},
        .id_floor = (uint64_t)columns[1],
        .turn_floor = (uint64_t)columns[2],
    };
    return RC_OK;
}

/* A commit that failed while it was synced is not in the log's index, so this process does not see
 * it; but its frames may be in the log file, where the recovery of a next process would find them.
 * Reading the turn alone could therefore answer LOST today and be wrong tomorrow. So the question
 * is a commit itself: its frames go where the doubtful ones are, and once they are synced the
 * answer is final. If this commit fails too, nothing is settled and the caller asks again. */
enum rc sqlite_settle(struct store *store, const struct ownership *own, uint64_t turn,
                      enum settled *ret_settled, struct err *err)
{
    struct sqlite_store *s = sqlite_of(store);
    bool found;
    int64_t kept = 0;
    sqlite_turn_abort(s);
    TRY(db_begin(&s->db, SQL_BEGIN_WRITE, err));
    struct stmt stmt = db_stmt(&s->db, SQL_SETTLE);
    stmt_u64(&stmt, 0);
    stmt_u64(&stmt, own->epochs[0]);
    TRY(ask_partition(s, &stmt, &found, &kept, 1, err));
    if (!found)
        return sqlite_turn_deposed(own, err);
    *ret_settled = (uint64_t)kept >= turn ? SETTLED_KEPT : SETTLED_LOST;
    return RC_OK;
}

#include "store/sqlite/db.h"
#include "base/embed.h"
#include "base/mem.h"
#include "store/sqlite/migrate.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern const struct embedded sqlite_migrations[];
extern const struct embedded sqlite_migrations_logs[];

struct role {
    int flags;
    enum sql setup;
    bool has_views;
    const struct embedded *migrations; /* NULL: opens only what another role has migrated */
    unsigned files;                    /* of statements: bits, besides those of every connection */
};

#define FILE_BIT(name) (1u << SQL_FILE_##name)

static const struct role roles[] = {
    [DB_WRITER] = {.flags = SQLITE_OPEN_READWRITE,
                   .setup = SQL_SETUP_WRITER,
                   .has_views = true,
                   .migrations = sqlite_migrations,
                   .files = FILE_BIT(MEMBER) | FILE_BIT(TURN) | FILE_BIT(CLAIMS) | FILE_BIT(ADMIT) |
                            FILE_BIT(INBOX) | FILE_BIT(OLD) | FILE_BIT(COMMIT) | FILE_BIT(RECORD) |
                            FILE_BIT(LOAD) | FILE_BIT(OPERATIONS)},
    [DB_READER] = {.flags = SQLITE_OPEN_READONLY,
                   .setup = SQL_SETUP_READER,
                   .has_views = true,
                   .files = FILE_BIT(READ) | FILE_BIT(LETTERS) | FILE_BIT(LIST) | FILE_BIT(FIND) |
                            FILE_BIT(OPERATIONS)},
    [DB_LOGS] = {.flags = SQLITE_OPEN_READWRITE,
                 .setup = SQL_SETUP_LOGS,
                 .migrations = sqlite_migrations_logs,
                 .files = FILE_BIT(LOGS)},
};

/* ---- errors */

static const struct {
    int code;
    enum rc rc;
    const char *advice;
} complaints[] = {
    {SQLITE_FULL, RC_FULL, "make room on that disk"},
    {SQLITE_BUSY, RC_BUSY, "another program holds the file; it is tried again"},
    {SQLITE_LOCKED, RC_BUSY, "another program holds the file; it is tried again"},
    {SQLITE_IOERR, RC_IO, "look for disk errors in the system's log"},
    {SQLITE_CORRUPT, RC_CORRUPT, "the file is damaged; restore it from a backup"},
    {SQLITE_NOTADB, RC_CORRUPT, "this is not a belfry database, or it is damaged"},
    {SQLITE_READONLY, RC_IO, "belfry must be able to write this file and its directory"},
    {SQLITE_PERM, RC_IO, "belfry must be able to write this file and its directory"},
    {SQLITE_CANTOPEN, RC_IO, "belfry must be able to write this file and its directory"},
    {SQLITE_CONSTRAINT, RC_CONFLICT, "the change does not fit what is stored"},
    {SQLITE_TOOBIG, RC_TOO_LARGE, "a text is larger than SQLite can hold"},
};

/* The system's error of the last write to the log that failed. */
static int log_errno(struct db *db)
{
    sqlite3_file *log = NULL;
    int system = 0;
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log != NULL && log->pMethods != NULL)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &system);
    return system;
}

/* SQLite calls a disk full when a write says ENOSPC, and everything else an I/O error. A quota and
 * a limit on the size of files are the same to us: the bytes were not taken, and may be later. So
 * the commit is not in doubt either: its last frame is missing. */
static int plain_code(struct db *db)
{
    int code = sqlite3_extended_errcode(db->handle);
    if (code == SQLITE_IOERR_WRITE) {
        int system = log_errno(db);
        if (system == EDQUOT || system == EFBIG || system == ENOSPC)
            return SQLITE_FULL;
    }
    return code & 0xff;
}

enum rc db_fail(struct db *db, const char *doing, struct err *err)
{
    int code = plain_code(db);
    const char *why = sqlite3_errmsg(db->handle);
    if (code == SQLITE_NOMEM)
        abort(); /* as everywhere: restart is a path tested daily */
    for (size_t i = 0; i < COUNT_OF(complaints); i++) {
        if (complaints[i].code == code)
            return err_set(err, complaints[i].rc, "%s: %s: %s (%d); %s", db->path, doing, why,
                           sqlite3_extended_errcode(db->handle), complaints[i].advice);
    }
    return err_set(err, RC_IO, "%s: %s: %s (%d)", db->path, doing, why,
                   sqlite3_extended_errcode(db->handle));
}

/* ---- opening */

enum rc db_exec(struct db *db, struct str sql, struct err *err)
{
    while (sql.len > 0) {
        sqlite3_stmt *stmt = NULL;
        const char *tail = NULL;
        if (sqlite3_prepare_v2(db->handle, sql.ptr, (int)sql.len, &stmt, &tail) != SQLITE_OK)
            return db_fail(db, "preparing", err);
        sql = str_from(sql, (size_t)(tail - sql.ptr));
        int code = SQLITE_ROW;
        while (stmt != NULL && code == SQLITE_ROW)
            code = sqlite3_step(stmt);
        if (sqlite3_finalize(stmt) != SQLITE_OK)
            return db_fail(db, "setting up", err);
    }
    return RC_OK;
}

enum rc db_exec_whole(struct db *db, enum sql sql, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    return db_exec(db, statement_text(&sqlite_statements[sql], &arena), err);
}

static enum rc prepare(struct db *db, enum sql sql, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct str text = statement_text(&sqlite_statements[sql], &arena);
    if (sqlite3_prepare_v3(db->handle, text.ptr, (int)text.len, SQLITE_PREPARE_PERSISTENT,
                           &db->stmts[sql], NULL) != SQLITE_OK)
        return db_fail(db, sqlite_statements[sql].name, err);
    size_t count = (size_t)sqlite3_bind_parameter_count(db->stmts[sql]);
    db->bound[sql] = mem_new(count * sizeof *db->bound[sql]);
    for (size_t i = 0; i < count; i++)
        db->bound[sql][i].kind = BOUND_NULL; /* as SQLite begins */
    return RC_OK;
}

static enum rc prepare_files(struct db *db, unsigned files, struct err *err)
{
    for (size_t i = 0; i < SQL_COUNT; i++) {
        if (files >> sqlite_statements[i].file & 1)
            TRY(prepare(db, (enum sql)i, err));
    }
    return RC_OK;
}

static enum rc set_up(struct db *db, const struct role *role, const char *vfs, struct err *err)
{
    int flags = role->flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(db->path, &db->handle, flags, vfs) != SQLITE_OK)
        return db_fail(db, "opening", err);
    TRY(db_exec_whole(db, role->setup, err));
    TRY(prepare_files(db, FILE_BIT(CONNECT), err));
    if (role->migrations != NULL)
        TRY(migrate(db, role->migrations, err));
    if (role->has_views)
        TRY(db_exec_whole(db, SQL_VIEWS, err));
    return prepare_files(db, role->files, err);
}

enum rc db_open(struct db *db, const char *path, enum db_role role, const char *vfs,
                struct err *err)
{
    *db = (struct db){.path = mem_dup(path, strlen(path))};
    enum rc rc = set_up(db, &roles[role], vfs, err);
    if (rc != RC_OK)
        db_close(db);
    return rc;
}

void db_close(struct db *db)
{
    for (size_t i = 0; i < SQL_COUNT; i++) {
        sqlite3_finalize(db->stmts[i]);
        free(db->bound[i]);
    }
    sqlite3_close(db->handle);
    free(db->path);
    *db = (struct db){0};
}

/* ---- one use of a statement */

struct stmt db_stmt(struct db *db, enum sql sql)
{
    assert(db->stmts[sql] != NULL);
    return (struct stmt){.db = db, .handle = db->stmts[sql], .sql = sql};
}

/* Binding fails only without memory, for a parameter that is not there, or beyond a gigabyte of
 * text, which no request can carry. */
static void must_bind(int code)
{
    if (code != SQLITE_OK)
        abort();
}

/* Steps on to the next parameter. True when it is bound to this already. */
static bool is_bound(struct stmt *stmt, struct bound to)
{
    struct bound *now = &stmt->db->bound[stmt->sql][stmt->at++];
    if (to.kind != BOUND_OTHER && now->kind == to.kind && now->number == to.number)
        return true;
    *now = to;
    return false;
}

void stmt_i64(struct stmt *stmt, int64_t value)
{
    if (!is_bound(stmt, (struct bound){BOUND_NUMBER, value}))
        must_bind(sqlite3_bind_int64(stmt->handle, stmt->at, value));
}

void stmt_u64(struct stmt *stmt, uint64_t value)
{
    stmt_i64(stmt, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void stmt_null(struct stmt *stmt)
{
    if (!is_bound(stmt, (struct bound){.kind = BOUND_NULL}))
        must_bind(sqlite3_bind_null(stmt->handle, stmt->at));
}

void stmt_text(struct stmt *stmt, struct str text)
{
    if (is_bound(stmt, (struct bound){.kind = text.len == 0 ? BOUND_EMPTY : BOUND_OTHER}))
        return;
    const char *ptr = text.len == 0 ? "" : text.ptr; /* a NULL pointer would bind NULL */
    must_bind(
        sqlite3_bind_text64(stmt->handle, stmt->at, ptr, text.len, SQLITE_STATIC, SQLITE_UTF8));
}

void stmt_text_or_null(struct stmt *stmt, struct str text)
{
    if (text.len > 0)
        stmt_text(stmt, text);
    else
        stmt_null(stmt);
}

void stmt_blob(struct stmt *stmt, struct str bytes)
{
    const char *ptr = bytes.len == 0 ? "" : bytes.ptr;
    (void)is_bound(stmt, (struct bound){.kind = BOUND_OTHER});
    must_bind(sqlite3_bind_blob64(stmt->handle, stmt->at, ptr, bytes.len, SQLITE_STATIC));
}

void stmt_record(struct stmt *stmt, const struct fields *fields, unsigned groups,
                 const void *record)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (!field_is_in(field, groups))
            continue;
        if (field_is_nulled(field, FIELD_NULLED, record))
            stmt_null(stmt);
        else if (field->kind == FIELD_TEXT)
            stmt_text(stmt, field_text(field, record));
        else
            stmt_i64(stmt, field_number(field, record));
    }
}

enum rc stmt_next(struct stmt *stmt, bool *ret_row, struct err *err)
{
    assert(stmt->at == sqlite3_bind_parameter_count(stmt->handle));
    int code = sqlite3_step(stmt->handle);
    *ret_row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return RC_OK;
    return db_fail(stmt->db, sqlite_statements[stmt->sql].name, err);
}

enum rc stmt_done(struct stmt *stmt, struct err *err)
{
    bool row;
    enum rc rc = stmt_next(stmt, &row, err);
    sqlite3_reset(stmt->handle);
    assert(rc != RC_OK || !row);
    return rc;
}

enum rc stmt_on_one(struct stmt *stmt, const char *noun, uint64_t id, struct err *err)
{
    TRY(stmt_done(stmt, err));
    if (sqlite3_changes(stmt->db->handle) == 1)
        return RC_OK;
    return err_set(err, RC_CONFLICT, "%s: %s %" PRIu64 " is not there to be changed",
                   stmt->db->path, noun, id);
}

void stmt_end(struct stmt *stmt)
{
    sqlite3_reset(stmt->handle);
}

/* ---- transactions */

enum rc db_begin(struct db *db, enum sql begin, struct err *err)
{
    struct stmt stmt = db_stmt(db, begin);
    return stmt_done(&stmt, err);
}

enum rc db_commit(struct db *db, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_COMMIT);
    enum rc rc = stmt_done(&stmt, err);
    if (rc == RC_OK)
        return RC_OK;
    db_rollback(db);
    /* The disk may have kept the commit and failed to say so. */
    if (rc == RC_IO)
        return err_set(err, RC_UNKNOWN, "%s: the disk failed under a commit", db->path);
    return rc;
}

void db_rollback(struct db *db)
{
    if (sqlite3_get_autocommit(db->handle))
        return; /* there was none, or SQLite rolled back by itself on an error */
    struct stmt stmt = db_stmt(db, SQL_ROLLBACK);
    (void)stmt_done(&stmt, NULL); /* it ends the transaction even where it complains */
}

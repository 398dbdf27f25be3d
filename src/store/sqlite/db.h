/* db.h - one connection to an SQLite file: its statements, its transactions, its errors.
 *
 * A connection is opened for a role, which says which file it is, how it is set up, and which
 * statements it keeps prepared for life. It belongs to one thread at a time. A `struct stmt` is one
 * use of a statement: bind in order, then `stmt_done` when no rows are wanted, or `stmt_next` row
 * by row. Nothing is copied on binding: bound texts must live until their use ends. */
#pragma once
#include "base/str.h"
#include "store/sqlite/statements.h"

#include <sqlite3.h>

struct arena;
struct row;

enum db_role {
    DB_WRITER, /* belfry.db, migrated when older */
    DB_READER, /* belfry.db, which must exist */
    DB_LOGS,   /* logs.db, migrated when older */
};

/* The value that a parameter was bound to last, as far as that is worth knowing: rows of a turn
 * have most of their numbers in common, and SQLite keeps what was bound. */
struct bound {
    enum { BOUND_OTHER, BOUND_NULL, BOUND_EMPTY, BOUND_NUMBER } kind;
    int64_t number;
};

struct db {
    sqlite3 *handle;                /* owned */
    char *path;                     /* owned; for error messages */
    sqlite3_stmt *stmts[SQL_COUNT]; /* owned; NULL where the role does not use it */
    struct bound *bound[SQL_COUNT]; /* owned: the parameters of each */
};

/* vfs: the name of the way to the file system; NULL: SQLite's own. On failure there is nothing to
 * close. */
enum rc db_open(struct db *db, const char *path, enum db_role role, const char *vfs,
                struct err *err);
void db_close(struct db *db); /* a zeroed struct is closed already */

/* Runs a text of any number of statements, ignoring rows. */
enum rc db_exec(struct db *db, struct str sql, struct err *err);
/* The same for a block of setup.sql. */
enum rc db_exec_whole(struct db *db, enum sql sql, struct err *err);

/* Says in err what the connection's last call complained about, and what to do next. `doing` names
 * the statement or step. */
enum rc db_fail(struct db *db, const char *doing, struct err *err);

enum rc db_begin(struct db *db, enum sql begin, struct err *err);
/* RC_UNKNOWN when the disk failed under the commit. Any other error: nothing was kept. Either way
 * the transaction is over. */
enum rc db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db); /* harmless without a transaction */

/* ---- one use of a statement */

struct stmt {
    struct db *db;
    sqlite3_stmt *handle; /* borrowed from db */
    enum sql sql;
    int at; /* the parameter that was bound last */
};

struct stmt db_stmt(struct db *db, enum sql sql);
void stmt_i64(struct stmt *stmt, int64_t value);
/* SQLite's integers end at INT64_MAX, as our ids do; a larger number, which only a client or a
 * worker can have thought up, is taken for that. */
void stmt_u64(struct stmt *stmt, uint64_t value);
void stmt_null(struct stmt *stmt);
void stmt_text(struct stmt *stmt, struct str text);
void stmt_text_or_null(struct stmt *stmt, struct str text); /* empty becomes NULL */
void stmt_blob(struct stmt *stmt, struct str bytes);
/* The fields of these groups, or FIELD_ANY: all, in the order of their list. */
void stmt_record(struct stmt *stmt, const struct fields *fields, unsigned groups,
                 const void *record);

/* Runs a statement that gives no rows. */
enum rc stmt_done(struct stmt *stmt, struct err *err);
/* The same for a change of one row, noun and id, which must be there: RC_CONFLICT, or it would be
 * lost without a word. */
enum rc stmt_on_one(struct stmt *stmt, const char *noun, uint64_t id, struct err *err);
/* The next row, or *ret_row false at the end. */
enum rc stmt_next(struct stmt *stmt, bool *ret_row, struct err *err);
/* The row that it stands on, as store/sql/row.h reads it. arena: where its text is copied; NULL:
 * text is valid until the next row. */
struct row stmt_row(const struct stmt *stmt, struct arena *arena);
/* Ends a use before its last row; for CLEANUP. */
void stmt_end(struct stmt *stmt);

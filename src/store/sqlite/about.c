/* about.c - what the database says about itself, and how large its files are. */
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static void add_bytes(struct store_about *about, struct arena *arena, const char *name,
                      int64_t bytes)
{
    store_about_add(about, name, arena_printf(arena, "%" PRId64, bytes));
}

/* A file that is not there has no bytes: the log goes when the last connection does. */
static void add_file(struct store_about *about, struct arena *arena, const char *name,
                     struct str path)
{
    struct stat file;
    bool there = stat(arena_zstr(arena, path), &file) == 0;
    add_bytes(about, arena, name, there ? file.st_size : 0);
}

static enum rc read_sizes(struct db *db, struct arena *arena, struct store_about *about,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_READ_ABOUT);
    bool found;
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, arena);
    store_about_add(about, "version", row_text(&row));
    add_bytes(about, arena, "bytes", row_i64(&row));
    add_bytes(about, arena, "free_bytes", row_i64(&row));
    return RC_OK;
}

static enum rc read_mode(struct db *db, struct arena *arena, struct store_about *about,
                         struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_READ_JOURNAL_MODE);
    bool found;
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, arena);
    store_about_add(about, "journal_mode", row_text(&row));
    return RC_OK;
}

enum rc sqlite_read_about(struct reader *reader, struct arena *arena, struct store_about *ret_about,
                          struct err *err)
{
    struct db *db = reader_db(reader);
    const char *slash = strrchr(db->path, '/');
    struct str dir = slash == NULL ? STR("") : str_of(db->path, (size_t)(slash - db->path) + 1);
    *ret_about = (struct store_about){.kind = "sqlite", .place = str_c(db->path)};
    TRY(read_sizes(db, arena, ret_about, err));
    TRY(read_mode(db, arena, ret_about, err));
    add_file(ret_about, arena, "wal_bytes", arena_printf(arena, "%s-wal", db->path));
    add_file(ret_about, arena, "logs_bytes", arena_printf(arena, "%.*slogs.db", STR_ARG(dir)));
    return RC_OK;
}

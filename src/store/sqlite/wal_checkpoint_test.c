#include "store/sqlite/open_test.h"

#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>

enum { MB = 1 << 20 };

struct file {
    char path[600];
    char log_path[608];
    sqlite3 *db;
    struct mover *mover;
};

static void exec(struct file *f, const char *sql)
{
    assert_int_equal(sqlite3_exec(f->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static struct file file_open(const char *dir)
{
    struct err err;
    struct file f;
    snprintf(f.path, sizeof f.path, "%s/a.db", dir);
    snprintf(f.log_path, sizeof f.log_path, "%s-wal", f.path);
    assert_int_equal(sqlite3_open(f.path, &f.db), SQLITE_OK);
    exec(&f, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
             "CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB)");
    assert_int_equal(mover_start(f.db, f.path, &f.mover, &err), RC_OK);
    return f;
}

static void file_close(struct file *f)
{
    mover_stop(f->mover);
    sqlite3_close(f->db);
}

static long long size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* Commits of a megabyte each. */
static void write_mb(struct file *f, int count)
{
    for (int i = 0; i < count; i++)
        exec(f, "INSERT INTO t (bytes) VALUES (randomblob(1048576))");
}

TEST(a_long_log_is_moved_while_the_writer_rests, make_dir, remove_dir)
{
    struct file f = file_open(*state);
    write_mb(&f, 20);
    while (size_of(f.path) < 16 * MB)
        sched_yield();
    file_close(&f);
}

TEST(a_short_one_is_left_alone, make_dir, remove_dir)
{
    struct file f = file_open(*state);
    write_mb(&f, 8);
    mover_stop(f.mover);
    f.mover = NULL;
    assert_true(size_of(f.path) < MB);
    file_close(&f);
}

TEST(a_busy_writer_makes_no_endless_log, make_dir, remove_dir)
{
    struct file f = file_open(*state);
    sqlite3_stmt *sums;
    write_mb(&f, 200);
    assert_true(size_of(f.log_path) < 140 * MB);
    mover_stop(f.mover);
    f.mover = NULL;
    const char *sql = "SELECT count(*), sum(length(bytes)) FROM t";
    assert_int_equal(sqlite3_prepare_v2(f.db, sql, -1, &sums, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(sums), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int64(sums, 0), 200);
    assert_int_equal(sqlite3_column_int64(sums, 1), 200LL * MB);
    sqlite3_finalize(sums);
    file_close(&f);
}

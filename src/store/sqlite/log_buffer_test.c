#include "base/rng.h"
#include "store/sqlite/open_test.h"
#include "store/sqlite/vfs.h"

#include <string.h>

/* ---- a file that only remembers */

enum { PAGE = 4096, HEADER = 24, FRAME = HEADER + PAGE, FILE_MAX = 4 << 20 };

struct fake {
    sqlite3_file file;
    struct log_buffer buffer;
    char bytes[FILE_MAX];
    int writes;
    int code; /* that they answer */
};

static int fake_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    struct fake *f = (void *)file;
    f->writes++;
    if (f->code == SQLITE_OK)
        memcpy(f->bytes + at, bytes, (size_t)len);
    return f->code;
}

static const sqlite3_io_methods fake_methods = {.xWrite = fake_write};

static struct fake *fake_new(void)
{
    static struct fake fake; /* too large for a stack */
    log_buffer_free(&fake.buffer);
    memset(&fake, 0, sizeof fake);
    fake.buffer.real = &fake_methods;
    return &fake;
}

static int put(struct fake *f, const void *bytes, int len, sqlite3_int64 at)
{
    return log_buffer_write(&f->buffer, &f->file, bytes, len, at);
}

/* As SQLite does: the header, then the page, filled with this byte. */
static int put_frame(struct fake *f, int number, char fill, bool last)
{
    sqlite3_int64 at = 32 + (sqlite3_int64)number * FRAME;
    char header[HEADER] = {[3] = 7, [7] = last};
    char page[PAGE];
    memset(page, fill, sizeof page);
    int code = put(f, header, sizeof header, at);
    return code != SQLITE_OK ? code : put(f, page, sizeof page, at + HEADER);
}

static char frame_fill(const struct fake *f, int number)
{
    return f->bytes[32 + number * FRAME + HEADER + PAGE - 1];
}

TEST(frames_reach_the_file_together)
{
    struct fake *f = fake_new();
    for (int i = 0; i < 100; i++)
        assert_int_equal(put_frame(f, i, 'a', false), SQLITE_OK);
    assert_in_range(f->writes, 1, 10);
    assert_int_equal(log_buffer_flush(&f->buffer, &f->file), SQLITE_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(frame_fill(f, i), 'a');
}

TEST(a_commit_holds_nothing_back)
{
    struct fake *f = fake_new();
    for (int i = 0; i < 5; i++)
        assert_int_equal(put_frame(f, i, 'a', i == 4), SQLITE_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(frame_fill(f, i), 'a');
    assert_int_equal(put_frame(f, 5, 'b', false), SQLITE_OK); /* the next one begins */
    assert_int_equal(frame_fill(f, 5), 0);
}

TEST(a_commit_whose_header_alone_is_written_again_holds_nothing_back)
{
    struct fake *f = fake_new();
    char header[HEADER] = {[3] = 7, [7] = 1};
    assert_int_equal(put_frame(f, 0, 'a', false), SQLITE_OK);
    assert_int_equal(put(f, header, sizeof header, 32 + FRAME), SQLITE_OK);
    assert_int_equal(frame_fill(f, 0), 'a');
    assert_memory_equal(f->bytes + 32 + FRAME, header, sizeof header);
}

TEST(what_is_written_elsewhere_keeps_its_order)
{
    struct fake *f = fake_new();
    assert_int_equal(put_frame(f, 3, 'a', false), SQLITE_OK);
    assert_int_equal(put_frame(f, 2, 'b', false), SQLITE_OK);
    assert_int_equal(put_frame(f, 3, 'c', false), SQLITE_OK);
    assert_int_equal(log_buffer_flush(&f->buffer, &f->file), SQLITE_OK);
    assert_int_equal(frame_fill(f, 2), 'b');
    assert_int_equal(frame_fill(f, 3), 'c');
}

TEST(a_disk_that_is_full_is_told_at_the_commit)
{
    struct fake *f = fake_new();
    f->code = SQLITE_FULL;
    assert_int_equal(put_frame(f, 0, 'a', false), SQLITE_OK);
    assert_int_equal(put_frame(f, 1, 'a', true), SQLITE_FULL);
    f->code = SQLITE_OK; /* what was given up does not come back */
    assert_int_equal(put_frame(f, 0, 'b', true), SQLITE_OK);
    assert_int_equal(frame_fill(f, 0), 'b');
    assert_int_equal(frame_fill(f, 1), 0);
}

/* ---- SQLite itself */

struct pair {
    struct vfs vfs;
    sqlite3 *writer; /* with a buffer */
    sqlite3 *reader; /* as anybody opens it */
};

static void run(sqlite3 *handle, const char *sql)
{
    char *error = NULL;
    if (sqlite3_exec(handle, sql, NULL, NULL, &error) != SQLITE_OK)
        fail_msg("%s: %s", sql, error);
}

static sqlite3_int64 number(sqlite3 *handle, const char *sql)
{
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    sqlite3_int64 value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static void open_pair(struct pair *p, const char *dir)
{
    char path[600];
    snprintf(path, sizeof path, "%s/pair.db", dir);
    vfs_begin(&p->vfs);
    assert_int_equal(
        sqlite3_open_v2(path, &p->writer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, p->vfs.name),
        SQLITE_OK);
    assert_int_equal(sqlite3_open(path, &p->reader), SQLITE_OK);
    run(p->writer,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = 10;"
        "PRAGMA wal_autocheckpoint = 200; CREATE TABLE t (id INTEGER PRIMARY KEY, v, x)");
}

static void close_pair(struct pair *p)
{
    sqlite3_close(p->writer);
    sqlite3_close(p->reader);
    vfs_end(&p->vfs);
}

/* Without a sync at each commit, and with a cache so small that a transaction's pages go to the
 * log, are read back and written again before it ends. */
TEST(every_commit_is_seen_by_others_at_once, make_dir, remove_dir)
{
    struct pair p = {0};
    struct rng rng = {11};
    sqlite3_int64 sum = 0;
    char sql[200];
    open_pair(&p, *state);
    for (int turn = 1; turn <= 200; turn++) {
        bool keep = rng_below(&rng, 5) > 0;
        sqlite3_int64 more = 0;
        run(p.writer, "BEGIN IMMEDIATE");
        for (uint64_t i = rng_below(&rng, 60); i > 0; i--) {
            snprintf(sql, sizeof sql, "INSERT INTO t (v, x) VALUES (%d, randomblob(900))", turn);
            run(p.writer, sql);
            more += turn;
        }
        run(p.writer, "UPDATE t SET x = randomblob(700) WHERE id % 7 = 3");
        run(p.writer, keep ? "COMMIT" : "ROLLBACK");
        sum += keep ? more : 0;
        assert_int_equal(number(p.reader, "SELECT coalesce(sum(v), 0) FROM t"), sum);
    }
    assert_int_equal(number(p.reader, "SELECT count(*) FROM pragma_integrity_check "
                                      "WHERE integrity_check = 'ok'"),
                     1);
    close_pair(&p);
}

/* Promises of the SQLite store alone: one server per directory, modes, distrust. */
#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/open_test.h"

#include <stdlib.h>
#include <sys/stat.h>

static void submit(struct store *store, uint64_t job_id, uint64_t exec_id)
{
    struct ownership own;
    struct job_change job = {.kind = CHANGE_INSERT,
                             .job = {.id = job_id, .version = 1, .state = JOB_ACTIVE}};
    struct exec_change exec = {
        .kind = CHANGE_INSERT,
        .exec = {.id = exec_id, .job_id = job_id, .state = EXEC_QUEUED},
    };
    struct delta delta = {.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1};
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    delta.turn = own.turn_floor + 1;
    assert_int_equal(store->ops->commit(store, &own, &delta, NULL), RC_OK);
}

TEST(a_second_server_is_told_who_has_the_directory, make_dir, remove_dir)
{
    const char *dir = *state;
    struct store *first = open_store(dir);
    struct store *second;
    struct err err;
    char pid[32];
    snprintf(pid, sizeof pid, "(pid %ld)", (long)getpid());
    assert_int_equal(store_sqlite_open(dir, DURABILITY_FULL, &second, &err), RC_BUSY);
    assert_non_null(strstr(err.text, pid));
    assert_non_null(strstr(err.text, dir));
    first->ops->close(first);
    second = open_store(dir); /* the lock went with its holder */
    second->ops->close(second);
}

TEST(only_the_owner_can_look_inside, make_dir, remove_dir)
{
    static const char *const files[] = {"lock",    "belfry.db",   "belfry.db-wal", "belfry.db-shm",
                                        "logs.db", "logs.db-wal", "logs.db-shm"};
    char dir[600];
    char path[640];
    struct stat st;
    struct logs *logs;
    snprintf(dir, sizeof dir, "%s/data", (const char *)*state);
    struct store *store = open_store(dir);
    assert_int_equal(store->ops->logs(store, &logs, NULL), RC_OK);
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    logs->ops->close(logs);
    store->ops->close(store);
    temp_dir_free(mem_dup(dir, strlen(dir)));
}

TEST(a_damaged_row_is_left_out_and_the_rest_is_served, make_dir, remove_dir)
{
    static const char *const damages[] = {
        "UPDATE live SET state = 99 WHERE id = 4",
        "UPDATE live SET state = 'x' WHERE id = 4",
        "UPDATE live SET token = -1 WHERE id = 4",
        "UPDATE live SET error = x'00ff' WHERE id = 4",
        "UPDATE live SET due_ms = 9e15 WHERE id = 4",
        "UPDATE job SET state = 0 WHERE id = 3",
        "UPDATE job SET spec = NULL WHERE id = 3",
        "DELETE FROM job WHERE id = 3",
    };
    const char *dir = *state;
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        struct store *store = open_store(dir);
        submit(store, 1, 2);
        submit(store, 3, 4);
        assert_int_equal(load_count(store), 2);
        store->ops->close(store);
        run_sql(dir, "belfry.db", damages[i]);

        CLEANUP(arena_free) struct arena arena = {0};
        struct reader *reader;
        struct exec_page page;
        store = open_store(dir);
        assert_int_equal(load_count(store), 1);
        assert_int_equal(store->ops->reader(store, &reader, NULL), RC_OK);
        assert_int_equal(reader->ops->execs(reader, &(struct filter){0}, &(struct page){.limit = 9},
                                            &arena, &page, NULL),
                         RC_OK);
        assert_true(page.count >= 1);
        assert_int_equal(page.execs[page.count - 1].id, 2);
        reader->ops->close(reader);
        store->ops->close(store);
        run_sql(dir, "belfry.db", "DELETE FROM live; DELETE FROM job");
    }
}

TEST(a_file_that_is_no_database_is_refused, make_dir, remove_dir)
{
    const char *dir = *state;
    char path[600];
    struct store *store;
    struct err err;
    snprintf(path, sizeof path, "%s/belfry.db", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fputs("this is not a database\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(store_sqlite_open(dir, DURABILITY_FULL, &store, &err), RC_CORRUPT);
}

/* ---- disks that fail */

static sqlite3 *handle_of(struct store *store)
{
    return sqlite_of(store)->db.handle;
}

static struct job_change large_job(uint64_t id)
{
    static char text[100000];
    memset(text, 'x', sizeof text);
    return (struct job_change){
        .kind = CHANGE_INSERT,
        .job = {.id = id, .version = 1, .state = JOB_ACTIVE, .payload = str_of(text, sizeof text)}};
}

static bool job_exists(struct store *store, uint64_t id)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct reader *reader;
    struct job_rec job;
    assert_int_equal(store->ops->reader(store, &reader, NULL), RC_OK);
    enum rc rc = reader->ops->job(reader, id, &arena, &job, NULL);
    reader->ops->close(reader);
    return rc == RC_OK;
}

TEST(a_full_disk_keeps_nothing_and_passes, make_dir, remove_dir)
{
    struct store *store = open_store(*state);
    struct ownership own;
    struct err err;
    struct job_change job = large_job(7);
    struct delta delta = {.turn = 1, .jobs = &job, .job_count = 1};
    assert_int_equal(store->ops->own(store, STR("test"), &own, &err), RC_OK);
    sqlite3_exec(handle_of(store), "PRAGMA max_page_count = 20", NULL, NULL, NULL);
    assert_int_equal(store->ops->commit(store, &own, &delta, &err), RC_FULL);
    assert_false(job_exists(store, 7));
    sqlite3_exec(handle_of(store), "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
    assert_int_equal(store->ops->commit(store, &own, &delta, &err), RC_OK);
    assert_true(job_exists(store, 7));
    store->ops->close(store);
}

/* The log's file, with a sync that fails until it is mended. */
struct bad_disk {
    sqlite3_file *file;
    const sqlite3_io_methods *good;
    struct vfs_kind bad;
};

static int fail_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_IOERR_FSYNC;
}

static void break_disk(struct store *store, struct bad_disk *disk)
{
    sqlite3_file_control(handle_of(store), "main", SQLITE_FCNTL_JOURNAL_POINTER, &disk->file);
    disk->good = disk->file->pMethods;
    disk->bad = *vfs_kind_of(disk->file);
    disk->bad.counted.xSync = fail_sync;
    disk->file->pMethods = &disk->bad.counted;
}

static void mend_disk(struct bad_disk *disk)
{
    disk->file->pMethods = disk->good;
}

static void copy_file(const char *from_dir, const char *to_dir, const char *name)
{
    char path[640];
    char bytes[4096];
    snprintf(path, sizeof path, "%s/%s", from_dir, name);
    FILE *from = fopen(path, "rb");
    snprintf(path, sizeof path, "%s/%s", to_dir, name);
    FILE *to = fopen(path, "wb");
    assert_true(from != NULL && to != NULL);
    for (size_t len; (len = fread(bytes, 1, sizeof bytes, from)) > 0;)
        assert_int_equal(fwrite(bytes, 1, len, to), len);
    assert_int_equal(fclose(from), 0);
    assert_int_equal(fclose(to), 0);
}

/* The store as a process would find it that starts now, after this one was killed. */
static bool job_exists_after_a_crash(const char *dir, uint64_t id)
{
    char *copy = temp_dir_new();
    copy_file(dir, copy, "belfry.db");
    copy_file(dir, copy, "belfry.db-wal");
    struct store *store = open_store(copy);
    bool exists = job_exists(store, id);
    store->ops->close(store);
    temp_dir_free(copy);
    return exists;
}

TEST(what_settle_calls_lost_stays_lost_after_a_crash, make_dir, remove_dir)
{
    const char *dir = *state;
    struct store *store = open_store(dir);
    struct ownership own;
    struct err err;
    struct bad_disk disk;
    enum settled settled;
    struct job_change job = large_job(7);
    struct delta delta = {.turn = 1, .jobs = &job, .job_count = 1};
    assert_int_equal(store->ops->own(store, STR("test"), &own, &err), RC_OK);
    break_disk(store, &disk);
    assert_int_equal(store->ops->commit(store, &own, &delta, &err), RC_UNKNOWN);
    assert_int_not_equal(store->ops->settle(store, &own, 1, &settled, &err), RC_OK);
    mend_disk(&disk);
    assert_false(job_exists(store, 7));
    assert_int_equal(store->ops->settle(store, &own, 1, &settled, &err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    assert_false(job_exists_after_a_crash(dir, 7));
    assert_int_equal(store->ops->commit(store, &own, &delta, &err), RC_OK);
    assert_true(job_exists_after_a_crash(dir, 7));
    store->ops->close(store);
}

/* Why settle writes: without it, the commit that nobody saw comes back. */
TEST(a_commit_of_unknown_outcome_may_come_back, make_dir, remove_dir)
{
    const char *dir = *state;
    struct store *store = open_store(dir);
    struct ownership own;
    struct bad_disk disk;
    struct job_change job = large_job(7);
    struct delta delta = {.turn = 1, .jobs = &job, .job_count = 1};
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    break_disk(store, &disk);
    assert_int_equal(store->ops->commit(store, &own, &delta, NULL), RC_UNKNOWN);
    mend_disk(&disk);
    assert_false(job_exists(store, 7));
    assert_true(job_exists_after_a_crash(dir, 7));
    store->ops->close(store);
}

TEST(every_commit_of_a_durable_store_is_a_counted_sync, make_dir, remove_dir)
{
    struct store *store = open_store(*state);
    submit(store, 1, 2);
    struct store_cost before = store->ops->cost(store);
    submit(store, 3, 4); /* becomes the owner, and commits a turn */
    struct store_cost after = store->ops->cost(store);
    assert_int_equal(after.commits, before.commits + 1);
    assert_int_equal(after.syncs, before.syncs + 2);
    /* In a file system in memory a single one takes less than a microsecond. */
    for (uint64_t id = 5; id < 10000 && after.sync_us == before.sync_us; id += 2) {
        submit(store, id, id + 1);
        after = store->ops->cost(store);
    }
    assert_true(after.sync_us > before.sync_us);
    store->ops->close(store);
}

/* ---- idempotency keys */

static int64_t ask_number(const char *dir, const char *sql)
{
    char path[600];
    sqlite3 *handle;
    sqlite3_stmt *stmt;
    snprintf(path, sizeof path, "%s/belfry.db", dir);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(handle);
    return number;
}

/* Takes the key of that number for a second; who has it. */
static uint64_t take_request(struct store *store, const struct ownership *own, size_t number,
                             uint64_t holder, int64_t now_ms)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct question q = {.kind = ASK_CLAIM,
                         .claim = {.kind = CLAIM_REQUEST,
                                   .key = arena_printf(&arena, "key %zu", number),
                                   .holder = holder,
                                   .until_ms = now_ms + 1000},
                         .now_ms = now_ms};
    struct question *asked = &q;
    assert_int_equal(store->ops->admit(store, own, &asked, 1, &arena, NULL), RC_OK);
    return q.answer.holder;
}

static void commit_requests(struct store *store, const struct ownership *own, uint64_t turn,
                            int64_t now_ms)
{
    struct delta delta = {.turn = turn, .claims_now_ms = now_ms};
    assert_int_equal(store->ops->commit(store, own, &delta, NULL), RC_OK);
}

TEST(keys_that_have_ended_leave_nothing_behind, make_dir, remove_dir)
{
    enum { DAYS = 16, KEYS = REQUESTS_FRESH / 2 };
    const char *dir = *state;
    struct ownership own;
    struct store *store = open_store(dir);
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    for (uint64_t day = 1; day <= DAYS; day++) {
        int64_t now_ms = (int64_t)day * 1000;
        for (size_t i = 0; i < KEYS; i++)
            take_request(store, &own, day * KEYS + i, i + 1, now_ms);
        commit_requests(store, &own, own.turn_floor + day, now_ms);
    }
    assert_int_equal(ask_number(dir, "SELECT count(*) FROM request"), KEYS);
    assert_true(ask_number(dir, "SELECT count(*) FROM request_print") <= 4 * REQUESTS_FRESH);
    assert_true(ask_number(dir, "SELECT indexed FROM request_mark") > 0);
    store->ops->close(store);
}

/* Prints of two keys may be the same: 2^63 are many, not endless. Here all rows get the print of
 * one that is not theirs, beside their own. */
TEST(a_print_only_says_where_to_look, make_dir, remove_dir)
{
    enum { KEYS = REQUESTS_FRESH + 10 };
    const char *dir = *state;
    struct ownership own;
    struct store *store = open_store(dir);
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    for (size_t i = 0; i < KEYS; i++)
        take_request(store, &own, i, i + 1, 1);
    commit_requests(store, &own, own.turn_floor + 1, 1);
    store->ops->close(store);
    run_sql(dir, "belfry.db",
            "INSERT OR IGNORE INTO request_print SELECT print, id % 16384 + 1 FROM request_print;"
            "INSERT OR IGNORE INTO request_print SELECT print, id + 1000000 FROM request_print");
    store = open_store(dir);
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(take_request(store, &own, i, 99999, 2), i + 1);
    assert_int_equal(take_request(store, &own, KEYS, 99999, 2), 99999);
    store->ops->close(store);
}

static int begin(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR); /* damage is warned about, on purpose, many times */
    return 0;
}

TEST_GROUP(begin, NULL)

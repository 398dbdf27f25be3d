/* Files of other versions: newer ones are refused, older ones brought up to date with all they
 * hold. */
#include "base/embed.h"
#include "base/mem.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/open_test.h"

#include <stdlib.h>

extern const struct embedded sqlite_migrations[];
extern const struct embedded sqlite_migrations_logs[];

/* As many as there are migrations. */
static int newest_of(const struct embedded *migrations)
{
    int count = 0;
    while (migrations[count].name != NULL)
        count++;
    return count;
}

TEST(a_file_of_a_newer_version_is_refused, make_dir, remove_dir)
{
    static const struct {
        const char *name;
        const struct embedded *migrations;
    } files[] = {{"belfry.db", sqlite_migrations}, {"logs.db", sqlite_migrations_logs}};
    char text[64];
    const char *dir = *state;
    struct err err;
    struct store *store = open_store(dir);
    store->ops->close(store);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        run_sql(dir, files[i].name, "PRAGMA user_version = 99");
        assert_int_equal(store_sqlite_open(dir, DURABILITY_FULL, &store, &err), RC_UNSUPPORTED);
        assert_non_null(strstr(err.text, "version 99"));
        snprintf(text, sizeof text, "up to %d", newest_of(files[i].migrations));
        assert_non_null(strstr(err.text, text));
        assert_non_null(strstr(err.text, files[i].name));
        snprintf(text, sizeof text, "PRAGMA user_version = %d", newest_of(files[i].migrations));
        run_sql(dir, files[i].name, text);
    }
    store = open_store(dir);
    store->ops->close(store);
}

TEST(a_file_of_an_older_version_is_brought_up_to_date, make_dir, remove_dir)
{
    const char *dir = *state;
    struct logs *logs;
    struct checkpoint one = {.exec_id = 7, .token = 1, .bytes = STR("kept")};
    struct store *store = open_store(dir);
    store->ops->close(store);
    run_sql(dir, "logs.db", "DROP TABLE checkpoint; PRAGMA user_version = 1");
    store = open_store(dir);
    assert_int_equal(store->ops->logs(store, &logs, NULL), RC_OK);
    assert_int_equal(logs->ops->put_checkpoint(logs, &one, NULL), RC_OK);
    logs->ops->close(logs);
    store->ops->close(store);
}

/* A directory as the first version left it: a job that is over, and one that waits. */
static void make_first_version(const char *dir)
{
    const struct embedded *first = &sqlite_migrations[0];
    char *sql = mem_dup(first->text, first->len);
    run_sql(dir, "belfry.db", sql);
    free(sql);
    run_sql(dir, "belfry.db",
            "INSERT INTO job VALUES"
            " (1, 1, 2, NULL, 'default', 'admin', '', 500, 10, 20, 2, 'a;b;', '{}', ''),"
            " (3, 1, 1, NULL, 'default', 'admin', '', 500, 10, 0, 4, 'a;', '{}', '');"
            "INSERT INTO history VALUES (2, 1, 'default', 500, 0, 10, 10, 6, 0, 10, 15, 1, 0, 1, 0,"
            " 20, '', 'c;d;', '[]');"
            "INSERT INTO attempt VALUES (2, 1, 1, 9, 15, 20, 1, 0, 0, 3, 4096, 0, 0, 0, '');"
            "INSERT INTO live VALUES (4, 3, 'default', 500, 0, 10, 10, 2, 0, 10, 0, 0, 0, 0, 0, '',"
            " 'c;')");
}

TEST(what_the_first_version_wrote_is_still_there, make_dir, remove_dir)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena arena = {0};
    make_first_version(dir);
    struct store *store = open_store(dir);
    struct reader *reader;
    struct job_rec job;
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    struct exec_page page;
    assert_int_equal(store->ops->reader(store, &reader, NULL), RC_OK);
    assert_int_equal(reader->ops->job(reader, 1, &arena, &job, NULL), RC_OK);
    assert_int_equal(job.state, JOB_COMPLETED);
    assert_int_equal(job.finished_ms, 20);
    assert_true(str_eq(job.trail, STR("a;b;")));
    assert_int_equal(reader->ops->exec(reader, 2, &arena, &exec, &attempts, &count, NULL), RC_OK);
    assert_int_equal(count, 1);
    assert_int_equal(attempts[0].usage.cpu_ms, 3);
    for (uint64_t id = 1; id <= 3; id += 2) { /* each job knows its execution */
        struct filter filter = {.job_id = id};
        assert_int_equal(
            reader->ops->execs(reader, &filter, &(struct page){.limit = 9}, &arena, &page, NULL),
            RC_OK);
        assert_int_equal(page.count, 1);
        assert_int_equal(page.execs[0].id, id + 1);
    }
    reader->ops->close(reader);
    assert_int_equal(load_count(store), 1);
    store->ops->close(store);
}

/* The execution that waited there ends as any other does, and with it its job. */
static void finish_what_waited(struct store *store)
{
    struct ownership own;
    struct attempt_rec attempt = {.exec_id = 4,
                                  .token = 1,
                                  .number = 1,
                                  .worker_id = 9,
                                  .ended_ms = 30,
                                  .outcome = OUTCOME_FAILED,
                                  .usage = {.exit_code = 3},
                                  .with_exec = true};
    struct job_change job = {
        .kind = CHANGE_UPDATE,
        .job = {.id = 3, .version = 1, .state = JOB_FAILED, .finished_ms = 30, .last_exec = 4},
        .step = STR("b;"),
        .with_exec = true};
    struct exec_change exec = {.kind = CHANGE_FINISH,
                               .exec = {.id = 4,
                                        .job_id = 3,
                                        .state = EXEC_FAILED,
                                        .finished_ms = 30,
                                        .token = 1,
                                        .queue = STR("default")},
                               .step = STR("d;"),
                               .ends_job = &job,
                               .ends_attempt = &attempt};
    struct delta delta = {.jobs = &job,
                          .job_count = 1,
                          .execs = &exec,
                          .exec_count = 1,
                          .attempts = &attempt,
                          .attempt_count = 1};
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    delta.turn = own.turn_floor + 1;
    assert_int_equal(store->ops->commit(store, &own, &delta, NULL), RC_OK);
}

/* A job of the first version that had ended is made active again, with a second execution. */
static void run_again(struct store *store, uint64_t job_id, uint64_t exec_id)
{
    struct ownership own;
    struct job_change job = {
        .kind = CHANGE_UPDATE,
        .job = {.id = job_id, .version = 1, .state = JOB_ACTIVE, .last_exec = exec_id},
        .step = STR("r;")};
    struct exec_change exec = {
        .kind = CHANGE_INSERT,
        .exec = {.id = exec_id, .job_id = job_id, .state = EXEC_QUEUED, .queue = STR("default")}};
    struct delta delta = {.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1};
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    delta.turn = own.turn_floor + 1;
    assert_int_equal(store->ops->commit(store, &own, &delta, NULL), RC_OK);
}

static void assert_job(struct reader *reader, uint64_t id, enum job_state state,
                       int64_t finished_ms, const char *trail)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct filter filter = {.states = FILTER_STATE(state)};
    struct job_page page;
    struct job_rec job;
    assert_int_equal(reader->ops->job(reader, id, &arena, &job, NULL), RC_OK);
    assert_int_equal(job.state, state);
    assert_int_equal(job.finished_ms, finished_ms);
    assert_true(str_eq(job.trail, str_c(trail)));
    assert_int_equal(
        reader->ops->jobs(reader, &filter, &(struct page){.limit = 9}, &arena, &page, NULL), RC_OK);
    assert_int_equal(page.count, 1); /* each of the two is alone in its state */
    assert_int_equal(page.jobs[0].id, id);
}

TEST(what_the_first_version_began_goes_on, make_dir, remove_dir)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena arena = {0};
    make_first_version(dir);
    struct store *store = open_store(dir);
    struct reader *reader;
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    assert_int_equal(store->ops->reader(store, &reader, NULL), RC_OK);
    finish_what_waited(store);
    run_again(store, 1, 5);
    assert_job(reader, 3, JOB_FAILED, 30, "a;b;");
    assert_job(reader, 1, JOB_ACTIVE, 0, "a;b;r;");
    assert_int_equal(reader->ops->exec(reader, 4, &arena, &exec, &attempts, &count, NULL), RC_OK);
    assert_true(str_eq(exec.trail, STR("c;d;")));
    assert_int_equal(count, 1);
    assert_int_equal(attempts[0].usage.exit_code, 3);
    run_again(store, 3, 6);
    assert_int_equal(load_count(store), 2);
    struct job_rec job;
    assert_int_equal(reader->ops->job(reader, 3, &arena, &job, NULL), RC_OK);
    assert_int_equal(job.state, JOB_ACTIVE);
    assert_int_equal(job.finished_ms, 0);
    assert_true(str_eq(job.trail, STR("a;b;r;")));
    reader->ops->close(reader);
    store->ops->close(store);
}

/* Idempotency keys used to stand among other claims. */
TEST(keys_of_an_older_version_are_still_taken, make_dir, remove_dir)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct ownership own;
    struct question q = {
        .kind = ASK_CLAIM,
        .claim = {.kind = CLAIM_REQUEST, .key = STR("k"), .holder = 8, .until_ms = 5000},
        .now_ms = 10};
    struct question *asked = &q;
    make_first_version(dir);
    for (size_t i = 1; i < 18; i++) {
        char *sql = mem_dup(sqlite_migrations[i].text, sqlite_migrations[i].len);
        run_sql(dir, "belfry.db", sql);
        free(sql);
    }
    run_sql(dir, "belfry.db",
            "INSERT INTO claim VALUES (1, 'k', 3, 0, ''), (2, 'k', 7, 4000, 'answered')");
    struct store *store = open_store(dir);
    assert_int_equal(store->ops->own(store, STR("test"), &own, NULL), RC_OK);
    assert_int_equal(store->ops->admit(store, &own, &asked, 1, &arena, NULL), RC_OK);
    assert_int_equal(q.answer.holder, 7);
    assert_true(str_eq(q.answer.note, STR("answered")));
    q.now_ms = 4000;
    assert_int_equal(store->ops->admit(store, &own, &asked, 1, &arena, NULL), RC_OK);
    assert_int_equal(q.answer.holder, 8);
    store->ops->close(store);
}

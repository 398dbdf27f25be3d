#include "base/id.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

#include <stdlib.h>

enum rc sqlite_snapshot(struct reader *reader, struct db **ret_db, struct err *err)
{
    struct db *db = reader_db(reader);
    TRY(db_begin(db, SQL_BEGIN_READ, err));
    *ret_db = db;
    return RC_OK;
}

void sqlite_snapshot_end(struct db **db)
{
    if (*db != NULL)
        db_rollback(*db); /* it only read */
}

static enum rc makes_no_sense(const struct stmt *stmt, const char *prefix, uint64_t id,
                              struct err *err)
{
    return err_set(err, RC_CORRUPT, "%s: the row of %s is corrupt", stmt->db->path,
                   ID_TEXT(prefix, id));
}

static enum rc read_job(struct reader *reader, uint64_t id, struct arena *arena,
                        struct job_rec *ret_job, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_JOB);
    bool found;
    struct job_rec job;
    stmt_u64(&stmt, id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return err_set(err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, id));
    struct row row = stmt_row(&stmt, arena);
    row_job(&row, &job);
    job.payload = row_text(&row);
    job.trail = row_text(&row);
    if (row.bad)
        return makes_no_sense(&stmt, ID_JOB, id, err);
    *ret_job = job;
    return RC_OK;
}

static enum rc find_exec(struct db *db, enum sql sql, uint64_t id, struct arena *arena,
                         struct exec_rec *ret_exec, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, sql);
    bool found;
    struct exec_rec exec;
    stmt_u64(&stmt, id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return err_set(err, RC_NOT_FOUND, "there is no execution %s", ID_TEXT(ID_EXEC, id));
    struct row row = stmt_row(&stmt, arena);
    row_exec(&row, &exec);
    exec.result = row_text(&row);
    exec.trail = row_text(&row);
    if (row.bad)
        return makes_no_sense(&stmt, ID_EXEC, id, err);
    *ret_exec = exec;
    return RC_OK;
}

static enum rc read_attempts(struct db *db, uint64_t exec_id, struct arena *arena,
                             struct attempt_rec **ret_attempts, size_t *ret_count, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_READ_ATTEMPTS);
    VEC(struct attempt_rec) attempts = {0};
    stmt_u64(&stmt, exec_id);
    for (;;) {
        bool found;
        struct attempt_rec attempt;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_attempt(&row, &attempt))
            *VEC_PUSH(arena, &attempts) = attempt;
    }
    *ret_attempts = attempts.items;
    *ret_count = attempts.len;
    return RC_OK;
}

static enum rc read_exec(struct reader *reader, uint64_t id, struct arena *arena,
                         struct exec_rec *ret_exec, struct attempt_rec **ret_attempts,
                         size_t *ret_count, struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    TRY(sqlite_snapshot(reader, &db, err));
    enum rc rc = find_exec(db, SQL_READ_LIVE, id, arena, ret_exec, err);
    if (rc == RC_NOT_FOUND)
        rc = find_exec(db, SQL_READ_HISTORY, id, arena, ret_exec, err);
    TRY(rc);
    if (ret_exec->own_payload)
        TRY(sqlite_payload(db, SQL_READ_PAYLOAD, id, arena, &ret_exec->payload, err));
    return read_attempts(db, id, arena, ret_attempts, ret_count, err);
}

static enum rc read_grant(struct reader *reader, uint64_t exec_id, uint64_t token,
                          struct grant *ret_grant, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_GRANT);
    bool found;
    stmt_u64(&stmt, exec_id);
    stmt_u64(&stmt, token);
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    if (!row_grant(&row, ret_grant))
        return makes_no_sense(&stmt, ID_EXEC, exec_id, err);
    return RC_OK;
}

static enum rc read_dependencies(struct reader *reader, uint64_t job_id, enum dependency_side side,
                                 size_t max, struct arena *arena,
                                 struct dependency_rec **ret_dependencies, size_t *ret_count,
                                 struct err *err)
{
    CLEANUP(stmt_end)
    struct stmt stmt = db_stmt(reader_db(reader),
                               side == SIDE_UPSTREAMS ? SQL_READ_UPSTREAMS : SQL_READ_DEPENDANTS);
    VEC(struct dependency_rec) found = {0};
    stmt_u64(&stmt, job_id);
    stmt_u64(&stmt, max);
    for (;;) {
        bool more;
        struct dependency_rec dependency;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_dependency(&row, &dependency))
            *VEC_PUSH(arena, &found) = dependency;
    }
    *ret_dependencies = found.items;
    *ret_count = found.len;
    return RC_OK;
}

static enum rc list_alerts(struct reader *reader, enum alert_state state, const struct page *page,
                           struct arena *arena, struct alert_page *ret_page, struct err *err)
{
    enum sql sql = state == ALERT_PENDING ? SQL_LIST_ALERTS_PENDING : SQL_LIST_ALERTS;
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), sql);
    VEC(struct alert_rec) found = {0};
    stmt_i64(&stmt, page->before == 0 ? INT64_MAX : (int64_t)page->before);
    stmt_u64(&stmt, page->limit + 1);
    for (;;) {
        bool more;
        struct alert_rec alert;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_alert(&row, &alert))
            *VEC_PUSH(arena, &found) = alert;
    }
    *ret_page = (struct alert_page){.alerts = found.items, .count = found.len};
    if (found.len > page->limit) {
        ret_page->count = page->limit;
        ret_page->next = found.items[page->limit - 1].id;
    }
    return RC_OK;
}

static enum rc read_tally_of(struct db *db, enum tally_scope scope, struct str key,
                             int64_t from_hour, int64_t until_hour, struct tally_sum *ret_sum,
                             struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_READ_TALLY);
    stmt_i64(&stmt, scope);
    stmt_text(&stmt, key);
    stmt_i64(&stmt, from_hour);
    stmt_i64(&stmt, until_hour);
    *ret_sum = (struct tally_sum){0};
    for (;;) {
        bool found;
        struct tally tally;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_tally(&row, &tally)) {
            tally.scope = scope;
            tally_add(ret_sum, &tally);
        }
    }
}

static enum rc read_tally(struct reader *reader, enum tally_scope scope, const struct str *keys,
                          size_t count, int64_t from_hour, int64_t until_hour,
                          struct tally_sum *ret_sums, struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    TRY(sqlite_snapshot(reader, &db, err));
    for (size_t i = 0; i < count; i++)
        TRY(read_tally_of(db, scope, keys[i], from_hour, until_hour, &ret_sums[i], err));
    return RC_OK;
}

static enum rc read_tallies(struct reader *reader, enum tally_scope scope, int64_t from_hour,
                            int64_t until_hour, tally_sink *sink, void *arg, struct err *err)
{
    CLEANUP(stmt_end)
    struct stmt stmt =
        db_stmt(reader_db(reader), tally_is_sla(scope) ? SQL_READ_SLA_TALLIES : SQL_READ_TALLIES);
    stmt_i64(&stmt, scope);
    stmt_i64(&stmt, from_hour);
    stmt_i64(&stmt, until_hour);
    for (;;) {
        bool found;
        struct tally tally;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_tally_of_key(&row, scope, &tally))
            sink(arg, &tally);
    }
}

static enum rc read_sla_since(struct reader *reader, int64_t *ret_ms, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_SLA_SINCE);
    bool found;
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    *ret_ms = found ? row_i64(&row) : 0;
    return RC_OK;
}

static enum rc read_counters(struct reader *reader, struct arena *arena,
                             struct counter **ret_counters, size_t *ret_count, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_COUNTERS);
    VEC(struct counter) counters = {0};
    for (;;) {
        bool found;
        struct counter counter;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_counter(&row, &counter))
            *VEC_PUSH(arena, &counters) = counter;
    }
    *ret_counters = counters.items;
    *ret_count = counters.len;
    return RC_OK;
}

static enum rc list_sla_events(struct reader *reader, uint64_t job_id, uint64_t exec_id,
                               const struct page *page, struct arena *arena,
                               struct sla_page *ret_page, struct err *err)
{
    enum sql sql = exec_id != 0 ? SQL_LIST_SLA_EVENTS_OF_EXEC : SQL_LIST_SLA_EVENTS_OF_JOB;
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), sql);
    VEC(struct sla_event_rec) found = {0};
    stmt_u64(&stmt, exec_id != 0 ? exec_id : job_id);
    stmt_i64(&stmt, page->before == 0 ? INT64_MAX : (int64_t)page->before);
    stmt_u64(&stmt, page->limit + 1);
    for (;;) {
        bool more;
        struct sla_event_rec event;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_sla_event(&row, &event))
            *VEC_PUSH(arena, &found) = event;
    }
    *ret_page = (struct sla_page){.events = found.items, .count = found.len};
    if (found.len > page->limit) {
        ret_page->count = page->limit;
        ret_page->next = found.items[page->limit - 1].id;
    }
    return RC_OK;
}

static enum rc read_calendar(struct reader *reader, struct str name, struct arena *arena,
                             struct calendar_rec *ret_calendar, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_CALENDAR);
    bool found;
    stmt_text(&stmt, name);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return err_set(err, RC_NOT_FOUND, "there is no calendar '%.*s'", STR_ARG(name));
    struct row row = stmt_row(&stmt, arena);
    if (!row_calendar(&row, ret_calendar))
        return err_set(err, RC_CORRUPT, "%s: the row of calendar '%.*s' is corrupt", stmt.db->path,
                       STR_ARG(name));
    return RC_OK;
}

static enum rc read_calendars(struct reader *reader, struct arena *arena,
                              struct calendar_rec **ret_calendars, size_t *ret_count,
                              struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_CALENDARS);
    VEC(struct calendar_rec) found = {0};
    for (;;) {
        bool more;
        struct calendar_rec calendar;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_calendar(&row, &calendar))
            *VEC_PUSH(arena, &found) = calendar;
    }
    *ret_calendars = found.items;
    *ret_count = found.len;
    return RC_OK;
}

static enum rc read_silences(struct reader *reader, struct arena *arena,
                             struct silence_rec **ret_silences, size_t *ret_count, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_SILENCES);
    VEC(struct silence_rec) found = {0};
    for (;;) {
        bool more;
        struct silence_rec silence;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_silence(&row, &silence))
            *VEC_PUSH(arena, &found) = silence;
    }
    *ret_silences = found.items;
    *ret_count = found.len;
    return RC_OK;
}

/* ---- what people write in place of an id */

static enum rc find_named(struct reader *reader, struct str name, uint64_t *ret_id, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_FIND_NAMED);
    bool found;
    stmt_text(&stmt, name);
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    *ret_id = row_u64_or_null(&row);
    return store_named_found(name, *ret_id, err);
}

static enum rc find_ids(struct reader *reader, enum id_kind kind, const struct id_part *part,
                        size_t max, struct arena *arena, uint64_t **ret_ids, size_t *ret_count,
                        struct err *err)
{
    CLEANUP(stmt_end)
    struct stmt stmt =
        db_stmt(reader_db(reader), kind == ID_KIND_JOB ? SQL_FIND_JOBS : SQL_FIND_EXECS);
    VEC(uint64_t) ids = {0};
    stmt_u64(&stmt, part->min);
    stmt_u64(&stmt, part->end);
    stmt_i64(&stmt, LIST_SCAN_MAX);
    stmt_u64(&stmt, part->mask);
    stmt_u64(&stmt, part->tail);
    stmt_u64(&stmt, max);
    for (;;) {
        bool more;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, NULL);
        *VEC_PUSH(arena, &ids) = row_u64(&row);
    }
    *ret_ids = ids.items;
    *ret_count = ids.len;
    return RC_OK;
}

static enum rc read_versions(struct reader *reader, uint64_t job_id, uint32_t newest, size_t max,
                             struct arena *arena, struct version_rec **ret_versions,
                             size_t *ret_count, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_READ_VERSIONS);
    VEC(struct version_rec) versions = {0};
    stmt_u64(&stmt, job_id);
    stmt_u64(&stmt, newest);
    stmt_u64(&stmt, max);
    for (bool found = true;;) {
        struct version_rec rec;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_version(&row, &rec))
            *VEC_PUSH(arena, &versions) = rec;
    }
    *ret_versions = versions.items;
    *ret_count = versions.len;
    return RC_OK;
}

static void close_reader(struct reader *reader)
{
    db_close(reader_db(reader));
    free(reader);
}

static const struct reader_ops ops = {
    .find_named = find_named,
    .find_ids = find_ids,
    .job = read_job,
    .exec = read_exec,
    .grant = read_grant,
    .dependencies = read_dependencies,
    .letter = sqlite_read_letter,
    .letters = sqlite_read_letters,
    .letter_groups = sqlite_group_letters,
    .live = sqlite_read_live,
    .operations = sqlite_read_operations,
    .versions = read_versions,
    .calendar = read_calendar,
    .calendars = read_calendars,
    .jobs = sqlite_list_jobs,
    .execs = sqlite_list_execs,
    .sorted = sqlite_list_sorted,
    .ran = sqlite_read_ran,
    .heads = sqlite_read_heads,
    .standings = sqlite_read_standings,
    .newest_attempts = sqlite_read_newest_attempts,
    .runs = store_read_runs,
    .alerts = list_alerts,
    .silences = read_silences,
    .tally = read_tally,
    .tallies = read_tallies,
    .sla_since = read_sla_since,
    .counters = read_counters,
    .sla_events = list_sla_events,
    .rejected = sqlite_list_rejected,
    .about = sqlite_read_about,
    .close = close_reader,
};

enum rc sqlite_reader(struct store *store, struct reader **ret_reader, struct err *err)
{
    struct db db;
    TRY(db_open(&db, sqlite_of(store)->db_path, DB_READER, NULL, err));
    struct sqlite_reader *r = MEM_NEW(struct sqlite_reader);
    *r = (struct sqlite_reader){.reader.ops = &ops, .db = db};
    *ret_reader = &r->reader;
    return RC_OK;
}

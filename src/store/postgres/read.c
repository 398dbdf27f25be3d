/* read.c - the reading side: one connection per handle, one round trip for most calls.
 *
 * A call that is a single statement sees one snapshot by itself. One of several statements begins a
 * transaction for that (pg_begin_snapshot) and ends it in the same pipeline. A connection that was
 * lost is made again and the call repeated, since it only reads. */
#include "base/id.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <stdlib.h>

static enum rc makes_no_sense(const struct pg_call *use, const char *prefix, uint64_t id,
                              struct err *err)
{
    return err_set(err, RC_CORRUPT, "%s: the row of %s is corrupt", pg_label(use),
                   ID_TEXT(prefix, id));
}

static enum rc read_job(struct reader *reader, uint64_t id, struct arena *arena,
                        struct job_rec *ret_job, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_JOB);
    struct job_rec job;
    pg_u64(use, id);
    TRY(pg_run(pg, err));
    if (pg_rows(use) == 0)
        return err_set(err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, id));
    struct row row = pg_row(use, 0, arena);
    row_job(&row, &job);
    job.payload = row_text(&row);
    job.trail = row_text(&row);
    if (row.bad)
        return makes_no_sense(use, ID_JOB, id, err);
    *ret_job = job;
    return RC_OK;
}

static enum rc take_exec(const struct pg_call *use, uint64_t id, struct arena *arena,
                         struct exec_rec *ret_exec, struct err *err)
{
    struct exec_rec exec;
    struct row row = pg_row(use, 0, arena);
    row_exec(&row, &exec);
    exec.result = row_text(&row);
    exec.trail = row_text(&row);
    if (row.bad)
        return makes_no_sense(use, ID_EXEC, id, err);
    *ret_exec = exec;
    return RC_OK;
}

static void take_attempts(const struct pg_call *use, struct arena *arena,
                          struct attempt_rec **ret_attempts, size_t *ret_count)
{
    VEC(struct attempt_rec) attempts = {0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct attempt_rec attempt;
        struct row row = pg_row(use, i, arena);
        if (row_attempt(&row, &attempt))
            *VEC_PUSH(arena, &attempts) = attempt;
    }
    *ret_attempts = attempts.items;
    *ret_count = attempts.len;
}

static struct pg_call *use_id(struct pg *pg, enum query query, uint64_t id)
{
    struct pg_call *use = pg_call(pg, query);
    pg_u64(use, id);
    return use;
}

/* All that could be asked about is asked at once: it is in one of two tables, and its attempts in
 * two. */
static enum rc read_exec(struct reader *reader, uint64_t id, struct arena *arena,
                         struct exec_rec *ret_exec, struct attempt_rec **ret_attempts,
                         size_t *ret_count, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    TRY(pg_begin_snapshot(pg, err));
    struct pg_call *live = use_id(pg, Q_READ_LIVE, id);
    struct pg_call *history = use_id(pg, Q_READ_HISTORY, id);
    struct pg_call *attempts = use_id(pg, Q_READ_ATTEMPTS, id);
    struct pg_call *payload = use_id(pg, Q_READ_PAYLOAD, id);
    TRY(pg_commit(pg, err));
    const struct pg_call *found = pg_rows(live) > 0 ? live : history;
    if (pg_rows(found) == 0)
        return err_set(err, RC_NOT_FOUND, "there is no execution %s", ID_TEXT(ID_EXEC, id));
    TRY(take_exec(found, id, arena, ret_exec, err));
    if (pg_rows(payload) > 0) {
        struct row row = pg_row(payload, 0, arena);
        ret_exec->payload = row_text(&row);
    }
    take_attempts(attempts, arena, ret_attempts, ret_count);
    return RC_OK;
}

static enum rc read_grant(struct reader *reader, uint64_t exec_id, uint64_t token,
                          struct grant *ret_grant, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = use_id(pg, Q_READ_GRANT, exec_id);
    pg_u64(use, token);
    TRY(pg_run(pg, err));
    struct row row = pg_row(use, 0, NULL);
    if (!row_grant(&row, ret_grant))
        return makes_no_sense(use, ID_EXEC, exec_id, err);
    return RC_OK;
}

static enum rc read_dependencies(struct reader *reader, uint64_t job_id, enum dependency_side side,
                                 size_t max, struct arena *arena,
                                 struct dependency_rec **ret_dependencies, size_t *ret_count,
                                 struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    enum query query = side == SIDE_UPSTREAMS ? Q_READ_UPSTREAMS : Q_READ_DEPENDANTS;
    struct pg_call *use = use_id(pg, query, job_id);
    VEC(struct dependency_rec) found = {0};
    pg_u64(use, max);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct dependency_rec dependency;
        struct row row = pg_row(use, i, arena);
        if (row_dependency(&row, &dependency))
            *VEC_PUSH(arena, &found) = dependency;
    }
    *ret_dependencies = found.items;
    *ret_count = found.len;
    return RC_OK;
}

static enum rc read_calendar(struct reader *reader, struct str name, struct arena *arena,
                             struct calendar_rec *ret_calendar, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_CALENDAR);
    pg_text(use, name);
    TRY(pg_run(pg, err));
    if (pg_rows(use) == 0)
        return err_set(err, RC_NOT_FOUND, "there is no calendar '%.*s'", STR_ARG(name));
    struct row row = pg_row(use, 0, arena);
    if (!row_calendar(&row, ret_calendar))
        return err_set(err, RC_CORRUPT, "%s: the row of calendar '%.*s' is corrupt", pg_label(use),
                       STR_ARG(name));
    return RC_OK;
}

static enum rc read_calendars(struct reader *reader, struct arena *arena,
                              struct calendar_rec **ret_calendars, size_t *ret_count,
                              struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_CALENDARS);
    VEC(struct calendar_rec) found = {0};
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct calendar_rec calendar;
        struct row row = pg_row(use, i, arena);
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
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_SILENCES);
    VEC(struct silence_rec) found = {0};
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct silence_rec silence;
        struct row row = pg_row(use, i, arena);
        if (row_silence(&row, &silence))
            *VEC_PUSH(arena, &found) = silence;
    }
    *ret_silences = found.items;
    *ret_count = found.len;
    return RC_OK;
}

/* ---- sums */

static void add_rows(struct pg_call *use, enum tally_scope scope, struct tally_sum *ret_sum)
{
    *ret_sum = (struct tally_sum){0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct tally tally;
        struct row row = pg_row(use, i, NULL);
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
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    CLEANUP(arena_free) struct arena arena = {0};
    struct pg_call **uses = ARENA_ARRAY(&arena, struct pg_call *, count + 1);
    for (size_t i = 0; i < count; i++) {
        uses[i] = pg_call(pg, Q_READ_TALLY);
        pg_i64(uses[i], scope);
        pg_text(uses[i], keys[i]);
        pg_i64(uses[i], from_hour);
        pg_i64(uses[i], until_hour);
    }
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < count; i++)
        add_rows(uses[i], scope, &ret_sums[i]);
    return RC_OK;
}

static enum rc read_tallies(struct reader *reader, enum tally_scope scope, int64_t from_hour,
                            int64_t until_hour, tally_sink *sink, void *arg, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, tally_is_sla(scope) ? Q_READ_SLA_TALLIES : Q_READ_TALLIES);
    pg_i64(use, scope);
    pg_i64(use, from_hour);
    pg_i64(use, until_hour);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct tally tally;
        struct row row = pg_row(use, i, NULL);
        if (row_tally_of_key(&row, scope, &tally))
            sink(arg, &tally);
    }
    return RC_OK;
}

static enum rc read_sla_since(struct reader *reader, int64_t *ret_ms, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_SLA_SINCE);
    TRY(pg_run(pg, err));
    *ret_ms = 0;
    if (pg_rows(use) > 0) {
        struct row row = pg_row(use, 0, NULL);
        *ret_ms = row_i64(&row);
    }
    return RC_OK;
}

static enum rc read_counters(struct reader *reader, struct arena *arena,
                             struct counter **ret_counters, size_t *ret_count, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_COUNTERS);
    VEC(struct counter) counters = {0};
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct counter counter;
        struct row row = pg_row(use, i, arena);
        if (row_counter(&row, &counter))
            *VEC_PUSH(arena, &counters) = counter;
    }
    *ret_counters = counters.items;
    *ret_count = counters.len;
    return RC_OK;
}

/* ---- what people write in place of an id */

static enum rc find_named(struct reader *reader, struct str name, uint64_t *ret_id, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_FIND_NAMED);
    pg_text(use, name);
    TRY(pg_run(pg, err));
    struct row row = pg_row(use, 0, NULL);
    *ret_id = row_u64_or_null(&row);
    return store_named_found(name, *ret_id, err);
}

static enum rc find_ids(struct reader *reader, enum id_kind kind, const struct id_part *part,
                        size_t max, struct arena *arena, uint64_t **ret_ids, size_t *ret_count,
                        struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, kind == ID_KIND_JOB ? Q_FIND_JOBS : Q_FIND_EXECS);
    VEC(uint64_t) ids = {0};
    pg_u64(use, part->min);
    pg_u64(use, part->end);
    pg_i64(use, LIST_SCAN_MAX);
    pg_u64(use, part->mask);
    pg_u64(use, part->tail);
    pg_u64(use, max);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, NULL);
        *VEC_PUSH(arena, &ids) = row_u64(&row);
    }
    *ret_ids = ids.items;
    *ret_count = ids.len;
    return RC_OK;
}

/* ---- about many at once: one statement, whose rows begin with the place of the id */

static struct pg_call *ask_about(struct pg *pg, enum query query, const uint64_t *ids, size_t count)
{
    struct pg_call *use = pg_call(pg, query);
    pg_columns(use, "i", count);
    for (size_t i = 0; i < count; i++)
        pg_u64(use, ids[i]);
    return use;
}

/* The row behind the place that it begins with. */
static struct row row_about(const struct pg_call *use, size_t number, size_t count,
                            struct arena *arena, size_t *ret_place)
{
    struct row row = pg_row(use, number, arena);
    *ret_place = (size_t)row_range(&row, 1, (int64_t)count) - 1;
    return row;
}

static enum rc read_jobs_about(struct reader *reader, enum query query, const uint64_t *job_ids,
                               size_t count, struct arena *arena, struct job_rec *ret_jobs,
                               struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = ask_about(pg, query, job_ids, count);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < count; i++)
        ret_jobs[i] = (struct job_rec){0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct job_rec job;
        size_t place;
        struct row row = row_about(use, i, count, arena, &place);
        if (row_job(&row, &job))
            ret_jobs[place] = job;
    }
    return RC_OK;
}

static enum rc read_heads(struct reader *reader, const uint64_t *job_ids, size_t count,
                          struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    return read_jobs_about(reader, Q_READ_HEADS, job_ids, count, arena, ret_jobs, err);
}

static enum rc read_standings(struct reader *reader, const uint64_t *job_ids, size_t count,
                              struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    return read_jobs_about(reader, Q_READ_STANDINGS, job_ids, count, arena, ret_jobs, err);
}

static enum rc read_newest_attempts(struct reader *reader, const uint64_t *exec_ids, size_t count,
                                    struct arena *arena, struct attempt_rec *ret_attempts,
                                    struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = ask_about(pg, Q_READ_NEWEST_ATTEMPTS, exec_ids, count);
    (void)arena;
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < count; i++)
        ret_attempts[i] = (struct attempt_rec){0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct attempt_rec attempt;
        size_t place;
        struct row row = row_about(use, i, count, NULL, &place);
        if (row_attempt_head(&row, &attempt))
            ret_attempts[place] = attempt;
    }
    return RC_OK;
}

/* Rows come job by job, the newest first. */
static enum rc read_runs(struct reader *reader, const uint64_t *job_ids, size_t count,
                         bool unfinished, size_t max, struct arena *arena,
                         struct exec_page *ret_pages, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, unfinished ? Q_READ_UNFINISHED : Q_READ_ENDED);
    pg_u64(use, max);
    pg_columns(use, "i", count);
    for (size_t i = 0; i < count; i++)
        pg_u64(use, job_ids[i]);
    TRY(pg_run(pg, err));
    struct exec_rec *execs = ARENA_ARRAY(arena, struct exec_rec, pg_rows(use) + 1);
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        ret_pages[i] = (struct exec_page){0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        size_t place;
        struct row row = row_about(use, i, count, arena, &place);
        if (!row_exec(&row, &execs[len]))
            continue;
        if (ret_pages[place].count++ == 0)
            ret_pages[place].execs = &execs[len];
        len++;
    }
    return RC_OK;
}

static enum rc read_versions(struct reader *reader, uint64_t job_id, uint32_t newest, size_t max,
                             struct arena *arena, struct version_rec **ret_versions,
                             size_t *ret_count, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_VERSIONS);
    VEC(struct version_rec) versions = {0};
    pg_u64(use, job_id);
    pg_u64(use, newest);
    pg_u64(use, max);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, arena);
        struct version_rec rec;
        if (row_version(&row, &rec))
            *VEC_PUSH(arena, &versions) = rec;
    }
    *ret_versions = versions.items;
    *ret_count = versions.len;
    return RC_OK;
}

/* The texts of read_about, in their order. */
static const char *const about_names[] = {
    "version",         "fsync",       "full_page_writes", "synchronous_commit",
    "max_connections", "connections", "in_recovery",      "bytes",
};

static enum rc read_about(struct reader *reader, struct arena *arena, struct store_about *ret_about,
                          struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_ABOUT);
    TRY(pg_run(pg, err));
    struct row row = pg_row(use, 0, arena);
    *ret_about = (struct store_about){.kind = "postgres", .place = str_c(pg->place->label)};
    for (size_t i = 0; i < COUNT_OF(about_names); i++)
        store_about_add(ret_about, about_names[i], row_text(&row));
    bool direct = row_i64(&row) == PQbackendPID(pg->conn);
    store_about_add(ret_about, "pooler", direct ? STR("no") : STR("yes"));
    ret_about->now_ms = row_i64(&row);
    return row.bad ? err_set(err, RC_CORRUPT, "%s: it says nothing sensible about itself",
                             pg->place->label)
                   : RC_OK;
}

static void close_reader(struct reader *reader)
{
    pg_close(reader_pg(reader));
    free(reader);
}

static const struct reader_ops ops = {
    .find_named = find_named,
    .find_ids = find_ids,
    .job = read_job,
    .exec = read_exec,
    .grant = read_grant,
    .dependencies = read_dependencies,
    .letter = postgres_read_letter,
    .letters = postgres_read_letters,
    .letter_groups = postgres_group_letters,
    .live = postgres_read_live,
    .operations = postgres_read_operations,
    .versions = read_versions,
    .calendar = read_calendar,
    .calendars = read_calendars,
    .jobs = postgres_list_jobs,
    .execs = postgres_list_execs,
    .sorted = postgres_list_sorted,
    .ran = postgres_read_ran,
    .heads = read_heads,
    .standings = read_standings,
    .newest_attempts = read_newest_attempts,
    .runs = read_runs,
    .alerts = postgres_list_alerts,
    .silences = read_silences,
    .tally = read_tally,
    .tallies = read_tallies,
    .sla_since = read_sla_since,
    .counters = read_counters,
    .sla_events = postgres_list_sla_events,
    .rejected = postgres_list_rejected,
    .about = read_about,
    .close = close_reader,
};

enum rc postgres_reader(struct store *store, struct reader **ret_reader, struct err *err)
{
    (void)err; /* it is connected when it is used first, as it is after a loss */
    struct postgres_reader *r = MEM_NEW(struct postgres_reader);
    r->reader.ops = &ops;
    pg_init(&r->pg, &postgres_of(store)->place, true);
    r->pg.end_ms = &r->reader.until_ms;
    *ret_reader = &r->reader;
    return RC_OK;
}

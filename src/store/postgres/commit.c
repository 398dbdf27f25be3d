#include "job/record/delta_ids.h"
#include "job/record/record_fields.h"
#include "store/postgres/grouped_rows.h"
#include "store/postgres/narrow_row.h"
#include "store/postgres/postgres.h"

#include <time.h>

/* What a turn's commit is made from: keep_x is for all rows of the delta's part x. Where they are
 * many, or hot, one statement takes all of them, and an execution's takes its attempt as well, so
 * that the walk calls a function for each part and not for each row. */
struct keeping {
    struct postgres_store *s;
    const struct ownership *own;
    const struct delta *delta;
};

/* ---- jobs: many at a time, a statement for each kind of change */

static bool is_inserted(const struct job_change *change)
{
    return change->kind == CHANGE_INSERT;
}

static bool is_special(const struct job_change *change)
{
    return is_inserted(change) && !plain_job(change);
}

/* One that ends with its execution is told in the execution's row. */
static bool is_updated(const struct job_change *change)
{
    return change->kind == CHANGE_UPDATE && !change->with_exec;
}

static bool is_redefined(const struct job_change *change)
{
    return is_updated(change) && change->redefined;
}

static size_t count_jobs(const struct delta *delta, bool (*is)(const struct job_change *))
{
    size_t count = 0;
    for (size_t i = 0; i < delta->job_count; i++)
        count += is(&delta->jobs[i]);
    return count;
}

static void put_indexed(struct pg_call *use, const struct job_rec *job)
{
    for (size_t i = 0; i < job_indexed_fields.len; i++)
        pg_text_or_null(use, job_indexed_value(job, i));
}

static void insert_jobs(struct pg *pg, const struct delta *delta, size_t count)
{
    struct pg_call *use = pg_call(pg, Q_INSERT_JOBS);
    pg_records(use, PG_NEW_JOB, pg_types(pg, "", &job_row_fields, FIELD_ANY, ""), count);
    pg_columns(use, pg_types(pg, "", &job_indexed_fields, FIELD_ANY, ""), count);
    for (size_t i = 0; i < delta->job_count; i++) {
        struct job_rec job = delta->jobs[i].job;
        if (!is_special(&delta->jobs[i]))
            continue;
        job.trail = delta->jobs[i].step;
        pg_record(use, &job_row_fields, FIELD_ANY, &job);
        put_indexed(use, &job);
    }
}

/* Those that are alike are told together, the others one by one. */
static void insert_plain_jobs(struct pg *pg, const struct delta *delta)
{
    const bool *told = alike_keep_jobs(pg, delta);
    size_t count = 0;
    for (size_t i = 0; i < delta->job_count; i++)
        count += plain_job(&delta->jobs[i]) && (told == NULL || !told[i]);
    if (count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_INSERT_PLAIN_JOBS);
    pg_records(use, PG_PLAIN_JOB, "iiiitttt", count);
    for (size_t i = 0; i < delta->job_count; i++) {
        const struct job_rec *job = &delta->jobs[i].job;
        if (!plain_job(&delta->jobs[i]) || (told != NULL && told[i]))
            continue;
        pg_u64(use, job->id);
        pg_i64(use, job->created_ms);
        pg_u64(use, job->last_exec);
        pg_i64(use, job->priority);
        pg_text(use, job->queue);
        pg_text(use, job->owner);
        pg_text(use, delta->jobs[i].step);
        pg_text(use, job->spec);
    }
}

static void update_jobs(struct pg *pg, const struct delta *delta, size_t count)
{
    enum { GROUPS = FIELD_KEY | FIELD_PROGRESS | FIELD_END };
    struct pg_call *use = pg_call(pg, Q_UPDATE_JOBS);
    pg_u64(use, count);
    pg_columns(use, pg_types(pg, "t", &job_row_fields, GROUPS, ""), count);
    for (size_t i = 0; i < delta->job_count; i++) {
        if (!is_updated(&delta->jobs[i]))
            continue;
        pg_text(use, delta->jobs[i].step);
        pg_record(use, &job_row_fields, GROUPS, &delta->jobs[i].job);
    }
}

static void redefine_jobs(struct pg *pg, const struct delta *delta, size_t count)
{
    enum { GROUPS = FIELD_KEY | FIELD_EDIT | FIELD_DOCUMENT | FIELD_BULK };
    struct pg_call *use = pg_call(pg, Q_REDEFINE_JOBS);
    const char *types = pg_types(pg, "", &job_row_fields, GROUPS, "");
    pg_u64(use, count);
    pg_columns(use, pg_types(pg, types, &job_indexed_fields, FIELD_ANY, ""), count);
    for (size_t i = 0; i < delta->job_count; i++) {
        const struct job_rec *job = &delta->jobs[i].job;
        if (!is_redefined(&delta->jobs[i]))
            continue;
        pg_record(use, &job_row_fields, GROUPS, job);
        put_indexed(use, job);
    }
}

static void keep_jobs(const struct keeping *k)
{
    struct pg *pg = &k->s->pg;
    const struct delta *delta = k->delta;
    static const struct {
        bool (*is)(const struct job_change *);
        void (*keep)(struct pg *, const struct delta *, size_t count);
    } kinds[] = {
        {is_special, insert_jobs}, {is_updated, update_jobs}, {is_redefined, redefine_jobs}};
    insert_plain_jobs(pg, delta);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        size_t count = count_jobs(delta, kinds[i].is);
        if (count > 0)
            kinds[i].keep(pg, delta, count);
    }
}

static void keep_versions(const struct keeping *k)
{
    struct pg *pg = &k->s->pg;
    for (size_t i = 0; i < k->delta->version_count; i++) {
        const struct version_change *change = &k->delta->versions[i];
        pg_u64(pg_call(pg, Q_KEEP_FIRST_VERSION), change->version.job_id);
        pg_record(pg_call(pg, Q_PUT_VERSION), &version_fields, FIELD_ANY, &change->version);
        struct pg_call *trim = pg_call(pg, Q_TRIM_VERSIONS);
        pg_u64(trim, change->version.job_id);
        pg_u64(trim, change->oldest);
    }
}

static void keep_execs(const struct keeping *k)
{
    postgres_keep_execs(&k->s->pg, &k->s->trails, k->delta);
}

/* They are told with the executions, also where no execution changes. */
static void keep_attempts(const struct keeping *k)
{
    (void)k;
}

/* ---- what comes one at a time */

#define ONE_BY_ONE(one, many)                                                                      \
    static void keep_##many(const struct keeping *k)                                               \
    {                                                                                              \
        for (size_t i = 0; i < k->delta->one##_count; i++)                                         \
            keep_##one(&k->s->pg, &k->delta->many[i]);                                             \
    }

static void keep_worker(struct pg *pg, const struct worker_change *change)
{
    const struct worker_rec *worker = &change->worker;
    struct pg_call *use = pg_call(pg, change->forget ? Q_FORGET_WORKER : Q_PUT_WORKER);
    pg_record(use, &worker_fields, change->forget ? FIELD_KEY : FIELD_ANY, worker);
}

static void keep_queue(struct pg *pg, const struct queue_rec *queue)
{
    pg_record(pg_call(pg, Q_PUT_QUEUE), &queue_fields, FIELD_ANY, queue);
}

static void keep_team(struct pg *pg, const struct team_rec *team)
{
    pg_record(pg_call(pg, Q_PUT_TEAM), &team_fields, FIELD_ANY, team);
}

static void keep_rate(struct pg *pg, const struct rate_change *change)
{
    struct pg_call *use = pg_call(pg, change->forget ? Q_FORGET_RATE : Q_PUT_RATE);
    pg_record(use, &rate_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->rate);
}

static void keep_alert(struct pg *pg, const struct alert_rec *alert)
{
    pg_record(pg_call(pg, Q_INSERT_ALERT), &alert_fields, FIELD_ANY, alert);
}

static void keep_alert_mark(struct pg *pg, const struct alert_mark *mark)
{
    struct pg_call *use = pg_call(pg, Q_MARK_ALERT);
    pg_i64(use, mark->state);
    pg_u64(use, mark->id);
}

static void keep_alert_ack(struct pg *pg, const struct alert_ack *ack)
{
    struct pg_call *use = pg_call(pg, Q_ACK_ALERT);
    pg_i64(use, ack->at_ms);
    pg_text(use, ack->by);
    pg_text(use, ack->note);
    pg_u64(use, ack->id);
}

static void keep_silence(struct pg *pg, const struct silence_change *change)
{
    struct pg_call *use = pg_call(pg, change->forget ? Q_FORGET_SILENCE : Q_PUT_SILENCE);
    pg_record(use, &silence_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->silence);
}

static void keep_sla_event(struct pg *pg, const struct sla_event_rec *event)
{
    pg_record(pg_call(pg, Q_INSERT_SLA_EVENT), &sla_event_fields, FIELD_ANY, event);
}

static void bind_partitions(struct pg_call *use, const struct ownership *own)
{
    pg_columns(use, "i", own->partitions);
    for (uint32_t p = 0; p < own->partitions; p++) {
        if (own->epochs[p] != 0)
            pg_i64(use, p);
    }
}

static void keep_clock(struct pg *pg, const struct clock_rec *clock)
{
    struct pg_call *use = pg_call(pg, Q_PUT_CLOCK);
    pg_i64(use, clock->at_ms);
    pg_i64(use, clock->by_ms);
}

static void keep_breaker(struct pg *pg, const struct ownership *own,
                         const struct breaker_rec *breaker)
{
    if (breaker->state == BREAKER_CLOSED) {
        struct pg_call *forget = pg_call(pg, Q_FORGET_BREAKER);
        pg_text(forget, breaker->target);
        bind_partitions(forget, own);
        return;
    }
    struct pg_call *use = pg_call(pg, Q_PUT_BREAKER);
    pg_i64(use, postgres_lowest(own));
    pg_record(use, &breaker_fields, FIELD_ANY, breaker);
}

static void keep_dependency(struct pg *pg, const struct dependency_rec *rec)
{
    pg_record(pg_call(pg, Q_PUT_DEPENDENCY), &dependency_fields, FIELD_ANY, rec);
}

static void keep_calendar(struct pg *pg, const struct calendar_change *change)
{
    struct pg_call *use = pg_call(pg, change->forget ? Q_FORGET_CALENDAR : Q_PUT_CALENDAR);
    pg_record(use, &calendar_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->calendar);
}

static void keep_calendar_use(struct pg *pg, const struct calendar_use *rec)
{
    struct pg_call *use = pg_call(pg, rec->forget ? Q_FORGET_CALENDAR_USE : Q_PUT_CALENDAR_USE);
    pg_text(use, rec->calendar);
    pg_u64(use, rec->job_id);
}

static void keep_breakers(const struct keeping *k)
{
    for (size_t i = 0; i < k->delta->breaker_count; i++)
        keep_breaker(&k->s->pg, k->own, &k->delta->breakers[i]);
}

ONE_BY_ONE(dependency, dependencies)
ONE_BY_ONE(worker, workers)
ONE_BY_ONE(queue, queues)
ONE_BY_ONE(team, teams)
ONE_BY_ONE(rate, rates)
ONE_BY_ONE(calendar, calendars)
ONE_BY_ONE(calendar_use, calendar_uses)
ONE_BY_ONE(silence, silences)
ONE_BY_ONE(sla_event, sla_events)
ONE_BY_ONE(alert, alerts)
ONE_BY_ONE(alert_mark, alert_marks)
ONE_BY_ONE(alert_ack, alert_acks)

/* ---- sums */

enum { FOLD_EVERY = 256 }; /* commits; some thousand rows, and a few milliseconds */

static void keep_counters(const struct keeping *k)
{
    const struct delta *delta = k->delta;
    if (delta->counter_count == 0)
        return;
    struct pg_call *use = pg_call(&k->s->pg, Q_ADD_COUNTERS);
    pg_u64(use, delta->turn);
    pg_columns(use, "iitii", delta->counter_count);
    for (size_t i = 0; i < delta->counter_count; i++) {
        const struct counter *counter = &delta->counters[i];
        pg_i64(use, counter->partition);
        pg_i64(use, counter->kind);
        pg_text(use, counter->queue);
        pg_i64(use, counter->state);
        pg_i64(use, counter->value);
    }
}

static void add_tallies(struct pg *pg, uint32_t partition, const struct delta *delta)
{
    if (delta->tally_count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_ADD_TALLIES);
    pg_i64(use, partition);
    pg_u64(use, delta->turn);
    pg_columns(use, "itiiiii", delta->tally_count);
    for (size_t i = 0; i < delta->tally_count; i++) {
        const struct tally *tally = &delta->tallies[i];
        pg_i64(use, tally->scope);
        pg_text(use, tally->key);
        pg_i64(use, tally->hour);
        pg_i64(use, tally->end);
        pg_i64(use, tally->bucket);
        pg_u64(use, tally->count);
        pg_u64(use, tally->sum_ms);
    }
}

static void keep_tallies(const struct keeping *k)
{
    add_tallies(&k->s->pg, postgres_lowest(k->own), k->delta);
}

/* From which turn on there may be something to fold. A partition that we had not, or not under this
 * epoch, comes with what its former owner left, in turns of any number. */
static uint64_t unfolded_turn(const struct postgres_store *s, const struct ownership *own)
{
    for (uint32_t p = 0; p < own->partitions; p++) {
        if (own->epochs[p] != 0 && own->epochs[p] != s->folded_own.epochs[p])
            return 0;
    }
    return s->folded_turn;
}

static void move_counters(struct postgres_store *s, const struct ownership *own,
                          const struct delta *delta)
{
    if (delta->queue_gone_count == 0)
        return;
    struct pg_call *use = pg_call(&s->pg, Q_MOVE_COUNTERS);
    pg_i64(use, own->partitions);
    pg_i64(use, (int64_t)ownership_set(own).bits);
    pg_u64(use, delta->turn);
    pg_u64(use, unfolded_turn(s, own));
    pg_columns(use, "t", delta->queue_gone_count);
    for (size_t i = 0; i < delta->queue_gone_count; i++) {
        if (delta->queues_gone[i].numbers)
            pg_text(use, delta->queues_gone[i].name);
    }
}

/* Folds all that was added since the last time, and deletes our old marks. */
static void fold(struct postgres_store *s, const struct ownership *own, uint64_t turn)
{
    uint64_t since = unfolded_turn(s, own);
    struct pg_call *counters = pg_call(&s->pg, Q_FOLD_COUNTERS);
    pg_u64(counters, since);
    bind_partitions(counters, own);
    struct pg_call *tallies = pg_call(&s->pg, Q_FOLD_TALLIES);
    pg_u64(tallies, since);
    bind_partitions(tallies, own);
    struct pg_call *turns = pg_call(&s->pg, Q_FORGET_OWN_TURNS);
    pg_text(turns, str_c(s->writer));
    pg_u64(turns, since == 0 ? 0 : since - 1);
    pg_u64(turns, turn);
}

/* ---- the delta */

/* The mark of this commit, which settle will find or not; and where the turn asked nothing, its
 * fence. */
static void keep_turn(struct postgres_store *s, const struct ownership *own, bool fenced,
                      const struct delta *delta, struct ids ids)
{
    struct pg_call *use = pg_call(&s->pg, fenced ? Q_KEEP_TURN_FENCED : Q_KEEP_TURN);
    pg_text(use, str_c(s->writer));
    pg_u64(use, delta->turn);
    pg_u64(use, s->tries);
    pg_u64(use, ids.newest);
    pg_i64(use, ids.drift_ms);
    pg_i64(use, postgres_lowest(own));
    pg_u64(use, own->epochs[postgres_lowest(own)]);
    if (!fenced)
        return;
    pg_u64(use, postgres_owned_count(own));
    pg_u64(use, s->asked.turn);
    pg_text(use, postgres_owner(s));
    postgres_bind_owned(use, own);
}

#define KEEP(one, many, type, alone) keep_##many(k);

static void keep_work(const struct keeping *k)
{
    DELTA_WORK(KEEP)
}

static void keep_letters(const struct keeping *k)
{
    postgres_keep_letters(&k->s->pg, k->delta);
}

static void keep_claims(const struct keeping *k)
{
    postgres_keep_claims(k->s, k->delta);
}

static void keep_settings(const struct keeping *k)
{
    DELTA_SETTINGS(KEEP)
    if (k->delta->clock.at_ms != 0)
        keep_clock(&k->s->pg, &k->delta->clock);
}

static void keep_mail(const struct keeping *k)
{
    postgres_keep_mail(&k->s->pg, k->delta);
}

static void keep_reports(const struct keeping *k)
{
    DELTA_REPORTS(KEEP)
}

static void keep_gone(const struct keeping *k)
{
    move_counters(k->s, k->own, k->delta); /* behind what this turn added */
    postgres_forget(&k->s->pg, k->delta);
}

#define KEEP_GROUP(name, list, part) keep_##name(&k);

static void keep(struct postgres_store *s, const struct ownership *own, const struct delta *delta)
{
    const struct keeping k = {.s = s, .own = own, .delta = delta};
    DELTA_GROUPS(KEEP_GROUP, )
    if (delta_has_settings(delta))
        (void)pg_call(&s->pg, Q_RAISE_SETTINGS);
}

static uint64_t boot_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* A turn that only read ends here; one that asked nothing must still learn whether it was
 * deposed. */
static enum rc end_empty(struct postgres_store *s, const struct ownership *own, struct err *err)
{
    struct pg_call *fence;
    enum rc rc = postgres_turn_begin(s, own, &fence, err);
    if (rc == RC_OK && fence != NULL)
        rc = pg_run(&s->pg, err);
    if (rc == RC_OK)
        rc = postgres_turn_check(s, own, fence, err);
    postgres_turn_abort(s);
    return rc;
}

enum rc postgres_commit(struct store *store, const struct ownership *own, const struct delta *delta,
                        struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    struct pg_call *fence;
    bool fenced = !s->in_turn;
    if (delta_is_empty(delta) && delta->counter_count == 0 && (!s->in_turn || s->taken_claims == 0))
        return end_empty(s, own, err);
    TRY(postgres_turn_begin(s, NULL, &fence, err));
    struct ids ids = {s->newest_id, s->drift_ms};
    ids_add(&ids, s->taken_id);
    ids = delta_ids(ids, delta);
    trails_begin(&s->trails, own);
    s->tries++;
    s->doubt_turn = delta->turn;
    s->doubt_partition = postgres_lowest(own);
    s->doubt_epoch = own->epochs[s->doubt_partition];
    bool folds = s->tries % FOLD_EVERY == 0;
    keep_turn(s, own, fenced, delta, ids);
    keep(s, own, delta);
    if (folds)
        fold(s, own, delta->turn);
    uint64_t start_us = boot_us();
    enum rc rc = pg_commit(&s->pg, err);
    pg_clear(&s->pg);
    s->in_turn = false;
    atomic_fetch_add(&s->commits, 1);
    atomic_fetch_add(&s->commit_us, boot_us() - start_us);
    s->in_doubt = rc == RC_UNKNOWN;
    if (s->in_doubt)
        trails_forget(&s->trails);
    if (rc != RC_OK)
        return rc;
    /* A server that dies before COMMIT was answered leaves all or nothing, and settle, or the next
     * owner, finds the mark or does not. From here on all of it is durable. */
    marks_keep(&s->marks, &s->asked, delta->turn);
    trails_keep(&s->trails, delta);
    s->newest_id = ids.newest;
    s->drift_ms = ids.drift_ms;
    if (folds) {
        s->folded_turn = delta->turn + 1;
        s->folded_own = *own;
    }
    return RC_OK;
}

/* tally.c - what a turn adds to the reports: see job/record/tally.h. Rows of one turn are added up
 * here, so that a turn of a thousand ends writes a handful of them. */
#include "job/record/tally.h"
#include "base/plant.h"
#include "engine/core/model.h"
#include "engine/core/tally.h"
#include "engine/core/undo.h"
#include "engine/ready/ready.h"

enum {
    SCOPES_OF_ONE = TALLY_SLA - TALLY_ALL, /* of an execution, without its SLA */
    FIRST_CAP = 64,
};

/* Rows of the turn, and where each is: a hash table of places, 0 is free. */
struct rows {
    struct arena *arena;
    VEC(struct tally) found;
    uint32_t *index;
    size_t cap; /* a power of two */
    /* The execution before, when others can be like it, and the rows that it went into. Most of a
     * turn are alike, and then nothing is looked up. */
    const struct exec *last;
    uint32_t last_bucket;
    uint32_t last_rows[SCOPES_OF_ONE];
    size_t last_count;
};

static uint64_t hash_of(const struct tally *row)
{
    uint64_t numbers = (uint64_t)row->scope << 56 ^ (uint64_t)row->end << 48 ^
                       (uint64_t)row->bucket << 24 ^ (uint64_t)row->hour;
    return (str_hash(row->key) ^ numbers) * UINT64_C(0x9E3779B97F4A7C15);
}

static bool is_same(const struct tally *a, const struct tally *b)
{
    return a->scope == b->scope && a->end == b->end && a->bucket == b->bucket &&
           a->hour == b->hour && str_eq(a->key, b->key);
}

/* Its place in the index, or the free one where it belongs. */
static uint32_t *find(const struct rows *rows, const struct tally *row)
{
    size_t at = (size_t)(hash_of(row) >> 32) & (rows->cap - 1);
    while (rows->index[at] != 0 && !is_same(&rows->found.items[rows->index[at] - 1], row))
        at = (at + 1) & (rows->cap - 1);
    return &rows->index[at];
}

static void grow(struct rows *rows)
{
    rows->cap = rows->cap == 0 ? FIRST_CAP : rows->cap * 2;
    rows->index = ARENA_ARRAY(rows->arena, uint32_t, rows->cap);
    for (size_t i = 0; i < rows->found.len; i++)
        *find(rows, &rows->found.items[i]) = (uint32_t)i + 1;
}

/* Says which one it went into. */
static uint32_t add_row(struct rows *rows, const struct tally *row)
{
    if (2 * rows->found.len >= rows->cap)
        grow(rows);
    uint32_t *place = find(rows, row);
    if (*place == 0) {
        *VEC_PUSH(rows->arena, &rows->found) = *row;
        *place = (uint32_t)rows->found.len;
    } else {
        rows->found.items[*place - 1].count += row->count;
        rows->found.items[*place - 1].sum_ms += row->sum_ms;
    }
    return *place - 1;
}

/* The same for one of the rows that an execution goes into. */
static void add_own_row(struct rows *rows, const struct tally *row)
{
    rows->last_rows[rows->last_count++] = add_row(rows, row);
}

static bool ended(const struct touched *t)
{
    return t->thing == THING_EXEC && t->durable && tally_counts(t->exec->v.state);
}

static uint32_t bucket_of(const struct engine *e, const struct touched *t, uint64_t duration_ms)
{
    if (t->exec->v.state == EXEC_COMPLETED)
        return (uint32_t)sketch_bucket(duration_ms);
    if (t->exec->v.state == EXEC_DEDUPLICATED)
        return 0;
    return t->attempt > 0 ? (uint32_t)e->turn.attempts.items[t->attempt - 1].class : FAILURE_NONE;
}

static int64_t hour_of(const struct exec *x)
{
    return x->v.finished_ms / TALLY_HOUR_MS;
}

static const struct limit *team_of(const struct job *job)
{
    return job->v.def->rules.track->bars[BAR_TEAM].limit;
}

/* All rows of the one are those of the other. Owners are kept once. */
static bool is_like_last(const struct rows *rows, const struct exec *x, uint32_t bucket)
{
    const struct exec *last = rows->last;
    return last != NULL && x->v.state == last->v.state && bucket == rows->last_bucket &&
           hour_of(x) == hour_of(last) &&
           x->job->v.def->rules.queue == last->job->v.def->rules.queue &&
           x->job->owner == last->job->owner && team_of(x->job) == team_of(last->job) &&
           x->job->v.def->schedule == NULL;
}

static void add_again(struct rows *rows, uint64_t took_ms)
{
    for (size_t i = 0; i < rows->last_count; i++) {
        rows->found.items[rows->last_rows[i]].count++;
        rows->found.items[rows->last_rows[i]].sum_ms += took_ms;
    }
}

static struct str key_of(const struct engine *e, uint64_t job_id)
{
    char id[ID_TEXT_MAX];
    return arena_str(e->turn.arena, id_format(id, ID_JOB, job_id));
}

/* ---- how jobs stand to their SLAs */

void tally_keys_free(struct tally_keys *keys)
{
    for (size_t i = 0; i < COUNT_OF(keys->named); i++)
        map_free(&keys->named[i]);
}

/* Whether the key has rows of its own in this hour: the first TALLY_SLA_KEYS_MAX of it have. A row
 * of the hour before goes by this one, so that turns around the full hour do not begin anew each
 * time; an older one tells that the clock was set back. */
static bool is_named(struct tally_keys *keys, const struct tally *row)
{
    if (row->hour > keys->hour || row->hour < keys->hour - 1) {
        tally_keys_free(keys);
        keys->hour = row->hour;
    }
    struct map *named = &keys->named[row->scope - TALLY_SLA_QUEUE];
    uint64_t hash = str_hash(row->key);
    if (map_get(named, hash) != NULL)
        return true;
    if (named->len >= TALLY_SLA_KEYS_MAX)
        return false;
    map_put(named, hash, keys); /* any value: only the keys are of interest */
    return true;
}

static void add_named(struct engine *e, struct rows *rows, enum tally_scope scope, struct str key,
                      struct tally row)
{
    row.scope = scope;
    row.key = key;
    row.end = EXEC_COMPLETED;
    if (!is_named(&e->tally_keys, &row))
        row.key = STR("");
    add_row(rows, &row);
}

/* An event of an SLA, in the rows of all that its job belongs to. */
static void add_sla_event(struct engine *e, struct rows *rows, const struct job *job,
                          const struct limit *team, struct tally row)
{
    if (job->v.def->schedule != NULL) {
        row.scope = TALLY_SLA;
        row.key = key_of(e, job->id);
        add_row(rows, &row);
    } else if (PLANTED(sla_tally_by_job)) {
        return;
    }
    add_named(e, rows, TALLY_SLA_QUEUE, job->v.def->rules.queue->name, row);
    if (PLANTED(overrun_of_nobody) && row.bucket == TALLY_SLA_OVERRUN)
        return;
    if (job->owner->len > 0)
        add_named(e, rows, TALLY_SLA_OWNER, *job->owner, row);
    if (team != NULL)
        add_named(e, rows, TALLY_SLA_TEAM, team->key, row);
}

/* How an execution stood to its SLA when it ended. */
static void add_sla(struct engine *e, struct rows *rows, const struct exec *x, struct tally row)
{
    int64_t took_ms = x->v.finished_ms - x->v.sla_since_ms;
    row.bucket = x->v.sla_marks & SLA_BROKEN ? TALLY_SLA_BROKEN : TALLY_SLA_MET;
    row.sum_ms = took_ms > 0 ? (uint64_t)took_ms : 0;
    add_sla_event(e, rows, x->job, team_of(x->job), row);
    if ((x->v.sla_marks & (SLA_EXCEEDED | SLA_COUNTED)) == 0)
        return; /* it began before that was marked */
    row.bucket = x->v.sla_marks & SLA_EXCEEDED ? TALLY_SLA_EXCEEDED : TALLY_SLA_EXPECTED;
    add_sla_event(e, rows, x->job, team_of(x->job), row);
}

/* An attempt took longer than it may, and is over. */
static void add_overrun(struct engine *e, struct rows *rows, const struct sla_event_rec *event)
{
    const struct job *job = map_get(&e->jobs, event->job_id);
    if (event->kind != SLA_EVENT_END || job == NULL)
        return;
    struct tally row = {
        .hour = event->at_ms / TALLY_HOUR_MS,
        .end = EXEC_COMPLETED, /* of an attempt, however it ended */
        .bucket = TALLY_SLA_OVERRUN,
        .count = 1,
        .sum_ms = (uint64_t)sla_event_overrun_ms(event),
    };
    add_sla_event(e, rows, job, team_of(job), row);
    row.bucket = TALLY_SLA_PERCENT;
    row.sum_ms = (uint64_t)sla_event_violation_bp(event);
    add_sla_event(e, rows, job, team_of(job), row);
}

/* ---- how executions ended */

static void add_exec(struct engine *e, struct rows *rows, const struct exec *x, struct tally row)
{
    const struct job *job = x->job;
    const struct limit *team = team_of(job);
    rows->last_count = 0;
    row.scope = TALLY_ALL;
    add_own_row(rows, &row);
    row.scope = TALLY_QUEUE;
    row.key = job->v.def->rules.queue->name;
    add_own_row(rows, &row);
    if (job->owner->len > 0) {
        row.scope = TALLY_OWNER;
        row.key = *job->owner;
        add_own_row(rows, &row);
    }
    if (team != NULL) {
        row.scope = TALLY_TEAM;
        row.key = team->key;
        add_own_row(rows, &row);
    }
    if (job->v.def->schedule != NULL) {
        row.scope = TALLY_JOB;
        row.key = key_of(e, job->id);
        add_own_row(rows, &row);
    }
    rows->last = job->v.def->schedule == NULL ? x : NULL;
    rows->last_bucket = row.bucket;
}

static void add(struct engine *e, struct rows *rows, const struct touched *t)
{
    const struct exec *x = t->exec;
    bool ran = x->v.state != EXEC_DEDUPLICATED; /* else its end is not the end of a run */
    int64_t took_ms = ran ? x->v.finished_ms - x->v.started_ms : 0;
    struct tally row = {
        .hour = hour_of(x),
        .end = x->v.state,
        .count = 1,
        .sum_ms = took_ms > 0 ? (uint64_t)took_ms : 0,
    };
    row.bucket = bucket_of(e, t, row.sum_ms);
    if (is_like_last(rows, x, row.bucket))
        add_again(rows, row.sum_ms);
    else
        add_exec(e, rows, x, row);
    if (x->v.sla_since_ms != 0)
        add_sla(e, rows, x, row);
}

void tally_seal(struct engine *e)
{
    struct rows rows = {.arena = e->turn.arena};
    for (size_t i = 0; i < e->turn.touched.len; i++) {
        if (ended(e->turn.touched.items[i]))
            add(e, &rows, e->turn.touched.items[i]);
    }
    for (size_t i = 0; i < e->turn.sla_events.len; i++)
        add_overrun(e, &rows, &e->turn.sla_events.items[i]);
    e->turn.delta.tallies = rows.found.items;
    e->turn.delta.tally_count = rows.found.len;
}

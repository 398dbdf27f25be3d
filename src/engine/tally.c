/* tally.c - what a turn adds to the reports: see job/tally.h. Rows of one turn are added up here, so
 * that a turn of a thousand ends writes a handful of them. */
#include "job/tally.h"
#include "engine/internal.h"

enum { SCOPES_OF_ONE = TALLY_SCOPES - TALLY_ALL };

/* Rows of the turn, and where each is: a hash table of places, 0 is free. */
struct rows {
    struct tally *items;
    size_t len;
    uint32_t *index;
    size_t mask;
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

static void add_row(struct rows *rows, const struct tally *row)
{
    size_t at = (size_t)(hash_of(row) >> 32) & rows->mask;
    for (; rows->index[at] != 0; at = (at + 1) & rows->mask) {
        struct tally *other = &rows->items[rows->index[at] - 1];
        if (!is_same(other, row))
            continue;
        other->count += row->count;
        other->sum_ms += row->sum_ms;
        return;
    }
    rows->items[rows->len++] = *row;
    rows->index[at] = (uint32_t)rows->len;
}

static bool ended(const struct touched *t)
{
    return t->thing == THING_EXEC && t->durable && tally_counts(t->exec->v.state);
}

static uint32_t bucket_of(const struct engine *e, const struct touched *t, uint64_t duration_ms)
{
    if (t->exec->v.state == EXEC_COMPLETED)
        return (uint32_t)sketch_bucket(duration_ms);
    return t->attempt > 0 ? (uint32_t)e->attempts.items[t->attempt - 1].class : FAILURE_NONE;
}

static void add_exec(struct engine *e, struct rows *rows, const struct touched *t)
{
    const struct exec *x = t->exec;
    const struct job *job = x->job;
    const struct limit *team = job->v.def->track->bars[BAR_TEAM].limit;
    int64_t took_ms = x->v.finished_ms - x->v.started_ms;
    struct tally row = {
        .scope = TALLY_ALL,
        .hour = x->v.finished_ms / TALLY_HOUR_MS,
        .end = x->v.state,
        .count = 1,
        .sum_ms = took_ms > 0 ? (uint64_t)took_ms : 0,
    };
    row.bucket = bucket_of(e, t, row.sum_ms);
    add_row(rows, &row);
    row.scope = TALLY_QUEUE;
    row.key = job->v.def->queue->name;
    add_row(rows, &row);
    if (job->owner.len > 0) {
        row.scope = TALLY_OWNER;
        row.key = job->owner;
        add_row(rows, &row);
    }
    if (team != NULL) {
        row.scope = TALLY_TEAM;
        row.key = team->key;
        add_row(rows, &row);
    }
    if (job->v.def->schedule != NULL) {
        char id[ID_TEXT_MAX];
        row.scope = TALLY_JOB;
        row.key = arena_str(e->arena, id_format(id, ID_JOB, job->id));
        add_row(rows, &row);
    }
}

void tally_seal(struct engine *e)
{
    size_t ends = 0;
    for (size_t i = 0; i < e->touched.len; i++)
        ends += ended(e->touched.items[i]);
    if (ends == 0)
        return;
    size_t cap = 16;
    while (cap < 2 * ends * SCOPES_OF_ONE)
        cap *= 2;
    struct rows rows = {
        .items = ARENA_ARRAY(e->arena, struct tally, ends * SCOPES_OF_ONE),
        .index = ARENA_ARRAY(e->arena, uint32_t, cap),
        .mask = cap - 1,
    };
    for (size_t i = 0; i < e->touched.len; i++) {
        if (ended(e->touched.items[i]))
            add_exec(e, &rows, e->touched.items[i]);
    }
    e->delta.tallies = rows.items;
    e->delta.tally_count = rows.len;
}

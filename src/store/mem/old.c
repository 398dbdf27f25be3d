/* old.c - questions of a turn about the past: records that may be too old, and usual durations. */
#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>

/* A standing rule waits for the job. */
static bool is_upstream(const struct mem_store *m, uint64_t job_id)
{
    for (size_t i = 0; i < m->dependencies.cap; i++) {
        const struct dependency_rec *rule = m->dependencies.slots[i].value;
        if (rule != NULL && rule->upstream == job_id && rule->state == DEPENDENCY_PER_SLOT)
            return true;
    }
    return false;
}

static bool is_named(const struct mem_store *m, const struct exec_rec *exec)
{
    if (!is_upstream(m, exec->job_id))
        return false;
    MAP_EACH(&m->history, slot)
    {
        const struct exec_rec *other = slot->value;
        if (other->job_id == exec->job_id && other->origin == ORIGIN_SLOT && other->id > exec->id)
            return false;
    }
    return true;
}

void mem_answer_old(struct mem_store *m, const struct partition_set *owned, struct arena *arena,
                    struct question *q)
{
    const struct exec_rec **found = ARENA_ARRAY(arena, const struct exec_rec *, m->history.len);
    size_t count = 0;
    MAP_EACH(&m->history, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (exec->id > q->after_id && exec->created_ms < q->until_ms &&
            partition_has(owned, exec->id))
            found[count++] = exec;
    }
    qsort(found, count, sizeof(struct exec_rec *), exec_by_id);
    q->answer.more = count > q->limit;
    count = count < q->limit ? count : q->limit;
    struct old_exec *old = ARENA_ARRAY(arena, struct old_exec, count);
    for (size_t i = 0; i < count; i++)
        old[i] =
            (struct old_exec){found[i]->id, found[i]->finished_ms,
                              map_get(&m->letters, found[i]->id) != NULL, is_named(m, found[i])};
    q->answer.old = old;
    q->answer.old_count = count;
}

static int alert_by_id(const void *a, const void *b)
{
    uint64_t left = ((const struct old_alert *)a)->id;
    uint64_t right = ((const struct old_alert *)b)->id;
    return left < right ? -1 : left > right;
}

void mem_answer_old_alerts(struct mem_store *m, const struct partition_set *owned,
                           struct arena *arena, struct question *q)
{
    struct old_alert *old = ARENA_ARRAY(arena, struct old_alert, m->alerts.len + 1);
    size_t count = 0;
    MAP_EACH(&m->alerts, slot)
    {
        const struct alert_rec *alert = slot->value;
        if (alert->id > q->after_id && alert->at_ms < q->until_ms &&
            partition_has(owned, alert->id))
            old[count++] = (struct old_alert){alert->id, alert->at_ms, alert->state};
    }
    qsort(old, count, sizeof *old, alert_by_id);
    q->answer.more = count > q->limit;
    q->answer.old_alerts = old;
    q->answer.old_alert_count = count < q->limit ? count : q->limit;
}

static int tally_by_hour(const void *a, const void *b)
{
    const struct tally *left = a;
    const struct tally *right = b;
    if (left->hour != right->hour)
        return left->hour < right->hour ? -1 : 1;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    int key = str_cmp(left->key, right->key);
    if (key != 0 || left->end == right->end)
        return key != 0 ? key : left->bucket < right->bucket ? -1 : left->bucket > right->bucket;
    return left->end < right->end ? -1 : 1;
}

void mem_answer_old_tallies(struct mem_store *m, const struct partition_set *owned,
                            struct arena *arena, struct question *q)
{
    struct tally *old = ARENA_ARRAY(arena, struct tally, m->tallies.len + 1);
    size_t count = 0;
    for (size_t i = 0; i < m->tallies.cap; i++) {
        const struct tally *row = m->tallies.slots[i].value;
        if (row == NULL || row->hour >= q->hour || !partition_has_bucket(owned, 0))
            continue;
        old[count++] = (struct tally){.scope = row->scope,
                                      .key = arena_str(arena, row->key),
                                      .hour = row->hour,
                                      .end = row->end,
                                      .bucket = row->bucket};
    }
    qsort(old, count, sizeof *old, tally_by_hour);
    q->answer.more = count > q->limit;
    q->answer.tallies = old;
    q->answer.tally_count = count < q->limit ? count : q->limit;
}

/* Newest first. */
static int tally_by_age(const void *a, const void *b)
{
    return -tally_by_hour(a, b);
}

void mem_answer_pace(struct mem_store *m, struct arena *arena, struct question *q)
{
    struct tally *rows = ARENA_ARRAY(arena, struct tally, m->tallies.len + 1);
    struct sketch *pace = ARENA_NEW(arena, struct sketch);
    size_t count = 0;
    for (size_t i = 0; i < m->tallies.cap; i++) {
        const struct tally *row = m->tallies.slots[i].value;
        if (row != NULL && row->scope == TALLY_JOB && row->end == EXEC_COMPLETED &&
            str_eq(row->key, q->name))
            rows[count++] = *row;
    }
    qsort(rows, count, sizeof *rows, tally_by_age);
    for (size_t i = 0; i < count && i < q->limit; i++)
        sketch_put(pace, rows[i].bucket, rows[i].count);
    q->answer.pace = pace;
}

void mem_forget_queue(struct mem_store *m, const struct ownership *own,
                      const struct queue_gone *gone)
{
    size_t kept = 0;
    size_t count = m->counter_count;
    if (gone->settings)
        kept_queue_free(strmap_remove(&m->queues, gone->name));
    if (!gone->numbers)
        return;
    struct counter *moved = mem_new(count * sizeof *moved + 1);
    for (size_t i = 0; i < count; i++) {
        struct counter row = m->counters[i];
        if (own->epochs[row.partition] != 0 && str_eq(row.queue, gone->name))
            moved[i - kept] = row;
        else
            m->counters[kept++] = row;
    }
    m->counter_count = kept;
    for (size_t i = 0; i < count - kept; i++) {
        kept_text_free(&moved[i].queue);
        moved[i].queue = STR("");
        mem_add_counter(m, &moved[i]);
    }
    free(moved);
}

/* operations.c - what is done with many jobs, executions or dead letters: what turns ask about it,
 * and reading. */
#include "base/vec.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>

/* ---- rows */

static int by_id(const void *a, const void *b)
{
    const struct operation_rec *left = *(const struct operation_rec *const *)a;
    const struct operation_rec *right = *(const struct operation_rec *const *)b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left->partition < right->partition ? -1 : left->partition > right->partition;
}

const struct operation_rec **mem_operations(const struct mem_store *m, struct arena *arena,
                                            size_t *ret_count)
{
    size_t count = 0;
    for (size_t i = 0; i < PARTITIONS_MAX; i++)
        count += m->operations[i].len;
    const struct operation_rec **all = ARENA_ARRAY(arena, const struct operation_rec *, count);
    count = 0;
    for (size_t i = 0; i < PARTITIONS_MAX; i++) {
        MAP_EACH(&m->operations[i], slot)
        all[count++] = slot->value;
    }
    if (count > 0)
        qsort(all, count, sizeof(struct operation_rec *), by_id);
    *ret_count = count;
    return all;
}

/* ---- turns */

static const struct exec_rec **live_behind(const struct mem_store *m, struct arena *arena,
                                           uint64_t after, size_t *ret_count)
{
    const struct exec_rec **all = ARENA_ARRAY(arena, const struct exec_rec *, m->live.len);
    size_t count = 0;
    MAP_EACH(&m->live, slot)
    {
        if (slot->key > after)
            all[count++] = slot->value;
    }
    if (count > 0)
        qsort(all, count, sizeof(struct exec_rec *), exec_by_id);
    *ret_count = count;
    return all;
}

void mem_answer_live(const struct mem_store *m, const struct partition_set *owned,
                     struct arena *arena, struct question *q)
{
    VEC(struct exec_rec) execs = {0};
    VEC(struct job_rec) jobs = {0};
    size_t count;
    size_t looked = 0;
    const struct exec_rec **all = live_behind(m, arena, q->after_id, &count);
    q->answer.place.exec_id = q->after_id;
    for (size_t i = 0; i < count; i++) {
        const struct job_rec *job = map_get(&m->jobs, all[i]->job_id);
        if (!partition_has(owned, all[i]->id))
            continue;
        q->answer.more = looked++ == question_scan_max(q, LIVE_SCAN_MAX) || execs.len == q->limit;
        if (q->answer.more)
            break;
        q->answer.place.exec_id = all[i]->id;
        if (job == NULL || !operation_takes(q->operation, job, all[i]))
            continue;
        *VEC_PUSH(arena, &execs) = copy_exec(arena, *all[i]);
        *VEC_PUSH(arena, &jobs) = copy_job(arena, *job);
    }
    q->answer.live = execs.items;
    q->answer.jobs = jobs.items;
    q->answer.live_count = q->answer.job_count = execs.len;
}

void mem_answer_operations(const struct mem_store *m, struct arena *arena, struct question *q)
{
    VEC(struct operation_brief) briefs = {0};
    size_t count;
    size_t parts = 0;
    const struct operation_rec **all = mem_operations(m, arena, &count);
    for (size_t i = 0; i < count; i++) {
        if (briefs.len == 0 || briefs.items[briefs.len - 1].id != all[i]->id) {
            *VEC_PUSH(arena, &briefs) = (struct operation_brief){all[i]->id, true};
            parts = 0;
        }
        struct operation_brief *brief = &briefs.items[briefs.len - 1];
        bool last = i + 1 == count || all[i + 1]->id != all[i]->id;
        parts++;
        brief->over =
            brief->over && all[i]->state != OPERATION_RUNNING && (!last || parts == all[i]->parts);
    }
    q->answer.operations = briefs.items;
    q->answer.operation_count = briefs.len;
}

/* ---- readers */

enum rc mem_read_operations(struct reader *reader, uint64_t id, struct arena *arena,
                            struct operation_rec **ret_parts, size_t *ret_count, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    VEC(struct operation_rec) parts = {0};
    size_t count;
    (void)err;
    pthread_mutex_lock(&m->lock);
    const struct operation_rec **all = mem_operations(m, arena, &count);
    for (size_t end = count; end > 0;) { /* the newest first, its parts in their order */
        size_t begin = end - 1;
        while (begin > 0 && all[begin - 1]->id == all[begin]->id)
            begin--;
        for (size_t i = begin; i < end && (id == 0 || all[i]->id == id); i++) {
            struct operation_rec *part = VEC_PUSH(arena, &parts);
            *part = *all[i];
            if (id == 0)
                part->ids = part->refusals = (struct str){0};
            fields_copy(&operation_fields, part, arena);
        }
        end = begin;
    }
    pthread_mutex_unlock(&m->lock);
    *ret_parts = parts.items;
    *ret_count = parts.len;
    return RC_OK;
}

enum rc mem_read_live(struct reader *reader, uint64_t after, size_t max, bool documents,
                      live_sink *sink, void *arg, uint64_t *ret_next, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct mem_store *m = mem_reader_store(reader);
    uint64_t last = after;
    size_t count;
    (void)documents; /* every job has its own here */
    (void)err;
    *ret_next = 0;
    pthread_mutex_lock(&m->lock);
    const struct exec_rec **all = live_behind(m, &arena, after, &count);
    for (size_t i = 0; i < count; i++) {
        const struct job_rec *job = map_get(&m->jobs, all[i]->job_id);
        if (i < max)
            last = all[i]->id;
        if (i == max || (job != NULL && !sink(arg, job, all[i]))) {
            *ret_next = last;
            break;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

/* facts.c - what lists and pages ask about many at once. */
#include "store/mem/mem.h"
#include "store/mem/rows.h"

static void read_each(struct reader *reader, bool with_spec, const uint64_t *job_ids, size_t count,
                      struct arena *arena, struct job_rec *ret_jobs)
{
    struct mem_store *m = mem_reader_store(reader);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < count; i++) {
        const struct job_rec *job = map_get(&m->jobs, job_ids[i]);
        ret_jobs[i] = (struct job_rec){0};
        if (job == NULL)
            continue;
        struct job_rec head = job_brief(job);
        if (!with_spec)
            head.spec = (struct str){0};
        ret_jobs[i] = copy_job(arena, head);
    }
    pthread_mutex_unlock(&m->lock);
}

enum rc mem_read_heads(struct reader *reader, const uint64_t *job_ids, size_t count,
                       struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    (void)err;
    read_each(reader, false, job_ids, count, arena, ret_jobs);
    return RC_OK;
}

enum rc mem_read_standings(struct reader *reader, const uint64_t *job_ids, size_t count,
                           struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    (void)err;
    read_each(reader, true, job_ids, count, arena, ret_jobs);
    return RC_OK;
}

static struct attempt_rec newest_of(const struct attempt_list *list)
{
    struct attempt_rec newest = {0};
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (list->attempts[i].outcome != OUTCOME_NONE && list->attempts[i].token >= newest.token)
            newest = list->attempts[i];
    }
    newest.error = newest.tail = (struct str){0};
    return newest;
}

enum rc mem_read_newest_attempts(struct reader *reader, const uint64_t *exec_ids, size_t count,
                                 struct arena *arena, struct attempt_rec *ret_attempts,
                                 struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)arena;
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < count; i++)
        ret_attempts[i] = newest_of(map_get(&m->attempts, exec_ids[i]));
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

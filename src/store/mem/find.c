/* find.c - what people write in place of an id: a name, or a part of the id. */
#include "store/mem/mem.h"

#include <stdlib.h>

static uint64_t find_named(struct mem_store *m, struct str name)
{
    const struct claim *claim = strmap_get(&m->claims[CLAIM_NAME], name);
    uint64_t newest = 0;
    if (claim != NULL)
        return claim->holder;
    MAP_EACH(&m->jobs, slot)
    {
        const struct job_rec *job = slot->value;
        if (str_eq(job->name, name) && job->id > newest)
            newest = job->id;
    }
    return newest;
}

enum rc mem_find_named(struct reader *reader, struct str name, uint64_t *ret_id, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    pthread_mutex_lock(&m->lock);
    *ret_id = find_named(m, name);
    pthread_mutex_unlock(&m->lock);
    return store_named_found(name, *ret_id, err);
}

static int newest_first(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left > right ? -1 : left < right;
}

static size_t gather(const struct map *from, const struct id_part *part, uint64_t *to)
{
    size_t count = 0;
    MAP_EACH(from, slot)
    {
        if (slot->key >= part->min && slot->key < part->end)
            to[count++] = slot->key;
    }
    return count;
}

enum rc mem_find_ids(struct reader *reader, enum id_kind kind, const struct id_part *part,
                     size_t max, struct arena *arena, uint64_t **ret_ids, size_t *ret_count,
                     struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, m->jobs.len + m->live.len + m->history.len);
    size_t count = 0;
    if (kind == ID_KIND_JOB) {
        count = gather(&m->jobs, part, ids);
    } else {
        count = gather(&m->live, part, ids);
        count += gather(&m->history, part, ids + count);
    }
    pthread_mutex_unlock(&m->lock);
    qsort(ids, count, sizeof *ids, newest_first);
    *ret_ids = ids;
    *ret_count = 0;
    for (size_t i = 0; i < count && i < LIST_SCAN_MAX && *ret_count < max; i++) {
        if ((ids[i] & part->mask) == part->tail)
            ids[(*ret_count)++] = ids[i];
    }
    return RC_OK;
}

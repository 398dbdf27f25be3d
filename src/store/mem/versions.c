/* versions.c - definitions of jobs that were edited. */
#include "base/mem.h"
#include "base/plant.h"
#include "base/vec.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>

/* Of one job, oldest first. */
struct mem_versions {
    struct version_rec **items; /* owned, as each of them */
    size_t count;
};

static void add(struct mem_versions *all, const struct version_rec *rec)
{
    all->items = mem_resize(all->items, (all->count + 1) * sizeof(struct version_rec *));
    all->items[all->count++] = kept_version(rec);
}

static void remove_first(struct mem_versions *all)
{
    kept_version_free(all->items[0]);
    all->count--;
    for (size_t i = 0; i < all->count; i++)
        all->items[i] = all->items[i + 1];
}

static struct mem_versions *begin(struct mem_store *m, uint64_t job_id)
{
    struct mem_versions *all = MEM_NEW(struct mem_versions);
    const struct job_rec *job = map_get(&m->jobs, job_id);
    map_put(&m->versions, job_id, all);
    if (job != NULL && !PLANTED(first_version_forgotten))
        add(all, &(struct version_rec){
                     .job_id = job->id,
                     .version = job->version,
                     .at_ms = job->changed_ms > 0 ? job->changed_ms : job->created_ms,
                     .actor = job->version == 1 ? job->owner : STR(""),
                     .spec = job->spec,
                     .payload = job->payload,
                 });
    return all;
}

void mem_keep_version(struct mem_store *m, const struct version_change *change)
{
    struct mem_versions *all = map_get(&m->versions, change->version.job_id);
    if (all == NULL)
        all = begin(m, change->version.job_id);
    add(all, &change->version);
    while (all->items[0]->version <= change->oldest)
        remove_first(all);
}

static void versions_free(struct mem_versions *all)
{
    while (all != NULL && all->count > 0)
        remove_first(all);
    if (all != NULL)
        free(all->items);
    free(all);
}

void mem_forget_versions(struct mem_store *m, uint64_t job_id)
{
    versions_free(map_remove(&m->versions, job_id));
}

void mem_free_versions(struct mem_store *m)
{
    MAP_EACH(&m->versions, slot)
    versions_free(slot->value);
    map_free(&m->versions);
}

enum rc mem_read_versions(struct reader *reader, uint64_t job_id, uint32_t newest, size_t max,
                          struct arena *arena, struct version_rec **ret_versions, size_t *ret_count,
                          struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    VEC(struct version_rec) found = {0};
    (void)err;
    pthread_mutex_lock(&m->lock);
    const struct mem_versions *all = map_get(&m->versions, job_id);
    for (size_t i = all == NULL ? 0 : all->count; i-- > 0 && found.len < max;) {
        if (all->items[i]->version > newest)
            continue;
        struct version_rec *copy = VEC_PUSH(arena, &found);
        *copy = *all->items[i];
        fields_copy(&version_fields, copy, arena);
    }
    pthread_mutex_unlock(&m->lock);
    *ret_versions = found.items;
    *ret_count = found.len;
    return RC_OK;
}

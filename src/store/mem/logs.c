#include "base/id.h"
#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>

struct mem_logs {
    struct logs logs;
    struct mem_store *m; /* borrowed */
};

static struct mem_store *store_of(struct logs *logs)
{
    return ((struct mem_logs *)(void *)logs)->m;
}

static bool is_behind(const struct log_chunk *chunk, uint64_t token, uint64_t seq)
{
    return chunk->token > token || (chunk->token == token && chunk->seq > seq);
}

static void add_chunk(struct mem_store *m, const struct log_chunk *chunk)
{
    struct chunk_list *list = map_get(&m->logs, chunk->exec_id);
    if (list == NULL) {
        list = MEM_NEW(struct chunk_list);
        map_put(&m->logs, chunk->exec_id, list);
    }
    size_t at = list->count;
    while (at > 0 && is_behind(&list->chunks[at - 1], chunk->token, chunk->seq))
        at--;
    if (at > 0 && !is_behind(chunk, list->chunks[at - 1].token, list->chunks[at - 1].seq))
        return; /* sent twice */
    list->chunks = kept_rows_grow(list->chunks, list->count, sizeof *list->chunks);
    for (size_t i = list->count++; i > at; i--)
        list->chunks[i] = list->chunks[i - 1];
    list->chunks[at] = *chunk;
    list->chunks[at].bytes = kept_text(chunk->bytes);
}

static enum rc append(struct logs *logs, const struct log_chunk *chunks, size_t count,
                      struct err *err)
{
    struct mem_store *m = store_of(logs);
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < count; i++)
        add_chunk(m, &chunks[i]);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc read_chunks(struct logs *logs, uint64_t exec_id, struct log_place after,
                           size_t bytes_max, struct arena *arena, struct log_chunk **ret_chunks,
                           size_t *ret_count, struct err *err)
{
    struct mem_store *m = store_of(logs);
    (void)err;
    pthread_mutex_lock(&m->lock);
    const struct chunk_list *list = map_get(&m->logs, exec_id);
    size_t held = list == NULL ? 0 : list->count;
    struct log_chunk *copies = ARENA_ARRAY(arena, struct log_chunk, held);
    size_t count = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < held && (count == 0 || bytes < bytes_max); i++) {
        if (!is_behind(&list->chunks[i], after.token, after.seq))
            continue;
        copies[count] = list->chunks[i];
        copies[count].bytes = arena_str(arena, list->chunks[i].bytes);
        bytes += copies[count++].bytes.len;
    }
    pthread_mutex_unlock(&m->lock);
    *ret_chunks = copies;
    *ret_count = count;
    return RC_OK;
}

static size_t trim_list(struct chunk_list *list, int64_t before_ms, size_t max)
{
    size_t trimmed = 0;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->chunks[i].at_ms < before_ms && trimmed < max) {
            kept_text_free(&list->chunks[i].bytes);
            trimmed++;
        } else {
            list->chunks[kept++] = list->chunks[i];
        }
    }
    list->count = kept;
    return trimmed;
}

static enum rc trim(struct logs *logs, int64_t before_ms, size_t max, size_t *ret_count,
                    struct err *err)
{
    struct mem_store *m = store_of(logs);
    (void)err;
    size_t trimmed = 0;
    pthread_mutex_lock(&m->lock);
    MAP_EACH(&m->logs, slot)
    {
        trimmed += trim_list(slot->value, before_ms, max - trimmed);
    }
    pthread_mutex_unlock(&m->lock);
    *ret_count = trimmed;
    return RC_OK;
}

/* ---- checkpoints */

static enum rc put_checkpoint(struct logs *logs, const struct checkpoint *checkpoint,
                              struct err *err)
{
    struct mem_store *m = store_of(logs);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct checkpoint *kept = map_get(&m->checkpoints, checkpoint->exec_id);
    if (kept == NULL) {
        kept = MEM_NEW(struct checkpoint);
        map_put(&m->checkpoints, checkpoint->exec_id, kept);
    }
    if (checkpoint->token >= kept->token) {
        struct str bytes = kept_text(checkpoint->bytes);
        kept_text_free(&kept->bytes);
        *kept = *checkpoint;
        kept->bytes = bytes;
    }
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc read_checkpoint(struct logs *logs, uint64_t exec_id, struct arena *arena,
                               struct checkpoint *ret_checkpoint, struct err *err)
{
    struct mem_store *m = store_of(logs);
    pthread_mutex_lock(&m->lock);
    const struct checkpoint *kept = map_get(&m->checkpoints, exec_id);
    bool found = kept != NULL && kept->bytes.len > 0;
    if (found) {
        *ret_checkpoint = *kept;
        ret_checkpoint->bytes = arena_str(arena, kept->bytes);
    }
    pthread_mutex_unlock(&m->lock);
    return found ? RC_OK
                 : err_set(err, RC_NOT_FOUND, "%s has no checkpoint", ID_TEXT(ID_EXEC, exec_id));
}

static int by_exec(const void *a, const void *b)
{
    const struct checkpoint *left = a;
    const struct checkpoint *right = b;
    return left->exec_id < right->exec_id ? -1 : left->exec_id > right->exec_id;
}

static enum rc list_checkpoints(struct logs *logs, uint64_t after, size_t max, struct arena *arena,
                                struct checkpoint **ret_checkpoints, size_t *ret_count,
                                struct err *err)
{
    struct mem_store *m = store_of(logs);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct checkpoint *list = ARENA_ARRAY(arena, struct checkpoint, m->checkpoints.len);
    size_t count = 0;
    MAP_EACH(&m->checkpoints, slot)
    {
        const struct checkpoint *kept = slot->value;
        if (kept->exec_id <= after)
            continue;
        list[count] = *kept;
        list[count++].bytes = (struct str){0};
    }
    pthread_mutex_unlock(&m->lock);
    if (count > 0)
        qsort(list, count, sizeof *list, by_exec);
    *ret_checkpoints = list;
    *ret_count = count < max ? count : max;
    return RC_OK;
}

static enum rc drop_checkpoint(struct logs *logs, uint64_t exec_id, struct err *err)
{
    struct mem_store *m = store_of(logs);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct checkpoint *kept = map_remove(&m->checkpoints, exec_id);
    pthread_mutex_unlock(&m->lock);
    if (kept != NULL)
        kept_text_free(&kept->bytes);
    free(kept);
    return RC_OK;
}

static void close_logs(struct logs *logs)
{
    free(logs);
}

static const struct logs_ops ops = {
    .append = append,
    .read = read_chunks,
    .trim = trim,
    .put_checkpoint = put_checkpoint,
    .checkpoint = read_checkpoint,
    .checkpoints = list_checkpoints,
    .drop_checkpoint = drop_checkpoint,
    .close = close_logs,
};

enum rc mem_logs_open(struct store *store, struct logs **ret_logs, struct err *err)
{
    (void)err;
    struct mem_logs *l = MEM_NEW(struct mem_logs);
    *l = (struct mem_logs){.logs.ops = &ops, .m = mem_of(store)};
    *ret_logs = &l->logs;
    return RC_OK;
}

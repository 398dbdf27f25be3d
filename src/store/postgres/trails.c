#include "store/postgres/trails.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRAILS_MAX = 32768, /* some seconds of a busy server, and 8 MB */
    TRAIL_BYTES_MAX = 512,
};

struct trail {
    size_t len;
    char bytes[];
};

void trails_forget(struct trails *t)
{
    MAP_EACH(&t->map, slot)
    {
        free(slot->value);
    }
    map_free(&t->map);
    t->map = (struct map){0};
}

void trails_begin(struct trails *t, const struct ownership *own)
{
    if (memcmp(t->epochs, own->epochs, sizeof t->epochs) == 0)
        return;
    trails_forget(t);
    memcpy(t->epochs, own->epochs, sizeof t->epochs);
}

struct str trails_get(const struct trails *t, uint64_t exec_id)
{
    const struct trail *trail = map_get(&t->map, exec_id);
    return trail == NULL ? (struct str){0} : str_of(trail->bytes, trail->len);
}

static void forget_one(struct trails *t, uint64_t exec_id)
{
    free(map_remove(&t->map, exec_id));
}

/* In place of the old one. */
static void put(struct trails *t, uint64_t exec_id, struct str before, struct str step)
{
    size_t len = before.len + step.len;
    if (len > TRAIL_BYTES_MAX) {
        forget_one(t, exec_id);
        return;
    }
    struct trail *trail = mem_new(sizeof *trail + len);
    trail->len = len;
    if (before.len > 0)
        memcpy(trail->bytes, before.ptr, before.len);
    if (step.len > 0)
        memcpy(trail->bytes + before.len, step.ptr, step.len);
    forget_one(t, exec_id);
    map_put(&t->map, exec_id, trail);
}

static void keep_change(struct trails *t, const struct exec_change *change)
{
    uint64_t id = change->exec.id;
    struct str before = trails_get(t, id);
    switch (change->kind) {
    case CHANGE_INSERT:
        if (t->map.len < TRAILS_MAX)
            put(t, id, STR(""), change->step);
        return;
    case CHANGE_UPDATE:
        if (before.ptr != NULL)
            put(t, id, before, change->step);
        return;
    case CHANGE_FINISH:
    case CHANGE_RECORD: forget_one(t, id); return;
    }
}

void trails_keep(struct trails *t, const struct delta *delta)
{
    for (size_t i = 0; i < delta->exec_count; i++)
        keep_change(t, &delta->execs[i]);
}

#include "engine/ready/learnt.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void learnt_init(struct learnt_all *all)
{
    *all = (struct learnt_all){0};
    list_init(&all->idle);
}

void learnt_free(struct learnt_all *all)
{
    for (size_t i = 0; i < all->by_key.cap; i++)
        free(all->by_key.slots[i].value);
    strmap_free(&all->by_key);
}

struct learnt *learnt_join(struct learnt_all *all, struct str key)
{
    struct learnt *learnt = strmap_get(&all->by_key, key);
    if (learnt == NULL) {
        learnt = mem_new(sizeof *learnt + key.len);
        memcpy(learnt + 1, key.ptr, key.len);
        learnt->key = str_of((char *)(learnt + 1), key.len);
        strmap_put(&all->by_key, learnt->key, learnt);
    } else if (learnt->users == 0) {
        list_remove(&learnt->idle);
        all->idle_count--;
    }
    learnt->users++;
    return learnt;
}

static void forget(struct learnt_all *all, struct learnt *learnt)
{
    strmap_remove(&all->by_key, learnt->key);
    free(learnt);
}

void learnt_leave(struct learnt_all *all, struct learnt *learnt)
{
    assert(learnt->users > 0);
    if (--learnt->users > 0)
        return;
    if (!usual_is_known(&learnt->usual)) {
        forget(all, learnt);
        return;
    }
    list_push_back(&all->idle, &learnt->idle);
    if (++all->idle_count > LEARNT_IDLE_MAX) {
        all->idle_count--;
        forget(all, CONTAINER_OF(list_pop_front(&all->idle), struct learnt, idle));
    }
}

#include "server/output/event_index.h"
#include "base/mem.h"

#include <stdlib.h>

/* One filter that names a thing; the others that name it follow. */
struct event_mark {
    struct event_mark *next;
    struct indexed *entry;
};

void event_index_init(struct event_index *index)
{
    *index = (struct event_index){.events = 0};
    list_init(&index->unnamed);
}

void event_index_free(struct event_index *index)
{
    map_free(&index->jobs);
    map_free(&index->execs);
    strmap_free(&index->queues);
}

/* ---- marks */

static struct event_mark *with(struct event_mark *first, struct indexed *entry)
{
    struct event_mark *mark = MEM_NEW(struct event_mark);
    *mark = (struct event_mark){first, entry};
    return mark;
}

static struct event_mark *without(struct event_mark *first, const struct indexed *entry)
{
    struct event_mark **at = &first;
    while (*at != NULL && (*at)->entry != entry)
        at = &(*at)->next;
    struct event_mark *gone = *at;
    if (gone != NULL)
        *at = gone->next;
    free(gone);
    return first;
}

static void file_id(struct map *ids, uint64_t id, struct indexed *entry, bool add)
{
    struct event_mark *first = map_get(ids, id);
    first = add ? with(first, entry) : without(first, entry);
    if (first != NULL)
        map_put(ids, id, first);
    else
        map_remove(ids, id);
}

/* The key is text of a filter that names the queue: of the first one, as long as that is there. */
static void file_queue(struct strmap *queues, struct str name, struct indexed *entry, bool add)
{
    struct event_mark *first = strmap_remove(queues, name);
    first = add ? with(first, entry) : without(first, entry);
    if (first == NULL)
        return;
    const struct strmap *own = &first->entry->filter->queues;
    for (size_t i = 0; i < own->cap; i++) {
        if (own->slots[i].value != NULL && str_eq(own->slots[i].key, name)) {
            strmap_put(queues, own->slots[i].key, first);
            return;
        }
    }
}

static void file(struct event_index *index, struct indexed *entry, bool add)
{
    const struct event_filter *f = entry->filter;
    MAP_EACH(&f->jobs, slot)
    {
        file_id(&index->jobs, slot->key, entry, add);
    }
    MAP_EACH(&f->execs, slot)
    {
        file_id(&index->execs, slot->key, entry, add);
    }
    for (size_t i = 0; i < f->queues.cap; i++) {
        if (f->queues.slots[i].value != NULL)
            file_queue(&index->queues, f->queues.slots[i].key, entry, add);
    }
}

void event_index_add(struct event_index *index, struct indexed *entry,
                     const struct event_filter *filter)
{
    *entry = (struct indexed){.filter = filter};
    if (event_filter_names_nothing(filter) && !event_filter_is_empty(filter))
        list_push_back(&index->unnamed, &entry->node);
    file(index, entry, true);
}

void event_index_remove(struct event_index *index, struct indexed *entry)
{
    if (list_linked(&entry->node))
        list_remove(&entry->node);
    file(index, entry, false);
}

/* ---- finding */

struct search {
    uint64_t number;
    const struct event *event;
    void (*visit)(void *arg, struct indexed *entry);
    void *arg;
};

static void look(const struct search *search, struct indexed *entry)
{
    if (entry->seen == search->number || !event_filter_fits(entry->filter, search->event))
        return;
    entry->seen = search->number;
    search->visit(search->arg, entry);
}

static void look_at_all(const struct search *search, const struct event_mark *mark)
{
    for (; mark != NULL; mark = mark->next)
        look(search, mark->entry);
}

void event_index_find(struct event_index *index, const struct event *event,
                      void (*visit)(void *arg, struct indexed *entry), void *arg)
{
    const struct search search = {++index->events, event, visit, arg};
    LIST_EACH(&index->unnamed, node)
    {
        look(&search, CONTAINER_OF(node, struct indexed, node));
    }
    if (event->job_id != 0 && index->jobs.len > 0)
        look_at_all(&search, map_get(&index->jobs, event->job_id));
    if (event->exec_id != 0 && index->execs.len > 0)
        look_at_all(&search, map_get(&index->execs, event->exec_id));
    if (event->queue.len > 0 && index->queues.len > 0)
        look_at_all(&search, strmap_get(&index->queues, event->queue));
}

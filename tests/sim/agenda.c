#include "agenda.h"
#include "base/list.h"
#include "world.h"

struct agenda_entry {
    struct heap_node node;
    agenda_act *act;
    void *what;
    uint64_t no;
    struct agenda_entry *next; /* among spare ones */
};

void agenda_free(struct agenda *a)
{
    heap_free(&a->heap); /* entries live in the world's arena */
}

void agenda_add(struct world *w, int64_t boot_ms, agenda_act *act, void *what, uint64_t no)
{
    struct agenda *a = &w->agenda;
    struct agenda_entry *entry = a->spare;
    if (entry != NULL)
        a->spare = entry->next;
    else
        entry = ARENA_NEW(&w->arena, struct agenda_entry);
    *entry = (struct agenda_entry){.act = act, .what = what, .no = no};
    int64_t at_ms = boot_ms > w->boot_ms ? boot_ms : w->boot_ms;
    heap_push(&a->heap, &entry->node, (uint64_t)at_ms, ++a->written);
}

bool agenda_step(struct world *w)
{
    struct agenda *a = &w->agenda;
    const struct heap_item *first = heap_min(&a->heap);
    if (first == NULL)
        return false;
    struct agenda_entry *entry = CONTAINER_OF(first->node, struct agenda_entry, node);
    w->boot_ms = (int64_t)first->key;
    w->step++;
    heap_remove(&a->heap, &entry->node);
    struct agenda_entry now = *entry;
    entry->next = a->spare;
    a->spare = entry;
    now.act(w, now.what, now.no);
    return true;
}

void agenda_live_until(struct world *w, int64_t boot_ms)
{
    const struct heap_item *first;
    while ((first = heap_min(&w->agenda.heap)) != NULL && (int64_t)first->key < boot_ms)
        agenda_step(w);
    if (w->boot_ms < boot_ms)
        w->boot_ms = boot_ms;
}

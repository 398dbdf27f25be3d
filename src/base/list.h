/* list.h - intrusive doubly linked lists.
 *
 * The links live inside the things that are listed, so adding and removing allocate nothing and
 * removal needs no search. A zeroed node is on no list; a list head must be initialised. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list_node {
    struct list_node *prev;
    struct list_node *next;
};

struct list {
    struct list_node head;
};

/* The struct of the given type whose member is *ptr. */
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Walks a list; the current node may be removed, others may not. */
#define LIST_EACH(list, node)                                                                      \
    for (struct list_node *node = (list)->head.next, *node##_next_ = node->next;                   \
         node != &(list)->head; node = node##_next_, node##_next_ = node->next)

static inline void list_init(struct list *l)
{
    l->head.prev = l->head.next = &l->head;
}

static inline bool list_empty(const struct list *l)
{
    return l->head.next == &l->head;
}

static inline bool list_linked(const struct list_node *n)
{
    return n->next != NULL;
}

/* at is a node on a list, or its head: then n becomes the last. */
static inline void list_insert_before(struct list_node *at, struct list_node *n)
{
    n->prev = at->prev;
    n->next = at;
    n->prev->next = n;
    at->prev = n;
}

static inline void list_push_back(struct list *l, struct list_node *n)
{
    list_insert_before(&l->head, n);
}

/* Does nothing for a node that is on no list. */
static inline void list_remove(struct list_node *n)
{
    if (!list_linked(n))
        return;
    n->prev->next = n->next;
    n->next->prev = n->prev;
    n->prev = n->next = NULL;
}

/* NULL when empty. */
static inline struct list_node *list_first(const struct list *l)
{
    return list_empty(l) ? NULL : l->head.next;
}

static inline struct list_node *list_pop_front(struct list *l)
{
    if (list_empty(l))
        return NULL;
    struct list_node *n = l->head.next;
    l->head.next = n->next;
    n->next->prev = &l->head;
    n->prev = n->next = NULL;
    return n;
}

/* Moves all of *from behind the last of *to. */
static inline void list_splice_back(struct list *to, struct list *from)
{
    if (list_empty(from))
        return;
    from->head.next->prev = to->head.prev;
    to->head.prev->next = from->head.next;
    from->head.prev->next = &to->head;
    to->head.prev = from->head.prev;
    list_init(from);
}

/* vec.h - growing arrays in an arena.
 *
 * VEC(type) declares one; a zeroed one is empty. Growing copies inside the arena, which forgets
 * nothing until it is reset, so use it for what lives one turn or one request. */
#pragma once
#include "base/arena.h"

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t len;                                                                                \
        size_t cap;                                                                                \
    }

/* A pointer to a new, zeroed last element. */
#define VEC_PUSH(arena, vec)                                                                       \
    ((vec)->items =                                                                                \
         vec_room((arena), (vec)->items, (vec)->len, &(vec)->cap, sizeof *(vec)->items),           \
     &(vec)->items[(vec)->len++])

/* The items, moved when there was no room for one more. */
void *vec_room(struct arena *arena, void *items, size_t len, size_t *cap, size_t size);

#include "base/vec.h"

#include <string.h>

void *vec_room(struct arena *arena, void *items, size_t len, size_t *cap, size_t size)
{
    if (len < *cap)
        return items;
    *cap = *cap == 0 ? 8 : *cap * 2;
    char *larger = arena_array_room(arena, size, *cap);
    if (len > 0)
        memcpy(larger, items, len * size);
    memset(larger + len * size, 0, (*cap - len) * size);
    return larger;
}

#include "base/vec.h"

#include <string.h>

void *vec_room(struct arena *arena, void *items, size_t len, size_t *cap, size_t size)
{
    if (len < *cap)
        return items;
    *cap = *cap == 0 ? 8 : *cap * 2;
    void *larger = arena_array(arena, size, *cap);
    if (len > 0)
        memcpy(larger, items, len * size);
    return larger;
}

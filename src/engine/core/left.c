#include "engine/core/left.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void left_free(struct left *l)
{
    free(l->rows);
    *l = (struct left){0};
}

/* Where the first stands whose id is not smaller. */
static size_t place_of(const struct left *l, uint64_t id)
{
    size_t from = 0;
    size_t to = l->len;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (l->rows[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool left_has(const struct left *l, uint64_t id)
{
    size_t at = place_of(l, id);
    return at < l->len && l->rows[at].id == id;
}

void left_add(struct left *l, uint64_t id, bool strange)
{
    size_t at = place_of(l, id);
    if (at < l->len && l->rows[at].id == id)
        return;
    if (l->len == l->cap) {
        l->cap = l->cap == 0 ? 64 : 2 * l->cap;
        l->rows = mem_resize(l->rows, l->cap * sizeof *l->rows);
    }
    memmove(&l->rows[at + 1], &l->rows[at], (l->len - at) * sizeof *l->rows);
    l->rows[at] = (struct left_row){.id = id, .strange = strange};
    l->len++;
    l->strange += strange;
}

void left_remove(struct left *l, const uint64_t *ids, size_t count)
{
    if (count == 0)
        return;
    size_t kept = place_of(l, ids[0]);
    for (size_t i = kept, next = 0; i < l->len; i++) {
        while (next < count && ids[next] < l->rows[i].id)
            next++;
        if (next < count && ids[next] == l->rows[i].id)
            l->strange -= l->rows[i].strange;
        else
            l->rows[kept++] = l->rows[i];
    }
    l->len = kept;
}

size_t left_page(const struct left *l, uint64_t after, size_t max, uint64_t *ret_ids)
{
    size_t count = 0;
    for (size_t i = place_of(l, after + 1); i < l->len && count < max; i++) {
        if (!l->rows[i].strange)
            ret_ids[count++] = l->rows[i].id;
    }
    return count > 0 || after == 0 ? count : left_page(l, 0, max, ret_ids);
}

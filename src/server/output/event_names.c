#include "server/output/event_names.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct str event_names_keep(struct event_names *n, struct str name)
{
    if (name.len == 0)
        return STR("");
    if (str_eq(name, n->last))
        return n->last;
    if (str_eq(name, n->last_but_one)) {
        struct str other = n->last;
        n->last = n->last_but_one;
        n->last_but_one = other;
        return n->last;
    }
    struct str *kept = strmap_get(&n->now, name);
    if (kept == NULL) {
        kept = mem_new(sizeof *kept + name.len);
        memcpy(kept + 1, name.ptr, name.len);
        *kept = str_of((char *)(kept + 1), name.len);
        strmap_put(&n->now, *kept, kept);
    }
    n->last_but_one = n->last;
    n->last = *kept;
    return *kept;
}

void event_names_turn(struct event_names *n, struct strmap *ret_old)
{
    *ret_old = n->before;
    *n = (struct event_names){.before = n->now};
}

void event_names_free_map(struct strmap *names)
{
    for (size_t i = 0; i < names->cap; i++)
        free(names->slots[i].value);
    strmap_free(names);
}

void event_names_free(struct event_names *n)
{
    event_names_free_map(&n->now);
    event_names_free_map(&n->before);
}

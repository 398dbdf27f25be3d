#include "server/cluster/errand.h"
#include "base/mem.h"

#include <stdlib.h>

struct errand *errand_new(enum command_kind kind)
{
    struct errand *errand = MEM_NEW(struct errand);
    errand_init(errand, kind);
    return errand;
}

void errand_init(struct errand *errand, enum command_kind kind)
{
    errand->request.cmd.kind = kind;
    errand->request.cmd.arena = &errand->arena;
    errand->request.cmd.actor = STR("server");
}

void errand_free(struct errand *errand)
{
    arena_free(&errand->arena);
    free(errand);
}

bool errand_end(struct request *r)
{
    if (r->net != NULL)
        return false;
    struct errand *errand = CONTAINER_OF(r, struct errand, request);
    if (errand->take_ended != NULL)
        errand->take_ended(errand);
    else
        errand_free(errand);
    return true;
}

#include "job/record/delta_ids.h"
#include "base/id.h"

#include <stdlib.h>

void ids_add(struct ids *ids, uint64_t id)
{
    if (id > ids->newest)
        ids->newest = id;
}

void ids_add_at(struct ids *ids, uint64_t id, int64_t at_ms)
{
    int64_t drift_ms = llabs(id_time_ms(id) - at_ms);
    ids_add(ids, id);
    if (drift_ms > ids->drift_ms)
        ids->drift_ms = drift_ms;
}

#define ADD(one, many, id)                                                                         \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        ids_add(&ids, delta->many[i].id);
#define ADD_AT(one, many, id, at_ms)                                                               \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        ids_add_at(&ids, delta->many[i].id, delta->many[i].at_ms);

struct ids delta_ids(struct ids ids, const struct delta *delta)
{
    DELTA_IDS(ADD_AT, ADD)
    return ids;
}

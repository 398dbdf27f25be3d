#include "store/store.h"

#include <assert.h>

struct partition_set ownership_set(const struct ownership *own)
{
    struct partition_set set = {.count = own->partitions};
    for (uint32_t p = 0; p < own->partitions; p++) {
        if (own->epochs[p] != 0)
            set.bits |= UINT64_C(1) << p;
    }
    return set;
}

void ownership_raise(struct ownership *own, uint64_t id_floor, uint64_t turn_floor)
{
    if (id_floor > own->id_floor)
        own->id_floor = id_floor;
    if (turn_floor > own->turn_floor)
        own->turn_floor = turn_floor;
}

enum rc store_named_found(struct str name, uint64_t id, struct err *err)
{
    return id != 0 ? RC_OK
                   : err_set(err, RC_NOT_FOUND, "there is no job named '%.*s'", STR_ARG(name));
}

void store_about_add(struct store_about *about, const char *name, struct str value)
{
    assert(about->count < STORE_FACTS_MAX);
    about->facts[about->count++] = (struct store_fact){name, value};
}

struct str store_about_get(const struct store_about *about, const char *name)
{
    for (size_t i = 0; i < about->count; i++) {
        if (str_eq(str_c(about->facts[i].name), str_c(name)))
            return about->facts[i].value;
    }
    return (struct str){0};
}

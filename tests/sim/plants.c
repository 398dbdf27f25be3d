#include "plants.h"
#include "base/err.h"
#include "base/plant.h"
#include "base/str.h"

#ifdef BELFRY_PLANTS

#define PLANT_ROW(name, words) #name,
static const char *const names[] = {PLANTS(PLANT_ROW) CLUSTER_PLANTS(PLANT_ROW) NULL};

#define PLANT_COUNT(name, words) +1
enum { ALONE = 0 PLANTS(PLANT_COUNT) };

enum plant plant_active;

const char *plant_name(void)
{
    return plant_active == PLANT_NONE ? "" : names[plant_active - 1];
}

const char *plant_at(size_t place)
{
    return place < COUNT_OF(names) ? names[place] : NULL;
}

bool plant_takes_many(size_t place)
{
    return place >= ALONE;
}

bool plant_choose(const char *name)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (str_eq(str_c(names[i]), str_c(name))) {
            plant_active = (enum plant)(i + 1);
            return true;
        }
    }
    return false;
}

#else

bool plant_takes_many(size_t place)
{
    (void)place;
    return false;
}

const char *plant_name(void)
{
    return "";
}

const char *plant_at(size_t place)
{
    (void)place;
    return NULL;
}

bool plant_choose(const char *name)
{
    (void)name;
    return false;
}

#endif

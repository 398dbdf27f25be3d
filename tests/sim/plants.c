#include "plants.h"
#include "base/plant.h"
#include "base/str.h"

#ifdef BELFRY_PLANTS

#define PLANT_ROW(name, words) #name,
static const char *const names[] = {PLANTS(PLANT_ROW) NULL};

enum plant plant_active;

const char *plant_name(void)
{
    return plant_active == PLANT_NONE ? "" : names[plant_active - 1];
}

const char *plant_at(size_t place)
{
    return names[place];
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

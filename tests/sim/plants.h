/* plants.h - which planted bug is active in this process (see base/plant.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The name of the active one; empty when there is none. */
const char *plant_name(void);
/* False when there is no such bug, or none was compiled in. */
bool plant_choose(const char *name);
/* All of them, by place; NULL behind the last, however far. */
const char *plant_at(size_t place);
/* It shows only where there are several servers. */
bool plant_takes_many(size_t place);

/* client_pings.h - what is run elsewhere, and tells how it went: jobs that expect pings, on some
 * days. Pings come, or not; silences and failures happen by themselves. */
#pragma once
#include "world.h"

/* By the seed and not by the dice: other days stay as they are. */
bool pings_day(const struct world *w);
void pings_begin(struct world *w);

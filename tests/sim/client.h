/* client.h - the people of the day: they submit (client_wishes.h), cancel, run again, pause, limit,
 * drain, and look. */
#pragma once
#include "net.h"

/* One action, drawn at random. */
void client_act(struct world *w);
/* Resumes all that is paused. */
void client_tidy_up(struct world *w);

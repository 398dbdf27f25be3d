/* client_alerts.h - people, and the sender of webhooks, who have to do with alerts. */
#pragma once
#include "world.h"

/* Marks one as sent, acknowledges one, or makes or lifts a silence. */
void client_alerts(struct world *w);

/* readings.h - numbers that the system has, or other parts of the server: read for each scrape. */
#pragma once
#include "server/call/context.h"
#include "server/metrics/metrics.h"

/* Fills in what the table says is written by the scrape, and AXIS_THREAD. */
void readings_take(const struct server *s, struct arena *arena, struct metric_copy *copy);

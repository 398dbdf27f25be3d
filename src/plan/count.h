/* count.h - how many firings lie ahead, by the arithmetic of schedules and calendars alone: a year
 * of them in seconds. Workers, limits, overlap and dependencies play no part. */
#pragma once
#include "plan/changes.h"
#include "plan/player.h"
#include "plan/score.h"

/* Counts in an open score; changes may be NULL. Of a job that is paused nothing comes due. */
enum rc count_run(const struct world *world, struct changes *changes, uint64_t firings_max,
                  struct score *score, struct player_end *ret_end, struct err *err);

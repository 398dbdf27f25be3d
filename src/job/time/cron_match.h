/* cron_match.h - a cron expression and the calendar, without zones: local times only.
 *
 * For cron_next.c and its kin. Ranges of local seconds are [from, to). */
#pragma once
#include "job/time/cron.h"

#define CRON_NEVER ZONE_EVER_S

/* The days of a month that match: bits 1 to 31. The month itself is not asked whether it does. */
uint32_t cron_days_of_month(const struct cron *cron, int64_t year, unsigned month);

/* The first local time that matches, local_s or later; CRON_NEVER when none does before the year
 * 10000. */
int64_t cron_match(const struct cron *cron, int64_t local_s);
/* How many match in [from_s, to_s). */
uint64_t cron_match_count(const struct cron *cron, int64_t from_s, int64_t to_s);
/* The last one that matches in [from_s, to_s); CRON_NEVER when none does. */
int64_t cron_match_last(const struct cron *cron, int64_t from_s, int64_t to_s);

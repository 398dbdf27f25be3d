/* rules.h - from a job's document to the rules that the engine decides by.
 *
 * Nearly all of that is a matter of values (`job/spec.h`); a schedule by cron also needs its time
 * zone, which is a file of the system (`loop/zones.h`). */
#pragma once
#include "job/command/command.h"
#include "job/spec.h"

struct zones;

/* The rules, with a schedule in arena when the job recurs. zones may be NULL: then only UTC is
 * known. RC_INVALID when there is no such zone. */
enum rc rules_make(struct zones *zones, const struct spec *spec, struct arena *arena,
                   struct rules *ret_rules, struct err *err);

/* Makes the submission that the turn is sent for a job; owner submits it. Without an idempotency
 * key. */
struct submission rules_submission(const struct spec *spec, const struct rules *rules,
                                   struct str owner, struct arena *arena);

/* For struct ical_zones, with the zones as its arg: NULL when there is no such zone. */
const struct zone *rules_zone(void *arg, struct str name);

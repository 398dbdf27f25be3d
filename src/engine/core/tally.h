/* tally.h - the numbers for reports. */
#pragma once
#include "base/map.h"
#include "job/record/tally.h"

struct engine;

/* The keys that have SLA rows of their own in an hour, by the hash of each: two that share one are
 * both let in, which costs a few rows. Memory only: after a restart an hour may have twice as many.
 * A turn that is undone leaves its keys here, which costs nothing either. */
struct tally_keys {
    int64_t hour;
    struct map named[TALLY_SCOPES - TALLY_SLA_QUEUE];
};

void tally_keys_free(struct tally_keys *keys);

/* Adds the executions that ended in this turn to the delta's tallies. */
void tally_seal(struct engine *e);

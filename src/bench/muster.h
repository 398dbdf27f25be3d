/* muster.h - which slots of which jobs were run, as the runs themselves tell.
 *
 * Jobs with a number each, all with the same period, are watched for some whole periods: a window.
 * Within it every slot of every job must be told exactly once; what is told of slots outside of it
 * is not counted. A byte for each slot that is expected. */
#pragma once
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct muster {
    uint64_t jobs;
    uint32_t periods;
    int64_t from_ms; /* where the window begins */
    int64_t period_ms;
    uint64_t told;  /* slots of the window that were told at least once */
    uint8_t *times; /* owned: how often, by period and job */
};

struct muster muster_new(uint64_t jobs, uint32_t periods, int64_t from_ms, int64_t period_ms);
void muster_free(struct muster *t);

/* True when the slot lies in the window. Jobs are counted from 0. */
bool muster_add(struct muster *t, uint64_t job, int64_t slot_ms);
/* RC_CORRUPT, with how many are missing and doubled, unless each was told exactly once. */
enum rc muster_check(const struct muster *t, struct err *err);

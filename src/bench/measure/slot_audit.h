/* slot_audit.h - which slots of which jobs were run, as the runs themselves tell.
 *
 * Jobs with a number each, all with the same period, are watched for some whole periods: a window.
 * Within it every slot of every job must be told exactly once; what is told of slots outside of it
 * is not counted. A byte for each slot that is expected. */
#pragma once
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct slot_audit {
    uint64_t jobs;
    uint32_t periods;
    int64_t from_ms; /* where the window begins */
    int64_t period_ms;
    uint64_t told;  /* slots of the window that were told at least once */
    uint8_t *times; /* owned: how often, by period and job */
};

struct slot_audit slot_audit_new(uint64_t jobs, uint32_t periods, int64_t from_ms,
                                 int64_t period_ms);
void slot_audit_free(struct slot_audit *t);

/* True when the slot lies in the window. Jobs are counted from 0. */
bool slot_audit_add(struct slot_audit *t, uint64_t job, int64_t slot_ms);
/* RC_CORRUPT, with how many are missing and doubled, unless each was told exactly once. */
enum rc slot_audit_check(const struct slot_audit *t, struct err *err);

#include "bench/measure/slot_audit.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

struct slot_audit slot_audit_new(uint64_t jobs, uint32_t periods, int64_t from_ms,
                                 int64_t period_ms)
{
    return (struct slot_audit){
        .jobs = jobs,
        .periods = periods,
        .from_ms = from_ms,
        .period_ms = period_ms,
        .times = mem_new(jobs * periods),
    };
}

void slot_audit_free(struct slot_audit *t)
{
    free(t->times);
    *t = (struct slot_audit){0};
}

bool slot_audit_add(struct slot_audit *t, uint64_t job, int64_t slot_ms)
{
    if (job >= t->jobs || slot_ms < t->from_ms)
        return false;
    uint64_t period = (uint64_t)((slot_ms - t->from_ms) / t->period_ms);
    if (period >= t->periods)
        return false;
    uint8_t *times = &t->times[period * t->jobs + job];
    t->told += *times == 0;
    *times += *times < UINT8_MAX;
    return true;
}

enum rc slot_audit_check(const struct slot_audit *t, struct err *err)
{
    uint64_t doubled = 0;
    uint64_t expected = t->jobs * t->periods;
    for (uint64_t i = 0; i < expected; i++)
        doubled += t->times[i] > 1;
    if (t->told == expected && doubled == 0)
        return RC_OK;
    return err_set(err, RC_CORRUPT,
                   "of %" PRIu64 " slots %" PRIu64 " were not run and %" PRIu64 " more than once",
                   expected, expected - t->told, doubled);
}

#include "job/warning.h"

#include <assert.h>

bool warning_of_pace(const struct sketch *took_ms, int64_t interval_ms, struct warning *ret_warning)
{
    int64_t p95_ms = (int64_t)sketch_quantile(took_ms, 950);
    if (took_ms->total < WARNING_RUNS_MIN || interval_ms <= 0 || p95_ms <= interval_ms)
        return false;
    *ret_warning = (struct warning){
        .kind = WARNING_SLOWER_THAN_INTERVAL,
        .p95_ms = p95_ms,
        .interval_ms = interval_ms,
        .runs = took_ms->total,
    };
    return true;
}

struct str warning_kind_name(enum warning_kind kind)
{
    assert(kind == WARNING_SLOWER_THAN_INTERVAL);
    (void)kind;
    return STR("slower_than_interval");
}

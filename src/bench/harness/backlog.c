#include "bench/harness/backlog.h"
#include "base/when.h"
#include "loop/clock.h"

#include <inttypes.h>

enum {
    CLIENTS = 4,
    BATCH = 5000,
    MINUTE_MS = 60000,
    NEAR_FROM_MS = 20 * MINUTE_MS, /* longer than any measurement takes */
    NEAR_SPAN_MS = 35 * MINUTE_MS,
};

#define DAY_MS (INT64_C(24) * 60 * MINUTE_MS)

struct plan {
    int64_t now_ms;
    uint64_t jobs;
};

static void print_job(void *arg, uint64_t number, struct buf *out)
{
    const struct plan *plan = arg;
    char text[WHEN_TEXT_MAX];
    bool near = number % 2 == 0;
    int64_t from_ms = near ? NEAR_FROM_MS : DAY_MS;
    int64_t span_ms = near ? NEAR_SPAN_MS : 365 * DAY_MS;
    int64_t after_ms = from_ms + (int64_t)((double)span_ms * (double)number / (double)plan->jobs);
    struct str at = when_format(text, plan->now_ms + after_ms);
    buf_printf(out, "{\"handler\":\"" ROLE_HANDLER "\",\"schedule\":{\"at\":\"%.*s\"}}",
               STR_ARG(at));
}

enum rc backlog_make(struct fixture *fixture, uint64_t jobs, struct load *ret_load, struct err *err)
{
    struct plan plan = {clock_wall_ms(), jobs};
    struct load_plan load =
        load_of_jobs(CLIENTS, jobs < BATCH ? (uint32_t)jobs : BATCH, jobs, print_job);
    load.arg = &plan;
    if (jobs == 0)
        return RC_OK;
    return load_run(fixture, &load, ret_load, err);
}

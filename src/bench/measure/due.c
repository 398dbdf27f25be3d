#include "bench/measure/due.h"
#include "base/when.h"
#include "loop/clock.h"

#include <inttypes.h>

enum {
    CLIENTS = 4,
    /* How far ahead the first moment is: submitting takes a fraction of it on a quiet machine. */
    LEAD_MS = 2000,
    LEAD_JOBS_PER_MS = 10,
};

struct plan_print {
    const struct due_plan *plan;
    int64_t first_ms; /* wall clock */
    int64_t first_us; /* the same moment, clock_mono_us */
};

struct count {
    struct fixture *fixture;
    struct due *due;
    uint64_t started;
    uint64_t goal;
};

static void print_job(void *arg, uint64_t number, struct buf *out)
{
    const struct plan_print *p = arg;
    char text[WHEN_TEXT_MAX];
    int64_t after_ms = (int64_t)number * p->plan->span_ms / (int64_t)p->plan->jobs;
    struct str at = when_format(text, p->first_ms + after_ms);
    buf_printf(out,
               "{\"handler\":\"" ROLE_HANDLER "\",\"schedule\":{\"at\":\"%.*s\"},"
               "\"payload\":{\"" ROLE_DUE "\":%" PRId64 "}}",
               STR_ARG(at), p->first_us + after_ms * 1000);
}

static void on_note(void *arg, const struct note *note)
{
    struct count *count = arg;
    if (note->start_us == 0)
        return;
    hist_add(&count->due->late_us, note->start_us);
    count->started++;
    count->due->all_us = clock_mono_us();
}

static bool all_started(const void *arg)
{
    const struct count *count = arg;
    return count->started >= count->goal;
}

/* The wall clock shows whole milliseconds; the moment it changes is the same on both clocks. */
static void pair_clocks(int64_t *ret_wall_ms, int64_t *ret_mono_us)
{
    int64_t before_ms = clock_wall_ms();
    do {
        *ret_wall_ms = clock_wall_ms();
        *ret_mono_us = clock_mono_us();
    } while (*ret_wall_ms == before_ms);
}

enum rc due_run(struct fixture *fixture, const struct due_plan *plan, struct due *ret_due,
                struct err *err)
{
    struct plan_print print = {.plan = plan};
    struct load_plan load = {
        .clients = CLIENTS,
        .batch = plan->batch,
        .print = print_job,
        .arg = &print,
        .jobs_max = plan->jobs,
        .seconds_max = INT32_MAX,
    };
    struct count count = {.fixture = fixture, .due = ret_due};
    int64_t lead_ms = LEAD_MS + (int64_t)plan->jobs / LEAD_JOBS_PER_MS;
    *ret_due = (struct due){0};
    pair_clocks(&print.first_ms, &print.first_us);
    print.first_ms += lead_ms;
    print.first_us += lead_ms * 1000;
    ret_due->first_us = print.first_us;
    fixture_listen(fixture, on_note, &count);
    TRY(load_run(fixture, &load, &ret_due->load, err));
    if (ret_due->load.ended_us > print.first_us)
        return err_set(err, RC_TIMEOUT, "submitting took longer than the %" PRId64 " ms ahead",
                       lead_ms);
    count.goal = ret_due->load.jobs;
    enum rc rc = fixture_wait(fixture, all_started, &count, "jobs to start", err);
    fixture_listen(fixture, NULL, NULL);
    return rc;
}

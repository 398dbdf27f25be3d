#include "bench/schedules.h"
#include "bench/muster.h"
#include "loop/clock.h"

#include <inttypes.h>

enum {
    CLIENTS = 4,
    MINUTE_MS = 60000,
    LEAD_MS = 2000,      /* between the last submission and the window, at least */
    PATIENCE_MS = 20000, /* for what is late behind the window; then it is missing */
};

struct watch {
    struct schedules *seen;
    struct muster muster;
};

/* Numbers are told from 1 on, so that 0 can mean none. */
static void print_job(void *arg, uint64_t number, struct buf *out)
{
    (void)arg;
    buf_printf(out,
               "{\"handler\":\"" ROLE_HANDLER "\",\"schedule\":{\"cron\":\"%" PRIu64
               " * * * * *\",\"seconds\":true},\"payload\":{\"" ROLE_NUMBER "\":%" PRIu64 "}}",
               number % 60, number + 1);
}

static void on_note(void *arg, const struct note *note)
{
    struct watch *w = arg;
    if (note->number == 0 || !muster_add(&w->muster, note->number - 1, (int64_t)note->slot_ms))
        return;
    hist_add(&w->seen->late_us, note->start_us);
    w->seen->ended_us = clock_mono_us();
}

static bool is_over(const void *arg)
{
    const struct muster *t = &((const struct watch *)arg)->muster;
    return t->told == t->jobs * t->periods ||
           clock_wall_ms() > t->from_ms + t->periods * t->period_ms + PATIENCE_MS;
}

static enum rc watch(struct stage *stage, const struct schedules_plan *plan, struct schedules *seen,
                     struct err *err)
{
    int64_t from_ms = ((clock_wall_ms() + LEAD_MS) / MINUTE_MS + 1) * MINUTE_MS;
    struct watch w = {seen, muster_new(seen->load.jobs, plan->minutes, from_ms, MINUTE_MS)};
    stage_listen(stage, on_note, &w);
    enum rc rc = stage_wait(stage, is_over, &w, "slots to be run", err);
    if (rc == RC_OK) /* what it does until its end is watched, too */
        rc = stage_drain(stage, err);
    stage_listen(stage, NULL, NULL);
    if (rc == RC_OK)
        rc = muster_check(&w.muster, err);
    muster_free(&w.muster);
    return rc;
}

enum rc schedules_run(struct stage *stage, const struct schedules_plan *plan,
                      struct schedules *ret_schedules, struct err *err)
{
    struct load_plan load = {
        .clients = CLIENTS,
        .batch = plan->batch,
        .print = print_job,
        .jobs_max = plan->jobs,
        .seconds_max = INT32_MAX,
    };
    *ret_schedules = (struct schedules){0};
    TRY(load_run(stage, &load, &ret_schedules->load, err));
    TRY(watch(stage, plan, ret_schedules, err));
    ret_schedules->runs = stage_note(stage)->calls;
    return RC_OK;
}

#include "bench/measure/schedules.h"
#include "bench/measure/slot_audit.h"
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
    struct slot_audit slot_audit;
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
    if (note->number == 0 ||
        !slot_audit_add(&w->slot_audit, note->number - 1, (int64_t)note->slot_ms))
        return;
    hist_add(&w->seen->late_us, note->start_us);
    w->seen->ended_us = clock_mono_us();
}

static bool is_over(const void *arg)
{
    const struct slot_audit *t = &((const struct watch *)arg)->slot_audit;
    return t->told == t->jobs * t->periods ||
           clock_wall_ms() > t->from_ms + t->periods * t->period_ms + PATIENCE_MS;
}

static enum rc watch(struct fixture *fixture, const struct schedules_plan *plan,
                     struct schedules *seen, struct err *err)
{
    int64_t from_ms = ((clock_wall_ms() + LEAD_MS) / MINUTE_MS + 1) * MINUTE_MS;
    struct watch w = {seen, slot_audit_new(seen->load.jobs, plan->minutes, from_ms, MINUTE_MS)};
    fixture_listen(fixture, on_note, &w);
    enum rc rc = fixture_wait(fixture, is_over, &w, "slots to be run", err);
    if (rc == RC_OK) /* what it does until its end is watched, too */
        rc = fixture_drain(fixture, err);
    fixture_listen(fixture, NULL, NULL);
    if (rc == RC_OK)
        rc = slot_audit_check(&w.slot_audit, err);
    slot_audit_free(&w.slot_audit);
    return rc;
}

enum rc schedules_run(struct fixture *fixture, const struct schedules_plan *plan,
                      struct schedules *ret_schedules, struct err *err)
{
    struct load_plan load = load_of_jobs(CLIENTS, plan->batch, plan->jobs, print_job);
    *ret_schedules = (struct schedules){0};
    TRY(load_run(fixture, &load, &ret_schedules->load, err));
    TRY(watch(fixture, plan, ret_schedules, err));
    ret_schedules->runs = fixture_note(fixture)->calls;
    return RC_OK;
}

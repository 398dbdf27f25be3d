/* model_clocks.c - what a step of the clock moves, and what it leaves alone, on days of clocks.
 *
 * The model goes by the boot clock, of which the engine keeps nothing for these: how long a delay, a pause,
 * an expiry or an SLA has lasted. */
#include "clock_day.h"
#include "coverage.h"
#include "engine/core/model.h"
#include "engine/time/steps.h"
#include "job/record/trail.h"
#include "world.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    SLACK_MS = 4000, /* small corrections of the clock are followed at once */
    LATE_MAX_MS = 5000,
    EDIT_TRUSTS_MS = 600000, /* moments that lie ahead by less are taken for decided */
};

static bool is_such_day(const struct world *w)
{
    return w->scene.clocks;
}

static const struct engine *engine_of(const struct world *w)
{
    return (w->cluster ? w->door->server : w->server)->turn.engine;
}

/* ---- what moves along */

static bool is_delayed(const struct world *w, const struct model_exec *x)
{
    return model_wish(&w->model, x->job)->when == WHEN_DELAY && x->rec.origin == ORIGIN_ONCE &&
           x->rec.retry_of == 0;
}

static void move(int64_t *ms, int64_t to_ms, int64_t by_ms)
{
    if (*ms != 0 && to_ms == *ms + by_ms)
        *ms = to_ms;
}

/* The attempt ended in the very turn that moved it, and left nothing to see that by. Those that run
 * move at once, in the first turn of a step. */
static bool ended_by_step(const struct world *w, const struct model_exec *x,
                          const struct exec_rec *to)
{
    const struct engine *e = engine_of(w);
    return to->sla_since_ms == 0 && exec_is_leased(x->rec.state) && !e->clock.v.first &&
           e->turn.before.clock.stepped_ms != e->clock.v.stepped_ms;
}

void clocks_shift(struct world *w, struct model_exec *x, const struct exec_rec *to,
                  const struct turn_view *view)
{
    int64_t by_ms = is_such_day(w) ? engine_of(w)->clock.v.by_ms : 0;
    if (by_ms == 0 || view->now.unsure || x->born_turn == w->model.turn)
        return;
    move(&x->rec.started_ms, to->started_ms, by_ms);
    if (x->rec.sla_since_ms != 0 &&
        (to->sla_since_ms == x->rec.sla_since_ms + by_ms || ended_by_step(w, x, to)))
        x->sla.since_ms = x->rec.sla_since_ms = x->rec.sla_since_ms + by_ms;
    if (is_delayed(w, x))
        move(&x->rec.slot_ms, to->slot_ms, by_ms);
}

bool clocks_note(struct world *w, struct model_exec *x, const struct trail_step *step)
{
    if (!str_eq(step->event, STR("clock")))
        return false;
    PROMISE(w, is_such_day(w) && str_starts(step->reason, STR("the clock was set ")),
            "%s says something about the clock, which was not set", exec_label(w, x->rec.id));
    SAY(w, "kept", "%s: %.*s", exec_label(w, x->rec.id), STR_ARG(step->reason));
    x->rec.due_ms += engine_of(w)->clock.v.by_ms; /* it may be due in the same turn */
    saw(SAW_CLOCK_MOVED);
    return true;
}

int64_t clocks_shifted_ms(const struct world *w, const struct model_exec *x)
{
    const struct exec *in_memory = is_such_day(w) ? map_get(&engine_of(w)->execs, x->rec.id) : NULL;
    return in_memory == NULL ? 0 : in_memory->v.shift_ms;
}

bool clocks_hold(const struct world *w)
{
    return is_such_day(w) && steps_hold_deadlines(engine_of(w));
}

/* ---- slots */

bool clocks_replanned(struct world *w, struct model_exec *x, struct str reason,
                      const struct exec_rec *to, const struct turn_view *view)
{
    struct model_job *job = x->job;
    if (!is_such_day(w) || !str_starts(reason, STR("the clock was set ")))
        return false;
    bool first = engine_of(w)->clock.v.first;
    PROMISE(w, first || str_starts(reason, STR("the clock was set back by ")),
            "%s is planned anew, and the clock was set forward", exec_label(w, x->rec.id));
    PROMISE(w, to->slot_ms > view->now.wall_ms - LATE_MAX_MS || job->rec.state == JOB_PAUSED,
            "%s is planned anew, and for the past", exec_label(w, x->rec.id));
    PROMISE(w, first || to->slot_ms < x->rec.slot_ms,
            "%s is planned anew after the clock was set back, and for later than before",
            exec_label(w, x->rec.id));
    x->rec.slot_ms = to->slot_ms;
    x->rec.nominal_ms = to->nominal_ms;
    x->rec.due_ms = to->due_ms;
    struct slot slot = schedule_slot(job->schedule, to->slot_ms, to->nominal_ms);
    PROMISE(w, schedule_next(job->schedule, &slot, &job->next), "the schedule of %s does not go on",
            job_label(w, job->rec.id));
    saw(SAW_CLOCK_REPLANNED);
    return true;
}

/* ---- how long something lasts */

void clocks_wait(struct world *w, struct model_exec *x, int64_t for_ms)
{
    x->wait_until_ms = is_such_day(w) ? w->boot_ms + for_ms : 0;
}

static void check_overdue(struct world *w, const struct model_exec *x)
{
    int64_t in_ms = model_wish(&w->model, x->job)->rules.expires_in_ms;
    PROMISE(w, x->promised_boot_ms == 0 || w->boot_ms - x->promised_boot_ms >= in_ms - SLACK_MS,
            "%s has expired after %" PRId64 " ms, and was to after %" PRId64,
            exec_label(w, x->rec.id), w->boot_ms - x->promised_boot_ms, in_ms);
}

void clocks_step(struct world *w, struct model_exec *x, enum exec_event event, bool asked)
{
    if (!is_such_day(w))
        return;
    if (event == EV_CREATE && !model_recurs(x) && x->rec.retry_of == 0 &&
        model_wish(&w->model, x->job)->when != WHEN_AT)
        x->promised_boot_ms =
            w->boot_ms + (is_delayed(w, x) ? model_wish(&w->model, x->job)->when_ms : 0);
    if (asked)
        x->wait_until_ms = x->promised_boot_ms = 0;
    if (event == EV_DUE) {
        PROMISE(w, w->boot_ms >= x->wait_until_ms - SLACK_MS,
                "%s has waited for %" PRId64 " ms less than it was to", exec_label(w, x->rec.id),
                x->wait_until_ms - w->boot_ms);
        x->wait_until_ms = 0;
    }
    if (event == EV_OVERDUE)
        check_overdue(w, x);
    if (event == EV_LEASE && x->sla.since_ms == 0)
        x->sla_boot_ms = w->boot_ms;
    PROMISE(w,
            (event != EV_LOST && event != EV_QUARANTINE) || w->healing ||
                w->boot_ms < w->clock_day.merciful_ms,
            "%s has lost its lease, and nobody was gone but who slept", exec_label(w, x->rec.id));
}

void clocks_sla(struct world *w, const struct model_exec *x, int64_t limit_ms)
{
    if (!is_such_day(w) || x->sla_boot_ms == 0 || model_edited_now(&w->model, x->job))
        return;
    PROMISE(w, w->boot_ms - x->sla_boot_ms >= limit_ms + x->sla.extra_ms - SLACK_MS,
            "%s: its SLA is told after %" PRId64 " ms of %" PRId64, exec_label(w, x->rec.id),
            w->boot_ms - x->sla_boot_ms, limit_ms);
}

void clocks_delete(struct world *w, const struct turn_view *view)
{
    int64_t since_ms = view->now.shaken_ms;
    if (!is_such_day(w))
        return;
    if (since_ms == 0 && !w->cluster)
        since_ms = w->clock_day.shaken_ms; /* by a server that has started since */
    PROMISE(w, since_ms == 0 || view->now.wall_ms >= since_ms + w->scene.engine.delete_wait_ms,
            "something is deleted %" PRId64 " ms after a step of the clock",
            view->now.wall_ms - since_ms);
    PROMISE(w, !view->now.unsure, "something is deleted, and nobody knows the time");
}

void clocks_set_back(struct world *w, int64_t now_ms)
{
    for (size_t i = 0; i < w->model.jobs.len; i++) {
        struct model_job *job = w->model.jobs.items[i];
        if (job->resumed_ms > now_ms)
            job->resumed_ms = now_ms;
    }
}

void clocks_reloaded(struct world *w)
{
    for (size_t i = 0; is_such_day(w) && i < w->model.execs.len; i++) {
        struct model_exec *x = w->model.execs.items[i];
        x->wait_until_ms = x->promised_boot_ms = x->sla_boot_ms = 0;
    }
}

/* ---- from time to time */

static void check_wait(struct world *w, const struct model_exec *x)
{
    bool waits = x->rec.state == EXEC_SCHEDULED || x->rec.state == EXEC_RETRYING;
    PROMISE(w,
            !waits || x->wait_until_ms == 0 || x->job->rec.state == JOB_PAUSED ||
                w->boot_ms - x->wait_until_ms < LATE_MAX_MS,
            "%s waits for %" PRId64 " ms longer than it was to", exec_label(w, x->rec.id),
            w->boot_ms - x->wait_until_ms);
}

/* Somebody cancelled one before its time, and so it goes on with the next. */
static bool is_ahead_by_request(const struct model_job *job, int64_t now_ms)
{
    for (size_t i = 0; i < job->execs.len; i++) {
        const struct exec_rec *rec = &job->execs.items[i]->rec;
        if (rec->state == EXEC_CANCELLED && rec->slot_ms > now_ms)
            return true;
    }
    return false;
}

static void check_slot(struct world *w, const struct model_job *job, int64_t now_ms)
{
    const struct model_exec *ahead = model_ahead(job);
    struct slot next;
    if (job->schedule == NULL || job->rec.state != JOB_ACTIVE || ahead == NULL)
        return;
    int64_t late_ms = now_ms - model_due_ms(ahead);
    PROMISE(w, late_ms < LATE_MAX_MS, "the next slot of %s is %" PRId64 " ms late",
            job_label(w, job->rec.id), late_ms);
    int64_t from_ms =
        now_ms + w->clock_day.backlog_ms + SLACK_MS; /* what was decided up to there stays */
    if (job->definition != job->submission) /* by an edit that came after a small step back */
        from_ms += EDIT_TRUSTS_MS;
    int64_t last_ms =
        from_ms + (job->schedule->kind == SCHEDULE_EVERY ? job->schedule->every_ms : 0);
    if (schedule_after_any(job->schedule, from_ms, &next) && next.at_ms > last_ms)
        last_ms = next.at_ms;
    PROMISE(w, is_ahead_by_request(job, now_ms) || ahead->rec.slot_ms <= last_ms,
            "%s is silent until a slot that is %" PRId64 " ms ahead", job_label(w, job->rec.id),
            ahead->rec.slot_ms - now_ms);
}

void clocks_watch(struct world *w)
{
    int64_t now_ms = world_now(w).wall_ms;
    for (size_t i = 0; i < w->model.execs.len; i++)
        check_wait(w, w->model.execs.items[i]);
    for (size_t i = 0; i < w->model.jobs.len; i++)
        check_slot(w, w->model.jobs.items[i], now_ms);
}

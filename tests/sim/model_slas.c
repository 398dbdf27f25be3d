/* model_slas.c - runs that take longer than they should: each limit is told once an attempt, never
 * early, and never forgotten. */
#include "coverage.h"
#include "job/record/trail.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

static const struct sla *sla_of(const struct world *w, const struct model_exec *x)
{
    return &model_wish(&w->model, x->job)->rules.sla;
}

/* By the wall clock: the limit is reached. */
static bool is_reached(const struct model_exec *x, int64_t limit_ms, int64_t now_ms)
{
    return limit_ms > 0 && x->sla.since_ms > 0 &&
           now_ms >= x->sla.since_ms + limit_ms + x->sla.extra_ms;
}

/* By which of both definitions something was decided, nobody can say in the turn of an edit: then it
 * is taken over as it was kept. */
static bool is_unclear(const struct world *w, const struct model_exec *x)
{
    return model_edited_now(&w->model, x->job);
}

bool model_must_stop(const struct model_exec *x)
{
    return x->sla.must_stop;
}

static void reached(struct world *w, struct model_exec *x, bool *told, int64_t limit_ms,
                    enum sla_event_kind kind, const struct turn_view *view)
{
    struct str name = sla_event_kind_name(kind);
    PROMISE(w, !*told, "%s: the %.*s of its SLA is told twice", exec_label(w, x->rec.id),
            STR_ARG(name));
    PROMISE(w, is_unclear(w, x) || is_reached(x, limit_ms, view->now.wall_ms),
            "%s: the %.*s of its SLA is told too early", exec_label(w, x->rec.id), STR_ARG(name));
    *told = true;
    clocks_sla(w, x, limit_ms);
    x->sla.noted[kind]++;
    if (x->sla.loads != w->model.loads)
        saw(SAW_SLA_AFTER_RESTART);
    if (x->sla.token != x->rec.token)
        saw(SAW_SLA_AFTER_MOVE);
}

static void extended(struct world *w, struct model_exec *x, struct str reason)
{
    struct str head = STR("SLA extended by ");
    struct str text = str_from(reason, head.len);
    int64_t by_ms = 0;
    struct err err;
    PROMISE(w,
            str_starts(reason, head) && x->rec.state == EXEC_RUNNING &&
                (x->sla.since_ms > 0 || is_unclear(w, x)) &&
                duration_parse(str_cut(&text, ','), &by_ms, &err) == RC_OK,
            "%s was given more time, and nobody knows how much", exec_label(w, x->rec.id));
    x->sla.extra_ms += by_ms;
    x->sla.noted[SLA_EVENT_EXTENSION]++;
}

bool slas_note(struct world *w, struct model_exec *x, const struct trail_step *step,
               const struct turn_view *view)
{
    const struct sla *sla = sla_of(w, x);
    if (!str_starts(step->event, STR("sla_")))
        return false;
    PROMISE(w, sla_is_set(sla) || is_unclear(w, x), "%s has no SLA, and something is told about it",
            exec_label(w, x->rec.id));
    if (str_eq(step->event, STR("sla_warning"))) {
        reached(w, x, &x->sla.warned, sla->expected_ms, SLA_EVENT_WARNING, view);
        x->sla.exceeded = true;
        x->sla.broken |= sla->max_ms == 0;
    } else if (str_eq(step->event, STR("sla_violation"))) {
        reached(w, x, &x->sla.violated, sla->max_ms, SLA_EVENT_VIOLATION, view);
        x->sla.must_stop = sla->policy == SLA_STRICT || is_unclear(w, x);
        x->sla.broken = true;
    } else {
        extended(w, x, step->reason);
    }
    SAY(w, "kept", "%s %.*s", exec_label(w, x->rec.id), STR_ARG(step->event));
    return true;
}

/* What took longer than it should has been told by now. */
static void check_told(struct world *w, const struct model_exec *x, int64_t now_ms)
{
    const struct sla *sla = sla_of(w, x);
    PROMISE(w,
            is_unclear(w, x) || ((x->sla.warned || !is_reached(x, sla->expected_ms, now_ms)) &&
                                 (x->sla.violated || !is_reached(x, sla->max_ms, now_ms))),
            "%s takes longer than its SLA says, and nobody was told", exec_label(w, x->rec.id));
}

/* An attempt is over. */
static void end_attempt(struct world *w, struct model_exec *x, enum exec_event event,
                        const struct turn_view *view)
{
    if (x->rec.state != EXEC_STOPPING && !view->now.unsure)
        check_told(w, x, view->now.wall_ms);
    const struct sla *sla = sla_of(w, x);
    bool violated = x->sla.violated || (sla->max_ms == 0 && x->sla.warned);
    x->sla.noted[SLA_EVENT_END] += violated && sla_is_set(sla);
    if (x->sla.must_stop && (event == EV_RETRY || event == EV_EXPIRE))
        saw(SAW_SLA_STOPPED);
    if (event == EV_RETRY) {
        x->sla.since_ms = 0;
        x->sla.warned = x->sla.violated = x->sla.must_stop = false;
    }
}

void slas_step(struct world *w, struct model_exec *x, enum exec_event event, enum exec_state next,
               const struct turn_view *view)
{
    bool ends = event == EV_RETRY || (exec_is_final(next) && event != EV_CANCEL);
    if (event == EV_LEASE && x->sla.since_ms == 0 && sla_is_set(sla_of(w, x))) {
        x->sla.since_ms = view->now.wall_ms;
        x->sla.loads = w->model.loads;
        x->sla.token = x->rec.token;
    }
    if (event == EV_LEASE)
        x->sla.lease_load = view->load;
    /* But nobody knows how a lease ended that nobody has named since it was inherited. */
    PROMISE(w,
            !x->sla.must_stop || is_unclear(w, x) || x->sla.lease_load != view->load ||
                (event != EV_LOST && event != EV_RETURN && event != EV_QUARANTINE),
            "%s had to stop for its SLA, and goes on elsewhere", exec_label(w, x->rec.id));
    if (ends && x->sla.since_ms > 0)
        end_attempt(w, x, event, view);
}

/* As it was kept. */
static void take_over(struct model_exec *x)
{
    x->sla.since_ms = x->rec.sla_since_ms;
    x->sla.extra_ms = x->rec.sla_extra_ms;
    x->sla.warned = (x->rec.sla_marks & SLA_WARNED) != 0;
    x->sla.violated = (x->rec.sla_marks & SLA_VIOLATED) != 0;
    x->sla.must_stop = (x->rec.sla_marks & SLA_STOP) != 0;
    x->sla.exceeded = (x->rec.sla_marks & SLA_EXCEEDED) != 0;
    x->sla.broken = (x->rec.sla_marks & SLA_BROKEN) != 0;
    for (int i = 0; i < SLA_EVENT_KINDS; i++)
        x->sla.noted[i] = x->sla.kept[i];
}

void slas_keep(struct world *w, const struct delta *delta)
{
    for (size_t i = 0; i < delta->sla_event_count; i++) {
        const struct sla_event_rec *event = &delta->sla_events[i];
        struct model_exec *x = model_exec(&w->model, event->exec_id);
        PROMISE(w, x != NULL && x->rec.job_id == event->job_id,
                "something is told about the SLA of nothing");
        x->sla.kept[event->kind]++;
    }
    for (size_t i = 0; i < delta->exec_count; i++) {
        struct model_exec *x = model_exec(&w->model, delta->execs[i].exec.id);
        if (is_unclear(w, x))
            take_over(x);
        bool same =
            x->rec.sla_since_ms == x->sla.since_ms && x->rec.sla_extra_ms == x->sla.extra_ms;
        same = same && x->sla.exceeded == ((x->rec.sla_marks & SLA_EXCEEDED) != 0) &&
               x->sla.broken == ((x->rec.sla_marks & SLA_BROKEN) != 0);
        for (int k = 0; k < SLA_EVENT_KINDS; k++)
            same = same && x->sla.kept[k] == x->sla.noted[k];
        PROMISE(w, same, "%s: what was told about its SLA is not what was kept",
                exec_label(w, x->rec.id));
    }
}

void slas_check(struct world *w, const struct partition_set *owned, int64_t now_ms)
{
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        if (x->rec.state == EXEC_RUNNING && partition_has(owned, x->rec.id))
            check_told(w, x, now_ms);
    }
}

/* model_edits.c - jobs that get another definition while they live.
 *
 * In the turn of an edit a job's slots may have been decided by the old rules or by the new ones,
 * as the order of its commands was. So that turn is judged by where it ends: the run that is ahead
 * is the one that the new definition promises, counted from now, and all that is unfinished stands
 * where the new definition says. */
#include "coverage.h"
#include "job/record/trail.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

enum { WRONG_CLOCK_MS = 600000 }; /* so far ahead is only a moment of a clock that was wrong */

bool model_find_wish(const struct model *m, struct str payload, size_t *ret_no)
{
    uint64_t no;
    if (payload.len < 7 || !str_to_u64(str_of(payload.ptr + 5, payload.len - 6), &no) ||
        no >= m->wishes.len)
        return false;
    *ret_no = no;
    return true;
}

bool model_edited_now(const struct model *m, const struct model_job *job)
{
    return job->edited_turn == m->turn && job->edited_turn > 0;
}

static struct model_exec *find_planned(const struct model_job *job)
{
    for (size_t i = job->execs.len; i-- > 0;) {
        enum exec_state state = job->execs.items[i]->rec.state;
        if (state == EXEC_SCHEDULED || (state == EXEC_BLOCKED && job->schedule == NULL))
            return job->execs.items[i];
    }
    return NULL;
}

static void take_schedule(struct world *w, struct model_job *job, const struct wish *wish,
                          int64_t now_ms)
{
    struct schedule *next = ARENA_NEW(w->model.arena, struct schedule);
    *next = *wish->rules.schedule;
    next->start_ms = wish->replan ? now_ms : job->schedule->start_ms;
    next->stagger_ms = schedule_stagger_ms(job->rec.id, wish->rules.stagger_ms);
    job->schedule_before = job->schedule;
    job->schedule = next;
}

/* The line of the trail says which wish it was: "version 3: {"n":17}". */
static bool find_wish(const struct model *m, struct str steps, size_t *ret_no)
{
    struct trail_step step;
    while (trail_next(&steps, &step)) {
        struct str what = step.reason;
        if (!str_eq(step.event, STR("edit")))
            continue;
        (void)str_cut(&what, ' ');
        (void)str_cut(&what, ' ');
        return model_find_wish(m, what, ret_no);
    }
    return false;
}

void edits_keep(struct world *w, struct model_job *job, const struct job_change *change,
                const struct turn_view *view)
{
    struct model *m = &w->model;
    const struct job_rec *to = &change->job;
    size_t no = 0;
    PROMISE(w, find_wish(m, change->step, &no) && m->wishes.items[no].edits == to->id,
            "an edit of %s was kept that nobody asked for", job_label(w, to->id));
    struct wish *wish = &m->wishes.items[no];
    PROMISE(w, wish->job_id == 0, "an edit of %s was kept twice", job_label(w, to->id));
    job->edited_ms = w->boot_ms;
    PROMISE(w, wish->version == job->rec.version,
            "an edit of version %" PRIu32 " of %s was kept over version %" PRIu32, wish->version,
            job_label(w, to->id), job->rec.version);
    PROMISE(w,
            str_eq(to->queue, wish->rules.queue) && str_eq(to->team, wish->rules.team) &&
                str_eq(to->tags, wish->tags) && to->priority == wish->rules.priority &&
                to->changed_ms == view->now.wall_ms,
            "%s became something else than was asked for", job_label(w, to->id));
    PROMISE(w, str_eq(to->spec, wish->spec) && str_eq(to->payload, wish->payload),
            "%s became another document than was asked for", job_label(w, to->id));
    versions_keep(w, job, to, no, view);
    wish->job_id = to->id;
    job->was_parallel |= model_wish(m, job)->rules.overlap == OVERLAP_PARALLEL;
    job->planned_before = find_planned(job);
    job->slot_before_ms = job->planned_before == NULL ? 0 : job->planned_before->rec.slot_ms;
    if (wish->replan && job->schedule == NULL && job->planned_before != NULL)
        waits_replanned(w, job->planned_before, wish, view);
    job->definition_before = job->definition;
    job->definition = no;
    job->edited_turn = m->turn;
    job->rec.queue = wish->rules.queue;
    job->rec.team = wish->rules.team;
    job->rec.tags = wish->tags;
    job->rec.payload = wish->payload;
    job->rec.changed_ms = to->changed_ms;
    job->rec.spec = arena_str(m->arena, to->spec);
    if (job->schedule != NULL)
        take_schedule(w, job, wish, view->now.wall_ms);
}

/* ---- slots */

/* What had passed of the old schedule, all of it and nothing else. */
static void check_range(struct world *w, const struct model_exec *x, const struct exec_rec *to,
                        int64_t now_ms)
{
    const struct schedule *old = x->job->schedule_before;
    struct slot slot = schedule_slot(old, x->rec.slot_ms, x->rec.nominal_ms);
    struct slot next = slot;
    uint64_t count = slot.at_ms <= now_ms;
    for (; schedule_next(old, &slot, &next) && next.at_ms <= now_ms; count++)
        slot = next;
    saw(SAW_CHANGED_RANGE);
    PROMISE(w,
            count == (to->slot_count == 0 ? 1 : to->slot_count) &&
                (to->slot_count == 0 || to->slot_last_ms == slot.at_ms),
            "%s was skipped for %" PRIu64 " slots of its old schedule, and %" PRIu64 " had passed",
            exec_label(w, x->rec.id), to->slot_count, count);
}

void edits_slot(struct world *w, const struct model_exec *x, enum exec_event event,
                struct str reason, const struct exec_rec *to, const struct turn_view *view)
{
    bool replan = model_wish(&w->model, x->job)->replan;
    if (event == EV_PLAN)
        saw(SAW_MOVED);
    if (event == EV_SKIP && str_eq(reason, STR("the schedule was changed"))) {
        PROMISE(w, replan, "%s was skipped for a schedule that was not changed",
                exec_label(w, x->rec.id));
        if (x == x->job->planned_before)
            check_range(w, x, to, view->now.wall_ms);
    }
}

/* Somebody took the one ahead away in the same turn, or woke its job up: the next one may be. */
static bool is_disturbed(const struct world *w, const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        enum command_kind kind = view->commands[i]->kind;
        if (kind == CMD_CANCEL_EXEC || kind == CMD_RESUME_JOB)
            return true;
    }
    return operations_run(&w->model);
}

/* A slot that was made by a clock which was set back since is not made again, unless that clock was so
 * far ahead that it must have been wrong: several steps of one day can add up to that. */
static int64_t replan_from_ms(const struct model_exec *x, int64_t now_ms)
{
    int64_t ahead_ms = x->rec.created_ms - now_ms;
    return ahead_ms > 0 && ahead_ms < WRONG_CLOCK_MS ? x->rec.created_ms : now_ms;
}

/* A slot that was still ahead when its job was resumed was not missed, although a smaller stagger
 * makes it due before that moment. */
static void keep_unmissed(struct model_job *job, const struct model_exec *x)
{
    int64_t was_due_ms = x->rec.slot_ms + job->schedule_before->stagger_ms;
    if (was_due_ms > job->resumed_ms && model_due_ms(x) <= job->resumed_ms)
        job->resumed_ms = model_due_ms(x) - 1;
}

static void check_ahead(struct world *w, struct model_job *job, const struct turn_view *view)
{
    const struct wish *wish = model_wish(&w->model, job);
    const struct model_exec *x = find_planned(job);
    if (job_is_over(job->rec.state))
        return;
    PROMISE(w, x != NULL, "%s was edited, and has no slot ahead", job_label(w, job->rec.id));
    struct slot want = {.at_ms = x->rec.slot_ms, .nominal_ms = x->rec.nominal_ms};
    if (wish->replan)
        (void)schedule_after(job->schedule, replan_from_ms(x, view->now.wall_ms), &want);
    else if (x == job->planned_before)
        want.at_ms = job->slot_before_ms;
    PROMISE(w,
            (x->rec.slot_ms == want.at_ms && x->rec.nominal_ms == want.nominal_ms) ||
                (x->rec.slot_ms > want.at_ms && is_disturbed(w, view)),
            "%s was edited, and %" PRId64 " is ahead where %" PRId64 " should be",
            job_label(w, job->rec.id), x->rec.slot_ms, want.at_ms);
    PROMISE(w,
            x->rec.due_ms == x->rec.slot_ms + job->schedule->stagger_ms ||
                model_is_held_by_calendar(&x->rec),
            "the slot ahead of %s is due at another moment than its new definition says",
            job_label(w, job->rec.id));
    keep_unmissed(job, x);
    want = schedule_slot(job->schedule, x->rec.slot_ms, x->rec.nominal_ms);
    PROMISE(w, schedule_next(job->schedule, &want, &job->next), "the schedule of %s does not go on",
            job_label(w, job->rec.id));
}

/* ---- jobs that run once */

static void check_moment(struct world *w, const struct model_job *job, const struct turn_view *view)
{
    const struct wish *wish = model_wish(&w->model, job);
    const struct model_exec *x = job->planned_before;
    int64_t due_ms = view->now.wall_ms;
    if (!wish->replan)
        return;
    if (wish->when == WHEN_DELAY)
        due_ms += wish->when_ms;
    else if (wish->when == WHEN_AT && wish->when_ms > due_ms)
        due_ms = wish->when_ms;
    PROMISE(w, x != NULL && x->rec.slot_ms == due_ms,
            "%s was planned anew, and not for the moment that was asked for",
            job_label(w, job->rec.id));
    PROMISE(w,
            x->rec.state != EXEC_SCHEDULED || x->rec.due_ms == due_ms ||
                model_is_held_by_calendar(&x->rec),
            "%s was planned anew, and is due at another moment", job_label(w, job->rec.id));
}

void edits_check(struct world *w, struct model_job *job, const struct turn_view *view)
{
    if (job->schedule != NULL)
        check_ahead(w, job, view);
    else
        check_moment(w, job, view);
    for (size_t i = 0; i < job->execs.len; i++) {
        const struct exec_rec *rec = &job->execs.items[i]->rec;
        PROMISE(w,
                exec_is_final(rec->state) ||
                    (str_eq(rec->queue, job->rec.queue) &&
                     rec->priority == model_wish(&w->model, job)->rules.priority),
                "%s did not follow its job", exec_label(w, rec->id));
    }
}

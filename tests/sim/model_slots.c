/* model_slots.c - jobs that recur, as promised: slot by slot, with nothing counted or bisected.
 *
 * The model walks each schedule by itself, one slot after the other, and every slot must be written
 * down in exactly that order: as an execution of its own, or within a range of skipped ones. So one
 * that is missing and one that is there twice show in the same comparison. */
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

enum { LATE_MS = 1000, WRONG_CLOCK_MS = 600000 /* so far ahead is only a clock that was wrong */ };

bool model_recurs(const struct model_exec *x)
{
    return x->job->schedule != NULL;
}

struct model_exec *model_ahead(const struct model_job *job)
{
    for (size_t i = job->execs.len; i-- > 0;) {
        if (job->execs.items[i]->rec.state == EXEC_SCHEDULED)
            return job->execs.items[i];
    }
    return NULL;
}

static int64_t due_ms(const struct model_job *job, int64_t slot_ms)
{
    return slot_ms + job->schedule->stagger_ms;
}

int64_t model_due_ms(const struct model_exec *x)
{
    return model_recurs(x) ? due_ms(x->job, x->rec.slot_ms) : x->rec.slot_ms;
}

void slots_begin(struct world *w, struct model_job *job)
{
    const struct rules *rules = &model_wish(&w->model, job)->rules;
    job->schedule = ARENA_NEW(w->model.arena, struct schedule);
    *job->schedule = *rules->schedule;
    job->schedule->start_ms = job->rec.created_ms;
    job->schedule->stagger_ms = schedule_stagger_ms(job->rec.id, rules->stagger_ms);
    PROMISE(w, schedule_first(job->schedule, &job->next), "%s has a schedule without slots",
            job_label(w, job->rec.id));
}

static void walk_on(struct world *w, struct model_job *job)
{
    struct slot last = job->next;
    PROMISE(w, schedule_next(job->schedule, &last, &job->next) && job->next.at_ms > last.at_ms,
            "the schedule of %s does not go on", job_label(w, job->rec.id));
}

/* A range of skipped slots: its first one was written down when it was made. */
static void walk_range(struct world *w, const struct model_exec *x, const struct exec_rec *to,
                       const struct turn_view *view)
{
    struct model_job *job = x->job;
    int64_t last_ms = x->rec.slot_ms;
    for (uint64_t i = 1; i < to->slot_count; i++) {
        last_ms = job->next.at_ms;
        walk_on(w, job);
        PROMISE(w, due_ms(job, last_ms) <= view->now.wall_ms, "%s skips slots before their time",
                exec_label(w, x->rec.id));
    }
    PROMISE(w, to->slot_count == 0 || (to->slot_count > 1 && last_ms == to->slot_last_ms),
            "%s stands for %" PRIu64 " slots until %" PRId64 ", and those end at %" PRId64,
            exec_label(w, x->rec.id), to->slot_count, to->slot_last_ms, last_ms);
    if (to->slot_count > 1)
        saw(SAW_SKIPPED_RANGE);
}

void slots_born(struct world *w, struct model_exec *x, const struct exec_rec *rec,
                const struct turn_view *view)
{
    struct model_job *job = x->job;
    PROMISE(w, (rec->origin == ORIGIN_PING) == model_expects(&w->model, job),
            "%s waits for a ping of what is run here, or the other way round",
            exec_label(w, rec->id));
    if (rec->origin == ORIGIN_PING)
        return; /* pings_step looks */
    if (rec->origin == ORIGIN_SLOT && model_edited_now(&w->model, job))
        return; /* edits_check knows which one is ahead then */
    if (rec->origin == ORIGIN_REQUEST) {
        const struct model_exec *again = model_exec(&w->model, rec->retry_of);
        PROMISE(w, rec->slot_ms == (again != NULL ? again->rec.slot_ms : view->now.wall_ms),
                "%s was asked for now, or for the slot of another, and says another time",
                exec_label(w, rec->id));
        return;
    }
    PROMISE(w,
            rec->origin == ORIGIN_SLOT && rec->slot_ms == job->next.at_ms &&
                rec->nominal_ms == job->next.nominal_ms,
            "%s is the slot %" PRId64 " where the one after the last is %" PRId64,
            exec_label(w, rec->id), rec->slot_ms, job->next.at_ms);
    x->rec.due_ms = due_ms(job, rec->slot_ms);
    PROMISE(w, rec->state != EXEC_SCHEDULED || rec->due_ms == x->rec.due_ms,
            "%s is due at %" PRId64 " for the slot %" PRId64, exec_label(w, rec->id), rec->due_ms,
            rec->slot_ms);
    walk_on(w, job);
}

/* ---- why a slot was fired or skipped, said again in the plainest way */

/* Slots after this one whose time has come; no more than `most` are counted. */
static uint32_t newer(const struct model_job *job, const struct model_exec *x, int64_t last_ms,
                      int64_t now_ms, uint32_t most)
{
    struct slot slot = schedule_slot(job->schedule, x->rec.slot_ms, x->rec.nominal_ms);
    uint32_t count = 0;
    while (count < most && schedule_next(job->schedule, &slot, &slot) &&
           due_ms(job, slot.at_ms) <= now_ms)
        count += slot.at_ms > last_ms;
    return count;
}

/* A calendar held it until that moment, and it stands for all slots up to then. */
static bool was_group(const struct world *w, const struct model_exec *x, int64_t now_ms,
                      int64_t *ret_end_ms)
{
    *ret_end_ms = x->rec.due_ms < now_ms ? x->rec.due_ms : now_ms;
    return model_is_held_by_calendar(&x->rec) &&
           model_rule(w, x->job, now_ms).verdict == CALENDAR_FREE &&
           model_rule(w, x->job, model_due_ms(x)).verdict != CALENDAR_SKIPS;
}

static bool group_lets_go(const struct world *w, const struct model_exec *x, int64_t end_ms,
                          int64_t now_ms)
{
    const struct misfire *misfire = &model_wish(&w->model, x->job)->rules.misfire;
    int64_t last_ms = end_ms - x->job->schedule->stagger_ms;
    saw(SAW_CALENDAR_GROUP);
    if (misfire->policy == MISFIRE_SKIP && now_ms - end_ms > SCHEDULE_STALL_MS)
        return false;
    return misfire->policy == MISFIRE_ALL || newer(x->job, x, last_ms, now_ms, 1) == 0;
}

static bool misfire_lets_go(const struct world *w, const struct model_exec *x, int64_t last_ms,
                            int64_t now_ms)
{
    const struct misfire *misfire = &model_wish(&w->model, x->job)->rules.misfire;
    int64_t late_ms = now_ms - due_ms(x->job, last_ms);
    switch (misfire->policy) {
    case MISFIRE_LATEST: return newer(x->job, x, last_ms, now_ms, 1) == 0;
    case MISFIRE_ALL: return newer(x->job, x, last_ms, now_ms, misfire->limit) < misfire->limit;
    default: return late_ms <= SCHEDULE_STALL_MS && newer(x->job, x, last_ms, now_ms, 1) == 0;
    }
}

static void check_fired(struct world *w, const struct model_exec *x, int64_t now_ms)
{
    const struct misfire *misfire = &model_wish(&w->model, x->job)->rules.misfire;
    int64_t end_ms;
    int64_t late_ms = now_ms - model_due_ms(x);
    PROMISE(w, late_ms >= 0, "%s fired %" PRId64 " ms before its time", exec_label(w, x->rec.id),
            -late_ms);
    PROMISE(w, model_due_ms(x) > x->job->resumed_ms,
            "%s fired, though it was missed while its job was paused", exec_label(w, x->rec.id));
    if (model_calendars_unclear(w, x->job))
        return;
    bool right;
    if (was_group(w, x, now_ms, &end_ms))
        right = now_ms - end_ms <= misfire->grace_ms && group_lets_go(w, x, end_ms, now_ms);
    else
        right = late_ms <= misfire->grace_ms && misfire_lets_go(w, x, x->rec.slot_ms, now_ms) &&
                model_rule(w, x->job, model_due_ms(x)).verdict != CALENDAR_SKIPS;
    PROMISE(w, right,
            "%s fired %" PRId64 " ms late, and its misfire policy or a calendar says otherwise",
            exec_label(w, x->rec.id), late_ms);
    if (late_ms > LATE_MS)
        saw(SAW_FIRED_LATE);
}

/* Surely: it may be so for other reasons, too. */
static bool is_made_up(const struct world *w, const struct model_exec *x, int64_t now_ms)
{
    int64_t end_ms;
    return model_wish(&w->model, x->job)->rules.misfire.policy == MISFIRE_ALL &&
           !model_calendars_unclear(w, x->job) && !was_group(w, x, now_ms, &end_ms) &&
           (now_ms - model_due_ms(x) > SCHEDULE_STALL_MS ||
            newer(x->job, x, x->rec.slot_ms, now_ms, 1) > 0);
}

static bool asks_to_resume(const struct world *w, const struct model_exec *x,
                           const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        if (view->commands[i]->kind == CMD_RESUME_JOB &&
            view->commands[i]->target.id == x->rec.job_id)
            return true;
    }
    return operations_do(&w->model, OPERATION_RESUME_JOBS);
}

static bool all_excluded(const struct world *w, const struct model_exec *x, int64_t last_ms)
{
    struct slot slot = schedule_slot(x->job->schedule, x->rec.slot_ms, x->rec.nominal_ms);
    do {
        if (model_rule(w, x->job, due_ms(x->job, slot.at_ms)).verdict != CALENDAR_SKIPS)
            return false;
    } while (schedule_next(x->job->schedule, &slot, &slot) && slot.at_ms <= last_ms);
    saw(SAW_CALENDAR_SKIP);
    return true;
}

static void check_skipped(struct world *w, const struct model_exec *x, struct str reason,
                          int64_t last_ms, const struct turn_view *view)
{
    const struct misfire *misfire = &model_wish(&w->model, x->job)->rules.misfire;
    int64_t now_ms = view->now.wall_ms;
    int64_t end_ms;
    bool right = false;
    bool group = was_group(w, x, now_ms, &end_ms);
    if (model_calendars_unclear(w, x->job))
        return;
    if (str_starts(reason, STR("calendar '")))
        right =
            model_rule(w, x->job, now_ms).verdict == CALENDAR_SKIPS || all_excluded(w, x, last_ms);
    else if (str_starts(reason, STR("held by a calendar, as ")))
        right = x->number > 1 && model_wish(&w->model, x->job)->rules.calendar_count > 0;
    else if (group && str_eq(reason, STR("missed for longer than its grace")))
        right = now_ms - end_ms > misfire->grace_ms;
    else if (group && str_eq(reason, STR("missed, and its misfire policy says so")))
        right = !group_lets_go(w, x, end_ms, now_ms);
    else if (str_eq(reason, STR("missed while the job was paused")))
        right = asks_to_resume(w, x, view);
    else if (str_eq(reason, STR("missed for longer than its grace")))
        right = now_ms - due_ms(x->job, last_ms) > misfire->grace_ms;
    else if (str_eq(reason, STR("missed, and its misfire policy says so")))
        right = now_ms - model_due_ms(x) <= misfire->grace_ms &&
                !misfire_lets_go(w, x, last_ms, now_ms);
    PROMISE(w, right, "%s is skipped, and should not be: %.*s", exec_label(w, x->rec.id),
            STR_ARG(reason));
}

bool slots_returns(enum exec_event event, struct str reason)
{
    return event == EV_PLAN && str_eq(reason, STR("it was planned by a clock that was ahead"));
}

/* The moments up to where it was run again. */
static void check_returned(struct world *w, struct model_exec *x, const struct exec_rec *to,
                           int64_t now_ms)
{
    struct model_job *job = x->job;
    struct slot far;
    struct slot want;
    bool right = schedule_after_any(job->schedule, now_ms + WRONG_CLOCK_MS, &far) &&
                 far.at_ms < x->rec.slot_ms && schedule_after_any(job->schedule, now_ms, &want);
    PROMISE(w, right, "%s is planned anew, and was not far ahead", exec_label(w, x->rec.id));
    x->rec.slot_ms = want.at_ms;
    x->rec.nominal_ms = want.nominal_ms;
    PROMISE(w, exec_is_final(to->state) || to->due_ms == model_due_ms(x),
            "%s is planned anew for another time than its own", exec_label(w, x->rec.id));
    job->next = want;
    if (job->resumed_ms > now_ms) /* by the clock that was ahead */
        job->resumed_ms = now_ms;
    walk_on(w, job);
    saw(SAW_MOVED);
}

void slots_decided(struct world *w, struct model_exec *x, enum exec_event event, struct str reason,
                   const struct exec_rec *to, const struct turn_view *view)
{
    if (slots_returns(event, reason)) {
        check_returned(w, x, to, view->now.wall_ms);
        return;
    }
    if (model_edited_now(&w->model, x->job)) {
        edits_slot(w, x, event, reason, to, view);
        return;
    }
    int64_t last_ms = event == EV_SKIP && to->slot_count > 1 ? to->slot_last_ms : x->rec.slot_ms;
    bool overlaps = event == EV_SKIP && str_starts(reason, STR("overlap: "));
    bool hopeless = event == EV_SKIP && str_starts(reason, STR("it waited for "));
    if (event == EV_HOLD)
        return; /* calendars_step has looked */
    if (event == EV_PLAN) {
        PROMISE(w, model_due_ms(x) > view->now.wall_ms && to->due_ms == model_due_ms(x),
                "%s is planned anew for another time than its own", exec_label(w, x->rec.id));
        return;
    }
    if (event == EV_SKIP)
        walk_range(w, x, to, view);
    if (event != EV_SKIP || overlaps || hopeless) /* that is for model_check_waits */
        check_fired(w, x, view->now.wall_ms);
    else
        check_skipped(w, x, reason, last_ms, view);
    if (overlaps) {
        PROMISE(w, !is_made_up(w, x, view->now.wall_ms),
                "%s was missed and is to be made up, but was skipped for another",
                exec_label(w, x->rec.id));
        saw(SAW_OVERLAP);
    }
}

/* ---- what holds between turns */

/* Its time has come, and it is not over. */
static bool is_under_way(const struct exec_rec *rec)
{
    return rec->state == EXEC_QUEUED || rec->state == EXEC_RETRYING || exec_is_leased(rec->state);
}

void slots_check(struct world *w, const struct model_job *job)
{
    size_t ahead = 0;
    size_t under_way = 0;
    size_t blocked = 0;
    for (size_t i = 0; i < job->execs.len; i++) {
        const struct exec_rec *rec = &job->execs.items[i]->rec;
        ahead += rec->state == EXEC_SCHEDULED;
        under_way += is_under_way(rec);
        blocked += rec->state == EXEC_BLOCKED;
    }
    bool over = job_is_over(job->rec.state);
    PROMISE(w, !over || job->rec.state == JOB_CANCELLED, "%s recurs, and ended by itself",
            job_label(w, job->rec.id));
    PROMISE(w, ahead == !over, "%s has %zu slots ahead", job_label(w, job->rec.id), ahead);
    if (model_wish(&w->model, job)->rules.overlap != OVERLAP_PARALLEL && !job->was_parallel)
        PROMISE(w, under_way <= 1, "%zu executions of %s are under way, which may not overlap",
                under_way, job_label(w, job->rec.id));
    bool alone =
        w->model.wishes.items[job->submission].wait_count == 0; /* else promise_engine looks */
    PROMISE(w, blocked == 0 || under_way > 0 || !alone, "a slot of %s waits for nobody to end",
            job_label(w, job->rec.id));
}

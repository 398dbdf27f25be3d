/* slots.c - jobs with a schedule: each of their slots gets exactly one outcome.
 *
 * An active job with a schedule always has one execution ahead, in state `scheduled`, for its next
 * slot. When that is due, the same turn decides about it and about every later slot that has passed
 * since, and puts the next one ahead: so a slot can neither be lost between two commits nor be
 * decided twice, and nothing but the executions themselves remembers where a schedule stands. The
 * next slot is always computed from the last one, never from the clock. Where more slots are to be
 * made up than a turn makes, it decides about the oldest, and the one ahead is the first of the
 * rest.
 *
 * Slots that are not to run are recorded as skipped, those that follow one another for the same
 * reason as one record with a count. */
#include "engine/time/slots.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/depend/depends_slots.h"
#include "engine/time/calendars.h"
#include "engine/time/deadlines.h"
#include "engine/trace/traces.h"

#include <assert.h>
#include <inttypes.h>

enum { FUTURE_MS = 600000 }; /* a moment that lies so far ahead is of a clock that was wrong */

/* ---- making executions */

static struct slot slot_of(const struct exec *x)
{
    return schedule_slot(x->job->v.def->schedule, x->v.slot_ms, x->v.nominal_ms);
}

static struct exec *new_exec(struct engine *e, struct job *job, enum origin origin,
                             const struct slot *slot)
{
    struct exec *x = exec_new(e, id_next(&e->ids, e->now_ms, id_bucket(job->id)), job);
    touch_new(touch_exec(e, x), false);
    x->origin = origin;
    x->v.slot_ms = slot->at_ms;
    x->v.nominal_ms = origin == ORIGIN_SLOT ? slot->nominal_ms : 0;
    x->created_ms = e->now_ms;
    x->v.state = EXEC_SCHEDULED;
    x->v.due_ms = origin == ORIGIN_SLOT ? schedule_due_ms(job->v.def->schedule, slot) : e->now_ms;
    return x;
}

struct exec *slot_put_ahead(struct engine *e, struct job *job, const struct slot *slot)
{
    struct exec *x = new_exec(e, job, ORIGIN_SLOT, slot);
    exec_created(e, x, SERVER, STR("the next slot of its schedule"));
    return x;
}

/* ---- overlap */

/* Of the same job, its time has come, and not over; also what waits for other jobs. */
static bool is_under_way(const struct exec *x)
{
    if (PLANTED(stopping_overlaps) && x->v.state == EXEC_STOPPING)
        return false;
    return x->v.state == EXEC_QUEUED || x->v.state == EXEC_RETRYING || exec_is_leased(x->v.state) ||
           x->waits_for > 0;
}

struct exec *slot_under_way(const struct job *job, const struct exec *but)
{
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (x != but && is_under_way(x))
            return x;
    }
    return NULL;
}

static size_t count_blocked(const struct job *job)
{
    size_t count = 0;
    LIST_EACH(&job->execs, node)
    count += CONTAINER_OF(node, struct exec, sibling)->v.state == EXEC_BLOCKED;
    return count;
}

static struct str name_exec(struct engine *e, const char *before, const struct exec *x,
                            const char *after)
{
    char id[ID_TEXT_MAX];
    id_format(id, ID_EXEC, x->id);
    return arena_printf(e->turn.arena, "%s%s%s", before, id, after);
}

static void make_due(struct engine *e, struct exec *x, struct str reason)
{
    exec_move(e, x, &(struct move){.event = EV_DUE, .actor = SERVER, .reason = reason});
}

/* Nothing of its own job is in its way. */
static void let_go(struct engine *e, struct exec *x, struct str reason)
{
    if (!depends_begin(e, x))
        make_due(e, x, reason);
}

static void skip(struct engine *e, struct exec *x, struct str reason)
{
    exec_move(e, x, &(struct move){.event = EV_SKIP, .actor = SERVER, .reason = reason});
}

static void block(struct engine *e, struct exec *x, const struct exec *other)
{
    exec_move(e, x,
              &(struct move){.event = EV_BLOCK,
                             .actor = SERVER,
                             .reason = name_exec(e, "waits until ", other, " is over")});
}

static void wait_behind(struct engine *e, struct exec *x, const struct exec *other)
{
    if (count_blocked(x->job) < SPEC_OVERLAP_QUEUE_MAX)
        block(e, x, other);
    else
        skip(e, x, STR("overlap: as many slots wait already as may"));
}

/* Cancels all that came before it, none of which goes because another has ended. Those that run are
 * still there until their workers say that they are gone. */
static void replace(struct engine *e, struct exec *x)
{
    struct str reason = name_exec(e, "replaced by ", x, "");
    x->job->unblocking = true;
    LIST_EACH(&x->job->execs, node)
    {
        struct exec *old = CONTAINER_OF(node, struct exec, sibling);
        if (old != x && (is_under_way(old) || old->v.state == EXEC_BLOCKED))
            exec_cancel(e, old, SERVER, reason);
    }
    x->job->unblocking = false;
    const struct exec *running = slot_under_way(x->job, x);
    if (running != NULL)
        block(e, x, running);
    else
        let_go(e, x, STR("its time has come"));
}

/* Its time has come: whether it may go depends on what its job still does. made_up: it was missed,
 * and is to run all the same, so it waits for its turn whatever its job says about slots that meet
 * on time. */
static void start(struct engine *e, struct exec *x, bool made_up)
{
    if (deadline_pass(e, x))
        return; /* it must not start, so it keeps nobody else from that */
    const struct exec *other = slot_under_way(x->job, x);
    if (other == NULL || x->job->v.def->rules.overlap == OVERLAP_PARALLEL)
        let_go(e, x, STR("its time has come"));
    else if (made_up)
        block(e, x, other);
    else if (x->job->v.def->rules.overlap == OVERLAP_QUEUE)
        wait_behind(e, x, other);
    else if (x->job->v.def->rules.overlap == OVERLAP_REPLACE)
        replace(e, x);
    else
        skip(e, x, name_exec(e, "overlap: ", other, " is not over yet"));
}

/* One that may go can be over at once, where what it depends on is impossible, and then the next is
 * asked: here and not by that end, since a line may be longer than a stack is deep. */
void slot_unblock(struct engine *e, struct job *job)
{
    if (job->unblocking || slot_under_way(job, NULL) != NULL)
        return;
    job->unblocking = true;
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (x->v.state != EXEC_BLOCKED)
            continue;
        let_go(e, x, STR("the run before it is over"));
        if (!exec_is_final(x->v.state))
            break;
    }
    job->unblocking = false;
}

/* ---- slots that are due */

/* x, when it is there, becomes the record of these slots; otherwise one is made. */
static void skip_range(struct engine *e, struct job *job, struct exec *x,
                       const struct slot_range *range, struct str reason)
{
    if (range->count == 0)
        return;
    if (x == NULL) {
        x = new_exec(e, job, ORIGIN_SLOT, &range->first);
        exec_created(e, x, SERVER, STR("slots that nobody fired"));
    }
    if (range->count > 1) {
        touch_exec(e, x);
        x->v.slot_count = range->count;
        x->v.slot_last_ms = range->last.at_ms;
    }
    skip(e, x, reason);
}

/* The slots from this one on that a calendar skips. */
static struct slot_range find_excluded(const struct job *job, const struct slot *slot,
                                       const struct slot *last, struct ruling *ret_ruling)
{
    const struct schedule *s = job->v.def->schedule;
    *ret_ruling = calendars_rule(job, schedule_due_ms(s, slot));
    if (ret_ruling->verdict != CALENDAR_SKIPS)
        return (struct slot_range){.count = 0};
    int64_t until_ms = ret_ruling->until_ms - 1 - s->stagger_ms;
    return schedule_range(s, slot, until_ms < last->at_ms ? until_ms : last->at_ms);
}

/* Of a job that makes up all that it missed: this one was. Others of it were, too; or it was there
 * only when its time had come already, as the first that a page before has left. */
static bool is_made_up(const struct engine *e, const struct exec *x, const struct slot_range *range)
{
    int64_t due_ms = x->v.slot_ms + x->job->v.def->schedule->stagger_ms;
    return x->job->v.def->rules.misfire.policy == MISFIRE_ALL &&
           (range->count > 1 || x->created_ms >= due_ms || e->now_ms - due_ms > SCHEDULE_STALL_MS);
}

static void fire(struct engine *e, struct job *job, struct exec *x, const struct slot *slot,
                 const struct slot_range *range)
{
    if (x == NULL) {
        x = new_exec(e, job, ORIGIN_SLOT, slot);
        exec_created(e, x, SERVER, STR("a slot that nobody fired"));
    }
    start(e, x, is_made_up(e, x, range));
}

/* A turn decides about so many slots, whosever they are; the first of a job is counted where it
 * comes due. */
static bool is_page_full(struct engine *e)
{
    if (e->turn.due_left == 0)
        return true;
    e->turn.due_left--;
    return false;
}

/* As far as the calendars of the job let them, and a page is long. False: the first that is left is
 * ahead. */
static bool fire_range(struct engine *e, struct job *job, struct exec *x,
                       const struct slot_range *range, const struct ruling *now)
{
    struct slot slot = range->first;
    if (now->verdict == CALENDAR_SKIPS) {
        skip_range(e, job, x, range, ruling_words(e->turn.arena, now));
        return true;
    }
    for (uint64_t left = range->count; left > 0; x = NULL) {
        struct ruling ruling;
        struct slot_range excluded = find_excluded(job, &slot, &range->last, &ruling);
        if (excluded.count > 0) {
            skip_range(e, job, x, &excluded, ruling_words(e->turn.arena, &ruling));
            slot = excluded.last;
            left -= excluded.count;
        } else {
            fire(e, job, x, &slot, range);
            left--;
        }
        if (left > 0 && !schedule_next(job->v.def->schedule, &slot, &slot))
            return true;
        if (left > 0 && is_page_full(e)) {
            slot_put_ahead(e, job, &slot);
            return false;
        }
    }
    return true;
}

/* The execution that is there goes to the first range that has slots. */
static struct exec *take_for(const struct slot_range *range, struct exec **x)
{
    struct exec *mine = range->count > 0 ? *x : NULL;
    if (mine != NULL)
        *x = NULL;
    return mine;
}

/* Decides about all slots from this one up to now; x is the execution of the first, or NULL. */
static void catch_up(struct engine *e, struct job *job, struct exec *x, const struct slot *due,
                     const struct ruling *now)
{
    struct catch_up plan;
    schedule_catch_up(job->v.def->schedule, due, e->now_ms, &job->v.def->rules.misfire, &plan);
    skip_range(e, job, take_for(&plan.expired, &x), &plan.expired,
               STR("missed for longer than its grace"));
    skip_range(e, job, take_for(&plan.passed, &x), &plan.passed,
               STR("missed, and its misfire policy says so"));
    bool whole = fire_range(e, job, take_for(&plan.fire, &x), &plan.fire, now);
    assert(x == NULL); /* the slot that is due is in one of them */
    if (whole && plan.has_next)
        slot_put_ahead(e, job, &plan.next);
}

/* ---- slots that a calendar held */

/* Why the one that was held is not to run now, though its calendars let it; empty: it is. Its
 * misfire policy sees it as a slot of the moment at which the period ended. */
static struct str why_too_late(const struct engine *e, const struct job *job, int64_t end_ms,
                               bool newer_is_due)
{
    const struct misfire *misfire = &job->v.def->rules.misfire;
    int64_t late_ms = e->now_ms - end_ms;
    if (late_ms > misfire->grace_ms)
        return STR("missed for longer than its grace");
    if ((misfire->policy != MISFIRE_ALL && newer_is_due) ||
        (misfire->policy == MISFIRE_SKIP && late_ms > SCHEDULE_STALL_MS))
        return STR("missed, and its misfire policy says so");
    return STR("");
}

/* A period is over. All slots that fell into it are one run, that of the first; also one at the
 * very moment at which it ends. So it is with those in a gap of the clock. */
static void end_hold(struct engine *e, struct exec *x, const struct slot *due,
                     const struct ruling *now)
{
    struct job *job = x->job;
    const struct schedule *s = job->v.def->schedule;
    int64_t end_ms = x->v.due_ms < e->now_ms ? x->v.due_ms : e->now_ms;
    struct slot_range rest = schedule_range(s, due, end_ms - s->stagger_ms);
    struct slot next;
    bool has_next = schedule_next(s, &rest.last, &next);
    bool newer_is_due = has_next && schedule_due_ms(s, &next) <= e->now_ms;
    struct str late = why_too_late(e, job, end_ms, newer_is_due);
    if (late.len > 0)
        skip(e, x, late);
    else
        start(e, x, job->v.def->rules.misfire.policy == MISFIRE_ALL && newer_is_due);
    if (rest.count > 1 && schedule_next(s, due, &rest.first)) {
        rest.count--;
        skip_range(e, job, NULL, &rest, name_exec(e, "held by a calendar, as ", x, " was"));
    }
    if (newer_is_due)
        catch_up(e, job, NULL, &next, now);
    else if (has_next)
        slot_put_ahead(e, job, &next);
}

void slot_due(struct engine *e, struct exec *x)
{
    struct job *job = x->job;
    struct slot due = slot_of(x);
    int64_t due_ms = schedule_due_ms(job->v.def->schedule, &due);
    struct ruling now = calendars_rule(job, e->now_ms);
    if (due_ms > e->now_ms) /* it was held, and since then the clock was set back */
        exec_move(e, x,
                  &(struct move){.event = EV_PLAN,
                                 .actor = SERVER,
                                 .reason = STR("its time has not come yet"),
                                 .due_ms = due_ms});
    else if (now.verdict == CALENDAR_HOLDS)
        calendar_hold(e, x, &now);
    else if (exec_is_held(x) && now.verdict == CALENDAR_FREE &&
             calendars_rule(job, due_ms).verdict != CALENDAR_SKIPS)
        end_hold(e, x, &due, &now);
    else
        catch_up(e, job, x, &due, &now);
}

void slot_put_next(struct engine *e, struct exec *x)
{
    struct slot last = slot_of(x);
    struct slot next;
    if (schedule_next(x->job->v.def->schedule, &last, &next))
        slot_put_ahead(e, x->job, &next);
}

/* ---- pause and resume */

struct exec *slot_ahead(const struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (x->v.state == EXEC_SCHEDULED)
            return x;
    }
    return NULL;
}

void slot_move_on(struct engine *e, struct exec *x, struct str reason)
{
    struct job *job = x->job;
    struct slot due = slot_of(x);
    struct catch_up plan;
    if (schedule_due_ms(job->v.def->schedule, &due) > e->now_ms)
        return; /* nothing was missed */
    schedule_catch_up(job->v.def->schedule, &due, e->now_ms, &job->v.def->rules.misfire, &plan);
    struct slot_range missed = {
        .first = due,
        .last = plan.fire.count > 0     ? plan.fire.last
                : plan.passed.count > 0 ? plan.passed.last
                                        : plan.expired.last,
        .count = plan.expired.count + plan.passed.count + plan.fire.count,
    };
    skip_range(e, job, x, &missed, reason);
    if (plan.has_next)
        slot_put_ahead(e, job, &plan.next);
}

/* ---- another schedule */

static void move_ahead(struct engine *e, struct exec *x, const struct slot *slot, struct str actor,
                       struct str reason)
{
    touch_exec(e, x);
    x->v.slot_ms = slot->at_ms;
    x->v.nominal_ms = slot->nominal_ms;
    exec_move(e, x,
              &(struct move){.event = EV_PLAN,
                             .actor = actor,
                             .reason = reason,
                             .due_ms = schedule_due_ms(x->job->v.def->schedule, slot)});
    depends_slot_moved(e, x);
}

/* All slots of a schedule, from that of x on, whose moment has come: also those that a stagger
 * still held back. */
static struct slot_range passed_of(const struct schedule *s, const struct exec *x, int64_t now_ms)
{
    static const struct misfire all = {
        .policy = MISFIRE_LATEST, .grace_ms = WHEN_MAX_MS, .limit = 1};
    struct schedule plain = *s;
    struct slot first = schedule_slot(s, x->v.slot_ms, x->v.nominal_ms);
    struct catch_up plan;
    plain.stagger_ms = 0;
    schedule_catch_up(&plain, &first, now_ms, &all, &plan);
    return (struct slot_range){first, plan.fire.last, plan.passed.count + plan.fire.count};
}

/* Slots decided before went by the clock of then: where that was set back a little since, the new
 * schedule begins behind it, or a slot could run twice. A clock that was far ahead was wrong, and
 * is not waited for. */
static int64_t replan_from_ms(const struct engine *e, const struct job *job, const struct exec *x)
{
    if (PLANTED(edit_looks_back))
        return job->created_ms;
    bool ahead = x != NULL && x->created_ms > e->now_ms && x->created_ms - e->now_ms < FUTURE_MS;
    return ahead ? x->created_ms : e->now_ms;
}

/* The same for the moment at which it was made. */
static bool plan_after(const struct engine *e, const struct schedule *s, int64_t from_ms,
                       struct slot *ret_slot)
{
    return s->start_ms - e->now_ms < FUTURE_MS ? schedule_after(s, from_ms, ret_slot)
                                               : schedule_after_any(s, from_ms, ret_slot);
}

void slot_replan(struct engine *e, struct job *job, const struct schedule *old, struct str actor)
{
    struct exec *x = slot_ahead(job);
    struct slot next;
    bool has_next = plan_after(e, job->v.def->schedule, replan_from_ms(e, job, x), &next);
    struct str reason = STR("the schedule was changed");
    if (x != NULL && x->v.slot_ms <= e->now_ms) {
        struct slot_range passed = passed_of(old, x, e->now_ms);
        skip_range(e, job, x, &passed, reason);
        x = NULL;
    }
    if (x == NULL && has_next)
        slot_put_ahead(e, job, &next);
    else if (x != NULL && has_next)
        move_ahead(e, x, &next, actor, reason);
    else if (x != NULL)
        skip(e, x, reason);
}

/* The job's slot behind a moment. Intervals are counted from the slot ahead: an edit may have begun
 * them anew, and a job's record does not say when. */
static bool slot_behind(const struct exec *x, int64_t from_ms, struct slot *ret_slot)
{
    struct schedule s = *x->job->v.def->schedule;
    if (s.kind == SCHEDULE_EVERY)
        s.start_ms = x->v.slot_ms;
    return schedule_after_any(&s, from_ms, ret_slot);
}

/* An interval that has not ended once counts from when it was made, and never lasts longer than it
 * should: the clock may have been set back before, at a start that did not believe it. */
static bool is_first_interval(const struct schedule *s, const struct exec *x)
{
    return s->kind == SCHEDULE_EVERY && x->v.slot_ms - s->every_ms <= s->start_ms;
}

static int64_t moved_first(const struct schedule *s, const struct exec *x, int64_t now_ms,
                           int64_t by_ms)
{
    int64_t moved_ms = x->v.slot_ms + by_ms;
    int64_t last_ms = now_ms + s->every_ms;
    return moved_ms < last_ms ? moved_ms : last_ms;
}

void slot_step_back(struct engine *e, struct exec *x, int64_t by_ms, struct str reason)
{
    const struct schedule *s = x->job->v.def->schedule;
    struct slot next = {.at_ms = x->v.slot_ms, .nominal_ms = x->v.nominal_ms};
    if (is_first_interval(s, x) && s->start_ms > e->now_ms)
        next.at_ms = next.nominal_ms = moved_first(s, x, e->now_ms, by_ms);
    else if (is_first_interval(s, x) || !slot_behind(x, e->now_ms, &next))
        return;
    if (next.at_ms < x->v.slot_ms)
        move_ahead(e, x, &next, SERVER, reason);
}

void slot_return(struct engine *e, struct exec *x, int64_t far_ms, struct str reason)
{
    struct slot far;
    struct slot next;
    if (slot_behind(x, e->now_ms + far_ms, &far) && far.at_ms < x->v.slot_ms &&
        slot_behind(x, e->now_ms, &next))
        move_ahead(e, x, &next, SERVER, reason);
}

void slot_plan_from_now(struct engine *e, struct exec *x, struct str reason)
{
    struct slot next;
    if (slot_behind(x, e->now_ms, &next) && next.at_ms != x->v.slot_ms)
        move_ahead(e, x, &next, SERVER, reason);
}

/* Where it belongs, if that is elsewhere. A slot that is due stays due. */
static bool find_settled(const struct engine *e, const struct exec *x, struct slot *ret_to)
{
    const struct job *job = x->job;
    if (x->v.state != EXEC_SCHEDULED || x->origin != ORIGIN_SLOT || x->v.slot_ms <= e->now_ms)
        return false;
    struct slot ahead = slot_of(x);
    return schedule_resettle(job->v.def->schedule, &ahead, replan_from_ms(e, job, x), ret_to) &&
           (ret_to->at_ms != ahead.at_ms || ret_to->nominal_ms != ahead.nominal_ms);
}

bool slot_strays(const struct engine *e, const struct exec *x)
{
    struct slot to;
    return find_settled(e, x, &to);
}

void slot_resettle(struct engine *e, struct exec *x)
{
    struct slot to;
    if (find_settled(e, x, &to))
        move_ahead(e, x, &to, SERVER, STR("the rules of its time zone were changed"));
}

void slot_shift(struct engine *e, struct job *job, struct str actor)
{
    struct exec *x = slot_ahead(job);
    if (x == NULL)
        return;
    struct slot slot = slot_of(x);
    move_ahead(e, x, &slot, actor, STR("the stagger was changed"));
}

/* ---- a run that somebody asks for */

struct exec *slot_trigger(struct engine *e, struct job *job, const struct exec_rec *again,
                          const struct command *cmd, struct str reason)
{
    struct slot slot = {.at_ms = again != NULL ? again->slot_ms : e->now_ms};
    struct exec *x = new_exec(e, job, ORIGIN_REQUEST, &slot);
    x->retry_of = again != NULL ? again->id : 0;
    trace_keep(e, x, cmd->trace);
    exec_created(e, x, cmd->actor, reason);
    start(e, x, false);
    return x;
}

const struct exec *slot_in_the_way(const struct job *job)
{
    return job->v.def->rules.overlap == OVERLAP_SKIP ? slot_under_way(job, NULL) : NULL;
}

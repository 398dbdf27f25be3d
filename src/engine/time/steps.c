/* steps.c - the wall clock was set, and that was accepted (job/time/timeline.h).
 *
 * Moments carry the sum of all accepted steps; where it differs from what the engine went by, there
 * is a step to act upon. Dates (slots, `at`, calendars) stay where they are: those that a step
 * forward has passed over are misfires. Lengths of time move along: delays, pauses before retries,
 * `expires_in`, SLAs, and for how long work has been waiting. Running attempts move at once, the
 * rest of memory a page in a turn, and until all have moved nothing comes due. An execution beyond
 * the horizon keeps its date, but for slots after a step back by ten minutes or more: a slot ahead
 * that was planned by a clock of the future would keep its job silent until then, so it is planned
 * from now, wherever it is, and the moments in between run again.
 *
 * If the process dies between two pages, what has not moved keeps its date, as all does that a next
 * start finds: nothing of a step is lost but comfort. But slots of a clock that was ahead come back
 * then, too: the newest id tells that there was one. At a start that is trusted these are slots
 * whose predecessor lies ten minutes ahead; at one that was unsure the clock may be the wrong one,
 * and they have to be a day ahead, and their job made by then.
 *
 * A server that does not know the time yet (unsure) lets nothing come due by it. An execution that
 * begins meanwhile is marked, and moves with the first time that is accepted; one that was there
 * before keeps its date. */
#include "engine/time/steps.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/alerts.h"
#include "engine/core/exec.h"
#include "engine/core/load.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/ready/breakers.h"
#include "engine/time/calendars.h"
#include "engine/time/expect.h"
#include "engine/time/slots.h"

#include <stdlib.h>

enum {
    REPLAN_MS = 600000, /* a step back by less leaves slots alone; … */
    DOUBT_MS = 86400000 /* … and one by less than this, at a start that nobody vouches for */
};

/* ---- what waits for it */

static bool is_shaken(const struct engine *e, struct moment now)
{
    return now.shaken_ms != 0 && now.shaken_ms != e->clock.v.shaken_ms;
}

bool steps_pending(const struct engine *e)
{
    return e->moment.stepped_ms != e->clock.v.stepped_ms;
}

bool steps_hold_dues(const struct engine *e)
{
    return e->moment.unsure || e->clock.v.shifting || steps_pending(e);
}

/* Where nothing but the line of those that wait is put right, no deadline is going to move. */
bool steps_hold_deadlines(const struct engine *e)
{
    return e->moment.unsure || (e->clock.v.shifting && e->clock.v.by_ms != 0) || steps_pending(e);
}

bool steps_want_turn(const struct engine *e, struct moment now)
{
    return e->clock.v.shifting || (e->clock.v.mend && !now.unsure) ||
           now.stepped_ms != e->clock.v.stepped_ms || now.unsure != e->clock.v.unsure ||
           is_shaken(e, now);
}

/* Also in the turn that is about to hear of a step: its questions come first. */
bool steps_hold_deletions(const struct engine *e)
{
    if (PLANTED(deletion_not_waited))
        return false;
    return e->moment.unsure || steps_want_turn(e, e->moment) ||
           (e->clock.v.at_ms != 0 && e->now_ms < e->clock.v.at_ms + e->options.delete_wait_ms);
}

int64_t engine_deletes_from_ms(const struct engine *e)
{
    if (e->clock.v.unsure)
        return INT64_MAX;
    return e->clock.v.at_ms == 0 ? INT64_MIN : e->clock.v.at_ms + e->options.delete_wait_ms;
}

/* The owner of the first partition speaks for all. */
static bool owns_first(const struct engine *e)
{
    return (e->owned.bits & 1) != 0;
}

/* ---- single executions */

static bool is_delayed(const struct exec *x)
{
    return x->job->v.def->rules.delayed && x->origin == ORIGIN_ONCE && x->retry_of == 0 &&
           (x->v.state == EXEC_SCHEDULED || x->v.state == EXEC_BLOCKED);
}

static struct str about(struct engine *e)
{
    char text[WHEN_TEXT_MAX];
    int64_t by_ms = e->clock.v.by_ms;
    duration_format(text, by_ms < 0 ? -by_ms : by_ms);
    return arena_printf(e->turn.arena, "the clock was set %s by %s", by_ms < 0 ? "back" : "forward",
                        text);
}

int64_t step_moved_ms(int64_t at_ms, int64_t by_ms)
{
    return at_ms == 0 ? 0 : at_ms + by_ms > 0 ? at_ms + by_ms : 1;
}

/* Values that say how long something takes. */
static void move_spans(const struct exec *x, int64_t by_ms, struct exec_values *to)
{
    if (exec_is_leased(x->v.state))
        to->started_ms = step_moved_ms(to->started_ms, by_ms);
    if ((exec_is_leased(x->v.state) || x->v.state == EXEC_QUEUED) && !PLANTED(sla_not_shifted))
        to->sla_since_ms = step_moved_ms(to->sla_since_ms, by_ms); /* also of a lease that moves */
    if (x->v.state == EXEC_QUEUED)
        to->ready_ms = step_moved_ms(to->ready_ms, by_ms);
    if (x->v.state == EXEC_QUEUED || (x->v.state == EXEC_BLOCKED && !is_delayed(x)))
        to->shift_ms += by_ms;
}

/* It waits for a ping, which is to come within a length of time. */
static bool is_expecting(const struct exec *x)
{
    return x->origin == ORIGIN_PING && x->v.state == EXEC_SCHEDULED && !x->v.late;
}

/* Executions that wait for a length of time, not for a date. */
static void move_waits(const struct exec *x, int64_t by_ms, struct exec_values *to)
{
    if (PLANTED(delay_not_shifted))
        return;
    if (x->v.state == EXEC_RETRYING || is_expecting(x) || (is_delayed(x) && !exec_is_held(x)))
        to->due_ms = step_moved_ms(to->due_ms, by_ms);
    if (is_delayed(x) || is_expecting(x))
        to->slot_ms = step_moved_ms(to->slot_ms, by_ms);
}

static bool same_times(const struct exec_values *a, const struct exec_values *b)
{
    return a->started_ms == b->started_ms && a->sla_since_ms == b->sla_since_ms &&
           a->ready_ms == b->ready_ms && a->due_ms == b->due_ms && a->slot_ms == b->slot_ms;
}

static void shift(struct engine *e, struct exec *x)
{
    struct exec_values to = x->v;
    bool mine = !e->clock.v.first || x->v.unsure; /* else it is of a time when all was well */
    if (mine) {
        move_spans(x, e->clock.v.by_ms, &to);
        move_waits(x, e->clock.v.by_ms, &to);
    }
    if (x->v.state == EXEC_QUEUED && to.ready_ms > e->now_ms)
        to.ready_ms = e->now_ms > 0 ? e->now_ms : 1; /* it cannot wait since the future */
    to.unsure = false;
    bool same = same_times(&to, &x->v);
    bool same_wait = to.due_ms == x->v.due_ms;
    if (same && to.shift_ms == x->v.shift_ms && !x->v.unsure)
        return;
    bool moved = to.slot_ms != x->v.slot_ms;
    touch_exec(e, x)->durable |= !same;
    exec_set(e, x, &to);
    if (moved)
        depends_moved(e, x); /* dependencies met by the former clock stay met */
    if (!same_wait)
        exec_note(e, x, STR("clock"), SERVER, about(e));
}

/* A machine's clock that went dead is before all jobs were made, and is put right soon. */
static bool may_return(const struct engine *e, const struct exec *x)
{
    return e->clock.v.far_ms > 0 &&
           (!e->clock.v.first || x->job->v.def->schedule->start_ms <= e->now_ms);
}

/* A wait for a ping that is in memory has a length, and moves with the others (move_waits); one
 * beyond the horizon is put right here. */
static void replan_ping(struct engine *e, struct exec *x)
{
    if (!e->clock.v.first && e->clock.v.by_ms <= -REPLAN_MS)
        expect_step_back(e, x, e->clock.v.by_ms, about(e));
    else if (e->clock.v.far_ms > 0)
        expect_step_back(e, x, 0, STR("it was planned by a clock that was ahead"));
}

/* Slots are dates: they move only where the clock that they were planned by was wrong. */
static void replan(struct engine *e, struct exec *x)
{
    if (x->v.state != EXEC_SCHEDULED || x->origin != ORIGIN_SLOT || PLANTED(slot_left_in_future))
        return;
    if (e->clock.v.first && x->v.unsure)
        slot_plan_from_now(e, x, about(e));
    else if (!e->clock.v.first && e->clock.v.by_ms <= -REPLAN_MS)
        slot_step_back(e, x, e->clock.v.by_ms, about(e));
    else if (may_return(e, x))
        slot_return(e, x, e->clock.v.far_ms, STR("it was planned by a clock that was ahead"));
}

/* ---- all of memory */

static bool is_concerned(const struct engine *e, const struct exec *x)
{
    bool waits = x->v.state == EXEC_QUEUED || e->clock.v.far_ms > 0;
    if (e->clock.v.first && !x->v.unsure && !waits)
        return false;
    return !exec_is_leased(x->v.state) && !exec_is_final(x->v.state);
}

/* It came in the middle of the step before this one, by the time of this one. */
static bool came_since(struct engine *e, struct exec *x)
{
    if (!x->v.newer)
        return false;
    touch_exec(e, x);
    x->v.newer = false;
    return true;
}

/* Those that run are few, and may be stopped by what their times say: they move at once. So do
 * those whose SLA goes on counting while they are between two leases, or they could be leased
 * before their page. Of the others it is noted what they wait for: one that waits for something
 * else when its page comes began that since. */
static void collect(struct engine *e)
{
    e->clock.shifts = mem_resize(e->clock.shifts, (e->execs.len + 1) * sizeof *e->clock.shifts);
    e->clock.shift_count = 0;
    MAP_EACH(&e->execs, slot)
    {
        struct exec *x = slot->value;
        if (came_since(e, x))
            continue;
        if (exec_is_leased(x->v.state) || (x->v.state == EXEC_QUEUED && x->v.sla_since_ms != 0))
            shift(e, x);
        else if (is_concerned(e, x))
            e->clock.shifts[e->clock.shift_count++] = (struct shift){x->id, x->v.due_ms};
    }
}

static int by_id(const void *a, const void *b)
{
    const struct shift *left = a;
    const struct shift *right = b;
    return left->exec_id < right->exec_id ? -1 : left->exec_id > right->exec_id;
}

/* A server ran here by a clock so far ahead. */
static bool is_ahead(uint64_t newest_id, int64_t now_ms, int64_t by_ms)
{
    return newest_id != 0 && id_time_ms(newest_id) - now_ms >= by_ms;
}

static void begin(struct engine *e)
{
    e->clock.v.by_ms = e->moment.stepped_ms - e->clock.v.stepped_ms;
    e->clock.v.first = e->clock.v.unsure;
    if (e->clock.v.first && is_ahead(id_newest(&e->ids), e->now_ms, DOUBT_MS))
        e->clock.v.far_ms = DOUBT_MS;
    e->clock.v.stepped_ms = e->moment.stepped_ms;
    e->clock.v.unsure = e->moment.unsure;
    e->clock.v.mend = false;
    e->clock.v.shifting = true;
    e->clock.v.done = 0;
    e->clock.v.place = e->horizon;
    e->clock.v.reading =
        (e->clock.v.by_ms <= -REPLAN_MS && !e->clock.v.first) || e->clock.v.far_ms > 0;
    collect(e);
    if (e->clock.v.by_ms != 0)
        breakers_step(e, e->clock.v.by_ms);
    qsort(e->clock.shifts, e->clock.shift_count, sizeof *e->clock.shifts,
          by_id); /* the same whatever the map does */
    if (e->clock.v.by_ms != 0 && owns_first(e))
        alert_clock(e, about(e));
}

/* As long as what comes due, too, when that is short: the turn looks for the one that cannot be
 * kept. */
static size_t page_max(const struct engine *e)
{
    const struct engine_options *o = &e->options;
    return o->due_max < o->load_max ? o->due_max : o->load_max;
}

static void shift_page(struct engine *e)
{
    for (size_t left = page_max(e); left > 0 && e->clock.v.done < e->clock.shift_count; left--) {
        const struct shift *s = &e->clock.shifts[e->clock.v.done++];
        struct exec *x = map_get(&e->execs, s->exec_id);
        if (x == NULL || exec_is_final(x->v.state) || exec_is_leased(x->v.state) ||
            x->v.due_ms != s->due_ms)
            continue;
        replan(e, x);
        shift(e, x);
    }
}

/* ---- slots beyond the horizon */

void steps_ask(struct engine *e, struct question_list *list)
{
    e->turn.far_question = NULL;
    if (!e->clock.v.shifting || e->clock.v.done < e->clock.shift_count || !e->clock.v.reading)
        return;
    e->turn.far_question = ARENA_NEW(e->turn.arena, struct question);
    *e->turn.far_question = (struct question){
        .kind = ASK_DUE,
        .after_ms = e->clock.v.place.due_ms,
        .after_id = e->clock.v.place.id,
        .until_ms = WHEN_MAX_MS,
        .limit = page_max(e),
    };
    *VEC_PUSH(e->turn.arena, list) = e->turn.far_question;
}

static void replan_far(struct engine *e)
{
    const struct answer *a = &e->turn.far_question->answer;
    struct err err; /* a record that makes no sense was reported when it was read; leave it */
    for (size_t i = 0; i < a->job_count; i++)
        adopt_job(e, &a->jobs[i], &err);
    for (size_t i = 0; i < a->live_count; i++) {
        bool ping = a->live[i].origin == ORIGIN_PING;
        bool wanted = ping || a->live[i].origin == ORIGIN_SLOT;
        struct exec *x = wanted ? adopt_exec(e, &a->live[i], &err) : NULL;
        if (x != NULL)
            (ping ? replan_ping : replan)(e, x);
    }
    e->clock.v.reading = a->more && a->live_count > 0;
    if (e->clock.v.reading)
        e->clock.v.place =
            (struct horizon){a->live[a->live_count - 1].due_ms, a->live[a->live_count - 1].id};
}

/* ---- a turn */

/* Deletions wait behind this; the server that keeps settings writes it down for all. */
static void note_shaken(struct engine *e)
{
    if (!is_shaken(e, e->moment))
        return;
    e->clock.v.shaken_ms = e->clock.v.at_ms = e->moment.shaken_ms;
    if (owns_first(e))
        e->turn.clock_rec = (struct clock_rec){
            .at_ms = e->moment.shaken_ms,
            .by_ms = e->moment.stepped_ms - e->clock.v.stepped_ms,
        };
}

/* No work in line is younger, except what came while the others moved: it stood behind the
 * future. */
static void end(struct engine *e)
{
    e->clock.v.shifting = false;
    e->clock.v.far_ms = 0;
    if (e->newest_ready_ms <= e->now_ms)
        return;
    e->newest_ready_ms = e->now_ms;
    e->clock.v.mend = e->turn.before.clock.shifting;
}

void steps_tick(struct engine *e)
{
    note_shaken(e);
    bool is_new = e->moment.stepped_ms != e->clock.v.stepped_ms ||
                  e->moment.unsure != e->clock.v.unsure || e->clock.v.mend;
    if (!e->clock.v.shifting && is_new && !e->moment.unsure)
        begin(e);
    if (!e->clock.v.shifting)
        return;
    shift_page(e);
    if (e->turn.far_question != NULL)
        replan_far(e);
    if (e->clock.v.done == e->clock.shift_count && !e->clock.v.reading)
        end(e);
}

/* ---- loading */

/* A clock that was ahead has been put right while no server ran, or one died between two pages:
 * what was planned by it would keep silent until then. */
void steps_load(struct engine *e, struct moment now, uint64_t newest_id)
{
    e->moment = now;
    e->clock.v = (struct clock_values){.stepped_ms = now.stepped_ms, .unsure = now.unsure};
    if (!now.unsure && is_ahead(newest_id, now.wall_ms, REPLAN_MS)) {
        e->clock.v.mend = true;
        e->clock.v.far_ms = REPLAN_MS;
    }
}

void engine_load_clock(struct engine *e, const struct clock_rec *rec)
{
    e->clock.v.at_ms = rec->at_ms;
}

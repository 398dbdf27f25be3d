/* deadlines.c - executions that should have started by a moment.
 *
 * Two rules of a job: `start_within`, after which one that has not started is late, which is said
 * once, with an alert; and `expires_in`, after which it must not start any more, and ends. Both are
 * counted from when it was promised to run, and both moments follow from its values and its job's
 * definition, so nothing is kept of them but whether it was said to be late. An execution that was
 * ever given to a worker has started: neither a retry nor a lease that came back is late, or
 * expires.
 *
 * The clock does not stand still for a job or queue that is paused. The slot that a paused job has
 * ahead is no promise yet, though: the resume decides about it. */
#include "engine/time/deadlines.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/alerts.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/time/calendars.h"
#include "engine/time/steps.h"

/* When it was to run: its slot, with its share of a stagger; or when somebody asked for it. By the
 * clock as it is now. */
static int64_t promised_ms(const struct exec *x)
{
    const struct schedule *schedule = x->job->v.def->schedule;
    if (x->origin == ORIGIN_REQUEST || x->retry_of != 0)
        return x->created_ms + x->v.shift_ms;
    return x->v.slot_ms + (schedule != NULL ? schedule->stagger_ms : 0) + x->v.shift_ms;
}

int64_t start_lag_ms(const struct engine *e, const struct exec *x)
{
    bool first = x->v.attempts == 1 && x->v.lost == 0 && x->v.returned == 0 && x->retry_of == 0;
    int64_t lag_ms = e->now_ms - promised_ms(x);
    if (!first)
        return -1;
    return lag_ms > 0 ? lag_ms : 0;
}

int64_t start_wait_ms(const struct engine *e, const struct exec *x, int64_t before_ms)
{
    bool again = before_ms > 0 && before_ms >= x->v.ready_ms;
    int64_t wait_ms = x->v.ready_ms == 0 ? 0 : e->now_ms - x->v.ready_ms;
    if (again)
        return -1;
    return wait_ms > 0 ? wait_ms : 0;
}

static bool has_yet_to_start(const struct exec *x)
{
    return (x->v.state == EXEC_SCHEDULED || x->v.state == EXEC_QUEUED ||
            x->v.state == EXEC_BLOCKED) &&
           x->v.lease.token == 0;
}

static bool has_deadlines(const struct exec *x)
{
    const struct definition *def = x->job->v.def;
    return (def->rules.start_within_ms != 0 || def->rules.expires_in_ms != 0) &&
           has_yet_to_start(x);
}

static bool is_ahead(const struct exec *x)
{
    return x->v.state == EXEC_SCHEDULED && x->origin == ORIGIN_SLOT;
}

static int64_t late_ms(const struct exec *x)
{
    int64_t within_ms = x->job->v.def->rules.start_within_ms;
    return within_ms == 0 || x->v.late ? NO_DEADLINE_MS : promised_ms(x) + within_ms;
}

int64_t expiry_ms(const struct exec *x)
{
    int64_t in_ms = x->job->v.def->rules.expires_in_ms;
    if (PLANTED(expiry_lost_at_restart) && x->v.lease.inherited)
        return NO_DEADLINE_MS;
    return in_ms == 0 || !has_yet_to_start(x) ? NO_DEADLINE_MS : promised_ms(x) + in_ms;
}

int64_t deadline_ms(const struct exec *x)
{
    if (!has_deadlines(x) || is_ahead(x))
        return NO_DEADLINE_MS;
    int64_t late = late_ms(x);
    int64_t expiry = expiry_ms(x);
    if (late == NO_DEADLINE_MS)
        return expiry;
    return expiry == NO_DEADLINE_MS || late < expiry ? late : expiry;
}

static struct str why(struct engine *e, const struct exec *x, const char *what, int64_t ms)
{
    static const char *const waits[EXEC_STATES] = {
        [EXEC_SCHEDULED] = "its job is paused",
        [EXEC_BLOCKED] = "it waits for something else to end",
        [EXEC_QUEUED] = "it waits for a worker",
    };
    char text[WHEN_TEXT_MAX];
    const char *state = waits[x->v.state];
    if (x->job->v.state == JOB_PAUSED)
        state = waits[EXEC_SCHEDULED];
    else if (x->job->v.def->rules.queue->v.paused && x->v.state == EXEC_QUEUED)
        state = "its queue is paused";
    else if (exec_is_held(x))
        state = "a calendar held it";
    else if (x->v.state == EXEC_SCHEDULED)
        state = "nobody was there to start it";
    return arena_printf(e->turn.arena, "%s %.*s, and has not started: %s", what,
                        STR_ARG(duration_format(text, ms)), state);
}

static bool has_come(const struct engine *e, int64_t at_ms)
{
    return at_ms != NO_DEADLINE_MS && at_ms <= e->now_ms;
}

static void move(struct engine *e, struct exec *x, enum exec_event event, struct str reason)
{
    exec_move(e, x, &(struct move){.event = event, .actor = SERVER, .reason = reason});
}

static void be_late(struct engine *e, struct exec *x, struct str reason)
{
    move(e, x, EV_LATE, reason);
    if (!PLANTED(start_late_untold))
        alert_start_late(e, x, reason);
}

bool deadline_pass(struct engine *e, struct exec *x)
{
    const struct definition *def = x->job->v.def;
    if (!has_deadlines(x))
        return false;
    if (steps_hold_deadlines(e)) /* it has not moved with the clock yet */
        return false;
    if (has_come(e, late_ms(x)))
        be_late(e, x, why(e, x, "it was to start within", def->rules.start_within_ms));
    if (!has_come(e, expiry_ms(x)))
        return false;
    move(e, x, EV_OVERDUE, why(e, x, "it expires after", def->rules.expires_in_ms));
    return true;
}

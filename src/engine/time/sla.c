/* sla.c - runs that take longer than they should.
 *
 * Since when the clock of an attempt runs, what has been told, and how much time somebody added are
 * values of the execution; when to look next follows from them. So a lease that moves, an undone
 * turn and a restart need no rule of their own. */
#include "engine/time/sla.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/alerts.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/jobs.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/workers.h"
#include "engine/time/steps.h"

#include <inttypes.h>

/* ---- when */

/* A limit of this execution, with the time that somebody added; 0: there is none. */
static int64_t limit_ms(const struct exec_values *v, int64_t rule_ms)
{
    return rule_ms == 0 ? 0 : rule_ms + v->sla_extra_ms;
}

/* By the wall clock, which may have been set back: then no time has passed. */
static int64_t actual_ms(const struct engine *e, const struct exec_values *v)
{
    return e->now_ms > v->sla_since_ms ? e->now_ms - v->sla_since_ms : 0;
}

/* The next limit of the attempt that nobody was told of, as a moment; 0: none. */
static int64_t next_ms(const struct exec *x, enum sla_event_kind *ret_kind)
{
    const struct sla *sla = &x->job->v.def->rules.sla;
    const struct exec_values *v = &x->v;
    if (v->sla_since_ms == 0)
        return 0;
    *ret_kind = SLA_EVENT_WARNING;
    if (sla->expected_ms > 0 && !(v->sla_marks & SLA_WARNED))
        return v->sla_since_ms + limit_ms(v, sla->expected_ms);
    *ret_kind = SLA_EVENT_VIOLATION;
    if (sla->max_ms > 0 && !(v->sla_marks & SLA_VIOLATED))
        return v->sla_since_ms + limit_ms(v, sla->max_ms);
    return 0;
}

bool sla_was_over(const struct exec *x, int64_t wall_ms)
{
    int64_t max_ms = limit_ms(&x->v, x->job->v.def->rules.sla.max_ms);
    return max_ms == 0 || x->v.sla_since_ms + max_ms <= wall_ms;
}

int64_t sla_next_ms(const struct exec *x)
{
    enum sla_event_kind kind;
    return x->v.state == EXEC_RUNNING ? next_ms(x, &kind) : 0;
}

/* ---- what is told */

static struct sla_event_rec *add_event(struct engine *e, const struct exec *x,
                                       enum sla_event_kind kind)
{
    const struct sla *sla = &x->job->v.def->rules.sla;
    struct sla_event_rec *event = VEC_PUSH(e->turn.arena, &e->turn.sla_events);
    *event = (struct sla_event_rec){
        .id = id_next(&e->ids, e->now_ms, id_bucket(x->job->id)),
        .at_ms = e->now_ms,
        .kind = kind,
        .policy = sla->policy,
        .exec_id = x->id,
        .job_id = x->job->id,
        .attempt = x->v.attempts,
        .expected_ms = limit_ms(&x->v, sla->expected_ms),
        .max_ms = limit_ms(&x->v, sla->max_ms),
        .actual_ms = actual_ms(e, &x->v),
        .queue = x->job->v.def->rules.queue->name,
    };
    *VEC_PUSH(e->turn.arena, &e->turn.events) = (struct event){
        .at_ms = e->now_ms,
        .job_id = x->job->id,
        .exec_id = x->id,
        .state = x->v.state,
        .queue = event->queue,
        .sla = kind,
        .sla_policy = sla->policy,
        .sla_limit_ms = kind == SLA_EVENT_WARNING ? event->expected_ms : event->max_ms,
        .sla_actual_ms = event->actual_ms,
    };
    return event;
}

/* The limit that the event is about, in words. */
static struct str about(struct engine *e, const struct exec *x, enum sla_event_kind kind)
{
    char text[WHEN_TEXT_MAX];
    const struct sla *sla = &x->job->v.def->rules.sla;
    bool warning = kind == SLA_EVENT_WARNING;
    duration_format(text, limit_ms(&x->v, warning ? sla->expected_ms : sla->max_ms));
    return arena_printf(e->turn.arena, "SLA %s of %s exceeded", warning ? "expected" : "max", text);
}

struct str sla_error(struct engine *e, const struct exec *x)
{
    if (x->job->v.def->rules.sla.max_ms == 0) /* by an edit since */
        return STR("SLA max exceeded");
    return about(e, x, SLA_EVENT_VIOLATION);
}

static uint8_t marks_after(const struct exec *x, enum sla_event_kind kind, bool ending)
{
    if (kind == SLA_EVENT_WARNING) {
        bool decides = x->job->v.def->rules.sla.max_ms == 0;
        return (uint8_t)(x->v.sla_marks | SLA_WARNED | SLA_EXCEEDED | (decides ? SLA_BROKEN : 0));
    }
    bool stop = x->job->v.def->rules.sla.policy == SLA_STRICT && !ending;
    return (uint8_t)(x->v.sla_marks | SLA_VIOLATED | SLA_BROKEN | (stop ? SLA_STOP : 0));
}

/* The attempt has reached a limit: marks it, tells it, and does what follows. */
static void reach(struct engine *e, struct exec *x, enum sla_event_kind kind, bool ending)
{
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.sla_marks = marks_after(x, kind, ending);
    exec_set(e, x, &to);
    bool warning = kind == SLA_EVENT_WARNING;
    exec_note(e, x, warning ? STR("sla_warning") : STR("sla_violation"), SERVER, about(e, x, kind));
    alert_sla(e, x, add_event(e, x, kind));
    struct worker *w = map_get(&e->workers, x->v.lease.worker_id);
    if (sla_stops(x) && w != NULL && w->v.parked != NULL)
        worker_open(e, w); /* tell it now */
}

void sla_due(struct engine *e, struct exec *x)
{
    enum sla_event_kind kind;
    if (next_ms(x, &kind) > 0)
        reach(e, x, kind, false);
}

void sla_catch_up(struct engine *e, struct exec *x)
{
    for (int64_t at_ms; !steps_hold_dues(e) && (at_ms = sla_next_ms(x)) > 0 && at_ms <= e->now_ms;)
        sla_due(e, x);
}

/* ---- attempts */

void sla_begin(const struct engine *e, const struct exec *x, struct exec_values *to)
{
    if (!sla_is_set(&x->job->v.def->rules.sla))
        return;
    if (x->v.lease.token == 0)
        to->sla_marks |= SLA_COUNTED;
    if (to->sla_since_ms == 0)
        to->sla_since_ms = e->now_ms > 0 ? e->now_ms : 1;
    else if (PLANTED(sla_lost_with_moved_lease))
        to->sla_marks |= SLA_WARNED | SLA_VIOLATED;
}

void sla_end(struct engine *e, struct exec *x)
{
    enum sla_event_kind kind;
    /* Nothing more is told about a run that was cancelled; a run that ended past a limit before its
     * timer had a turn, or while it waited for another worker, has exceeded it all the same. */
    for (int64_t at_ms; x->v.state != EXEC_STOPPING && (at_ms = next_ms(x, &kind)) > 0;) {
        if (at_ms > e->now_ms)
            break;
        reach(e, x, kind, true);
    }
    const struct sla *sla = &x->job->v.def->rules.sla;
    unsigned violation = sla->max_ms > 0 ? SLA_VIOLATED : SLA_VIOLATED | SLA_WARNED;
    if ((x->v.sla_marks & violation) != 0 && sla_is_set(sla))
        add_event(e, x, SLA_EVENT_END);
}

void sla_reset(struct exec_values *to)
{
    to->sla_since_ms = 0;
    to->sla_marks &=
        SLA_BROKEN | SLA_COUNTED | (PLANTED(sla_exceeded_forgotten) ? 0 : SLA_EXCEEDED);
}

/* ---- more time */

/* The execution that is meant: the one that is named, or the only one that runs. NULL: the command
 * has failed. */
static struct exec *running(struct engine *e, struct command *cmd, const struct job *job)
{
    struct exec *found = NULL;
    size_t count = 0;
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (x->v.state != EXEC_RUNNING ||
            (cmd->target.exec_id != 0 && cmd->target.exec_id != x->id))
            continue;
        found = x;
        count++;
    }
    if (count == 1)
        return found;
    if (count > 1)
        command_fail(e, cmd, RC_CONFLICT, "%zu executions of the job run: say which one", count);
    else
        command_fail(e, cmd, RC_CONFLICT, "%s",
                     cmd->target.exec_id != 0
                         ? "this execution of the job does not run"
                         : "nothing of the job runs: there is no time to extend");
    return NULL;
}

static void extend(struct engine *e, struct command *cmd, struct exec *x)
{
    char text[WHEN_TEXT_MAX];
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.sla_extra_ms += cmd->target.by_ms;
    exec_set(e, x, &to);
    duration_format(text, cmd->target.by_ms);
    exec_note(e, x, STR("sla_extension"), cmd->actor,
              arena_printf(e->turn.arena, "SLA extended by %s, approved by %.*s: %.*s", text,
                           STR_ARG(cmd->target.approver), STR_ARG(cmd->target.reason)));
    struct sla_event_rec *event = add_event(e, x, SLA_EVENT_EXTENSION);
    event->extended_ms = cmd->target.by_ms;
    event->actor = arena_str(e->turn.arena, cmd->actor);
    event->reason = arena_str(e->turn.arena, cmd->target.reason);
    event->approver = arena_str(e->turn.arena, cmd->target.approver);
    cmd->reply.job_id = x->job->id;
    cmd->reply.exec_id = x->id;
    cmd->reply.exec_state = x->v.state;
    cmd->reply.sla = (struct sla_view){
        .since_ms = x->v.sla_since_ms,
        .extended_ms = x->v.sla_extra_ms,
        .expected_ms = event->expected_ms,
        .max_ms = event->max_ms,
    };
    command_done(e, cmd);
}

void decide_extend_sla(struct engine *e, struct command *cmd)
{
    struct job *job = target_job(e, cmd);
    enum sla_event_kind kind;
    if (job == NULL || refuse_over(e, cmd, job))
        return;
    struct exec *x = running(e, cmd, job);
    if (x == NULL)
        return;
    if (!sla_is_set(&job->v.def->rules.sla) || x->v.sla_since_ms == 0)
        command_fail(e, cmd, RC_CONFLICT, "what runs of the job has no SLA");
    else if (next_ms(x, &kind) == 0)
        command_fail(e, cmd, RC_CONFLICT, "all limits of its SLA are exceeded already");
    else if (cmd->target.by_ms > DURATION_MAX_MS - x->v.sla_extra_ms)
        command_fail(e, cmd, RC_CONFLICT, "it would be extended by more than ten years in all");
    else
        extend(e, cmd, x);
}

#include "engine/time/expect.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/alerts.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/jobs.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/time/slots.h"

#include <inttypes.h>

bool job_expects(const struct job *job)
{
    return job->v.def->rules.expects;
}

bool expect_is_missed(const struct exec *x)
{
    return x->origin == ORIGIN_PING && x->v.late;
}

/* ---- the one ahead */

/* How long a silence may last: every + grace. */
static int64_t patience_ms(const struct job *job)
{
    return job->v.def->schedule->every_ms;
}

static struct exec *put_ahead(struct engine *e, struct job *job, uint8_t marks)
{
    struct exec *x = exec_new(e, id_next(&e->ids, e->now_ms, id_bucket(job->id)), job);
    touch_new(touch_exec(e, x), false);
    x->origin = ORIGIN_PING;
    x->created_ms = e->now_ms;
    x->v.state = EXEC_SCHEDULED;
    x->v.slot_ms = x->v.due_ms = e->now_ms + patience_ms(job);
    x->v.sla_marks = marks;
    exec_created(e, x, SERVER, STR("waits for a ping"));
    return x;
}

/* Its moment is another one. What was told of it so far stays told, unless it begins anew. */
static void move_ahead(struct engine *e, struct exec *x, int64_t due_ms, bool anew,
                       struct str actor, struct str reason)
{
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.slot_ms = due_ms;
    to.late = false;
    if (anew)
        to.sla_marks &= (uint8_t)~SLA_MISSED;
    exec_set(e, x, &to);
    exec_move(e, x,
              &(struct move){.event = EV_PLAN, .actor = actor, .reason = reason, .due_ms = due_ms});
}

static void begin(struct engine *e, struct job *job, struct str actor, struct str reason)
{
    struct exec *x = slot_ahead(job);
    if (x == NULL)
        put_ahead(e, job, 0);
    else
        move_ahead(e, x, e->now_ms + patience_ms(job), true, actor, reason);
}

void expect_resume(struct engine *e, struct job *job)
{
    begin(e, job, SERVER, STR("its job was resumed"));
}

void expect_put_next(struct engine *e, const struct exec *x)
{
    put_ahead(e, x->job, x->v.state == EXEC_COMPLETED ? 0 : x->v.sla_marks & SLA_MISSED);
}

void expect_replan(struct engine *e, struct job *job, struct str actor)
{
    begin(e, job, actor, STR("the expectation was changed"));
}

/* A ping by a clock that was ahead came no later than now. */
void expect_step_back(struct engine *e, struct exec *x, int64_t by_ms, struct str reason)
{
    int64_t latest_ms = e->now_ms + patience_ms(x->job);
    int64_t moved_ms = x->v.slot_ms + by_ms;
    int64_t due_ms = moved_ms < latest_ms && moved_ms > 0 ? moved_ms : latest_ms;
    if (!x->v.late && due_ms < x->v.slot_ms)
        move_ahead(e, x, due_ms, false, SERVER, reason);
}

/* ---- silence, and failure */

/* Once until the next success: alerts that repeat are not read. */
static void tell(struct engine *e, struct exec *x, const char *verb, struct str what)
{
    bool told = (x->v.sla_marks & SLA_MISSED) != 0;
    touch_exec(e, x)->durable = true;
    x->v.sla_marks |= SLA_MISSED;
    if (!told)
        alert_missed(e, x, verb, what);
}

void expect_due(struct engine *e, struct exec *x)
{
    char text[WHEN_TEXT_MAX];
    struct str what = arena_printf(e->turn.arena, "no ping came within %.*s",
                                   STR_ARG(duration_format(text, patience_ms(x->job))));
    exec_move(e, x, &(struct move){.event = EV_MISS, .actor = SERVER, .reason = what});
    if (!PLANTED(silence_untold))
        tell(e, x, "was missed", what);
}

/* ---- pings */

/* Of a command that failed. Other programs may ping, too, without an exit code. */
static struct str error_of(struct engine *e, const struct ping *ping)
{
    if (ping->exit_code > 0)
        return arena_printf(e->turn.arena, "exit code %" PRId32, ping->exit_code);
    return STR("its ping told of a failure");
}

static struct attempt_end attempt_of(struct engine *e, const struct ping *ping)
{
    struct attempt_end end = {
        .outcome = ping->failed ? OUTCOME_FAILED : OUTCOME_SUCCEEDED,
        .usage = {.exit_code = ping->exit_code,
                  .output_bytes = (int64_t)ping->output.len + ping->dropped_bytes,
                  .dropped_bytes = ping->dropped_bytes,
                  .log_seq = ping->output.len > 0},
    };
    if (!ping->failed)
        return end;
    end.error = error_of(e, ping);
    end.tail = failure_tail(ping->output);
    end.class =
        failure_classify(&(struct failure_facts){.exit_code = ping->exit_code, .tail = end.tail})
            .class;
    return end;
}

/* A start that lies ahead, or longer ago than anything lasts, is of a clock that is wrong. */
static void start(struct engine *e, struct exec *x, const struct ping *ping)
{
    bool said = ping->started_ms > 0 && ping->started_ms < e->now_ms &&
                ping->started_ms >= e->now_ms - DURATION_MAX_MS;
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.started_ms = said ? ping->started_ms : e->now_ms;
    to.attempts = 1;
    to.lease.token = PING_TOKEN;
    exec_set(e, x, &to);
}

static void finish(struct engine *e, struct exec *x, const struct ping *ping, struct str actor)
{
    struct attempt_end end = attempt_of(e, ping);
    start(e, x, ping);
    exec_end_attempt(e, x, &end);
    touch_exec(e, x)->error = end.error;
    exec_move(e, x,
              &(struct move){.event = ping->failed ? EV_EXHAUST : EV_SUCCEED,
                             .actor = actor,
                             .reason = end.error,
                             .log_seq = end.usage.log_seq});
}

bool refuse_expecting(struct engine *e, struct command *cmd, const struct job *job)
{
    if (!job_expects(job))
        return false;
    command_fail(e, cmd, RC_CONFLICT,
                 "the job is not run here: it waits for pings of what runs elsewhere");
    return true;
}

static void accept(struct engine *e, struct command *cmd, struct job *job)
{
    const struct ping *ping = cmd->target.ping;
    struct exec *x = slot_ahead(job);
    if (x == NULL) /* its row was corrupt, and left alone */
        x = put_ahead(e, job, 0);
    if (ping->failed && job->v.state != JOB_PAUSED)
        tell(e, x, "has failed", error_of(e, ping));
    finish(e, x, ping, cmd->actor);
    if (!PLANTED(ping_unheard))
        expect_put_next(e, x);
    cmd->reply.job_id = job->id;
    cmd->reply.job_state = job->v.state;
    cmd->reply.exec_id = x->id;
    cmd->reply.exec_state = x->v.state;
    command_done(e, cmd);
}

void decide_ping(struct engine *e, struct command *cmd)
{
    struct job *job = target_job(e, cmd);
    if (job == NULL || refuse_over(e, cmd, job))
        return;
    if (job_expects(job))
        accept(e, cmd, job);
    else
        command_fail(
            e, cmd, RC_CONFLICT,
            "the job expects no pings: it is run here; see 'expect' in the job's document");
}

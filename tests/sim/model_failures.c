/* The model of what becomes of failures: classes, retries, losses, and timeouts that the server sees
 * to. */
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

const struct poll_result *model_result(const struct poll *poll, uint64_t exec_id, uint64_t token)
{
    for (size_t i = 0; i < poll->result_count; i++) {
        if (poll->results[i].exec_id == exec_id && poll->results[i].token == token)
            return &poll->results[i];
    }
    return NULL;
}

/* What was said in this turn about an attempt by the worker that had it; NULL: nothing. */
static const struct poll_result *reported(struct model_exec *x, uint64_t token,
                                          const struct turn_view *view)
{
    const struct model_attempt *attempt = model_attempt(x, token);
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        const struct poll_result *result =
            cmd->kind == CMD_POLL ? model_result(&cmd->poll, x->rec.id, token) : NULL;
        if (result != NULL && cmd->reply.rc == RC_OK && attempt != NULL &&
            cmd->poll.worker_id == attempt->worker_id)
            return result;
    }
    return NULL;
}

/* From when on the attempt that begins now is over, whatever its worker says. */
static int64_t limit_ms(const struct world *w, const struct model_exec *x)
{
    int64_t timeout_ms = model_wish(&w->model, x->job)->rules.timeout_ms;
    return timeout_ms == 0 ? 0 : timeout_ms + w->scene.engine.kill_grace_ms;
}

bool model_timed_out(const struct world *w, const struct model_exec *x)
{
    return x->times_out_ms != 0 && w->boot_ms >= x->times_out_ms;
}

void failures_begin(struct world *w, struct model_exec *x, const struct turn_view *view)
{
    x->times_out_ms = limit_ms(w, x) == 0 ? 0 : view->now.boot_ms + limit_ms(w, x);
}

/* As old as the wall clock says, and never younger than when it began. */
void failures_reloaded(struct world *w, struct model_exec *x)
{
    int64_t age_ms = world_now(w).wall_ms - x->rec.started_ms;
    int64_t until_ms = w->boot_ms + limit_ms(w, x) - (age_ms > 0 ? age_ms : 0);
    x->times_out_ms = limit_ms(w, x) == 0 ? 0 : until_ms > 0 ? until_ms : 1;
}

/* Whoever ended it has said why. */
void failures_step(struct world *w, struct model_exec *x, enum exec_event event,
                   const struct exec_rec *to, const struct turn_view *view)
{
    bool by_server = reported(x, x->rec.token, view) == NULL;
    bool goes_on = event == EV_RETRY && to->state != EXEC_RETRYING; /* in the same turn */
    bool by_sla = model_must_stop(x) && str_starts(to->error, STR("SLA max of "));
    if (event == EV_EXHAUST || (event == EV_EXPIRE && !by_server && !by_sla))
        PROMISE(w, str_eq(to->error, STR(SIM_ERROR)), "%s failed, and nobody knows why",
                exec_label(w, to->id));
    if ((event == EV_EXPIRE || event == EV_RETRY) && by_server && !model_must_stop(x)) {
        saw(SAW_SERVER_TIMEOUT);
        PROMISE(
            w,
            view->now.boot_ms >= x->times_out_ms && x->times_out_ms != 0 &&
                (goes_on || str_starts(to->error, STR("ended by the server, past its timeout"))),
            "%s was ended by the server for no reason", exec_label(w, to->id));
    }
    if (event == EV_QUARANTINE)
        PROMISE(w, str_starts(to->error, STR("quarantined, since its worker was lost")),
                "%s is quarantined, and nobody knows why", exec_label(w, to->id));
}

/* The next attempt is as far ahead as the rules say, and not before its worker asked for it. */
void failures_wait(struct world *w, struct model_exec *x, const struct exec_rec *to,
                   const struct turn_view *view)
{
    const struct retry *retry = &model_wish(&w->model, x->job)->rules.retry;
    const struct poll_result *result = reported(x, x->rec.token, view);
    uint32_t attempts = to->attempts - (to->token > x->rec.token); /* without one that follows */
    int64_t delay_ms = retry_delay_ms(retry, attempts, to->id);
    int64_t after_ms = result == NULL ? 0 : result->retry_after_ms;
    if (after_ms > w->scene.engine.retry_after_max_ms)
        after_ms = w->scene.engine.retry_after_max_ms;
    if (after_ms > delay_ms) {
        saw(SAW_RETRY_AFTER);
        delay_ms = after_ms;
    }
    clocks_wait(w, x, delay_ms);
    bool at_once = delay_ms == 0 && to->state != EXEC_RETRYING; /* its time came with this turn */
    PROMISE(w, to->due_ms == view->now.wall_ms + delay_ms || to->state == EXEC_CANCELLED || at_once,
            "%s is tried again at the wrong time", exec_label(w, to->id));
}

static bool is_failure(enum outcome outcome)
{
    return outcome == OUTCOME_FAILED || outcome == OUTCOME_PERMANENT ||
           outcome == OUTCOME_TIMEOUT || outcome == OUTCOME_LOST;
}

/* Its class is what its worker said, or what follows from how it ended. */
void failures_keep(struct world *w, struct model_exec *x, struct model_attempt *attempt,
                   const struct attempt_rec *rec, const struct turn_view *view)
{
    const struct poll_result *result = reported(x, rec->token, view);
    bool said = result != NULL && result->class != FAILURE_NONE;
    enum failure_class want = rec->outcome == OUTCOME_LOST      ? FAILURE_LOST_WORKER
                              : rec->outcome == OUTCOME_TIMEOUT ? FAILURE_TIMEOUT
                              : said                            ? result->class
                                                                : FAILURE_UNKNOWN;
    if (!is_failure(rec->outcome))
        want = FAILURE_NONE;
    PROMISE(w, rec->class == want && (rec->fingerprint != 0) == (want != FAILURE_NONE),
            "an attempt of %s failed by %.*s and says %.*s", exec_label(w, rec->exec_id),
            STR_ARG(failure_name(want)), STR_ARG(failure_name(rec->class)));
    attempt->class = want;
    attempt->permanent = PERMANENT_BY_CLASS;
    if (result != NULL && rec->outcome != OUTCOME_TIMEOUT)
        attempt->permanent = result->outcome == OUTCOME_PERMANENT              ? PERMANENT_YES
                             : result->permanent != PERMANENT_BY_CLASS || said ? result->permanent
                                                                               : PERMANENT_NO;
}

/* A failure that is tried again while attempts remain: when it is of a class that the job names, or,
 * when it names none, of one that may pass; and nobody has said that it cannot. */
static bool may_pass(const struct world *w, const struct model_exec *x,
                     const struct model_attempt *attempt)
{
    uint32_t named = model_wish(&w->model, x->job)->rules.retry.retry_on;
    bool lasts = attempt->class == FAILURE_PERMISSION || attempt->class == FAILURE_NOT_FOUND ||
                 attempt->class == FAILURE_USER;
    if (attempt->permanent == PERMANENT_YES)
        return false;
    if (named != 0)
        return (named & 1U << attempt->class) != 0;
    return !lasts || attempt->permanent == PERMANENT_NO;
}

/* What its newest attempt made of it. */
void failures_check(struct world *w, const struct model_exec *x)
{
    static const struct model_attempt none = {0};
    const struct model_attempt *newest =
        x->attempts.len == 0 ? &none : &x->attempts.items[x->attempts.len - 1];
    enum outcome last = newest->outcome;
    bool spent = x->rec.attempts > model_wish(&w->model, x->job)->rules.retry.max_retries ||
                 !may_pass(w, x, newest);
    bool poisoned = x->lost >= w->scene.engine.lost_max;
    bool right = true;
    PROMISE(w, !poisoned || x->rec.state == EXEC_FAILED || x->rec.state == EXEC_DEDUPLICATED,
            "%s lost %" PRIu32 " leases and goes on", exec_label(w, x->rec.id), x->lost);
    PROMISE(w, x->rec.lost == x->lost && x->rec.returned == x->returned,
            "%s says that it lost %" PRIu32 " leases and got back %" PRIu32 ", not %" PRIu32
            " and %" PRIu32,
            exec_label(w, x->rec.id), x->rec.lost, x->rec.returned, x->lost, x->returned);
    switch (x->rec.state) {
    case EXEC_COMPLETED: right = last == OUTCOME_SUCCEEDED; break;
    case EXEC_FAILED:
        right = poisoned || ((last == OUTCOME_PERMANENT || last == OUTCOME_FAILED) && spent);
        break;
    case EXEC_TIMEOUT: right = last == OUTCOME_TIMEOUT && spent; break;
    case EXEC_RETRYING:
        right = (last == OUTCOME_FAILED || last == OUTCOME_TIMEOUT) && !spent;
        break;
    case EXEC_QUEUED: right = !is_failure(last) || last == OUTCOME_LOST || !spent; break;
    default: break;
    }
    /* Rules that an edit took away may have let it go on. */
    right |= model_edited_now(&w->model, x->job) ||
             (x->rec.state == EXEC_QUEUED && x->job->rec.version > 1);
    PROMISE(w, right, "%s is %.*s after an attempt that ended as %.*s, of %" PRIu32,
            exec_label(w, x->rec.id), STR_ARG(exec_state_name(x->rec.state)),
            STR_ARG(outcome_name(last)), x->rec.attempts);
}

/* report.c - what becomes of an execution when its worker speaks, or stays silent. */
#include "engine/internal.h"

/* The attempt failed in a way that trying again may mend. */
static struct move after_failure(struct engine *e, const struct exec *x, enum exec_event last)
{
    const struct retry *retry = &x->job->v.def->retry;
    if (x->v.attempts > retry->max_retries)
        return (struct move){.event = last};
    return (struct move){
        .event = EV_RETRY,
        .due_ms = e->now_ms +
                  (PLANTED(backoff_forgotten) ? 0 : retry_delay_ms(retry, x->v.attempts, x->id)),
    };
}

static struct move move_after(struct engine *e, const struct exec *x, enum outcome outcome)
{
    if (x->v.state == EXEC_STOPPING) /* whatever it says now, somebody cancelled it before */
        return (struct move){.event = EV_STOPPED};
    switch (outcome) {
    case OUTCOME_SUCCEEDED: return (struct move){.event = EV_SUCCEED};
    case OUTCOME_FAILED: return after_failure(e, x, EV_EXHAUST);
    case OUTCOME_TIMEOUT: return after_failure(e, x, EV_EXPIRE);
    case OUTCOME_RETURNED: return (struct move){.event = EV_RETURN};
    case OUTCOME_STOPPED: /* nobody asked: the worker feared for its lease */
        return (struct move){.event = EV_LOST};
    default: return (struct move){.event = EV_EXHAUST};
    }
}

static struct str reason_of(const struct exec *x, const struct poll_result *result)
{
    if (x->v.state == EXEC_STOPPING)
        return STR("stopped as asked");
    return result->error;
}

static bool is_held(const struct exec *x, const struct worker *w, uint64_t token)
{
    return exec_is_leased(x->v.state) && lease_check(&x->v.lease, w->id, token, NULL) == RC_OK;
}

/* A success that comes after its lease had ended, but before anybody else was given the execution.
 * The attempt was written down as lost; the record with the same token takes its place. */
static bool is_late_success(const struct exec *x, const struct worker *w,
                            const struct poll_result *result)
{
    return x->v.state == EXEC_QUEUED && result->outcome == OUTCOME_SUCCEEDED &&
           lease_was(&x->v.lease, w->id, result->token);
}

static void retake(struct engine *e, struct exec *x, const struct worker *w)
{
    touch_exec(e, x);
    x->v.attempts++;
    x->v.lease.worker_id = w->id;
}

/* ---- reports that come again */

void ask_results(struct engine *e, struct command *cmd, struct question_list *list)
{
    const struct worker *w = map_get(&e->workers, cmd->poll.worker_id);
    for (size_t i = 0; w != NULL && i < cmd->poll.result_count; i++) {
        const struct poll_result *result = &cmd->poll.results[i];
        const struct exec *x = map_get(&e->execs, result->exec_id);
        if (x != NULL && is_held(x, w, result->token))
            continue;
        struct question *q = command_ask(e, cmd, list);
        q->kind = ASK_ATTEMPT;
        q->id = result->exec_id;
        q->token = result->token;
    }
}

/* A success that came for a run that was to stop was written down as stopped, and is not in. */
static bool says_the_same(const struct attempt_rec *attempt, const struct worker *w,
                          const struct poll_result *result)
{
    return attempt->token == result->token && attempt->worker_id == w->id &&
           attempt->outcome == result->outcome;
}

/* Whether the result is in already: in this turn, or in the store. The answer to the first report
 * got lost, maybe with the server that gave it. */
static bool is_repeated(const struct engine *e, const struct exec *x, const struct worker *w,
                        const struct poll_result *result, const struct question *q)
{
    if (x != NULL && x->touched != NULL && x->touched->attempt > 0 &&
        says_the_same(&e->attempts.items[x->touched->attempt - 1], w, result))
        return true;
    return q != NULL && q->answer.attempt != NULL && says_the_same(q->answer.attempt, w, result);
}

/* The question that was asked about this result, if there was one. */
static const struct question *take_question(const struct command *cmd,
                                            const struct poll_result *result, size_t *asked)
{
    const struct question *q = *asked < cmd->question_count ? &cmd->questions[*asked] : NULL;
    if (q == NULL || q->id != result->exec_id || q->token != result->token)
        return NULL;
    ++*asked;
    return q;
}

/* ---- what becomes of it */

void report_result(struct engine *e, const struct worker *w, struct str actor,
                   const struct poll_result *result, size_t *asked,
                   struct poll_verdict *ret_verdict)
{
    struct exec *x = map_get(&e->execs, result->exec_id);
    const struct question *q = take_question(w->turn.cmd, result, asked);
    *ret_verdict = (struct poll_verdict){.exec_id = result->exec_id, .token = result->token};
    if (x == NULL || !(is_held(x, w, result->token) || is_late_success(x, w, result))) {
        ret_verdict->accepted = PLANTED(result_accepted_twice) || is_repeated(e, x, w, result, q);
        return;
    }
    ret_verdict->accepted = true;
    if (x->v.state == EXEC_QUEUED)
        retake(e, x, w);
    struct move move = move_after(e, x, result->outcome);
    move.actor = actor;
    move.reason = reason_of(x, result);
    move.log_seq = result->usage.log_seq;
    enum outcome outcome = x->v.state == EXEC_STOPPING ? OUTCOME_STOPPED : result->outcome;
    exec_end_attempt(e, x, outcome, &result->usage, result->error);
    exec_move(e, x, &move);
    struct touched *t = touch_exec(e, x);
    t->error = result->error;
    if (move.event == EV_SUCCEED)
        t->result = result->result;
}

void report_silence(struct engine *e, struct exec *x, struct str reason)
{
    static const struct usage nothing_known = {.exit_code = -1};
    bool started = x->v.lease.confirmed;
    struct move move = {.event = EV_RETURN, .actor = SERVER, .reason = reason};
    enum outcome outcome = OUTCOME_RETURNED;
    if (x->v.state == EXEC_STOPPING) {
        move.event = EV_STOPPED;
        outcome = OUTCOME_STOPPED;
    } else if (started) {
        move.event = EV_LOST;
        outcome = OUTCOME_LOST;
        alert_worker_lost(e, x);
    }
    exec_end_attempt(e, x, outcome, &nothing_known, reason);
    exec_move(e, x, &move);
    touch_exec(e, x)->error = reason;
}

/* report.c - what becomes of an execution when its worker speaks, or stays silent. */
#include "engine/ready/report.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/alerts.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/silence.h"
#include "engine/time/sla.h"

/* ---- failures */

/* The failure's class as far as it is known: as the worker says, or else by how the command
 * ended. */
static struct failure failure_of(const struct poll_result *result)
{
    struct failure failure = {result->class, result->permanent};
    if (result->outcome == OUTCOME_TIMEOUT)
        failure.class = FAILURE_TIMEOUT;
    if (failure.class == FAILURE_NONE) {
        failure = failure_classify(&(struct failure_facts){
            .exit_code = result->usage.exit_code,
            .signal = result->usage.signal,
            .tail = result->tail,
        });
        if (result->permanent != PERMANENT_BY_CLASS)
            failure.permanent = result->permanent;
    }
    if (result->outcome == OUTCOME_PERMANENT)
        failure.permanent = PERMANENT_YES;
    return failure;
}

/* Trying again cannot help, as far as anybody knows. */
static bool is_hopeless(const struct retry *retry, struct failure failure)
{
    static const struct retry any = {.retry_on = 0};
    return !retry_allows(&any, failure) && !retry_allows(retry, failure);
}

/* Why it is not tried again though attempts remain. */
static struct str given_up(struct engine *e, const struct exec *x, struct failure failure,
                           struct str error)
{
    struct str name = failure_name(failure.class);
    const char *why = x->job->v.def->rules.retry.retry_on != 0 ? "not in retry_on" : "permanent";
    if (failure.permanent == PERMANENT_YES)
        return error;
    return arena_printf(e->turn.arena, "%.*s; not tried again: %.*s is %s", STR_ARG(error),
                        STR_ARG(name), why);
}

/* When the next attempt may begin: as the rules say, and not before the worker asks for it. */
static int64_t next_attempt_ms(const struct engine *e, const struct exec *x, int64_t after_ms)
{
    int64_t delay_ms = retry_delay_ms(&x->job->v.def->rules.retry, x->v.attempts, x->id);
    if (PLANTED(backoff_forgotten))
        delay_ms = 0;
    if (after_ms > e->options.retry_after_max_ms)
        after_ms = e->options.retry_after_max_ms;
    if (after_ms > delay_ms && !PLANTED(retry_after_ignored))
        delay_ms = after_ms;
    return e->now_ms + delay_ms;
}

/* Another attempt follows, or this was the last one. */
static struct move after_failure(struct engine *e, const struct exec *x, enum outcome outcome,
                                 struct failure failure, int64_t after_ms, struct str error)
{
    enum exec_event last = outcome == OUTCOME_TIMEOUT ? EV_EXPIRE : EV_EXHAUST;
    const struct retry *retry = &x->job->v.def->rules.retry;
    bool blameless = !failure_blames_target(failure) && !PLANTED(permanent_blames_target);
    if (x->v.attempts > retry->max_retries)
        return (struct move){
            .event = last, .reason = error, .why = LETTER_EXHAUSTED, .blameless = blameless};
    if (!retry_allows(retry, failure) && !PLANTED(retry_of_permanent))
        return (struct move){
            .event = last,
            .reason = given_up(e, x, failure, error),
            .why = is_hopeless(retry, failure) ? LETTER_PERMANENT : LETTER_NOT_RETRIED,
            .blameless = blameless,
        };
    return (struct move){.event = EV_RETRY,
                         .reason = error,
                         .due_ms = next_attempt_ms(e, x, after_ms),
                         .blameless = blameless};
}

/* Another worker may have more luck, but not for ever: an execution that harms each worker must not
 * go through all of them. */
static struct move after_harm(struct engine *e, const struct exec *x, const char *what,
                              struct str error)
{
    bool goes_on = x->v.lost + 1U < e->options.lost_max || PLANTED(poison_forgotten);
    if (goes_on || x->v.effect_done) /* then nobody will be given it any more */
        return (struct move){.event = EV_LOST, .reason = error};
    return (struct move){
        .event = EV_QUARANTINE,
        .why = LETTER_QUARANTINED,
        .reason = arena_printf(e->turn.arena, "quarantined, since %s %d times: %.*s", what,
                               x->v.lost + 1, STR_ARG(error)),
    };
}

static struct move after_loss(struct engine *e, const struct exec *x, struct str error)
{
    return after_harm(e, x, "its worker was lost", error);
}

/* The commands of the worker died together, and any of them may have caused it. One on probation is
 * blamed alone; with none on probation all are suspected, as when server and worker die together
 * (silence.c). */
static struct move after_crash(struct engine *e, struct exec *x, bool accused, struct str error,
                               struct attempt_end *end)
{
    if (exec_on_probation(x)) {
        end->outcome = OUTCOME_LOST;
        end->class = FAILURE_LOST_WORKER;
        return after_loss(e, x, error);
    }
    touch_exec(e, x);
    if (!accused)
        x->v.unseen += x->v.unseen < UINT16_MAX;
    end->outcome = OUTCOME_RETURNED;
    return (struct move){.event = EV_RETURN, .reason = error};
}

/* Whether its end, as the worker tells it, is the end of its time: it was told to stop for that. */
static bool ran_out_of_time(const struct engine *e, const struct exec *x, enum outcome outcome)
{
    return outcome == OUTCOME_TIMEOUT || (outcome == OUTCOME_STOPPED && exec_timed_out(e, x));
}

/* It was told to stop since it took longer than it may; a worker that gives it back instead has
 * stopped it, too. */
static bool was_stopped_by_sla(const struct exec *x, enum outcome outcome)
{
    return sla_stops(x) && (outcome == OUTCOME_STOPPED || outcome == OUTCOME_RETURNED);
}

static struct move after_sla(struct engine *e, const struct exec *x, struct attempt_end *end)
{
    end->outcome = OUTCOME_TIMEOUT;
    end->class = FAILURE_TIMEOUT;
    end->error = sla_error(e, x);
    return after_failure(e, x, OUTCOME_TIMEOUT, (struct failure){.class = FAILURE_TIMEOUT}, 0,
                         end->error);
}

static struct move move_after(struct engine *e, const struct worker *w, struct exec *x,
                              const struct poll_result *result, struct attempt_end *end)
{
    if (x->v.state == EXEC_STOPPING) { /* it was cancelled before, and any report ends it so */
        end->outcome = OUTCOME_STOPPED;
        return (struct move){.event = EV_STOPPED, .reason = STR("stopped as asked")};
    }
    if (ran_out_of_time(e, x, result->outcome))
        end->outcome = OUTCOME_TIMEOUT;
    if (was_stopped_by_sla(x, result->outcome))
        return after_sla(e, x, end);
    switch (end->outcome) {
    case OUTCOME_SUCCEEDED: return (struct move){.event = EV_SUCCEED, .reason = result->error};
    case OUTCOME_RETURNED:
        if (result->code == POLL_CODE_UNREADABLE)
            return after_harm(e, x, "its workers could not read it, or were lost,", result->error);
        return (struct move){.event = EV_RETURN, .reason = result->error};
    case OUTCOME_STOPPED: /* not asked for: the worker feared for its lease */
        if (result->code == POLL_CODE_SPAWNER_DIED)
            return after_crash(e, x, w->turn.accused, result->error, end);
        if (!x->v.spared)
            return after_loss(e, x, result->error);
        end->outcome = OUTCOME_RETURNED;
        return (struct move){.event = EV_RETURN, .reason = result->error};
    default: break;
    }
    struct failure failure = failure_of(result);
    if (end->outcome == OUTCOME_TIMEOUT)
        failure.class = FAILURE_TIMEOUT;
    end->class = failure.class;
    if (end->outcome == OUTCOME_FAILED && is_hopeless(&x->job->v.def->rules.retry, failure))
        end->outcome = OUTCOME_PERMANENT;
    return after_failure(e, x, end->outcome, failure, result->retry_after_ms, result->error);
}

static bool is_held(const struct exec *x, uint64_t worker_id, uint64_t token)
{
    return exec_is_leased(x->v.state) && lease_check(&x->v.lease, worker_id, token, NULL) == RC_OK;
}

/* A success that comes after its lease had ended, but before anybody else was given the execution.
 * The attempt was written down as lost; the record with the same token takes its place. */
static bool is_late_success(const struct exec *x, const struct worker *w,
                            const struct poll_result *result)
{
    return x->v.state == EXEC_QUEUED && result->outcome == OUTCOME_SUCCEEDED &&
           lease_was(&x->v.lease, w->id, result->token);
}

/* By the worker that was the last to hold it. */
static void retake(struct engine *e, struct exec *x)
{
    touch_exec(e, x);
    x->v.attempts++;
    x->v.lease.held = true;
}

/* ---- work that was done twice, almost */

/* A success of a lease that was lost, after somebody else was given the execution. Its result is
 * not accepted; but whoever has the execution now shall be the last. */
static bool did_the_work(const struct exec *x, const struct worker *w,
                         const struct poll_result *result, const struct question *q)
{
    const struct attempt_rec *attempt = q == NULL ? NULL : q->answer.attempt;
    return x != NULL && result->outcome == OUTCOME_SUCCEEDED && attempt != NULL &&
           attempt->worker_id == w->id &&
           (attempt->outcome == OUTCOME_LOST || attempt->outcome == OUTCOME_RETURNED) &&
           x->v.lease.token > result->token && exec_next(x->v.state, EV_DEDUPLICATE) != EXEC_NONE;
}

static void remember_effect(struct engine *e, struct exec *x)
{
    if (x->v.effect_done)
        return;
    touch_exec(e, x)->durable = true;
    x->v.effect_done = true;
    if (!exec_is_leased(x->v.state))
        exec_deduplicate(e, x);
}

/* An attempt that failed since is no reason to try again, nor to call it failed. */
static void unless_done(const struct exec *x, struct move *move)
{
    if (x->v.effect_done &&
        (move->event == EV_RETRY || move->event == EV_EXHAUST || move->event == EV_EXPIRE))
        *move = (struct move){.event = EV_DEDUPLICATE, .reason = DONE_BEFORE};
}

/* ---- reports that come again */

void ask_results(struct engine *e, struct command *cmd, struct question_list *list)
{
    for (size_t i = 0; i < cmd->poll.result_count; i++) {
        const struct poll_result *result = &cmd->poll.results[i];
        const struct exec *x = map_get(&e->execs, result->exec_id);
        if (!partition_has(&e->owned, result->exec_id) ||
            (x != NULL && is_held(x, cmd->poll.worker_id, result->token)))
            continue;
        struct question *q = command_ask(e, cmd, list);
        q->kind = ASK_ATTEMPT;
        q->id = result->exec_id;
        q->token = result->token;
    }
}

/* A success that came for a run that was to stop was written down as stopped, and is not in. That a
 * failure is permanent may have been our own finding. */
static bool says_the_same(const struct attempt_rec *attempt, const struct worker *w,
                          const struct poll_result *result)
{
    bool same = attempt->outcome == result->outcome ||
                (attempt->outcome == OUTCOME_PERMANENT && result->outcome == OUTCOME_FAILED);
    return attempt->token == result->token && attempt->worker_id == w->id && same;
}

/* Whether the result is in already: in this turn, or in the store. The answer to the first report
 * got lost, maybe with the server that gave it. */
static bool is_repeated(const struct engine *e, const struct exec *x, const struct worker *w,
                        const struct poll_result *result, const struct question *q)
{
    if (x != NULL && x->touched != NULL && x->touched->attempt > 0 &&
        says_the_same(&e->turn.attempts.items[x->touched->attempt - 1], w, result))
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
    if (x == NULL || !(is_held(x, w->id, result->token) || is_late_success(x, w, result))) {
        ret_verdict->accepted = PLANTED(result_accepted_twice) || is_repeated(e, x, w, result, q);
        if (!ret_verdict->accepted && did_the_work(x, w, result, q))
            remember_effect(e, x);
        if (x != NULL)
            alert_token_unknown(e, w, x, result->token);
        return;
    }
    ret_verdict->accepted = true;
    if (x->v.state == EXEC_QUEUED)
        retake(e, x);
    struct attempt_end end = {
        .outcome = result->outcome,
        .usage = result->usage,
        .error = result->error,
        .tail = result->tail,
    };
    struct move move = move_after(e, w, x, result, &end);
    unless_done(x, &move);
    move.actor = actor;
    move.reported = result->code != POLL_CODE_SPAWNER_DIED;
    move.log_seq = result->usage.log_seq;
    exec_end_attempt(e, x, &end);
    exec_move(e, x, &move);
    struct touched *t = touch_exec(e, x);
    if (x->v.state != EXEC_DEDUPLICATED)
        t->error = move.event == EV_QUARANTINE ? move.reason : end.error;
    if (move.event == EV_SUCCEED)
        t->result = result->result;
}

/* No report came, and the attempt has had all its time: it is over, whatever became of its
 * worker. */
static struct move after_time(struct engine *e, const struct exec *x, struct str *error)
{
    char text[WHEN_TEXT_MAX];
    duration_format(text, x->job->v.def->rules.timeout_ms);
    *error = arena_printf(e->turn.arena, "ended by the server, past its timeout of %s", text);
    return after_failure(e, x, OUTCOME_TIMEOUT, (struct failure){.class = FAILURE_TIMEOUT}, 0,
                         *error);
}

/* Its time was over while it ran; of what nobody has named that is known only of the time
 * before. */
static bool silent_past_sla(struct engine *e, struct exec *x)
{
    bool known = !lease_is_unseen(&x->v.lease) || unseen_sla_over(e, x);
    if (known)
        sla_catch_up(e, x);
    return sla_stops(x) && known;
}

static bool silent_past_time(const struct engine *e, const struct exec *x, enum blame blame)
{
    if (lease_is_unseen(&x->v.lease))
        return blame != BLAME_NONE && unseen_timed_out(e, x);
    return x->v.lease.confirmed && exec_timed_out(e, x);
}

void report_silence(struct engine *e, struct exec *x, struct str reason, enum blame blame)
{
    struct attempt_end end = {.outcome = OUTCOME_RETURNED, .usage = {.exit_code = -1}};
    struct move move = {.event = EV_RETURN, .reason = reason};
    touch_exec(e, x);
    if (x->v.state == EXEC_STOPPING) {
        move.event = EV_STOPPED;
        end.outcome = OUTCOME_STOPPED;
    } else if (silent_past_sla(e, x)) {
        move = after_sla(e, x, &end);
        reason = end.error;
    } else if (silent_past_time(e, x, blame)) {
        move = after_time(e, x, &reason);
        end.outcome = OUTCOME_TIMEOUT;
        end.class = FAILURE_TIMEOUT;
    } else if (x->v.lease.confirmed || blame == BLAME_LOST) {
        move = after_loss(e, x, reason);
        end.outcome = OUTCOME_LOST;
        end.class = FAILURE_LOST_WORKER;
        alert_worker_lost(e, x);
    } else if (blame == BLAME_UNSEEN) {
        x->v.unseen += x->v.unseen < UINT16_MAX;
    }
    unless_done(x, &move);
    move.actor = SERVER;
    end.error = reason;
    exec_end_attempt(e, x, &end);
    exec_move(e, x, &move);
    if (x->v.state != EXEC_DEDUPLICATED)
        touch_exec(e, x)->error = move.event == EV_QUARANTINE ? move.reason : reason;
}

/* ---- who may go on */

/* A run that was cancelled has no right to begin anything, though its worker still holds it. An
 * execution that is not in memory does not run. */
void decide_fence(struct engine *e, struct command *cmd)
{
    const struct exec *x = map_get(&e->execs, cmd->target.id);
    if (x != NULL && x->v.state == EXEC_RUNNING && x->v.lease.token == cmd->target.seq)
        command_done(e, cmd);
    else
        command_fail(e, cmd, RC_STALE, "%s",
                     x != NULL && x->v.state == EXEC_STOPPING ? "the run was cancelled"
                                                              : "the token owns no run");
}

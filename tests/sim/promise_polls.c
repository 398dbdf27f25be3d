/* promise_polls.c - what a worker is told: verdicts, leases, and what to stop. */
#include "coverage.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>
#include <stddef.h>

static void check_verdict(struct world *w, const struct command *cmd,
                          const struct poll_verdict *verdict, enum outcome outcome)
{
    struct model_exec *x = model_exec(&w->model, verdict->exec_id);
    uint64_t worker_id = cmd->poll.worker_id;
    SAY(w, "answer", "%s, token %" PRIu64 ": the result is %s", exec_label(w, verdict->exec_id),
        verdict->token, verdict->accepted ? "accepted" : "refused");
    if (!verdict->accepted) {
        PROMISE(w,
                x == NULL || !exec_is_leased(x->rec.state) || x->rec.worker_id != worker_id ||
                    x->rec.token != verdict->token || x->token_before < verdict->token,
                "a result of %s was refused, and its worker has the lease",
                exec_label(w, verdict->exec_id));
        return;
    }
    const struct model_attempt *attempt = x == NULL ? NULL : model_attempt(x, verdict->token);
    PROMISE(w, attempt != NULL && attempt->worker_id == worker_id,
            "a result of %s was accepted from a worker that never had it",
            exec_label(w, verdict->exec_id));
    bool found_out = (attempt->outcome == OUTCOME_PERMANENT && outcome == OUTCOME_FAILED) ||
                     (attempt->outcome == OUTCOME_TIMEOUT &&
                      (outcome == OUTCOME_STOPPED || outcome == OUTCOME_RETURNED));
    PROMISE(w, attempt->outcome == outcome || attempt->outcome == OUTCOME_STOPPED || found_out,
            "%s reported %.*s and was told that it is in, but that was not kept",
            exec_label(w, x->rec.id), STR_ARG(outcome_name(outcome)));
    if (attempt->ended_turn == w->model.turn) /* else it was in before, and is said again */
        PROMISE(w, verdict->token == x->token_before,
                "a result of %s with token %" PRIu64 " was accepted after token %" PRIu64
                " was granted",
                exec_label(w, x->rec.id), verdict->token, x->token_before);
}

/* What its job is by now. A lease that is sent again in the turn of an edit may be as it was. */
static bool is_payload_of(const struct model *m, const struct model_job *job, struct str payload)
{
    return str_eq(payload, model_wish(m, job)->payload) ||
           (model_edited_now(m, job) &&
            str_eq(payload, m->wishes.items[job->definition_before].payload));
}

/* Of its caller, else its own, the same at every server. */
static void check_trace(struct world *w, const struct model_exec *x, const struct poll_lease *lease)
{
    const struct trace_rule *rule = &w->scene.engine.trace;
    struct exec_trace trace;
    struct trace_parent want = {.span = 0};
    if (trace_of(rule, x->rec.id, x->trace, &trace))
        want = trace_for_attempt(rule, x->rec.id, lease->token, &trace);
    PROMISE(w,
            trace_id_eq(lease->trace.trace, want.trace) && lease->trace.span == want.span &&
                lease->trace.flags == want.flags,
            "%s was sent in another trace than it was made in", exec_label(w, lease->exec_id));
}

void promise_ended(void *arg, const struct ended_trace *ended, size_t count)
{
    struct world *w = arg;
    for (size_t i = 0; i < count; i++) {
        uint64_t id = ended[i].change->exec.id;
        struct model_exec *x = model_exec(&w->model, id);
        bool failed = x != NULL && x->rec.state != EXEC_COMPLETED;
        PROMISE(w, x != NULL && exec_is_final(x->rec.state) && !x->traced,
                "the spans of %s were told before its end, or twice", exec_label(w, id));
        PROMISE(w, (ended[i].trace.flags & TRACE_SAMPLED) != 0 || failed,
                "the spans of %s were told, which nobody wanted", exec_label(w, id));
        x->traced = true;
    }
}

static void check_lease(struct world *w, const struct command *cmd, const struct poll_lease *lease)
{
    const struct model_exec *x = model_exec(&w->model, lease->exec_id);
    SAY(w, "answer", "%s, token %" PRIu64 ", goes to its worker", exec_label(w, lease->exec_id),
        lease->token);
    PROMISE(w,
            x != NULL && exec_is_leased(x->rec.state) && x->rec.token == lease->token &&
                x->rec.worker_id == cmd->poll.worker_id,
            "%s was sent to a worker that has no lease of it", exec_label(w, lease->exec_id));
    past_granted(w, cmd, lease->exec_id, lease->token);
    if (x->changed_turn != w->model.turn)
        saw(SAW_SENT_AGAIN);
    bool right = x->payload.len > 0 ? str_eq(lease->payload, x->payload)
                                    : is_payload_of(&w->model, x->job, lease->payload);
    PROMISE(w, right && lease->spec.len > 0,
            "%s was sent with the definition of another job, or run",
            exec_label(w, lease->exec_id));
    if (x->payload.len > 0)
        saw(SAW_OWN_PAYLOAD);
    check_trace(w, x, lease);
}

void promise_stop(struct world *w, uint64_t worker_id, const struct poll_stop *stop)
{
    const struct model_exec *x = model_exec(&w->model, stop->exec_id);
    PROMISE(w,
            x == NULL || x->rec.state != EXEC_RUNNING || x->rec.token != stop->token ||
                x->rec.worker_id != worker_id || model_timed_out(w, x) || model_must_stop(x),
            "a worker was told to stop %s, which it has every right to run",
            exec_label(w, stop->exec_id));
}

/* One per result of what the server owns, in order; the others are for other servers. */
static void check_verdicts(struct world *w, const struct command *cmd)
{
    const struct poll_reply *reply = &cmd->reply.poll;
    size_t at = 0;
    const struct call *call = (const void *)((const char *)cmd - offsetof(struct call, cmd));
    if (call->away && reply->verdict_count == 0)
        return; /* its worker repeats them */
    for (size_t i = 0; i < cmd->poll.result_count; i++) {
        const struct poll_result *result = &cmd->poll.results[i];
        if (!partition_has(&w->door->view->owned, result->exec_id))
            continue;
        PROMISE(w,
                at < reply->verdict_count && reply->verdicts[at].exec_id == result->exec_id &&
                    reply->verdicts[at].token == result->token,
                "the result of %s got no verdict", exec_label(w, result->exec_id));
        check_verdict(w, cmd, &reply->verdicts[at++], result->outcome);
    }
    PROMISE(w, at == reply->verdict_count, "a poll got %zu verdicts too many",
            reply->verdict_count - at);
}

void promise_poll(struct world *w, const struct command *cmd)
{
    const struct poll_reply *reply = &cmd->reply.poll;
    if (cmd->reply.rc != RC_OK) {
        PROMISE(w,
                cmd->reply.rc != RC_NOT_FOUND ||
                    model_worker(&w->model, cmd->poll.worker_id) == NULL,
                "a worker that is kept was not found");
        return;
    }
    PROMISE(w, reply->lease_count <= cmd->poll.free, "a poll with %" PRIu32 " free slots got %zu",
            cmd->poll.free, reply->lease_count);
    check_verdicts(w, cmd);
    for (size_t i = 0; i < reply->lease_count; i++)
        check_lease(w, cmd, &reply->leases[i]);
    for (size_t i = 0; i < reply->stop_count; i++) {
        saw(SAW_STOP_TOLD);
        promise_stop(w, cmd->poll.worker_id, &reply->stops[i]);
    }
}

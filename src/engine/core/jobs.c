/* jobs.c - what somebody asks of a job that is there: cancel, pause, run now, run again. */
#include "engine/core/jobs.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/letters.h"
#include "engine/core/load.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/submit/submit.h"
#include "engine/submit/unique.h"
#include "engine/time/expect.h"
#include "engine/time/slots.h"
#include "engine/trace/traces.h"
#include "job/command/command_facts.h"

#include <assert.h>

/* ---- what a command is about, when memory may not hold it */

/* Only what has ended can run again, and only when its job is over, with all that it did. */
static bool may_run_again(const struct answer *a)
{
    return a->exec != NULL && exec_is_final(a->exec->state) && a->job_count > 0 &&
           job_is_over(a->jobs[0].state) && a->newest == NULL;
}

static bool is_about_letter(const struct command *cmd)
{
    return command_facts(cmd->kind)->subject == ABOUT_LETTER;
}

static bool is_about_job(const struct command *cmd)
{
    return command_facts(cmd->kind)->subject == ABOUT_JOB;
}

/* It is for all that is unfinished of its job, also for the slot ahead. Others are not: a run that
 * somebody asks for now, for one, has nothing to do with the next slot. */
static bool concerns_all(const struct command *cmd)
{
    return cmd->kind == CMD_CANCEL_JOB || cmd->kind == CMD_RESUME_JOB || cmd->kind == CMD_PING;
}

bool job_is_whole(const struct job *job)
{
    return job->v.def->schedule == NULL || slot_ahead(job) != NULL;
}

static bool is_in_memory(const struct engine *e, const struct command *cmd)
{
    const struct job *job = map_get(&e->jobs, cmd->target.id);
    if (is_about_job(cmd))
        return job != NULL && (!concerns_all(cmd) || job_is_whole(job));
    return map_get(&e->execs, cmd->target.id) != NULL && !is_about_letter(cmd);
}

static bool runs_again(const struct command *cmd)
{
    return cmd->kind == CMD_RETRY_EXEC || cmd->kind == CMD_RETRY_LETTER;
}

/* Running a job again claims anew what was its own while it was unfinished. One in memory still
 * is. */
static void ask_again(struct engine *e, struct command *cmd, struct question_list *list)
{
    const struct answer *a = &cmd->questions[0].answer;
    struct rules rules;
    if (!may_run_again(a) || map_get(&e->jobs, a->jobs[0].id) != NULL ||
        (is_about_letter(cmd) && a->letter_count == 0))
        return;
    if (a->jobs[0].name.len > 0) {
        struct question *q = command_ask(e, cmd, list);
        q->kind = ASK_CLAIM;
        q->claim =
            (struct claim){.kind = CLAIM_NAME, .key = a->jobs[0].name, .holder = a->jobs[0].id};
    }
    if (e->options.read_rules(e->options.rules_arg, &a->jobs[0], cmd->arena, &rules, NULL) == RC_OK)
        unique_ask(e, cmd, &rules.unique, a->jobs[0].id, &cmd->unique, list);
}

/* Asks for things that are not in memory. Finished executions never are. */
void ask_target(struct engine *e, struct command *cmd, unsigned round, struct question_list *list)
{
    if (round == 0 && !is_in_memory(e, cmd)) {
        struct question *q = command_ask(e, cmd, list);
        q->kind = !is_about_job(cmd) ? ASK_EXEC : concerns_all(cmd) ? ASK_AHEAD : ASK_JOB;
        q->id = cmd->target.id;
    } else if (round == 1 && runs_again(cmd) && cmd->question_count == 1) {
        ask_again(e, cmd, list);
    } else if (round == 2) {
        unique_ask_holder(e, cmd, &cmd->unique, list);
    }
}

static bool adopt_unfinished(struct engine *e, const struct exec_rec *rec, struct err *err)
{
    return rec == NULL || exec_is_final(rec->state) || adopt_exec(e, rec, err) != NULL;
}

struct job *adopt_answer(struct engine *e, struct command *cmd)
{
    const struct answer *a = cmd->question_count > 0 ? &cmd->questions[0].answer : NULL;
    if (a == NULL || a->job_count == 0 || (!is_about_job(cmd) && a->exec == NULL)) {
        bool about_job = is_about_job(cmd);
        command_fail(e, cmd, RC_NOT_FOUND, "there is no %s %s", about_job ? "job" : "execution",
                     ID_TEXT(about_job ? ID_JOB : ID_EXEC, cmd->target.id));
        return NULL;
    }
    struct job *job = adopt_job(e, &a->jobs[0], &cmd->reply.err);
    if (job == NULL || !adopt_unfinished(e, a->newest, &cmd->reply.err) ||
        !adopt_unfinished(e, a->exec, &cmd->reply.err)) {
        cmd->reply.rc = cmd->reply.err.rc;
        command_done(e, cmd);
        return NULL;
    }
    return job;
}

static void reply_job(struct engine *e, struct command *cmd, const struct job *job)
{
    cmd->reply.job_id = job->id;
    cmd->reply.job_state = job->v.state;
    cmd->reply.at_ms = e->now_ms;
    command_done(e, cmd);
}

static void reply_exec(struct engine *e, struct command *cmd, const struct exec *x)
{
    cmd->reply.exec_id = x->id;
    cmd->reply.exec_state = x->v.state;
    reply_job(e, cmd, x->job);
}

static void overlaps(struct engine *e, struct command *cmd, const struct exec *other)
{
    char id[ID_TEXT_MAX];
    id_format(id, ID_EXEC, other->id);
    command_fail(e, cmd, RC_CONFLICT, "%s is not over yet, and the job's overlap is skip", id);
}

static struct str why(struct engine *e, const struct command *cmd)
{
    if (cmd->target.reason.len > 0)
        return cmd->target.reason;
    return arena_printf(e->turn.arena, "cancelled by %.*s", STR_ARG(cmd->actor));
}

struct job *target_job(struct engine *e, struct command *cmd)
{
    uint64_t id = cmd->kind == CMD_EDIT_JOB ? cmd->edit.id : cmd->target.id;
    struct job *job = map_get(&e->jobs, id);
    return job != NULL && cmd->question_count == 0 ? job : adopt_answer(e, cmd);
}

void decide_cancel_job(struct engine *e, struct command *cmd)
{
    struct job *job = target_job(e, cmd);
    if (job == NULL)
        return;
    if (job->v.state == JOB_COMPLETED || job->v.state == JOB_FAILED) {
        command_fail(e, cmd, RC_CONFLICT, "the job has already ended: it is %.*s",
                     STR_ARG(job_state_name(job->v.state)));
        return;
    }
    bool first = job->v.state != JOB_CANCELLED; /* else what runs is still stopping */
    struct str reason = why(e, cmd);
    if (first &&
        job->v.def->schedule != NULL) /* before its executions, so that none follows them */
        job_set(e, job, JOB_CANCELLED, STR("cancel"), cmd->actor, reason);
    LIST_EACH(&job->execs, node)
    exec_cancel(e, CONTAINER_OF(node, struct exec, sibling), cmd->actor, reason);
    if (first && job->v.def->schedule == NULL && !job_is_over(job->v.state))
        job_set(e, job, JOB_CANCELLED, STR("cancel"), cmd->actor, reason);
    reply_job(e, cmd, job);
    cmd->reply.at_ms = job->v.finished_ms; /* asked twice: still the first time */
}

void decide_cancel_exec(struct engine *e, struct command *cmd)
{
    struct exec *x = map_get(&e->execs, cmd->target.id);
    enum exec_state state = EXEC_NONE;
    if (x == NULL) {
        if (adopt_answer(e, cmd) == NULL)
            return;
        state = cmd->questions[0].answer.exec->state;
        x = map_get(&e->execs, cmd->target.id);
    }
    if (x != NULL)
        state = x->v.state;
    if (x == NULL || exec_is_final(state)) {
        command_fail(e, cmd, RC_CONFLICT, "the execution has already ended: it is %.*s",
                     STR_ARG(exec_state_name(state)));
        return;
    }
    bool ahead = state == EXEC_SCHEDULED && x->job->v.def->schedule != NULL;
    exec_cancel(e, x, cmd->actor, why(e, cmd));
    if (ahead && !job_is_over(x->job->v.state) && job_expects(x->job))
        expect_put_next(e, x);
    else if (ahead && !job_is_over(x->job->v.state))
        slot_put_next(e, x);
    reply_exec(e, cmd, x);
}

/* ---- pause, resume, run now */

bool refuse_over(struct engine *e, struct command *cmd, const struct job *job)
{
    if (!job_is_over(job->v.state))
        return false;
    command_fail(e, cmd, RC_CONFLICT, "the job has already ended: it is %.*s",
                 STR_ARG(job_state_name(job->v.state)));
    return true;
}

void decide_pause(struct engine *e, struct command *cmd)
{
    struct job *job = target_job(e, cmd);
    if (job == NULL || refuse_over(e, cmd, job))
        return;
    if (job->v.state != JOB_PAUSED) /* asked twice: still the first time */
        job_set(e, job, JOB_PAUSED, STR("pause"), cmd->actor, cmd->target.reason);
    reply_job(e, cmd, job);
}

/* Slots that were missed in the meantime stay missed. A job that runs once runs now instead. */
void decide_resume(struct engine *e, struct command *cmd)
{
    struct job *job = target_job(e, cmd);
    if (job == NULL || refuse_over(e, cmd, job))
        return;
    if (job->v.state == JOB_PAUSED) {
        job_set(e, job, JOB_ACTIVE, STR("resume"), cmd->actor, cmd->target.reason);
        struct exec *ahead = slot_ahead(job);
        if (job_expects(job))
            expect_resume(e, job);
        else if (job->v.def->schedule != NULL && ahead != NULL && !PLANTED(resume_looks_back))
            slot_move_on(e, ahead, STR("missed while the job was paused"));
    }
    reply_job(e, cmd, job);
}

/* Of its own; without one it runs with its job's, whatever that is by then. */
static void give_payload(struct engine *e, struct exec *x, struct str payload)
{
    if (payload.len == 0)
        return;
    x->own_payload = true;
    touch_exec(e, x)->payload = payload;
}

static bool waits_for_others(const struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        if (CONTAINER_OF(node, struct exec, sibling)->waits_for > 0)
            return true;
    }
    return false;
}

static void trigger_once(struct engine *e, struct command *cmd, struct job *job)
{
    struct exec *x = slot_ahead(job);
    if (cmd->target.payload.len > 0) {
        command_fail(e, cmd, RC_CONFLICT,
                     "the job runs once, with its own payload: change that, then trigger it");
        return;
    }
    if (x == NULL) {
        command_fail(e, cmd, RC_CONFLICT, "%s",
                     waits_for_others(job) ? "the job waits for other jobs to end"
                                           : "the job's only run has begun already");
        return;
    }
    exec_move(e, x,
              &(struct move){.event = EV_DUE,
                             .actor = cmd->actor,
                             .reason = STR("somebody asked for it now")});
    reply_exec(e, cmd, x);
}

/* A run more, beside those that are planned. */
static void trigger_slot(struct engine *e, struct command *cmd, struct job *job)
{
    struct exec *x = slot_trigger(e, job, NULL, cmd, STR("somebody asked for it now"));
    if (!PLANTED(trigger_forgets_payload))
        give_payload(e, x, cmd->target.payload);
    reply_exec(e, cmd, x);
}

void decide_trigger(struct engine *e, struct command *cmd)
{
    struct job *job = target_job(e, cmd);
    if (job == NULL || refuse_over(e, cmd, job) || refuse_expecting(e, cmd, job))
        return;
    const struct exec *other = slot_in_the_way(job);
    if (job->v.state == JOB_PAUSED)
        command_fail(e, cmd, RC_CONFLICT, "the job is paused; resume it first");
    else if (job->v.def->schedule == NULL)
        trigger_once(e, cmd, job);
    else if (other != NULL)
        overlaps(e, cmd, other);
    else
        trigger_slot(e, cmd, job);
}

/* ---- run again */

/* True when the job's name could be had; gives a conflict otherwise. */
static bool has_name(struct engine *e, struct command *cmd, const struct job *job)
{
    if (job->name_len == 0)
        return true;
    assert(cmd->question_count == 2); /* as ask_target did, under the same conditions */
    const struct question *q = &cmd->questions[1];
    if (q->answer.holder == job->id)
        return true;
    cmd->reply.rc = name_taken(&cmd->reply.err, q->claim.key, q->answer.holder);
    command_done(e, cmd);
    return false;
}

/* The same for the key of unique work. */
static bool has_key(struct engine *e, struct command *cmd, const struct job *job)
{
    const struct unique_rule *rule = job->v.def->rules.unique;
    struct exec *holder = NULL;
    struct unique_kept kept;
    struct err err;
    if (rule == NULL)
        return true;
    if (unique_is_kept(e, rule, &cmd->unique, &kept)) {
        unique_refuse_kept(&err, rule->key, &kept);
    } else if (unique_find(e, rule, &cmd->unique, &holder, &err) == RC_OK && holder == NULL) {
        unique_take(e, rule, job->id, &cmd->unique);
        return true;
    }
    if (holder != NULL)
        unique_taken(&err, rule->key, holder->job->id);
    if (cmd->question_count == 2)
        give_back(e, &cmd->questions[1]);
    command_fail(e, cmd, err.rc, "%s", err.text);
    return false;
}

/* An execution that is run again is no dead letter any more. */
static void take_letter(struct engine *e, const struct command *cmd)
{
    const struct letter_rec *letter = letter_asked(e, cmd);
    if (letter != NULL)
        letter_take(e, letter);
}

/* A command before this one may have asked for name and key in vain, and given them back. */
static void keep_claims(struct engine *e, const struct job *job)
{
    size_t kept = 0;
    if (job->name_len == 0 && job->v.def->rules.unique == NULL)
        return;
    for (size_t i = 0; i < e->turn.released.len; i++) {
        if (e->turn.released.items[i].holder != job->id)
            e->turn.released.items[kept++] = e->turn.released.items[i];
    }
    e->turn.released.len = kept;
}

/* It runs with what somebody gave it, or with what the run had that it repeats. */
static void give_payload_again(struct engine *e, const struct command *cmd, struct exec *x)
{
    const struct exec_rec *again = cmd->questions[0].answer.exec;
    give_payload(e, x, cmd->target.payload.len > 0 ? cmd->target.payload : again->payload);
}

static struct str why_again(const struct command *cmd)
{
    return cmd->target.payload.len > 0 ? STR("run again with another payload") : STR("run again");
}

static struct exec *run_again(struct engine *e, struct command *cmd, struct job *job)
{
    struct exec *x = exec_new(e, id_next(&e->ids, e->now_ms, id_bucket(job->id)), job);
    touch_new(touch_exec(e, x), false);
    x->retry_of = cmd->target.id;
    x->created_ms = e->now_ms;
    trace_keep(e, x, cmd->trace);
    x->v.slot_ms = cmd->questions[0].answer.exec->slot_ms; /* the run is about the same slot */
    x->v.state = EXEC_QUEUED;
    x->v.ready_ms = ready_since_ms(e);
    job_set(e, job, JOB_ACTIVE, STR("retry"), cmd->actor, why_again(cmd));
    job->v.last_exec = x->id;
    give_payload_again(e, cmd, x);
    exec_created(e, x, cmd->actor, why_again(cmd));
    keep_claims(e, job);
    take_letter(e, cmd);
    return x;
}

static void refuse_retry(struct engine *e, struct command *cmd)
{
    if (cmd->question_count == 2)
        give_back(e, &cmd->questions[1]);
    command_fail(e, cmd, RC_BUSY, TOO_MANY_LIVE);
}

/* Its name is somebody else's to have, though ask_target took it: a record does not say that its
 * job recurs. */
static void refuse_cancelled(struct engine *e, struct command *cmd)
{
    if (cmd->question_count == 2 && !PLANTED(retry_keeps_name))
        give_back(e, &cmd->questions[1]);
    command_fail(e, cmd, RC_CONFLICT, "the job was cancelled");
}

/* Of a job with a schedule it is one run more, beside those that are planned. */
static void run_slot_again(struct engine *e, struct command *cmd, struct job *job)
{
    const struct exec *other = slot_in_the_way(job);
    const struct answer *a = cmd->question_count > 0 ? &cmd->questions[0].answer : NULL;
    if (a == NULL || a->exec == NULL || !exec_is_final(a->exec->state))
        command_fail(e, cmd, RC_CONFLICT, "the execution is not over yet; cancel it first");
    else if (job_is_over(job->v.state))
        refuse_cancelled(e, cmd);
    else if (refuse_expecting(e, cmd, job))
        return;
    else if (other != NULL)
        overlaps(e, cmd, other);
    else {
        take_letter(e, cmd);
        struct exec *x = slot_trigger(e, job, a->exec, cmd, why_again(cmd));
        give_payload_again(e, cmd, x);
        reply_exec(e, cmd, x);
    }
}

static void retry(struct engine *e, struct command *cmd)
{
    const struct exec *known = map_get(&e->execs, cmd->target.id);
    struct job *job = known != NULL ? known->job : adopt_answer(e, cmd);
    if (job == NULL) {
        if (cmd->question_count == 2)
            give_back(e, &cmd->questions[1]);
        return;
    }
    if (job->v.def->schedule != NULL) {
        run_slot_again(e, cmd, job);
        return;
    }
    const struct exec *newest = map_get(&e->execs, job->v.last_exec);
    if (newest != NULL && exec_is_final(newest->v.state)) /* too late to ask for its name */
        command_fail(e, cmd, RC_BUSY, "the execution is ending right now; try again");
    else if (newest != NULL || !may_run_again(&cmd->questions[0].answer))
        command_fail(e, cmd, RC_CONFLICT, "the job has an unfinished execution; cancel it first");
    else if (e->execs.len >= e->options.live_max)
        refuse_retry(e, cmd);
    else if (has_name(e, cmd, job) && has_key(e, cmd, job))
        reply_exec(e, cmd, run_again(e, cmd, job));
}

/* A claim of its job, for the sake of which nothing was run. */
static void give_back_unused(struct engine *e, const struct question *q)
{
    const struct job *job = map_get(&e->jobs, q->claim.holder);
    if (job == NULL || !job_has_unfinished(job))
        give_back(e, q);
}

void retry_forgo(struct engine *e, const struct command *cmd)
{
    if (cmd->question_count == 2)
        give_back_unused(e, &cmd->questions[1]);
    if (cmd->unique.claim != NULL)
        give_back_unused(e, cmd->unique.claim);
}

void decide_retry(struct engine *e, struct command *cmd)
{
    retry(e, cmd);
    if (cmd->reply.rc != RC_OK && cmd->unique.claim != NULL)
        give_back_unused(e, cmd->unique.claim);
}

void decide_retry_letter(struct engine *e, struct command *cmd)
{
    const struct exec *known = map_get(&e->execs, cmd->target.id);
    if (known != NULL && !exec_is_final(known->v.state)) {
        command_fail(e, cmd, RC_CONFLICT, "the execution is not over yet");
    } else if (letter_asked(e, cmd) == NULL) {
        retry_forgo(e, cmd);
        command_fail(e, cmd, RC_NOT_FOUND, "the execution is not among the dead letters");
    } else {
        decide_retry(e, cmd);
    }
}

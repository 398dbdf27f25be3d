/* edit.c - another definition for a job that is there.
 *
 * Unfinished executions of the job follow the new definition: waiting ones move to its queue,
 * priority and limits; running ones go on as they were started, under the new permits, and their
 * end is told to the breaker that they were started under. The command says which version the new
 * definition was made from, so that no other edit is lost. The time of the run may change, too; an
 * edit never looks back, and a run that has begun cannot be planned again. The job's identity (its
 * name, whether it recurs, its dependencies, its unique key) stays. */
#include "engine/submit/edit.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/jobs.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends_replan.h"
#include "engine/depend/depends_slots.h"
#include "engine/ready/breakers.h"
#include "engine/ready/limit_remote.h"
#include "engine/submit/definition.h"
#include "engine/submit/submit.h"
#include "engine/time/calendars.h"
#include "engine/time/expect.h"
#include "engine/time/slots.h"

/* All that is unfinished, also beyond the horizon, goes with its job. */
void ask_edit(struct engine *e, struct command *cmd, unsigned round, struct question_list *list)
{
    const struct job *job = map_get(&e->jobs, cmd->edit.id);
    if (round > 0)
        return;
    if (job == NULL || !job_is_whole(job)) {
        struct question *q = command_ask(e, cmd, list);
        q->kind = ASK_AHEAD;
        q->id = cmd->edit.id;
    }
    if (cmd->edit.replan && cmd->edit.item->rules.schedule == NULL)
        depends_ask_met(e, cmd, list);
}

/* The run of a job that runs once, while it can still be planned anew; NULL: it has begun. */
static struct exec *find_planned(const struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (x->v.state == EXEC_SCHEDULED || x->v.state == EXEC_BLOCKED)
            return x;
    }
    return NULL;
}

/* A claim goes with them. */
static bool unique_stays(const struct unique_rule *old, const struct unique_rule *to)
{
    if (old == NULL || to->key.len == 0)
        return old == NULL && to->key.len == 0;
    return str_eq(old->key, to->key) && old->until_start == to->until_start;
}

static bool refuse(struct engine *e, struct command *cmd, const struct job *job)
{
    const struct definition *def = job->v.def;
    bool recurs = cmd->edit.item->rules.schedule != NULL;
    struct err err;
    if (refuse_over(e, cmd, job))
        return true;
    if (def->rules.version != cmd->edit.version)
        command_fail(e, cmd, RC_STALE, "the job has version %u by now, not %u",
                     (unsigned)def->rules.version, (unsigned)cmd->edit.version);
    else if (cmd->edit.item->rules.expects != def->rules.expects)
        command_fail(e, cmd, RC_INVALID,
                     "a job that is run cannot be made to expect pings, nor the other way round; "
                     "cancel it and submit another");
    else if (recurs != (def->schedule != NULL))
        command_fail(e, cmd, RC_INVALID,
                     "a job that runs once cannot be made to recur, nor one that recurs to run "
                     "once; cancel it and submit another");
    else if (!unique_stays(def->rules.unique, &cmd->edit.item->rules.unique))
        command_fail(
            e, cmd, RC_INVALID,
            "the key of unique work, and how long it is held, cannot be changed; cancel the "
            "job and submit another");
    else if (cmd->edit.replan && !recurs && find_planned(job) == NULL)
        command_fail(e, cmd, RC_CONFLICT,
                     "the job's only run has begun already: when it runs cannot be changed");
    else if (calendars_check(e, &cmd->edit.item->rules, &err) != RC_OK)
        command_fail(e, cmd, err.rc, "%s", err.text);
    else
        return false;
    return true;
}

/* Its texts stay in the store, which has them for every lease. NULL: the command has failed. */
static struct definition *make_definition(struct engine *e, struct command *cmd,
                                          const struct job *job)
{
    const struct job_rec rec = {
        .id = job->id, .version = job->v.def->rules.version + 1, .created_ms = job->created_ms};
    struct slot first;
    struct err err;
    struct rules *rules = &cmd->edit.item->rules;
    if (PLANTED(removed_fields_stay) && rules->expires_in_ms == 0)
        rules->expires_in_ms = job->v.def->rules.expires_in_ms;
    struct definition *def = definition_wanted(e, &rec, rules, &err);
    if (def == NULL) {
        command_fail(e, cmd, err.rc, "%s", err.text);
        return NULL;
    }
    if (def->schedule == NULL || !cmd->edit.replan)
        return def;
    if (!PLANTED(edit_looks_back) && !def->common)
        def->schedule->start_ms = e->now_ms;
    if (schedule_after(def->schedule, e->now_ms, &first))
        return def;
    definition_free(e, def);
    command_fail(e, cmd, RC_INVALID, "its schedule has no slot before the year 10000");
    return NULL;
}

/* The rows of executions name queue and priority. */
static void move_execs(struct engine *e, struct job *job, const struct definition *old)
{
    if (old->rules.queue == job->v.def->rules.queue &&
        old->rules.priority == job->v.def->rules.priority)
        return;
    LIST_EACH(&job->execs, node)
    touch_exec(e, CONTAINER_OF(node, struct exec, sibling))->durable = true;
}

static void replan_once(struct engine *e, struct command *cmd, struct exec *x)
{
    int64_t due_ms = submission_due_ms(cmd->edit.item, e->now_ms);
    struct exec_values to = x->v;
    touch_exec(e, x)->durable = true;
    to.slot_ms = due_ms;
    exec_set(e, x, &to); /* its deadlines move along */
    depends_replanned(e, cmd, x);
    if (x->v.state == EXEC_BLOCKED)
        return; /* it is planned when what it waits for is over */
    bool asks = x->job->v.def->rules.calendars != NULL;
    if (due_ms <= e->now_ms && !asks && depends_begin(e, x))
        return;
    exec_move(e, x,
              &(struct move){.event = due_ms > e->now_ms || asks ? EV_PLAN : EV_DUE,
                             .actor = cmd->actor,
                             .reason = STR("the schedule was changed"),
                             .due_ms = due_ms}); /* when that is now, the next turn asks them */
}

static void plan(struct engine *e, struct command *cmd, struct job *job,
                 const struct definition *old)
{
    const struct schedule *to = job->v.def->schedule;
    if (to == NULL && cmd->edit.replan)
        replan_once(e, cmd, find_planned(job));
    else if (to != NULL && cmd->edit.replan && job_expects(job))
        expect_replan(e, job, cmd->actor);
    else if (to != NULL && cmd->edit.replan)
        slot_replan(e, job, old->schedule, cmd->actor);
    else if (to != NULL && to->stagger_ms != old->schedule->stagger_ms)
        slot_shift(e, job, cmd->actor);
}

/* Its permits are of limits that it had: they go back, and what runs is told to the homes of those
 * that it has now. */
static void permits_of_old(struct engine *e, struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if ((x->v.wants | x->v.has) != 0)
            permits_give_back(e, x);
    }
}

static void permits_of_new(struct engine *e, struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (exec_is_leased(x->v.state) && e->owned.count > 1)
            permits_started(e, x);
    }
}

/* Undo puts back the definition from before the turn, and commit frees that one; one in between is
 * freed by both, at the end: limits that it alone names may have been touched meanwhile. */
static void redefine(struct engine *e, struct command *cmd, struct job *job, struct definition *def)
{
    struct touched *t = touch_job(e, job);
    struct definition *old = job->v.def;
    struct job_values to = job->v;
    if (t->submission != NULL)
        cmd->edit.item->owner = t->submission->owner;
    t->submission = cmd->edit.item;
    to.def = def;
    permits_of_old(e, job);
    job_set_values(e, job, &to);
    permits_of_new(e, job);
    job_set(e, job, job->v.state, STR("edit"), cmd->actor,
            arena_printf(e->turn.arena, "version %u: %.*s", (unsigned)def->rules.version,
                         STR_ARG(cmd->edit.what)));
    move_execs(e, job, old);
    plan(e, cmd, job, old);
    breaker_edited(e, job, old);
    calendars_edited(e, job);
    if (old != t->before.job.def)
        *VEC_PUSH(e->turn.arena, &e->turn.passed_over) = old;
}

/* Written by edits alone: a job that is never edited has no history of definitions. */
static void keep_version(struct engine *e, struct command *cmd, const struct job *job)
{
    uint32_t version = job->v.def->rules.version;
    size_t keep = e->options.versions_keep + PLANTED(version_too_many);
    *VEC_PUSH(e->turn.arena, &e->turn.versions) = (struct version_change){
        .version = {.job_id = job->id,
                    .version = version,
                    .at_ms = e->now_ms,
                    .actor = cmd->actor,
                    .spec = cmd->edit.item->spec,
                    .payload = cmd->edit.item->payload},
        .oldest = version > keep ? version - (uint32_t)keep : 0,
    };
}

static void reply(struct engine *e, struct command *cmd, const struct job *job)
{
    const struct exec *x = find_planned(job);
    struct submission *item = cmd->edit.item;
    item->job_id = cmd->reply.job_id = job->id;
    item->created_ms = job->created_ms;
    item->due_ms = x == NULL ? 0 : x->v.due_ms;
    cmd->reply.version = job->v.def->rules.version;
    cmd->reply.job_state = job->v.state;
    command_done(e, cmd);
}

void decide_edit(struct engine *e, struct command *cmd)
{
    struct job *job = target_job(e, cmd);
    if (job == NULL || refuse(e, cmd, job))
        return;
    struct definition *def = make_definition(e, cmd, job);
    if (def == NULL)
        return;
    redefine(e, cmd, job, def);
    keep_version(e, cmd, job);
    reply(e, cmd, job);
}

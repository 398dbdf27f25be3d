/* submit.c - new jobs. */
#include "engine/submit/submit.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends_new.h"
#include "engine/estimate/estimate.h"
#include "engine/ready/limit.h"
#include "engine/submit/batch.h"
#include "engine/submit/definition.h"
#include "engine/submit/idempotency.h"
#include "engine/submit/unique.h"
#include "engine/time/calendars.h"
#include "engine/time/expect.h"
#include "engine/trace/traces.h"

/* The partition where it is best at home: with the one limit that it has, so that a start asks
 * nobody, or with what it waits for. PARTITIONS_MAX: anywhere. */
static uint32_t home_of(const struct engine *e, const struct submission *item)
{
    const struct limit_rule *many = &item->rules.concurrency;
    const struct limit_rule *often = &item->rules.rate;
    if ((many->key.len == 0) != (often->key.len == 0))
        return partition_of_bucket(e->owned.count, many->key.len > 0
                                                       ? limit_home(LIMIT_CONCURRENCY, many->key)
                                                       : limit_home(LIMIT_RATE, often->key));
    if (item->depends_count > 0 && item->depends_on[0].job_id != 0)
        return partition_of(e->owned.count, item->depends_on[0].job_id);
    return PARTITIONS_MAX;
}

/* Buckets go round, since a smaller one than the last borrows a millisecond. Where many jobs of
 * many homes come, that would lead the ids away from the clock: then they go anywhere for a
 * while. */
static uint32_t bucket_for(const struct engine *e, const struct submission *item)
{
    enum { AHEAD_MAX_MS = 200 };
    struct partition_set set = e->owned;
    uint32_t home = set.count > 1 ? home_of(e, item) : PARTITIONS_MAX;
    bool is_ahead = e->ids.last_ms > e->now_ms - ID_EPOCH_MS + AHEAD_MAX_MS;
    if (home < PARTITIONS_MAX && !is_ahead && (set.bits >> home & 1) != 0)
        set.bits = UINT64_C(1) << home;
    return partition_next_bucket(&set, e->bucket);
}

/* Ids are given before the claims are taken, because a claim names its holder. A job and its
 * executions share a bucket, so they will always have the same owner. */
static void give_ids(struct engine *e, struct submission *item)
{
    e->bucket = bucket_for(e, item);
    item->job_id = id_next(&e->ids, e->now_ms, e->bucket);
    item->exec_id = id_next(&e->ids, e->now_ms, e->bucket);
    item->rc = RC_OK;
    item->err = NULL;
    item->existing = false;
    item->state = JOB_ACTIVE;
}

static void ask_first(struct engine *e, struct command *cmd, struct submission *item,
                      struct question_list *list)
{
    give_ids(e, item);
    idempotency_ask_item(e, cmd, item, list);
    item->asked = cmd->question_count;
    if (item->name.len > 0) {
        struct question *q = command_ask(e, cmd, list);
        q->kind = ASK_CLAIM;
        q->claim = (struct claim){.kind = CLAIM_NAME, .key = item->name, .holder = item->job_id};
    }
    depends_ask(e, cmd, item, list);
    unique_ask(e, cmd, &item->rules.unique, item->job_id, &item->unique, list);
}

void ask_submit(struct engine *e, struct command *cmd, unsigned round, struct question_list *list)
{
    for (size_t i = 0; i < cmd->submit.count; i++) {
        struct submission *item = &cmd->submit.items[i];
        if (round == 0)
            ask_first(e, cmd, item, list);
        else if (round == 1 && idempotency_was_asked(&item->once))
            idempotency_ask_original(e, cmd, item, list);
        else if (round == 1)
            unique_ask_holder(e, cmd, &item->unique, list);
    }
}

static enum rc refuse(struct command *cmd, struct submission *item, enum rc rc, const char *detail)
{
    item->err = ARENA_NEW(cmd->arena, struct err);
    item->rc = err_set(item->err, rc, "%s", detail);
    return item->rc;
}

enum rc name_taken(struct err *err, struct str name, uint64_t holder)
{
    char id[ID_TEXT_MAX];
    id_format(id, ID_JOB, holder);
    return err_set(err, RC_CONFLICT, "the name '%.*s' is in use by the unfinished job %s",
                   STR_ARG(name), id);
}

int64_t submission_due_ms(const struct submission *item, int64_t now_ms)
{
    struct spec when = {.when = item->when, .when_ms = item->when_ms};
    return spec_due_ms(&when, now_ms);
}

/* The first moment at which it is to run, as its execution's own. */
static void set_first(struct exec *x, const struct slot *first)
{
    x->v.slot_ms = x->v.due_ms = first->at_ms;
    if (x->job->v.def->schedule == NULL)
        return;
    x->origin = job_expects(x->job) ? ORIGIN_PING : ORIGIN_SLOT;
    x->v.nominal_ms = x->origin == ORIGIN_SLOT ? first->nominal_ms : 0;
    x->v.due_ms = schedule_due_ms(x->job->v.def->schedule, first);
}

static void create(struct engine *e, struct command *cmd, struct submission *item, struct job *job,
                   const struct slot *first)
{
    struct touched *t = touch_new(touch_job(e, job), false);
    t->submission = item;
    job_set(e, job, JOB_ACTIVE, STR("create"), cmd->actor, STR(""));

    struct exec *x = exec_new(e, item->exec_id, job);
    touch_new(touch_exec(e, x), false);
    x->first = true;
    if (job->v.def->schedule == NULL) /* slots are traces of their own */
        trace_keep(e, x, cmd->trace);
    item->created_ms = x->created_ms = e->now_ms;
    set_first(x, first);
    item->due_ms = x->v.due_ms;
    if (depends_hold(e, item, x->v.due_ms)) {
        x->v.state = EXEC_BLOCKED;
        x->v.due_ms = 0;
    } else if (item->due_ms > e->now_ms || job->v.def->rules.calendars != NULL) {
        x->v.state = EXEC_SCHEDULED;
    } else {
        x->v.state = EXEC_QUEUED;
        x->v.due_ms = 0;
        x->v.ready_ms = ready_since_ms(e);
    }
    exec_created(e, x, cmd->actor, STR(""));
    depends_add(e, item, x);
    calendars_preview(e, cmd, item, job);
    if (x->v.state == EXEC_SCHEDULED && item->due_ms <= e->now_ms)
        exec_come_due(e, x); /* its calendars have a say */
}

/* The first slot, of a job that recurs, else the moment that was asked for. False: there is
 * none. */
static bool find_first(const struct engine *e, const struct submission *item,
                       struct slot *ret_first)
{
    if (item->rules.schedule == NULL) {
        *ret_first = (struct slot){.at_ms = submission_due_ms(item, e->now_ms)};
        return true;
    }
    struct schedule schedule = *item->rules.schedule;
    schedule.start_ms = e->now_ms;
    return schedule_after(&schedule, e->now_ms, ret_first);
}

static const struct question *name_question(const struct command *cmd,
                                            const struct submission *item)
{
    return item->name.len > 0 ? &cmd->questions[item->asked] : NULL;
}

/* Another job has its name, and is not the one whose unique work it is. */
static bool is_name_taken(struct engine *e, const struct command *cmd,
                          const struct submission *item)
{
    const struct question *name = name_question(cmd, item);
    struct exec *same = NULL;
    if (name == NULL || name->answer.holder == item->job_id)
        return false;
    if (item->rules.unique.key.len > 0 && unique_is_elsewhere(e, &item->unique))
        return item->unique.claim->answer.holder != name->answer.holder;
    if (item->rules.unique.key.len == 0 ||
        unique_find(e, &item->rules.unique, &item->unique, &same, NULL) != RC_OK)
        return true;
    return same == NULL || same->job->id != name->answer.holder;
}

/* The last that may refuse it, since it may end another job. */
static enum rc make_unique(struct engine *e, struct command *cmd, struct submission *item,
                           struct err *err)
{
    struct exec *holder = NULL;
    struct unique_kept kept;
    if (item->rules.unique.key.len == 0)
        return RC_OK;
    if (unique_is_kept(e, &item->rules.unique, &item->unique, &kept))
        TRY(unique_meet_kept(item, &kept, err));
    else if (unique_is_elsewhere(e, &item->unique))
        return unique_meet_elsewhere(item, err);
    else
        TRY(unique_find(e, &item->rules.unique, &item->unique, &holder, err));
    if (holder != NULL)
        TRY(unique_meet(e, cmd, item, holder, err));
    if (item->existing)
        return RC_OK;
    if (holder != NULL) /* its end may have been what the item waits for */
        TRY(depends_check(e, cmd, item, err));
    unique_take(e, &item->rules.unique, item->job_id, &item->unique);
    const struct question *name = name_question(cmd, item);
    if (name != NULL && name->answer.holder != item->job_id)
        *VEC_PUSH(e->turn.arena, &e->turn.claims) =
            name->claim; /* the one that was replaced had it */
    return RC_OK;
}

static enum rc submit_one(struct engine *e, struct command *cmd, struct submission *item)
{
    struct job_rec rec = {
        .id = item->job_id,
        .version = 1,
        .name = item->name,
        .owner = item->owner,
        .created_ms = e->now_ms,
        .last_exec = item->exec_id,
        .spec = item->spec,
        .payload = item->payload,
    };
    struct err err;
    struct slot first;
    if (!find_first(e, item, &first))
        return refuse(cmd, item, RC_INVALID, "its schedule has no slot before the year 10000");
    if (first.at_ms - e->now_ms > e->options.near_ms)
        rec.spec = rec.payload =
            (struct str){0}; /* the lease is far: the store keeps them for it */
    if (e->execs.len >= e->options.live_max)
        return refuse(cmd, item, RC_BUSY, TOO_MANY_LIVE);
    if (depends_check(e, cmd, item, &err) != RC_OK ||
        calendars_check(e, &item->rules, &err) != RC_OK) {
        bool hopeless = err.rc == RC_BUSY && item->depends_count > e->options.edges_max;
        return refuse(cmd, item, hopeless ? RC_LIMITED : err.rc, err.text);
    }
    struct definition *def = definition_wanted(e, &rec, &item->rules, &err);
    if (def == NULL)
        return refuse(cmd, item, err.rc, err.text);
    if (make_unique(e, cmd, item, &err) != RC_OK || item->existing) {
        definition_free(e, def);
        return item->existing ? RC_OK : refuse(cmd, item, err.rc, err.text);
    }
    create(e, cmd, item, job_new(e, &rec, def), &first);
    return RC_OK;
}

void give_back(struct engine *e, const struct question *q)
{
    if (q->answer.holder == q->claim.holder && !unique_kept_by_itself(q) &&
        !PLANTED(claim_outlives_refusal))
        *VEC_PUSH(e->turn.arena, &e->turn.released) = q->claim;
}

static void submit_new(struct engine *e, struct command *cmd, struct submission *item)
{
    if (item->rc == RC_OK && is_name_taken(e, cmd, item)) {
        item->err = ARENA_NEW(cmd->arena, struct err);
        item->rc = name_taken(item->err, item->name, name_question(cmd, item)->answer.holder);
    } else if (item->rc == RC_OK) {
        submit_one(e, cmd, item);
    }
}

static void submit_item(struct engine *e, struct command *cmd, struct submission *item)
{
    const struct question *name = name_question(cmd, item);
    uint64_t job_id = item->job_id;
    if (idempotency_begin_item(e, cmd, item)) {
        submit_new(e, cmd, item);
        idempotency_end_item(e, item);
    }
    if (item->rc == RC_OK && item->job_id == job_id)
        return;
    if (name != NULL) /* nothing was made: claims that were taken for it go back */
        give_back(e, name);
    if (item->unique.claim != NULL)
        give_back(e, item->unique.claim);
}

/* One that was made before may lie far ahead, or be over: then it is not in memory. */
static struct estimate estimate(struct engine *e, const struct submission *item)
{
    const struct exec *x = map_get(&e->execs, item->exec_id);
    if (x != NULL)
        return estimate_start(e, x);
    if (item->due_ms > e->now_ms)
        return (struct estimate){.at_ms = item->due_ms};
    return (struct estimate){.reason = blocker_kind_name(BLOCKER_FINISHED)};
}

static void add_estimates(struct engine *e, struct command *cmd)
{
    for (size_t i = 0; i < cmd->submit.count; i++) {
        struct submission *item = &cmd->submit.items[i];
        if (item->rc == RC_OK && !item->existing)
            item->estimate = estimate(e, item);
    }
}

void decide_submit(struct engine *e, struct command *cmd)
{
    const size_t *order = batch_order(e, cmd);
    for (size_t i = 0; i < cmd->submit.count; i++)
        submit_item(e, cmd, &cmd->submit.items[order[i]]);
    if (cmd->submit.estimate)
        add_estimates(e, cmd);
    command_done(e, cmd);
}

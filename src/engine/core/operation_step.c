/* operation_step.c - the work of operations, some things a turn.
 *
 * Each turn takes one step of the part that has waited longest: it asks for the next things that
 * fit, as many as a turn may carry and other work leaves room for, and decides about each as if it
 * had been asked for alone. The outcomes and the place behind them are kept in one commit, so
 * nothing is done twice and nothing is left out, whoever goes on.
 *
 * Unfinished jobs are found by their unfinished executions, which are few beside what is over. */
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/job.h"
#include "engine/core/jobs.h"
#include "engine/core/letters.h"
#include "engine/core/model.h"
#include "engine/core/operations.h"
#include "engine/core/undo.h"

enum {
    BUSY_PAUSE_MS = 1000, /* the server is full: try again then */
    OTHERS_MS = 100, /* other work in a turn means that there will be some in those that follow */
    SCAN_FACTOR = 5, /* looking at an execution costs a fifth of acting upon it, or less */
    CREDIT_MAX_MS = 1000, /* of waiting that is counted, so that nothing overflows */
};

/* ---- which one */

/* Those whose pause is over have their turns like those that never had one. */
static bool is_sooner(const struct operation *a, const struct operation *b, int64_t boot_ms)
{
    int64_t a_ms = a->v.wake_ms > boot_ms ? a->v.wake_ms : boot_ms;
    int64_t b_ms = b->v.wake_ms > boot_ms ? b->v.wake_ms : boot_ms;
    return a_ms != b_ms ? a_ms < b_ms : a->v.stepped < b->v.stepped;
}

static struct operation *next_operation(const struct engine *e, int64_t boot_ms)
{
    struct operation *next = NULL;
    LIST_EACH(&e->operations.list, node)
    {
        struct operation *op = CONTAINER_OF(node, struct operation, node);
        if (op->v.state == OPERATION_RUNNING && (next == NULL || is_sooner(op, next, boot_ms)))
            next = op;
    }
    return next;
}

/* ---- room for others
 *
 * A turn that is alone with operations does as much as a turn may. Beside other work, whose answers
 * wait for the same commit, operations go on at a rate (operation_per_s): a step is as large as the
 * time since the last one allows, small where turns are short and larger where they are long. So
 * the part of the time that operations take does not depend on how long a commit takes. */

static bool is_paced(const struct engine *e, int64_t boot_ms)
{
    return e->options.operation_per_s > 0 && boot_ms < e->operations.pace.others_until_ms;
}

/* The credit grows by this much a millisecond, as it counts thousandths. */
static int64_t credit_at(const struct engine *e, int64_t boot_ms)
{
    int64_t max = (int64_t)e->options.operation_step_max * 1000;
    int64_t passed_ms = boot_ms - e->operations.pace.paced_ms;
    if (passed_ms < 0 || passed_ms > CREDIT_MAX_MS)
        passed_ms = CREDIT_MAX_MS;
    int64_t credit = e->operations.pace.credit + passed_ms * (int64_t)e->options.operation_per_s;
    return credit < max ? credit : max;
}

/* A step has its price, also a small one. */
static int64_t least_credit(const struct engine *e)
{
    return (int64_t)(1 + (e->options.operation_step_max - 1) / 8) * 1000;
}

/* How many things this turn may do; 0: it has to wait. */
static size_t step_max(struct engine *e)
{
    if (e->operations.doubt.max > 0)
        return e->operations.doubt.max;
    if (!is_paced(e, e->boot_ms))
        return e->options.operation_step_max;
    e->operations.pace.credit = credit_at(e, e->boot_ms);
    e->operations.pace.paced_ms = e->boot_ms;
    return e->operations.pace.credit < least_credit(e) ? 0
                                                       : (size_t)(e->operations.pace.credit / 1000);
}

/* A page that was full has cost as much as one whose things all fitted. */
static void pay(struct engine *e)
{
    const struct operation_step *step = &e->turn.step;
    size_t things = step->more ? step->max : step->count;
    e->operations.pace.credit -= (int64_t)things * 1000;
    if (e->operations.pace.credit < 0) /* there was no other work when it began */
        e->operations.pace.credit = 0;
}

void operations_note_others(struct engine *e)
{
    bool others = !list_empty(&e->turn.done) || !list_empty(&e->turn.open);
    if (others && e->operations.count > 0)
        e->operations.pace.others_until_ms = e->boot_ms + OTHERS_MS;
}

static int64_t credit_wait_ms(const struct engine *e, int64_t boot_ms)
{
    int64_t missing = is_paced(e, boot_ms) ? least_credit(e) - credit_at(e, boot_ms) : 0;
    int64_t per_ms = (int64_t)e->options.operation_per_s;
    int64_t wait_ms = missing > 0 ? (missing + per_ms - 1) / per_ms : 0;
    int64_t others_ms = e->operations.pace.others_until_ms - boot_ms;
    return wait_ms < others_ms || missing <= 0 ? wait_ms : others_ms;
}

int64_t operations_wait_ms(const struct engine *e, int64_t boot_ms)
{
    const struct operation *op = next_operation(e, boot_ms);
    if (op == NULL)
        return INT64_MAX;
    int64_t wait_ms = op->v.wake_ms - boot_ms;
    int64_t credit_ms = credit_wait_ms(e, boot_ms);
    return wait_ms > credit_ms ? wait_ms : credit_ms;
}

/* ---- asking */

static struct question *ask_things(struct engine *e, struct operation *op)
{
    struct question *q = ARENA_NEW(e->turn.arena, struct question);
    bool letters = operation_is_about_letters(op->rec.kind);
    *q = (struct question){
        .kind = letters ? ASK_LETTERS : ASK_LIVE,
        .filter = operation_letters(&op->rec),
        .operation = &op->rec,
        .partitions = UINT64_C(1) << op->rec.partition,
        .place = op->v.at,
        .after_id = op->v.at.exec_id,
        .until_ms = op->rec.created_ms,
        .limit = e->turn.step.max,
        .scan_max = e->turn.step.max * SCAN_FACTOR,
    };
    return q;
}

static enum command_kind command_of(enum operation_kind kind)
{
    switch (kind) {
    case OPERATION_RETRY:
    case OPERATION_RETRY_EXECS: return CMD_RETRY_LETTER;
    case OPERATION_PAUSE_JOBS: return CMD_PAUSE_JOB;
    case OPERATION_RESUME_JOBS: return CMD_RESUME_JOB;
    case OPERATION_CANCEL_JOBS: return CMD_CANCEL_JOB;
    case OPERATION_TRIGGER_JOBS: return CMD_TRIGGER_JOB;
    case OPERATION_CANCEL_EXECS: return CMD_CANCEL_EXEC;
    case OPERATION_DISCARD:
    case OPERATION_OLD_LAST:
    case OPERATION_KINDS: break;
    }
    return (enum command_kind)0;
}

/* Here and below: doing it to one is what anybody may ask for: the same command, with the same
 * questions. */
static struct operation_item *add_item(struct engine *e, struct letter_place place, uint64_t id)
{
    struct operation_step *step = &e->turn.step;
    struct operation_item *item = &step->items[step->count++];
    item->place = place;
    item->cmd.kind = command_of(step->op->rec.kind);
    item->cmd.own = true;
    item->cmd.actor = step->op->rec.by;
    item->cmd.arena = e->turn.arena;
    item->cmd.target.id = id;
    return item;
}

static void add_found(struct engine *e)
{
    struct operation_step *step = &e->turn.step;
    const struct answer *a = &step->asked->answer;
    bool letters = step->asked->kind == ASK_LETTERS;
    bool jobs = operation_is_about_jobs(step->op->rec.kind);
    size_t max = letters ? a->letter_count : a->live_count;
    step->items = ARENA_ARRAY(e->turn.arena, struct operation_item, max);
    step->more = a->more;
    for (size_t i = 0; i < max && letters; i++) {
        const struct letter_rec *letter = &a->letters[i];
        if (operation_takes_letter(&step->op->rec, letter))
            add_item(e, letter->place, letter->place.exec_id)->letter = letter;
    }
    for (size_t i = 0; i < max && !letters; i++) {
        const struct letter_place place = {.exec_id = a->live[i].id};
        struct operation_item *item = add_item(e, place, jobs ? a->jobs[i].id : a->live[i].id);
        item->job = &a->jobs[i];
        item->exec = &a->live[i];
    }
}

/* Ids that it was given, behind its place. */
static void add_named(struct engine *e)
{
    struct operation_step *step = &e->turn.step;
    struct str ids = step->op->rec.ids;
    size_t max = step->max;
    size_t count = operation_id_count(ids);
    step->items = ARENA_ARRAY(e->turn.arena, struct operation_item, max);
    for (size_t i = 0; i < count && !step->more; i++) {
        uint64_t id = operation_id(ids, i);
        if (id <= step->op->v.at.exec_id)
            continue;
        step->more = step->count == max;
        if (!step->more)
            add_item(e, (struct letter_place){.exec_id = id}, id);
    }
}

static void begin_step(struct engine *e, struct operation *op, struct question_list *list)
{
    size_t max = step_max(e);
    if (max == 0)
        return;
    e->turn.step = (struct operation_step){.op = op, .max = max};
    if (op->unreadable.len > 0)
        return;
    if (op->rec.by_ids) {
        add_named(e);
        return;
    }
    e->turn.step.asked = ask_things(e, op);
    *VEC_PUSH(e->turn.arena, list) = e->turn.step.asked;
}

void operations_ask(struct engine *e, unsigned round, struct question_list *list)
{
    struct operation_step *step = &e->turn.step;
    if (round == 0) {
        struct operation *op = next_operation(e, e->boot_ms);
        if (op == NULL || op->v.wake_ms > e->boot_ms || e->operations.doubt.held)
            return;
        begin_step(e, op, list);
    }
    if (step->op == NULL)
        return;
    if (round == 1 && step->asked != NULL)
        add_found(e);
    unsigned later = step->asked != NULL; /* a round behind, since they had to be found */
    for (size_t i = 0; round >= later && i < step->count; i++) {
        if (step->items[i].cmd.kind != 0)
            engine_ask(e, &step->items[i].cmd, round - later, list);
    }
}

/* ---- doing */

/* Something else in this turn, or this very step, may have come before. */
static bool still_takes(const struct engine *e, const struct operation_item *item)
{
    const struct operation_rec *op = &e->turn.step.op->rec;
    if (item->job == NULL)
        return true;
    if (!operation_is_about_jobs(op->kind)) {
        const struct exec *x = map_get(&e->execs, item->exec->id);
        return operation_takes_state(op, x != NULL ? x->v.state : item->exec->state);
    }
    const struct job *job = map_get(&e->jobs, item->job->id);
    return operation_takes_state(op, job != NULL ? job->v.state : item->job->state);
}

/* The outcome for one; RC_BUSY: none yet; RC_NOT_FOUND: somebody else has decided meanwhile. */
static enum rc do_one(struct engine *e, struct operation_item *item, struct str *ret_why)
{
    if (item->cmd.kind == 0)
        return letter_take(e, item->letter) ? RC_OK : RC_NOT_FOUND;
    if (!still_takes(e, item))
        return RC_NOT_FOUND;
    engine_decide(e, &item->cmd);
    *ret_why = str_c(item->cmd.reply.err.text);
    return item->cmd.reply.rc;
}

/* Those that come to nothing have taken names and keys in vain. */
static void forgo_from(struct engine *e, size_t first)
{
    for (size_t i = first; i < e->turn.step.count; i++) {
        if (e->turn.step.items[i].cmd.kind == CMD_RETRY_LETTER)
            retry_forgo(e, &e->turn.step.items[i].cmd);
    }
}

/* One that was named and is no dead letter: nobody knows more about it than this. */
static struct str why_no_letter(const struct operation_item *item)
{
    const struct command *cmd = &item->cmd;
    bool there = cmd->question_count > 0 && cmd->questions[0].answer.exec != NULL;
    return there ? STR("it is no dead letter: it did not fail, was run again or was discarded")
                 : STR("there is no such execution");
}

static void refuse(struct operation *op, const struct operation_item *item, struct str why)
{
    struct operation_values *v = &op->v;
    struct buf last = {.ptr = v->refusal, .cap = sizeof v->refusal, .max = sizeof v->refusal};
    char id[ID_TEXT_MAX];
    why = str_head(why, OPERATION_REFUSAL_MAX);
    why = str_head(why, str_index(why, '\n'));
    buf_add(&last, why);
    v->refusal_len = (uint32_t)last.len;
    if (v->refused++ >= OPERATION_REFUSALS_MAX)
        return;
    op->refusals.len = v->refusals_len; /* an undone turn may have left something */
    buf_add(&op->refusals, id_format(id, "", item->cmd.target.id));
    buf_add_char(&op->refusals, ' ');
    buf_add(&op->refusals, why);
    buf_add_char(&op->refusals, '\n');
    v->refusals_len = op->refusals.len;
}

/* True when it has come to the end of what it was given. */
static bool do_items(struct engine *e, struct operation *op)
{
    struct operation_values *v = &op->v;
    for (size_t i = 0; i < e->turn.step.count; i++) {
        struct operation_item *item = &e->turn.step.items[i];
        struct str why = {0};
        if (e->operations.doubt.refuse) { /* it is the only one */
            forgo_from(e, i);
            v->at = item->place;
            refuse(op, item, str_c(e->operations.doubt.why.text));
            return true;
        }
        enum rc rc = do_one(e, item, &why);
        if (rc == RC_BUSY) {
            v->wake_ms = e->boot_ms + BUSY_PAUSE_MS;
            forgo_from(e, i + 1);
            return false;
        }
        v->at = item->place;
        v->done += rc == RC_OK;
        if (rc == RC_NOT_FOUND && op->rec.by_ids)
            refuse(op, item, op->rec.kind == OPERATION_RETRY_EXECS ? why_no_letter(item) : why);
        else if (rc != RC_OK && rc != RC_NOT_FOUND)
            refuse(op, item, why);
    }
    return true;
}

/* A page may end before something that fits: the place moves on behind all that was looked at. */
static void move_on(struct engine *e, struct operation_values *v)
{
    const struct operation_step *step = &e->turn.step;
    if (step->more && step->asked != NULL)
        v->at = step->asked->answer.place;
    if (step->more)
        return;
    v->state = OPERATION_DONE;
    v->finished_ms = e->now_ms;
}

/* Nobody knows what it is to act upon: the rest is left alone, and its asker told why. */
static void fail(struct engine *e, struct operation *op)
{
    struct operation_values *v = &op->v;
    struct buf why = {.ptr = v->refusal, .cap = sizeof v->refusal, .max = sizeof v->refusal};
    touch_operation(e, op)->durable = true;
    buf_add(&why, str_head(op->unreadable, sizeof v->refusal));
    v->refusal_len = (uint32_t)why.len;
    v->state = OPERATION_FAILED;
    v->finished_ms = e->now_ms;
}

void operations_step(struct engine *e)
{
    struct operation *op = e->turn.step.op;
    if (op == NULL)
        return;
    if (op->v.state != OPERATION_RUNNING) { /* cancelled by mail of this turn */
        forgo_from(e, 0);
        return;
    }
    if (op->unreadable.len > 0) {
        fail(e, op);
        return;
    }
    pay(e);
    struct touched *t = touch_operation(e, op);
    op->v.stepped = e->newest.begun;
    if (do_items(e, op))
        move_on(e, &op->v);
    t->durable = t->durable || op->v.state == OPERATION_DONE ||
                 letter_order(op->v.at, t->before.operation->at) != 0;
}

/* ---- turns that the store refuses */

bool engine_operation_doubt(struct engine *e, const char *why)
{
    struct operation_doubt *doubt = &e->operations.doubt;
    const struct operation_step *step = &e->turn.step;
    bool in_vain = doubt->refuse; /* something else is it, too */
    if (step->op == NULL || step->count == 0 || in_vain) {
        *doubt = (struct operation_doubt){.held = doubt->held};
        return false;
    }
    doubt->max = (step->count + 1) / 2;
    if (step->count == 1) {
        doubt->refuse = true;
        err_set(&doubt->why, RC_CONFLICT, "the store does not take it: %s", why);
    }
    return true;
}

void engine_hold_operations(struct engine *e, bool held)
{
    e->operations.doubt.held = held;
}

/* The thing to blame may come with a later page: then it is looked for anew. */
void operations_commit(struct engine *e)
{
    if (e->turn.step.op != NULL)
        e->operations.doubt = (struct operation_doubt){.held = e->operations.doubt.held};
}

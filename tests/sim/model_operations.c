/* model_operations.c - what is done with many jobs, executions or dead letters. */
#include "coverage.h"
#include "job/record/record_fields.h"
#include "job/record/trail.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

static bool acts_on_letters(const struct operation_rec *op)
{
    return operation_is_about_letters(op->kind);
}

static bool is_in_part(const struct operation_rec *op, uint64_t id)
{
    return partition_of(op->parts, id) == op->partition;
}

static bool fits_letter(const struct operation_rec *op, const struct model_exec *x)
{
    return x->is_letter && is_in_part(op, x->rec.id) && x->letter.place.died_ms <= op->created_ms &&
           operation_takes_letter(op, &x->letter);
}

/* ---- beginning */

static void add_target(struct world *w, struct model_operation *op, uint64_t id)
{
    for (size_t i = 0; i < op->targets.len; i++) {
        if (op->targets.items[i].id == id)
            return;
    }
    *VEC_PUSH(w->model.arena, &op->targets) = (struct model_target){.id = id};
}

static void find_targets(struct world *w, struct model_operation *op)
{
    struct model *m = &w->model;
    bool jobs = operation_is_about_jobs(op->rec.kind);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        op->most += acts_on_letters(&op->rec) && fits_letter(&op->rec, x);
        if (acts_on_letters(&op->rec) || op->rec.by_ids || exec_is_final(x->rec.state) ||
            !is_in_part(&op->rec, x->rec.id) || !operation_takes(&op->rec, &x->job->rec, &x->rec))
            continue;
        add_target(w, op, jobs ? x->job->rec.id : x->rec.id);
    }
    for (size_t i = 0; i < operation_id_count(op->rec.ids); i++)
        add_target(w, op, operation_id(op->rec.ids, i));
}

static void new_operation(struct world *w, const struct operation_rec *rec)
{
    struct model *m = &w->model;
    struct model_operation *op = VEC_PUSH(m->arena, &m->operations);
    PROMISE(w, rec->done + rec->refused == 0, "an operation had done something before it began");
    *op = (struct model_operation){.rec = *rec};
    fields_copy(&operation_fields, &op->rec, m->arena);
    op->rec.refusal = op->rec.refusals = (struct str){0};
    struct err err;
    PROMISE(w, operation_read(&op->rec, m->arena, &err) == RC_OK,
            "an operation was kept whose filter cannot be read: %s", err.text);
    op->loads = m->loads;
    if (rec->state == OPERATION_RUNNING)
        find_targets(w, op);
}

void operations_meet(struct world *w, const struct model_exec *x)
{
    for (size_t i = 0; i < w->model.operations.len; i++) {
        struct model_operation *op = &w->model.operations.items[i];
        op->most += acts_on_letters(&op->rec) && fits_letter(&op->rec, x);
    }
}

/* ---- acting */

static bool is_by_operator(struct str steps, bool cancels)
{
    struct trail_step step;
    while (trail_next(&steps, &step)) {
        if (str_eq(step.actor, STR(OPERATOR)) && (!cancels || str_eq(step.event, STR("cancel"))))
            return true;
    }
    return false;
}

typedef VEC(uint64_t) id_list;

static void add_once(struct world *w, id_list *ids, uint64_t id)
{
    for (size_t i = 0; i < ids->len; i++) {
        if (ids->items[i] == id)
            return;
    }
    *VEC_PUSH(w->model.arena, ids) = id;
}

/* What this operation has changed in this turn. */
static id_list acted_upon(struct world *w, const struct operation_rec *op,
                          const struct delta *delta)
{
    id_list ids = {0};
    bool jobs = operation_is_about_jobs(op->kind);
    for (size_t i = 0; i < delta->exec_count; i++) {
        const struct exec_change *change = &delta->execs[i];
        if (is_by_operator(change->step, !jobs))
            add_once(w, &ids, jobs ? change->exec.job_id : change->exec.id);
    }
    for (size_t i = 0; i < delta->job_count && jobs; i++) {
        if (is_by_operator(delta->jobs[i].step, false))
            add_once(w, &ids, delta->jobs[i].job.id);
    }
    return ids;
}

static struct model_target *find_target(struct model_operation *op, uint64_t id)
{
    for (size_t i = 0; i < op->targets.len; i++) {
        if (op->targets.items[i].id == id)
            return &op->targets.items[i];
    }
    return NULL;
}

/* Ids that were named may be of a server that is ahead with its ids: they count all the same. */
static bool is_covered(const struct operation_rec *op, uint64_t id)
{
    bool named = false;
    for (size_t i = 0; i < operation_id_count(op->ids) && !named; i++)
        named = operation_id(op->ids, i) == id;
    return is_in_part(op, id) && (op->by_ids ? named : id < op->id);
}

/* Each thing once, and nothing else than what was there and fits, or was named. */
static void check_acted(struct world *w, struct model_operation *op,
                        const struct operation_rec *rec, const struct delta *delta)
{
    id_list ids = acted_upon(w, &op->rec, delta);
    const char *prefix = operation_is_about_jobs(rec->kind) ? ID_JOB : ID_EXEC;
    PROMISE(w, op->rec.by_ids || ids.len == rec->done - op->rec.done,
            "an operation says that it did %" PRIu64 " things in a turn, and did %zu",
            rec->done - op->rec.done, ids.len);
    for (size_t i = 0; i < ids.len; i++) {
        struct model_target *target = find_target(op, ids.items[i]);
        PROMISE(w, is_covered(&op->rec, ids.items[i]),
                "an operation acted upon %s, which came after it or is another part's",
                ID_TEXT(prefix, ids.items[i]));
        if (target == NULL) { /* it came to fit since */
            add_target(w, op, ids.items[i]);
            target = find_target(op, ids.items[i]);
            target->other = true;
        }
        PROMISE(w, !target->met || (target->other && rec->kind != OPERATION_TRIGGER_JOBS),
                "an operation acted upon %s twice", ID_TEXT(prefix, ids.items[i]));
        target->met = true;
        saw(SAW_ACTED_ON_MANY);
    }
}

static bool still_fits(const struct model *m, const struct operation_rec *op, uint64_t id)
{
    const struct model_exec *x = model_exec(m, id);
    const struct model_job *job = model_job(m, id);
    if (!operation_is_about_jobs(op->kind))
        return x != NULL && !exec_is_final(x->rec.state) &&
               operation_takes(op, &x->job->rec, &x->rec);
    for (size_t i = 0; job != NULL && i < job->execs.len; i++) {
        if (!exec_is_final(job->execs.items[i]->rec.state) &&
            operation_takes(op, &job->rec, &job->execs.items[i]->rec))
            return true;
    }
    return false;
}

/* What fitted all the time was acted upon, or refused. */
static void check_all(struct world *w, const struct model_operation *op)
{
    uint64_t left = 0;
    for (size_t i = 0; i < op->targets.len; i++) {
        const struct model_target *target = &op->targets.items[i];
        left += !target->met && !target->other && still_fits(&w->model, &op->rec, target->id);
    }
    PROMISE(w, left <= op->rec.refused || op->rec.by_ids,
            "an operation has ended, refused %" PRIu64 ", and left out %" PRIu64 " things",
            op->rec.refused, left);
}

/* ---- a turn */

static struct model_operation *find_operation(const struct model *m,
                                              const struct operation_rec *rec)
{
    for (size_t i = 0; i < m->operations.len; i++) {
        struct model_operation *op = &m->operations.items[i];
        if (op->rec.id == rec->id && op->rec.partition == rec->partition)
            return op;
    }
    return NULL;
}

static void keep_operation(struct world *w, const struct operation_change *change,
                           const struct delta *delta)
{
    const struct operation_rec *rec = &change->operation;
    struct model_operation *op = find_operation(&w->model, rec);
    PROMISE(w, (op != NULL) == change->progress, "a part of an operation was made twice, or never");
    if (op == NULL) {
        new_operation(w, rec);
        return;
    }
    PROMISE(w, op->rec.state == OPERATION_RUNNING, "an operation went on after its end");
    PROMISE(w, rec->done >= op->rec.done && rec->refused >= op->rec.refused,
            "an operation has done less than before");
    PROMISE(w, !acts_on_letters(rec) || op->rec.by_ids || rec->done + rec->refused <= op->most,
            "an operation has come to %" PRIu64 " done and %" PRIu64
            " refused, and there were %" PRIu64 " dead letters",
            rec->done, rec->refused, op->most);
    uint64_t acted = rec->done + rec->refused - op->rec.done - op->rec.refused;
    PROMISE(
        w, rec->state != OPERATION_RUNNING || acted == 0 || letter_order(rec->at, op->rec.at) > 0,
        "an operation has done %" PRIu64 " things, and its place is not in the same commit", acted);
    if (!acts_on_letters(rec) && rec->done > op->rec.done)
        check_acted(w, op, rec, delta);
    if (op->loads != w->model.loads)
        saw(SAW_OPERATION_AFTER_RESTART);
    op->rec.state = rec->state;
    op->rec.done = rec->done;
    op->rec.refused = rec->refused;
    op->rec.at = rec->at;
    if (rec->state == OPERATION_DONE && !acts_on_letters(rec))
        check_all(w, op);
    if (rec->state == OPERATION_CANCELLED)
        saw(SAW_OPERATION_CANCELLED);
}

static void disturb(struct world *w, uint64_t id)
{
    for (size_t i = 0; i < w->model.operations.len; i++) {
        struct model_operation *op = &w->model.operations.items[i];
        struct model_target *target =
            op->rec.state == OPERATION_RUNNING ? find_target(op, id) : NULL;
        if (target != NULL)
            target->other = true;
    }
}

/* Whatever somebody else did may be why something fits no more, or again. */
static void note_others(struct world *w, const struct delta *delta)
{
    for (size_t i = 0; i < delta->exec_count; i++) {
        disturb(w, delta->execs[i].exec.id);
        disturb(w, delta->execs[i].exec.job_id);
    }
    for (size_t i = 0; i < delta->job_count; i++)
        disturb(w, delta->jobs[i].job.id);
}

static void forget(struct world *w, uint64_t id)
{
    struct model *m = &w->model;
    size_t kept = 0;
    for (size_t i = 0; i < m->operations.len; i++) {
        const struct model_operation *op = &m->operations.items[i];
        PROMISE(w, op->rec.id != id || op->rec.state != OPERATION_RUNNING,
                "an operation was forgotten that goes on");
        if (op->rec.id != id)
            m->operations.items[kept++] = *op;
    }
    m->operations.len = kept;
}

void operations_keep(struct world *w, const struct delta *delta, const struct turn_view *view)
{
    (void)view;
    for (size_t i = 0; i < delta->operation_count; i++)
        keep_operation(w, &delta->operations[i], delta);
    note_others(w, delta);
    for (size_t i = 0; i < delta->operation_gone_count; i++)
        forget(w, delta->operations_gone[i]);
}

/* ---- what others of the model ask */

bool operations_discard(const struct model *m, const struct model_exec *x)
{
    for (size_t i = 0; i < m->operations.len; i++) {
        const struct operation_rec *op = &m->operations.items[i].rec;
        if (op->kind == OPERATION_DISCARD && op->state == OPERATION_RUNNING &&
            letter_fits(&op->filter, &x->letter))
            return true;
    }
    return false;
}

bool operations_run(const struct model *m)
{
    for (size_t i = 0; i < m->operations.len; i++) {
        if (m->operations.items[i].rec.state == OPERATION_RUNNING)
            return true;
    }
    return false;
}

bool operations_do(const struct model *m, enum operation_kind kind)
{
    for (size_t i = 0; i < m->operations.len; i++) {
        const struct operation_rec *op = &m->operations.items[i].rec;
        if (op->kind == kind && op->state == OPERATION_RUNNING)
            return true;
    }
    return false;
}

uint64_t operations_some(const struct model *m, uint64_t dice)
{
    size_t count = m->operations.len;
    if (count == 0)
        return 0;
    return m->operations.items[dice % 2 == 0 ? count - 1 : dice / 2 % count].rec.id;
}

bool operations_know(const struct model *m, uint64_t id)
{
    for (size_t i = 0; i < m->operations.len; i++) {
        if (m->operations.items[i].rec.id == id)
            return true;
    }
    return false;
}

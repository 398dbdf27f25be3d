/* operations.c - something that is done with many dead letters, step by step.
 *
 * An operation is remembered with how far it has come, and goes on from there after a restart. Each
 * turn takes one step of the oldest one that runs: it asks for the next letters, as many as a turn
 * may carry, and decides about each as if somebody had asked for that one alone. The outcome of a
 * letter and the progress of the operation are kept in one commit, so nothing is done twice. */
#include "engine/core/operations.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/jobs.h"
#include "engine/core/letters.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"

#include <stdlib.h>

enum { BUSY_PAUSE_MS = 1000 }; /* the server is full: try again then */

/* ---- in memory */

static size_t text_bytes(const struct operation_rec *rec)
{
    return rec->filter.queue.len + rec->filter.name.len + rec->by.len;
}

static struct str keep_text(struct buf *out, struct str text)
{
    size_t from = out->len;
    buf_add(out, text);
    return str_from(buf_str(out), from);
}

static void set_refusal(struct operation_values *v, struct str text)
{
    struct buf out = {.ptr = v->refusal, .cap = sizeof v->refusal, .max = sizeof v->refusal};
    buf_add(&out, str_head(text, sizeof v->refusal));
    v->refusal_len = (uint32_t)out.len;
}

static struct operation *operation_new(struct engine *e, const struct operation_rec *rec)
{
    size_t bytes = text_bytes(rec);
    struct operation *op = mem_new(sizeof *op + bytes);
    struct buf text = {.ptr = op->text, .cap = bytes, .max = bytes};
    op->id = rec->id;
    op->kind = rec->kind;
    op->filter = rec->filter;
    op->filter.queue = keep_text(&text, rec->filter.queue);
    op->filter.name = keep_text(&text, rec->filter.name);
    op->by = keep_text(&text, rec->by);
    op->created_ms = rec->created_ms;
    op->total = rec->total;
    op->v = (struct operation_values){
        .state = rec->state,
        .finished_ms = rec->finished_ms,
        .done = rec->done,
        .refused = rec->refused,
        .at = rec->at,
    };
    set_refusal(&op->v, rec->refusal);
    list_push_back(&e->operations.list, &op->node);
    e->operations.count++;
    return op;
}

void operation_free(struct engine *e, struct operation *op)
{
    list_remove(&op->node);
    e->operations.count--;
    free(op);
}

void operations_free(struct engine *e)
{
    for (struct list_node *node; (node = list_pop_front(&e->operations.list)) != NULL;)
        free(CONTAINER_OF(node, struct operation, node));
}

void engine_load_operation(struct engine *e, const struct operation_rec *rec)
{
    if (!PLANTED(operation_forgotten))
        operation_new(e, rec);
}

struct operation_rec operation_record(const struct operation *op)
{
    return (struct operation_rec){
        .id = op->id,
        .kind = op->kind,
        .state = op->v.state,
        .filter = op->filter,
        .by = op->by,
        .created_ms = op->created_ms,
        .finished_ms = op->v.finished_ms,
        .total = op->total,
        .done = op->v.done,
        .refused = op->v.refused,
        .at = op->v.at,
        .refusal = str_of(op->v.refusal, op->v.refusal_len),
    };
}

/* ---- a step */

static struct operation *next_operation(const struct engine *e)
{
    LIST_EACH(&e->operations.list, node)
    {
        struct operation *op = CONTAINER_OF(node, struct operation, node);
        if (op->v.state == OPERATION_RUNNING && !op->v.gone)
            return op;
    }
    return NULL;
}

int64_t operations_wait_ms(const struct engine *e, int64_t boot_ms)
{
    const struct operation *op = next_operation(e);
    return op == NULL ? INT64_MAX : op->v.wake_ms - boot_ms;
}

static void ask_letters(struct engine *e, struct operation *op, struct question_list *list)
{
    struct question *q = ARENA_NEW(e->turn.arena, struct question);
    *q = (struct question){
        .kind = ASK_LETTERS,
        .filter = op->filter,
        .place = op->v.at,
        .until_ms = op->created_ms,
        .limit = e->options.operation_step_max,
    };
    e->turn.step = (struct operation_step){.op = op, .letters = q};
    *VEC_PUSH(e->turn.arena, list) = q;
}

/* Running one again is what anybody may ask for: the same command, with the same questions. */
static void make_commands(struct engine *e)
{
    const struct answer *a = &e->turn.step.letters->answer;
    e->turn.step.commands = ARENA_ARRAY(e->turn.arena, struct command, a->letter_count);
    for (size_t i = 0; i < a->letter_count; i++) {
        struct command *cmd = &e->turn.step.commands[i];
        cmd->kind = CMD_RETRY_LETTER;
        cmd->own = true;
        cmd->actor = e->turn.step.op->by;
        cmd->arena = e->turn.arena;
        cmd->target.id = a->letters[i].place.exec_id;
    }
}

void operations_ask(struct engine *e, unsigned round, struct question_list *list)
{
    struct operation *op = next_operation(e);
    if (round == 0) {
        if (op != NULL && op->v.wake_ms <= e->boot_ms)
            ask_letters(e, op, list);
        return;
    }
    if (e->turn.step.op == NULL || e->turn.step.op->kind != OPERATION_RETRY)
        return;
    if (round == 1)
        make_commands(e);
    for (size_t i = 0; i < e->turn.step.letters->answer.letter_count; i++)
        engine_ask(e, &e->turn.step.commands[i], round - 1, list);
}

/* The outcome for one letter; RC_BUSY: none yet. */
static enum rc do_one(struct engine *e, size_t i, struct str *ret_why)
{
    if (e->turn.step.op->kind == OPERATION_DISCARD)
        return letter_take(e, &e->turn.step.letters->answer.letters[i]) ? RC_OK : RC_NOT_FOUND;
    struct command *cmd = &e->turn.step.commands[i];
    engine_decide(e, cmd);
    *ret_why = str_c(cmd->reply.err.text);
    return cmd->reply.rc;
}

/* Those behind the one for which there was no room have taken names and keys for nothing. */
static void forgo_from(struct engine *e, size_t first)
{
    for (size_t i = first; i < e->turn.step.letters->answer.letter_count; i++)
        retry_forgo(e, &e->turn.step.commands[i]);
}

/* True when it has come to the end of what it was given. */
static bool do_letters(struct engine *e, struct operation_values *v)
{
    const struct answer *a = &e->turn.step.letters->answer;
    for (size_t i = 0; i < a->letter_count; i++) {
        struct str why = {0};
        enum rc rc = do_one(e, i, &why);
        if (rc == RC_BUSY) {
            v->wake_ms = e->boot_ms + BUSY_PAUSE_MS;
            forgo_from(e, i + 1);
            return false;
        }
        v->at = a->letters[i].place;
        v->done += rc == RC_OK;
        if (rc != RC_OK && rc != RC_NOT_FOUND) { /* else somebody else has decided meanwhile */
            v->refused++;
            set_refusal(v, why);
        }
    }
    return true;
}

void operations_step(struct engine *e)
{
    struct operation *op = e->turn.step.op;
    if (op == NULL)
        return;
    const struct answer *a = &e->turn.step.letters->answer;
    struct touched *t = touch_operation(e, op);
    struct operation_values *v = &op->v;
    if (do_letters(e, v)) {
        v->at = a->more ? a->place : v->at;
        v->state = a->more ? OPERATION_RUNNING : OPERATION_DONE;
        v->finished_ms = a->more ? 0 : e->now_ms;
    }
    t->durable = t->durable || v->state == OPERATION_DONE ||
                 letter_order(v->at, t->before.operation->at) != 0;
}

/* ---- commands */

/* The oldest one that is done leaves for a new one. */
static bool make_place(struct engine *e)
{
    size_t count = 0;
    struct operation *oldest = NULL;
    LIST_EACH(&e->operations.list, node)
    {
        struct operation *op = CONTAINER_OF(node, struct operation, node);
        count += !op->v.gone;
        if (oldest == NULL && !op->v.gone && op->v.state == OPERATION_DONE)
            oldest = op;
    }
    if (count < OPERATIONS_MAX)
        return true;
    if (oldest == NULL)
        return false;
    touch_operation(e, oldest)->durable = true;
    oldest->v.gone = true;
    return true;
}

static struct operation_rec copy_record(struct command *cmd, const struct operation *op)
{
    struct operation_rec rec = operation_record(op);
    rec.filter.queue = arena_str(cmd->arena, rec.filter.queue);
    rec.filter.name = arena_str(cmd->arena, rec.filter.name);
    rec.by = arena_str(cmd->arena, rec.by);
    rec.refusal = arena_str(cmd->arena, rec.refusal);
    return rec;
}

void decide_operate(struct engine *e, struct command *cmd)
{
    if (!make_place(e)) {
        command_fail(e, cmd, RC_BUSY, "there are as many operations under way as there may be");
        return;
    }
    e->bucket = partition_next_bucket(&e->owned, e->bucket);
    struct operation *op = operation_new(e, &(struct operation_rec){
                                                .id = id_next(&e->ids, e->now_ms, e->bucket),
                                                .kind = cmd->operate.kind,
                                                .state = OPERATION_RUNNING,
                                                .filter = cmd->operate.filter,
                                                .by = cmd->actor,
                                                .created_ms = e->now_ms,
                                                .total = cmd->operate.total,
                                            });
    touch_new(touch_operation(e, op), false);
    struct operation_rec *rec = ARENA_NEW(cmd->arena, struct operation_rec);
    *rec = copy_record(cmd, op);
    cmd->reply.operations = rec;
    cmd->reply.operation_count = 1;
    command_done(e, cmd);
}

/* Oldest first. */
void decide_operations(struct engine *e, struct command *cmd)
{
    struct operation_rec *records =
        ARENA_ARRAY(cmd->arena, struct operation_rec, e->operations.count);
    size_t count = 0;
    LIST_EACH(&e->operations.list, node)
    {
        const struct operation *op = CONTAINER_OF(node, struct operation, node);
        if (!op->v.gone)
            records[count++] = copy_record(cmd, op);
    }
    cmd->reply.operations = records;
    cmd->reply.operation_count = count;
    command_done(e, cmd);
}

/* operations.c - something that is done with many jobs, executions or dead letters: how it begins,
 * is remembered and cancelled.
 *
 * The owner of the partition of the operation's id decides that there is one. It makes a part for
 * each of its own partitions, and tells the owners of the others by mail, in the same commit; so
 * there is a part in each partition or in none, whoever dies meanwhile. */
#include "engine/core/operations.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "job/record/record_fields.h"

#include <stdlib.h>

/* ---- in memory */

static size_t text_bytes(const struct operation_rec *rec)
{
    size_t bytes = 0;
    for (size_t i = 0; i < operation_fields.len; i++) {
        const struct field *field = &operation_fields.items[i];
        if (field->kind == FIELD_TEXT && !field_is_in(field, FIELD_PROGRESS | FIELD_TRAIL))
            bytes += field_text(field, rec).len;
    }
    return bytes;
}

/* Progress has a place of its own. */
static void keep_texts(struct operation *op, size_t bytes)
{
    struct buf text = {.ptr = op->text, .cap = bytes, .max = bytes};
    for (size_t i = 0; i < operation_fields.len; i++) {
        const struct field *field = &operation_fields.items[i];
        if (field->kind != FIELD_TEXT)
            continue;
        size_t from = text.len;
        if (!field_is_in(field, FIELD_PROGRESS | FIELD_TRAIL))
            buf_add(&text, field_text(field, &op->rec));
        field_set_text(field, &op->rec, str_from(buf_str(&text), from));
    }
}

/* The sentence may quote the foreign text, and be cut within a character of it. */
static struct str why_unreadable(struct arena *arena, const struct err *err)
{
    struct str why = str_head(str_c(err->text), OPERATION_REFUSAL_MAX);
    return str_is_utf8(why) ? arena_str(arena, why) : STR("its filter is none of this version's");
}

/* Ids that are made from now on are larger than the operation's, also by a clock that is behind
 * that of the server which made it: what it meets and is older is what was there before it. */
static struct operation *operation_new(struct engine *e, const struct operation_rec *stored)
{
    struct arena arena = {0};
    struct operation_rec read = *stored;
    const struct operation_rec *rec = &read;
    struct err err;
    bool good = operation_read(&read, &arena, &err) == RC_OK;
    size_t bytes = text_bytes(rec);
    struct operation *op = mem_new(sizeof *op + bytes);
    op->rec = *rec;
    if (!good)
        op->unreadable = why_unreadable(&arena, &err);
    op->arena = arena;
    op->v = (struct operation_values){
        .state = rec->state,
        .finished_ms = rec->finished_ms,
        .done = rec->done,
        .refused = rec->refused,
        .at = rec->at,
    };
    struct buf refusal = {
        .ptr = op->v.refusal, .cap = sizeof op->v.refusal, .max = sizeof op->v.refusal};
    buf_add(&refusal, str_head(rec->refusal, sizeof op->v.refusal));
    op->v.refusal_len = (uint32_t)refusal.len;
    op->refusals = BUF(OPERATION_REFUSALS_BYTES);
    buf_add(&op->refusals, str_head(rec->refusals, OPERATION_REFUSALS_BYTES));
    op->v.refusals_len = op->refusals.len;
    keep_texts(op, bytes);
    list_push_back(&e->operations.list, &op->node);
    e->operations.count++;
    id_raise_floor(&e->ids, rec->id);
    return op;
}

void operation_free(struct engine *e, struct operation *op)
{
    list_remove(&op->node);
    e->operations.count--;
    buf_free(&op->refusals);
    arena_free(&op->arena);
    free(op);
}

void operations_free(struct engine *e)
{
    while (!list_empty(&e->operations.list))
        operation_free(e, CONTAINER_OF(list_first(&e->operations.list), struct operation, node));
}

void engine_load_operation(struct engine *e, const struct operation_rec *rec)
{
    if (!PLANTED(operation_forgotten) && rec->state == OPERATION_RUNNING)
        operation_new(e, rec);
}

struct operation_rec operation_record(const struct operation *op)
{
    struct operation_rec rec = op->rec;
    rec.state = op->v.state;
    rec.finished_ms = op->v.finished_ms;
    rec.done = op->v.done;
    rec.refused = op->v.refused;
    if (!PLANTED(operation_place_lost))
        rec.at = op->v.at;
    rec.refusal = str_of(op->v.refusal, op->v.refusal_len);
    rec.refusals = str_of(op->refusals.ptr, op->v.refusals_len);
    return rec;
}

/* ---- beginning */

void ask_operate(struct engine *e, struct command *cmd, struct question_list *list)
{
    command_ask(e, cmd, list)->kind = ASK_OPERATIONS;
}

/* Those that are over for longest leave for a new one. False: too many run. */
static bool make_place(struct engine *e, const struct answer *a)
{
    size_t over = 0;
    for (size_t i = 0; i < a->operation_count; i++)
        over += a->operations[i].over;
    if (a->operation_count - over >= OPERATIONS_MAX)
        return false;
    size_t room = OPERATIONS_MAX - 1;
    for (size_t i = 0, left = a->operation_count; i < a->operation_count && left > room; i++) {
        if (!a->operations[i].over)
            continue;
        *VEC_PUSH(e->turn.arena, &e->turn.operations_gone) = a->operations[i].id;
        left--;
    }
    return true;
}

/* Those of a partition. The text of all is in the order of ids, which is not that of partitions. */
static struct str ids_in(struct engine *e, struct str ids, uint32_t partition)
{
    struct buf out = {.ptr = arena_bytes(e->turn.arena, ids.len), .cap = ids.len, .max = ids.len};
    for (size_t i = 0; i < operation_id_count(ids); i++) {
        if (partition_of(e->owned.count, operation_id(ids, i)) == partition)
            buf_add(&out, str_head(str_from(ids, i * ID_DIGITS), ID_DIGITS));
    }
    return buf_str(&out);
}

static void begin_part(struct engine *e, const struct operation_rec *whole, uint32_t partition)
{
    struct operation_rec part = *whole;
    uint32_t bucket = partition_first_bucket(e->owned.count, partition);
    part.partition = partition;
    if (whole->by_ids)
        part.ids = ids_in(e, whole->ids, partition);
    if (partition != partition_of(e->owned.count, whole->id))
        part.total = 0;
    if (partition_has_bucket(&e->owned, bucket)) {
        touch_new(touch_operation(e, operation_new(e, &part)), false)->durable = true;
        return;
    }
    struct inbox_rec *rec = mail_send(e, INBOX_OPERATE, bucket);
    rec->about = whole->id;
    rec->actor = whole->by;
    rec->body = operation_text(&part, e->turn.arena);
}

void decide_operate(struct engine *e, struct command *cmd)
{
    if (!make_place(e, &cmd->questions[0].answer)) {
        command_fail(e, cmd, RC_BUSY, "%d operations are under way, as many as there may be",
                     OPERATIONS_MAX);
        return;
    }
    e->bucket = partition_next_bucket(&e->owned, e->bucket);
    struct operation_rec whole = {
        .id = id_next(&e->ids, e->now_ms, e->bucket),
        .parts = e->owned.count,
        .kind = cmd->operate.kind,
        .state = OPERATION_RUNNING,
        .filter = cmd->operate.filter,
        .which = cmd->operate.which,
        .by_ids = cmd->operate.by_ids,
        .ids = cmd->operate.ids,
        .by = cmd->actor,
        .created_ms = e->now_ms,
        .counted = cmd->operate.counted,
        .total = cmd->operate.total,
    };
    for (uint32_t i = 0; i < e->owned.count; i++)
        begin_part(e, &whole, i);
    cmd->reply.operation_id = whole.id;
    command_done(e, cmd);
}

/* An action that is understood in part must not be done in part. */
static bool understands(struct engine *e, const struct operation_rec *part)
{
    struct operation_rec read = *part;
    struct err err;
    return operation_read(&read, e->turn.arena, &err) == RC_OK;
}

bool heard_operate(struct engine *e, const struct inbox_rec *rec)
{
    struct operation_rec part;
    if (!operation_parse(rec->body, &part) || !understands(e, &part))
        return false;
    operation_renew(&part, e->turn.arena);
    part.partition = partition_of_bucket(e->owned.count, rec->bucket);
    part.state = OPERATION_RUNNING;
    touch_new(touch_operation(e, operation_new(e, &part)), false)->durable = true;
    return true;
}

/* ---- cancelling */

static void stop(struct engine *e, uint64_t id, const struct partition_set *in)
{
    LIST_EACH(&e->operations.list, node)
    {
        struct operation *op = CONTAINER_OF(node, struct operation, node);
        if (op->rec.id != id || op->v.state != OPERATION_RUNNING ||
            (in->bits >> op->rec.partition & 1) == 0)
            continue;
        touch_operation(e, op)->durable = true;
        op->v.state = OPERATION_CANCELLED;
        op->v.finished_ms = e->now_ms;
    }
}

void decide_cancel_operation(struct engine *e, struct command *cmd)
{
    stop(e, cmd->target.id, &e->owned);
    for (uint32_t i = 0; i < e->owned.count; i++) {
        uint32_t bucket = partition_first_bucket(e->owned.count, i);
        if (partition_has_bucket(&e->owned, bucket))
            continue;
        struct inbox_rec *rec = mail_send(e, INBOX_STOP, bucket);
        rec->about = cmd->target.id;
        rec->actor = cmd->actor;
    }
    cmd->reply.operation_id = cmd->target.id;
    command_done(e, cmd);
}

void heard_stop(struct engine *e, const struct inbox_rec *rec)
{
    const struct partition_set in = {
        .count = e->owned.count,
        .bits = UINT64_C(1) << partition_of_bucket(e->owned.count, rec->bucket),
    };
    stop(e, rec->about, &in);
}

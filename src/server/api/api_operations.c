/* api_operations.c - actions on many jobs or executions, and how far operations have come. */
#include "server/api/api.h"
#include "server/call/resolve.h"
#include "server/turn/idempotency.h"
#include "server/view/operation_view.h"

enum { LIST_BYTES_MAX = 64 << 20 }; /* filters may have a hundred long tags each */

/* ---- asking for one */

struct action_call {
    struct operation_rec op; /* as it would be */
    bool dry_run;
    struct operation_count found;
};

static void look_count(struct request *r, struct reader *reader)
{
    struct action_call *call = r->own;
    r->rc = operation_count(reader, &call->op, &call->found, &r->err);
}

static void answer_count(struct request *r)
{
    const struct action_call *call = r->own;
    bool jobs = operation_is_about_jobs(call->op.kind);
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_bool(&w, "dry_run", true);
    json_put_int(&w, "count", (int64_t)call->found.count);
    json_put_bool(&w, "at_least", call->found.at_least);
    json_key(&w, "first");
    json_open_array(&w);
    for (size_t i = 0; i < call->found.count && i < OPERATION_FIRST_MAX; i++)
        json_id(&w, jobs ? ID_JOB : ID_EXEC, call->found.first[i]);
    json_close_array(&w);
    json_close(&w);
    request_answer_body(r, 200);
}

static void begin(struct request *r)
{
    const struct action_call *call = r->own;
    const struct operation_rec *op = &call->op;
    r->cmd.operate.kind = op->kind;
    if (!op->by_ids)
        r->cmd.operate.which = op->which;
    r->cmd.operate.by_ids = op->by_ids;
    r->cmd.operate.ids = op->ids;
    r->cmd.operate.counted = !call->found.at_least;
    r->cmd.operate.total = op->by_ids ? operation_id_count(op->ids) : call->found.count;
    operation_begin(r);
}

/* Ids are as many as they are, whatever has become of what they name. */
static void count_ids(struct action_call *call)
{
    call->found.count = operation_id_count(call->op.ids);
    for (size_t i = 0; i < call->found.count && i < OPERATION_FIRST_MAX; i++)
        call->found.first[i] = operation_id(call->op.ids, i);
}

/* Two actions under one Idempotency-Key are the same if these parts are. */
static struct once once_of(const struct request *r, const struct operation_rec *op)
{
    const struct str parts[] = {operation_kind_name(op->kind), op->which, op->ids};
    return idempotency_of_call(r, parts, COUNT_OF(parts));
}

static void act(struct request *r, bool of_jobs)
{
    struct action_call *call = ARENA_NEW(r->arena, struct action_call);
    struct field_errors errors = {0};
    struct action_wish wish;
    struct json doc;
    r->own = call;
    if (!request_json(r, false, &doc))
        return;
    if (action_wish_parse(&doc, of_jobs, r->arena, &wish, &errors) != RC_OK) {
        request_fail_fields(r, &errors);
        return;
    }
    call->op = (struct operation_rec){
        .id = INT64_MAX, /* all there is was there before */
        .kind = wish.kind,
        .which = operation_filter_text(wish.kind, &wish.filter, r->arena),
        .meant = wish.filter,
        .by_ids = wish.by_ids,
        .ids = wish.ids,
    };
    call->dry_run = wish.dry_run;
    r->cmd.once = once_of(r, &call->op);
    request_step *next = wish.dry_run ? answer_count : begin;
    if (wish.by_ids) {
        count_ids(call);
        next(r);
        return;
    }
    request_to_query_first(r, look_count, next);
}

static void act_on_jobs(struct request *r)
{
    act(r, true);
}

static void act_on_executions(struct request *r)
{
    act(r, false);
}

/* Names and parts of ids in `ids` and in the filter's `job` become ids before anything else. */
static void find_ids(struct request *r, bool of_jobs, request_step *go_on)
{
    struct resolve_texts texts = {0};
    struct json doc;
    if (!request_no_params(r) || !request_json(r, false, &doc))
        return;
    for (size_t i = 0; doc.kind == JSON_OBJECT && i < doc.count; i++) {
        const struct json_member *m = &doc.members[i];
        if (str_eq(m->key, STR("filter")) && !of_jobs)
            resolve_add_member(r, &texts, &m->value, STR("job"), false, "filter.job");
        for (size_t k = 0; str_eq(m->key, STR("ids")) && m->value.kind == JSON_ARRAY &&
                           k < m->value.count && k < OPERATION_IDS_MAX;
             k++)
            resolve_add(r, &texts, &m->value.items[k], !of_jobs,
                        arena_zstr(r->arena, arena_printf(r->arena, "ids[%zu]", k)));
    }
    resolve_body(r, &texts, go_on);
}

void api_job_actions(struct request *r)
{
    find_ids(r, true, act_on_jobs);
}

void api_execution_actions(struct request *r)
{
    find_ids(r, false, act_on_executions);
}

/* ---- how far they have come */

static size_t parts_of_one(const struct operation_rec *parts, size_t count)
{
    size_t len = 1;
    while (len < count && parts[len].id == parts[0].id)
        len++;
    return len;
}

static void look_operations(struct request *r, struct reader *reader)
{
    struct operation_rec *parts;
    size_t count;
    r->rc = reader->ops->operations(reader, 0, r->arena, &parts, &count, &r->err);
    if (r->rc != RC_OK)
        return;
    r->body = BUF(LIST_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_key(&w, "operations");
    json_open_array(&w);
    for (size_t i = 0; i < count; i += parts_of_one(parts + i, count - i))
        operation_print(&w, parts + i, parts_of_one(parts + i, count - i), false);
    json_close_array(&w);
    json_close(&w);
}

void api_operations(struct request *r)
{
    if (request_no_params(r))
        request_to_query(r, look_operations);
}

static enum rc read_one(struct request *r, struct reader *reader, struct operation_rec **ret_parts,
                        size_t *ret_count)
{
    TRY(reader->ops->operations(reader, r->cmd.target.id, r->arena, ret_parts, ret_count, &r->err));
    return *ret_count > 0 ? RC_OK
                          : err_set(&r->err, RC_NOT_FOUND, "there is no operation %s",
                                    ID_TEXT(ID_OPERATION, r->cmd.target.id));
}

static void look_operation(struct request *r, struct reader *reader)
{
    struct operation_rec *parts;
    size_t count;
    r->rc = read_one(r, reader, &parts, &count);
    if (r->rc != RC_OK)
        return;
    struct json_writer w = JSON_WRITER(&r->body);
    operation_print(&w, parts, count, true);
}

void api_operation(struct request *r)
{
    if (request_no_params(r) && request_path_id(r, ID_OPERATION, &r->cmd.target.id))
        request_to_query(r, look_operation);
}

/* ---- cancelling */

static void look_running(struct request *r, struct reader *reader)
{
    struct operation_rec *parts;
    size_t count;
    r->rc = read_one(r, reader, &parts, &count);
    if (r->rc != RC_OK)
        return;
    enum operation_state state = operation_state_of(parts, count);
    if (state == OPERATION_DONE || state == OPERATION_FAILED)
        r->rc = err_set(&r->err, RC_CONFLICT, "the operation %s %s already",
                        ID_TEXT(ID_OPERATION, r->cmd.target.id),
                        state == OPERATION_DONE ? "is done" : "has failed");
}

static void answer_cancelled(struct request *r)
{
    request_to_query(r, look_operation);
}

static void cancel(struct request *r)
{
    request_to_turn(r, answer_cancelled);
}

void api_operation_cancel(struct request *r)
{
    if (request_target(r))
        request_to_query_first(r, look_running, cancel);
}

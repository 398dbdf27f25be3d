/* api_checkpoints.c - what an attempt leaves for the next one: kept and fetched by workers, looked
 * at by people. */
#include "server/api/api.h"
#include "server/output/output_log.h"

/* A body of nothing needs no type. */
static bool is_bytes(struct request *r)
{
    struct str type = http_request_header(r->http, STR("Content-Type"));
    if (r->http->body.len == 0 || str_eq_nocase(type, STR(BYTES_TYPE)))
        return true;
    request_problem(r, 415, "the body must be " BYTES_TYPE);
    return false;
}

static bool fits(struct request *r)
{
    uint64_t bytes_max = r->server->options->checkpoint_bytes_max;
    if (r->http->body.len <= bytes_max)
        return true;
    request_problem(r, 413, "a checkpoint of %zu bytes is more than checkpoint_bytes_max, %zu",
                    r->http->body.len, (size_t)bytes_max);
    return false;
}

/* The lease in whose name a worker calls. */
static bool read_name(struct request *r, struct lease_name *ret_name)
{
    static const char *const known[] = {"token", NULL};
    struct field_errors errors = {0};
    struct str text;
    if (!request_params_known(r, known) || !request_path_id(r, ID_WORKER, &ret_name->worker_id) ||
        !request_path_sub_id(r, ID_EXEC, &ret_name->exec_id))
        return false;
    if (http_request_param(r->http, STR("token"), &text) && str_to_u64(text, &ret_name->token) &&
        ret_name->token > 0)
        return true;
    field_error(&errors, r->arena, STR("token"), "must be the token of the lease, from 1");
    request_fail_fields(r, &errors);
    return false;
}

static void to_output_log(struct request *r, struct checkpoint_call *call, request_step *done)
{
    r->checkpoint = call;
    request_to_output_log(r, output_log_checkpoint, done);
}

static void answer_kept(struct request *r)
{
    request_answer_empty(r, 204);
}

static void answer_bytes(struct request *r)
{
    struct str bytes = r->checkpoint->checkpoint.bytes;
    if (bytes.len == 0)
        request_answer_empty(r, 204);
    else
        request_answer_bytes(r, bytes);
}

void api_checkpoint_put(struct request *r)
{
    struct checkpoint_call *call = ARENA_NEW(r->arena, struct checkpoint_call);
    call->kind = CHECKPOINT_PUT;
    if (!read_name(r, &call->name) || !is_bytes(r) || !request_unpack(r) || !fits(r))
        return;
    call->checkpoint.bytes = r->http->body;
    to_output_log(r, call, answer_kept);
}

void api_checkpoint_fetch(struct request *r)
{
    struct checkpoint_call *call = ARENA_NEW(r->arena, struct checkpoint_call);
    call->kind = CHECKPOINT_FETCH;
    if (read_name(r, &call->name))
        to_output_log(r, call, answer_bytes);
}

void api_execution_checkpoint(struct request *r)
{
    struct checkpoint_call *call = ARENA_NEW(r->arena, struct checkpoint_call);
    call->kind = CHECKPOINT_SHOW;
    if (request_no_params(r) && request_path_id(r, ID_EXEC, &call->name.exec_id))
        to_output_log(r, call, answer_bytes);
}

#include "base/vec.h"
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/cluster/forward.h"
#include "server/cluster/membership.h"
#include "server/output/output_log.h"
#include "server/turn/decider.h"
#include "wire/http/log_frame.h"
#include "wire/message/poll_json.h"
#include "wire/message/record_json.h"

enum { ANSWER_BYTES_MAX = 1024, REPLY_BYTES_MAX = 64 << 20, LIST_BYTES_MAX = 64 << 20 };

/* ---- the worker's own calls */

static void answer_registered(struct request *r)
{
    const struct server_options *options = r->server->options;
    r->body = BUF(ANSWER_BYTES_MAX);
    welcome_print(&r->body, &(struct welcome){
                                .worker_id = r->cmd.reply.worker_id,
                                .lease_ms = options->engine.lease_ms,
                                .park_ms = options->engine.park_ms,
                                .kill_grace_ms = options->engine.kill_grace_ms,
                                .output_bytes_max = (int64_t)options->output_bytes_max,
                                .checkpoint_bytes_max = (int64_t)options->checkpoint_bytes_max,
                                .checkpoint_ms = (int64_t)options->checkpoint_ms,
                                .outage_grace_ms = (int64_t)options->outage_grace_ms,
                                .forget_ms = options->engine.forget_ms,
                            });
    request_answer_body(r, 201);
}

void api_worker_register(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    if (!request_no_params(r) || !request_json(r, false, &doc))
        return;
    if (hello_parse(&doc, r->arena, &r->cmd.hello, &errors) != RC_OK)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, answer_registered);
}

/* All that are there: each has a part of the work, and is polled by each worker. */
static void name_servers(struct request *r)
{
    struct poll_reply *reply = &r->cmd.reply.poll;
    struct peer *peers;
    size_t count = membership_peers(r->server->membership, r->arena, &peers);
    struct str *servers = ARENA_ARRAY(r->arena, struct str, count + 1);
    reply->server = servers[0] = membership_address(r->server->membership);
    reply->server_count = 1;
    for (size_t i = 0; i < count && reply->server_count < POLL_SERVERS_MAX; i++) {
        if (peers[i].address.len > 0)
            servers[reply->server_count++] = peers[i].address;
    }
    reply->servers = servers;
}

static void answer_poll(struct request *r)
{
    if (r->server->membership != NULL)
        name_servers(r);
    r->body = BUF(REPLY_BYTES_MAX);
    poll_reply_print(&r->body, &r->cmd.reply.poll);
    request_answer_body(r, 200);
}

static void poll_gone(struct http_request *http)
{
    struct request *r = http->user;
    decider_hangup(r->server->decider, r);
}

/* Meant for another server, which the worker cannot reach: true when it went there. */
static bool poll_goes_on(struct request *r)
{
    struct str address;
    return http_request_param(r->http, STR("server"), &address) && forward_to_address(r, address);
}

void api_worker_poll(struct request *r)
{
    static const char *const known[] = {"server", NULL};
    struct json doc;
    struct field_errors errors = {0};
    uint64_t worker_id;
    if (!request_params_known(r, known) || poll_goes_on(r) ||
        !request_path_id(r, ID_WORKER, &worker_id) || !request_json(r, false, &doc))
        return;
    if (poll_parse(&doc, r->arena, &r->cmd.poll, &errors) != RC_OK) {
        request_fail_fields(r, &errors);
        return;
    }
    r->cmd.poll.worker_id = worker_id;
    r->http->on_gone = poll_gone;
    request_to_turn(r, answer_poll);
}

static void answer_kept(struct request *r)
{
    request_answer_empty(r, 204);
}

void api_worker_logs(struct request *r)
{
    struct err err;
    VEC(struct log_chunk) chunks = {0};
    struct str rest;
    if (!request_no_params(r) || !request_path_id(r, ID_WORKER, &r->output.worker_id))
        return;
    if (!str_eq_nocase(http_request_header(r->http, STR("Content-Type")), STR(LOG_FRAME_TYPE))) {
        request_problem(r, 415, "the body must be " LOG_FRAME_TYPE);
        return;
    }
    if (!request_unpack(r))
        return;
    rest = r->http->body;
    while (rest.len > 0) {
        if (log_frame_next(&rest, VEC_PUSH(r->arena, &chunks), &err) != RC_OK) {
            request_problem(r, problem_status(err.rc), "frame %zu: %s", chunks.len, err.text);
            return;
        }
    }
    r->output.chunks = chunks.items;
    r->output.count = chunks.len;
    request_to_output_log(r, output_log_keep, answer_kept);
}

/* ---- the administrator's */

/* Twice the longest park without a word: it has missed a poll. */
static int64_t away_ms(const struct request *r)
{
    return 2 * r->server->options->engine.park_ms;
}

static void answer_workers(struct request *r)
{
    r->body = BUF(LIST_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_key(&w, "workers");
    json_open_array(&w);
    for (size_t i = 0; i < r->cmd.reply.worker_count; i++)
        worker_view_print(&w, &r->cmd.reply.workers[i], r->cmd.reply.at_ms, away_ms(r));
    json_close_array(&w);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_workers(struct request *r)
{
    if (request_no_params(r))
        request_to_turn(r, answer_workers);
}

static void answer_worker(struct request *r)
{
    r->body = BUF(LIST_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    worker_view_print_whole(&w, r->cmd.reply.workers, r->cmd.reply.at_ms, away_ms(r));
    request_answer_body(r, 200);
}

void api_worker(struct request *r)
{
    if (request_no_params(r) && request_path_id(r, ID_WORKER, &r->cmd.target.id))
        request_to_turn(r, answer_worker);
}

static void answer_cordon(struct request *r)
{
    struct json_writer w = request_writer(r);
    worker_cordon_print(&w, &r->cmd.reply.workers[0].worker);
    request_answer_body(r, 200);
}

void api_worker_cordon(struct request *r)
{
    if (request_target(r) && request_reason(r))
        request_to_turn(r, answer_cordon);
}

void api_worker_uncordon(struct request *r)
{
    if (request_target(r))
        request_to_turn(r, answer_cordon);
}

static void answer_draining(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_id(&w, "worker_id", ID_WORKER, r->cmd.reply.worker_id);
    json_put_str(&w, "status", STR("draining"));
    json_close(&w);
    request_answer_body(r, 200);
}

void api_worker_drain(struct request *r)
{
    if (request_target(r))
        request_to_turn(r, answer_draining);
}

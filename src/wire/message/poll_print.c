/* Requests and replies of the worker protocol, written. poll_json.c reads them. */
#include "base/id.h"
#include "wire/message/poll_json.h"

static void put_names(struct json_writer *w, const char *key, const struct str *names, size_t count)
{
    if (count == 0)
        return;
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++)
        json_str(w, names[i]);
    json_close_array(w);
}

void hello_print(struct buf *out, const struct hello *hello)
{
    struct json_writer w = JSON_WRITER(out);
    json_open(&w);
    json_put_str(&w, "name", hello->name);
    json_put_int(&w, "slots", hello->slots);
    put_names(&w, "queues", hello->queues, hello->queue_count);
    put_names(&w, "handlers", hello->handlers, hello->handler_count);
    json_put_bool(&w, "commands", hello->runs_commands);
    if (hello->boot_id.len > 0)
        json_put_str(&w, "boot_id", hello->boot_id);
    if (hello->replaces != 0)
        json_put_id(&w, "replaces", ID_WORKER, hello->replaces);
    json_close(&w);
}

void welcome_print(struct buf *out, const struct welcome *welcome)
{
    struct json_writer w = JSON_WRITER(out);
    json_open(&w);
    json_put_id(&w, "worker_id", ID_WORKER, welcome->worker_id);
    json_put_int(&w, "lease_ms", welcome->lease_ms);
    json_put_int(&w, "park_ms", welcome->park_ms);
    json_put_int(&w, "kill_grace_ms", welcome->kill_grace_ms);
    json_put_int(&w, "output_bytes_max", welcome->output_bytes_max);
    json_put_int(&w, "checkpoint_bytes_max", welcome->checkpoint_bytes_max);
    json_put_int(&w, "checkpoint_ms", welcome->checkpoint_ms);
    json_put_int(&w, "outage_grace_ms", welcome->outage_grace_ms);
    json_put_int(&w, "forget_ms", welcome->forget_ms);
    json_close(&w);
}

/* Opens an object that begins with what every entry of every list begins with. */
static void open_entry(struct json_writer *w, uint64_t exec_id, uint64_t token)
{
    json_open(w);
    json_put_id(w, "execution_id", ID_EXEC, exec_id);
    json_put_int(w, "token", (int64_t)token);
}

static void put_held(struct json_writer *w, const char *key, const struct poll_held *held,
                     size_t count)
{
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        open_entry(w, held[i].exec_id, held[i].token);
        json_close(w);
    }
    json_close_array(w);
}

/* ---- polls */

static void put_failure(struct json_writer *w, const struct poll_result *result)
{
    if (result->class != FAILURE_NONE)
        json_put_str(w, "error_class", failure_name(result->class));
    if (result->permanent != PERMANENT_BY_CLASS)
        json_put_bool(w, "permanent", result->permanent == PERMANENT_YES);
    if (result->retry_after_ms > 0)
        json_put_int(w, "retry_after_ms", result->retry_after_ms);
    if (result->tail.len > 0)
        json_put_str(w, "error_tail", result->tail);
    if (result->code != POLL_CODE_NONE)
        json_put_str(w, "code",
                     result->code == POLL_CODE_UNREADABLE ? STR("unreadable")
                                                          : STR("spawner_died"));
}

static void print_result(struct json_writer *w, const struct poll_result *result)
{
    const struct usage *usage = &result->usage;
    open_entry(w, result->exec_id, result->token);
    json_put_str(w, "outcome", outcome_name(result->outcome));
    if (usage->exit_code >= 0)
        json_put_int(w, "exit_code", usage->exit_code);
    if (usage->signal > 0)
        json_put_int(w, "signal", usage->signal);
    json_put_int(w, "cpu_ms", usage->cpu_ms);
    json_put_int(w, "peak_memory_bytes", usage->peak_memory_bytes);
    json_put_int(w, "output_bytes", usage->output_bytes);
    json_put_int(w, "dropped_bytes", usage->dropped_bytes);
    json_put_int(w, "log_seq", (int64_t)usage->log_seq);
    if (result->result.len > 0)
        json_put_raw(w, "result", result->result);
    if (result->error.len > 0)
        json_put_str(w, "error", result->error);
    put_failure(w, result);
    json_close(w);
}

void poll_print(struct buf *out, const struct poll *poll)
{
    struct json_writer w = JSON_WRITER(out);
    json_open(&w);
    json_put_int(&w, "seq", (int64_t)poll->seq);
    json_put_int(&w, "free", poll->free);
    json_put_int(&w, "wait_ms", poll->wait_ms);
    if (poll->heard > 0)
        json_put_int(&w, "heard", (int64_t)poll->heard);
    put_held(&w, "running", poll->held, poll->held_count);
    json_key(&w, "results");
    json_open_array(&w);
    for (size_t i = 0; i < poll->result_count; i++)
        print_result(&w, &poll->results[i]);
    json_close_array(&w);
    json_close(&w);
}

/* ---- replies */

static void put_trace(struct json_writer *w, const struct poll_lease *lease)
{
    char text[TRACE_TEXT_MAX];
    if (!trace_id_is_set(lease->trace.trace))
        return;
    json_put_str(w, "traceparent", trace_parent_format(text, &lease->trace));
    if (lease->trace_state.len > 0)
        json_put_str(w, "tracestate", lease->trace_state);
}

static void print_lease(struct json_writer *w, const struct poll_lease *lease)
{
    open_entry(w, lease->exec_id, lease->token);
    json_put_id(w, "job_id", ID_JOB, lease->job_id);
    json_put_int(w, "attempt", lease->attempt);
    json_put_id(w, "idempotency_key", ID_EXEC, lease->exec_id); /* of all attempts the same */
    json_key(w, "slot");
    json_when(w, lease->slot_ms);
    json_put_int(w, "ttl_ms", lease->ttl_ms);
    put_trace(w, lease);
    json_put_raw(w, "spec", lease->spec);
    if (lease->payload.len > 0)
        json_put_raw(w, "payload", lease->payload);
    json_close(w);
}

static void print_stop(struct json_writer *w, const struct poll_stop *stop)
{
    open_entry(w, stop->exec_id, stop->token);
    json_put_str(w, "reason", stop->reason);
    json_close(w);
}

static void print_verdict(struct json_writer *w, const struct poll_verdict *verdict)
{
    open_entry(w, verdict->exec_id, verdict->token);
    json_put_bool(w, "accepted", verdict->accepted);
    json_close(w);
}

static void print_partitions(struct json_writer *w, const struct partition_set *owned)
{
    json_key(w, "partitions");
    json_open(w);
    json_put_int(w, "count", owned->count);
    json_key(w, "owned");
    json_open_array(w);
    for (uint32_t p = 0; p < owned->count; p++) {
        if (owned->bits >> p & 1)
            json_int(w, p);
    }
    json_close_array(w);
    json_close(w);
}

static void print_epochs(struct json_writer *w, const struct poll_reply *reply)
{
    json_key(w, "epochs");
    json_open_array(w);
    for (uint32_t p = 0; p < reply->owned.count; p++) {
        if (reply->epochs[p] == 0)
            continue;
        json_open(w);
        json_put_int(w, "partition", p);
        json_put_int(w, "epoch", (int64_t)reply->epochs[p]);
        json_close(w);
    }
    json_close_array(w);
}

static void print_cluster(struct json_writer *w, const struct poll_reply *reply)
{
    if (reply->owned.count == 0)
        return;
    print_partitions(w, &reply->owned);
    if (reply->epochs != NULL)
        print_epochs(w, reply);
    if (reply->heard_as > 0)
        json_put_int(w, "heard_as", (int64_t)reply->heard_as);
    json_put_int(w, "backlog", reply->backlog);
    if (reply->server.len > 0)
        json_put_str(w, "server", reply->server);
    put_names(w, "servers", reply->servers, reply->server_count);
}

void poll_reply_print(struct buf *out, const struct poll_reply *reply)
{
    struct json_writer w = JSON_WRITER(out);
    json_open(&w);
    json_key(&w, "leases");
    json_open_array(&w);
    for (size_t i = 0; i < reply->lease_count; i++)
        print_lease(&w, &reply->leases[i]);
    json_close_array(&w);
    json_key(&w, "stop");
    json_open_array(&w);
    for (size_t i = 0; i < reply->stop_count; i++)
        print_stop(&w, &reply->stops[i]);
    json_close_array(&w);
    json_key(&w, "results");
    json_open_array(&w);
    for (size_t i = 0; i < reply->verdict_count; i++)
        print_verdict(&w, &reply->verdicts[i]);
    json_close_array(&w);
    json_put_bool(&w, "drain", reply->drain);
    if (reply->provisional) {
        json_put_bool(&w, "provisional", true);
        put_held(&w, "kept", reply->kept, reply->kept_count);
    }
    print_cluster(&w, reply);
    json_close(&w);
}

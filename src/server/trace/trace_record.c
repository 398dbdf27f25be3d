#include "server/trace/trace_record.h"
#include "base/mem.h"

#include <string.h>

enum {
    ERROR_BYTES_MAX = 1000, /* of a message: what is longer is output, and has its place there */
    READY_LATE_MS = 1000    /* so late, something else held it, and the trail says what */
};

static struct str error_of(const struct exec_change *change)
{
    struct str error = change->exec.error;
    if (error.len == 0 && change->ends_attempt != NULL)
        error = change->ends_attempt->error;
    return str_head(error, ERROR_BYTES_MAX);
}

static size_t text_bytes(const struct ended_trace *one)
{
    return one->trace.state.len + one->change->exec.queue.len + one->job.len + one->handler.len +
           error_of(one->change).len;
}

static struct str copy(char **at, struct str text)
{
    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    struct str kept = str_of(*at, text.len);
    *at += text.len;
    return kept;
}

static int64_t planned_ms(const struct exec_rec *exec)
{
    return exec->slot_ms > exec->created_ms ? exec->slot_ms : exec->created_ms;
}

/* One attempt at most, and nothing between the moment that was planned and its place in line. */
static bool is_whole(const struct exec_change *change)
{
    const struct exec_rec *exec = &change->exec;
    bool once = exec->attempts == 1 && change->ends_attempt != NULL && exec->ready_ms > 0 &&
                exec->ready_ms - planned_ms(exec) < READY_LATE_MS;
    bool never = change->kind == CHANGE_RECORD && exec->attempts == 0;
    return exec->lost + exec->returned == 0 && (once || never);
}

static void tell_one(struct trace_record *r, const struct ended_trace *one, char **at)
{
    const struct exec_rec *exec = &one->change->exec;
    *r = (struct trace_record){
        .trace = one->trace,
        .exec_id = exec->id,
        .job_id = exec->job_id,
        .retry_of = exec->retry_of,
        .token = exec->token,
        .state = exec->state,
        .origin = exec->origin,
        .attempts = exec->attempts,
        .slot_ms = exec->slot_ms,
        .created_ms = exec->created_ms,
        .ready_ms = exec->ready_ms,
        .finished_ms = exec->finished_ms,
        .whole = is_whole(one->change),
    };
    r->trace.state = copy(at, one->trace.state);
    r->queue = copy(at, exec->queue);
    r->job = copy(at, one->job);
    r->handler = copy(at, one->handler);
    r->error = copy(at, error_of(one->change));
    if (one->change->ends_attempt != NULL) {
        r->attempt = *one->change->ends_attempt;
        r->attempt.error = r->error;
        r->attempt.tail = (struct str){0};
    }
}

struct trace_told *trace_tell(const struct ended_trace *ended, size_t count, size_t bytes_max)
{
    size_t bytes = sizeof(struct trace_told);
    size_t fit = 0;
    for (; fit < count; fit++) {
        size_t more = sizeof(struct trace_record) + text_bytes(&ended[fit]);
        if (bytes + more > bytes_max)
            break;
        bytes += more;
    }
    if (fit == 0)
        return NULL;
    struct trace_told *told = mem_resize(NULL, bytes);
    *told = (struct trace_told){.bytes = bytes, .count = fit};
    char *at = (char *)&told->records[fit];
    for (size_t i = 0; i < fit; i++)
        tell_one(&told->records[i], &ended[i], &at);
    return told;
}

size_t trace_span_count(const struct ended_trace *ended)
{
    enum { ITSELF_AND_SUBMIT = 2, WAIT_AND_ATTEMPT = 2 };
    const struct exec_rec *exec = &ended->change->exec;
    size_t attempts = (size_t)exec->attempts + exec->lost + exec->returned;
    size_t submit = exec->origin == ORIGIN_SLOT ? 1 : ITSELF_AND_SUBMIT;
    return submit + attempts * WAIT_AND_ATTEMPT;
}

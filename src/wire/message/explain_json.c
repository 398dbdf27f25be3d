#include "wire/message/explain_json.h"
#include "base/id.h"
#include "wire/message/record_json.h"

/* A member that only some kinds have: absent where it means nothing. */
static void put_known(struct json_writer *w, const char *key, struct str text)
{
    if (text.len > 0)
        json_put_str(w, key, text);
}

static void put_execs(struct json_writer *w, const struct blocker *b)
{
    if (b->exec_count == 0)
        return;
    json_key(w, "executions");
    json_open_array(w);
    for (size_t i = 0; i < b->exec_count; i++)
        json_id(w, ID_EXEC, b->execs[i]);
    json_close_array(w);
}

void blocker_print(struct json_writer *w, const struct blocker *b)
{
    json_open(w);
    json_put_str(w, "kind", blocker_kind_name(b->kind));
    json_put_str(w, "text", b->text);
    json_put_when(w, "until", b->until_ms);
    if (b->since_ms != 0)
        json_put_when(w, "since", b->since_ms);
    put_known(w, "by", b->by);
    put_known(w, "queue", b->queue);
    put_known(w, "team", b->team);
    put_known(w, "key", b->key);
    put_known(w, "handler", b->handler);
    put_known(w, "calendar", b->calendar);
    if (b->limit > 0) {
        json_put_int(w, "used", b->used);
        json_put_int(w, "limit", b->limit);
    }
    if (b->ahead > 0) {
        json_put_int(w, "ahead", b->ahead);
        json_put_bool(w, "ahead_is_min", b->ahead_is_min);
    }
    put_execs(w, b);
    json_close(w);
}

void estimate_put(struct json_writer *w, const struct estimate *estimate)
{
    json_put_when(w, "estimated_start_time", estimate->at_ms);
    json_put_text(w, "estimated_start_reason", estimate->reason);
}

void explanation_print(struct json_writer *w, const struct command *cmd,
                       const struct warning *warnings, size_t warning_count)
{
    const struct explanation *explanation = cmd->reply.explanation;
    bool has_exec = cmd->reply.exec_id != 0;
    json_open(w);
    json_put_id(w, "job_id", ID_JOB, cmd->reply.job_id);
    json_put_int(w, "version", cmd->reply.version);
    if (has_exec)
        json_put_id(w, "execution_id", ID_EXEC, cmd->reply.exec_id);
    else
        json_put_null(w, "execution_id");
    json_put_str(w, "status",
                 has_exec ? exec_state_name(cmd->reply.exec_state)
                          : job_state_name(cmd->reply.job_state));
    json_put_str(w, "summary", explanation->summary);
    json_put_when(w, "expires_at", explanation->expires_ms);
    estimate_put(w, &explanation->estimate);
    json_key(w, "blockers");
    json_open_array(w);
    for (size_t i = 0; i < explanation->blocker_count; i++)
        blocker_print(w, &explanation->blockers[i]);
    json_close_array(w);
    warnings_put(w, warnings, warning_count);
    json_close(w);
}

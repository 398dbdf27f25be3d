/* api_explain.c - why a job or an execution does not run. */
#include "server/api.h"
#include "wire/explain_json.h"

enum { ANSWER_BYTES_MAX = 1 << 20 };

static void answer_explained(struct request *r)
{
    if (r->cmd.reply.rc != RC_OK) {
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
        return;
    }
    r->body = BUF(ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    explanation_print(&w, &r->cmd);
    request_answer(r, 200, buf_str(&r->body));
}

void api_job_explain(struct request *r)
{
    if (request_no_params(r) && request_path_id(r, ID_JOB, &r->cmd.target.id))
        request_to_turn(r, CMD_EXPLAIN_JOB, answer_explained);
}

void api_execution_explain(struct request *r)
{
    if (request_no_params(r) && request_path_id(r, ID_EXEC, &r->cmd.target.id))
        request_to_turn(r, CMD_EXPLAIN_EXEC, answer_explained);
}

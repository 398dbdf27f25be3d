/* api_explain.c - why a job or an execution does not run. */
#include "server/api/api.h"
#include "server/api/job_warnings.h"
#include "wire/message/explain_json.h"
#include "wire/message/spec_json.h"

/* On a query thread: the engine has said what blocks it, the job's runs tell what else is odd. */
static void look_explained(struct request *r, struct reader *reader)
{
    struct job_rec job;
    struct spec spec;
    struct err ignored;
    struct warning *warnings = NULL;
    size_t count = 0;
    r->rc = reader->ops->job(reader, r->cmd.reply.job_id, r->arena, &job, &r->err);
    if (r->rc == RC_OK && spec_read(job.spec, r->arena, &spec, &ignored) == RC_OK)
        r->rc = job_warnings_read(reader, job.id, &spec, r->arena, &warnings, &count, &r->err);
    if (r->rc != RC_OK)
        return;
    struct json_writer w = JSON_WRITER(&r->body);
    explanation_print(&w, &r->cmd, warnings, count);
}

static void answer_explained(struct request *r)
{
    if (r->cmd.reply.rc != RC_OK)
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
    else
        request_to_query(r, look_explained);
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

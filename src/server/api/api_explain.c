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
    request_to_query(r, look_explained);
}

void api_explanation(struct request *r)
{
    if (request_target(r))
        request_to_turn(r, answer_explained);
}

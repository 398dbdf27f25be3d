#include "loop/clock.h"
#include "server/api/api.h"
#include "server/api/job_document.h"
#include "server/api/job_names.h"
#include "server/call/shown.h"
#include "server/cluster/forward.h"
#include "server/turn/idempotency.h"
#include "server/view/exec_traces.h"
#include "server/view/job_view.h"

enum {
    RESULT_BYTES = 96, /* of one job in the answer to a batch */
    BATCH_BYTES_MAX = 64 << 20,
    DEPENDANTS_SHOWN_MAX = 100, /* of a job */
};

/* ---- create */

static void answer_created(struct request *r)
{
    const struct submission *item = &r->cmd.submit.items[0];
    if (item->rc == RC_DEPOSED && forward_to_holder(r, item))
        return;
    if (item->rc != RC_OK) {
        request_fail(r, item->rc, item->err->text);
        return;
    }
    struct json_writer w = request_writer(r);
    json_open(&w);
    job_document_put_created(&w, r, r->own, item);
    json_close(&w);
    r->form.is_replayed = item->once.replayed;
    request_answer_body(r, item->existing ? 200 : 201);
}

static void submit_one(struct request *r)
{
    request_to_turn(r, answer_created);
}

void api_job_create(struct request *r)
{
    struct json doc;
    struct err err;
    struct field_errors errors = {0};
    if (!job_intake(r) || !request_no_params(r) || !request_json(r, false, &doc))
        return;
    struct spec *spec = ARENA_NEW(r->arena, struct spec);
    struct submission *item = ARENA_NEW(r->arena, struct submission);
    enum rc rc = job_document_read(r, &doc, spec, item, &errors, &err);
    if (rc != RC_OK) {
        job_document_refuse(r, rc, &errors, &err);
        return;
    }
    if (r->idempotency_key.len > 0 && spec->idempotency_key.len > 0) {
        field_error(&errors, r->arena, STR("idempotency_key"),
                    "must not stand beside the header Idempotency-Key");
        request_fail_fields(r, &errors);
        return;
    }
    item->once = idempotency_of_job(
        r, spec->idempotency_key.len > 0 ? spec->idempotency_key : r->idempotency_key, item);
    r->own = spec;
    r->cmd.submit.items = item;
    r->cmd.submit.count = 1;
    r->cmd.submit.estimate = true;
    job_names_resolve(r, submit_one);
}

/* ---- batch */

/* What became of each document: an index into the submissions, or a problem. */
struct batch {
    size_t count;
    struct batch_entry {
        bool taken;
        enum rc rc; /* when it was not taken */
        struct err *err;
        struct field_errors *errors;
    } * entries;
};

static void print_problem(struct json_writer *w, struct request *r, enum rc rc,
                          const struct err *err, const struct field_errors *errors)
{
    struct str detail = errors != NULL ? field_errors_text(errors, r->arena) : str_c(err->text);
    problem_write(w, problem_status(rc), problem_code(rc), detail, (struct str){0}, errors);
}

static void print_result(struct json_writer *w, struct request *r, const struct batch_entry *entry,
                         const struct submission *item)
{
    if (!entry->taken) {
        print_problem(w, r, entry->rc, entry->err, entry->errors);
    } else if (item->rc != RC_OK) {
        print_problem(w, r, item->rc, item->err, NULL);
    } else {
        json_open(w);
        json_put_id(w, "job_id", ID_JOB, item->job_id);
        json_put_id(w, "execution_id", ID_EXEC, item->exec_id);
        if (item->existing)
            json_put_bool(w, "existing", true);
        if (item->once.replayed)
            json_put_bool(w, "replayed", true);
        json_close(w);
    }
}

static void answer_batch(struct request *r)
{
    const struct batch *batch = r->own;
    const struct submission *item = r->cmd.submit.items;
    r->body = BUF(BATCH_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    (void)buf_reserve(&r->body, batch->count * RESULT_BYTES);
    json_open(&w);
    json_key(&w, "results");
    json_open_array(&w);
    for (size_t i = 0; i < batch->count; i++) {
        print_result(&w, r, &batch->entries[i], item);
        item += batch->entries[i].taken;
    }
    json_close_array(&w);
    json_close(&w);
    request_answer_body(r, 200);
}

/* Of the whole batch, for its jobs without one of their own. */
static struct str key_of_item(const struct request *r, const struct spec *spec, size_t number)
{
    if (spec->idempotency_key.len > 0 || r->idempotency_key.len == 0)
        return spec->idempotency_key;
    return arena_printf(r->arena, "%.*s#%zu", STR_ARG(r->idempotency_key), number);
}

static void read_batch(struct request *r, const struct json *jobs, struct batch *batch)
{
    struct field_errors errors;
    struct spec spec;
    struct err err;
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_entry *entry = &batch->entries[i];
        errors.count = 0;
        entry->rc = job_document_read(r, &jobs->items[i], &spec,
                                      &r->cmd.submit.items[r->cmd.submit.count], &errors, &err);
        entry->taken = entry->rc == RC_OK;
        if (entry->taken) {
            struct submission *item = &r->cmd.submit.items[r->cmd.submit.count++];
            item->number = i;
            item->once = idempotency_of_job(r, key_of_item(r, &spec, i), item);
        }
        if (entry->rc == RC_INVALID) {
            entry->errors = ARENA_NEW(r->arena, struct field_errors);
            *entry->errors = errors;
        } else if (entry->rc != RC_OK) {
            entry->err = ARENA_NEW(r->arena, struct err);
            *entry->err = err;
        }
    }
}

/* The array of jobs in a batch, or NULL: answered. */
static const struct json *batch_jobs(struct request *r, const struct json *doc)
{
    struct field_errors errors = {0};
    const struct json *jobs = json_get(doc, STR("jobs"));
    for (size_t i = 0; i < doc->count; i++) {
        if (!str_eq(doc->members[i].key, STR("jobs")))
            field_error(&errors, r->arena, doc->members[i].key, "unknown field");
    }
    bool is_list = jobs != NULL && jobs->kind == JSON_ARRAY;
    if (!is_list)
        field_error(&errors, r->arena, STR("jobs"), "must be an array of jobs");
    if (!is_list || errors.count > 0) {
        request_fail_fields(r, &errors);
        return NULL;
    }
    uint64_t max = r->server->options->batch_jobs_max;
    if (jobs->count > max) {
        request_problem(r, 413, "the batch has %u jobs; at most %llu are taken", jobs->count,
                        (unsigned long long)max);
        return NULL;
    }
    return jobs;
}

static void submit_batch(struct request *r)
{
    request_to_turn(r, answer_batch);
}

void api_job_batch(struct request *r)
{
    struct json doc;
    if (!job_intake(r) || !request_no_params(r) || !request_json(r, false, &doc))
        return;
    const struct json *jobs = batch_jobs(r, &doc);
    if (jobs == NULL)
        return;
    struct batch *batch = ARENA_NEW(r->arena, struct batch);
    batch->count = jobs->count;
    batch->entries = ARENA_ARRAY(r->arena, struct batch_entry, jobs->count);
    r->own = batch;
    r->cmd.submit.items = ARENA_ARRAY(r->arena, struct submission, jobs->count);
    r->cmd.submit.count = 0;
    read_batch(r, jobs, batch);
    if (r->cmd.submit.count == 0)
        answer_batch(r);
    else
        job_names_resolve(r, submit_batch);
}

/* ---- one job */

static enum rc look_dependencies(struct request *r, struct reader *reader, uint64_t job_id,
                                 struct job_waits *waits)
{
    struct dependency_rec *upstreams;
    struct dependency_rec *dependants;
    TRY(reader->ops->dependencies(reader, job_id, SIDE_UPSTREAMS, SPEC_DEPENDS_MAX, r->arena,
                                  &upstreams, &waits->upstream_count, &r->err));
    TRY(reader->ops->dependencies(reader, job_id, SIDE_DEPENDANTS, DEPENDANTS_SHOWN_MAX + 1,
                                  r->arena, &dependants, &waits->dependant_count, &r->err));
    waits->upstreams = upstreams;
    waits->dependants = dependants;
    waits->more_dependants = waits->dependant_count > DEPENDANTS_SHOWN_MAX;
    waits->dependant_count -= waits->more_dependants;
    return RC_OK;
}

static void look_job(struct request *r, struct reader *reader)
{
    struct job_rec job;
    struct job_view view;
    struct job_waits waits;
    r->rc = reader->ops->job(reader, r->cmd.target.id, r->arena, &job, &r->err);
    if (r->rc == RC_OK)
        r->rc = job_view_read(reader, &job, r->arena, &view, &r->err);
    if (r->rc == RC_OK)
        r->rc = look_dependencies(r, reader, job.id, &waits);
    if (r->rc == RC_OK && r->shown.outcomes)
        r->rc = job_outcomes_read(reader, &job, 1, r->arena, &view, &r->err);
    if (r->rc == RC_OK && r->shown.pace)
        r->rc = job_paces_read(reader, &job, 1, clock_wall_ms(), r->arena, &view, &r->err);
    if (r->rc != RC_OK)
        return;
    view.waits = &waits;
    job_traces_fill(r->server, &view, r->arena);
    if (r->shown.estimate)
        view.estimate = &r->cmd.reply.explanation->estimate;
    r->version = job.version;
    struct json_writer w = JSON_WRITER(&r->body);
    job_print(&w, &job, &view);
    shown_keep(r, 0);
}

static void look_estimated(struct request *r)
{
    request_to_query(r, look_job);
}

/* Any server reads a job. When it is likely to start the engine of its owner alone can say, which
 * costs a turn a question, and the store up to three: so it is asked only when that is named. */
void api_job(struct request *r)
{
    if (!shown_read_alone(r, &job_members) || !request_path_id(r, ID_JOB, &r->cmd.target.id))
        return;
    if (!r->shown.estimate)
        request_to_query(r, look_job);
    else if (!forward_to_owner(r, r->cmd.target.id))
        request_to_turn_as(r, CMD_EXPLAIN_JOB, look_estimated);
}

static void answer_deleted(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_id(&w, "job_id", ID_JOB, r->cmd.reply.job_id);
    json_put_str(&w, "status", job_state_name(r->cmd.reply.job_state));
    json_put_when(&w, "cancelled_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_job_delete(struct request *r)
{
    if (request_target(r))
        request_to_turn(r, answer_deleted);
}

/* ---- pause, resume */

static void answer_state(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_id(&w, "job_id", ID_JOB, r->cmd.reply.job_id);
    json_put_str(&w, "status", job_state_name(r->cmd.reply.job_state));
    json_close(&w);
    request_answer_body(r, 200);
}

void api_job_run_or_not(struct request *r)
{
    if (request_target(r) && request_reason(r))
        request_to_turn(r, answer_state);
}

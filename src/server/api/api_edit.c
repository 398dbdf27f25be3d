/* api_edit.c - PATCH of a job, PUT by its name, and the way back to a version that it had.
 *
 * The job is read, what it would become is made of that, and the turn takes it only when the job
 * still has the version that was read: no change by another caller is lost. A caller that named a
 * version (If-Match) is told that it is old (412); for others the job is read again. A PUT that
 * finds no unfinished job of its name submits one, and the claim on the name decides who is
 * first. */
#include "job/record/trail.h"
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/api/job_document.h"
#include "server/api/job_edit.h"
#include "server/api/job_names.h"
#include "server/cluster/forward.h"
#include "server/view/job_view.h"
#include "wire/json/fields.h"

enum {
    TRIES_MAX = 100, /* of a job that others change all the time */
    NAME_TRIES_MAX = 3,
    VERSIONS_AT_ONCE = 8, /* read; each may be a MiB */
    VERSIONS_BYTES_MAX = 64 << 20,
    VERSIONS_CURSOR_LEN = 2 * ID_DIGITS,
};

struct edit_call {
    struct json doc;
    enum job_edit_kind kind;
    struct str name;     /* PUT */
    int64_t back_to;     /* a version, of EDIT_BACK */
    bool has_version;    /* If-Match names one, … */
    uint64_t version;    /* … this; 0: it is not one of ours */
    bool must_exist;     /* If-Match is there */
    bool must_not_exist; /* If-None-Match: * */
    bool dry_run;
    unsigned tries;
    /* as it was read */
    bool found;
    struct job_rec job;
    struct job_upstreams upstreams;
    int64_t due_ms; /* of the next run that is planned */
    /* as it is to be */
    struct job_edit edit;
};

/* ---- what the call says */

/* A version in quotes, with or without the hash that ETag puts behind it, or an asterisk. */
static bool read_match(struct request *r, struct edit_call *call)
{
    struct field_errors errors = {0};
    struct str text = http_request_header(r->http, STR("If-Match"));
    call->must_exist = text.ptr != NULL;
    if (!call->must_exist && call->kind == EDIT_PATCH) {
        request_problem(r, 428,
                        "If-Match is required: the version that the change was made from, as the "
                        "job's ETag or \"version\" tells it");
        return false;
    }
    text = str_trim(text);
    if (!call->must_exist || str_eq(text, STR("*")))
        return true;
    bool quoted = text.len > 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"';
    struct str tag = quoted ? str_of(text.ptr + 1, text.len - 2) : (struct str){0};
    if (!quoted || str_index(tag, '"') < tag.len) {
        field_error(&errors, r->arena, STR("If-Match"),
                    "must be one version in quotes, as in \"3\", or *");
        request_fail_fields(r, &errors);
        return false;
    }
    call->has_version = true;
    if (!str_to_u64(str_cut(&tag, '.'), &call->version))
        call->version = 0;
    return true;
}

static bool read_none_match(struct request *r, struct edit_call *call)
{
    struct field_errors errors = {0};
    struct str text = http_request_header(r->http, STR("If-None-Match"));
    call->must_not_exist = text.ptr != NULL;
    if (text.ptr == NULL || (str_eq(str_trim(text), STR("*")) && !call->must_exist))
        return true;
    field_error(&errors, r->arena, STR("If-None-Match"), "must be * and stand without If-Match");
    request_fail_fields(r, &errors);
    return false;
}

/* The document with the name of the path in it: an H in its schedule stands for that. */
static bool name_document(struct request *r, struct edit_call *call)
{
    struct field_errors errors = {0};
    const struct json *given = json_get(&call->doc, STR("name"));
    if (!http_decode(r->arena, r->id, false, &call->name))
        field_error(&errors, r->arena, STR("name"),
                    "has a %% without two hexadecimal digits behind it");
    else if (!str_is_utf8(call->name)) /* as JSON has to be, which it is put into */
        field_error(&errors, r->arena, STR("name"), "must be UTF-8");
    else if (given != NULL && (given->kind != JSON_STRING || !str_eq(given->string, call->name)))
        field_error(&errors, r->arena, STR("name"), "must be the one in the path, or absent");
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return false;
    }
    if (given != NULL)
        return true;
    struct json_member *members =
        ARENA_ARRAY(r->arena, struct json_member, (size_t)call->doc.count + 1);
    for (size_t i = 0; i < call->doc.count; i++)
        members[i] = call->doc.members[i];
    members[call->doc.count++] =
        (struct json_member){STR("name"), {.kind = JSON_STRING, .string = call->name}};
    call->doc.members = members;
    return true;
}

static bool read_dry_run(struct request *r, struct edit_call *call)
{
    static const char *const names[] = {"dry_run", NULL};
    struct field_errors errors = {0};
    struct str text;
    if (!request_params_known(r, names))
        return false;
    if (!http_request_param(r->http, STR("dry_run"), &text))
        return true;
    call->dry_run = str_eq(text, STR("true"));
    if (call->dry_run || str_eq(text, STR("false")))
        return true;
    field_error(&errors, r->arena, STR("dry_run"), "must be true or false");
    request_fail_fields(r, &errors);
    return false;
}

/* ---- reading the job */

/* The job that the name means; *ret_id 0: there is none. */
static enum rc find_named(struct request *r, struct reader *reader, struct str name,
                          uint64_t *ret_id)
{
    *ret_id = 0;
    enum rc rc = reader->ops->find_named(reader, name, ret_id, &r->err);
    return rc == RC_NOT_FOUND ? RC_OK : rc;
}

/* A document may wait for jobs by their names. */
static enum rc read_names(struct request *r, struct reader *reader, struct edit_call *call)
{
    const struct json *waits = json_get(&call->doc, STR("depends_on"));
    struct str *names = ARENA_ARRAY(r->arena, struct str, call->upstreams.count);
    call->upstreams.names = names;
    for (size_t i = 0; waits != NULL && i < call->upstreams.count; i++) {
        struct job_rec job;
        enum rc rc =
            reader->ops->job(reader, call->upstreams.items[i].upstream, r->arena, &job, &r->err);
        if (rc != RC_OK && rc != RC_NOT_FOUND)
            return rc;
        names[i] = rc == RC_OK ? job.name : (struct str){0};
    }
    return RC_OK;
}

static enum rc read_rest(struct request *r, struct reader *reader, struct edit_call *call)
{
    struct job_view view;
    struct dependency_rec *upstreams;
    TRY(job_view_read(reader, &call->job, r->arena, &view, &r->err));
    TRY(reader->ops->dependencies(reader, call->job.id, SIDE_UPSTREAMS, SPEC_DEPENDS_MAX, r->arena,
                                  &upstreams, &call->upstreams.count, &r->err));
    call->upstreams.items = upstreams;
    call->due_ms = view.ping_due_ms > 0 ? view.ping_due_ms : view.next_run_ms;
    return read_names(r, reader, call);
}

/* The document of the version that the job is to have again. */
static enum rc read_version(struct request *r, struct reader *reader, struct edit_call *call)
{
    struct version_rec *version;
    size_t count;
    TRY(reader->ops->versions(reader, call->job.id, (uint32_t)call->back_to, 1, r->arena, &version,
                              &count, &r->err));
    if (count > 0 && version->version != call->back_to)
        count = 0; /* the next older one that is kept */
    bool is_now = count == 0 && call->back_to == call->job.version; /* it was never edited */
    if (count == 0 && !is_now)
        return err_set(&r->err, RC_NOT_FOUND,
                       "the job has no version %u, or it is not kept any more; it has %u",
                       (unsigned)call->back_to, (unsigned)call->job.version);
    struct str text = is_now ? job_edit_text(r, call->job.spec, call->job.payload)
                             : job_edit_text(r, version->spec, version->payload);
    return json_parse_by(&json_from_server, text, r->arena, &call->doc, &r->err);
}

static enum rc read_call_job(struct request *r, struct reader *reader, struct edit_call *call)
{
    uint64_t id = r->cmd.edit.id;
    call->found = false;
    if (call->kind == EDIT_WHOLE)
        TRY(find_named(r, reader, call->name, &id));
    if (id == 0)
        return RC_OK;
    TRY(reader->ops->job(reader, id, r->arena, &call->job, &r->err));
    call->found = true;
    if (call->kind == EDIT_BACK)
        TRY(read_version(r, reader, call));
    return read_rest(r, reader, call);
}

static void look(struct request *r, struct reader *reader)
{
    r->rc = read_call_job(r, reader, r->own);
}

/* ---- answering */

static void put_names(struct json_writer *w, const char *key, struct str names)
{
    json_key(w, key);
    json_open_array(w);
    while (names.len > 0)
        json_str(w, str_trim(str_cut(&names, ',')));
    json_close_array(w);
}

static void answer(struct request *r, bool changed, uint32_t version, enum job_state state,
                   int64_t due_ms)
{
    struct edit_call *call = r->own;
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_id(&w, "job_id", ID_JOB, call->job.id);
    json_put_str(&w, "status", job_state_name(state));
    json_put_int(&w, "version", version);
    json_put_bool(&w, "changed", changed);
    put_names(&w, "changed_fields", call->edit.differs);
    json_put_when(&w, "created_at", call->job.created_ms);
    if (!changed || !call->dry_run) {
        int64_t next_ms = state == JOB_PAUSED ? 0 : due_ms;
        json_put_when(&w, "estimated_start_time", call->edit.spec.when == WHEN_PING ? 0 : next_ms);
        job_document_put_plan(&w, r, &call->edit.spec, &call->edit.item, clock_wall_ms(), next_ms);
    }
    json_close(&w);
    r->version = version;
    request_answer_body(r, 200);
}

static void answer_would_create(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_null(&w, "job_id");
    json_put_bool(&w, "changed", true);
    json_close(&w);
    request_answer_body(r, 200);
}

static void fail_version(struct request *r, const struct edit_call *call)
{
    request_problem(r, 412, "the job has version %u; the change was made from another one",
                    (unsigned)call->job.version);
}

/* ---- the steps of a call */

static void take_job(struct request *r);

static void read_again(struct request *r)
{
    struct edit_call *call = r->own;
    call->tries++;
    request_to_query_first(r, look, take_job);
}

static void answer_edited(struct request *r)
{
    const struct edit_call *call = r->own;
    enum rc rc = r->cmd.reply.rc;
    bool ended = rc == RC_CONFLICT && call->kind == EDIT_WHOLE && call->tries == 0;
    if (rc == RC_OK)
        answer(r, true, r->cmd.reply.version, r->cmd.reply.job_state, call->edit.item.due_ms);
    else if (rc == RC_STALE && call->has_version)
        request_problem(r, 412, "%s", r->cmd.reply.err.text);
    else if ((rc == RC_STALE && call->tries < TRIES_MAX) || ended)
        read_again(r);
    else
        request_fail(r, rc, r->cmd.reply.err.text);
}

static void send_edit(struct request *r)
{
    struct edit_call *call = r->own;
    r->cmd.edit.id = call->job.id;
    r->cmd.edit.version = call->job.version;
    r->cmd.edit.replan = call->edit.replan;
    r->cmd.edit.what = call->edit.differs;
    r->cmd.edit.item = &call->edit.item;
    request_to_turn_refusable(r, CMD_EDIT_JOB, answer_edited);
}

static void answer_created(struct request *r)
{
    struct edit_call *call = r->own;
    const struct submission *item = &call->edit.item;
    enum rc rc = r->cmd.reply.rc != RC_OK ? r->cmd.reply.rc : item->rc;
    const char *why = r->cmd.reply.rc != RC_OK ? r->cmd.reply.err.text
                      : rc != RC_OK            ? item->err->text
                                               : "";
    if (rc == RC_DEPOSED && r->cmd.reply.rc == RC_OK && forward_to_holder(r, item))
        return;
    if (rc == RC_CONFLICT && call->must_not_exist) {
        request_problem(r, 412, "%s", why);
    } else if (rc == RC_CONFLICT && call->tries < NAME_TRIES_MAX) {
        read_again(r); /* another call was faster: it is there to be replaced */
    } else if (rc != RC_OK) {
        request_fail(r, rc, why);
    } else {
        struct json_writer w = request_writer(r);
        json_open(&w);
        job_document_put_created(&w, r, &call->edit.spec, item);
        json_put_int(&w, "version", 1);
        json_put_bool(&w, "changed", true);
        json_close(&w);
        r->version = 1;
        request_answer_body(r, 201);
    }
}

static void submit_new(struct request *r)
{
    request_to_turn_refusable(r, CMD_SUBMIT, answer_created);
}

static void create(struct request *r)
{
    struct edit_call *call = r->own;
    struct field_errors errors = {0};
    struct err err;
    if (call->must_exist) {
        request_problem(r, 412, "there is no unfinished job of this name");
        return;
    }
    enum rc rc =
        job_document_read(r, &call->doc, &call->edit.spec, &call->edit.item, &errors, &err);
    if (rc != RC_OK) {
        job_document_refuse(r, rc, &errors, &err);
    } else if (call->dry_run) {
        answer_would_create(r);
    } else {
        struct unique_rule *unique = &call->edit.item.rules.unique;
        if (unique->on_conflict == CONFLICT_RETURN) /* it would be a job of another name */
            unique->on_conflict = CONFLICT_REJECT;
        r->cmd.submit.items = &call->edit.item;
        r->cmd.submit.count = 1;
        r->cmd.submit.estimate = true;
        job_names_resolve(r, submit_new);
    }
}

static void change(struct request *r)
{
    struct edit_call *call = r->own;
    struct field_errors errors = {0};
    struct err err;
    enum rc rc = job_edit_make(r, &call->job, &call->upstreams, &call->doc, call->kind, &call->edit,
                               &errors, &err);
    if (rc != RC_OK)
        job_document_refuse(r, rc, &errors, &err);
    else if (call->edit.differs.len == 0 || call->dry_run)
        answer(r, call->edit.differs.len > 0, call->job.version, call->job.state, call->due_ms);
    else
        send_edit(r);
}

static void take_job(struct request *r)
{
    struct edit_call *call = r->own;
    if (call->found && call->kind == EDIT_WHOLE && !job_is_over(call->job.state) &&
        forward_to_owner(r, call->job.id))
        return; /* another server has a job of this name */
    else if (!call->found || (call->kind == EDIT_WHOLE && job_is_over(call->job.state)))
        create(r);
    else if (call->must_not_exist)
        request_problem(r, 412, "there is an unfinished job of this name");
    else if (call->has_version && call->version != call->job.version)
        fail_version(r, call);
    else if (job_is_over(call->job.state))
        request_problem(r, 409, "the job has already ended: it is %.*s",
                        STR_ARG(job_state_name(call->job.state)));
    else
        change(r);
}

/* ---- routes */

/* Of a submission. A version, or a name, does for an edit what the key does for that. */
static bool has_no_once_key(struct request *r, const struct edit_call *call)
{
    struct field_errors errors = {0};
    if (json_get(&call->doc, STR("idempotency_key")) == NULL)
        return true;
    field_error(&errors, r->arena, STR("idempotency_key"),
                "has no place here: it is of a submission, and this call may be repeated");
    request_fail_fields(r, &errors);
    return false;
}

void api_job_patch(struct request *r)
{
    struct edit_call *call = ARENA_NEW(r->arena, struct edit_call);
    call->kind = EDIT_PATCH;
    r->own = call;
    if (job_intake(r) && read_dry_run(r, call) && request_path_id(r, ID_JOB, &r->cmd.edit.id) &&
        read_match(r, call) && request_merge_patch(r, &call->doc) && has_no_once_key(r, call))
        request_to_query_first(r, look, take_job);
}

void api_job_put(struct request *r)
{
    struct edit_call *call = ARENA_NEW(r->arena, struct edit_call);
    r->own = call;
    if (job_intake(r) && read_dry_run(r, call) && read_match(r, call) && read_none_match(r, call) &&
        request_json(r, false, &call->doc) && has_no_once_key(r, call) && name_document(r, call))
        request_to_query_first(r, look, take_job);
}

/* ---- versions */

static bool read_back_to(struct request *r, struct edit_call *call)
{
    static const struct field fields[] = {
        {FIELD("version", struct edit_call, back_to), .kind = FIELD_INT, .required = true, .min = 1,
         .max = UINT32_MAX},
    };
    struct field_errors errors = {0};
    struct json doc;
    if (!request_json(r, false, &doc))
        return false;
    const struct fields f = {.arena = r->arena, .errors = &errors};
    fields_read(&f, NULL, &doc, fields, COUNT_OF(fields), call);
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    return errors.count == 0;
}

void api_job_rollback(struct request *r)
{
    struct edit_call *call = ARENA_NEW(r->arena, struct edit_call);
    call->kind = EDIT_BACK;
    r->own = call;
    if (job_intake(r) && read_dry_run(r, call) && request_path_id(r, ID_JOB, &r->cmd.edit.id) &&
        read_match(r, call) && read_back_to(r, call))
        request_to_query_first(r, look, take_job);
}

/* The first definition is nobody's edit: who submitted it is told by the job. */
static struct str actor_of(const struct job_rec *job, const struct version_rec *version)
{
    struct str trail = job->trail;
    struct trail_step first;
    bool is_first = version->version == 1 && trail_next(&trail, &first);
    return is_first ? first.actor : version->actor;
}

static void put_version(struct json_writer *w, struct request *r, const struct job_rec *job,
                        const struct version_rec *version)
{
    json_open(w);
    json_put_int(w, "version", version->version);
    json_put_when(w, "at", version->at_ms);
    json_put_text(w, "actor", actor_of(job, version));
    json_put_raw(w, "document", job_edit_text(r, version->spec, version->payload));
    json_close(w);
}

/* One that was never edited has the version that it was submitted with. */
static struct version_rec only_version(const struct job_rec *job)
{
    return (struct version_rec){
        job->id,    job->version, job->changed_ms > 0 ? job->changed_ms : job->created_ms,
        job->owner, job->spec,    job->payload,
    };
}

/* *ret_next: the version to list next; 0: there is none. */
static enum rc put_versions(struct json_writer *w, struct request *r, struct reader *reader,
                            const struct job_rec *job, uint32_t newest, uint32_t *ret_next)
{
    size_t left = r->list.page.limit;
    size_t count = 1;
    bool first = newest == UINT32_MAX;
    for (; left > 0 && count > 0 && newest > 0 && !w->out->overflow; first = false) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct version_rec only = only_version(job);
        struct version_rec *found;
        size_t max = left < VERSIONS_AT_ONCE ? left : VERSIONS_AT_ONCE;
        TRY(reader->ops->versions(reader, job->id, newest, max, &arena, &found, &count, &r->err));
        if (count == 0 && first) {
            found = &only;
            count = 1;
        }
        for (size_t i = 0; i < count && !w->out->overflow; i++)
            put_version(w, r, job, &found[i]);
        left -= count;
        newest = count == 0 ? 0 : found[count - 1].version - 1;
    }
    *ret_next = newest;
    return RC_OK;
}

/* A cursor is the job and the version that the next page begins with. */
static bool versions_cursor(struct str text, uint64_t job_id, uint32_t *ret_newest)
{
    uint64_t numbers[2];
    if (text.len != VERSIONS_CURSOR_LEN)
        return false;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (id_parse(str_of(text.ptr + i * ID_DIGITS, ID_DIGITS), "", &numbers[i], NULL) != RC_OK)
            return false;
    }
    *ret_newest = (uint32_t)numbers[1];
    return numbers[0] == job_id && numbers[1] > 0 && numbers[1] < UINT32_MAX;
}

static void put_versions_cursor(struct json_writer *w, uint64_t job_id, uint32_t newest)
{
    char cursor[VERSIONS_CURSOR_LEN + ID_TEXT_MAX];
    id_format(cursor, "", job_id);
    id_format(cursor + ID_DIGITS, "", newest);
    json_put_str(w, "next_cursor", str_of(cursor, VERSIONS_CURSOR_LEN));
}

static enum rc print_versions(struct request *r, struct reader *reader, uint32_t newest)
{
    struct json_writer w = JSON_WRITER(&r->body);
    struct version_rec *found;
    size_t count = 0;
    struct job_rec job;
    TRY(reader->ops->job(reader, r->cmd.target.id, r->arena, &job, &r->err));
    json_open(&w);
    json_put_id(&w, "job_id", ID_JOB, job.id);
    json_key(&w, "versions");
    json_open_array(&w);
    TRY(put_versions(&w, r, reader, &job, newest, &newest));
    json_close_array(&w);
    if (newest > 0)
        TRY(reader->ops->versions(reader, job.id, newest, 1, r->arena, &found, &count, &r->err));
    if (count > 0)
        put_versions_cursor(&w, job.id, newest);
    else
        json_put_null(&w, "next_cursor");
    json_close(&w);
    return RC_OK;
}

static void look_versions(struct request *r, struct reader *reader)
{
    const uint32_t *newest = r->own;
    r->body = BUF(VERSIONS_BYTES_MAX);
    r->rc = print_versions(r, reader, *newest);
}

void api_job_versions(struct request *r)
{
    static const char *const params[] = {"limit", "cursor", NULL};
    uint32_t *newest = ARENA_NEW(r->arena, uint32_t);
    struct field_errors errors = {0};
    struct str cursor;
    *newest = UINT32_MAX;
    if (!request_params_known(r, params) || !request_path_id(r, ID_JOB, &r->cmd.target.id))
        return;
    request_page(r, &errors);
    if (http_request_param(r->http, STR("cursor"), &cursor) &&
        !versions_cursor(cursor, r->cmd.target.id, newest))
        field_error(&errors, r->arena, STR("cursor"), "is not a next_cursor of this list");
    r->own = newest;
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_query(r, look_versions);
}

/* api_lists.c - pages of jobs and executions: filters, cursors, totals. */
#include "base/vec.h"
#include "base/when.h"
#include "server/api/api.h"
#include "server/api/job_view.h"
#include "wire/message/alert_json.h"
#include "wire/message/rejected_json.h"
#include "wire/message/sla_json.h"
#include "wire/message/spec_json.h"

#include <string.h>

enum { CURSOR_LEN = 2 * ID_DIGITS };

struct list_kind {
    const char *key; /* of the array in the answer */
    const char *const *params;
    enum counter_kind counter;
    /* Reads the page and prints its items; *ret_next is 0 behind the last one. */
    enum rc (*print)(struct request *r, struct reader *reader, struct json_writer *w,
                     uint64_t *ret_next);
};

static void look_list(struct request *r, struct reader *reader);

/* ---- parameters */

static bool parse_status(const struct list_kind *kind, struct str text, uint32_t *ret_state)
{
    enum job_state job;
    enum exec_state exec;
    if (kind->counter == COUNTER_JOBS && job_state_parse(text, &job))
        *ret_state = job;
    else if (kind->counter == COUNTER_EXECS && exec_state_parse(text, &exec))
        *ret_state = exec;
    else
        return false;
    return true;
}

/* 0 would be no filter at all; both are ids that no job has. */
static void only_of(struct filter *f, uint64_t job_id)
{
    f->job_id = job_id == 0 ? 1 : job_id;
}

/* Filters by fields of a job that are columns of its record. */
static void read_columns(struct request *r)
{
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        struct str text;
        if (!filter_column_is_indexed(i) &&
            http_request_param(r->http, job_fields[filter_columns[i].field].key, &text))
            filter_column_set(&r->list.filter, i, text);
    }
}

/* False when no index has it. A job without the field is in none. */
static bool set_indexed(struct filter *f, enum job_field_id id, struct str value)
{
    size_t i = 0;
    if (job_fields[id].kept != JOB_KEPT_INDEXED || str_eq(value, STR("null")))
        return false;
    while (filter_columns[i].field != id)
        i++;
    filter_column_set(f, i, value);
    return true;
}

/* Filters by the other fields, as its document has them. */
static void read_document(struct request *r, struct field_errors *errors)
{
    VEC(struct filter_value) values = {0};
    for (unsigned i = 0; i < JOB_FIELD_COUNT; i++) {
        struct str text;
        if (job_fields[i].filter == JOB_FILTER_NO || job_fields[i].kept == JOB_KEPT_COLUMN ||
            !http_request_param(r->http, job_fields[i].key, &text))
            continue;
        struct str value = spec_filter_value((enum job_field_id)i, text, r->arena, errors);
        if (set_indexed(&r->list.filter, (enum job_field_id)i, value))
            continue;
        *VEC_PUSH(r->arena, &values) = (struct filter_value){job_fields[i].key, value};
    }
    r->list.filter.document = values.items;
    r->list.filter.document_count = values.len;
}

static void read_filter(struct request *r, const struct list_kind *kind,
                        struct field_errors *errors)
{
    struct filter *f = &r->list.filter;
    struct str text;
    struct err err;
    read_columns(r);
    read_document(r, errors);
    (void)http_request_param(r->http, STR("owner"), &f->owner);
    (void)http_request_param(r->http, STR("tag"), &f->tag);
    if (f->tag.len > 0 && str_index(f->tag, ':') == f->tag.len)
        field_error(errors, r->arena, STR("tag"), "must be key:value");
    if (http_request_param(r->http, STR("status"), &text) && !parse_status(kind, text, &f->state))
        field_error(errors, r->arena, STR("status"), "'%.*s' is not a status", STR_ARG(text));
    if (http_request_param(r->http, STR("job"), &text)) {
        if (id_parse(text, ID_JOB, &f->job_id, &err) != RC_OK)
            field_error(errors, r->arena, STR("job"), "%s", err.text);
        only_of(f, f->job_id);
    }
    request_bound(r, "created_after", &f->created_after_ms, errors);
    request_bound(r, "created_before", &f->created_before_ms, errors);
}

/* A filter that does not restrict adds nothing, so cursors outlive the arrival of filters. */
static uint64_t hash_text(uint64_t hash, struct str key, struct str text)
{
    return text.len == 0 ? hash : (hash * 31 + str_hash(key)) * 31 + str_hash(text);
}

/* A cursor is the last id and a hash of the filter it belongs to. */
static uint64_t filter_hash(const struct list_kind *kind, const struct filter *f)
{
    const int64_t numbers[] = {f->state, (int64_t)f->job_id, f->created_after_ms,
                               f->created_before_ms, kind->counter};
    uint64_t hash = str_hash(str_of((const char *)numbers, sizeof numbers));
    for (size_t i = 0; i < FILTER_COLUMNS; i++)
        hash = hash_text(hash, job_fields[filter_columns[i].field].key, filter_column_text(f, i));
    for (size_t i = 0; i < f->document_count; i++)
        hash = hash_text(hash, f->document[i].key, f->document[i].value);
    hash = hash_text(hash, STR("owner"), f->owner);
    hash = hash_text(hash, STR("tag"), f->tag);
    return hash >> 1; /* as every id, without the top bit */
}

static bool parse_cursor(struct str text, uint64_t hash, uint64_t *ret_before)
{
    uint64_t belongs;
    return text.len == CURSOR_LEN &&
           id_parse(str_of(text.ptr, ID_DIGITS), "", ret_before, NULL) == RC_OK &&
           id_parse(str_from(text, ID_DIGITS), "", &belongs, NULL) == RC_OK && belongs == hash;
}

static void read_page(struct request *r, const struct list_kind *kind, struct field_errors *errors)
{
    struct str text;
    request_page(r, errors);
    if (http_request_param(r->http, STR("cursor"), &text) &&
        !parse_cursor(text, filter_hash(kind, &r->list.filter), &r->list.page.before))
        field_error(errors, r->arena, STR("cursor"),
                    "is not a next_cursor of a list with these filters");
}

/* ---- totals, from the engine's counters */

static void add_total(struct request *r, const struct counter *c, const struct list_kind *kind)
{
    const struct filter *f = &r->list.filter;
    bool running = kind->counter == COUNTER_EXECS && f->state == EXEC_RUNNING;
    bool state_fits =
        f->state == 0 || f->state == c->state || (running && c->state == EXEC_STOPPING);
    bool queue_fits = f->queue.len == 0 || str_eq(f->queue, c->queue);
    if (c->kind == kind->counter && state_fits && queue_fits)
        r->list.total += c->value;
}

/* Some queues were forgotten, and their numbers stand together: what ended in one of them may be
 * listed, and is not counted for it. */
static bool has_forgotten(const struct stats_view *stats, const struct list_kind *kind)
{
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *c = &stats->counters[i];
        if (c->kind == kind->counter && c->queue.len == 0 && c->value != 0)
            return true;
    }
    return false;
}

/* Counters are kept by state and queue. */
static bool is_counted(const struct filter *f)
{
    size_t bytes = f->owner.len + f->tag.len;
    for (size_t i = 0; i < FILTER_COLUMNS; i++)
        bytes += filter_columns[i].field == JOB_FIELD_queue ? 0 : filter_column_text(f, i).len;
    return bytes == 0 && f->document_count == 0 && f->job_id == 0 && f->created_after_ms == 0 &&
           f->created_before_ms == 0;
}

static void count_then_look(struct request *r)
{
    const struct list_kind *kind = r->own;
    const struct filter *f = &r->list.filter;
    const struct stats_view *stats = &r->cmd.reply.stats;
    r->list.total = 0;
    for (size_t i = 0; i < stats->counter_count; i++)
        add_total(r, &stats->counters[i], kind);
    r->list.total_is_estimate = !is_counted(f) || (f->queue.len > 0 && has_forgotten(stats, kind));
    request_to_query(r, look_list);
}

/* ---- printing; on a query thread */

static void put_cursor(const struct request *r, struct json_writer *w, uint64_t next)
{
    char cursor[CURSOR_LEN + ID_TEXT_MAX];
    if (next == 0) {
        json_put_null(w, "next_cursor");
        return;
    }
    id_format(cursor, "", next);
    id_format(cursor + ID_DIGITS, "", filter_hash(r->own, &r->list.filter));
    json_put_str(w, "next_cursor", str_of(cursor, CURSOR_LEN));
}

static void look_list(struct request *r, struct reader *reader)
{
    const struct list_kind *kind = r->own;
    struct json_writer w = JSON_WRITER(&r->body);
    uint64_t next;
    json_open(&w);
    json_key(&w, kind->key);
    json_open_array(&w);
    r->rc = kind->print(r, reader, &w, &next);
    if (r->rc != RC_OK)
        return;
    json_close_array(&w);
    put_cursor(r, &w, next);
    if (r->list.total >= 0) {
        json_put_int(&w, "total", r->list.total);
        json_put_bool(&w, "total_is_estimate", r->list.total_is_estimate);
    }
    json_close(&w);
}

static enum rc print_jobs(struct request *r, struct reader *reader, struct json_writer *w,
                          uint64_t *ret_next)
{
    struct job_page page;
    TRY(store_list_jobs(reader, &r->list.filter, &r->list.page, r->arena, &page, &r->err));
    for (size_t i = 0; i < page.count; i++) {
        struct job_view view;
        TRY(job_view_read_short(reader, &page.jobs[i], r->arena, &view, &r->err));
        job_print_short(w, &page.jobs[i], &view);
    }
    *ret_next = page.next;
    return RC_OK;
}

static enum rc print_execs(struct request *r, struct reader *reader, struct json_writer *w,
                           uint64_t *ret_next)
{
    struct exec_page page;
    TRY(reader->ops->execs(reader, &r->list.filter, &r->list.page, r->arena, &page, &r->err));
    for (size_t i = 0; i < page.count; i++)
        exec_print_short(w, &page.execs[i]);
    *ret_next = page.next;
    return RC_OK;
}

static enum rc print_alerts(struct request *r, struct reader *reader, struct json_writer *w,
                            uint64_t *ret_next)
{
    struct alert_page page;
    TRY(reader->ops->alerts(reader, 0, &r->list.page, r->arena, &page, &r->err));
    for (size_t i = 0; i < page.count; i++)
        alert_print(w, &page.alerts[i]);
    *ret_next = page.next;
    return RC_OK;
}

static enum rc print_rejected(struct request *r, struct reader *reader, struct json_writer *w,
                              uint64_t *ret_next)
{
    struct rejected_page page;
    TRY(reader->ops->rejected(reader, &r->list.page, r->arena, &page, &r->err));
    for (size_t i = 0; i < page.count; i++)
        rejected_print(w, &page.rejected[i]);
    *ret_next = page.next;
    return RC_OK;
}

static enum rc print_sla_events(struct request *r, struct reader *reader, struct json_writer *w,
                                uint64_t *ret_next)
{
    uint64_t job_id = r->list.filter.job_id;
    struct sla_page page;
    TRY(reader->ops->sla_events(reader, job_id, 0, &r->list.page, r->arena, &page, &r->err));
    for (size_t i = 0; i < page.count; i++)
        sla_event_print(w, &page.events[i]);
    *ret_next = page.next;
    return RC_OK;
}

/* ---- the calls */

/* clang-format off */
#define LIST_PARAMS "limit", "cursor", "status", "created_after", "created_before", "count"
#define PARAM_OF_JOBS_NO(name)
#define PARAM_OF_JOBS_JOBS(name) #name,
#define PARAM_OF_JOBS_BOTH(name) #name,
#define PARAM_OF_JOBS(name, kind, bounds, printed, kept, filter, ...) PARAM_OF_JOBS_##filter(name)
#define PARAM_OF_RUNS_NO(name)
#define PARAM_OF_RUNS_JOBS(name)
#define PARAM_OF_RUNS_BOTH(name) #name,
#define PARAM_OF_RUNS(name, kind, bounds, printed, kept, filter, ...) PARAM_OF_RUNS_##filter(name)
/* clang-format on */

static const char *const job_params[] = {JOB_FIELDS(PARAM_OF_JOBS) LIST_PARAMS, "owner", "tag",
                                         NULL};
static const char *const exec_params[] = {JOB_FIELDS(PARAM_OF_RUNS) LIST_PARAMS, "job", NULL};
/* Of one job, which the path names. */
static const char *const run_params[] = {JOB_FIELDS(PARAM_OF_RUNS) LIST_PARAMS, NULL};

static const char *const page_params[] = {"limit", "cursor", NULL};

static struct list_kind job_list = {"jobs", job_params, COUNTER_JOBS, print_jobs};
static struct list_kind exec_list = {"executions", exec_params, COUNTER_EXECS, print_execs};
static struct list_kind run_list = {"executions", run_params, COUNTER_EXECS, print_execs};
static struct list_kind alert_list = {"alerts", page_params, 0, print_alerts};
static struct list_kind rejected_list = {"rejected", page_params, 0, print_rejected};
static struct list_kind sla_list = {"sla_events", page_params, 0, print_sla_events};

static void list_things(struct request *r, struct list_kind *kind)
{
    struct field_errors errors = {0};
    if (!request_params_known(r, kind->params))
        return;
    read_filter(r, kind, &errors);
    read_page(r, kind, &errors);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return;
    }
    r->own = kind;
    if (r->list.want_total)
        request_to_board(r, count_then_look);
    else
        request_to_query(r, look_list);
}

void api_jobs(struct request *r)
{
    list_things(r, &job_list);
}

void api_alerts(struct request *r)
{
    list_things(r, &alert_list);
}

void api_rejected(struct request *r)
{
    list_things(r, &rejected_list);
}

/* Of the job in the path. */
static void list_of_job(struct request *r, struct list_kind *kind)
{
    uint64_t job_id;
    if (!request_path_id(r, ID_JOB, &job_id))
        return;
    only_of(&r->list.filter, job_id);
    list_things(r, kind);
}

void api_job_sla_events(struct request *r)
{
    list_of_job(r, &sla_list);
}

void api_executions(struct request *r)
{
    list_things(r, &exec_list);
}

void api_job_executions(struct request *r)
{
    list_of_job(r, &run_list);
}

/* api_lists.c - pages of jobs and executions: filters, orders, cursors, totals. */
#include "base/vec.h"
#include "base/when.h"
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/call/shown.h"
#include "server/view/exec_traces.h"
#include "server/view/job_view.h"
#include "wire/message/alert_json.h"
#include "wire/message/rejected_json.h"
#include "wire/spec/sla_json.h"
#include "wire/spec/spec_json.h"

#include <inttypes.h>
#include <string.h>

/* Of an order other than the newest first it has a text behind that: a name in hexadecimal digits,
 * or a moment as ids are written. */
enum { CURSOR_LEN = 2 * ID_DIGITS, CURSOR_MAX = CURSOR_LEN + 2 * SPEC_NAME_MAX };

static const struct words sort_words =
    WORDS([SORT_NEWEST] = "newest", [SORT_NAME] = "name", [SORT_NEXT_RUN] = "next_run_at");

struct list_kind {
    const char *key; /* of the array in the answer */
    const char *const *params;
    enum counter_kind counter;
    const struct shown_members *members; /* NULL: `fields` is not a parameter */
    /* The filter of alerts, into r->list; NULL: that of jobs and executions. */
    void (*read)(struct request *r, struct field_errors *errors);
    /* Reads the page and prints its items; *ret_next is 0 behind the last one. */
    enum rc (*print)(struct request *r, struct reader *reader, struct json_writer *w,
                     uint64_t *ret_next);
};

static void look_list(struct request *r, struct reader *reader);

/* ---- parameters */

/* 0 would be no filter at all; both are ids that no job has. */
static void only_of(struct filter *f, uint64_t job_id)
{
    f->job_id = job_id == 0 ? 1 : job_id;
}

static enum filter_of filter_of(const struct list_kind *kind)
{
    return kind->counter == COUNTER_JOBS ? FILTER_OF_JOBS : FILTER_OF_EXECS;
}

static void read_filter(struct request *r, const struct list_kind *kind,
                        struct field_errors *errors)
{
    struct str rest = r->http->query;
    struct str name;
    struct str value;
    struct err err;
    while (request_next_param(r, &rest, &name, &value)) {
        enum rc rc =
            filter_param_read(&r->list.filter, filter_of(kind), name, value, r->arena, &err);
        if (rc == RC_INVALID)
            field_error(errors, r->arena, name, "%s", err.text);
    }
    if (errors->count == 0 && filter_check(&r->list.filter, filter_of(kind), &name, &err) != RC_OK)
        field_error(errors, r->arena, name, "%s", err.text);
}

static void read_alert_filter(struct request *r, struct field_errors *errors)
{
    struct str rest = r->http->query;
    struct str name;
    struct str value;
    struct err err;
    while (request_next_param(r, &rest, &name, &value)) {
        if (alert_filter_set(&r->list.alerts, name, value, r->arena, &err) == RC_INVALID)
            field_error(errors, r->arena, name, "%s", err.text);
    }
    if (errors->count == 0 && alert_filter_check(&r->list.alerts, &name, &err) != RC_OK)
        field_error(errors, r->arena, name, "%s", err.text);
}

/* A cursor is the last id and a hash of the filter it belongs to; of lists without one, also of
 * their name. */
static uint64_t cursor_hash(const struct list_kind *kind, const struct list_call *list)
{
    uint64_t hash = filter_hash(&list->filter, filter_of(kind));
    if (kind->read != NULL)
        hash ^= alert_filter_hash(&list->alerts);
    if (kind->members == NULL)
        hash ^= str_hash(str_c(kind->key));
    return hash >> 1; /* as every id, without the top bit */
}

static bool parse_cursor(struct str text, uint64_t hash, uint64_t *ret_before)
{
    uint64_t belongs;
    return text.len == CURSOR_LEN &&
           id_parse(str_of(text.ptr, ID_DIGITS), "", ret_before, NULL) == RC_OK &&
           id_parse(str_from(text, ID_DIGITS), "", &belongs, NULL) == RC_OK && belongs == hash;
}

/* ---- the same in other orders */

/* Of the place, too: a cursor that was changed belongs to no list. */
static uint64_t place_hash(const struct request *r, const struct sort_place *place)
{
    struct str text =
        arena_printf(r->arena, "%d %" PRIx64 " %" PRIx64 " %" PRId64 " %.*s", (int)r->list.sort,
                     cursor_hash(r->own, &r->list), place->id, place->due_ms, STR_ARG(place->name));
    return str_hash(text) >> 1;
}

static struct str hex_of(struct str bytes, struct arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_bytes(arena, 2 * bytes.len);
    for (size_t i = 0; i < bytes.len; i++) {
        text[2 * i] = digits[(unsigned char)bytes.ptr[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)bytes.ptr[i] & 15];
    }
    return str_of(text, 2 * bytes.len);
}

/* The value of a digit that hex_of wrote; -1: it is none. */
static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A name goes to the store, so it has to be one. */
static bool parse_name(struct str hex, struct arena *arena, struct str *ret_name)
{
    char *name = arena_bytes(arena, hex.len / 2);
    if (hex.len % 2 != 0)
        return false;
    for (size_t i = 0; i < hex.len; i += 2) {
        int high = hex_value(hex.ptr[i]);
        int low = hex_value(hex.ptr[i + 1]);
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return false;
        name[i / 2] = (char)(high << 4 | low);
    }
    *ret_name = str_of(name, hex.len / 2);
    return str_is_utf8(*ret_name);
}

static bool parse_place(const struct request *r, struct str text, struct sort_place *ret_place)
{
    struct sort_place place = {0};
    struct str key = str_from(text, text.len < CURSOR_LEN ? text.len : CURSOR_LEN);
    uint64_t belongs;
    uint64_t due_ms = 0;
    if (text.len < CURSOR_LEN || text.len > CURSOR_MAX ||
        id_parse(str_of(text.ptr, ID_DIGITS), "", &place.id, NULL) != RC_OK ||
        id_parse(str_of(text.ptr + ID_DIGITS, ID_DIGITS), "", &belongs, NULL) != RC_OK)
        return false;
    if (r->list.sort == SORT_NAME && !parse_name(key, r->arena, &place.name))
        return false;
    if (r->list.sort == SORT_NEXT_RUN && id_parse(key, "", &due_ms, NULL) != RC_OK)
        return false;
    if (place.id == 0 || place.id > INT64_MAX || due_ms > WHEN_MAX_MS)
        return false;
    place.due_ms = (int64_t)due_ms;
    *ret_place = place;
    return belongs == place_hash(r, &place);
}

static void put_place(const struct request *r, struct json_writer *w)
{
    const struct sort_place *place = &r->list.behind;
    struct str key = r->list.sort == SORT_NAME
                         ? hex_of(place->name, r->arena)
                         : str_of(ID_TEXT("", (uint64_t)place->due_ms), ID_DIGITS);
    char text[2][ID_TEXT_MAX];
    struct str cursor =
        arena_printf(r->arena, "%.*s%.*s%.*s", STR_ARG(id_format(text[0], "", place->id)),
                     STR_ARG(id_format(text[1], "", place_hash(r, place))), STR_ARG(key));
    json_put_str(w, "next_cursor", cursor);
}

static void read_sort(struct request *r, struct field_errors *errors)
{
    struct str text;
    unsigned sort = SORT_NEWEST;
    if (!http_request_param(r->http, STR("sort"), &text))
        return;
    if (!words_parse(&sort_words, text, &sort))
        field_error(errors, r->arena, STR("sort"), "must be one of %.*s",
                    STR_ARG(words_text(&sort_words, r->arena)));
    r->list.sort = (enum job_sort)sort;
}

/* Behind the filter and the page: what an order cannot be combined with. */
static void check_sort(struct request *r, struct field_errors *errors)
{
    uint32_t states = filter_states(&r->list.filter, FILTER_OF_JOBS);
    uint32_t phases = r->list.filter.phases;
    if (r->list.sort != SORT_NEXT_RUN)
        return;
    if ((states & FILTER_STATE(JOB_ACTIVE)) == 0 || phases == 1u << PHASE_ACTIVE)
        field_error(
            errors, r->arena, STR("sort"),
            "next_run_at lists jobs that have a run ahead, and none with this status, phase "
            "or end has one: leave that filter out, or sort by newest or name");
    if (r->list.want_total)
        field_error(errors, r->arena, STR("count"),
                    "cannot be combined with sort=next_run_at: jobs that have no run ahead are "
                    "counted, and not in the list; leave one of the two out");
}

/* ---- pages */

static bool read_cursor(struct request *r, const struct list_kind *kind, struct str text)
{
    if (r->list.sort != SORT_NEWEST)
        return parse_place(r, text, &r->list.behind);
    return parse_cursor(text, cursor_hash(kind, &r->list), &r->list.page.before);
}

static void read_page(struct request *r, const struct list_kind *kind, struct field_errors *errors)
{
    struct str text;
    request_page(r, errors);
    if (http_request_param(r->http, STR("cursor"), &text) && !read_cursor(r, kind, text))
        field_error(errors, r->arena, STR("cursor"),
                    "is not a next_cursor of a list with these filters and this sort: ask for the "
                    "first page again, without cursor");
}

/* ---- totals, from the engine's counters */

static void add_total(struct request *r, const struct counter *c, const struct list_kind *kind)
{
    const struct filter *f = &r->list.filter;
    if (c->kind == kind->counter && filter_has_state(f, c->state) && filter_has_queue(f, c->queue))
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
    struct filter rest = *f;
    rest.states = 0;
    rest.queue = (struct str){0};
    return filter_is_empty(&rest);
}

static void add_totals(struct request *r, const struct stats_view *stats, int64_t as_of_ms)
{
    const struct list_kind *kind = r->own;
    const struct filter *f = &r->list.filter;
    r->list.total = 0;
    r->list.as_of_ms = as_of_ms;
    for (size_t i = 0; i < stats->counter_count; i++)
        add_total(r, &stats->counters[i], kind);
    r->list.total_is_estimate = !is_counted(f) || (f->queue.len > 0 && has_forgotten(stats, kind));
}

static void count_then_look(struct request *r)
{
    add_totals(r, &r->cmd.reply.stats, r->cmd.reply.at_ms);
    request_to_query(r, look_list);
}

/* Among several servers the engine knows its own part only, and the store all. */
static void count_and_look(struct request *r, struct reader *reader)
{
    struct stats_view stats = {0};
    struct counter *counters;
    r->rc = reader->ops->counters(reader, r->arena, &counters, &stats.counter_count, &r->err);
    if (r->rc != RC_OK)
        return;
    stats.counters = counters;
    add_totals(r, &stats, clock_wall_ms());
    look_list(r, reader);
}

/* ---- printing; on a query thread */

static void put_cursor(const struct request *r, struct json_writer *w, uint64_t next)
{
    char cursor[CURSOR_LEN + ID_TEXT_MAX];
    if (next == 0) {
        json_put_null(w, "next_cursor");
        return;
    }
    if (r->list.sort != SORT_NEWEST) {
        put_place(r, w);
        return;
    }
    id_format(cursor, "", next);
    id_format(cursor + ID_DIGITS, "", cursor_hash(r->own, &r->list));
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
        json_put_when(&w, "as_of", r->list.as_of_ms);
    }
    json_close(&w);
}

/* The page, in the order that was asked for; where the next one goes on stands in r->list.behind,
 * and ret_page->next is not 0 where there is one. */
static enum rc read_sorted(struct request *r, struct reader *reader, struct job_page *ret_page)
{
    struct list_call *list = &r->list;
    struct sorted_page page;
    TRY(store_list_sorted(reader, list->sort, &list->filter, &list->behind, list->page.limit,
                          r->arena, &page, &r->err));
    struct job_rec *jobs = ARENA_ARRAY(r->arena, struct job_rec, page.count + 1);
    for (size_t i = 0; i < page.count; i++)
        jobs[i] = page.jobs[i].job;
    list->behind = page.last;
    *ret_page = (struct job_page){jobs, page.count, page.more ? page.last.id : 0};
    return RC_OK;
}

static enum rc read_jobs(struct request *r, struct reader *reader, struct job_page *ret_page)
{
    if (r->list.sort != SORT_NEWEST)
        return read_sorted(r, reader, ret_page);
    return store_list_jobs(reader, &r->list.filter, &r->list.page, r->arena, ret_page, &r->err);
}

/* What is only read for those who name it. */
static enum rc read_named(struct request *r, struct reader *reader, const struct job_page *page,
                          struct job_view *views)
{
    if (r->shown.outcomes)
        TRY(job_outcomes_read(reader, page->jobs, page->count, r->arena, views, &r->err));
    if (r->shown.pace)
        TRY(job_paces_read(reader, page->jobs, page->count, clock_wall_ms(), r->arena, views,
                           &r->err));
    if (r->shown.waits)
        TRY(job_upstreams_read(reader, page->jobs, page->count, r->arena, views, &r->err));
    return RC_OK;
}

static enum rc print_jobs(struct request *r, struct reader *reader, struct json_writer *w,
                          uint64_t *ret_next)
{
    struct job_page page;
    TRY(read_jobs(r, reader, &page));
    struct job_view *views = ARENA_ARRAY(r->arena, struct job_view, page.count + 1);
    for (size_t i = 0; i < page.count; i++)
        views[i] = (struct job_view){.phase = job_phase(page.jobs[i].state, EXEC_NONE, false)};
    if (r->shown.reads_apart)
        TRY(job_views_read_short(reader, page.jobs, page.count, r->arena, views, &r->err));
    TRY(read_named(r, reader, &page, views));
    for (size_t i = 0; i < page.count; i++) {
        size_t from = r->body.len;
        job_print_short(w, &page.jobs[i], &views[i]);
        shown_keep(r, from);
    }
    *ret_next = page.next;
    return RC_OK;
}

static enum rc print_execs(struct request *r, struct reader *reader, struct json_writer *w,
                           uint64_t *ret_next)
{
    struct exec_page page;
    TRY(store_list_execs(reader, &r->list.filter, &r->list.page, r->arena, &page, &r->err));
    struct str *names = ARENA_ARRAY(r->arena, struct str, page.count + 1);
    if (r->shown.reads_apart)
        TRY(exec_names_read(reader, page.execs, page.count, r->arena, names, &r->err));
    exec_traces_fill(r->server, page.execs, page.count, r->arena);
    for (size_t i = 0; i < page.count; i++) {
        size_t from = r->body.len;
        exec_print_short(w, &page.execs[i], names[i]);
        shown_keep(r, from);
    }
    *ret_next = page.next;
    return RC_OK;
}

static enum rc print_alerts(struct request *r, struct reader *reader, struct json_writer *w,
                            uint64_t *ret_next)
{
    struct alert_page page;
    TRY(store_list_alerts(reader, &r->list.alerts, &r->list.page, r->arena, &page, &r->err));
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
#define PARAM_OF_JOBS_NO(name)
#define PARAM_OF_JOBS_EXECS(name)
#define PARAM_OF_JOBS_JOBS(name) #name,
#define PARAM_OF_JOBS_BOTH(name) #name,
#define PARAM_OF_EXECS_NO(name)
#define PARAM_OF_EXECS_JOBS(name)
#define PARAM_OF_EXECS_EXECS(name) #name,
#define PARAM_OF_EXECS_BOTH(name) #name,
#define FIELD_OF_JOBS(name, kind, bounds, printed, kept, filter, ...) PARAM_OF_JOBS_##filter(name)
#define FIELD_OF_EXECS(name, kind, bounds, printed, kept, filter, ...) PARAM_OF_EXECS_##filter(name)
#define FILTER_OF_JOBS_ROW(name, of, ...) PARAM_OF_JOBS_##of(name)
#define FILTER_OF_EXECS_ROW(name, of, ...) PARAM_OF_EXECS_##of(name)
/* clang-format on */

static const char *const job_params[] = {JOB_FIELDS(FIELD_OF_JOBS)
                                             FILTER_PARAMS(FILTER_OF_JOBS_ROW) "limit",
                                         "cursor",
                                         "count",
                                         "fields",
                                         "sort",
                                         NULL};
static const char *const exec_params[] = {JOB_FIELDS(FIELD_OF_EXECS)
                                              FILTER_PARAMS(FILTER_OF_EXECS_ROW) "limit",
                                          "cursor", "count", "fields", NULL};
/* Of one job, which the path names. */
static const char *const run_params[] = {
    "status",         "queue",          "class",           "fingerprint",
    "worker",         "created_after",  "created_before",  "started_after",
    "started_before", "finished_after", "finished_before", "limit",
    "cursor",         "count",          "fields",          NULL};

static const char *const page_params[] = {"limit", "cursor", NULL};
static const char *const alert_params[] = {ALERT_FILTER_PARAMS, "limit", "cursor", NULL};

static struct list_kind job_list = {"jobs",       job_params, COUNTER_JOBS,
                                    &job_members, NULL,       print_jobs};
static struct list_kind exec_list = {"executions",  exec_params, COUNTER_EXECS,
                                     &exec_members, NULL,        print_execs};
static struct list_kind run_list = {"executions",  run_params, COUNTER_EXECS,
                                    &exec_members, NULL,       print_execs};
static struct list_kind alert_list = {"alerts", alert_params,      0,
                                      NULL,     read_alert_filter, print_alerts};
static struct list_kind rejected_list = {"rejected", page_params, 0, NULL, NULL, print_rejected};
static struct list_kind sla_list = {"sla_events", page_params, 0, NULL, NULL, print_sla_events};

/* Those of which each adds something. */
static const char *const list_repeats[] = {"status", "queue", "phase", "tag", NULL};

static void list_things(struct request *r, struct list_kind *kind)
{
    struct field_errors errors = {0};
    const char *const *repeats = kind->read != NULL ? alert_filter_repeats : list_repeats;
    if (!request_params_repeat(r, kind->params, repeats))
        return;
    r->own = kind;
    if (kind->read != NULL)
        kind->read(r, &errors);
    else
        read_filter(r, kind, &errors);
    read_sort(r, &errors);
    read_page(r, kind, &errors);
    check_sort(r, &errors);
    if (kind->members != NULL)
        shown_read(r, kind->members, true, &errors);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return;
    }
    if (r->list.want_total && r->server->membership != NULL)
        request_to_query(r, count_and_look);
    else if (r->list.want_total)
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

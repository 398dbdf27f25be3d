/* read.c - what a server is asked for a plan.
 *
 * Pages are read with an arena each, so that what was taken over is all that stays. The runs come
 * before the jobs: one that begins in between is then of a job that is read later. */
#include "plan/read.h"
#include "base/id.h"
#include "base/when.h"
#include "cli/api.h"
#include "job/job_fields.h"
#include "job/poll.h"
#include "wire/spec/spec_json.h"

#include <inttypes.h>
#include <string.h>

enum {
    PAGE_LEN = 1000,
    NAMED_PAGE_LEN = 100, /* where something is read for each job of a page */
    QUERY_BYTES_MAX = 1 << 14,
    SPEC_BYTES_MAX = 64 << 20,
    LIST_BYTES_MAX = 1 << 20,
    PAGES_MAX = 10000, /* of one list: ten million queues */
};

/* Adds one item of a list. */
typedef enum rc take_item(struct world *world, const struct json *item, struct err *err);

struct list_call {
    const char *path;
    const char *key;
    struct str query;
    size_t page_len;
    take_item *take;
};

/* ---- members */

static int64_t int_of(const struct json *object, const char *key)
{
    const struct json *value = json_get(object, str_c(key));
    return value != NULL && value->kind == JSON_INT ? value->integer : 0;
}

static uint32_t count_of(const struct json *object, const char *key)
{
    int64_t value = int_of(object, key);
    return value < 0 ? 0 : value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static bool bool_of(const struct json *object, const char *key)
{
    const struct json *value = json_get(object, str_c(key));
    return value != NULL && value->kind == JSON_BOOL && value->boolean;
}

static struct str text_of(struct world *world, const struct json *object, const char *key)
{
    return arena_str(&world->arena, api_text(object, str_c(key)));
}

static uint64_t id_of(const struct json *object, const char *key, const char *prefix)
{
    uint64_t id = 0;
    return id_parse(api_text(object, str_c(key)), prefix, &id, NULL) == RC_OK ? id : 0;
}

/* 0: it is null. Nominal times have no offset, and mean one of their own. */
static int64_t when_of(const struct json *object, const char *key)
{
    char text[WHEN_TEXT_MAX + 1];
    struct str value = api_text(object, str_c(key));
    int64_t at_ms = 0;
    if (value.len == 0 || value.len >= WHEN_TEXT_MAX)
        return 0;
    memcpy(text, value.ptr, value.len);
    if (when_parse(value, &at_ms, NULL) == RC_OK)
        return at_ms;
    text[value.len] = 'Z';
    return when_parse(str_of(text, value.len + 1), &at_ms, NULL) == RC_OK ? at_ms : 0;
}

/* A list of names, each on a line. */
static struct str lines_of(struct world *world, const struct json *object, const char *key)
{
    CLEANUP(buf_free) struct buf lines = BUF(LIST_BYTES_MAX);
    const struct json *names = json_get(object, str_c(key));
    for (size_t i = 0; names != NULL && names->kind == JSON_ARRAY && i < names->count; i++) {
        if (names->items[i].kind != JSON_STRING)
            continue;
        if (lines.len > 0)
            buf_add_char(&lines, '\n');
        buf_add(&lines, names->items[i].string);
    }
    return arena_str(&world->arena, buf_str(&lines));
}

/* ---- pages */

static enum rc take_page(struct world *world, struct cli *cli, const struct list_call *call,
                         struct str *cursor, struct err *err)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    struct json page;
    buf_printf(&query, "%s?%.*s%slimit=%zu", call->path, STR_ARG(call->query),
               call->query.len > 0 ? "&" : "", call->page_len);
    if (cursor->len > 0)
        buf_printf(&query, "&cursor=%.*s", STR_ARG(*cursor));
    TRY(api_get(cli, buf_str(&query), &page, err));
    const struct json *items = json_get(&page, str_c(call->key));
    for (size_t i = 0; items != NULL && items->kind == JSON_ARRAY && i < items->count; i++)
        TRY(call->take(world, &items->items[i], err));
    *cursor = arena_str(&world->arena, api_text(&page, STR("next_cursor")));
    return RC_OK;
}

static enum rc take_list(struct world *world, struct cli *cli, const struct list_call *call,
                         struct err *err)
{
    struct str cursor = STR("");
    for (size_t i = 0; i < PAGES_MAX; i++) {
        struct str before = cursor;
        struct cli page = *cli; /* the same server and key, and an arena of its own */
        page.arena = (struct arena){0};
        enum rc rc = take_page(world, &page, call, &cursor, err);
        cli->details = arena_str(&cli->arena, page.details);
        cli->refused = page.refused;
        arena_free(&page.arena);
        if (rc != RC_OK || cursor.len == 0)
            return rc;
        if (str_eq(cursor, before))
            break;
    }
    return err_set(err, RC_CORRUPT, "the server's list of %s has no end", call->key);
}

/* ---- runs */

static enum exec_state state_of(const struct json *item)
{
    enum exec_state state = EXEC_NONE;
    (void)exec_state_parse(api_text(item, STR("status")), &state);
    return bool_of(item, "stopping") ? EXEC_STOPPING : state;
}

static enum origin origin_of(struct str name)
{
    for (int i = 0; i < ORIGINS; i++) {
        if (str_eq(origin_name((enum origin)i), name))
            return (enum origin)i;
    }
    return ORIGIN_ONCE;
}

static struct exec_rec exec_of(struct world *world, const struct json *item)
{
    struct exec_rec x = {
        .id = id_of(item, "execution_id", ID_EXEC),
        .job_id = id_of(item, "job_id", ID_JOB),
        .state = state_of(item),
        .queue = text_of(world, item, "queue"),
        .priority = (int32_t)int_of(item, "priority"),
        .retry_of = id_of(item, "retry_of", ID_EXEC),
        .origin = origin_of(api_text(item, STR("origin"))),
        .slot_ms = when_of(item, "slot"),
        .nominal_ms = when_of(item, "nominal_time"),
        .created_ms = when_of(item, "created_at"),
        .due_ms = when_of(item, "due_at"),
        .started_ms = when_of(item, "started_at"),
        .finished_ms = when_of(item, "finished_at"),
        .attempts = (uint32_t)int_of(item, "attempt_count"),
        .lost = (uint32_t)int_of(item, "lost_count"),
        .returned = (uint32_t)int_of(item, "returned_count"),
        .late = bool_of(item, "start_late"),
        .token = (uint64_t)int_of(item, "token"),
        .worker_id = id_of(item, "worker_id", ID_WORKER),
    };
    x.first = x.origin == ORIGIN_ONCE;
    return x;
}

/* Of one that is ready it is not told since when: its moment is the best guess. */
static int64_t ready_of(const struct exec_rec *x)
{
    return x->slot_ms > x->created_ms ? x->slot_ms : x->created_ms;
}

static enum rc take_run(struct world *world, const struct json *item, struct err *err)
{
    struct exec_rec x = exec_of(world, item);
    if (world->runs.len == WORLD_RUNS_MAX)
        return err_set(err, RC_TOO_LARGE,
                       "more than %d executions are unfinished; a plan takes no more",
                       WORLD_RUNS_MAX);
    if (x.id == 0 || x.job_id == 0 || x.state == EXEC_NONE)
        return RC_OK;
    if (x.state == EXEC_RETRYING)
        x.due_ms = when_of(item, "next_attempt_at");
    if (exec_is_leased(x.state)) {
        x.sla_since_ms = x.started_ms;
        x.attempts = x.attempts > 0 ? x.attempts : 1;
        x.token = x.token > 0 ? x.token : 1;
    }
    if (!exec_is_waiting(x.state) && x.state != EXEC_BLOCKED)
        x.ready_ms = ready_of(&x);
    if (!exec_is_waiting(x.state))
        x.due_ms = 0;
    *VEC_PUSH(&world->arena, &world->runs) = x;
    return RC_OK;
}

static enum rc read_runs(struct world *world, struct cli *cli, bool ahead_only, struct err *err)
{
    struct list_call call = {
        .path = "/executions",
        .key = "executions",
        .query = ahead_only ? STR("status=scheduled")
                            : STR("status=scheduled&status=queued&status=running&status=retrying&"
                                  "status=blocked"),
        .page_len = PAGE_LEN,
        .take = take_run,
    };
    return take_list(world, cli, &call, err);
}

/* ---- jobs */

/* The definition alone, as stores keep it. */
static struct str definition_of(struct world *world, const struct json *item)
{
    CLEANUP(buf_free) struct buf out = BUF(SPEC_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct json *value = json_get(item, job_fields[i].key);
        if (job_fields[i].kept == JOB_KEPT_APART || value == NULL || value->kind == JSON_NULL)
            continue;
        json_key_str(&w, job_fields[i].key);
        json_raw(&w, value->raw);
    }
    json_close(&w);
    return arena_str(&world->arena, buf_str(&out));
}

static void take_upstreams(struct world *world, uint64_t job_id, const struct json *waits)
{
    for (size_t i = 0; waits != NULL && waits->kind == JSON_ARRAY && i < waits->count; i++) {
        const struct json *one = &waits->items[i];
        unsigned type;
        struct dependency_rec rec = {.dependant = job_id, .upstream = id_of(one, "job", ID_JOB)};
        if (!words_parse(&dependency_type_words, api_text(one, STR("type")), &type))
            continue;
        rec.type = (enum dependency_type)type;
        for (int state = DEPENDENCY_WAITING; state < DEPENDENCY_STATES; state++) {
            if (str_eq(dependency_state_name((enum dependency_state)state),
                       api_text(one, STR("state"))))
                rec.state = (enum dependency_state)state;
        }
        if (rec.upstream != 0 && rec.state != 0)
            *VEC_PUSH(&world->arena, &world->dependencies) = rec;
    }
}

/* -1: nobody knows. */
static int64_t p50_of(const struct json *item)
{
    const struct json *p50 = json_get(item, STR("p50_duration_ms"));
    if (p50 == NULL || p50->kind != JSON_INT || p50->integer < 0)
        return -1;
    return p50->integer < DURATION_MAX_MS ? p50->integer : DURATION_MAX_MS;
}

static enum rc take_job(struct world *world, const struct json *item, struct err *err)
{
    struct job_rec rec = {
        .id = id_of(item, "job_id", ID_JOB),
        .version = (uint32_t)int_of(item, "version"),
        .name = text_of(world, item, "name"),
        .queue = text_of(world, item, "queue"),
        .owner = text_of(world, item, "owner"),
        .team = text_of(world, item, "team"),
        .priority = (int32_t)int_of(item, "priority"),
        .created_ms = when_of(item, "created_at"),
        .changed_ms = when_of(item, "changed_at"),
    };
    if (world->jobs.len == WORLD_JOBS_MAX)
        return err_set(err, RC_TOO_LARGE, "more than %d jobs are unfinished; a plan takes no more",
                       WORLD_JOBS_MAX);
    if (rec.id == 0 || !job_state_parse(api_text(item, STR("status")), &rec.state))
        return RC_OK;
    if (json_get(item, STR("expect")) != NULL)
        return RC_OK; /* it runs elsewhere: nothing is known of when */
    rec.spec = definition_of(world, item);
    take_upstreams(world, rec.id, json_get(item, STR("depends_on")));
    world_add_job(world, &rec, p50_of(item));
    return RC_OK;
}

/* All that a job is asked for. */
static void add_fields(struct buf *query)
{
    buf_add(query, STR("fields=job_id,status,version,owner,created_at,changed_at,p50_duration_ms,"
                       "depends_on"));
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].kept != JOB_KEPT_APART)
            buf_printf(query, ",%.*s", STR_ARG(job_fields[i].key));
    }
}

static enum rc read_jobs(struct world *world, struct cli *cli, struct err *err)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    buf_add(&query, STR("status=active&status=paused&"));
    add_fields(&query);
    struct list_call call = {
        .path = "/jobs",
        .key = "jobs",
        .query = buf_str(&query),
        .page_len = NAMED_PAGE_LEN,
        .take = take_job,
    };
    return take_list(world, cli, &call, err);
}

/* A job that others wait for may be over; one that is deleted stays unknown. */
static enum rc read_upstreams(struct world *world, struct cli *cli, struct err *err)
{
    for (size_t i = 0; i < world->dependencies.len; i++) {
        const struct dependency_rec *rec = &world->dependencies.items[i];
        CLEANUP(buf_free) struct buf path = BUF(QUERY_BYTES_MAX);
        struct json item;
        if ((rec->state != DEPENDENCY_WAITING && rec->state != DEPENDENCY_PER_SLOT) ||
            world_job(world, rec->upstream) != NULL)
            continue;
        buf_printf(&path, "/jobs/%s?", ID_TEXT(ID_JOB, rec->upstream));
        add_fields(&path);
        enum rc rc = api_get(cli, buf_str(&path), &item, err);
        if (rc != RC_OK && rc != RC_NOT_FOUND)
            return rc;
        if (rc == RC_OK)
            TRY(take_job(world, &item, err));
        cli->refused = false;
        cli->details = STR("");
    }
    return RC_OK;
}

/* The newest slot that is over of a job that others wait for: they may wait for that one. */
static enum rc read_ended(struct world *world, struct cli *cli, struct err *err)
{
    for (size_t i = 0; i < world->jobs.len; i++) {
        const struct world_job *job = world->jobs.items[i];
        char id[ID_TEXT_MAX];
        struct json last;
        if (!job->is_upstream || job->rules.schedule == NULL)
            continue;
        struct str path = arena_printf(&cli->arena, "/jobs/%s?fields=last_execution",
                                       id_format(id, ID_JOB, job->rec.id).ptr);
        TRY(api_get(cli, path, &last, err));
        const struct json *item = json_get(&last, STR("last_execution"));
        if (item == NULL || item->kind != JSON_OBJECT)
            continue;
        struct exec_rec x = exec_of(world, item);
        if (exec_is_final(x.state))
            *VEC_PUSH(&world->arena, &world->ended) = x;
    }
    return RC_OK;
}

/* ---- limits, calendars, workers */

static enum rc take_queue(struct world *world, const struct json *item, struct err *err)
{
    (void)err;
    struct queue_rec rec = {
        .name = text_of(world, item, "name"),
        .concurrency = count_of(item, "concurrency"),
        .paused = bool_of(item, "paused"),
        .paused_ms = when_of(item, "paused_at"),
        .changed_ms = when_of(item, "changed_at"),
    };
    if (rec.name.len == 0)
        return RC_OK;
    world->queues_paused += rec.paused;
    if (rec.paused || rec.concurrency > 0)
        *VEC_PUSH(&world->arena, &world->queues) = rec;
    return RC_OK;
}

static enum rc take_team(struct world *world, const struct json *item, struct err *err)
{
    (void)err;
    struct team_rec rec = {
        .name = text_of(world, item, "name"),
        .concurrency = count_of(item, "concurrency"),
        .changed_ms = when_of(item, "changed_at"),
    };
    if (rec.name.len > 0 && rec.concurrency > 0)
        *VEC_PUSH(&world->arena, &world->teams) = rec;
    return RC_OK;
}

static enum rc read_limits(struct world *world, struct cli *cli, struct err *err)
{
    struct list_call queues = {
        .path = "/queues", .key = "queues", .page_len = PAGE_LEN, .take = take_queue};
    struct list_call teams = {
        .path = "/teams", .key = "teams", .page_len = PAGE_LEN, .take = take_team};
    TRY(take_list(world, cli, &queues, err));
    return take_list(world, cli, &teams, err);
}

static enum rc read_calendar(struct world *world, struct cli *cli, struct str name, struct err *err)
{
    CLEANUP(buf_free) struct buf path = BUF(QUERY_BYTES_MAX);
    struct json item;
    buf_add(&path, STR("/calendars/"));
    buf_add_encoded(&path, name);
    TRY(api_get(cli, buf_str(&path), &item, err));
    const struct json *document = json_get(&item, STR("document"));
    unsigned policy = CALENDAR_SKIP;
    (void)words_parse(&calendar_policy_words, api_text(&item, STR("policy")), &policy);
    if (document != NULL)
        *VEC_PUSH(&world->arena, &world->calendars) = (struct calendar_rec){
            .name = arena_str(&world->arena, name),
            .version = (uint32_t)int_of(&item, "version"),
            .policy = (enum calendar_policy)policy,
            .entry_count = (uint32_t)int_of(&item, "entry_count"),
            .document = arena_str(&world->arena, document->raw),
            .changed_ms = when_of(&item, "changed_at"),
        };
    return RC_OK;
}

static enum rc read_calendars(struct world *world, struct cli *cli, struct err *err)
{
    struct json all;
    TRY(api_get(cli, STR("/calendars"), &all, err));
    const struct json *items = json_get(&all, STR("calendars"));
    for (size_t i = 0; items != NULL && items->kind == JSON_ARRAY && i < items->count; i++)
        TRY(read_calendar(world, cli, api_text(&items->items[i], STR("name")), err));
    return RC_OK;
}

/* Workers that take the same work are one. */
static void take_worker(struct world *world, const struct json *item)
{
    struct world_crew crew = {
        .queues = lines_of(world, item, "queues"),
        .handlers = lines_of(world, item, "handlers"),
        .runs_commands = bool_of(item, "commands"),
    };
    int64_t slots = int_of(item, "slots");
    crew.slots = slots < 0 ? 0 : slots < POLL_SLOTS_MAX ? (uint64_t)slots : POLL_SLOTS_MAX;
    for (size_t i = 0; i < world->crews.len; i++) {
        struct world_crew *other = &world->crews.items[i];
        if (str_eq(other->queues, crew.queues) && str_eq(other->handlers, crew.handlers) &&
            other->runs_commands == crew.runs_commands) {
            other->slots += crew.slots;
            return;
        }
    }
    *VEC_PUSH(&world->arena, &world->crews) = crew;
}

static enum rc read_workers(struct world *world, struct cli *cli, struct err *err)
{
    struct json all;
    if (api_get(cli, STR("/workers"), &all, err) != RC_OK)
        return err_note(err, "the workers, which --slots N would take the place of");
    const struct json *items = json_get(&all, STR("workers"));
    for (size_t i = 0; items != NULL && items->kind == JSON_ARRAY && i < items->count; i++) {
        if (str_eq(api_text(&items->items[i], STR("status")), STR("active")))
            take_worker(world, &items->items[i]);
        else
            world->workers_out++;
    }
    return RC_OK;
}

/* ---- the whole */

static enum rc read_now(struct world *world, struct cli *cli, struct err *err)
{
    struct json answer;
    TRY(api_get(cli, STR("/jobs?limit=1&count=true&fields=job_id"), &answer, err));
    world->now_ms = when_of(&answer, "as_of");
    return world->now_ms > 0 ? RC_OK
                             : err_set(err, RC_CORRUPT, "the server does not say what time it is");
}

enum rc world_read(struct world *world, struct cli *cli, const struct world_wish *wish,
                   struct err *err)
{
    TRY(read_runs(world, cli, wish->definitions, err));
    TRY(read_jobs(world, cli, err));
    TRY(read_calendars(world, cli, err));
    if (!wish->definitions)
        TRY(read_upstreams(world, cli, err));
    if (!wish->definitions) {
        TRY(read_limits(world, cli, err));
        if (!wish->without_workers)
            TRY(read_workers(world, cli, err));
    }
    TRY(read_now(world, cli, err));
    world_settle(world);
    return wish->definitions ? RC_OK : read_ended(world, cli, err);
}

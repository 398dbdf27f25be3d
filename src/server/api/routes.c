#include "server/api/routes.h"
#include "server/api/api.h"
#include "server/cluster/forward.h"
#include "server/cluster/gather.h"
#include "server/turn/idempotency.h"

enum { PATH_SHOWN_MAX = 200 };

struct route {
    enum http_method method;
    unsigned roles;  /* set of enum role; empty: nobody */
    struct str path; /* {} stands for one part: request.id, and for the second request.sub_id */
    request_step *handle;
    const char *type; /* of the answer, to be held against Accept; NULL: see ANY */
};

/* Has nothing to show, looks for itself, or answers whatever one would rather read. */
#define ANY NULL
#define PATH(text) STR_INIT(text)
#define API(text) STR_INIT("/api/v1" text)

/* clang-format off */
static const struct route routes[] = {
    {HTTP_METHOD_POST,    ROLE_WORKER, API("/workers/{}/poll"),            api_worker_poll,          JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_WORKER, API("/workers/{}/logs"),            api_worker_logs,          ANY},
    {HTTP_METHOD_PUT,     ROLE_WORKER, API("/workers/{}/checkpoints/{}"),  api_checkpoint_put,       ANY},
    {HTTP_METHOD_GET,     ROLE_WORKER, API("/workers/{}/checkpoints/{}"),  api_checkpoint_fetch,     BYTES_TYPE},
    {HTTP_METHOD_POST,    ROLE_WORKER, API("/workers"),                    api_worker_register,      JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/workers"),                    api_workers,              JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/workers/{}/drain"),           api_worker_drain,         JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/jobs"),                       api_job_create,           JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/jobs/batch"),                 api_job_batch,            JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs"),                       api_jobs,                 JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs/{}"),                    api_job,                  JSON_TYPE},
    {HTTP_METHOD_PATCH,   ROLE_ADMIN,  API("/jobs/{}"),                    api_job_patch,            JSON_TYPE},
    {HTTP_METHOD_PUT,     ROLE_ADMIN,  API("/jobs/by-name/{}"),            api_job_put,              JSON_TYPE},
    {HTTP_METHOD_DELETE,  ROLE_ADMIN,  API("/jobs/{}"),                    api_job_delete,           JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/jobs/{}/pause"),              api_job_pause,            JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/jobs/{}/resume"),             api_job_resume,           JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/jobs/{}/trigger"),            api_job_trigger,          JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/jobs/{}/extend-sla"),         api_job_extend_sla,       JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs/{}/sla-events"),         api_job_sla_events,       JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs/{}/sla-compliance"),     api_job_sla_compliance,   JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs/{}/executions"),         api_job_executions,       JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs/{}/explain"),            api_job_explain,          JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/executions"),                 api_executions,           JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/executions/{}"),              api_execution,            JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/executions/{}/explain"),      api_execution_explain,    JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/executions/{}/cancel"),       api_execution_cancel,     JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/executions/{}/retry"),        api_execution_retry,      JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_KEYED,  API("/executions/{}/fence"),        api_execution_fence,      ANY},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/executions/{}/logs"),         api_execution_logs,       ANY},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/executions/{}/checkpoint"),   api_execution_checkpoint, BYTES_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/schedule/preview"),           api_schedule_preview,     JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/queues"),                     api_queues,               JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/queues/{}"),                  api_queue,                JSON_TYPE},
    {HTTP_METHOD_PUT,     ROLE_ADMIN,  API("/queues/{}"),                  api_queue_change,         JSON_TYPE},
    {HTTP_METHOD_DELETE,  ROLE_ADMIN,  API("/queues/{}"),                  api_queue_delete,         JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/queues/{}/pause"),            api_queue_pause,          JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/queues/{}/resume"),           api_queue_resume,         JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs/{}/failures"),           api_job_failures,         JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/jobs/{}/successes"),          api_job_successes,        JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/queues/{}/failures"),         api_queue_failures,       JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/queues/{}/successes"),        api_queue_successes,      JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/owners/{}/failures"),         api_owner_failures,       JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/owners/{}/successes"),        api_owner_successes,      JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/teams/{}/failures"),          api_team_failures,        JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/teams/{}/successes"),         api_team_successes,       JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/failures"),                   api_failures,             JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/successes"),                  api_successes,            JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/success-rates"),              api_success_rates,        JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/alerts"),                     api_alerts,               JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/submissions/rejected"),       api_rejected,             JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/breakers"),                   api_breakers,             JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/breakers/reset"),             api_breaker_reset,        JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/teams"),                      api_teams,                JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/teams/{}"),                   api_team,                 JSON_TYPE},
    {HTTP_METHOD_PUT,     ROLE_ADMIN,  API("/teams/{}"),                   api_team_change,          JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/dead-letters"),               api_letters,              JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/dead-letters/fingerprints"),  api_letter_groups,        JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/dead-letters/retry"),         api_letters_retry,        JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/dead-letters/discard"),       api_letters_discard,      JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/dead-letters/{}"),            api_letter,               JSON_TYPE},
    {HTTP_METHOD_DELETE,  ROLE_ADMIN,  API("/dead-letters/{}"),            api_letter_discard,       JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_ADMIN,  API("/dead-letters/{}/retry"),      api_letter_retry,         JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/operations"),                 api_operations,           JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/operations/{}"),              api_operation,            JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/calendars"),                  api_calendars,            JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/calendars/{}"),               api_calendar,             JSON_TYPE},
    {HTTP_METHOD_PUT,     ROLE_ADMIN,  API("/calendars/{}"),               api_calendar_put,         JSON_TYPE},
    {HTTP_METHOD_DELETE,  ROLE_ADMIN,  API("/calendars/{}"),               api_calendar_delete,      JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/events"),                     api_events,               ANY},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/cluster"),                    api_cluster,              JSON_TYPE},
    {HTTP_METHOD_POST,    ROLE_SERVER, API("/cluster/mail"),               api_cluster_mail,         ANY},
    {HTTP_METHOD_POST,    ROLE_SERVER, API("/cluster/wake"),               api_cluster_wake,         ANY},
    {HTTP_METHOD_GET,     ROLE_ADMIN,  API("/stats"),                      api_stats,                JSON_TYPE},
    {HTTP_METHOD_GET,     ROLE_ANYONE, PATH("/healthz"),                   api_healthz,              ANY},
    {HTTP_METHOD_GET,     ROLE_ANYONE, PATH("/readyz"),                    api_readyz,               ANY},
    {HTTP_METHOD_GET,     ROLE_ANYONE, PATH("/version"),                   api_version,              ANY},
    {HTTP_METHOD_GET,     ROLE_ANYONE, PATH("/openapi.json"),              api_openapi,              ANY},
};
/* clang-format on */

static const char *const method_names[] = {
    [HTTP_METHOD_GET] = "GET, HEAD",   [HTTP_METHOD_HEAD] = "HEAD",
    [HTTP_METHOD_POST] = "POST",       [HTTP_METHOD_PUT] = "PUT",
    [HTTP_METHOD_PATCH] = "PATCH",     [HTTP_METHOD_DELETE] = "DELETE",
    [HTTP_METHOD_OPTIONS] = "OPTIONS",
};

/* The first part of a path that starts with '/', cut off. */
static struct str next_part(struct str *rest)
{
    *rest = str_from(*rest, 1);
    size_t end = str_index(*rest, '/');
    struct str part = str_of(rest->ptr, end);
    *rest = str_from(*rest, end);
    return part;
}

enum { IDS_MAX = 2 }; /* in one path */

static bool matches(struct str pattern, struct str path, struct str ret_ids[IDS_MAX])
{
    size_t count = 0;
    while (pattern.len > 0 && path.len > 0) {
        struct str want = next_part(&pattern);
        struct str part = next_part(&path);
        if (str_eq(want, STR("{}")) && part.len > 0 && count < IDS_MAX)
            ret_ids[count++] = part;
        else if (!str_eq(want, part))
            return false;
    }
    return pattern.len == 0 && path.len == 0;
}

/* The route, or NULL with *ret_allow listing the methods that the path would take. */
static const struct route *find(struct request *r, struct buf *ret_allow)
{
    enum http_method method =
        r->http->method == HTTP_METHOD_HEAD ? HTTP_METHOD_GET : r->http->method;
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        struct str ids[IDS_MAX] = {0};
        if (!matches(routes[i].path, r->http->path, ids))
            continue;
        r->id = ids[0];
        r->sub_id = ids[1];
        if (routes[i].method == method)
            return &routes[i];
        if (ret_allow->len > 0)
            buf_add(ret_allow, STR(", "));
        buf_add(ret_allow, str_c(method_names[routes[i].method]));
    }
    return NULL;
}

static void answer_allowed(struct request *r, struct str allow)
{
    struct http_header header = {STR("Allow"), allow};
    http_respond(r->http, &(struct http_answer){204, .headers = &header, .header_count = 1});
}

static void refuse_method(struct request *r, struct str allow)
{
    struct http_header header = {STR("Allow"), allow};
    CLEANUP(buf_free) struct buf body = BUF(4096);
    problem_print(&body, 405, NULL, STR("this path does not take that method"),
                  str_c(r->request_id), NULL);
    http_respond(r->http, &(struct http_answer){
                              .status = 405,
                              .content_type = "application/problem+json",
                              .body = buf_str(&body),
                              .headers = &header,
                              .header_count = 1,
                          });
}

/* No route: the path is not known, or is, but not with this method. */
static void refuse_route(struct request *r, struct str allow)
{
    struct str path = str_head(r->http->path, PATH_SHOWN_MAX);
    bool options = r->http->method == HTTP_METHOD_OPTIONS;
    if (options && str_eq(path, STR("*"))) /* the server as a whole */
        answer_allowed(r, STR("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
    else if (allow.len == 0)
        request_problem(r, 404, "there is nothing at %.*s", STR_ARG(path));
    else if (options)
        answer_allowed(r, allow);
    else
        refuse_method(r, allow);
}

static void find_caller(struct request *r)
{
    struct str authorization = http_request_header(r->http, STR("Authorization"));
    if (r->server->membership != NULL && auth_is_server(&r->server->auth, authorization))
        forward_read(r);
    else
        r->who = auth_find(&r->server->auth, authorization);
    if (r->who != NULL)
        http_request_vouch(r->http);
}

static bool may_call(struct request *r, const struct route *route)
{
    static const struct principal nobody = {.actor = STR_INIT("anyone"), .role = ROLE_ANYONE};
    find_caller(r);
    if ((route->roles & ROLE_ANYONE) != 0) {
        if (r->who == NULL)
            r->who = &nobody;
        return true;
    }
    if (r->who == NULL)
        request_problem(r, 401, "a valid key is needed: Authorization: Bearer KEY");
    else if ((route->roles & r->who->role) == 0)
        request_problem(r, 403, "the key '%.*s' may not call this", STR_ARG(r->who->name));
    else
        return true;
    return false;
}

/* Calls that make something, which a repeated request must not make twice. */
static bool takes_once_key(const struct route *route)
{
    return route->handle == api_job_create || route->handle == api_job_batch ||
           route->handle == api_job_trigger || route->handle == api_execution_retry ||
           route->handle == api_letter_retry;
}

static bool is_acceptable(struct request *r, const struct route *route)
{
    return route->type == ANY || request_accepts(r, route->type);
}

/* A body that no call of this kind takes would only be memory for strangers to fill. */
static bool is_for_reading(const struct request *r)
{
    enum http_method method = r->http->method;
    return method == HTTP_METHOD_GET || method == HTTP_METHOD_HEAD || method == HTTP_METHOD_OPTIONS;
}

bool routes_admit(struct request *r, bool body_follows)
{
    char allow_bytes[128];
    struct buf allow = {.ptr = allow_bytes, .cap = sizeof allow_bytes, .max = sizeof allow_bytes};
    if (body_follows && is_for_reading(r)) {
        request_problem(r, 400, "a request of this method has no body");
        return false;
    }
    r->route = find(r, &allow);
    if (r->route == NULL) {
        refuse_route(r, arena_str(r->arena, buf_str(&allow)));
        return false;
    }
    return may_call(r, r->route) && is_acceptable(r, r->route) &&
           idempotency_read_header(r, takes_once_key(r->route));
}

void routes_handle(struct request *r)
{
    buf_free(&r->body);
    r->body = (struct buf){0};
    r->cmd = (struct command){0};
    r->errors = NULL;
    r->own = NULL;
    r->route->handle(r);
}

/* Where a call has to be decided, among many servers. What is not named here is answered by whoever is
 * asked: from the store, which all share, or as a worker's own business with each server. */
enum place {
    PLACE_OWNER, /* of the id in the path */
    PLACE_ANY,   /* anybody who owns something: it makes an id */
    PLACE_FIRST, /* the owner of the first partition, who writes what belongs to all */
    PLACE_ALL,   /* everybody: each knows a part */
};

static const struct placed {
    request_step *handle;
    enum place place;
    enum repeat repeat; /* without an Idempotency-Key */
    const char *prefix; /* PLACE_OWNER: of the id */
} placed[] = {
    {api_job_create, PLACE_ANY, REPEAT_NEVER, NULL},
    {api_job_batch, PLACE_ANY, REPEAT_NEVER, NULL},
    {api_worker_register, PLACE_ANY, REPEAT_NEVER, NULL}, /* the worker does, by itself */
    /* The version in If-Match is the old one, once it was done; and so is "nothing" in If-None-Match. */
    {api_job_patch, PLACE_OWNER, REPEAT_IN_DOUBT, ID_JOB},
    /* And to the owner when there is one: api_edit.c. */
    {api_job_put, PLACE_ANY, REPEAT_IN_DOUBT, NULL},
    {api_job_delete, PLACE_OWNER, REPEAT_FREELY, ID_JOB},
    {api_job_pause, PLACE_OWNER, REPEAT_FREELY, ID_JOB},
    {api_job_resume, PLACE_OWNER, REPEAT_FREELY, ID_JOB},
    {api_job_trigger, PLACE_OWNER, REPEAT_NEVER, ID_JOB},
    {api_job_extend_sla, PLACE_OWNER, REPEAT_NEVER, ID_JOB},
    {api_job_explain, PLACE_OWNER, REPEAT_FREELY, ID_JOB},
    {api_execution_explain, PLACE_OWNER, REPEAT_FREELY, ID_EXEC},
    {api_execution_cancel, PLACE_OWNER, REPEAT_IN_DOUBT, ID_EXEC},
    {api_execution_retry, PLACE_OWNER, REPEAT_NEVER, ID_EXEC},
    {api_execution_fence, PLACE_OWNER, REPEAT_FREELY, ID_EXEC},
    {api_execution_logs, PLACE_OWNER, REPEAT_FREELY, ID_EXEC},
    {api_letter_retry, PLACE_OWNER, REPEAT_NEVER, ID_EXEC},
    {api_letter_discard, PLACE_OWNER, REPEAT_IN_DOUBT, ID_EXEC},
    {api_worker_drain, PLACE_OWNER, REPEAT_FREELY, ID_WORKER},
    {api_operation, PLACE_OWNER, REPEAT_FREELY, ID_OPERATION},
    {api_queue_change, PLACE_FIRST, REPEAT_FREELY, NULL},
    /* It is unknown, once it was done. */
    {api_queue_delete, PLACE_FIRST, REPEAT_IN_DOUBT, NULL},
    {api_queue_pause, PLACE_FIRST, REPEAT_FREELY, NULL},
    {api_queue_resume, PLACE_FIRST, REPEAT_FREELY, NULL},
    {api_team_change, PLACE_FIRST, REPEAT_FREELY, NULL},
    {api_calendar_put, PLACE_FIRST, REPEAT_FREELY, NULL},
    {api_calendar_delete, PLACE_FIRST, REPEAT_IN_DOUBT, NULL},
    {api_breaker_reset, PLACE_ALL, REPEAT_NEVER, NULL},
    {api_letters_retry, PLACE_ALL, REPEAT_NEVER, NULL},
    {api_letters_discard, PLACE_ALL, REPEAT_NEVER, NULL},
    {api_operations, PLACE_ALL, REPEAT_FREELY, NULL},
    {api_queues, PLACE_ALL, REPEAT_FREELY, NULL},
    {api_queue, PLACE_ALL, REPEAT_FREELY, NULL},
    {api_workers, PLACE_ALL, REPEAT_FREELY, NULL},
    {api_teams, PLACE_ALL, REPEAT_FREELY, NULL},
    {api_team, PLACE_ALL, REPEAT_FREELY, NULL},
    {api_breakers, PLACE_ALL, REPEAT_FREELY, NULL},
    {api_stats, PLACE_ALL, REPEAT_FREELY, NULL},
};

/* NULL: whoever is asked. */
static const struct placed *place_of(const struct request *r)
{
    for (size_t i = 0; i < COUNT_OF(placed); i++) {
        if (placed[i].handle == r->route->handle)
            return &placed[i];
    }
    return NULL;
}

enum repeat routes_repeat(const struct request *r)
{
    const struct placed *place = place_of(r);
    if (r->idempotency_key.len > 0)
        return REPEAT_FREELY;
    return place == NULL ? REPEAT_NEVER
                         : place->repeat; /* NULL: a poll, which its worker repeats */
}

/* An id that makes no sense is the handler's to refuse. */
static bool goes_to_owner(struct request *r, const char *prefix)
{
    uint64_t id;
    return id_parse(r->id, prefix, &id, NULL) == RC_OK && forward_to_owner(r, id);
}

static bool goes_elsewhere(struct request *r)
{
    const struct placed *place = place_of(r);
    if (place == NULL)
        return false;
    switch (place->place) {
    case PLACE_OWNER: return goes_to_owner(r, place->prefix);
    case PLACE_ANY: return forward_to_any(r);
    case PLACE_FIRST: return forward_to_owner(r, 0); /* whose bucket is the first */
    case PLACE_ALL: return gather_all(r);
    }
    return false;
}

void routes_serve(struct request *r)
{
    if (r->server->membership == NULL || !goes_elsewhere(r))
        r->route->handle(r);
}

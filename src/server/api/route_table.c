#include "server/call/route_table.h"
#include "job/later.h"
#include "server/api/api.h"
#include "server/metrics/scrape.h"
#include "server/output/log_calls.h"
#include "server/system/system.h"

/* The call has nothing to show, looks at Accept for itself, or answers whatever is accepted. */
static const char ANY[] = "*/*";

#define NONE 0
#define ROUTE(verb, prefix, name, role, kind, handler, ...)                                        \
    {                                                                                              \
        .method = HTTP_METHOD_##verb, .roles = ROLE_##role, .path = STR_INIT(prefix name),         \
        .command = kind, .handle = handler, __VA_ARGS__                                            \
    }
#define GET(...) ROUTE(GET, "/api/v1", __VA_ARGS__, )
#define POST(...) ROUTE(POST, "/api/v1", __VA_ARGS__, )
#define PUT(...) ROUTE(PUT, "/api/v1", __VA_ARGS__, )
#define PATCH(...) ROUTE(PATCH, "/api/v1", __VA_ARGS__, )
#define DELETE(...) ROUTE(DELETE, "/api/v1", __VA_ARGS__, )
#define PLAIN(...) ROUTE(GET, "", __VA_ARGS__, .type = ANY)

/* Behind the handler of a call without a command: what its {} is the id of. */
#define JOB .subject = ABOUT_JOB
#define EXEC .subject = ABOUT_EXEC
#define LETTER .subject = ABOUT_LETTER

/* Of paths that match, the first counts: a word stands before {}. */
/* clang-format off */
const struct route route_table[] = {
    POST(   "/workers/{}/poll",             WORKER, CMD_POLL,           api_worker_poll),
    POST(   "/workers/{}/logs",             WORKER, NONE,               api_worker_logs,
            .type = ANY),
    PUT(    "/workers/{}/checkpoints/{}",   WORKER, NONE,               api_checkpoint_put,
            .type = ANY),
    GET(    "/workers/{}/checkpoints/{}",   WORKER, NONE,               api_checkpoint_fetch,
            .type = BYTES_TYPE),
    POST(   "/workers",                     WORKER, CMD_REGISTER,       api_worker_register),
    GET(    "/workers",                     ADMIN,  CMD_WORKERS,        api_workers),
    GET(    "/workers/{}",                  ADMIN,  CMD_WORKER,         api_worker),
    POST(   "/workers/{}/cordon",           ADMIN,  CMD_CORDON,         api_worker_cordon),
    POST(   "/workers/{}/uncordon",         ADMIN,  CMD_UNCORDON,       api_worker_uncordon),
    POST(   "/workers/{}/drain",            ADMIN,  CMD_DRAIN,          api_worker_drain),
    POST(   "/jobs",                        ADMIN,  CMD_SUBMIT,         api_job_create),
    POST(   "/jobs/batch",                  ADMIN,  CMD_SUBMIT,         api_job_batch),
    POST(   "/jobs/actions",                ADMIN,  CMD_OPERATE,        api_job_actions),
    GET(    "/jobs",                        ADMIN,  NONE,               api_jobs),
    GET(    "/jobs/by-name/{}",             ADMIN,  NONE,               api_job, JOB),
    GET(    "/jobs/{}",                     ADMIN,  NONE,               api_job, JOB),
    PATCH(  "/jobs/{}",                     ADMIN,  CMD_EDIT_JOB,       api_job_patch),
    /* api_edit.c sends it on to the owner when there is a job of this name. */
    PUT(    "/jobs/by-name/{}",             ADMIN,  CMD_EDIT_JOB,       api_job_put,
            .place = PLACE_ANY_OWNER, .subject = ABOUT_NAME),
    DELETE( "/jobs/{}",                     ADMIN,  CMD_CANCEL_JOB,     api_job_delete),
    GET(    "/jobs/{}/versions",            ADMIN,  NONE,               api_job_versions, JOB),
    POST(   "/jobs/{}/rollback",            ADMIN,  CMD_EDIT_JOB,       api_job_rollback),
    POST(   "/jobs/{}/pause",               ADMIN,  CMD_PAUSE_JOB,      api_job_run_or_not),
    POST(   "/jobs/{}/resume",              ADMIN,  CMD_RESUME_JOB,     api_job_run_or_not),
    POST(   "/jobs/{}/trigger",             ADMIN,  CMD_TRIGGER_JOB,    api_job_trigger),
    POST(   "/jobs/{}/ping",                ADMIN,  CMD_PING,           api_job_ping),
    POST(   "/jobs/{}/extend-sla",          ADMIN,  CMD_EXTEND_SLA,     api_job_extend_sla),
    GET(    "/jobs/{}/sla-events",          ADMIN,  NONE,               api_job_sla_events, JOB),
    GET(    "/jobs/{}/sla-compliance",      ADMIN,  NONE,               api_job_sla_compliance,
            JOB),
    GET(    "/jobs/{}/executions",          ADMIN,  NONE,               api_job_executions, JOB),
    GET(    "/jobs/{}/slots",               ADMIN,  NONE,               api_job_slots, JOB),
    GET(    "/jobs/{}/logs",                ADMIN,  NONE,               log_call_job,
            .repeat = REPEAT_FREELY, .subject = ABOUT_JOB, .type = ANY),
    GET(    "/jobs/{}/graph",               ADMIN,  NONE,               api_job_graph, JOB),
    GET(    "/jobs/{}/explain",             ADMIN,  CMD_EXPLAIN_JOB,    api_explanation),
    GET(    "/executions",                  ADMIN,  NONE,               api_executions),
    POST(   "/executions/actions",          ADMIN,  CMD_OPERATE,        api_execution_actions),
    GET(    "/executions/{}",               ADMIN,  NONE,               api_execution, EXEC),
    GET(    "/executions/{}/explain",       ADMIN,  CMD_EXPLAIN_EXEC,   api_explanation),
    POST(   "/executions/{}/cancel",        ADMIN,  CMD_CANCEL_EXEC,    api_execution_cancel),
    POST(   "/executions/{}/retry",         ADMIN,  CMD_RETRY_EXEC,     api_retry),
    GET(    "/executions/{}/fence",         KEYED,  CMD_FENCE,          api_execution_fence,
            .type = ANY),
    GET(    "/executions/{}/logs",          ADMIN,  NONE,               log_call_execution,
            .repeat = REPEAT_FREELY, .subject = ABOUT_EXEC, .type = ANY),
    GET(    "/executions/{}/checkpoint",    ADMIN,  NONE,               api_execution_checkpoint,
            EXEC, .type = BYTES_TYPE),
    GET(    "/schedule/preview",            ADMIN,  NONE,               api_schedule_preview),
    GET(    "/schedule/forecast",           ADMIN,  NONE,               api_schedule_forecast),
    GET(    "/timeline",                    ADMIN,  NONE,               api_timeline),
    GET(    "/queues",                      ADMIN,  CMD_QUEUES,         api_queues),
    /* To look at one is to ask all: each server knows a part. */
    GET(    "/queues/{}",                   ADMIN,  CMD_QUEUE,          api_queue,
            .place = PLACE_ALL),
    PUT(    "/queues/{}",                   ADMIN,  CMD_QUEUE,          api_queue_change),
    /* Once it was done, the queue is unknown. */
    DELETE( "/queues/{}",                   ADMIN,  CMD_QUEUE,          api_queue_delete,
            .repeat = REPEAT_IN_DOUBT),
    POST(   "/queues/{}/pause",             ADMIN,  CMD_QUEUE,          api_queue_pause),
    POST(   "/queues/{}/resume",            ADMIN,  CMD_QUEUE,          api_queue_resume),
    GET(    "/jobs/{}/failures",            ADMIN,  NONE,               api_job_failures, JOB),
    GET(    "/jobs/{}/successes",           ADMIN,  NONE,               api_job_successes, JOB),
    GET(    "/queues/{}/failures",          ADMIN,  NONE,               api_queue_failures),
    GET(    "/queues/{}/successes",         ADMIN,  NONE,               api_queue_successes),
    GET(    "/owners/{}/failures",          ADMIN,  NONE,               api_owner_failures),
    GET(    "/owners/{}/successes",         ADMIN,  NONE,               api_owner_successes),
    GET(    "/teams/{}/failures",           ADMIN,  NONE,               api_team_failures),
    GET(    "/teams/{}/successes",          ADMIN,  NONE,               api_team_successes),
    GET(    "/failures",                    ADMIN,  NONE,               api_failures),
    GET(    "/successes",                   ADMIN,  NONE,               api_successes),
    GET(    "/reports/failures",            ADMIN,  NONE,               api_report_failures),
    GET(    "/reports/successes",           ADMIN,  NONE,               api_report_successes),
    GET(    "/reports/sla",                 ADMIN,  NONE,               api_report_sla),
    GET(    "/reports/slowest",             ADMIN,  NONE,               api_report_slowest),
    GET(    "/success-rates",               ADMIN,  NONE,               api_success_rates),
    GET(    "/alerts",                      ADMIN,  NONE,               api_alerts),
    GET(    "/alerts/silences",             ADMIN,  NONE,               api_silences),
    POST(   "/alerts/silences",             ADMIN,  CMD_SILENCE,        api_silence_create),
    GET(    "/alerts/silences/{}",          ADMIN,  NONE,               api_silence),
    DELETE( "/alerts/silences/{}",          ADMIN,  CMD_LIFT_SILENCE,   api_silence_delete),
    POST(   "/alerts/{}/ack",               ADMIN,  CMD_ALERT_ACK,      api_alert_ack),
    GET(    "/submissions/rejected",        ADMIN,  NONE,               api_rejected),
    GET(    "/breakers",                    ADMIN,  CMD_BREAKERS,       api_breakers),
    POST(   "/breakers/reset",              ADMIN,  CMD_RESET_BREAKER,  api_breaker_reset),
    GET(    "/teams",                       ADMIN,  CMD_TEAMS,          api_teams),
    GET(    "/teams/{}",                    ADMIN,  CMD_TEAM,           api_team,
            .place = PLACE_ALL),
    PUT(    "/teams/{}",                    ADMIN,  CMD_TEAM,           api_team_change),
    GET(    "/dead-letters",                ADMIN,  NONE,               api_letters),
    GET(    "/dead-letters/fingerprints",   ADMIN,  NONE,               api_letter_groups),
    POST(   "/dead-letters/retry",          ADMIN,  CMD_OPERATE,        api_letters_retry),
    POST(   "/dead-letters/discard",        ADMIN,  CMD_OPERATE,        api_letters_discard),
    GET(    "/dead-letters/{}",             ADMIN,  NONE,               api_letter, LETTER),
    DELETE( "/dead-letters/{}",             ADMIN,  CMD_DISCARD_LETTER, api_letter_discard),
    POST(   "/dead-letters/{}/retry",       ADMIN,  CMD_RETRY_LETTER,   api_retry),
    GET(    "/operations",                  ADMIN,  NONE,               api_operations),
    GET(    "/operations/{}",               ADMIN,  NONE,               api_operation),
    POST(   "/operations/{}/cancel",        ADMIN,  CMD_CANCEL_OPERATION, api_operation_cancel),
    GET(    "/calendars",                   ADMIN,  NONE,               api_calendars),
    GET(    "/calendars/{}",                ADMIN,  NONE,               api_calendar),
    PUT(    "/calendars/{}",                ADMIN,  CMD_CALENDAR,       api_calendar_put),
    DELETE( "/calendars/{}",                ADMIN,  CMD_CALENDAR,       api_calendar_delete,
            .repeat = REPEAT_IN_DOUBT),
    GET(    "/events",                      ADMIN,  NONE,               api_events, .type = ANY),
    POST(   "/sessions/codes",              KEYED,  NONE,               api_session_code),
    POST(   "/sessions",                    ANYONE, NONE,               api_session_begin),
    DELETE( "/sessions",                    ANYONE, NONE,               api_session_end),
    GET(    "/me",                          KEYED,  NONE,               api_me),
    GET(    "/settings",                    ADMIN,  NONE,               api_settings,
            .place = PLACE_ALL, .repeat = REPEAT_FREELY, .merge = api_settings_merge),
    GET(    "/diagnostics",                 ADMIN,  NONE,               api_diagnostics,
            .place = PLACE_ALL, .repeat = REPEAT_FREELY, .merge = api_diagnostics_merge),
    GET(    "/cluster",                     ADMIN,  NONE,               api_cluster,
            .place = PLACE_ALL, .repeat = REPEAT_FREELY, .merge = api_cluster_merge),
    POST(   "/cluster/mail",                SERVER, NONE,               api_cluster_mail,
            .type = ANY),
    POST(   "/cluster/wake",                SERVER, NONE,               api_cluster_wake,
            .type = ANY),
    GET(    "/series",                      ADMIN,  NONE,               api_series,
            .place = PLACE_ALL, .repeat = REPEAT_FREELY, .merge = api_series_merge),
    GET(    "/scaling",                     KEYED,  CMD_STATS,          api_scaling,
            .merge = api_scaling_merge),
    GET(    "/stats/blockers",              ADMIN,  CMD_WAITS,          api_blockers),
    GET(    "/stats",                       ADMIN,  CMD_STATS,          api_stats),
    PLAIN(  "/healthz",                     ANYONE, NONE,               api_healthz),
    PLAIN(  "/readyz",                      ANYONE, NONE,               api_readyz),
    PLAIN(  "/version",                     ANYONE, NONE,               api_version),
    PLAIN(  "/openapi.json",                ANYONE, NONE,               api_openapi),
    PLAIN(  "/metrics",                     ADMIN,  NONE,               api_metrics,
            .is_open = metrics_are_open),
};
/* clang-format on */
const size_t route_count = COUNT_OF(route_table);

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

struct match {
    struct str ids[IDS_MAX];
    bool by_name; /* the first of them is a name for sure */
};

/* Whether the path begins as the pattern does before its first {}. Every request looks at every
 * row, so most rows end here. */
static bool begins(struct str pattern, struct str path)
{
    for (size_t i = 0; i < pattern.len && pattern.ptr[i] != '{'; i++) {
        if (i == path.len || path.ptr[i] != pattern.ptr[i])
            return false;
    }
    return true;
}

/* In place of the id of a job there may be by-name/NAME. */
static bool matches(struct str pattern, struct str path, struct match *ret_match)
{
    size_t count = 0;
    struct str before = {0};
    if (!begins(pattern, path))
        return false;
    *ret_match = (struct match){0};
    while (pattern.len > 0 && path.len > 0) {
        struct str want = next_part(&pattern);
        struct str part = next_part(&path);
        bool is_id = str_eq(want, STR("{}"));
        if (is_id && path.len > 0 && str_eq(part, STR("by-name")) && str_eq(before, STR("jobs"))) {
            ret_match->by_name = true;
            part = next_part(&path);
        }
        ret_match->by_name |= is_id && str_eq(before, STR("by-name"));
        if (is_id && part.len > 0 && count < IDS_MAX)
            ret_match->ids[count++] = part;
        else if (!str_eq(want, part))
            return false;
        before = want;
    }
    return pattern.len == 0 && path.len == 0;
}

/* For the header Allow. */
static void add_allowed(struct buf *allow, enum http_method method)
{
    if (allow->len > 0)
        buf_add(allow, STR(", "));
    buf_add(allow, str_c(http_method_name(method)));
    if (method == HTTP_METHOD_GET)
        buf_add(allow, STR(", HEAD"));
}

const struct route *route_find(struct request *r, struct buf *ret_allow)
{
    enum http_method method =
        r->http->method == HTTP_METHOD_HEAD ? HTTP_METHOD_GET : r->http->method;
    for (size_t i = 0; i < route_count; i++) {
        struct match match;
        if (!matches(route_table[i].path, r->http->path, &match))
            continue;
        r->id = match.ids[0];
        r->sub_id = match.ids[1];
        r->by_name = match.by_name;
        if (route_table[i].method == method)
            return &route_table[i];
        add_allowed(ret_allow, route_table[i].method);
    }
    return NULL;
}

bool route_is_promised(struct str path)
{
#define LATER_PATH(path) STR_INIT(path),
    static const struct str paths[] = {LATER_PATHS(LATER_PATH)};
    struct match ignored;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        if (matches(paths[i], path, &ignored))
            return true;
    }
    return false;
}

struct command_facts route_facts(const struct route *route)
{
    struct command_facts facts = {.place = PLACE_ASKED, .repeat = REPEAT_NEVER};
    if (route->command != NONE)
        facts = *command_facts(route->command);
    if (route->place != 0)
        facts.place = route->place;
    if (route->repeat != 0)
        facts.repeat = route->repeat;
    if (route->subject != 0)
        facts.subject = route->subject;
    return facts;
}

const char *route_type(const struct route *route)
{
    if (route->type == ANY)
        return NULL;
    return route->type == NULL ? JSON_TYPE : route->type;
}

/* ---- for docs/protocol.md */

static const char *key_name(unsigned roles)
{
    switch (roles) {
    case ROLE_ANYONE: return "none";
    case ROLE_ADMIN: return "admin";
    case ROLE_WORKER: return "worker";
    case ROLE_KEYED: return "any";
    default: return "server";
    }
}

void route_table_print(struct buf *out)
{
    static const char *const places[] = {
        [PLACE_ASKED] = "the one that is asked",
        [PLACE_OWNER] = "the owner of the id",
        [PLACE_ANY_OWNER] = "any that owns a partition",
        [PLACE_FIRST] = "the owner of the first partition",
        [PLACE_ALL] = "all together",
        [PLACE_ALL_OWNERS] = "all together",
    };
    buf_add(out, STR("| method | path | key | answered by |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &route_table[i];
        buf_printf(out, "| %s | `%.*s` | %s | %s |\n", http_method_name(route->method),
                   STR_ARG(route->path), key_name(route->roles), places[route_facts(route).place]);
    }
}

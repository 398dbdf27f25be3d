#include "loop/clock.h"
#include "server/api/api.h"
#include "server/call/route_table.h"
#include "server/cluster/membership.h"
#include "wire/message/queue_json.h"
#include "wire/message/stats_json.h"

enum { STATS_BYTES_MAX = 16 << 20 };

extern const char openapi_json[];
extern const size_t openapi_json_len;

static void answer_stats(struct request *r)
{
    struct stats_moment moment = {
        .now_ms = clock_wall_ms(),
        .as_of_ms = r->cmd.reply.at_ms,
        .uptime_ms = clock_wall_ms() - r->server->started_ms,
    };
    r->cmd.reply.stats.quarantined = atomic_load(&r->server->quarantined);
    r->cmd.reply.stats.cost = r->server->store->ops->cost(r->server->store);
    r->body = BUF(STATS_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    stats_print(&w, &r->cmd.reply.stats, &moment, r->arena);
    request_answer_body(r, 200);
}

void api_stats(struct request *r)
{
    if (request_no_params(r))
        request_to_board(r, answer_stats);
}

static const char *role_word(enum role role)
{
    return role == ROLE_ADMIN ? "admin" : role == ROLE_WORKER ? "worker" : "server";
}

/* Prints the calls that the key may make, by the table of routes. */
static void put_calls(struct json_writer *w, enum role role)
{
    json_key(w, "calls");
    json_open_array(w);
    for (size_t i = 0; i < route_count; i++) {
        if ((route_table[i].roles & (role | ROLE_ANYONE)) == 0)
            continue;
        json_open(w);
        json_put_str(w, "method", str_c(http_method_name(route_table[i].method)));
        json_put_str(w, "path", route_table[i].path);
        json_close(w);
    }
    json_close_array(w);
}

void api_me(struct request *r)
{
    if (!request_no_params(r))
        return;
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_str(&w, "key", r->who->name);
    json_put_str(&w, "role", str_c(role_word(r->who->role)));
    json_put_str(&w, "actor", r->who->actor);
    json_put_str(&w, "by", r->who->web ? STR("session") : STR("key"));
    json_put_when(&w, "ends_at", r->session == NULL ? 0 : r->session->ends_ms);
    put_calls(&w, r->who->role);
    json_close(&w);
    request_answer_body(r, 200);
}

static void answer_blockers(struct request *r)
{
    static const struct str all = {0};
    const struct str *queue = r->own != NULL ? r->own : &all;
    int64_t sums[BLOCKER_KINDS] = {0};
    int64_t waiting = 0;
    for (size_t i = 0; i < r->cmd.reply.wait_count; i++) {
        const struct waits *waits = &r->cmd.reply.waits[i];
        if (queue->len > 0 && !str_eq(*queue, waits->queue))
            continue;
        for (int kind = BLOCKER_NONE + 1; kind < BLOCKER_KINDS; kind++) {
            sums[kind] += waits->by_kind[kind];
            waiting += waits->by_kind[kind];
        }
    }
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_text(&w, "queue", *queue);
    json_put_when(&w, "as_of", r->cmd.reply.at_ms);
    json_put_int(&w, "waiting", waiting);
    json_key(&w, "blockers");
    json_open(&w);
    for (int kind = BLOCKER_NONE + 1; kind < BLOCKER_KINDS; kind++) {
        if (sums[kind] == 0)
            continue;
        json_key_str(&w, blocker_kind_name((enum blocker_kind)kind));
        json_int(&w, sums[kind]);
    }
    json_close(&w);
    json_put_bool(&w, "sampled", r->cmd.reply.waits_sampled);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_blockers(struct request *r)
{
    static const char *const known[] = {"queue", NULL};
    struct field_errors errors = {0};
    struct str *queue = ARENA_NEW(r->arena, struct str);
    if (!request_params_known(r, known))
        return;
    if (http_request_param(r->http, STR("queue"), queue) &&
        queue_name_check(*queue, r->arena, &errors) != RC_OK) {
        request_fail_fields(r, &errors);
        return;
    }
    r->own = queue;
    request_to_waits(r, answer_blockers);
}

void api_healthz(struct request *r)
{
    request_answer(r, 200, STR("{\"status\":\"ok\"}"));
}

static const char *trouble_text(int rc)
{
    switch (rc) {
    case RC_FULL: return "the disk is full: the store takes no commits until there is room";
    case RC_BUSY: return "the database is locked by another program";
    default: return "the store takes no commits; the server's log says why";
    }
}

/* Why a server of a cluster is of little use at the moment; NULL: it is not. */
static const char *cluster_trouble(const struct server *s)
{
    if (s->membership == NULL)
        return NULL;
    if (!membership_may_decide(s->membership))
        return "this server could not renew its membership in the cluster, and decides nothing "
               "until it can; is the database reachable?";
    if (atomic_load(&s->trouble) == RC_BUSY)
        return "the database cannot be reached, or takes no writes; the server's log says why";
    return NULL;
}

/* It can answer, since it forwards, but decides about nothing. */
static void answer_idle(struct request *r, const char *why)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_str(&w, "status", STR("ready"));
    json_put_int(&w, "partitions", 0);
    json_put_str(&w, "detail", str_c(why));
    json_close(&w);
    request_answer_body(r, 200);
}

void api_readyz(struct request *r)
{
    struct membership *m = r->server->membership;
    const char *idle = m == NULL ? NULL : membership_why_idle(m);
    const char *why = cluster_trouble(r->server);
    if (atomic_load(&r->server->draining))
        request_problem(r, 503, "the server is shutting down");
    else if (why != NULL)
        request_problem(r, 503, "%s", why);
    else if (atomic_load(&r->server->trouble) != RC_OK)
        request_problem(r, 503, "%s", trouble_text(atomic_load(&r->server->trouble)));
    else if (idle != NULL)
        answer_idle(r, idle);
    else
        request_answer(r, 200, STR("{\"status\":\"ready\"}"));
}

void api_version(struct request *r)
{
    request_answer(r, 200, STR("{\"version\":\"" BELFRY_VERSION "\"}"));
}

void api_openapi(struct request *r)
{
    request_answer(r, 200, str_of(openapi_json, openapi_json_len));
}

#include "server/call/routes.h"
#include "base/later.h"
#include "loop/clock.h"
#include "server/auth/wrong_keys.h"
#include "server/call/browser.h"
#include "server/call/resolve.h"
#include "server/call/route_table.h"
#include "server/call/worker_versions.h"
#include "server/cluster/forward.h"
#include "server/cluster/gather.h"
#include "server/turn/idempotency.h"

enum {
    PATH_SHOWN_MAX = 200,
    STRANGER_BODY_MAX = 4096, /* a key or a code, to sign in by */
};

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

/* A path that no route has may be a page for browsers. */
static bool is_page(struct request *r)
{
    server_pages *pages = r->server->options->pages;
    return pages != NULL && pages(r->http);
}

/* No route: the path is not known, or is, but not with this method. */
static void refuse_route(struct request *r, struct str allow)
{
    struct str path = str_head(r->http->path, PATH_SHOWN_MAX);
    bool options = r->http->method == HTTP_METHOD_OPTIONS;
    if (options && str_eq(path, STR("*"))) /* the server as a whole */
        answer_allowed(r, STR("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
    else if (allow.len == 0 && route_is_promised(r->http->path))
        request_problem(r, 501, "%.*s " LATER_WORDS, STR_ARG(path));
    else if (allow.len == 0 && !is_page(r))
        request_problem(r, 404, "there is nothing at %.*s", STR_ARG(path));
    else if (allow.len > 0 && options)
        answer_allowed(r, allow);
    else if (allow.len > 0)
        refuse_method(r, allow);
}

static void find_caller(struct request *r)
{
    struct str authorization = http_request_header(r->http, STR("Authorization"));
    if (r->server->membership != NULL && auth_is_server(&r->server->auth, authorization))
        forward_read(r);
    else if (auth_is_key(authorization))
        r->who = auth_find(&r->server->auth, authorization);
    else
        browser_find(r);
    if (r->who == NULL || !http_request_vouch(r->http))
        return;
    struct str user_agent = http_request_header(r->http, STR("User-Agent"));
    if (r->who->role == ROLE_WORKER && !r->by_server && r->session == NULL)
        http_request_count(r->http, worker_versions_of(r->server->worker_versions, user_agent));
}

bool routes_allow_wrong_key(struct request *r)
{
    r->form.retry_s = wrong_keys_count(r->server->wrong_keys, http_request_origin(r->http),
                                       clock_mono_us() / 1000);
    if (r->form.retry_s == 0)
        return true;
    request_problem(r, 429, "%d wrong keys came from this address within a minute",
                    WRONG_KEYS_A_MINUTE);
    return false;
}

static void refuse_caller(struct request *r)
{
    bool is_wrong = auth_is_key(http_request_header(r->http, STR("Authorization")));
    if (!is_wrong && r->form.cookie.len > 0)
        request_problem(r, 401, "the session is over; sign in again");
    else if (!is_wrong || routes_allow_wrong_key(r))
        request_problem(r, 401, "a valid key is needed: Authorization: Bearer KEY");
}

static bool may_call(struct request *r, const struct route *route)
{
    static const struct principal nobody = {.actor = STR_INIT("anyone"), .role = ROLE_ANYONE};
    find_caller(r);
    bool open = route->is_open != NULL && route->is_open(r->server->options);
    if (open || (route->roles & ROLE_ANYONE) != 0) {
        if (r->who == NULL)
            r->who = &nobody;
        return true;
    }
    if (r->who == NULL)
        refuse_caller(r);
    else if ((route->roles & r->who->role) == 0)
        request_problem(r, 403, "the key '%.*s' may not call this", STR_ARG(r->who->name));
    else
        return r->session == NULL || browser_admits(r);
    return false;
}

static bool is_acceptable(struct request *r, const struct route *route)
{
    const char *type = route_type(route);
    return type == NULL || request_accepts(r, type);
}

/* A body that no call of this kind takes would only be memory for strangers to fill. */
static bool is_for_reading(const struct request *r)
{
    enum http_method method = r->http->method;
    return method == HTTP_METHOD_GET || method == HTTP_METHOD_HEAD || method == HTTP_METHOD_OPTIONS;
}

/* Reading and unpacking are work, and whoever has no key may give us as much of it as they like. */
static bool is_small_enough(struct request *r)
{
    struct str length = http_request_header(r->http, STR("Content-Length"));
    struct str coding = http_request_header(r->http, STR("Content-Encoding"));
    uint64_t bytes;
    if (r->who->role != ROLE_ANYONE || r->by_server)
        return true;
    if (!str_to_u64(length, &bytes))
        request_problem(r, 411, "without a key a body needs its Content-Length");
    else if (bytes > STRANGER_BODY_MAX)
        request_problem(r, 413, "without a key a body has at most %d bytes", STRANGER_BODY_MAX);
    else if (coding.len > 0 && !str_eq_nocase(coding, STR("identity")))
        request_problem(r, 415, "without a key a body is not encoded");
    else
        return true;
    return false;
}

bool routes_admit(struct request *r, bool body_follows)
{
    char allow_bytes[128];
    struct buf allow = {.ptr = allow_bytes, .cap = sizeof allow_bytes, .max = sizeof allow_bytes};
    if (body_follows && is_for_reading(r)) {
        request_problem(r, 400, "a request of this method has no body");
        return false;
    }
    r->route = route_find(r, &allow);
    if (r->route == NULL) {
        refuse_route(r, arena_str(r->arena, buf_str(&allow)));
        return false;
    }
    return may_call(r, r->route) && (!body_follows || is_small_enough(r)) &&
           is_acceptable(r, r->route) &&
           idempotency_read_header(r, route_facts(r->route).takes_key);
}

void routes_handle(struct request *r)
{
    buf_free(&r->body);
    r->body = (struct buf){0};
    r->form = (struct representation){0};
    r->cmd = (struct command){0};
    r->errors = NULL;
    r->own = NULL;
    r->route->handle(r);
}

enum command_repeat routes_repeat(const struct request *r)
{
    return r->idempotency_key.len > 0 ? REPEAT_FREELY : route_facts(r->route).repeat;
}

/* An id that makes no sense is the handler's to refuse. */
static bool goes_to_owner(struct request *r, enum command_subject subject)
{
    uint64_t id;
    return id_parse(r->id, command_id_prefix(subject), &id, NULL) == RC_OK &&
           forward_to_owner(r, id);
}

static bool goes_elsewhere(struct request *r)
{
    struct command_facts facts = route_facts(r->route);
    switch (facts.place) {
    case PLACE_OWNER: return goes_to_owner(r, facts.subject);
    case PLACE_ANY_OWNER: return forward_to_any(r);
    case PLACE_FIRST: return forward_to_owner(r, 0); /* whose bucket is the first */
    case PLACE_ALL:
    case PLACE_ALL_OWNERS: return gather_all(r);
    case PLACE_ASKED: break;
    }
    return false;
}

static void serve(struct request *r)
{
    if (r->server->membership == NULL || !goes_elsewhere(r))
        r->route->handle(r);
}

void routes_serve(struct request *r)
{
    if (resolve_is_needed(r))
        resolve_path(r, serve);
    else
        serve(r);
}

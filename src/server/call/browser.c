#include "server/call/browser.h"
#include "loop/clock.h"
#include "server/cluster/forward.h"
#include "wire/http/http_text.h"

#include <inttypes.h>

enum {
    COOKIES_TRIED = 4, /* of one name; a browser sends one */
    PORT_DIGITS = 5,
};

const struct http_header browser_no_store = {STR_INIT("Cache-Control"), STR_INIT("no-store")};

/* The port that the browser asked for, as digits. */
static struct str port_of(struct str host)
{
    size_t at = host.len;
    while (at > 0 && host.ptr[at - 1] >= '0' && host.ptr[at - 1] <= '9')
        at--;
    struct str digits = str_from(host, at);
    bool has_port = at > 0 && host.ptr[at - 1] == ':' && digits.len > 0;
    return has_port && digits.len <= PORT_DIGITS ? digits : STR("80");
}

/* Another server hands on what the browser asked it. */
static struct str host_of(const struct request *r)
{
    return http_request_header(r->http, r->by_server ? STR(FORWARD_HOST) : STR("Host"));
}

struct str browser_address(struct request *r)
{
    struct str url = server_public_url(r->server->options);
    if (url.len > 0)
        return url;
    return arena_printf(r->arena, "http://%.*s", STR_ARG(host_of(r)));
}

/* The browser came by the address that others know us by, and that is TLS. */
static bool is_secure(const struct request *r)
{
    struct str origin = server_public_url(r->server->options);
    struct str https = STR("https://");
    return str_starts(origin, https) && str_eq_nocase(str_from(origin, https.len), host_of(r));
}

static struct str cookie_name(struct request *r)
{
    if (is_secure(r))
        return STR("__Host-belfry");
    return arena_printf(r->arena, "belfry_%.*s", STR_ARG(port_of(host_of(r))));
}

/* ---- who it is */

/* The next cookie of that name. False: there is none. */
static bool next_cookie(struct str *rest, struct str name, struct str *ret_value)
{
    while (rest->len > 0) {
        struct str value = str_trim(str_cut(rest, ';'));
        if (!str_eq(str_trim(str_cut(&value, '=')), name))
            continue;
        *ret_value = str_trim(value);
        return true;
    }
    return false;
}

void browser_find(struct request *r)
{
    struct str cookies = http_request_header(r->http, STR("Cookie"));
    struct str value;
    if (cookies.len == 0)
        return;
    struct str name = cookie_name(r);
    struct session *session = ARENA_NEW(r->arena, struct session);
    for (int i = 0; i < COOKIES_TRIED && next_cookie(&cookies, name, &value); i++) {
        r->who = auth_find_session(&r->server->auth, value, clock_wall_ms(), session);
        if (r->who != NULL) {
            r->session = session;
            r->form.cookie = (struct str){0};
            return;
        }
        browser_forget(r);
    }
}

bool browser_still_may(const struct request *r)
{
    if (r->session != NULL)
        return auth_session_holds(&r->server->auth, r->session, clock_wall_ms());
    return r->who->key_id == 0 || auth_find_id(&r->server->auth, r->who->key_id) != NULL;
}

/* ---- whose page it is */

static bool is_our_origin(struct request *r, struct str origin)
{
    struct str known = server_public_url(r->server->options);
    return str_eq_nocase(origin, arena_printf(r->arena, "http://%.*s", STR_ARG(host_of(r)))) ||
           (known.len > 0 && str_eq_nocase(origin, known));
}

static bool is_change(const struct request *r)
{
    return r->http->method != HTTP_METHOD_GET && r->http->method != HTTP_METHOD_HEAD;
}

bool browser_admits(struct request *r)
{
    struct str site = http_request_header(r->http, STR("Sec-Fetch-Site"));
    struct str origin = http_request_header(r->http, STR("Origin"));
    bool change = is_change(r);
    if (site.len > 0 && !str_eq(site, STR("same-origin")) && !str_eq(site, STR("none")))
        request_problem(r, 403, "a page of another site asked for this (Sec-Fetch-Site: %.*s)",
                        STR_ARG(str_head(site, 20)));
    else if (change && !str_eq(http_request_header(r->http, STR("X-Belfry")), STR("1")))
        request_problem(r, 403, "a change by cookie needs the header X-Belfry: 1");
    else if (change && !is_our_origin(r, origin))
        request_problem(r, 403,
                        "a change by cookie needs an Origin that is this server's Host or the "
                        "setting public_url; this one is '%.*s'",
                        STR_ARG(str_head(origin, 100)));
    else
        return true;
    return false;
}

/* ---- the cookie */

static void set(struct request *r, const char *value, int64_t seconds)
{
    r->form.cookie =
        arena_printf(r->arena, "%.*s=%s; Path=/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Strict%s",
                     STR_ARG(cookie_name(r)), value, seconds, is_secure(r) ? "; Secure" : "");
}

void browser_keep(struct request *r, const char *cookie)
{
    set(r, cookie, SESSION_LIVES_MS / 1000);
}

void browser_forget(struct request *r)
{
    set(r, "", 0);
}

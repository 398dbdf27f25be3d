/* api_sessions.c - browsers sign in and out (server/auth/codes.h, cookie.h, call/browser.h).
 *
 * A code is known to the server that made it alone, so it names that server, and any other hands
 * the sign-in on. */
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/auth/codes.h"
#include "server/call/browser.h"
#include "server/call/routes.h"
#include "server/cluster/forward.h"
#include "server/cluster/membership.h"
#include "wire/json/fields.h"

#include <stddef.h>

enum {
    KEY_BYTES_MAX = 512,
    CODE_BYTES_MAX = 64,
};

/* ---- codes */

static bool is_maker(struct str start, struct str maker)
{
    char text[MAKER_TEXT];
    return str_eq(codes_maker(start, text), maker);
}

static struct str own_start(struct request *r)
{
    struct cluster_view view;
    struct node_rec me = {0};
    if (r->server->membership != NULL)
        membership_look(r->server->membership, r->arena, &view, &me);
    return me.start;
}

void api_session_code(struct request *r)
{
    char code[CODE_TEXT];
    char maker[MAKER_TEXT];
    if (!request_no_params(r))
        return;
    if (r->session != NULL) {
        request_problem(r, 403, "a code is made by key, not by a browser that is signed in");
        return;
    }
    codes_make(r->server->codes, r->who->key_id, clock_mono_us() / 1000, code);
    struct str text =
        arena_printf(r->arena, "%s.%.*s", code, STR_ARG(codes_maker(own_start(r), maker)));
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_str(&w, "code", text);
    json_put_when(&w, "expires_at", clock_wall_ms() + CODE_LIVES_MS);
    json_put_str(&w, "url",
                 arena_printf(r->arena, "%s/#code=%.*s", arena_zstr(r->arena, browser_address(r)),
                              STR_ARG(text)));
    json_close(&w);
    request_answer_body(r, 201);
}

/* ---- signing in */

struct sign_in {
    struct str key;
    struct str code;
};

static bool read_sign_in(struct request *r, struct sign_in *ret_by)
{
    static const struct field table[] = {
        {FIELD("key", struct sign_in, key), .kind = FIELD_TEXT, .min = 1, .max = KEY_BYTES_MAX},
        {FIELD("code", struct sign_in, code), .kind = FIELD_TEXT, .min = 1, .max = CODE_BYTES_MAX},
    };
    struct json doc;
    struct field_errors errors = {0};
    const struct fields f = {.arena = r->arena, .errors = &errors};
    if (!request_no_params(r) || !request_json(r, false, &doc))
        return false;
    *ret_by = (struct sign_in){0};
    fields_read(&f, NULL, &doc, table, COUNT_OF(table), ret_by);
    if (errors.count == 0 && (ret_by->key.len > 0) == (ret_by->code.len > 0))
        fields_fail(&f, NULL, "must have either key or code");
    if (errors.count == 0)
        return true;
    request_fail_fields(r, &errors);
    return false;
}

static void answer_session(struct request *r, uint64_t key_id)
{
    char cookie[COOKIE_TEXT];
    struct session session;
    const struct principal *who = auth_find_id(&r->server->auth, key_id);
    if (who == NULL ||
        !auth_begin_session(&r->server->auth, key_id, clock_wall_ms(), &session, cookie)) {
        request_problem(r, 401, "the key is gone");
        return;
    }
    browser_keep(r, cookie);
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_str(&w, "key", who->name);
    json_put_str(&w, "actor", auth_actor(who->name, true, r->arena));
    json_put_when(&w, "ends_at", session.ends_ms);
    json_close(&w);
    request_answer_body(r, 201);
}

static void sign_in_by_key(struct request *r, struct str key)
{
    const struct principal *who = auth_find_key(&r->server->auth, str_trim(key));
    if (who != NULL)
        answer_session(r, who->key_id);
    else if (routes_allow_wrong_key(r))
        request_problem(r, 401, "this is not a key of this server");
}

static void refuse_code(struct request *r, const char *why)
{
    if (routes_allow_wrong_key(r))
        request_problem(r, 401, "%s; `belfry dashboard` prints a new one", why);
}

static void use_code(struct request *r, struct str code)
{
    uint64_t key_id;
    switch (codes_use(r->server->codes, code, clock_mono_us() / 1000, &key_id)) {
    case CODE_GOOD: answer_session(r, key_id); break;
    case CODE_USED: refuse_code(r, "this code was used before"); break;
    case CODE_LATE: refuse_code(r, "this code is older than two minutes"); break;
    case CODE_UNKNOWN: refuse_code(r, "this is not a code of this server"); break;
    }
}

/* To the server that made the code, if that is there. */
static bool goes_to_maker(struct request *r, struct str maker)
{
    struct peer *peers;
    struct membership *m = r->server->membership;
    if (m == NULL || r->by_server || is_maker(own_start(r), maker))
        return false;
    size_t count = membership_peers(m, r->arena, &peers);
    for (size_t i = 0; i < count; i++) {
        if (is_maker(peers[i].start, maker))
            return forward_to_address(r, peers[i].address);
    }
    refuse_code(r, "the server that made this code is gone");
    return true;
}

void api_session_begin(struct request *r)
{
    struct sign_in by;
    /* A server that hands it on has looked at the page. */
    if ((!r->by_server && !browser_admits(r)) || !read_sign_in(r, &by))
        return;
    struct str maker = by.code;
    struct str code = str_cut(&maker, '.');
    if (by.key.len > 0)
        sign_in_by_key(r, by.key);
    else if (!goes_to_maker(r, maker))
        use_code(r, code);
}

/* ---- signing out */

static enum rc sign_all_out(struct request *r, struct store *store, struct err *err)
{
    const int64_t *asked_us = r->own;
    return auth_end_sessions(&r->server->auth, store, r->who->key_id, *asked_us, err);
}

static void answer_signed_out(struct request *r)
{
    browser_forget(r);
    request_answer_empty(r, 204);
}

static void end_all(struct request *r)
{
    int64_t *asked_us = ARENA_NEW(r->arena, int64_t);
    *asked_us = clock_mono_us();
    r->own = asked_us;
    request_to_store(r, sign_all_out, answer_signed_out);
}

void api_session_end(struct request *r)
{
    static const char *const known[] = {"everywhere", NULL};
    struct str text = {0};
    bool by_key = r->session == NULL && r->who->key_id != 0;
    if ((!by_key && !browser_admits(r)) || !request_params_known(r, known))
        return;
    bool everywhere =
        http_request_param(r->http, STR("everywhere"), &text) && str_eq(text, STR("true"));
    if (text.len > 0 && !everywhere && !str_eq(text, STR("false")))
        request_problem(r, 400, "everywhere must be true or false");
    else if (!everywhere)
        answer_signed_out(r);
    else if (r->who->key_id == 0)
        request_problem(r, 401, "signing out everywhere needs a session or a key");
    else
        end_all(r);
}

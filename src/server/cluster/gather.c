#include "server/cluster/gather.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "server/call/net.h"
#include "server/call/route_table.h"
#include "server/call/routes.h"
#include "server/cluster/forward.h"
#include "server/cluster/membership.h"
#include "server/cluster/peers.h"
#include "wire/json/merge_json.h"

#include <stdlib.h>

enum { ANSWER_MS = 2000, ANSWER_BYTES_MAX = 64 << 20 };

/* The answer of one server. */
struct part {
    struct request *request;
    struct gathering *gathering;
    struct str name;
    int status; /* 0: nothing */
    struct str body;
};

/* With memory of its own: while others answer, the request may be with the turn. */
struct gathering {
    struct arena arena;
    struct part *parts; /* the first is our own */
    size_t count;
    size_t waiting;
    const char *content_type; /* of our own, and its headers, for when no answer is good */
    struct http_header *headers;
    size_t header_count;
    bool numbers_only; /* of the others */
};

/* A call that one of them refuses is refused as we would refuse it. A 404 from some servers is
 * ignored if any server has it. */
static const struct part *first_good(const struct gathering *g)
{
    int own = g->parts[0].status;
    bool local_problem = own / 100 == 4 && own != 404;
    for (size_t i = 0; i < g->count && !local_problem; i++) {
        if (g->parts[i].status / 100 == 2)
            return &g->parts[i];
    }
    return NULL;
}

static struct str limit_text(struct request *r, uint64_t *ret_limit)
{
    struct str text = STR("");
    *ret_limit = 0;
    if (http_request_param(r->http, STR("limit"), &text) && !str_to_u64(text, ret_limit))
        *ret_limit = 0;
    return text;
}

static void put_missing(struct json_writer *w, const struct gathering *g)
{
    size_t missing = 0;
    for (size_t i = 0; i < g->count; i++)
        missing += g->parts[i].status / 100 != 2 && g->parts[i].status != 404;
    if (missing == 0)
        return;
    json_key(w, "missing");
    json_open_array(w);
    for (size_t i = 0; i < g->count; i++) {
        if (g->parts[i].status / 100 != 2 && g->parts[i].status != 404)
            json_str(w, g->parts[i].name);
    }
    json_close_array(w);
}

/* The good answers, parsed; the others count as missing from then on. */
static size_t parse_parts(struct request *r, struct gathering *g, struct json *ret_docs)
{
    struct err err;
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct part *part = &g->parts[i];
        if (part->status / 100 != 2)
            continue;
        if (json_parse(part->body, r->arena, &ret_docs[count], &err) != RC_OK ||
            ret_docs[count].kind != JSON_OBJECT) {
            part->status = 0; /* another version, perhaps */
            continue;
        }
        if (g->numbers_only && i > 0)
            ret_docs[count] = merge_json_numbers(&ret_docs[count], r->arena);
        count++;
    }
    return count;
}

static void answer_merged(struct request *r, struct gathering *g, int status)
{
    struct json *docs = ARENA_ARRAY(r->arena, struct json, g->count);
    uint64_t limit;
    (void)limit_text(r, &limit);
    size_t count = parse_parts(r, g, docs);
    if (r->route->merge != NULL) {
        r->route->merge(r, docs, count);
        return;
    }
    r->body = BUF(ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    merge_json_members(&w, docs, count, (size_t)limit, r->arena);
    put_missing(&w, g);
    json_close(&w);
    request_answer(r, status, buf_str(&r->body));
}

static void finish(struct request *r)
{
    struct gathering *g = r->gathering;
    const struct part *good = first_good(g);
    r->gathering = NULL;
    times_return(&r->times, clock_mono_us());
    if (good != NULL)
        answer_merged(r, g, good->status);
    else
        http_respond(r->http, &(struct http_answer){
                                  .status = g->parts[0].status,
                                  .content_type = g->content_type,
                                  .body = g->parts[0].body,
                                  .headers = g->headers,
                                  .header_count = g->header_count,
                              });
    arena_free(&g->arena);
    free(g);
}

static void one_less(struct request *r)
{
    if (--r->gathering->waiting == 0)
        finish(r);
}

static void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct part *part = arg;
    (void)err; /* it is missing */
    if (response != NULL) {
        part->status = response->status;
        part->body = arena_str(&part->gathering->arena, response->body);
    }
    one_less(part->request);
}

void gather_own(struct request *r, const struct http_answer *answer)
{
    struct gathering *g = r->gathering;
    g->parts[0].status = answer->status;
    g->parts[0].body = arena_str(&g->arena, answer->body);
    g->content_type = answer->content_type;
    g->headers = ARENA_ARRAY(&g->arena, struct http_header, answer->header_count);
    for (; g->header_count < answer->header_count; g->header_count++)
        g->headers[g->header_count] = (struct http_header){
            .name = arena_str(&g->arena, answer->headers[g->header_count].name),
            .value = arena_str(&g->arena, answer->headers[g->header_count].value),
        };
    times_leave(&r->times, SPENT_OTHER_SERVER, clock_mono_us());
    one_less(r);
}

static void ask(struct request *r, struct part *part, struct str address, struct http_call call)
{
    struct err err;
    call.timeout_ms = ANSWER_MS;
    call.on_done = on_done;
    call.arg = part;
    if (peers_send(net_peers(r->net), address, &call, &err) == RC_OK)
        r->gathering->waiting++;
}

/* Of all others the answer to a question, or (without target) to the same request. False: there are
 * none. */
static bool ask_others(struct request *r, struct str target)
{
    struct peer *peers;
    struct membership *m = r->server->membership;
    size_t count = m == NULL ? 0 : membership_peers(m, r->arena, &peers);
    if (count == 0)
        return false;
    struct gathering *g = MEM_NEW(struct gathering);
    g->parts = ARENA_ARRAY(&g->arena, struct part, count + 1);
    g->count = count + 1;
    g->waiting = 1; /* for our own, which comes last */
    g->numbers_only = target.len > 0;
    r->gathering = g;
    for (size_t i = 0; i < count; i++) {
        g->parts[i + 1] = (struct part){.request = r, .gathering = g, .name = peers[i].name};
        ask(r, &g->parts[i + 1], peers[i].address,
            target.len > 0 ? forward_question(r, target, &g->arena) : forward_call(r, &g->arena));
    }
    struct cluster_view view;
    struct node_rec me;
    membership_look(m, r->arena, &view, &me);
    g->parts[0] = (struct part){.request = r, .gathering = g, .name = me.name};
    return true;
}

bool gather_all(struct request *r)
{
    if (r->by_server || r->gathering != NULL || !ask_others(r, (struct str){0}))
        return false;
    routes_handle(r);
    return true;
}

void gather_numbers(struct request *r, struct str target, struct str own)
{
    (void)ask_others(r, target);
    request_answer(r, 200, own); /* or our part of it */
}

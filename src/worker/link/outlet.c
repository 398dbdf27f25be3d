#include "worker/link/outlet.h"
#include "base/mem.h"

#include <stdlib.h>

struct outlet {
    uv_loop_t *loop;
    struct arena texts; /* of the token */
    struct str token;
    struct buf url;             /* where the client calls */
    struct http_client *client; /* owned */
    outlet_pick *pick;          /* NULL: there is no choice */
    void *arg;
    bool failed;
};

enum { URL_BYTES_MAX = 4096 };

enum rc outlet_new(uv_loop_t *loop, struct str url, struct str token, struct outlet **ret_outlet,
                   struct err *err)
{
    struct http_client *client;
    struct str first = str_trim(str_cut(&url, ','));
    TRY(http_client_new(loop, first, token, &client, err));
    struct outlet *o = MEM_NEW(struct outlet);
    o->loop = loop;
    o->token = arena_str(&o->texts, token);
    o->client = client;
    o->url = BUF(URL_BYTES_MAX);
    buf_add(&o->url, first);
    *ret_outlet = o;
    return RC_OK;
}

void outlet_guide(struct outlet *o, outlet_pick *pick, void *arg)
{
    o->pick = pick;
    o->arg = arg;
}

/* Another server, if there is a better one. */
static void turn_to(struct outlet *o, struct str url)
{
    struct http_client *client;
    struct err err;
    if (str_eq(url, buf_str(&o->url)) ||
        http_client_new(o->loop, url, o->token, &client, &err) != RC_OK)
        return;
    http_client_free(o->client);
    o->client = client;
    buf_clear(&o->url);
    buf_add(&o->url, url);
}

void outlet_send(struct outlet *o, const struct http_call *call)
{
    if (o->pick != NULL)
        turn_to(o, o->pick(o->arg, buf_str(&o->url), o->failed));
    o->failed = false;
    http_client_send(o->client, call);
}

void outlet_failed(struct outlet *o)
{
    o->failed = true;
}

void outlet_abort(struct outlet *o)
{
    http_client_abort(o->client);
}

void outlet_free(struct outlet *o)
{
    if (o == NULL)
        return;
    http_client_free(o->client);
    buf_free(&o->url);
    arena_free(&o->texts);
    free(o);
}

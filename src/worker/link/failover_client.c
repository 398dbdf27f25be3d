#include "worker/link/failover_client.h"
#include "base/mem.h"

#include <stdlib.h>

struct failover_client {
    uv_loop_t *loop;
    struct arena texts; /* of the token */
    struct str token;
    struct buf url;             /* where the client calls */
    struct http_client *client; /* owned */
    failover_client_pick *pick; /* NULL: there is no choice */
    void *arg;
    bool failed;
};

enum { URL_BYTES_MAX = 4096 };

enum rc failover_client_new(uv_loop_t *loop, struct str url, struct str token,
                            struct failover_client **ret_outlet, struct err *err)
{
    struct http_client *client;
    struct str first = str_trim(str_cut(&url, ','));
    TRY(http_client_new(loop, first, token, &client, err));
    struct failover_client *o = MEM_NEW(struct failover_client);
    o->loop = loop;
    o->token = arena_str(&o->texts, token);
    o->client = client;
    o->url = BUF(URL_BYTES_MAX);
    buf_add(&o->url, first);
    *ret_outlet = o;
    return RC_OK;
}

void failover_client_guide(struct failover_client *o, failover_client_pick *pick, void *arg)
{
    o->pick = pick;
    o->arg = arg;
}

/* Another server, if there is a better one. */
static void turn_to(struct failover_client *o, struct str url)
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

void failover_client_send(struct failover_client *o, const struct http_call *call)
{
    if (o->pick != NULL)
        turn_to(o, o->pick(o->arg, buf_str(&o->url), o->failed));
    o->failed = false;
    http_client_send(o->client, call);
}

void failover_client_failed(struct failover_client *o)
{
    o->failed = true;
}

void failover_client_abort(struct failover_client *o)
{
    http_client_abort(o->client);
}

void failover_client_free(struct failover_client *o)
{
    if (o == NULL)
        return;
    http_client_free(o->client);
    buf_free(&o->url);
    arena_free(&o->texts);
    free(o);
}

#include "worker/link/output_sender.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "wire/http/log_frame.h"
#include "worker/link/backoff.h"
#include "worker/link/failover_client.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LINGER_MS = 50, /* lines printed one by one become one piece, one upload, one row */
    UPLOAD_BYTES_MAX = 512 << 10,
    UPLOAD_TIMEOUT_MS = 10000,
    SHARE_BYTES_MAX = 1 << 20,
    SHARE_BYTES_MIN = OUTPUT_PIECE_BYTES_MAX,
    UNSENT_BYTES_MAX = 64 << 20, /* of all attempts together, about */
};

struct output_sender {
    struct failover_client *failover_client; /* owned */
    uint64_t sender_id;                      /* in whose name the upload under way is */
    struct list waiting;                     /* outputs with something ready; the next one first */
    struct list flying;                      /* pieces under way; owned */
    struct buf body;                         /* the upload, kept until it has arrived */
    bool busy;
    bool urgent;
    size_t left_bytes; /* unsent, of outputs that have left */
    struct backoff backoff;
    bool closing;
};

/* ---- what has arrived */

/* One piece is done with. Its output may be gone afterwards. */
static void land(struct output_sender *u, struct piece *take_piece)
{
    struct output *o = take_piece->output;
    size_t bytes = take_piece->bytes.len;
    output_sent(take_piece);
    if (o->left) {
        u->left_bytes -= bytes;
        if (o->unsent_bytes == 0)
            output_free(o);
    } else if (o->on_sent != NULL) {
        o->on_sent(o->arg);
    }
}

static void land_all(struct output_sender *u)
{
    struct list_node *node;
    buf_clear(&u->body);
    while ((node = list_pop_front(&u->flying)) != NULL)
        land(u, CONTAINER_OF(node, struct piece, node));
}

/* ---- sending */

static void plan(struct output_sender *u);

static void say_refused(struct str body)
{
    char text[256];
    snprintf(text, sizeof(text), "%.*s", STR_ARG(body));
    log_error("the server refuses output, which is lost", "answer", text, NULL);
}

static void on_uploaded(void *arg, const struct http_response *response, const struct err *err)
{
    struct output_sender *u = arg;
    u->busy = false;
    if (u->closing)
        return;
    if (backoff_handled(&u->backoff, response, err, STR(""))) {
        failover_client_failed(u->failover_client);
        return;
    }
    if (response->status != 204)
        say_refused(response->body);
    backoff_succeeded(&u->backoff);
    land_all(u);
    plan(u);
}

/* The first that waits, unless it was given to another than whom the upload is from. */
static struct output *next_waiting(struct output_sender *u)
{
    struct list_node *node = list_first(&u->waiting);
    if (node == NULL)
        return NULL;
    struct output *o = CONTAINER_OF(node, struct output, node);
    if (list_empty(&u->flying))
        u->sender_id = o->worker_id;
    if (o->worker_id != u->sender_id)
        return NULL;
    list_remove(node);
    return o;
}

/* A piece of each in turn; one that has more queues up again. */
static void fill(struct output_sender *u)
{
    struct output *o;
    while (u->body.len < UPLOAD_BYTES_MAX && (o = next_waiting(u)) != NULL) {
        struct piece *piece = output_take(o);
        struct log_chunk chunk = piece_chunk(piece);
        log_frame_print(&u->body, &chunk);
        list_push_back(&u->flying, &piece->node);
        if (!list_empty(&o->ready))
            list_push_back(&u->waiting, &o->node);
    }
    u->urgent = u->urgent && !list_empty(&u->waiting);
}

static void act(void *arg)
{
    struct output_sender *u = arg;
    char id[ID_TEXT_MAX];
    char target[64];
    if (u->busy)
        return;
    if (list_empty(&u->flying)) /* else the last upload is tried again as it was */
        fill(u);
    if (list_empty(&u->flying))
        return;
    id_format(id, ID_WORKER, u->sender_id);
    int len = snprintf(target, sizeof(target), "/api/v1/workers/%s/logs", id);
    u->busy = true;
    failover_client_send(u->failover_client, &(struct http_call){
                                                 .method = "POST",
                                                 .target = str_of(target, (size_t)len),
                                                 .content_type = LOG_FRAME_TYPE,
                                                 .body = buf_str(&u->body),
                                                 .timeout_ms = UPLOAD_TIMEOUT_MS,
                                                 .on_done = on_uploaded,
                                                 .arg = u,
                                             });
}

/* Uploads soon; the first who asks decides when, and later ones do not put it off. */
static void plan(struct output_sender *u)
{
    if (u->busy || list_empty(&u->waiting))
        return;
    if (u->urgent)
        backoff_in(&u->backoff, 0);
    else if (!uv_is_active((uv_handle_t *)&u->backoff.timer))
        backoff_in(&u->backoff, LINGER_MS);
}

/* ---- the public face */

enum rc output_sender_new(uv_loop_t *loop, struct str url, struct str token,
                          struct output_sender **ret_uplink, struct err *err)
{
    struct failover_client *failover_client;
    TRY(failover_client_new(loop, url, token, &failover_client, err));
    struct output_sender *u = MEM_NEW(struct output_sender);
    u->failover_client = failover_client;
    u->body = BUF(UPLOAD_BYTES_MAX + 2 * OUTPUT_PIECE_BYTES_MAX);
    list_init(&u->waiting);
    list_init(&u->flying);
    backoff_init(&u->backoff, loop, act, u);
    u->backoff.quiet = true; /* the poller talks to the same server, and says how it is */
    *ret_uplink = u;
    return RC_OK;
}

struct failover_client *output_sender_link(struct output_sender *u)
{
    return u->failover_client;
}

/* Gives up everything that was not sent. */
static void drop_all(struct output_sender *u)
{
    struct list_node *node;
    failover_client_abort(u->failover_client);
    while ((node = list_pop_front(&u->waiting)) != NULL) {
        struct output *o = CONTAINER_OF(node, struct output, node);
        for (struct piece *piece; (piece = output_take(o)) != NULL;)
            list_push_back(&u->flying, &piece->node);
    }
    land_all(u);
}

static void on_closed(uv_handle_t *handle)
{
    struct output_sender *u = handle->data;
    buf_free(&u->body);
    free(u);
}

void output_sender_free(struct output_sender *u)
{
    if (u == NULL)
        return;
    u->closing = true;
    drop_all(u);
    failover_client_free(u->failover_client);
    backoff_close(&u->backoff, on_closed, u);
}

void output_sender_offer(struct output_sender *u, struct output *output, bool urgent)
{
    if (list_empty(&output->ready))
        return;
    if (!list_linked(&output->node))
        list_push_back(&u->waiting, &output->node);
    u->urgent |= urgent || output->unsent_bytes > UPLOAD_BYTES_MAX;
    plan(u);
}

/* Of one that has left too much, or too many, nothing more is kept. */
static void drop_ready(struct output_sender *u, struct output *o)
{
    char exec_id[ID_TEXT_MAX];
    log_warn("output of an attempt was dropped: too much of it could not be sent", "execution_id",
             id_format(exec_id, ID_EXEC, o->exec_id).ptr, NULL);
    list_remove(&o->node);
    for (struct piece *piece; (piece = output_take(o)) != NULL;) {
        u->left_bytes -= piece->bytes.len;
        output_sent(piece);
    }
}

void output_sender_leave(struct output_sender *u, struct output *take_output)
{
    take_output->left = true;
    take_output->on_sent = NULL;
    u->left_bytes += take_output->unsent_bytes;
    if (u->left_bytes > UNSENT_BYTES_MAX)
        drop_ready(u, take_output);
    if (take_output->unsent_bytes == 0)
        output_free(take_output);
    else
        output_sender_offer(u, take_output, true);
}

size_t output_sender_share(size_t running)
{
    size_t share = UNSENT_BYTES_MAX / (running > 0 ? running : 1);
    if (share > SHARE_BYTES_MAX)
        return SHARE_BYTES_MAX;
    return share < SHARE_BYTES_MIN ? SHARE_BYTES_MIN : share;
}

bool output_sender_is_idle(const struct output_sender *u)
{
    return list_empty(&u->waiting) && list_empty(&u->flying);
}

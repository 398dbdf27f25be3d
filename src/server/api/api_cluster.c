/* api_cluster.c - the servers that share a store: which are there, and what each owns since
 * when. */
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/cluster/membership.h"
#include "server/turn/decider.h"
#include "wire/message/cluster_json.h"

enum { ANSWER_BYTES_MAX = 1 << 20 };

static struct str status_of(struct membership *m, const struct node_rec *node)
{
    if (m != NULL && membership_sees_silent(m, node->start))
        return STR("silent");
    return node->draining ? STR("draining") : STR("active");
}

static const struct node_rec *node_of(const struct cluster_view *v, struct str start)
{
    for (size_t n = 0; n < v->node_count; n++) {
        if (str_eq(v->nodes[n].start, start))
            return &v->nodes[n];
    }
    return NULL;
}

static uint32_t count_owned(const struct cluster_view *v, struct str start)
{
    uint32_t count = 0;
    for (size_t p = 0; p < v->partition_count; p++)
        count += str_eq(v->partitions[p].owner, start);
    return count;
}

static void put_nodes(struct json_writer *w, struct membership *m, const struct cluster_view *v,
                      struct str me)
{
    json_key(w, "nodes");
    json_open_array(w);
    for (size_t n = 0; n < v->node_count; n++) {
        const struct node_rec *node = &v->nodes[n];
        node_view_print(w, &(struct node_view){
                               .name = node->name,
                               .address = node->address,
                               .version = node->version,
                               .status = status_of(m, node),
                               .is_me = str_eq(node->start, me),
                               .partitions = count_owned(v, node->start),
                               .skew_ms = node->clock_ms - node->seen_ms,
                               .started_ms = node->started_ms,
                               .seen_ms = node->seen_ms,
                           });
    }
    json_close_array(w);
}

static void put_partitions(struct json_writer *w, const struct cluster_view *v)
{
    json_key(w, "partitions");
    json_open_array(w);
    for (size_t p = 0; p < v->partition_count; p++) {
        const struct partition_rec *rec = &v->partitions[p];
        const struct node_rec *owner = node_of(v, rec->owner);
        partition_view_print(w, &(struct partition_view){
                                    .partition = (uint32_t)p,
                                    .owner = owner == NULL ? STR("") : owner->name,
                                    .epoch = rec->epoch,
                                    .since_ms = rec->since_ms,
                                });
    }
    json_close_array(w);
}

/* Each server counts the steps that it went along with itself. */
static void put_clock(struct json_writer *w)
{
    struct timeline_steps jumps = clock_steps();
    json_key(w, "clock");
    json_open(w);
    json_put_int(w, "jumps", (int64_t)jumps.count);
    json_put_int(w, "last_jump_ms", jumps.by_ms);
    json_put_when(w, "last_jump_at", jumps.at_ms);
    json_close(w);
}

static void answer(struct request *r, const struct cluster_view *v, struct str me, int64_t lease_ms)
{
    r->body = BUF(ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_put_bool(&w, "clustered", r->server->membership != NULL);
    json_put_when(&w, "time", v->now_ms);
    json_put_int(&w, "node_lease_ms", lease_ms);
    put_clock(&w);
    put_nodes(&w, r->server->membership, v, me);
    put_partitions(&w, v);
    json_close(&w);
    request_answer_body(r, 200);
}

/* A server that has its store for itself. */
static void answer_alone(struct request *r)
{
    int64_t now_ms = clock_wall_ms();
    struct node_rec node = {
        .name = STR("this server"),
        .start = STR("-"),
        .version = STR(BELFRY_VERSION),
        .draining = atomic_load(&r->server->draining),
        .started_ms = r->server->started_ms,
        .seen_ms = now_ms,
        .clock_ms = now_ms,
    };
    struct partition_rec partition = {
        .epoch = 1, .owner = STR("-"), .since_ms = r->server->started_ms};
    const struct cluster_view view = {
        .now_ms = now_ms,
        .nodes = &node,
        .node_count = 1,
        .partitions = &partition,
        .partition_count = 1,
    };
    answer(r, &view, node.start, (int64_t)r->server->options->node_lease_ms);
}

void api_cluster(struct request *r)
{
    struct cluster_view view;
    struct node_rec me;
    if (!request_no_params(r))
        return;
    if (r->server->membership == NULL) {
        answer_alone(r);
        return;
    }
    membership_look(r->server->membership, r->arena, &view, &me);
    answer(r, &view, me.start, membership_lease_ms(r->server->membership));
}

void api_cluster_mail(struct request *r)
{
    decider_nudge(r->server->decider);
    request_answer_empty(r, 204);
}

void api_cluster_wake(struct request *r)
{
    if (r->server->membership != NULL)
        membership_wake(r->server->membership);
    decider_nudge(r->server->decider);
    request_answer_empty(r, 204);
}

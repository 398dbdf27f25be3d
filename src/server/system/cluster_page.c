/* cluster_page.c - the servers that share a store: which are there, what each owns since when, how
 * fast it commits, and what has happened to them lately. */
#include "loop/clock.h"
#include "server/cluster/incidents.h"
#include "server/cluster/membership.h"
#include "server/cluster/takeovers.h"
#include "server/system/merged.h"
#include "server/system/system.h"
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

/* Of this server; the others tell theirs. */
static struct commits_view own_commits(const struct server *s)
{
    struct sketch sketch;
    decider_commit_times(s->decider, &sketch);
    return (struct commits_view){
        .count = sketch.total,
        .p50_us = sketch_quantile(&sketch, 500),
        .p99_us = sketch_quantile(&sketch, 990),
    };
}

static void put_nodes(struct json_writer *w, const struct server *s, const struct cluster_view *v,
                      struct str me)
{
    struct commits_view commits = own_commits(s);
    json_key(w, "nodes");
    json_open_array(w);
    for (size_t n = 0; n < v->node_count; n++) {
        const struct node_rec *node = &v->nodes[n];
        bool is_me = str_eq(node->start, me);
        node_view_print(w, &(struct node_view){
                               .name = node->name,
                               .address = node->address,
                               .version = node->version,
                               .status = status_of(s->membership, node),
                               .is_me = is_me,
                               .partitions = count_owned(v, node->start),
                               .skew_ms = node->clock_ms - node->seen_ms,
                               .started_ms = node->started_ms,
                               .seen_ms = node->seen_ms,
                               .commits = is_me ? &commits : NULL,
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
                                    .former = takeovers_server_name(v, rec->former),
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

/* ---- what this server has lived through */

static void put_takeovers(struct json_writer *w, struct request *r, struct str me)
{
    struct takeover *list;
    size_t count = incidents_takeovers(r->server->incidents, r->arena, &list);
    json_key(w, "takeovers");
    json_open_array(w);
    for (size_t i = 0; i < count; i++)
        takeover_view_print(w, &(struct takeover_view){
                                   .at_ms = list[i].at_ms,
                                   .to = me,
                                   .from = str_c(list[i].from),
                                   .why = takeover_why_name(list[i].why),
                                   .partitions = list[i].partitions,
                               });
    json_close_array(w);
}

static void put_outages(struct json_writer *w, struct request *r, struct str me)
{
    struct store_outage *list;
    size_t count = incidents_outages(r->server->incidents, r->arena, &list);
    json_key(w, "outages");
    json_open_array(w);
    for (size_t i = 0; i < count; i++)
        outage_view_print(w, &(struct outage_view){
                                 .server = me,
                                 .from_ms = list[i].from_ms,
                                 .until_ms = list[i].until_ms,
                                 .code = str_c(rc_name(list[i].why.rc)),
                                 .error = str_c(list[i].why.text),
                             });
    json_close_array(w);
}

static void answer(struct request *r, const struct cluster_view *v, const struct node_rec *me,
                   int64_t lease_ms)
{
    r->body = BUF(ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_put_str(&w, "server", me->name);
    json_put_bool(&w, "clustered", r->server->membership != NULL);
    json_put_when(&w, "time", v->now_ms);
    json_put_int(&w, "node_lease_ms", lease_ms);
    put_clock(&w);
    put_nodes(&w, r->server, v, me->start);
    put_partitions(&w, v);
    put_takeovers(&w, r, me->name);
    put_outages(&w, r, me->name);
    json_close(&w);
    merged_answer_part(r);
}

/* A server that has its store for itself. */
static void answer_alone(struct request *r)
{
    int64_t now_ms = clock_wall_ms();
    struct node_rec node = {
        .name = merged_own_name(r),
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
    answer(r, &view, &node, (int64_t)r->server->options->node_lease_ms);
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
    answer(r, &view, &me, membership_lease_ms(r->server->membership));
}

/* ---- side by side */

/* What a server says about its own commits; NULL: it said nothing. */
static const struct json *commits_of(const struct json *docs, size_t count, struct str name)
{
    size_t nodes;
    const struct json *part = merged_part_of(docs, count, name);
    const struct json *items = part == NULL ? NULL : merged_items(part, STR("nodes"), &nodes);
    for (size_t i = 0; items != NULL && i < nodes; i++) {
        if (str_eq(merged_text(&items[i], STR("name")), name))
            return json_get(&items[i], STR("commits"));
    }
    return NULL;
}

static void put_node(struct json_writer *w, const struct json *node, const struct json *docs,
                     size_t count)
{
    const struct json *commits = commits_of(docs, count, merged_text(node, STR("name")));
    json_open(w);
    for (size_t i = 0; i < node->count; i++) {
        const struct json_member *m = &node->members[i];
        bool replaced = commits != NULL && str_eq(m->key, STR("commits"));
        json_key_str(w, m->key);
        json_raw(w, replaced ? commits->raw : m->value.raw);
    }
    json_close(w);
}

static void merge_nodes(struct json_writer *w, const struct json *docs, size_t count)
{
    size_t nodes;
    const struct json *items = merged_items(&docs[0], STR("nodes"), &nodes);
    json_key(w, "nodes");
    json_open_array(w);
    for (size_t i = 0; i < nodes; i++)
        put_node(w, &items[i], docs, count);
    json_close_array(w);
}

/* Each part is sorted already: the newest hundred of all, by the time under `when`. */
static void merge_newest(struct json_writer *w, const char *key, const char *when,
                         const struct json *docs, size_t count, struct arena *arena)
{
    size_t *next = ARENA_ARRAY(arena, size_t, count);
    json_key(w, key);
    json_open_array(w);
    for (size_t shown = 0; shown < INCIDENTS_KEPT; shown++) {
        const struct json *newest = NULL;
        size_t from = 0;
        for (size_t i = 0; i < count; i++) {
            size_t len;
            const struct json *items = merged_items(&docs[i], str_c(key), &len);
            bool newer = next[i] < len &&
                         (newest == NULL || str_cmp(merged_text(&items[next[i]], str_c(when)),
                                                    merged_text(newest, str_c(when))) > 0);
            if (newer)
                newest = &items[next[from = i]];
        }
        if (newest == NULL)
            break;
        json_raw(w, newest->raw);
        next[from]++;
    }
    json_close_array(w);
}

void api_cluster_merge(struct request *r, const struct json *docs, size_t count)
{
    static const char *const own[] = {"server", "clustered", "time", "node_lease_ms", "clock"};
    buf_free(&r->body);
    r->body = BUF(ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    for (size_t i = 0; i < COUNT_OF(own); i++) {
        const struct json *value = json_get(&docs[0], str_c(own[i]));
        if (value != NULL)
            json_put_raw(&w, own[i], value->raw);
    }
    merge_nodes(&w, docs, count);
    const struct json *partitions = json_get(&docs[0], STR("partitions"));
    if (partitions != NULL)
        json_put_raw(&w, "partitions", partitions->raw);
    merge_newest(&w, "takeovers", "at", docs, count, r->arena);
    merge_newest(&w, "outages", "from", docs, count, r->arena);
    merged_put_missing(&w, r, docs, count);
    json_close(&w);
    request_answer_body(r, 200);
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

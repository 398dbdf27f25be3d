/* api_explain.c - why a job or an execution does not run, and which jobs wait for each other. */
#include "base/map.h"
#include "base/vec.h"
#include "server/api/api.h"
#include "server/view/job_view.h"
#include "server/view/job_warnings.h"
#include "wire/message/explain_json.h"
#include "wire/spec/spec_json.h"

#include <stdlib.h>

/* On a query thread: the engine has said what blocks it, the job's runs tell what else is odd. */
static void look_explained(struct request *r, struct reader *reader)
{
    struct job_rec job;
    struct spec spec;
    struct err ignored;
    struct warning *warnings = NULL;
    size_t count = 0;
    r->rc = reader->ops->job(reader, r->cmd.reply.job_id, r->arena, &job, &r->err);
    if (r->rc == RC_OK && spec_read(job.spec, r->arena, &spec, &ignored) == RC_OK)
        r->rc = job_warnings_read(reader, job.id, &spec, r->arena, &warnings, &count, &r->err);
    if (r->rc != RC_OK)
        return;
    struct json_writer w = JSON_WRITER(&r->body);
    explanation_print(&w, &r->cmd, warnings, count);
}

static void answer_explained(struct request *r)
{
    request_to_query(r, look_explained);
}

void api_explanation(struct request *r)
{
    if (request_target(r))
        request_to_turn(r, answer_explained);
}

/* ---- jobs that wait for each other */

enum {
    GRAPH_DEPTH_USUAL = 3,
    GRAPH_DEPTH_MAX = 10,
    GRAPH_NODES_MAX = 200,
    GRAPH_HIDDEN_MAX = 1000, /* counted, beside those that are shown */
    GRAPH_READ_MAX = GRAPH_NODES_MAX + GRAPH_HIDDEN_MAX + 1, /* of one job */
};

enum graph_side { GRAPH_UP = 1, GRAPH_DOWN = 2 }; /* a job of a circle may be on both */

struct graph_node {
    uint64_t id;
    int64_t distance[GRAPH_DOWN + 1]; /* upstream and downstream; 0: not on that side */
    bool shown;
};

/* From one job to all that it waits for, and to all that wait for it, and to theirs. A job that
 * was seen is not looked at again, so a circle, which the engine refuses, would end here, too. */
struct graph {
    uint64_t root;
    uint64_t depth;
    VEC(struct graph_node *) nodes;   /* shown; those that were found first come first */
    VEC(struct dependency_rec) edges; /* between any */
    struct map by_id;                 /* of struct graph_node */
    size_t hidden;
    bool cut; /* there may be more than were looked at */
};

static void graph_add(struct request *r, struct graph *g, uint64_t id, enum graph_side side,
                      int64_t distance)
{
    struct graph_node *node = map_get(&g->by_id, id);
    if (node == NULL) {
        node = ARENA_NEW(r->arena, struct graph_node);
        node->id = id;
        map_put(&g->by_id, id, node);
        g->hidden++;
    }
    if (node->distance[side] == 0)
        node->distance[side] = distance;
    bool near = distance <= (int64_t)g->depth + 1; /* the root is at 1 */
    if (!node->shown && near && g->nodes.len < GRAPH_NODES_MAX) {
        node->shown = true;
        g->hidden--;
        *VEC_PUSH(r->arena, &g->nodes) = node;
    }
}

/* What one job waits for, or what waits for it. */
static enum rc graph_expand(struct request *r, struct reader *reader, struct graph *g,
                            const struct graph_node *node, enum graph_side side)
{
    struct dependency_rec *found;
    size_t count;
    enum dependency_side ends = side == GRAPH_UP ? SIDE_UPSTREAMS : SIDE_DEPENDANTS;
    TRY(reader->ops->dependencies(reader, node->id, ends, GRAPH_READ_MAX, r->arena, &found, &count,
                                  &r->err));
    g->cut = g->cut || count == GRAPH_READ_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t id = side == GRAPH_UP ? found[i].upstream : found[i].dependant;
        bool is_new = map_get(&g->by_id, id) == NULL;
        g->cut = g->cut || (is_new && g->hidden == GRAPH_HIDDEN_MAX);
        if (is_new && g->hidden == GRAPH_HIDDEN_MAX)
            continue;
        graph_add(r, g, id, side, node->distance[side] + 1);
        *VEC_PUSH(r->arena, &g->edges) = found[i];
    }
    return RC_OK;
}

/* Both sides, jobs that are nearer first. Jobs that are shown last are still asked for neighbours,
 * which are counted. */
static enum rc graph_walk(struct request *r, struct reader *reader, struct graph *g)
{
    for (int64_t distance = 1; distance <= (int64_t)g->depth + 1; distance++) {
        for (size_t i = 0; i < g->nodes.len; i++) {
            const struct graph_node *node = g->nodes.items[i];
            if (node->distance[GRAPH_UP] == distance)
                TRY(graph_expand(r, reader, g, node, GRAPH_UP));
            if (node->distance[GRAPH_DOWN] == distance)
                TRY(graph_expand(r, reader, g, node, GRAPH_DOWN));
        }
    }
    return RC_OK;
}

static void put_node(struct json_writer *w, const struct job_rec *job, const struct job_view *view)
{
    json_open(w);
    json_put_id(w, "job_id", ID_JOB, job->id);
    json_put_text(w, "name", job->name);
    json_put_str(w, "status", job_state_name(job->state));
    json_put_str(w, "phase", phase_name(view->phase));
    json_put_when(w, "next_run_at", view->next_run_ms);
    json_close(w);
}

static enum rc put_nodes(struct request *r, struct reader *reader, const struct graph *g,
                         struct json_writer *w)
{
    size_t count = g->nodes.len;
    uint64_t *ids = ARENA_ARRAY(r->arena, uint64_t, count);
    struct job_rec *jobs = ARENA_ARRAY(r->arena, struct job_rec, count);
    struct job_view *views = ARENA_ARRAY(r->arena, struct job_view, count);
    for (size_t i = 0; i < count; i++)
        ids[i] = g->nodes.items[i]->id;
    TRY(reader->ops->standings(reader, ids, count, r->arena, jobs, &r->err));
    if (jobs[0].id == 0)
        return err_set(&r->err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, g->root));
    TRY(job_views_read_short(reader, jobs, count, r->arena, views, &r->err));
    json_key(w, "nodes");
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].id != 0)
            put_node(w, &jobs[i], &views[i]);
        else /* a record that makes no sense, or was deleted between two looks */
            g->nodes.items[i]->shown = false;
    }
    json_close_array(w);
    return RC_OK;
}

static int by_ends(const void *a, const void *b)
{
    const struct dependency_rec *left = a;
    const struct dependency_rec *right = b;
    if (left->upstream != right->upstream)
        return left->upstream < right->upstream ? -1 : 1;
    return left->dependant < right->dependant ? -1 : left->dependant > right->dependant;
}

static bool is_shown(const struct graph *g, uint64_t id)
{
    const struct graph_node *node = map_get(&g->by_id, id);
    return node != NULL && node->shown;
}

/* Between jobs that are shown. One may have been found from both of its ends. */
static void put_edges(struct graph *g, struct json_writer *w)
{
    if (g->edges.len > 0)
        qsort(g->edges.items, g->edges.len, sizeof *g->edges.items, by_ends);
    json_key(w, "edges");
    json_open_array(w);
    for (size_t i = 0; i < g->edges.len; i++) {
        const struct dependency_rec *edge = &g->edges.items[i];
        if ((i > 0 && by_ends(edge - 1, edge) == 0) || !is_shown(g, edge->upstream) ||
            !is_shown(g, edge->dependant))
            continue;
        json_open(w);
        json_put_id(w, "from", ID_JOB, edge->upstream);
        json_put_id(w, "to", ID_JOB, edge->dependant);
        json_put_str(w, "type", dependency_type_name(edge->type));
        json_put_str(w, "state", dependency_state_name(edge->state));
        json_put_bool(w, "satisfied", edge->state == DEPENDENCY_MET);
        json_close(w);
    }
    json_close_array(w);
}

static enum rc print_graph(struct request *r, struct reader *reader, struct graph *g)
{
    struct json_writer w = JSON_WRITER(&r->body);
    graph_add(r, g, g->root, GRAPH_UP, 1);
    graph_add(r, g, g->root, GRAPH_DOWN, 1);
    TRY(graph_walk(r, reader, g));
    json_open(&w);
    json_put_id(&w, "job_id", ID_JOB, g->root);
    TRY(put_nodes(r, reader, g, &w));
    put_edges(g, &w);
    json_put_int(&w, "hidden", (int64_t)g->hidden);
    json_put_bool(&w, "more", g->hidden > 0);
    json_put_bool(&w, "hidden_is_minimum", g->cut);
    json_close(&w);
    return RC_OK;
}

static void look_graph(struct request *r, struct reader *reader)
{
    struct graph *g = r->own;
    r->rc = print_graph(r, reader, g);
    map_free(&g->by_id);
}

void api_job_graph(struct request *r)
{
    static const char *const known[] = {"depth", NULL};
    struct graph *g = ARENA_NEW(r->arena, struct graph);
    struct field_errors errors = {0};
    struct str text;
    if (!request_params_known(r, known) || !request_path_id(r, ID_JOB, &g->root))
        return;
    g->depth = GRAPH_DEPTH_USUAL;
    if (http_request_param(r->http, STR("depth"), &text) &&
        (!str_to_u64(text, &g->depth) || g->depth < 1 || g->depth > GRAPH_DEPTH_MAX)) {
        field_error(&errors, r->arena, STR("depth"), "must be a number from 1 to %d",
                    GRAPH_DEPTH_MAX);
        request_fail_fields(r, &errors);
        return;
    }
    r->own = g;
    request_to_query(r, look_graph);
}

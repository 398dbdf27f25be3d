/* scaling.c - GET /scaling: how many slots a queue could use, for what starts and stops workers.
 *
 * Such a program takes an error for "leave it as it is", and a small number for "stop some". So a
 * sum that lacks a partition is an error, while a queue of which nothing is known is one with
 * nothing to do: a queue that is not needed any more is forgotten, and its workers can go. */
#include "server/cluster/membership.h"
#include "server/system/merged.h"
#include "server/system/system.h"
#include "wire/message/queue_json.h"

enum { RETRY_S = 1 };

static const char not_whole[] = "a part of the numbers is not known at the moment: a server gives "
                                "no answer, or partitions change hands";

struct scaling {
    struct str queue;
    bool known;
    uint64_t partitions; /* that are counted */
    bool twice;          /* one of them by two servers: it changes hands */
    int64_t ready;
    int64_t running;
    int64_t slots;
    int64_t oldest_age_ms;
    int64_t limit; /* 0: none */
    struct str as_of;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- what this server has to say */

static void count_runs(struct scaling *s, const struct stats_view *stats)
{
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *c = &stats->counters[i];
        if (!str_eq(c->queue, s->queue))
            continue;
        s->known = true;
        if (c->kind != COUNTER_EXECS)
            continue;
        if (c->state == EXEC_QUEUED)
            s->ready += c->value;
        else if (exec_is_leased((enum exec_state)c->state))
            s->running += c->value;
    }
}

static bool is_served(struct str queues, struct str queue)
{
    if (queues.len == 0)
        return true;
    while (queues.len > 0) {
        if (str_eq(str_cut(&queues, '\n'), queue))
            return true;
    }
    return false;
}

static void read_numbers(struct scaling *s, const struct stats_view *stats)
{
    count_runs(s, stats);
    for (size_t i = 0; i < stats->age_count; i++) {
        if (str_eq(stats->ages[i].queue, s->queue))
            s->oldest_age_ms = stats->ages[i].waited_ms;
    }
    for (size_t i = 0; i < stats->limit_count; i++) {
        if (!str_eq(stats->limits[i].queue, s->queue))
            continue;
        s->known = true;
        s->limit = stats->limits[i].concurrency;
    }
    for (size_t i = 0; i < stats->served_count; i++) {
        if (is_served(stats->served[i].queues, s->queue))
            s->slots += stats->served[i].slots;
    }
}

static void print_part(struct request *r)
{
    struct scaling *s = r->own;
    read_numbers(s, &r->cmd.reply.stats);
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_bool(&w, "known", s->known);
    json_put_int(&w, "partitions", (int64_t)r->cmd.reply.stats.partitions);
    json_put_when(&w, "as_of", r->cmd.reply.at_ms);
    json_put_int(&w, "ready", s->ready);
    json_put_int(&w, "running", s->running);
    json_put_int(&w, "slots", s->slots);
    json_put_int(&w, "oldest_age_ms", s->oldest_age_ms);
    json_put_int(&w, "limit", s->limit);
    json_close(&w);
    merged_answer_part(r);
}

void api_scaling(struct request *r)
{
    static const char *const known[] = {"queue", NULL};
    struct field_errors errors = {0};
    struct scaling *s = ARENA_NEW(r->arena, struct scaling);
    if (!request_params_known(r, known))
        return;
    if (!http_request_param(r->http, STR("queue"), &s->queue))
        field_error(&errors, r->arena, STR("queue"), "is required");
    else
        (void)queue_name_check(s->queue, r->arena, &errors);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return;
    }
    r->own = s;
    request_to_board(r, print_part);
}

/* ---- of all servers */

static int64_t number_of(const struct json *doc, struct str key)
{
    const struct json *value = json_get(doc, key);
    return value != NULL && value->kind == JSON_INT ? value->integer : 0;
}

static void add_part(struct scaling *s, const struct json *doc)
{
    const struct json *known = json_get(doc, STR("known"));
    uint64_t partitions = (uint64_t)number_of(doc, STR("partitions"));
    struct str as_of = merged_text(doc, STR("as_of"));
    s->known |= known != NULL && known->kind == JSON_BOOL && known->boolean;
    s->twice |= (s->partitions & partitions) != 0;
    s->partitions |= partitions;
    s->ready += number_of(doc, STR("ready"));
    s->running += number_of(doc, STR("running"));
    s->slots = larger(s->slots, number_of(doc, STR("slots"))); /* of the same workers */
    s->oldest_age_ms = larger(s->oldest_age_ms, number_of(doc, STR("oldest_age_ms")));
    s->limit = larger(s->limit, number_of(doc, STR("limit")));
    if (s->as_of.len == 0 || str_cmp(as_of, s->as_of) < 0)
        s->as_of = as_of;
}

static bool is_whole(struct request *r, const struct scaling *s)
{
    struct cluster_view view;
    struct node_rec me;
    if (r->server->membership == NULL)
        return true;
    membership_look(r->server->membership, r->arena, &view, &me);
    return !s->twice && s->partitions == partition_all((uint32_t)view.partition_count).bits;
}

static int64_t wanted_slots(const struct scaling *s)
{
    int64_t wanted = s->running + s->ready;
    return s->limit > 0 && wanted > s->limit ? s->limit : wanted;
}

void api_scaling_merge(struct request *r, const struct json *docs, size_t count)
{
    struct scaling s = {.queue = ((const struct scaling *)r->own)->queue};
    for (size_t i = 0; i < count; i++)
        add_part(&s, &docs[i]);
    buf_free(&r->body);
    if (!is_whole(r, &s)) {
        r->form.retry_s = RETRY_S;
        request_problem(r, 503, "%s", not_whole);
        return;
    }
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_str(&w, "queue", s.queue);
    json_put_int(&w, "ready", s.ready);
    json_put_int(&w, "running", s.running);
    json_put_int(&w, "slots", s.slots);
    json_put_int(&w, "oldest_age_ms", s.oldest_age_ms);
    json_put_int(&w, "wanted_slots", wanted_slots(&s));
    json_put_str(&w, "as_of", s.as_of);
    if (!s.known)
        json_put_str(&w, "note", STR("nothing is known of a queue of this name"));
    json_close(&w);
    request_answer_body(r, 200);
}

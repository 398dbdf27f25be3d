/* api_series.c - numbers over time: of the last hour from the memory of all servers, of older times
 * from the hourly numbers of reports. */
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/cluster/membership.h"
#include "server/output/output_log.h"
#include "server/output/series.h"
#include "wire/message/queue_json.h"

#include <stdlib.h>
#include <string.h>

enum {
    SERIES_BYTES_MAX = 4 << 20,
    HOUR_MS = 3600000,
    SINCE_MIN_MS = 60000,
    DAY_HOURS = 24,
    USUAL_DAYS = 14,
    USUAL_DAYS_MIN = 3,
};
#define SINCE_MAX_MS ((int64_t)USUAL_DAYS * DAY_HOURS * HOUR_MS)

/* One step, over all servers. */
struct point {
    uint64_t partitions; /* that it is about */
    int64_t value;
    bool known;
    uint32_t counts[SERIES_LAGS]; /* lags of a queue */
    struct sketch *lags;          /* of everything; NULL: none */
};

struct series_answer {
    struct series_call call;
    int64_t since_ms;
    int64_t step_ms;
    int64_t first; /* step */
    size_t count;
    struct point *points;
    bool queue_known;
};

static bool is_hourly(const struct series_answer *a)
{
    return a->since_ms > HOUR_MS;
}

static bool is_lag(const struct series_answer *a)
{
    return a->call.metric >= SERIES_VALUES;
}

/* ---- reading */

static void read_metric(struct request *r, struct series_answer *a, struct field_errors *errors)
{
    struct str text;
    if (!http_request_param(r->http, STR("metric"), &text) ||
        !series_metric_parse(text, &a->call.metric))
        field_error(errors, r->arena, STR("metric"),
                    "must be depth, oldest_age, running, submitted, started, completed, failed, "
                    "start_lag_p50 or start_lag_p99");
}

static void read_since(struct request *r, struct series_answer *a, struct field_errors *errors)
{
    struct str text;
    struct err err;
    a->since_ms = HOUR_MS;
    if (!http_request_param(r->http, STR("since"), &text))
        return;
    if (duration_parse(text, &a->since_ms, &err) != RC_OK)
        field_error(errors, r->arena, STR("since"), "%s", err.text);
    else if (a->since_ms < SINCE_MIN_MS || a->since_ms > SINCE_MAX_MS)
        field_error(errors, r->arena, STR("since"), "must be between 1m and 14d");
}

static struct series_answer *read_call(struct request *r)
{
    static const char *const known[] = {"metric", "queue", "since", NULL};
    struct series_answer *a = ARENA_NEW(r->arena, struct series_answer);
    struct field_errors errors = {0};
    if (!request_params_known(r, known))
        return NULL;
    read_metric(r, a, &errors);
    read_since(r, a, &errors);
    if (http_request_param(r->http, STR("queue"), &a->call.queue))
        (void)queue_name_check(a->call.queue, r->arena, &errors);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return NULL;
    }
    bool by_minute = is_lag(a) && a->call.queue.len > 0;
    a->step_ms = is_hourly(a) ? HOUR_MS : by_minute ? 60000 : SERIES_STEP_MS;
    a->count = (size_t)(a->since_ms / a->step_ms);
    a->points = ARENA_ARRAY(r->arena, struct point, a->count);
    return a;
}

/* ---- adding servers up */

static int64_t int_at(const struct json *row, size_t i)
{
    return i < row->count && row->items[i].kind == JSON_INT ? row->items[i].integer : 0;
}

static void add_lags(struct series_answer *a, struct point *p, const struct json *row,
                     struct arena *arena)
{
    bool queue = a->call.queue.len > 0;
    if (!queue && p->lags == NULL)
        p->lags = ARENA_NEW(arena, struct sketch);
    for (size_t i = 2; i + 1 < row->count; i += 2) {
        size_t bucket = (size_t)int_at(row, i);
        uint32_t count = (uint32_t)int_at(row, i + 1);
        if (!queue)
            sketch_put(p->lags, bucket, count);
        else if (bucket < SERIES_LAGS)
            p->counts[bucket] += count;
    }
}

static void add_row(struct series_answer *a, const struct json *row, struct arena *arena)
{
    int64_t step = int_at(row, 0) * SERIES_STEP_MS / a->step_ms - a->first;
    if (row->kind != JSON_ARRAY || step < 0 || step >= (int64_t)a->count)
        return;
    struct point *p = &a->points[step];
    int64_t value = int_at(row, 2);
    p->partitions |= (uint64_t)int_at(row, 1);
    if (is_lag(a))
        add_lags(a, p, row, arena);
    else if (a->call.metric != SERIES_OLDEST_AGE)
        p->value += value;
    else if (value > p->value)
        p->value = value;
}

static const struct json *rows_of(const struct json *doc)
{
    static const struct json none = {.kind = JSON_ARRAY};
    const struct json *rows = json_get(doc, STR("rows"));
    return rows != NULL && rows->kind == JSON_ARRAY ? rows : &none;
}

/* The newest step that somebody has closed is the last: the one after it is no gap. */
static int64_t newest_step(const struct series_answer *a, const struct json *docs, size_t count)
{
    int64_t newest = clock_wall_ms() / a->step_ms - 2;
    for (size_t i = 0; i < count; i++) {
        const struct json *rows = rows_of(&docs[i]);
        if (rows->count == 0)
            continue;
        int64_t step = int_at(&rows->items[rows->count - 1], 0) * SERIES_STEP_MS / a->step_ms;
        if (step > newest)
            newest = step;
    }
    return newest;
}

static uint64_t all_partitions(struct request *r)
{
    struct cluster_view view;
    struct node_rec me;
    if (r->server->membership == NULL)
        return 1;
    membership_look(r->server->membership, r->arena, &view, &me);
    return partition_all((uint32_t)view.partition_count).bits;
}

static uint64_t lag_of_queue(const struct point *p, uint64_t permille)
{
    uint64_t total = 0;
    uint64_t seen = 0;
    for (size_t i = 0; i < SERIES_LAGS; i++)
        total += p->counts[i];
    for (size_t i = 0; i < SERIES_LAGS; i++) {
        seen += p->counts[i];
        if (seen > 0 && seen * 1000 >= total * permille)
            return (uint64_t)series_lag_ms(i);
    }
    return UINT64_MAX;
}

/* Without a start there is no lag. */
static void find_lag(const struct series_answer *a, struct point *p)
{
    uint32_t permille = a->call.metric == SERIES_LAG_P50 ? 500 : 990;
    uint64_t lag_ms = UINT64_MAX;
    if (a->call.queue.len > 0)
        lag_ms = lag_of_queue(p, permille);
    else if (p->lags != NULL && p->lags->total > 0)
        lag_ms = sketch_quantile(p->lags, permille);
    p->known = p->known && lag_ms != UINT64_MAX;
    p->value = p->known ? (int64_t)lag_ms : 0;
}

static void add_up(struct request *r, struct series_answer *a, const struct json *docs,
                   size_t count)
{
    uint64_t all = all_partitions(r);
    a->first = newest_step(a, docs, count) - (int64_t)a->count + 1;
    for (size_t i = 0; i < count; i++) {
        const struct json *rows = rows_of(&docs[i]);
        const struct json *known = json_get(&docs[i], STR("known"));
        a->queue_known |= known != NULL && known->kind == JSON_BOOL && known->boolean;
        for (size_t k = 0; k < rows->count; k++)
            add_row(a, &rows->items[k], r->arena);
    }
    for (size_t i = 0; i < a->count; i++) {
        struct point *p = &a->points[i];
        p->known = p->partitions == all;
        if (is_lag(a))
            find_lag(a, p);
    }
}

/* ---- from reports; on a query thread */

static enum rc read_hours(struct reader *reader, const struct series_answer *a, int64_t from,
                          int64_t until, int64_t *ret_count, bool *ret_any, struct err *err)
{
    bool queue = a->call.queue.len > 0;
    struct tally_sum sum;
    TRY(reader->ops->tally(reader, queue ? TALLY_QUEUE : TALLY_ALL, &a->call.queue, 1, from, until,
                           &sum, err));
    uint64_t done = sum.completed + sum.deduplicated;
    *ret_count = (int64_t)(a->call.metric == SERIES_FAILED ? sum.failed : done);
    *ret_any = sum.failed + done > 0;
    return RC_OK;
}

static bool is_tallied(const struct series_answer *a)
{
    return a->call.metric == SERIES_COMPLETED || a->call.metric == SERIES_FAILED;
}

static enum rc read_points(struct reader *reader, struct series_answer *a, struct err *err)
{
    a->first = clock_wall_ms() / HOUR_MS - (int64_t)a->count + 1;
    for (size_t i = 0; i < a->count && is_tallied(a); i++) {
        int64_t hour = a->first + (int64_t)i;
        bool any;
        TRY(read_hours(reader, a, hour, hour + 1, &a->points[i].value, &any, err));
        a->points[i].known = true;
        a->queue_known |= any;
    }
    return RC_OK;
}

static int by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

/* The median of this hour of the day; -1: of fewer than three days something is known. */
static enum rc read_usual(struct reader *reader, const struct series_answer *a, int64_t *ret_usual,
                          struct err *err)
{
    int64_t counts[USUAL_DAYS];
    size_t days = 0;
    int64_t hour = clock_wall_ms() / HOUR_MS;
    *ret_usual = -1;
    for (int64_t day = 1; day <= USUAL_DAYS && is_tallied(a); day++) {
        int64_t at = hour - day * DAY_HOURS;
        int64_t ignored;
        bool any;
        TRY(read_hours(reader, a, at - DAY_HOURS / 2, at + DAY_HOURS / 2, &ignored, &any, err));
        if (!any)
            continue; /* nothing happened all day long: the server was not there */
        TRY(read_hours(reader, a, at, at + 1, &counts[days++], &any, err));
    }
    if (days < USUAL_DAYS_MIN)
        return RC_OK;
    qsort(counts, days, sizeof *counts, by_size);
    *ret_usual = (counts[(days - 1) / 2] + counts[days / 2]) / 2;
    return RC_OK;
}

static void put_points(struct json_writer *w, const struct series_answer *a)
{
    json_key(w, "points");
    json_open_array(w);
    for (size_t i = 0; i < a->count; i++) {
        json_open(w);
        json_put_when(w, "at", (a->first + (int64_t)i) * a->step_ms);
        if (a->points[i].known && (a->call.queue.len == 0 || a->queue_known))
            json_put_int(w, "value", a->points[i].value);
        else
            json_put_null(w, "value");
        json_close(w);
    }
    json_close_array(w);
}

static enum rc print_series(struct request *r, struct reader *reader, struct series_answer *a,
                            struct err *err)
{
    struct json_writer w = JSON_WRITER(&r->body);
    int64_t usual;
    int64_t ignored;
    if (is_hourly(a))
        TRY(read_points(reader, a, err));
    TRY(read_usual(reader, a, &usual, err));
    int64_t hour = clock_wall_ms() / HOUR_MS;
    if (a->call.queue.len > 0 && !a->queue_known)
        TRY(read_hours(reader, a, hour - (int64_t)USUAL_DAYS * DAY_HOURS, hour + 1, &ignored,
                       &a->queue_known, err));
    json_open(&w);
    json_put_str(&w, "metric", series_metric_name(a->call.metric));
    json_put_text(&w, "queue", a->call.queue);
    json_put_int(&w, "step_ms", a->step_ms);
    json_put_when(&w, "from", a->first * a->step_ms);
    json_put_when(&w, "until", (a->first + (int64_t)a->count) * a->step_ms);
    put_points(&w, a);
    if (usual >= 0)
        json_put_int(&w, "usual_per_hour", usual);
    else
        json_put_null(&w, "usual_per_hour");
    if (a->call.queue.len > 0 && !a->queue_known)
        json_put_str(&w, "note", STR("nothing is known of a queue of this name"));
    json_close(&w);
    return RC_OK;
}

static void look_series(struct request *r, struct reader *reader)
{
    r->rc = print_series(r, reader, r->own, &r->err);
}

/* ---- the call */

void api_series_merge(struct request *r, const struct json *docs, size_t count)
{
    struct series_answer *a = r->own;
    if (!is_hourly(a))
        add_up(r, a, docs, count);
    buf_free(&r->body);
    request_to_query(r, look_series);
}

/* What this server has to say: all there is, unless others are asked, too. */
static void answer_own(struct request *r)
{
    struct json doc;
    struct err err;
    if (r->by_server || r->gathering != NULL)
        request_answer_body(r, 200);
    else if (json_parse(arena_str(r->arena, buf_str(&r->body)), r->arena, &doc, &err) == RC_OK)
        api_series_merge(r, &doc, 1);
    else
        request_fail(r, err.rc, err.text);
}

void api_series(struct request *r)
{
    struct series_answer *a = read_call(r);
    if (a == NULL)
        return;
    r->own = a;
    r->body = BUF(SERIES_BYTES_MAX);
    if (is_hourly(a)) { /* the store knows it all */
        buf_add(&r->body, STR("{\"known\":false,\"rows\":[]}"));
        answer_own(r);
        return;
    }
    r->series = &a->call;
    request_to_output_log(r, output_log_series, answer_own);
}

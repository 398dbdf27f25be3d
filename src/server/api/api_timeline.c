/* api_timeline.c - what ran in a stretch of time and what will run: lanes of bars for pictures.
 *
 * However much ran, the answer is bounded, and so is what it costs: rows that are looked at, bars,
 * lanes and runs ahead have limits, and the answer says what is not in it. What ran is kept for two
 * seconds, what will run for a minute. */
#include "base/id.h"
#include "loop/clock.h"
#include "loop/kept.h"
#include "server/api/api.h"
#include "server/api/coming.h"
#include "server/api/gantt.h"
#include "wire/spec/spec_json.h"

#include <inttypes.h>

enum {
    BARS_DEFAULT = 500,
    BARS_MAX = 2000,
    LANES_SHOWN_MAX = 100,
    SCAN_MAX = 120000,   /* rows in each place: 100,000 executions in a day, and some */
    SLOTS_MAX = 200000,  /* ahead: a tenth of a second */
    PAST_JOBS_MAX = 300, /* that are asked how long they take */
    PAST_DAYS = 7,
    JOBS_AT_ONCE = 500,
    SPAN_DAYS_MAX = 31,
};

static const int64_t MINUTE_MS = 60000;
static const int64_t HOUR_MS = 3600000;
static const int64_t DAY_MS = 86400000;
static const struct words by_words =
    WORDS([GANTT_BY_QUEUE] = "queue", [GANTT_BY_WORKER] = "worker");

/* Of the job of a bar, … */
struct job_facts {
    struct str name;
    int64_t stagger_ms; /* its share */
};

/* … and of one with runs ahead. */
struct median {
    int64_t ms; /* half of its runs took at most that; 0: unknown */
};

struct timeline_call {
    struct coming coming; /* first: it is what runs are told */
    struct gantt t;
    struct gantt_ahead ahead;
    struct str queue;
    uint64_t worker_id; /* 0: all */
    struct field_errors errors;
    struct map jobs;    /* struct job_facts by id */
    struct map medians; /* struct median by id */
};

/* ---- what ran */

static void tell_ran(void *arg, const struct ran_rec *ran)
{
    struct timeline_call *q = arg;
    if ((q->queue.len == 0 || str_eq(q->queue, ran->queue)) &&
        (q->worker_id == 0 || q->worker_id == ran->worker_id))
        gantt_add(&q->t, ran);
}

static int64_t stagger_of(const struct job_rec *job)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct spec spec;
    if (job->id == 0 || spec_read(job->spec, &scratch, &spec, NULL) != RC_OK)
        return 0;
    return schedule_stagger_ms(job->id, spec.stagger_ms);
}

static enum rc read_jobs(struct request *r, struct reader *reader, struct timeline_call *q,
                         const uint64_t *ids, size_t count)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct job_rec *jobs = ARENA_ARRAY(&scratch, struct job_rec, count + 1);
    TRY(reader->ops->standings(reader, ids, count, &scratch, jobs, &r->err));
    for (size_t i = 0; i < count; i++) {
        struct job_facts *facts = map_get(&q->jobs, ids[i]);
        facts->name = arena_str(r->arena, jobs[i].name);
        facts->stagger_ms = stagger_of(&jobs[i]);
    }
    return RC_OK;
}

/* Names and staggers of the jobs of all bars. */
static enum rc find_jobs(struct request *r, struct reader *reader, struct timeline_call *q)
{
    uint64_t ids[JOBS_AT_ONCE];
    size_t count = 0;
    for (size_t i = 0; i < q->t.bars.len; i++) {
        uint64_t id = q->t.bars.items[i].ran.job_id;
        if (map_get(&q->jobs, id) != NULL)
            continue;
        map_put(&q->jobs, id, ARENA_NEW(r->arena, struct job_facts));
        ids[count++] = id;
        if (count == JOBS_AT_ONCE) {
            TRY(read_jobs(r, reader, q, ids, count));
            count = 0;
        }
    }
    return count == 0 ? RC_OK : read_jobs(r, reader, q, ids, count);
}

static void put_id_or_null(struct json_writer *w, const char *key, const char *prefix, uint64_t id)
{
    if (id != 0)
        json_put_id(w, key, prefix, id);
    else
        json_put_null(w, key);
}

static void put_bar(struct timeline_call *q, struct json_writer *w, const struct ran_rec *ran)
{
    const struct job_facts *job = map_get(&q->jobs, ran->job_id);
    json_open(w);
    json_put_id(w, "execution_id", ID_EXEC, ran->id);
    json_put_id(w, "job_id", ID_JOB, ran->job_id);
    json_put_text(w, "job_name", job->name);
    json_put_str(w, "status", exec_state_name(ran->state));
    json_put_str(w, "queue", ran->queue);
    put_id_or_null(w, "worker_id", ID_WORKER, ran->worker_id);
    json_put_when(w, "due_at", gantt_due_ms(ran, job->stagger_ms));
    json_put_when(w, "started_at", ran->started_ms);
    json_put_when(w, "finished_at", ran->finished_ms);
    json_put_int(w, "attempts", ran->starts);
    json_close(w);
}

static void put_rest(const struct timeline_call *q, struct json_writer *w,
                     const struct gantt_lane *lane)
{
    json_key(w, "rest");
    json_open_array(w);
    for (size_t i = 0; i < GANTT_STEPS; i++) {
        const struct gantt_cell *cell = &lane->rest[i];
        if (cell->executions == 0)
            continue;
        json_open(w);
        json_put_when(w, "at",
                      q->t.from_ms + (int64_t)i * gantt_step_ms(q->t.from_ms, q->t.until_ms));
        json_put_int(w, "executions", cell->executions);
        json_put_int(w, "failed", cell->failed);
        json_close(w);
    }
    json_close_array(w);
}

/* Bars of lanes that are left out are never asked for. */
static void put_lane(struct timeline_call *q, struct json_writer *w, const struct gantt_lane *lane,
                     size_t *shown)
{
    json_open(w);
    if (q->t.by == GANTT_BY_QUEUE)
        json_put_str(w, "queue", lane->queue);
    else
        put_id_or_null(w, "worker_id", ID_WORKER, lane->worker_id);
    json_put_int(w, "executions", (int64_t)lane->executions);
    json_put_int(w, "failed", (int64_t)lane->failed);
    json_key(w, "bars");
    json_open_array(w);
    for (size_t i = 0; i < q->t.bars.len; i++) {
        if (q->t.bars.items[i].lane != lane)
            continue;
        put_bar(q, w, &q->t.bars.items[i].ran);
        (*shown)++;
    }
    json_close_array(w);
    put_rest(q, w, lane);
    json_close(w);
}

static void put_past(struct timeline_call *q, struct json_writer *w, size_t lanes, bool whole)
{
    size_t shown = 0;
    json_key(w, "lanes");
    json_open_array(w);
    for (size_t i = 0; i < q->t.lanes.len; i++)
        put_lane(q, w, q->t.lanes.items[i], &shown);
    json_close_array(w);
    json_put_int(w, "lane_count", (int64_t)lanes);
    json_put_int(w, "executions", (int64_t)q->t.executions);
    json_put_int(w, "shown", (int64_t)shown);
    json_put_int(w, "left_out", (int64_t)q->t.left_out);
    json_put_bool(w, "truncated", !whole);
}

/* ---- what will run */

static void tell_coming(struct coming *c, const struct sorted_job *run, int64_t due_ms,
                        enum verdict verdict)
{
    struct timeline_call *q = (struct timeline_call *)(void *)c;
    struct gantt_run ahead = {.job_id = run->job.id,
                              .job_name = run->job.name,
                              .queue = run->exec.queue,
                              .at_ms = due_ms,
                              .held = verdict == CALENDAR_HOLDS};
    if (verdict != CALENDAR_SKIPS)
        gantt_ahead_add(&q->ahead, &ahead);
}

/* How long half of a job's runs of the last days took at most; 0: nobody knows. */
static enum rc find_p50(struct request *r, struct reader *reader, struct timeline_call *q,
                        uint64_t job_id, int64_t *ret_p50_ms)
{
    struct median *median = map_get(&q->medians, job_id);
    *ret_p50_ms = median == NULL ? 0 : median->ms;
    if (median != NULL || q->medians.len == PAST_JOBS_MAX)
        return RC_OK;
    CLEANUP(arena_free) struct arena scratch = {0};
    struct tally_sum *sum = ARENA_NEW(&scratch, struct tally_sum);
    char id[ID_TEXT_MAX];
    struct str key = id_format(id, ID_JOB, job_id);
    int64_t hour = q->t.now_ms / TALLY_HOUR_MS;
    TRY(reader->ops->tally(reader, TALLY_JOB, &key, 1, hour - PAST_DAYS * 24, hour + 1, sum,
                           &r->err));
    median = ARENA_NEW(r->arena, struct median);
    median->ms = *ret_p50_ms = (int64_t)sketch_quantile(&sum->durations, 500);
    map_put(&q->medians, job_id, median);
    return RC_OK;
}

static enum rc put_run(struct request *r, struct reader *reader, struct timeline_call *q,
                       struct json_writer *w, const struct gantt_run *run)
{
    int64_t p50_ms;
    TRY(find_p50(r, reader, q, run->job_id, &p50_ms));
    json_open(w);
    json_put_id(w, "job_id", ID_JOB, run->job_id);
    json_put_text(w, "job_name", run->job_name);
    json_put_str(w, "queue", run->queue);
    json_put_when(w, "at", run->at_ms);
    if (p50_ms > 0)
        json_put_int(w, "p50_ms", p50_ms);
    else
        json_put_null(w, "p50_ms");
    json_put_bool(w, "held", run->held);
    json_close(w);
    return RC_OK;
}

static void put_runs_rest(const struct gantt_ahead *ahead, struct json_writer *w)
{
    int64_t step_ms = gantt_step_ms(ahead->from_ms, ahead->until_ms);
    json_put_int(w, "step_ms", step_ms);
    json_key(w, "rest");
    json_open_array(w);
    for (size_t i = 0; i < GANTT_STEPS; i++) {
        if (ahead->rest[i] == 0)
            continue;
        json_open(w);
        json_put_when(w, "at", ahead->from_ms + (int64_t)i * step_ms);
        json_put_int(w, "runs", (int64_t)ahead->rest[i]);
        json_close(w);
    }
    json_close_array(w);
}

static enum rc print_ahead(struct request *r, struct reader *reader, struct timeline_call *q,
                           struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    TRY(coming_walk(r, reader, &q->coming));
    gantt_ahead_end(&q->ahead);
    json_open(&w);
    json_put_when(&w, "from", q->coming.from_ms);
    json_put_int(&w, "count", (int64_t)q->ahead.count);
    json_put_bool(&w, "truncated", q->coming.truncated);
    json_key(&w, "runs");
    json_open_array(&w);
    for (size_t i = 0; i < q->ahead.runs.len; i++)
        TRY(put_run(r, reader, q, &w, &q->ahead.runs.items[i]));
    json_close_array(&w);
    put_runs_rest(&q->ahead, &w);
    json_close(&w);
    return RC_OK;
}

/* null where all of it is over. One text for a minute. */
static enum rc put_ahead(struct request *r, struct reader *reader, struct timeline_call *q,
                         struct json_writer *w)
{
    CLEANUP(buf_free) struct buf text = {.max = r->body.max};
    struct str key =
        arena_printf(r->arena, "ahead %" PRId64 " %" PRId64 " %zu %.*s", q->coming.from_ms,
                     q->coming.until_ms, q->t.limit, STR_ARG(q->queue));
    if (q->coming.from_ms >= q->coming.until_ms) {
        json_put_null(w, "ahead");
        return RC_OK;
    }
    if (!kept_get(r->server->forecasts, key, &text)) {
        TRY(print_ahead(r, reader, q, &text));
        kept_put(r->server->forecasts, key, buf_str(&text));
    }
    json_put_raw(w, "ahead", buf_str(&text));
    return RC_OK;
}

/* ---- the call */

static enum rc print_timeline(struct request *r, struct reader *reader, struct timeline_call *q)
{
    struct json_writer w = JSON_WRITER(&r->body);
    const struct ran_query ran = {q->t.from_ms, q->t.until_ms, SCAN_MAX};
    bool whole = true;
    if (q->t.from_ms <= q->t.now_ms)
        TRY(reader->ops->ran(reader, &ran, tell_ran, q, &whole, &r->err));
    size_t lanes = gantt_end(&q->t, LANES_SHOWN_MAX);
    TRY(find_jobs(r, reader, q));
    json_open(&w);
    json_put_when(&w, "from", q->t.from_ms);
    json_put_when(&w, "until", q->t.until_ms);
    json_put_when(&w, "now", q->t.now_ms);
    json_put_str(&w, "by", words_name(&by_words, q->t.by));
    json_put_int(&w, "step_ms", gantt_step_ms(q->t.from_ms, q->t.until_ms));
    put_past(q, &w, lanes, whole);
    TRY(put_ahead(r, reader, q, &w));
    json_close(&w);
    return RC_OK;
}

static void look_timeline(struct request *r, struct reader *reader)
{
    struct timeline_call *q = r->own;
    struct str key =
        arena_printf(r->arena, "%" PRId64 " %" PRId64 " %d %zu %" PRIx64 " %.*s", q->t.from_ms,
                     q->t.until_ms, (int)q->t.by, q->t.limit, q->worker_id, STR_ARG(q->queue));
    if (kept_get(r->server->timelines, key, &r->body))
        return;
    r->rc = print_timeline(r, reader, q);
    gantt_free(&q->t);
    gantt_ahead_free(&q->ahead);
    map_free(&q->jobs);
    map_free(&q->medians);
    if (r->rc == RC_OK)
        kept_put(r->server->timelines, key, buf_str(&r->body));
}

static void read_range(struct request *r, struct timeline_call *q)
{
    struct gantt *t = &q->t;
    t->from_ms = t->now_ms - HOUR_MS;
    request_moment(r, "from", &t->from_ms, &q->errors);
    t->until_ms = t->from_ms + 2 * HOUR_MS;
    request_moment(r, "until", &t->until_ms, &q->errors);
    if (q->errors.count > 0)
        return;
    if (t->from_ms >= t->until_ms)
        field_error(&q->errors, r->arena, STR("from"), "must be before until");
    else if (t->until_ms - t->from_ms > SPAN_DAYS_MAX * DAY_MS)
        field_error(&q->errors, r->arena, STR("until"), "lies more than %d days behind from",
                    SPAN_DAYS_MAX);
    else if (t->until_ms - t->now_ms > SPAN_DAYS_MAX * DAY_MS)
        field_error(&q->errors, r->arena, STR("until"), "lies more than %d days ahead",
                    SPAN_DAYS_MAX);
}

static void read_lanes(struct request *r, struct timeline_call *q)
{
    struct str text;
    struct err err;
    unsigned by = GANTT_BY_QUEUE;
    uint64_t limit = BARS_DEFAULT;
    if (http_request_param(r->http, STR("by"), &text) && !words_parse(&by_words, text, &by))
        field_error(&q->errors, r->arena, STR("by"), "must be one of %.*s",
                    STR_ARG(words_text(&by_words, r->arena)));
    if (http_request_param(r->http, STR("limit"), &text) &&
        (!str_to_u64(text, &limit) || limit < 1 || limit > BARS_MAX))
        field_error(&q->errors, r->arena, STR("limit"), "must be between 1 and %d", BARS_MAX);
    if (http_request_param(r->http, STR("worker"), &text) &&
        id_parse(text, ID_WORKER, &q->worker_id, &err) != RC_OK)
        field_error(&q->errors, r->arena, STR("worker"), "%s", err.text);
    (void)http_request_param(r->http, STR("queue"), &q->queue);
    q->t.by = (enum gantt_by)by;
    q->t.limit = limit;
}

/* By whole minutes, so that one walk answers all who ask within one. A worker that is asked about
 * has nothing ahead: nobody knows who will run it. */
static void begin_ahead(struct request *r, struct timeline_call *q)
{
    const struct gantt *t = &q->t;
    int64_t minute_ms = t->now_ms / MINUTE_MS * MINUTE_MS;
    bool is_none = q->worker_id != 0 || t->until_ms <= t->now_ms;
    q->coming.from_ms = t->from_ms > minute_ms ? t->from_ms : minute_ms;
    q->coming.until_ms =
        is_none ? q->coming.from_ms : (t->until_ms + MINUTE_MS - 1) / MINUTE_MS * MINUTE_MS;
    q->coming.queue = q->queue;
    q->coming.slots_max = SLOTS_MAX;
    q->coming.tell = tell_coming;
    q->ahead = (struct gantt_ahead){.from_ms = q->coming.from_ms,
                                    .until_ms = q->coming.until_ms,
                                    .limit = t->limit,
                                    .arena = r->arena};
}

void api_timeline(struct request *r)
{
    static const char *const known[] = {"from", "until", "by", "queue", "worker", "limit", NULL};
    struct timeline_call *q = ARENA_NEW(r->arena, struct timeline_call);
    if (!request_params_known(r, known))
        return;
    q->t.now_ms = clock_wall_ms();
    q->t.arena = r->arena;
    read_range(r, q);
    read_lanes(r, q);
    if (q->errors.count > 0) {
        request_fail_fields(r, &q->errors);
        return;
    }
    begin_ahead(r, q);
    r->own = q;
    request_to_query(r, look_timeline);
}

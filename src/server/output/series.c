#include "server/output/series.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "server/call/board.h"
#include "server/output/followers.h"
#include "wire/json/json.h"

#include <stdlib.h>
#include <string.h>

enum {
    OTHERS_MAX = 10000, /* queues that are only counted */
    BUSY_SAMPLES = 6,   /* by which the busiest are found */
    LOOK_AGAIN_MS = 100,
};

/* One metric each; a lag has none. */
struct sample {
    int64_t step; /* wall clock, in SERIES_STEP_MS; 0: there is none */
    uint32_t values[SERIES_VALUES];
};

struct lags {
    int64_t minute;
    uint32_t counts[SERIES_LAGS];
};

/* Of one queue, or of all. */
struct track {
    struct str queue; /* owned, behind the struct */
    uint32_t open[SERIES_VALUES];
    struct sample samples[SERIES_SAMPLES];
    struct lags lags[SERIES_SAMPLES / SERIES_LAG_STEPS]; /* of a queue */
};

/* A queue that is not among the busiest, in the sample that is open. */
struct other {
    struct str queue; /* owned, behind the struct */
    uint32_t events;
};

struct asked {
    struct board_wait wait;
    struct parcel parcel;
    struct snapshot *snapshot;
    struct series *series;
};

struct series {
    struct output_log *tail;
    struct track *total;
    uint64_t partitions[SERIES_SAMPLES]; /* that each sample is about */
    struct sketch lags[SERIES_SAMPLES];
    struct sketch open_lags;
    struct strmap tracks; /* owned */
    struct track *last;   /* most events are about the queue of the one before */
    struct strmap others; /* owned */
    int64_t crowded_step; /* up to this sample a busy queue may have no track; 0: all have one */
    uint64_t owned;
    bool moved;   /* during the sample that is open */
    int64_t step; /* of the sample that is open */
    struct asked asked;
    bool asking;
};

/* ---- names */

static const struct str names[SERIES_METRICS] = {
    [SERIES_DEPTH] = STR_INIT("depth"),           [SERIES_OLDEST_AGE] = STR_INIT("oldest_age"),
    [SERIES_RUNNING] = STR_INIT("running"),       [SERIES_SUBMITTED] = STR_INIT("submitted"),
    [SERIES_STARTED] = STR_INIT("started"),       [SERIES_COMPLETED] = STR_INIT("completed"),
    [SERIES_FAILED] = STR_INIT("failed"),         [SERIES_LAG_P50] = STR_INIT("start_lag_p50"),
    [SERIES_LAG_P99] = STR_INIT("start_lag_p99"),
};

struct str series_metric_name(enum series_metric metric)
{
    return names[metric];
}

bool series_metric_parse(struct str name, enum series_metric *ret_metric)
{
    for (size_t i = 0; i < SERIES_METRICS; i++) {
        if (str_eq(name, names[i])) {
            *ret_metric = (enum series_metric)i;
            return true;
        }
    }
    return false;
}

/* Steps that people read, up to an hour: between two of them is less than a factor of four. */
static const int64_t lag_ends_ms[SERIES_LAGS] = {
    1,    2,     3,     5,     7,     10,     15,     20,     30,      50,        70,
    100,  150,   200,   300,   500,   700,    1000,   1500,   2000,    3000,      5000,
    7000, 10000, 15000, 30000, 60000, 120000, 300000, 900000, 3600000, INT64_MAX,
};

static size_t lag_bucket(int64_t lag_ms)
{
    size_t i = 0;
    while (lag_ms > lag_ends_ms[i])
        i++;
    return i;
}

int64_t series_lag_ms(size_t bucket)
{
    int64_t from_ms = bucket == 0 ? 0 : lag_ends_ms[bucket - 1];
    return bucket + 1 >= SERIES_LAGS ? from_ms : (from_ms + lag_ends_ms[bucket] + 1) / 2;
}

/* ---- tracks */

static struct track *track_new(struct str queue)
{
    struct track *t = mem_new(sizeof *t + queue.len);
    if (queue.len > 0)
        memcpy(t + 1, queue.ptr, queue.len);
    t->queue = str_of((char *)(t + 1), queue.len);
    return t;
}

static struct track *add_track(struct series *s, struct str queue)
{
    struct track *t = track_new(queue);
    strmap_put(&s->tracks, t->queue, t);
    return t;
}

/* NULL when there are as many as there may be: then it is only counted. */
static struct track *track_of(struct series *s, struct str queue)
{
    if (s->last != NULL && str_eq(s->last->queue, queue))
        return s->last;
    struct track *t = strmap_get(&s->tracks, queue);
    if (t == NULL && s->tracks.len < SERIES_QUEUES)
        t = add_track(s, queue);
    if (t != NULL)
        s->last = t;
    return t;
}

static void count_other(struct series *s, struct str queue)
{
    s->crowded_step = s->step;
    struct other *other = strmap_get(&s->others, queue);
    if (other == NULL && s->others.len >= OTHERS_MAX)
        return;
    if (other == NULL) {
        other = mem_new(sizeof *other + queue.len);
        memcpy(other + 1, queue.ptr, queue.len);
        other->queue = str_of((char *)(other + 1), queue.len);
        strmap_put(&s->others, other->queue, other);
    }
    other->events++;
}

static void count_lag(struct series *s, struct track *t, int64_t lag_ms)
{
    int64_t minute = s->step / SERIES_LAG_STEPS;
    struct lags *lags = &t->lags[minute % (SERIES_SAMPLES / SERIES_LAG_STEPS)];
    if (lags->minute != minute)
        *lags = (struct lags){.minute = minute};
    lags->counts[lag_bucket(lag_ms)]++;
}

static enum series_metric metric_of(const struct event *event)
{
    if (event->event == EV_CREATE)
        return SERIES_SUBMITTED;
    if (event->event == EV_LEASE)
        return SERIES_STARTED;
    if (event->state == EXEC_COMPLETED || event->state == EXEC_DEDUPLICATED)
        return SERIES_COMPLETED;
    if (event->state == EXEC_FAILED || event->state == EXEC_TIMEOUT)
        return SERIES_FAILED;
    return SERIES_METRICS;
}

void series_event(struct series *s, const struct event *event)
{
    if (event->exec_id == 0 || event->sla != 0)
        return;
    enum series_metric metric = metric_of(event);
    if (metric == SERIES_METRICS)
        return;
    struct track *t = track_of(s, event->queue);
    bool has_lag = metric == SERIES_STARTED && event->waited_ms >= 0;
    s->total->open[metric]++;
    if (has_lag)
        sketch_add(&s->open_lags, (uint64_t)event->waited_ms);
    if (t == NULL) {
        count_other(s, event->queue);
        return;
    }
    t->open[metric]++;
    if (has_lag)
        count_lag(s, t, event->waited_ms);
}

/* ---- the end of a sample */

static void each_track(struct series *s, void (*visit)(struct series *s, struct track *t))
{
    for (size_t i = 0; i < s->tracks.cap; i++) {
        if (s->tracks.slots[i].value != NULL)
            visit(s, s->tracks.slots[i].value);
    }
    visit(s, s->total);
}

static void add_gauge(struct track *t, const struct counter *c)
{
    enum exec_state state = (enum exec_state)c->state;
    if (exec_is_leased(state))
        t->open[SERIES_RUNNING] += (uint32_t)c->value;
    else if (!exec_is_final(state))
        t->open[SERIES_DEPTH] += (uint32_t)c->value;
}

static bool is_gauge(const struct counter *c)
{
    return c->kind == COUNTER_EXECS && c->value > 0 && !exec_is_final((enum exec_state)c->state);
}

static void read_gauges(struct series *s, const struct stats_view *stats)
{
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *c = &stats->counters[i];
        if (!is_gauge(c))
            continue;
        add_gauge(s->total, c);
        struct track *t = c->queue.len == 0 ? NULL : track_of(s, c->queue);
        if (t != NULL)
            add_gauge(t, c);
        else if (c->queue.len > 0)
            s->crowded_step = s->step;
    }
    for (size_t i = 0; i < stats->age_count; i++) {
        int64_t age_ms = stats->ages[i].waited_ms;
        uint32_t age = age_ms < UINT32_MAX ? (uint32_t)age_ms : UINT32_MAX;
        struct track *t = strmap_get(&s->tracks, stats->ages[i].queue);
        if (t != NULL)
            t->open[SERIES_OLDEST_AGE] = age;
        if (age > s->total->open[SERIES_OLDEST_AGE])
            s->total->open[SERIES_OLDEST_AGE] = age;
    }
}

static void close_track(struct series *s, struct track *t)
{
    struct sample *sample = &t->samples[s->step % SERIES_SAMPLES];
    sample->step = s->step;
    memcpy(sample->values, t->open, sizeof sample->values);
    memset(t->open, 0, sizeof t->open);
}

static void forget_open(struct series *s, struct track *t)
{
    (void)s;
    memset(t->open, 0, sizeof t->open);
}

/* How much went on in it lately. */
static uint64_t busyness(const struct series *s, const struct track *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < SERIES_SAMPLES; i++) {
        const struct sample *sample = &t->samples[i];
        if (sample->step <= s->step - BUSY_SAMPLES || sample->step > s->step)
            continue; /* old, or from before the clock was set back */
        for (size_t v = SERIES_SUBMITTED; v < SERIES_VALUES; v++)
            sum += sample->values[v];
    }
    return sum / BUSY_SAMPLES;
}

static struct track *idlest(const struct series *s, uint64_t *ret_busyness)
{
    struct track *found = NULL;
    for (size_t i = 0; i < s->tracks.cap; i++) {
        struct track *t = s->tracks.slots[i].value;
        if (t == NULL)
            continue;
        uint64_t busy = busyness(s, t);
        if (found != NULL && busy >= *ret_busyness)
            continue;
        found = t;
        *ret_busyness = busy;
    }
    return found;
}

static void forget_track(struct series *s, struct track *t)
{
    strmap_remove(&s->tracks, t->queue);
    free(t);
    s->last = NULL;
}

/* The busiest of the others takes the place of the idlest, one in each sample. */
static void promote(struct series *s)
{
    const struct other *busiest = NULL;
    for (size_t i = 0; i < s->others.cap; i++) {
        const struct other *other = s->others.slots[i].value;
        if (other != NULL && (busiest == NULL || other->events > busiest->events))
            busiest = other;
    }
    if (busiest == NULL)
        return;
    uint64_t busy = 0;
    struct track *t = idlest(s, &busy);
    if (t != NULL && busiest->events > busy) {
        forget_track(s, t);
        add_track(s, busiest->queue);
    }
    for (size_t i = 0; i < s->others.cap; i++)
        free(s->others.slots[i].value);
    strmap_free(&s->others);
    s->others = (struct strmap){.len = 0};
}

static bool is_idle(const struct series *s, const struct track *t)
{
    for (size_t i = 0; i < SERIES_SAMPLES; i++) {
        const struct sample *sample = &t->samples[i];
        bool known = sample->step > s->step - SERIES_SAMPLES && sample->step <= s->step;
        for (size_t v = 0; known && v < SERIES_VALUES; v++) {
            if (sample->values[v] > 0)
                return false;
        }
    }
    return true;
}

/* Queues in which nothing was for as long as samples are kept make room, once it is needed. */
static void forget_idle(struct series *s)
{
    struct track *idle[SERIES_QUEUES];
    size_t count = 0;
    for (size_t i = 0; s->tracks.len == SERIES_QUEUES && i < s->tracks.cap; i++) {
        struct track *t = s->tracks.slots[i].value;
        if (t != NULL && is_idle(s, t))
            idle[count++] = t;
    }
    for (size_t i = 0; i < count; i++)
        forget_track(s, idle[i]);
}

void series_close(struct series *s, const struct stats_view *numbers, int64_t next_step)
{
    size_t at = (size_t)(s->step % SERIES_SAMPLES);
    if (numbers != NULL && !s->moved) {
        read_gauges(s, numbers);
        each_track(s, close_track);
        s->partitions[at] = s->owned;
        s->lags[at] = s->open_lags;
        promote(s);
        forget_idle(s);
    } else {
        each_track(s, forget_open);
    }
    s->open_lags = (struct sketch){.total = 0};
    s->moved = false;
    s->step = next_step;
}

static void deliver_numbers(struct parcel *parcel)
{
    struct series *s = CONTAINER_OF(parcel, struct asked, parcel)->series;
    struct snapshot *snapshot = s->asked.snapshot;
    s->asking = false;
    series_close(s, snapshot == NULL ? NULL : &snapshot->stats, clock_wall_ms() / SERIES_STEP_MS);
    snapshot_release(snapshot);
}

/* On the turn's thread. */
static void take_numbers(struct board_wait *wait, struct snapshot *take_snapshot)
{
    struct asked *asked = CONTAINER_OF(wait, struct asked, wait);
    asked->snapshot = take_snapshot;
    asked->parcel.deliver = deliver_numbers;
    if (mailbox_send_always(asked->series->tail->box, &asked->parcel.mail) != RC_OK)
        snapshot_release(take_snapshot);
}

/* Before, there may be no decider to ask. */
static bool is_serving(const struct series *s)
{
    return atomic_load(&s->tail->server->net_count) > 0;
}

void series_look(struct series *s)
{
    int64_t step = clock_wall_ms() / SERIES_STEP_MS;
    if (s->asking || step == s->step || !is_serving(s))
        return;
    if (step != s->step + 1)
        s->moved = true; /* it stood still, or the clock was set: this is no sample */
    s->asking = true;
    board_ask(s->tail->server->board, 0, &s->asked.wait);
}

int64_t series_next_ms(const struct series *s)
{
    if (s->asking)
        return INT64_MAX;
    int64_t ahead_ms = (s->step + 1) * SERIES_STEP_MS - clock_wall_ms();
    if (ahead_ms > SERIES_STEP_MS)
        ahead_ms = SERIES_STEP_MS; /* the clock was set back */
    if (ahead_ms <= 0 && !is_serving(s))
        ahead_ms = LOOK_AGAIN_MS;
    return clock_boot_ms() + (ahead_ms > 0 ? ahead_ms : 0);
}

void series_moved(struct series *s, uint64_t partitions)
{
    s->moved = true;
    s->owned = partitions;
}

/* ---- printing */

static void begin_row(struct json_writer *w, const struct series *s, int64_t step)
{
    json_open_array(w);
    json_int(w, step);
    json_int(w, (int64_t)s->partitions[step % SERIES_SAMPLES]);
}

static void put_pair(struct json_writer *w, size_t bucket, uint32_t count)
{
    if (count == 0)
        return;
    json_int(w, (int64_t)bucket);
    json_int(w, count);
}

static void put_lags(struct json_writer *w, const struct series *s, const struct track *t,
                     bool queue, int64_t step)
{
    const struct sketch *all = &s->lags[step % SERIES_SAMPLES];
    const struct lags *lags =
        t == NULL ? NULL : &t->lags[step / SERIES_LAG_STEPS % (SERIES_SAMPLES / SERIES_LAG_STEPS)];
    for (size_t i = 0; !queue && i < SKETCH_BUCKETS; i++)
        put_pair(w, i, all->counts[i]);
    bool fits = queue && lags != NULL && lags->minute == step / SERIES_LAG_STEPS;
    for (size_t i = 0; fits && i < SERIES_LAGS; i++)
        put_pair(w, i, lags->counts[i]);
}

static void put_row(struct json_writer *w, const struct series *s, const struct series_call *call,
                    const struct track *t, int64_t step)
{
    const struct sample *sample = t == NULL ? NULL : &t->samples[step % SERIES_SAMPLES];
    bool there = sample != NULL && sample->step == step;
    if (!there && step <= s->crowded_step)
        return;
    begin_row(w, s, step);
    if (call->metric < SERIES_VALUES)
        json_int(w, there ? sample->values[call->metric] : 0);
    else
        put_lags(w, s, t, call->queue.len > 0, step);
    json_close_array(w);
}

void series_print(const struct series *s, const struct series_call *call, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    const struct track *t = call->queue.len == 0 ? s->total : strmap_get(&s->tracks, call->queue);
    bool by_minute = call->metric >= SERIES_VALUES && call->queue.len > 0;
    json_open(&w);
    json_put_bool(&w, "known", t != NULL);
    json_key(&w, "rows");
    json_open_array(&w);
    for (int64_t step = s->step - SERIES_SAMPLES; step < s->step; step++) {
        bool ends_minute = (step + 1) % SERIES_LAG_STEPS == 0 || step + 1 == s->step;
        if (by_minute && !ends_minute)
            continue;
        if (step > 0 && s->total->samples[step % SERIES_SAMPLES].step == step)
            put_row(&w, s, call, t, step);
    }
    json_close_array(&w);
    json_close(&w);
}

/* ---- from start to end */

struct series *series_new(struct output_log *t)
{
    struct series *s = MEM_NEW(struct series);
    s->tail = t;
    s->total = track_new(STR(""));
    s->asked.series = s;
    s->asked.wait.take = take_numbers;
    s->step = clock_wall_ms() / SERIES_STEP_MS;
    s->moved = true; /* the first one began before we did */
    s->owned = t->server->membership == NULL ? 1 : 0;
    return s;
}

void series_free(struct series *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->tracks.cap; i++)
        free(s->tracks.slots[i].value);
    for (size_t i = 0; i < s->others.cap; i++)
        free(s->others.slots[i].value);
    strmap_free(&s->tracks);
    strmap_free(&s->others);
    free(s->total);
    free(s);
}

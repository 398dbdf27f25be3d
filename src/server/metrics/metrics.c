#include "server/metrics/metrics.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/mem.h"
#include "engine/explain/gauges.h"
#include "job/command/command.h"

#include <assert.h>
#include <stdlib.h>

enum {
    ROUTE_LABEL_BYTES_MAX = 512,
    THREADS_MAX = 16, /* names of threads */
};

/* What the threads of connections count besides answers; a scrape adds it up. */
enum { NET_STREAMS, NET_FORWARDED, NET_SLOW, NET_SLOW_UNTOLD, NET_OWN };
static const unsigned net_cells[NET_OWN] = {
    [NET_STREAMS] = CELL_STREAMS,
    [NET_FORWARDED] = CELL_FORWARDED,
    [NET_SLOW] = CELL_SLOW,
    [NET_SLOW_UNTOLD] = CELL_SLOW_UNTOLD,
};

struct net_metrics {
    metric_cell own[NET_OWN];
    metric_cell routes[]; /* ROUTE_CELLS each, and those of no route last */
};

/* Once it is decided it stays, so that no counter falls. */
enum route_place {
    ROUTE_UNSEEN,
    ROUTE_SHOWN,      /* it has a row of its own */
    ROUTE_WITH_OTHERS /* there was no room for one */
};

struct metrics {
    struct line_budget budget;
    metric_cell server[SERVER_CELLS];
    struct named_rows queues;
    struct named_rows handlers;
    struct named_rows targets;
    struct named_rows teams;
    atomic_int_least64_t gauges_ms;
    size_t nets;
    size_t routes;
    struct net_metrics **net; /* owned */
    uint8_t *route_places;    /* owned; enum route_place: the thread of scrapes' */
};

struct metrics *metrics_new(size_t lines_max, size_t nets, size_t routes)
{
    struct metrics *m = MEM_NEW(struct metrics);
    /* What is there in any case, and of each axis the row of all others. */
    size_t always = metric_head_lines() + metric_row_lines(AXIS_SERVER) +
                    THREADS_MAX * metric_row_lines(AXIS_THREAD) + 2 * metric_row_lines(AXIS_ROUTE);
    for (enum metric_axis axis = AXIS_QUEUE; axis <= AXIS_TEAM; axis++)
        always += metric_row_lines(axis);
    atomic_init(&m->budget.left, (int64_t)lines_max - (int64_t)always);
    metric_cell *dropped = &m->server[CELL_DROPPED];
    named_rows_init(&m->queues, AXIS_QUEUE, &m->budget, &dropped[AXIS_QUEUE]);
    named_rows_init(&m->handlers, AXIS_HANDLER, &m->budget, &dropped[AXIS_HANDLER]);
    named_rows_init(&m->targets, AXIS_TARGET, &m->budget, &dropped[AXIS_TARGET]);
    named_rows_init(&m->teams, AXIS_TEAM, &m->budget, &dropped[AXIS_TEAM]);
    m->nets = nets;
    m->routes = routes;
    m->route_places = mem_new(routes + 1);
    m->net = mem_new(nets * sizeof(struct net_metrics *) + 1);
    for (size_t i = 0; i < nets; i++)
        m->net[i] =
            mem_new(sizeof(struct net_metrics) + (routes + 1) * ROUTE_CELLS * sizeof(metric_cell));
    return m;
}

void metrics_free(struct metrics *m)
{
    if (m == NULL)
        return;
    named_rows_free(&m->queues);
    named_rows_free(&m->handlers);
    named_rows_free(&m->targets);
    named_rows_free(&m->teams);
    for (size_t i = 0; i < m->nets; i++)
        free(m->net[i]);
    free(m->net);
    free(m->route_places);
    free(m);
}

/* ---- turns */

void metrics_phase(struct metrics *m, enum turn_phase phase, int64_t took_us)
{
    cell_add(&m->server[CELL_PHASES + phase], took_us);
}

void metrics_commit(struct metrics *m, int64_t took_us)
{
    cell_observe(&m->server[CELL_COMMIT_TIME], SCALE_CALL, took_us);
}

/* The numbers that a turn adds are few, however many jobs it is about. Jobs are added to them when
 * they are made, and moved between them from then on. */
void metrics_kept(struct metrics *m, const struct delta *delta)
{
    int64_t jobs = 0;
    for (size_t i = 0; i < delta->counter_count; i++) {
        if (delta->counters[i].kind == COUNTER_JOBS)
            jobs += delta->counters[i].value;
    }
    if (jobs > 0)
        cell_add(&m->server[CELL_SUBMITTED], jobs);
    cell_add(&m->server[CELL_LETTERS_GONE], (int64_t)delta->letter_gone_count);
    for (size_t i = 0; i < delta->alert_count; i++)
        cell_add(&m->server[CELL_ALERTS + delta->alerts[i].kind], 1);
}

static void count_submission(struct metrics *m, const struct command *cmd)
{
    int64_t repeated = 0;
    int64_t refused = 0;
    for (size_t i = 0; i < cmd->submit.count; i++) {
        const struct submission *item = &cmd->submit.items[i];
        refused += cmd->reply.rc != RC_OK || item->rc != RC_OK;
        repeated +=
            cmd->reply.rc == RC_OK && item->rc == RC_OK && (item->existing || item->once.replayed);
    }
    cell_add(&m->server[CELL_REPEATED], repeated);
    cell_add(&m->server[CELL_REFUSED], refused);
}

void metrics_turn(struct metrics *m, size_t commands, struct list *answered)
{
    cell_add(&m->server[CELL_TURNS], 1);
    cell_add(&m->server[CELL_COMMANDS], (int64_t)commands);
    LIST_EACH(answered, node)
    {
        const struct command *cmd = CONTAINER_OF(node, struct command, node);
        if (cmd->kind == CMD_SUBMIT)
            count_submission(m, cmd);
    }
}

/* ---- events */

enum { NO_CELL = QUEUE_CELLS };

/* Of a queue, for an event that does not end the execution. */
static size_t cell_of_event(const struct event *event)
{
    switch (event->event) {
    case EV_LEASE: return CELL_STARTED;
    case EV_RETRY: return CELL_RETRIED;
    case EV_LOST:
    case EV_QUARANTINE: return CELL_LEASES_LOST; /* the last one that was borne */
    case EV_RETURN: return CELL_LEASES_RETURNED;
    default: return NO_CELL;
    }
}

static size_t cell_of_end(enum exec_state state)
{
    switch (state) {
    case EXEC_COMPLETED: return CELL_COMPLETED;
    case EXEC_FAILED:
    case EXEC_TIMEOUT: return CELL_FAILED;
    case EXEC_CANCELLED: return CELL_CANCELLED;
    case EXEC_SKIPPED: return CELL_SKIPPED;
    case EXEC_EXPIRED: return CELL_EXPIRED;
    case EXEC_DEDUPLICATED: return CELL_DEDUPLICATED;
    default: return NO_CELL;
    }
}

static bool is_enqueued(const struct event *event)
{
    return event->state == EXEC_QUEUED && (event->event == EV_CREATE || event->event == EV_DUE);
}

/* Adds to a histogram, and remembers the execution if its trace can be looked at. */
static void observe(struct named_row *row, size_t cell, enum metric_scale scale, int64_t value,
                    enum exemplar_of which, const struct event *event)
{
    cell_observe(&row->cells[cell], scale, value);
    if (event->sampled)
        exemplar_note(&row->exemplars, which, metric_bucket(scale, value),
                      &(struct exemplar){event->trace, value, event->at_ms});
}

static void count_in_queue(struct named_row *row, const struct event *event)
{
    metric_cell *cells = row->cells;
    size_t cell = cell_of_event(event);
    size_t end = cell_of_end(event->state);
    if (cell != NO_CELL)
        cell_add(&cells[cell], 1);
    if (event->event == EV_CREATE)
        cell_add(&cells[CELL_CREATED], 1);
    if (is_enqueued(event))
        cell_add(&cells[CELL_ENQUEUED], 1);
    if (end != NO_CELL)
        cell_add(&cells[end], 1);
    if (end == CELL_FAILED && !event->of_ping)
        cell_add(&cells[CELL_DEAD_LETTERED], 1);
    if (event->state == EXEC_TIMEOUT)
        cell_add(&cells[CELL_TIMED_OUT], 1);
    if (event->event == EV_LEASE) {
        if (event->waited_ms >= 0)
            observe(row, CELL_WAIT, SCALE_WAIT, event->waited_ms, EXEMPLAR_WAIT, event);
        if (event->lag_ms >= 0)
            observe(row, CELL_LAG, SCALE_WAIT, event->lag_ms, EXEMPLAR_LAG, event);
    }
    if (event->took_ms >= 0)
        observe(row, CELL_DURATION, SCALE_RUN, event->took_ms, EXEMPLAR_DURATION, event);
}

/* How an attempt ended; RUN_ENDS: it did not. */
static enum run_end outcome_of(const struct event *event)
{
    if (event->event == EV_LOST || event->event == EV_QUARANTINE)
        return RUN_END_LOST;
    if (event->event == EV_RETRY)
        return RUN_END_RETRIED;
    if (event->took_ms < 0)
        return RUN_ENDS;
    switch (event->state) {
    case EXEC_COMPLETED: return RUN_END_COMPLETED;
    case EXEC_CANCELLED: return RUN_END_CANCELLED;
    case EXEC_FAILED:
    case EXEC_TIMEOUT: return RUN_END_FAILED;
    default: return RUN_ENDS;
    }
}

static void count_of_handler(struct metrics *m, const struct event *event, int64_t now_ms)
{
    enum run_end outcome = outcome_of(event);
    if (event->handler.len == 0 || outcome == RUN_ENDS)
        return;
    struct named_row *row = named_rows_get(&m->handlers, event->handler, now_ms);
    cell_add(&row->cells[CELL_RUNS + outcome], 1);
    if (event->took_ms > 0)
        cell_add(&row->cells[CELL_RUN_TIME], event->took_ms);
}

static void count_sla(metric_cell *cells, const struct event *event)
{
    if (event->sla == SLA_EVENT_WARNING)
        cell_add(&cells[CELL_SLA_WARNINGS], 1);
    else if (event->sla == SLA_EVENT_VIOLATION)
        cell_add(&cells[CELL_SLA_VIOLATIONS], 1);
}

void metrics_event(struct metrics *m, const struct event *event, int64_t now_ms)
{
    if (event->exec_id == 0) /* it is about a queue, or a breaker */
        return;
    struct named_row *row = named_rows_get(&m->queues, event->queue, now_ms);
    if (event->sla != 0) {
        count_sla(row->cells, event);
        return;
    }
    count_in_queue(row, event);
    count_of_handler(m, event, now_ms);
}

void metrics_output(struct metrics *m, size_t bytes)
{
    cell_add(&m->server[CELL_OUTPUT_BYTES], (int64_t)bytes);
}

/* ---- gauges
 *
 * Rows of names that are not told of any more keep their counters, and their gauges are 0, but for
 * limits: there are none. In the row of all others gauges are sums, and the largest of what does
 * not add up (ages, states of breakers). */

/* No scrape may see a sum that is not whole: all of it is made apart, and set at once. */
struct gauge_set {
    struct named_rows *rows;
    int64_t *other;
    size_t cells;
    int64_t now_ms;
    struct arena arena;
};

/* Of a name that is not told of. */
static int64_t blank_gauge(enum metric_axis axis, size_t cell)
{
    bool is_limit = (axis == AXIS_QUEUE && (cell == CELL_LIMIT || cell == CELL_LIMIT_USED)) ||
                    (axis == AXIS_TEAM && cell == CELL_TEAM_LIMIT);
    return is_limit ? METRIC_NO_VALUE : 0;
}

static void gauges_begin(struct gauge_set *g, struct named_rows *rows, int64_t now_ms)
{
    *g = (struct gauge_set){.rows = rows, .cells = metric_cells(rows->axis), .now_ms = now_ms};
    g->other = ARENA_ARRAY(&g->arena, int64_t, g->cells);
    for (size_t i = 0; i < g->cells; i++)
        g->other[i] = blank_gauge(rows->axis, i);
    for (size_t i = 0; i < rows->len; i++)
        rows->list[i]->told = false;
}

static void add_to_others(struct gauge_set *g, size_t cell, int64_t value)
{
    int64_t *sum = &g->other[cell];
    bool adds_up = g->rows->axis == AXIS_QUEUE ? cell != CELL_OLDEST : g->rows->axis != AXIS_TARGET;
    if (value == METRIC_NO_VALUE)
        return;
    if (*sum == METRIC_NO_VALUE || (!adds_up && value > *sum))
        *sum = value;
    else if (adds_up)
        *sum += value;
}

/* A gauge that is not there is METRIC_NO_VALUE. */
static void gauges_put(struct gauge_set *g, struct str name, bool is_used, const int64_t *values,
                       size_t from)
{
    struct named_row *row = strmap_get(&g->rows->by_name, name);
    if (row == NULL && is_used)
        row = named_rows_get(g->rows, name, g->now_ms);
    if (row == NULL)
        return;
    for (size_t i = from; i < g->cells; i++) {
        if (row != g->rows->other)
            cell_set(&row->cells[i], values[i]);
        else
            add_to_others(g, i, values[i]);
    }
    row->told = true;
    if (is_used)
        row->used_ms = g->now_ms;
}

static void gauges_end(struct gauge_set *g, size_t from)
{
    struct named_rows *s = g->rows;
    for (size_t i = from; i < g->cells; i++) {
        cell_set(&s->other->cells[i], g->other[i]);
        for (size_t k = 0; k < s->len; k++) {
            if (!s->list[k]->told)
                cell_set(&s->list[k]->cells[i], blank_gauge(s->axis, i));
        }
    }
    arena_free(&g->arena);
}

static void set_queues(struct metrics *m, const struct gauges *gauges, int64_t now_ms)
{
    static const enum exec_state states[WAIT_STATES] = {
        [WAIT_SCHEDULED] = EXEC_SCHEDULED, [WAIT_QUEUED] = EXEC_QUEUED,
        [WAIT_RUNNING] = EXEC_RUNNING,     [WAIT_RETRYING] = EXEC_RETRYING,
        [WAIT_BLOCKED] = EXEC_BLOCKED,
    };
    struct gauge_set set;
    int64_t pending = 0;
    gauges_begin(&set, &m->queues, now_ms);
    for (size_t i = 0; i < gauges->queue_count; i++) {
        const struct queue_gauges *q = &gauges->queues[i];
        int64_t values[QUEUE_CELLS] = {0};
        int64_t unfinished = 0;
        for (size_t k = 0; k < WAIT_STATES; k++) {
            values[CELL_UNFINISHED + k] = q->execs[states[k]];
            unfinished += q->execs[states[k]];
        }
        values[CELL_UNFINISHED + WAIT_RUNNING] += q->execs[EXEC_STOPPING];
        pending += unfinished - q->execs[EXEC_RUNNING];
        values[CELL_DEPTH] = q->execs[EXEC_QUEUED];
        values[CELL_OLDEST] = q->waited_ms;
        values[CELL_RUNNING] = q->running;
        bool limited = q->home && q->limit > 0;
        values[CELL_LIMIT] = limited ? (int64_t)q->limit : METRIC_NO_VALUE;
        values[CELL_LIMIT_USED] = limited ? (int64_t)q->used : METRIC_NO_VALUE;
        values[CELL_PAUSED] = q->home && q->paused;
        values[CELL_LETTERS] = q->letters;
        bool used = unfinished + q->letters + q->running > 0 || q->limit > 0 || q->paused;
        gauges_put(&set, q->queue, used, values, CELL_DEPTH);
    }
    gauges_end(&set, CELL_DEPTH);
    cell_set(&m->server[CELL_PENDING], pending);
}

static void set_targets(struct metrics *m, const struct gauges *gauges, int64_t now_ms)
{
    static const int64_t halves[BREAKER_STATES] = {
        [BREAKER_CLOSED] = 0, [BREAKER_HALF_OPEN] = 1, [BREAKER_OPEN] = 2};
    struct gauge_set set;
    gauges_begin(&set, &m->targets, now_ms);
    for (size_t i = 0; i < gauges->target_count; i++) {
        int64_t values[TARGET_CELLS] = {[CELL_BREAKER] = halves[gauges->targets[i].state]};
        gauges_put(&set, gauges->targets[i].target, true, values, 0);
    }
    gauges_end(&set, 0);
}

static void set_teams(struct metrics *m, const struct gauges *gauges, int64_t now_ms)
{
    struct gauge_set set;
    gauges_begin(&set, &m->teams, now_ms);
    for (size_t i = 0; i < gauges->team_count; i++) {
        const struct team_gauges *team = &gauges->teams[i];
        int64_t values[TEAM_CELLS] = {
            [CELL_TEAM_RUNNING] = team->running,
            [CELL_TEAM_LIMIT] = team->limit > 0 ? (int64_t)team->limit : METRIC_NO_VALUE,
        };
        gauges_put(&set, team->team, true, values, 0);
    }
    gauges_end(&set, 0);
}

static void set_workers(struct metrics *m, const struct gauges *g)
{
    cell_set(&m->server[CELL_WORKERS + WORKER_IDLE], (int64_t)g->workers_idle);
    cell_set(&m->server[CELL_WORKERS + WORKER_BUSY], (int64_t)g->workers_busy);
    cell_set(&m->server[CELL_WORKERS + WORKER_CORDONED], (int64_t)g->workers_cordoned);
    cell_set(&m->server[CELL_WORKERS + WORKER_DRAINING], (int64_t)g->workers_draining);
    cell_set(&m->server[CELL_WORKERS + WORKER_SILENT], (int64_t)g->workers_silent);
    cell_set(&m->server[CELL_SLOTS], (int64_t)g->slots);
    cell_set(&m->server[CELL_SLOTS_BUSY], (int64_t)g->slots_busy);
    cell_set(&m->server[CELL_UTILIZATION],
             g->slots == 0 ? 0 : (int64_t)(1000 * g->slots_busy / g->slots));
    cell_set(&m->server[CELL_POLLS], (int64_t)g->polls_parked);
}

void metrics_gauges(struct metrics *m, const struct gauges *gauges, int64_t now_ms)
{
    set_queues(m, gauges, now_ms);
    set_targets(m, gauges, now_ms);
    set_teams(m, gauges, now_ms);
    set_workers(m, gauges);
    for (size_t i = 0; i < GAUGE_LIMITS; i++) {
        cell_set(&m->server[CELL_LIMITS + i], (int64_t)gauges->limits[i].known);
        cell_set(&m->server[CELL_LIMITS_FULL + i], (int64_t)gauges->limits[i].full);
    }
    cell_set(&m->server[CELL_OVERDUE], (int64_t)gauges->overdue);
    cell_set(&m->server[CELL_IN_MEMORY], (int64_t)gauges->in_memory);
    cell_set(&m->server[CELL_INBOX], (int64_t)gauges->mail_waiting);
    cell_set(&m->server[CELL_STRANGE], (int64_t)gauges->mail_unknown);
    atomic_store(&m->gauges_ms, now_ms);
}

/* ---- connections */

void metrics_answer(struct metrics *m, const struct answered *a)
{
    assert(a->net < m->nets && a->route <= m->routes);
    metric_cell *cells = &m->net[a->net]->routes[a->route * ROUTE_CELLS];
    int class = a->status / 100 - 2;
    if (class < HTTP_2XX || class > HTTP_5XX)
        return;
    cell_add(&cells[CELL_REQUESTS + class], 1);
    if (a->took_us >= 0)
        cell_observe(&cells[CELL_REQUEST_TIME], SCALE_CALL, a->took_us);
}

void metrics_stream(struct metrics *m, size_t net, int by)
{
    cell_add(&m->net[net]->own[NET_STREAMS], by);
}

void metrics_forward(struct metrics *m, size_t net)
{
    cell_add(&m->net[net]->own[NET_FORWARDED], 1);
}

void metrics_slow(struct metrics *m, size_t net, bool told)
{
    cell_add(&m->net[net]->own[NET_SLOW], 1);
    if (!told)
        cell_add(&m->net[net]->own[NET_SLOW_UNTOLD], 1);
}

/* ---- schedules */

void metrics_checked(struct metrics *m, size_t schedules)
{
    cell_add(&m->server[CELL_CHECKED], (int64_t)schedules);
}

void metrics_heartbeat(struct metrics *m, enum beat_end end)
{
    cell_add(&m->server[CELL_HEARTBEATS + end], 1);
}

void metrics_missed_slots(struct metrics *m, uint64_t count)
{
    cell_set(&m->server[CELL_MISSED], (int64_t)count);
}

/* ---- scrapes */

static bool add_route(struct metrics *m, size_t route, int64_t *sum)
{
    int64_t requests = 0;
    for (size_t n = 0; n < m->nets; n++) {
        for (size_t i = 0; i < ROUTE_CELLS; i++)
            sum[i] += cell_get(&m->net[n]->routes[route * ROUTE_CELLS + i]);
    }
    for (size_t i = 0; i < HTTP_CLASSES; i++)
        requests += sum[CELL_REQUESTS + i];
    return requests > 0;
}

/* Requests that no route takes have a row in any case. */
static bool has_row(struct metrics *m, size_t route)
{
    uint8_t *place = &m->route_places[route];
    if (*place == ROUTE_UNSEEN) {
        bool room = route == m->routes || budget_take(&m->budget, metric_row_lines(AXIS_ROUTE));
        *place = room ? ROUTE_SHOWN : ROUTE_WITH_OTHERS;
    }
    return *place == ROUTE_SHOWN;
}

static void copy_routes(struct metrics *m, struct arena *arena,
                        void (*label)(size_t route, struct buf *out), struct metric_rows *ret_rows)
{
    struct metric_row *rows = ARENA_ARRAY(arena, struct metric_row, m->routes + 2);
    int64_t *others = ARENA_ARRAY(arena, int64_t, ROUTE_CELLS);
    int64_t missed = 0;
    size_t count = 0;
    for (size_t route = 0; route <= m->routes; route++) {
        CLEANUP(buf_free) struct buf text = BUF(ROUTE_LABEL_BYTES_MAX);
        int64_t *sum = ARENA_ARRAY(arena, int64_t, ROUTE_CELLS);
        if (!add_route(m, route, sum))
            continue;
        if (!has_row(m, route)) {
            missed++;
            for (size_t i = 0; i < ROUTE_CELLS; i++)
                others[i] += sum[i];
            continue;
        }
        label(route, &text);
        rows[count++] =
            (struct metric_row){.labels = arena_str(arena, buf_str(&text)), .cells = sum};
    }
    if (missed > 0)
        rows[count++] =
            (struct metric_row){.labels = STR("route=\"other\",method=\"\""), .cells = others};
    cell_set(&m->server[CELL_DROPPED + AXIS_ROUTE], missed);
    *ret_rows = (struct metric_rows){rows, count};
}

static void forget_values(const struct metric *m, int64_t *cells)
{
    for (size_t i = 0; i < metric_width(m); i++)
        cells[m->cell + i] = METRIC_NO_VALUE;
}

void metric_copy_hide_second(struct metric_copy *copy)
{
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *m = &metric_table[i];
        const struct metric_rows *rows = &copy->axes[m->axis];
        if (!str_eq(str_c(m->writer), STR("second")))
            continue;
        if (m->axis == AXIS_SERVER)
            forget_values(m, copy->server);
        for (size_t k = 0; k < rows->count; k++)
            forget_values(m, rows->rows[k].cells);
    }
}

void metrics_copy(struct metrics *m, struct arena *arena,
                  void (*label)(size_t route, struct buf *out), struct metric_copy *ret_copy)
{
    struct named_rows *const named[] = {&m->queues, &m->handlers, &m->targets, &m->teams};
    *ret_copy = (struct metric_copy){.gauges_ms = atomic_load(&m->gauges_ms)};
    for (size_t i = 0; i < COUNT_OF(named); i++) {
        struct metric_rows *rows = &ret_copy->axes[named[i]->axis];
        rows->count = named_rows_copy(named[i], arena, &rows->rows);
    }
    copy_routes(m, arena, label, &ret_copy->axes[AXIS_ROUTE]);
    for (size_t i = 0; i < SERVER_CELLS; i++)
        ret_copy->server[i] = cell_get(&m->server[i]);
    if (ret_copy->gauges_ms == 0) /* numbers that the turn has not given yet are not 0 */
        metric_copy_hide_second(ret_copy);
    for (size_t i = 0; i < NET_OWN; i++) {
        ret_copy->server[net_cells[i]] = 0;
        for (size_t n = 0; n < m->nets; n++)
            ret_copy->server[net_cells[i]] += cell_get(&m->net[n]->own[i]);
    }
}

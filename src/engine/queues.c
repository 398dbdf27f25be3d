/* queues.c - what holds work back although it is ready: queues that are paused or full, and limits
 * by key. Permits follow from leases: whoever places a leased execution takes them, whoever takes
 * it from its place returns them, so neither a crash nor an undone turn can leave one behind. */
#include "base/mem.h"
#include "engine/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- queues */

static struct str keep_name(struct engine *e, struct str name)
{
    struct str *kept = strmap_get(&e->names, name);
    if (kept == NULL) {
        kept = mem_new(sizeof *kept + name.len + 1);
        if (name.len > 0)
            memcpy(kept + 1, name.ptr, name.len);
        *kept = str_of((char *)(kept + 1), name.len);
        strmap_put(&e->names, *kept, kept);
    }
    return *kept;
}

struct queue *queue_of(struct engine *e, struct str name)
{
    struct queue *q = strmap_get(&e->queues, name);
    if (q != NULL)
        return q;
    q = mem_new(sizeof *q + name.len + 1);
    char *text = (char *)(q + 1);
    if (name.len > 0)
        memcpy(text, name.ptr, name.len);
    q->name = str_of(text, name.len);
    list_init(&q->lanes);
    strmap_put(&e->queues, q->name, q);
    return q;
}

static bool is_closed(const struct queue *q)
{
    return q->v.paused || (q->v.concurrency > 0 && q->held >= q->v.concurrency);
}

/* All lanes of a queue are open or closed together. */
static void settle(struct engine *e, struct queue *q)
{
    LIST_EACH(&q->lanes, node)
    {
        struct lane *lane = CONTAINER_OF(node, struct lane, sibling);
        if (lane->closed == is_closed(q))
            return;
        ready_close(&e->ready, lane, is_closed(q));
    }
}

void queue_join(struct engine *e, struct queue *q, struct lane *lane)
{
    if (list_linked(&lane->sibling))
        return;
    list_push_back(&q->lanes, &lane->sibling);
    ready_close(&e->ready, lane, is_closed(q));
}

void queue_set(struct engine *e, struct queue *q, const struct queue_values *to)
{
    q->v = *to;
    settle(e, q);
}

/* ---- permits */

void permits_take(struct engine *e, struct job *job)
{
    job->queue->held++;
    if (job->queue->v.concurrency > 0)
        settle(e, job->queue);
    ready_hold(&e->ready, job->track);
}

void permits_return(struct engine *e, struct job *job)
{
    assert(job->queue->held > 0);
    job->queue->held--;
    if (job->queue->v.concurrency > 0)
        settle(e, job->queue);
    ready_release(&e->ready, job->track);
}

static struct moment now_of(const struct engine *e)
{
    return (struct moment){.wall_ms = e->now_ms, .boot_ms = e->boot_ms};
}

void rate_start(struct engine *e, struct job *job)
{
    const struct bar *bar = &job->track->bars[BAR_RATE];
    if (bar->limit == NULL)
        return;
    touch_limit(e, bar->limit)->durable = true;
    struct limit_values to = limit_started(bar->limit, now_of(e), bar->interval_us);
    ready_limit(&e->ready, bar->limit, &to);
}

void rate_wake(struct engine *e, struct limit *limit)
{
    struct touched *t = touch_limit(e, limit);
    struct limit_values to = limit->v;
    to.shut = false;
    to.gone = limit->members == 0;
    t->durable = t->durable || to.gone;
    ready_limit(&e->ready, limit, &to);
}

/* ---- loading */

void engine_load_queue(struct engine *e, const struct queue_rec *rec)
{
    queue_set(e, queue_of(e, rec->name),
              &(struct queue_values){
                  .paused = rec->paused,
                  .paused_ms = rec->paused_ms,
                  .paused_by = keep_name(e, rec->paused_by),
                  .concurrency = rec->concurrency,
              });
}

void engine_load_rate(struct engine *e, const struct rate_rec *rec)
{
    struct limit *limit = limit_join(&e->ready.limits, LIMIT_RATE, rec->key);
    struct limit_values to = limit_restored(rec->next_us, rec->interval_us, now_of(e));
    ready_limit(&e->ready, limit, &to);
    limit_leave(&e->ready.limits, limit); /* its jobs join it as they come */
}

/* ---- commands */

struct queue_rec queue_record(const struct queue *q)
{
    return (struct queue_rec){
        .name = q->name,
        .concurrency = q->v.concurrency,
        .paused = q->v.paused,
        .paused_ms = q->v.paused_ms,
        .paused_by = q->v.paused_by,
    };
}

/* Since when the first of the lane waits, of all its tracks, open or not; 0: nobody does. */
static int64_t waits_since_ms(const struct lane *lane)
{
    int64_t since_ms = 0;
    LIST_EACH(&lane->tracks, node)
    {
        const struct track *track = CONTAINER_OF(node, struct track, sibling);
        if (track->heap.len == 0)
            continue;
        const struct exec *x = CONTAINER_OF(heap_min(&track->heap)->node, struct exec, ready);
        if (since_ms == 0 || x->v.ready_ms < since_ms)
            since_ms = x->v.ready_ms;
    }
    return since_ms;
}

static int64_t waited_ms(const struct engine *e, const struct queue *q)
{
    int64_t waited_ms = 0;
    LIST_EACH(&q->lanes, node)
    {
        int64_t since_ms = waits_since_ms(CONTAINER_OF(node, struct lane, sibling));
        if (since_ms > 0 && e->now_ms - since_ms > waited_ms)
            waited_ms = e->now_ms - since_ms;
    }
    return waited_ms;
}

static struct queue_view view_of(const struct engine *e, const struct queue *q, struct arena *arena)
{
    struct queue_view view = {
        .queue = queue_record(q),
        .running = q->held,
        .waited_ms = waited_ms(e, q),
    };
    view.queue.name = arena_str(arena, view.queue.name);
    view.queue.paused_by = arena_str(arena, view.queue.paused_by);
    memcpy(view.execs, q->execs, sizeof view.execs);
    return view;
}

static void reply_queue(struct engine *e, struct command *cmd, const struct queue *q)
{
    struct queue_view *view = ARENA_NEW(cmd->arena, struct queue_view);
    *view = view_of(e, q, cmd->arena);
    cmd->reply.queues = view;
    cmd->reply.queue_count = 1;
    command_done(e, cmd);
}

void decide_queue(struct engine *e, struct command *cmd)
{
    const struct queue_wish *wish = &cmd->queue;
    struct queue *q = queue_of(e, wish->name);
    struct queue_values to = q->v;
    if (wish->set_concurrency)
        to.concurrency = wish->concurrency;
    if (wish->run == QUEUE_RESUME)
        to.paused = false;
    if (wish->run == QUEUE_PAUSE && !to.paused) { /* asked twice: still the first time */
        to.paused = true;
        to.paused_ms = e->now_ms;
        to.paused_by = keep_name(e, cmd->actor);
    }
    if (to.paused != q->v.paused || to.concurrency != q->v.concurrency) {
        touch_queue(e, q)->durable = true;
        queue_set(e, q, &to);
    }
    reply_queue(e, cmd, q);
}

static int by_name(const void *a, const void *b)
{
    const struct queue_view *left = a;
    const struct queue_view *right = b;
    return str_cmp(left->queue.name, right->queue.name);
}

void decide_queues(struct engine *e, struct command *cmd)
{
    struct queue_view *views = ARENA_ARRAY(cmd->arena, struct queue_view, e->queues.len);
    size_t len = 0;
    for (size_t i = 0; i < e->queues.cap; i++) {
        if (e->queues.slots[i].value != NULL)
            views[len++] = view_of(e, e->queues.slots[i].value, cmd->arena);
    }
    if (len > 0)
        qsort(views, len, sizeof *views, by_name);
    cmd->reply.queues = views;
    cmd->reply.queue_count = len;
    command_done(e, cmd);
}

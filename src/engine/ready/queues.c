/* queues.c - what holds work back although it is ready: queues that are paused or full, and limits
 * by key. Permits follow from leases: code that places a leased execution takes them, code that
 * takes it from its place returns them, so neither a crash nor an undone turn can leave one
 * behind. */
#include "engine/ready/queues.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/forget.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/ready.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- queues */

const struct str *name_keep(struct engine *e, struct str name)
{
    struct str *kept = strmap_get(&e->names, name);
    if (kept == NULL) {
        kept = mem_new(sizeof *kept + name.len + 1);
        if (name.len > 0)
            memcpy(kept + 1, name.ptr, name.len);
        *kept = str_of((char *)(kept + 1), name.len);
        strmap_put(&e->names, *kept, kept);
    }
    return kept;
}

struct queue *queue_new(struct engine *e, struct str name)
{
    struct queue *q = mem_new(sizeof *q + name.len + 2);
    char *text = (char *)(q + 1);
    text[0] = '0' + LIMIT_QUEUE; /* as permits name its limit */
    if (name.len > 0)
        memcpy(text + 1, name.ptr, name.len);
    q->home_key = str_of(text, name.len + 1);
    q->home = inbox_home(q->home_key);
    q->name = str_of(text + 1, name.len);
    list_init(&q->lanes);
    strmap_put(&e->queues.by_name, q->name, q);
    return q;
}

/* Executions that have their permits are counted in held: a full queue has no room for others. */
static enum gate gate_of(const struct queue *q)
{
    if (q->v.paused)
        return GATE_PAUSED;
    return q->v.concurrency > 0 && q->held >= q->v.concurrency ? GATE_FULL : GATE_OPEN;
}

/* All lanes of a queue are open or closed together. */
static void settle(struct engine *e, struct queue *q)
{
    enum gate gate = gate_of(q);
    LIST_EACH(&q->lanes, node)
    {
        struct lane *lane = CONTAINER_OF(node, struct lane, sibling);
        if (lane->gate == gate)
            return;
        ready_gate(&e->ready, lane, gate);
    }
}

void queue_join(struct engine *e, struct queue *q, struct lane *lane)
{
    if (list_linked(&lane->sibling))
        return;
    list_push_back(&q->lanes, &lane->sibling);
    ready_gate(&e->ready, lane, gate_of(q));
}

void queue_set(struct engine *e, struct queue *q, const struct queue_values *to)
{
    e->queues.gone_count += to->gone;
    e->queues.gone_count -= q->v.gone;
    q->v = *to;
    settle(e, q);
}

/* ---- permits */

void queue_lend(struct engine *e, struct queue *q, int by)
{
    assert(by >= 0 || (q->lent >= (uint32_t)-by && q->held >= (uint32_t)-by));
    q->held += (uint32_t)by;
    q->lent += (uint32_t)by;
    if (q->v.concurrency > 0)
        settle(e, q);
}

void permits_take(struct engine *e, struct job *job)
{
    job->v.def->rules.queue->held++;
    if (job->v.def->rules.queue->v.concurrency > 0)
        settle(e, job->v.def->rules.queue);
    ready_hold(&e->ready, job->v.def->rules.track);
}

void permits_return(struct engine *e, struct job *job)
{
    assert(job->v.def->rules.queue->held > 0);
    job->v.def->rules.queue->held--;
    if (job->v.def->rules.queue->v.concurrency > 0)
        settle(e, job->v.def->rules.queue);
    ready_release(&e->ready, job->v.def->rules.track);
}

void rate_start(struct engine *e, struct job *job)
{
    const struct bar *bar = &job->v.def->rules.track->bars[BAR_RATE];
    if (bar->limit == NULL || bar->limit->remote)
        return; /* its home has counted it */
    touch_limit(e, bar->limit)->durable = !PLANTED(rate_not_kept);
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
    struct queue *q = queue_of(e, rec->name);
    q->known = true;
    q->reading = e->readings;
    permits_limited(e, q->v.concurrency, rec->concurrency);
    queue_set(e, q,
              &(struct queue_values){
                  .paused = rec->paused,
                  .paused_ms = rec->paused_ms,
                  .paused_by = *name_keep(e, rec->paused_by),
                  .changed_ms = rec->changed_ms,
                  .changed_by = *name_keep(e, rec->changed_by),
                  .concurrency = rec->concurrency,
              });
    queue_look(e, q);
}

void engine_load_rate(struct engine *e, const struct rate_rec *rec)
{
    struct limit *limit = limit_join(&e->ready.limits, LIMIT_RATE, rec->key);
    if (limit->remote) { /* its home knows */
        limit_leave(&e->ready.limits, limit);
        return;
    }
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
        .changed_ms = q->v.changed_ms,
        .changed_by = q->v.changed_by,
    };
}

/* Since when the oldest of the track waits, open or not; 0: none does. The heap is by rank, so all
 * would have to be looked at. With equal priorities the first is the oldest, and ten thousand take
 * well below a millisecond; beyond that it is the oldest of those. */
static int64_t oldest_in(const struct track *track)
{
    enum { LOOK_MAX = 10000 };
    int64_t since_ms = 0;
    for (uint32_t i = 0; i < track->heap.len && i < LOOK_MAX; i++) {
        const struct exec *x = CONTAINER_OF(track->heap.items[i].node, struct exec, ready);
        if (since_ms == 0 || x->v.ready_ms < since_ms)
            since_ms = x->v.ready_ms;
    }
    return since_ms;
}

int64_t queue_waited_ms(const struct engine *e, const struct queue *q)
{
    int64_t waited_ms = 0;
    LIST_EACH(&q->lanes, lane)
    {
        LIST_EACH(&CONTAINER_OF(lane, struct lane, sibling)->tracks, track)
        {
            int64_t since_ms = oldest_in(CONTAINER_OF(track, struct track, sibling));
            if (since_ms > 0 && e->now_ms - since_ms > waited_ms)
                waited_ms = e->now_ms - since_ms;
        }
    }
    return waited_ms;
}

int64_t queue_head_waited_ms(const struct queue *q, int64_t now_ms)
{
    int64_t waited_ms = 0;
    LIST_EACH(&q->lanes, lane)
    {
        LIST_EACH(&CONTAINER_OF(lane, struct lane, sibling)->tracks, node)
        {
            const struct track *track = CONTAINER_OF(node, struct track, sibling);
            if (track->heap.len == 0)
                continue;
            const struct exec *x = CONTAINER_OF(track->heap.items[0].node, struct exec, ready);
            if (now_ms - x->v.ready_ms > waited_ms)
                waited_ms = now_ms - x->v.ready_ms;
        }
    }
    return waited_ms;
}

static struct queue_view view_of(const struct engine *e, const struct queue *q, struct arena *arena)
{
    struct queue_view view = {
        .queue = queue_record(q),
        .running = q->held - q->lent,
        .waited_ms = queue_waited_ms(e, q),
    };
    view.queue.name = arena_str(arena, view.queue.name);
    view.queue.paused_by = arena_str(arena, view.queue.paused_by);
    view.queue.changed_by = arena_str(arena, view.queue.changed_by);
    memcpy(view.execs, q->now.execs, sizeof view.execs);
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

bool queue_is_known(const struct queue *q)
{
    for (size_t i = 0; i < JOB_STATES; i++) {
        if (q->now.jobs[i] != 0)
            return true;
    }
    return q->v.changed_ms != 0;
}

static bool differs(const struct queue_values *a, const struct queue_values *b)
{
    return a->paused != b->paused || a->concurrency != b->concurrency;
}

/* The queue's values after the wish. A queue that is paused twice keeps the first time. */
static struct queue_values wished(struct engine *e, const struct queue_values *now,
                                  const struct command *cmd)
{
    struct queue_values to = *now;
    if (cmd->queue.set_concurrency)
        to.concurrency = cmd->queue.concurrency;
    if (cmd->queue.run != QUEUE_LEAVE)
        to.paused = cmd->queue.run == QUEUE_PAUSE;
    if (!differs(&to, now))
        return to;
    to.changed_ms = e->now_ms;
    to.changed_by = *name_keep(e, cmd->actor);
    if (to.paused != now->paused) {
        to.paused_ms = to.paused ? to.changed_ms : 0;
        to.paused_by = to.paused ? to.changed_by : STR("");
    }
    return to;
}

void queue_tell(struct engine *e, const struct queue *q, enum queue_event event, struct str actor)
{
    *VEC_PUSH(e->turn.arena, &e->turn.events) = (struct event){
        .at_ms = e->now_ms,
        .queue = q->name,
        .queue_event = event,
        .actor = actor,
        .paused = q->v.paused,
        .concurrency = q->v.concurrency,
    };
}

static void change_queue(struct engine *e, struct queue *q, const struct queue_values *to)
{
    struct queue_values before = q->v;
    touch_queue(e, q)->durable = true;
    permits_limited(e, before.concurrency, to->concurrency);
    queue_set(e, q, to);
    if (to->paused != before.paused)
        queue_tell(e, q, to->paused ? QUEUE_PAUSED : QUEUE_RESUMED, to->changed_by);
    if (to->concurrency != before.concurrency)
        queue_tell(e, q, QUEUE_LIMITED, to->changed_by);
}

void decide_queue(struct engine *e, struct command *cmd)
{
    static const struct queue_values untouched;
    struct str name = cmd->queue.name;
    struct queue *q = queue_find(e, name);
    if (cmd->queue.forget) {
        delete_queue(e, cmd);
        return;
    }
    struct queue_values to = wished(e, q == NULL ? &untouched : &q->v, cmd);
    if ((q == NULL || !queue_is_known(q)) && !differs(&to, &untouched)) {
        command_fail(e, cmd, RC_NOT_FOUND, "there is no queue '%.*s'", STR_ARG(name));
        return;
    }
    if (queue_admit(e, name, &cmd->reply.err) != RC_OK) {
        cmd->reply.rc = cmd->reply.err.rc;
        command_done(e, cmd);
        return;
    }
    q = queue_of(e, name);
    if (differs(&to, &q->v))
        change_queue(e, q, &to);
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
    struct queue_view *views = ARENA_ARRAY(cmd->arena, struct queue_view, e->queues.by_name.len);
    size_t len = 0;
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        const struct queue *q = e->queues.by_name.slots[i].value;
        if (q != NULL && !q->v.gone && queue_is_known(q))
            views[len++] = view_of(e, q, cmd->arena);
    }
    if (len > 0)
        qsort(views, len, sizeof *views, by_name);
    cmd->reply.queues = views;
    cmd->reply.queue_count = len;
    command_done(e, cmd);
}

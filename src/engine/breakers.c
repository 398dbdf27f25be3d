/* breakers.c - what opens and closes breakers.
 *
 * A report counts; silence, a drain and a cancelled run say nothing about the target. The probe of a
 * half open breaker is written down with its lease, in one commit, so a restart neither forgets it
 * nor sends another one along. Whatever becomes of the probe without a report (lost, given back,
 * cancelled, its job edited to call something else) is noticed, at the latest after another rest,
 * and the next one may go. */
#include "engine/internal.h"

#include <stdlib.h>

static void change(struct engine *e, struct breaker *b, const struct breaker_values *to)
{
    struct touched *t = touch_breaker(e, b);
    t->durable = t->durable || to->state != b->v.state || to->probe != b->v.probe;
    ready_breaker(&e->ready, b, to);
}

static void tell(struct engine *e, const struct breaker *b, struct str actor)
{
    *VEC_PUSH(e->arena, &e->events) = (struct event){
        .at_ms = e->now_ms,
        .breaker = arena_str(e->arena, b->target), /* it may be forgotten with this turn */
        .breaker_state = b->v.state,
        .actor = actor,
    };
}

static struct breaker_values opened(const struct engine *e, const struct breaker *b)
{
    struct breaker_values to = b->v;
    int64_t rest_ms = e->ready.breakers.rule.rest_ms;
    if (to.opened_ms == 0)
        to.opened_ms = e->now_ms;
    to.state = BREAKER_OPEN;
    to.until_ms = e->now_ms + rest_ms;
    to.wake_ms = e->boot_ms + rest_ms;
    to.probe = 0;
    return to;
}

/* What it has seen so far is over: a target that works again starts with a clean record. */
static struct breaker_values closed(const struct engine *e)
{
    return (struct breaker_values){.window.since_ms = e->boot_ms};
}

static bool is_probe(const struct breaker *b, const struct exec *x)
{
    return b->v.state == BREAKER_HALF_OPEN && b->v.probe == x->id;
}

static void count(struct engine *e, struct breaker *b, const struct exec *x, bool failed)
{
    const struct breaker_rule *rule = &e->ready.breakers.rule;
    struct breaker_values to = b->v;
    bool probed = is_probe(b, x);
    if (probed && !failed)
        to = closed(e);
    breaker_count(&to.window, rule, e->boot_ms, failed);
    bool trips = b->v.state == BREAKER_CLOSED && breaker_trips(&to.window, rule);
    if (trips || (probed && failed)) {
        struct breaker_window window = to.window;
        to = opened(e, b);
        to.window = window;
    }
    change(e, b, &to);
    if (trips || probed)
        tell(e, b, SERVER);
    if (trips)
        alert_breaker_open(e, b);
}

static void free_probe(struct engine *e, struct breaker *b)
{
    struct breaker_values to = b->v;
    to.probe = 0;
    change(e, b, &to);
}

void breaker_started(struct engine *e, const struct exec *x)
{
    struct breaker *b = x->job->v.def->track->breaker;
    if (b == NULL || b->v.state != BREAKER_HALF_OPEN || PLANTED(probe_granted_twice))
        return;
    struct breaker_values to = b->v;
    to.probe = x->id;
    change(e, b, &to);
}

void breaker_heard(struct engine *e, const struct exec *x, enum exec_event event)
{
    struct breaker *b = x->job->v.def->track->breaker;
    if (b == NULL)
        return;
    switch (event) {
    case EV_SUCCEED: count(e, b, x, false); break;
    case EV_RETRY:
    case EV_EXHAUST:
    case EV_EXPIRE: count(e, b, x, true); break;
    case EV_LOST:
    case EV_QUARANTINE:
    case EV_RETURN:
    case EV_STOPPED:
    case EV_DEDUPLICATE:
        if (is_probe(b, x))
            free_probe(e, b);
        break;
    default: break;
    }
}

/* The probe still runs, and for this breaker. */
static bool is_probed(const struct engine *e, const struct breaker *b)
{
    const struct exec *x = map_get(&e->execs, b->v.probe);
    return x != NULL && exec_is_leased(x->v.state) && x->job->v.def->track->breaker == b;
}

void breaker_wake(struct engine *e, struct breaker *b)
{
    struct breaker_values to = b->v;
    if (b->members == 0) {
        to = closed(e); /* nothing waits: whatever comes will find out itself */
        to.gone = true;
    } else {
        to.state = BREAKER_HALF_OPEN;
        to.until_ms = 0;
        to.probe = is_probed(e, b) ? b->v.probe : 0;
        to.wake_ms = e->boot_ms + e->ready.breakers.rule.rest_ms;
    }
    bool turns = to.state != b->v.state && !to.gone;
    change(e, b, &to);
    if (turns)
        tell(e, b, SERVER);
}

void engine_load_breaker(struct engine *e, const struct breaker_rec *rec)
{
    struct breakers *all = &e->ready.breakers;
    if (all->rule.percent == 0 || rec->state == BREAKER_CLOSED)
        return;
    int64_t left_ms = rec->until_ms - e->now_ms;
    if (left_ms < 0 || rec->state == BREAKER_HALF_OPEN)
        left_ms = 0;
    if (left_ms > all->rule.rest_ms) /* the clock was set, or the setting */
        left_ms = all->rule.rest_ms;
    struct breaker *b = breaker_join(all, rec->target);
    struct breaker_values to = {
        .state = PLANTED(breaker_forgotten) ? BREAKER_CLOSED : rec->state,
        .opened_ms = rec->opened_ms,
        .until_ms = rec->until_ms,
        .wake_ms = e->boot_ms + left_ms,
        .probe = rec->probe,
    };
    ready_breaker(&e->ready, b, &to);
    breaker_leave(all, b); /* its jobs join it as they come */
}

struct breaker_rec breaker_record(const struct breaker *b)
{
    return (struct breaker_rec){
        .target = b->target,
        .state = b->v.state,
        .opened_ms = b->v.opened_ms,
        .until_ms = b->v.until_ms,
        .probe = b->v.probe,
    };
}

/* ---- commands */

enum { BREAKERS_SHOWN_MAX = 1000 };

static struct breaker_view view_of(const struct breaker *b, struct arena *arena)
{
    struct breaker_view view = {
        .breaker = breaker_record(b),
        .calls = b->v.window.calls + b->v.window.calls_before,
        .failures = b->v.window.failures + b->v.window.failures_before,
    };
    view.breaker.target = arena_str(arena, b->target);
    LIST_EACH(&b->tracks, node)
    view.waiting += CONTAINER_OF(node, struct track, on_breaker)->heap.len;
    return view;
}

/* Those that are left alone first. */
static int by_target(const void *a, const void *b)
{
    const struct breaker_view *left = a;
    const struct breaker_view *right = b;
    bool open = left->breaker.state != BREAKER_CLOSED;
    if (open != (right->breaker.state != BREAKER_CLOSED))
        return open ? -1 : 1;
    return str_cmp(left->breaker.target, right->breaker.target);
}

void decide_breakers(struct engine *e, struct command *cmd)
{
    const struct strmap *all = &e->ready.breakers.by_target;
    struct breaker_view *views = ARENA_ARRAY(cmd->arena, struct breaker_view, all->len);
    size_t len = 0;
    for (size_t i = 0; i < all->cap; i++) {
        const struct breaker *b = all->slots[i].value;
        if (b != NULL && (b->v.state != BREAKER_CLOSED || b->v.window.calls > 0))
            views[len++] = view_of(b, cmd->arena);
    }
    if (len > 0)
        qsort(views, len, sizeof *views, by_target);
    cmd->reply.breakers = views;
    cmd->reply.breaker_count = len < BREAKERS_SHOWN_MAX ? len : BREAKERS_SHOWN_MAX;
    command_done(e, cmd);
}

/* Somebody knows that the target works again. */
void decide_reset_breaker(struct engine *e, struct command *cmd)
{
    struct breaker *b = strmap_get(&e->ready.breakers.by_target, cmd->breaker.target);
    if (b == NULL) {
        command_fail(e, cmd, RC_NOT_FOUND, "there is no breaker '%.*s'",
                     STR_ARG(cmd->breaker.target));
        return;
    }
    bool turns = b->v.state != BREAKER_CLOSED;
    struct breaker_values to = closed(e);
    to.gone = b->members == 0;
    change(e, b, &to);
    if (turns)
        tell(e, b, cmd->actor);
    struct breaker_view *view = ARENA_NEW(cmd->arena, struct breaker_view);
    *view = view_of(b, cmd->arena);
    cmd->reply.breakers = view;
    cmd->reply.breaker_count = 1;
    command_done(e, cmd);
}

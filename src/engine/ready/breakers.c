/* breakers.c - what opens and closes breakers.
 *
 * A report counts; silence, a drain and a cancelled run say nothing about the target, and neither
 * does a failure that is the job's own fault (failure_blames_target). The probe of a half open
 * breaker is written down with its lease, in one commit, so a restart neither forgets it nor sends
 * another one along. One that is lost, given back or cancelled makes way for the next at once, and
 * one that runs for longer than a rest has another sent after it: so what takes long, or hangs,
 * holds up nothing else for ever.
 *
 * While a breaker is not closed nothing starts for its target but probes. So whatever began since
 * it opened is one, and the first that works closes it, however many were sent. A probe that fails
 * by its own fault closes it, too: nothing speaks against the target, and should it still fail, a
 * few calls will tell.
 *
 * An edit may give a job another target while it runs. An execution leased before stays charged to
 * the target of that time, which its row keeps as well, for as long as the lease lasts: a success
 * that comes later is charged to no target. */
#include "engine/ready/breakers.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/alerts.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/breaker.h"
#include "engine/ready/ready.h"
#include "engine/time/steps.h"

#include <assert.h>
#include <stdlib.h>

static void change(struct engine *e, struct breaker *b, const struct breaker_values *to)
{
    struct touched *t = touch_breaker(e, b);
    t->durable = t->durable || to->state != b->v.state || to->probe != b->v.probe;
    ready_breaker(&e->ready, b, to);
}

static void tell(struct engine *e, const struct breaker *b, struct str actor)
{
    *VEC_PUSH(e->turn.arena, &e->turn.events) = (struct event){
        .at_ms = e->now_ms,
        .breaker = arena_str(e->turn.arena, b->target), /* it may be forgotten with this turn */
        .breaker_state = b->v.state,
        .actor = actor,
    };
}

static void open_values(const struct engine *e, struct breaker_values *to)
{
    int64_t rest_ms = e->ready.breakers.rule.rest_ms;
    if (to->opened_ms == 0) {
        to->opened_ms = e->now_ms;
        to->unsure = e->moment.unsure;
        to->newer = steps_pending(e);
    }
    to->state = BREAKER_OPEN;
    to->until_ms = e->now_ms + rest_ms;
    to->wake_ms = e->boot_ms + rest_ms;
    to->probe = 0;
}

/* The counts so far are dropped: a target that works again starts with a clean record. */
static struct breaker_values closed(const struct engine *e)
{
    return (struct breaker_values){.window.since_ms = e->boot_ms};
}

/* It began since the target is left alone. */
static bool is_probe(const struct breaker *b, const struct exec *x)
{
    return b->v.state != BREAKER_CLOSED &&
           (b->v.probe == x->id || x->v.started_ms > b->v.opened_ms);
}

enum call_end {
    CALL_WORKED,
    CALL_FAILED,
    CALL_SAYS_NOTHING, /* it failed, by no fault of the target */
};

/* Calls that say nothing are not even counted: else many of them would hide those that fail. */
static void count(struct engine *e, struct breaker *b, const struct exec *x, enum call_end end)
{
    const struct breaker_rule *rule = &e->ready.breakers.rule;
    bool failed = end == CALL_FAILED;
    bool closes = is_probe(b, x) && !failed;
    if (end == CALL_SAYS_NOTHING && !closes)
        return;
    struct breaker_values to = closes ? closed(e) : b->v;
    to.gone = false; /* the execution charged to it may be the last that names it */
    if (end != CALL_SAYS_NOTHING)
        breaker_count(&to.window, rule, e->boot_ms, failed);
    bool trips = b->v.state == BREAKER_CLOSED && breaker_trips(&to.window, rule);
    bool fails_again = b->v.state == BREAKER_HALF_OPEN && failed && is_probe(b, x);
    if (trips || fails_again)
        open_values(e, &to);
    change(e, b, &to);
    if (trips || fails_again || closes)
        tell(e, b, SERVER);
    if (trips)
        alert_breaker_open(e, b);
}

static void free_probe(struct engine *e, struct breaker *b)
{
    struct breaker_values to = b->v;
    to.probe = 0;
    to.until_ms = 0;
    change(e, b, &to);
}

void breaker_started(struct engine *e, const struct exec *x)
{
    struct breaker *b = x->job->v.def->rules.track->breaker;
    if (b == NULL || b->v.state != BREAKER_HALF_OPEN || PLANTED(probe_granted_twice))
        return;
    struct breaker_values to = b->v;
    int64_t rest_ms = e->ready.breakers.rule.rest_ms;
    to.probe = x->id;
    to.until_ms = e->now_ms + rest_ms;
    to.wake_ms = e->boot_ms + rest_ms;
    change(e, b, &to);
}

/* NULL: its lease is charged to none, or to one that nobody names and that has nothing to
 * remember. */
static struct breaker *charged_breaker(const struct engine *e, const struct exec *x, bool recharged)
{
    const struct str *target = recharged ? map_get(&e->charges, x->id) : NULL;
    if (target == NULL)
        return x->job->v.def->rules.track->breaker;
    return target->len == 0 ? NULL : strmap_get(&e->ready.breakers.by_target, *target);
}

void breaker_heard(struct engine *e, const struct exec *x, const struct move *move, bool recharged)
{
    struct breaker *b = charged_breaker(e, x, recharged);
    if (b == NULL)
        return;
    switch (move->event) {
    case EV_SUCCEED: count(e, b, x, CALL_WORKED); break;
    case EV_RETRY:
    case EV_EXHAUST:
    case EV_EXPIRE: count(e, b, x, move->blameless ? CALL_SAYS_NOTHING : CALL_FAILED); break;
    case EV_LOST:
    case EV_QUARANTINE:
    case EV_RETURN:
    case EV_STOPPED:
    case EV_DEDUPLICATE:
        if (b->v.state == BREAKER_HALF_OPEN && b->v.probe == x->id)
            free_probe(e, b);
        break;
    default: break;
    }
}

/* ---- leases whose job names another breaker since
 *
 * They are few, so their targets stand beside the executions. A target stays the same for as long
 * as its lease does, and nothing is granted in a turn before its last edit: so undo has to know no
 * other text than the one that is there. */

const struct str *charge_of(const struct engine *e, const struct exec *x)
{
    return x->v.recharged ? map_get(&e->charges, x->id) : NULL;
}

void charge_keep(struct engine *e, struct exec *x, struct str target)
{
    struct str *charge = mem_new(sizeof *charge + target.len);
    struct buf text = {.ptr = (char *)(charge + 1), .cap = target.len, .max = target.len};
    buf_add(&text, target);
    *charge = buf_str(&text);
    assert(map_get(&e->charges, x->id) == NULL);
    map_put(&e->charges, x->id, charge);
    x->v.recharged = true;
}

void charge_drop(struct engine *e, const struct exec *x)
{
    if (e->charges.len > 0)
        free(map_remove(&e->charges, x->id));
}

void breaker_edited(struct engine *e, struct job *job, const struct definition *old)
{
    const struct breaker *before = old->rules.track->breaker;
    if (before == job->v.def->rules.track->breaker || PLANTED(edit_moves_blame))
        return;
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (!exec_is_leased(x->v.state) || x->v.recharged)
            continue;
        touch_exec(e, x)->durable = true;
        charge_keep(e, x, before == NULL ? STR("") : before->target);
    }
}

/* ---- rests that are over */

void breaker_wake(struct engine *e, struct breaker *b)
{
    struct breaker_values to = b->v;
    if (b->members == 0) {
        to = closed(e); /* nothing waits: the next call will find out itself */
        to.gone = true;
    } else {
        to.state = BREAKER_HALF_OPEN;
        to.until_ms = 0;
        to.probe = 0; /* one that still runs has had its time */
        to.wake_ms = e->boot_ms + e->ready.breakers.rule.rest_ms;
    }
    bool turns = to.state != b->v.state && !to.gone;
    change(e, b, &to);
    if (turns)
        tell(e, b, SERVER);
}

static int by_serial(const void *a, const void *b)
{
    const struct breaker *left = *(struct breaker *const *)a;
    const struct breaker *right = *(struct breaker *const *)b;
    return left->serial < right->serial ? -1 : left->serial > right->serial;
}

/* The time at which it opened moves as that of a run does: see shift() in steps.c. When its rest
 * ends is known by the boot clock. */
static void step(struct engine *e, struct breaker *b, int64_t by_ms)
{
    struct breaker_values to = b->v;
    int64_t until_ms = e->now_ms + to.wake_ms - e->boot_ms;
    if ((!e->clock.v.first || b->v.unsure) && !b->v.newer)
        to.opened_ms = step_moved_ms(to.opened_ms, by_ms);
    if (to.until_ms != 0)
        to.until_ms = until_ms > 0 ? until_ms : 1;
    to.unsure = to.newer = false;
    struct touched *t = touch_breaker(e, b);
    t->durable = t->durable || to.opened_ms != b->v.opened_ms || to.until_ms != b->v.until_ms;
    ready_breaker(&e->ready, b, &to);
}

void breakers_step(struct engine *e, int64_t by_ms)
{
    const struct strmap *all = &e->ready.breakers.by_target;
    struct breaker **open = ARENA_ARRAY(e->turn.arena, struct breaker *, all->len);
    size_t count = 0;
    for (size_t i = 0; i < all->cap; i++) {
        struct breaker *b = all->slots[i].value;
        if (b != NULL && b->v.state != BREAKER_CLOSED)
            open[count++] = b;
    }
    if (count > 0)
        qsort(open, count, sizeof *open, by_serial);
    for (size_t i = 0; i < count; i++)
        step(e, open[i], by_ms);
}

void engine_load_breaker(struct engine *e, const struct breaker_rec *rec)
{
    struct breakers *all = &e->ready.breakers;
    if (all->rule.percent == 0 || rec->state == BREAKER_CLOSED)
        return;
    int64_t left_ms = rec->until_ms - e->now_ms;
    if (left_ms < 0)
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

/* A user says that the target works again. */
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

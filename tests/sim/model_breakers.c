/* model_breakers.c - targets that are left alone: what is not closed, by what was kept of it. */
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

static struct model_breaker *find(const struct model *m, struct str target, uint32_t partition)
{
    for (size_t i = 0; i < m->breakers.len; i++) {
        struct model_breaker *b = &m->breakers.items[i];
        if (b->partition == partition && str_eq(b->rec.target, target))
            return b;
    }
    return NULL;
}

static bool calls(const struct model *m, const struct model_exec *x, struct str target)
{
    char text[SPEC_TARGET_MAX];
    return str_eq(rules_target(&model_wish(m, x->job)->rules, text), target);
}

bool breakers_same(const struct rules *a, const struct rules *b)
{
    char left[SPEC_TARGET_MAX];
    char right[SPEC_TARGET_MAX];
    return str_eq(rules_target(a, left), rules_target(b, right));
}

static bool is_in(const struct partition_set *owned, uint32_t partition)
{
    return partition < owned->count && (owned->bits >> partition & 1) != 0;
}

/* Each server leaves alone what its own calls say. NULL: none of these is known, or two are, by servers
 * that were; then the one that rests longer has counted, and nothing is said here. */
static struct model_breaker *breaker_of(const struct model *m, const struct model_exec *x,
                                        const struct partition_set *owned)
{
    struct model_breaker *found = NULL;
    for (size_t i = 0; i < m->breakers.len; i++) {
        struct model_breaker *b = &m->breakers.items[i];
        if (!is_in(owned, b->partition) || b->rec.state == BREAKER_CLOSED ||
            !calls(m, x, b->rec.target))
            continue;
        if (found != NULL)
            return NULL;
        found = b;
    }
    return found;
}

static uint32_t lowest(const struct partition_set *owned)
{
    uint32_t partition = 0;
    while (!is_in(owned, partition))
        partition++;
    return partition;
}

static bool was_reset(const struct turn_view *view, struct str target)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind == CMD_RESET_BREAKER && str_eq(cmd->breaker.target, target))
            return true;
    }
    return false;
}

/* ---- what counts */

/* Another job may have more luck: something is missing, forbidden or wrong in what this one was told, or
 * whoever failed has said that trying again cannot help. */
static bool is_own_fault(const struct model_attempt *attempt)
{
    bool lasts = attempt->class == FAILURE_PERMISSION || attempt->class == FAILURE_NOT_FOUND;
    return attempt->class == FAILURE_USER || attempt->permanent == PERMANENT_YES ||
           (lasts && attempt->permanent == PERMANENT_BY_CLASS);
}

static bool has_failed(const struct model_attempt *attempt)
{
    return attempt->outcome == OUTCOME_FAILED || attempt->outcome == OUTCOME_PERMANENT ||
           attempt->outcome == OUTCOME_TIMEOUT;
}

void breakers_count(struct world *w, const struct model_exec *x,
                    const struct model_attempt *attempt, const struct turn_view *view)
{
    struct model *m = &w->model;
    if (x->target.len == 0 || !has_failed(attempt) || is_own_fault(attempt))
        return;
    *VEC_PUSH(m->arena, &m->blames) = (struct model_blame){x->target, view->now.boot_ms};
}

/* Whatever a server has counted, it is among these. */
static void check_opened(struct world *w, struct str target, const struct turn_view *view)
{
    const struct model *m = &w->model;
    const struct breaker_rule *rule = &w->scene.engine.breaker;
    uint64_t failures = 0;
    for (size_t i = 0; i < m->blames.len; i++) {
        const struct model_blame *blame = &m->blames.items[i];
        failures +=
            blame->at_ms >= view->now.boot_ms - rule->window_ms && str_eq(blame->target, target);
    }
    PROMISE(w, failures > 0 && failures * 100 >= (uint64_t)rule->calls_min * rule->percent,
            "'%.*s' is left alone after %" PRIu64 " failures", STR_ARG(target), failures);
}

/* One that was started for the target has ended in this turn, and not by the target's fault. */
static bool somebody_worked(const struct model *m, struct str target)
{
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        for (size_t k = 0; k < x->attempts.len; k++) {
            const struct model_attempt *attempt = &x->attempts.items[k];
            if (attempt->ended_turn != m->turn ||
                !(str_eq(x->target, target) || calls(m, x, target)))
                continue;
            if (attempt->outcome == OUTCOME_SUCCEEDED ||
                (has_failed(attempt) && is_own_fault(attempt)))
                return true;
        }
    }
    return false;
}

/* ---- steps of a breaker */

static bool somebody_waits(const struct model *m, struct str target, const struct turn_view *view)
{
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        if (x->rec.state == EXEC_QUEUED && x->born_turn < view->turn &&
            partition_has(&view->owned, x->rec.id) && calls(m, x, target) &&
            !model_edited_now(m, x->job))
            return true;
    }
    return false;
}

/* The probe has the lease that it had before this turn. */
static bool runs_on(const struct model *m, uint64_t probe)
{
    const struct model_exec *x = model_exec(m, probe);
    return x != NULL && exec_is_leased(x->rec.state) &&
           (x->changed_turn != m->turn || x->rec.token == x->token_before);
}

/* Only a rest lets a probe go, and another one after it; only what was started since closes it, or somebody,
 * unless nobody waits any more. */
static void check_step(struct world *w, const struct model_breaker *before,
                       const struct breaker_rec *to, const struct turn_view *view)
{
    bool certain = before->loads == w->model.loads;
    if (before->rec.state == BREAKER_OPEN && to->state == BREAKER_HALF_OPEN) {
        PROMISE(w, !certain || view->now.boot_ms >= before->until_ms,
                "'%.*s' rested for too short a time", STR_ARG(to->target));
        saw(certain ? SAW_PROBE : SAW_PROBE_AFTER_RESTART);
    }
    if (before->rec.state == BREAKER_HALF_OPEN && to->state == BREAKER_HALF_OPEN &&
        before->rec.probe != to->probe && runs_on(&w->model, before->rec.probe)) {
        PROMISE(w, !certain || view->now.boot_ms >= before->until_ms,
                "'%.*s' sends a probe after another that has just begun", STR_ARG(to->target));
        saw(SAW_SECOND_PROBE);
    }
    if (before->rec.state == BREAKER_CLOSED || to->state != BREAKER_CLOSED)
        return;
    PROMISE(w,
            was_reset(view, to->target) || somebody_worked(&w->model, to->target) ||
                !somebody_waits(&w->model, to->target, view),
            "'%.*s' closed, and no probe succeeded", STR_ARG(to->target));
}

/* Closed is closed in all partitions of the server. */
static void close_all(struct model *m, struct str target, const struct partition_set *owned)
{
    for (size_t i = 0; i < m->breakers.len; i++) {
        struct model_breaker *b = &m->breakers.items[i];
        if (is_in(owned, b->partition) && str_eq(b->rec.target, target))
            b->rec.state = BREAKER_CLOSED;
    }
}

void breakers_keep(struct world *w, const struct breaker_rec *rec, const struct turn_view *view)
{
    struct model *m = &w->model;
    uint32_t partition = lowest(&view->owned);
    struct model_breaker *kept = find(m, rec->target, partition);
    if (kept == NULL) {
        kept = VEC_PUSH(m->arena, &m->breakers);
        *kept = (struct model_breaker){.rec.target = arena_str(m->arena, rec->target),
                                       .partition = partition};
    }
    check_step(w, kept, rec, view);
    if (rec->state != BREAKER_CLOSED && rec->opened_ms == view->now.wall_ms)
        check_opened(w, rec->target, view);
    struct str target = kept->rec.target;
    bool opens = rec->state == BREAKER_OPEN && kept->rec.state != BREAKER_OPEN;
    bool probes = rec->probe != 0 && rec->probe != kept->rec.probe;
    kept->rec = *rec;
    kept->rec.target = target;
    if (rec->state == BREAKER_CLOSED)
        close_all(m, target, &view->owned);
    if (opens)
        saw(SAW_BREAKER_OPEN);
    if (opens || probes) {
        kept->until_ms = view->now.boot_ms + w->scene.engine.breaker.rest_ms;
        kept->loads = m->loads;
    }
}

/* ---- leases */

/* What its lease is charged to, by what was kept. */
static void check_charge(struct world *w, const struct model_exec *x)
{
    char text[SPEC_TARGET_MAX];
    struct str named = rules_target(&model_wish(&w->model, x->job)->rules, text);
    if (w->scene.engine.breaker.percent == 0 || !exec_is_leased(x->rec.state))
        return;
    PROMISE(w, str_eq(x->rec.recharged ? x->rec.charged : named, x->target),
            "%s runs for '%.*s', and something else would be blamed", exec_label(w, x->rec.id),
            STR_ARG(x->target));
    if (x->rec.recharged)
        saw(SAW_OLD_TARGET);
}

void breakers_edited(struct world *w, const struct model_job *job)
{
    for (size_t i = 0; i < job->execs.len; i++)
        check_charge(w, job->execs.items[i]);
}

void breakers_granted(struct world *w, struct model_exec *x, const struct turn_view *view)
{
    char text[SPEC_TARGET_MAX];
    x->target =
        arena_str(w->model.arena, rules_target(&model_wish(&w->model, x->job)->rules, text));
    check_charge(w, x);
    const struct model_breaker *b = breaker_of(&w->model, x, &view->owned);
    if (b == NULL)
        return;
    PROMISE(w, b->rec.state != BREAKER_OPEN, "%s was granted, and '%.*s' is to be left alone",
            exec_label(w, x->rec.id), STR_ARG(b->rec.target));
    PROMISE(w, b->rec.state != BREAKER_HALF_OPEN || b->rec.probe == x->rec.id,
            "%s was granted beside the probe of '%.*s'", exec_label(w, x->rec.id),
            STR_ARG(b->rec.target));
}

/* By whatever server: who asks wants to know why it does not start. */
bool breakers_hold(const struct world *w, const struct model_exec *x)
{
    for (size_t i = 0; i < w->model.breakers.len; i++) {
        const struct model_breaker *b = &w->model.breakers.items[i];
        if (calls(&w->model, x, b->rec.target) &&
            (b->rec.state == BREAKER_OPEN ||
             (b->rec.state == BREAKER_HALF_OPEN && b->rec.probe != 0)))
            return true;
    }
    return false;
}

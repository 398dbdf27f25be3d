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
    const struct rules *rules = &model_wish(m, x->job)->rules;
    bool handled = rules->handler.len > 0;
    char text[64];
    struct buf named = {.ptr = text, .cap = sizeof text, .max = sizeof text};
    buf_add(&named, handled ? STR("handler:") : STR("command:"));
    buf_add(&named, handled ? rules->handler : rules->target);
    return str_eq(buf_str(&named), target);
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

/* Only a rest lets a probe go; only a probe or somebody closes it, unless nobody waits any more. */
static void check_step(struct world *w, const struct model_breaker *before,
                       const struct breaker_rec *to, const struct turn_view *view)
{
    if (before->rec.state == BREAKER_OPEN && to->state == BREAKER_HALF_OPEN) {
        bool certain = before->loads == w->model.loads;
        PROMISE(w, !certain || view->now.boot_ms >= before->until_ms,
                "'%.*s' rested for too short a time", STR_ARG(to->target));
        saw(certain ? SAW_PROBE : SAW_PROBE_AFTER_RESTART);
    }
    if (before->rec.state != BREAKER_HALF_OPEN || to->state != BREAKER_CLOSED)
        return;
    const struct model_exec *probe = model_exec(&w->model, before->rec.probe);
    bool waits = false;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        waits = waits ||
                (x->rec.state == EXEC_QUEUED && x->born_turn < view->turn &&
                 partition_has(&view->owned, x->rec.id) && calls(&w->model, x, before->rec.target));
    }
    PROMISE(w,
            !waits || was_reset(view, to->target) ||
                (probe != NULL && probe->rec.state == EXEC_COMPLETED),
            "'%.*s' closed, and its probe did not succeed", STR_ARG(to->target));
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
    struct str target = kept->rec.target;
    bool opens = rec->state == BREAKER_OPEN && kept->rec.state != BREAKER_OPEN;
    kept->rec = *rec;
    kept->rec.target = target;
    if (rec->state == BREAKER_CLOSED)
        close_all(m, target, &view->owned);
    if (opens) {
        saw(SAW_BREAKER_OPEN);
        kept->until_ms = view->now.boot_ms + w->scene.engine.breaker.rest_ms;
        kept->loads = m->loads;
    }
}

void breakers_granted(struct world *w, const struct model_exec *x, const struct turn_view *view)
{
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

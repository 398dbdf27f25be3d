/* model_alerts.c - who failed for good is told of, in that very turn, and not too often. */
#include "model.h"
#include "world.h"

#include <inttypes.h>

/* The newest by the same engine: each is quiet for itself. */
static struct model_alert *find(const struct model *m, struct str key, uint64_t load)
{
    for (size_t i = 0; i < m->alerts.len; i++) {
        if (m->alerts.items[i].loads == load && str_eq(m->alerts.items[i].key, key))
            return &m->alerts.items[i];
    }
    return NULL;
}

static bool is_quiet(const struct world *w, const struct model_alert *told, int64_t now_ms)
{
    return told != NULL && now_ms - told->told_ms < w->scene.engine.alerts.quiet_ms;
}

static void keep_alert(struct world *w, const struct alert_rec *alert, const struct turn_view *view)
{
    struct model *m = &w->model;
    struct model_alert *told = find(m, alert->key, view->load);
    PROMISE(w, !is_quiet(w, told, view->now.boot_ms), "'%.*s' is told again at once",
            STR_ARG(alert->key));
    if (told == NULL) {
        told = VEC_PUSH(m->arena, &m->alerts);
        *told = (struct model_alert){.key = arena_str(m->arena, alert->key), .loads = view->load};
    }
    told->id = alert->id;
    told->told_ms = view->now.boot_ms;
}

static struct str key_of(const struct world *w, const struct model_exec *x, char *bytes, size_t max)
{
    struct buf key = {.ptr = bytes, .cap = max, .max = max};
    const struct rules *rules = &model_wish(&w->model, x->job)->rules;
    bool handled = rules->handler.len > 0;
    buf_add(&key, STR("job_failed:"));
    if (x->job->rec.name.len > 0)
        buf_add(&key, x->job->rec.name);
    else if (x->job->schedule != NULL)
        buf_printf(&key, "%" PRIu64, x->job->rec.id);
    else if (w->scene.engine.breaker.percent == 0)
        buf_printf(&key, "%.*s:", STR_ARG(rules->queue));
    else
        buf_printf(&key, "%.*s:%s:%.*s", STR_ARG(rules->queue), handled ? "handler" : "command",
                   STR_ARG(handled ? rules->handler : rules->target));
    return buf_str(&key);
}

void alerts_keep(struct world *w, const struct delta *delta, const struct turn_view *view)
{
    char bytes[256];
    for (size_t i = 0; i < delta->alert_count; i++)
        keep_alert(w, &delta->alerts[i], view);
    for (size_t i = 0; i < delta->exec_count; i++) {
        const struct exec_rec *rec = &delta->execs[i].exec;
        if (rec->state != EXEC_FAILED && rec->state != EXEC_TIMEOUT)
            continue;
        struct str key = key_of(w, model_exec(&w->model, rec->id), bytes, sizeof bytes);
        PROMISE(w, is_quiet(w, find(&w->model, key, view->load), view->now.boot_ms),
                "%s failed for good, and nobody was told of '%.*s'", exec_label(w, rec->id),
                STR_ARG(key));
    }
}

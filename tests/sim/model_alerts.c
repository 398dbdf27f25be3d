/* model_alerts.c - who failed for good, or did not start in time, is told of, in that very turn, and
 * not too often. */
#include "coverage.h"
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

static struct str key_of(const struct world *w, struct str kind, const struct model_exec *x,
                         char *bytes, size_t max)
{
    struct buf key = {.ptr = bytes, .cap = max, .max = max};
    const struct rules *rules = &model_wish(&w->model, x->job)->rules;
    char target[SPEC_TARGET_MAX];
    buf_printf(&key, "%.*s:", STR_ARG(kind));
    if (x->job->rec.name.len > 0)
        buf_add(&key, x->job->rec.name);
    else if (x->job->schedule != NULL)
        buf_printf(&key, "%" PRIu64, x->job->rec.id);
    else if (w->scene.engine.breaker.percent == 0)
        buf_printf(&key, "%.*s:", STR_ARG(rules->queue));
    else
        buf_printf(&key, "%.*s:%.*s", STR_ARG(rules->queue), STR_ARG(rules_target(rules, target)));
    return buf_str(&key);
}

static struct model_told *find_told(const struct model *m, uint64_t id)
{
    for (size_t i = 0; i < m->told.len; i++) {
        if (m->told.items[i].id == id)
            return &m->told.items[i];
    }
    return NULL;
}

static void alert_leaves(struct world *w, uint64_t id, const struct turn_view *view)
{
    struct model_told *told = find_told(&w->model, id);
    int64_t keep_ms = w->scene.engine.alerts_keep_ms;
    PROMISE(w, told != NULL, "an alert was deleted that was not there");
    PROMISE(w, keep_ms != 0 && told->at_ms < view->now.wall_ms - keep_ms,
            "an alert was deleted after %" PRId64 " ms", view->now.wall_ms - told->at_ms);
    PROMISE(w, told->state != ALERT_PENDING, "an alert was deleted, and nobody was told of it");
    *told = w->model.told.items[--w->model.told.len];
    clocks_delete(w, view);
    saw(SAW_ALERT_FORGOTTEN);
}

/* What is there, and what may go. */
static void keep_told(struct world *w, const struct delta *delta, const struct turn_view *view)
{
    struct model *m = &w->model;
    for (size_t i = 0; i < delta->alert_count; i++)
        *VEC_PUSH(m->arena, &m->told) = (struct model_told){
            delta->alerts[i].id, delta->alerts[i].at_ms, delta->alerts[i].state};
    for (size_t i = 0; i < delta->alert_mark_count; i++) {
        struct model_told *told = find_told(m, delta->alert_marks[i].id);
        if (told != NULL)
            told->state = delta->alert_marks[i].state;
    }
    for (size_t i = 0; i < delta->alert_gone_count; i++)
        alert_leaves(w, delta->alerts_gone[i], view);
    for (size_t i = 0; i < delta->tally_gone_count; i++) {
        int64_t keep_ms = w->scene.engine.tallies_keep_ms;
        int64_t end_ms = (delta->tallies_gone[i].hour + 1) * TALLY_HOUR_MS;
        PROMISE(w, keep_ms != 0 && end_ms <= view->now.wall_ms - keep_ms,
                "numbers were deleted that are not old");
    }
}

void alerts_keep(struct world *w, const struct delta *delta, const struct turn_view *view)
{
    char bytes[256];
    for (size_t i = 0; i < delta->alert_count; i++)
        keep_alert(w, &delta->alerts[i], view);
    keep_told(w, delta, view);
    for (size_t i = 0; i < delta->exec_count; i++) {
        const struct exec_rec *rec = &delta->execs[i].exec;
        const struct model_exec *x = model_exec(&w->model, rec->id);
        if (x->late_turn == w->model.turn && !model_edited_now(&w->model, x->job)) {
            struct str late = key_of(w, STR("start_late"), x, bytes, sizeof bytes);
            PROMISE(w, is_quiet(w, find(&w->model, late, view->load), view->now.boot_ms),
                    "%s is late, and nobody was told of '%.*s'", exec_label(w, rec->id),
                    STR_ARG(late));
        }
        if (rec->state != EXEC_FAILED && rec->state != EXEC_TIMEOUT)
            continue;
        struct str key = key_of(w, STR("job_failed"), x, bytes, sizeof bytes);
        PROMISE(w, is_quiet(w, find(&w->model, key, view->load), view->now.boot_ms),
                "%s failed for good, and nobody was told of '%.*s'", exec_label(w, rec->id),
                STR_ARG(key));
    }
}

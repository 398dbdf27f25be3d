/* model_alerts.c - who failed for good, or did not start in time, is told of, in that very turn, and
 * not too often. */
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>

/* The newest by the same engine: each is quiet for itself. */
static struct model_alert *find(const struct model *m, struct str key, uint64_t load)
{
    for (size_t i = 0; i < m->alerts.len; i++) {
        if (m->alerts.items[i].loads == load && str_eq(m->alerts.items[i].key, key))
            return &m->alerts.items[i];
    }
    return NULL;
}

/* ---- silences */

enum said { SAID_NO, SAID_YES, SAID_UNCLEAR };

static bool fits(struct str pattern, struct str key)
{
    size_t stem = pattern.len - 1;
    if (pattern.ptr[stem] != '*')
        return str_eq(pattern, key);
    return key.len >= stem && memcmp(key.ptr, pattern.ptr, stem) == 0;
}

/* Whether one keeps alerts of this key from being sent in this turn. A turn that makes or ends one
 * may have decided before or after that, and the others hear of it within the lease of a node. */
static enum said is_silenced(const struct world *w, struct str key, const struct turn_view *view)
{
    const struct model *m = &w->model;
    bool known = model_settings_known(w, view->now.boot_ms);
    enum said said = SAID_NO;
    for (size_t i = 0; i < m->silences.len; i++) {
        const struct model_silence *s = &m->silences.items[i];
        bool is_new = s->kept_turn >= view->turn;
        bool was_there = s->gone_turn == 0 || s->gone_turn >= view->turn || !known;
        if (!fits(s->key, key) || s->until_ms <= view->now.wall_ms || !was_there)
            continue;
        if (!is_new && known && s->gone_turn == 0)
            return SAID_YES;
        said = SAID_UNCLEAR;
    }
    return said;
}

static struct model_silence *find_silence(const struct model *m, uint64_t id)
{
    for (size_t i = 0; i < m->silences.len; i++) {
        if (m->silences.items[i].id == id)
            return &m->silences.items[i];
    }
    return NULL;
}

static bool is_lifted(uint64_t id, const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind == CMD_LIFT_SILENCE && cmd->target.id == id)
            return true;
    }
    return false;
}

static void keep_silence(struct world *w, const struct silence_change *change,
                         const struct turn_view *view)
{
    struct model *m = &w->model;
    const struct silence_rec *rec = &change->silence;
    struct model_silence *kept = find_silence(m, rec->id);
    if (!change->forget) {
        PROMISE(w, kept == NULL, "a silence has the id of another");
        PROMISE(w, rec->until_ms > view->now.wall_ms, "a silence was over when it was made");
        *VEC_PUSH(m->arena, &m->silences) = (struct model_silence){
            rec->id, arena_str(m->arena, rec->key), rec->until_ms, m->turn, 0};
        return;
    }
    PROMISE(w, kept != NULL && kept->gone_turn == 0, "a silence was forgotten that was not there");
    PROMISE(w, kept->until_ms <= view->now.wall_ms || is_lifted(rec->id, view),
            "a silence is gone %" PRId64 " ms before its end, and nobody lifted it",
            kept->until_ms - view->now.wall_ms);
    if (!is_lifted(rec->id, view))
        saw(SAW_SILENCE_ENDED);
    kept->gone_turn = m->turn;
}

/* It is as a silence says, and nobody sends what is silenced. */
static void check_state(struct world *w, const struct alert_rec *alert,
                        const struct turn_view *view)
{
    bool silenced = alert->state == ALERT_SILENCED;
    enum said said = is_silenced(w, alert->key, view);
    PROMISE(w, silenced == (alert->silenced_by != 0), "an alert is silenced by nothing, or sent");
    PROMISE(w, said != SAID_YES || silenced, "'%.*s' is to be sent, and it is silenced",
            STR_ARG(alert->key));
    PROMISE(w, said != SAID_NO || !silenced, "'%.*s' is silenced, and no silence is over it",
            STR_ARG(alert->key));
    if (!silenced)
        return;
    saw(SAW_ALERT_SILENCED);
    const struct model_silence *by = find_silence(&w->model, alert->silenced_by);
    PROMISE(w, by != NULL ? fits(by->key, alert->key) : !model_settings_known(w, view->now.boot_ms),
            "'%.*s' is silenced by something else", STR_ARG(alert->key));
}

/* ---- what is told */

static bool is_recent(const struct world *w, const struct model_alert *told, int64_t now_ms)
{
    return told != NULL && now_ms - told->told_ms < w->scene.engine.alerts.quiet_ms;
}

/* Told a moment ago, and not only under a silence that is over: nothing need be told now. */
static bool is_quiet(const struct world *w, const struct model_alert *told,
                     const struct turn_view *view)
{
    return is_recent(w, told, view->now.boot_ms) &&
           (!told->silenced || is_silenced(w, told->key, view) != SAID_NO);
}

static void keep_alert(struct world *w, const struct alert_rec *alert, const struct turn_view *view)
{
    struct model *m = &w->model;
    struct model_alert *told = find(m, alert->key, view->load);
    bool anew = told != NULL && told->silenced && alert->state != ALERT_SILENCED;
    anew |= alert->kind == ALERT_MISSED; /* pings_told counts */
    PROMISE(w, anew || !is_recent(w, told, view->now.boot_ms), "'%.*s' is told again at once",
            STR_ARG(alert->key));
    check_state(w, alert, view);
    if (told == NULL) {
        told = VEC_PUSH(m->arena, &m->alerts);
        *told = (struct model_alert){.key = arena_str(m->arena, alert->key), .loads = view->load};
    }
    told->id = alert->id;
    told->told_ms = view->now.boot_ms;
    told->silenced = alert->state == ALERT_SILENCED;
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
        *VEC_PUSH(m->arena, &m->told) =
            (struct model_told){delta->alerts[i].id, delta->alerts[i].at_ms, delta->alerts[i].state,
                                delta->alerts[i].state == ALERT_SILENCED, false};
    for (size_t i = 0; i < delta->alert_mark_count; i++) {
        struct model_told *told = find_told(m, delta->alert_marks[i].id);
        if (told == NULL)
            continue;
        told->state = delta->alert_marks[i].state;
        PROMISE(w, !told->silenced, "an alert that was silenced is called sent");
    }
    for (size_t i = 0; i < delta->alert_ack_count; i++) {
        struct model_told *told = find_told(m, delta->alert_acks[i].id);
        PROMISE(w, told != NULL && !told->acked, "an alert is acknowledged twice");
        PROMISE(w, told->state != ALERT_PENDING, "an alert is acknowledged, and still to be sent");
        told->acked = true;
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
    for (size_t i = 0; i < delta->silence_count; i++)
        keep_silence(w, &delta->silences[i], view);
    for (size_t i = 0; i < delta->alert_count; i++)
        keep_alert(w, &delta->alerts[i], view);
    keep_told(w, delta, view);
    for (size_t i = 0; i < delta->exec_count; i++) {
        const struct exec_rec *rec = &delta->execs[i].exec;
        const struct model_exec *x = model_exec(&w->model, rec->id);
        if (x->late_turn == w->model.turn && !model_edited_now(&w->model, x->job)) {
            struct str late = key_of(w, STR("start_late"), x, bytes, sizeof bytes);
            PROMISE(w, is_quiet(w, find(&w->model, late, view->load), view),
                    "%s is late, and nobody was told of '%.*s'", exec_label(w, rec->id),
                    STR_ARG(late));
        }
        if ((rec->state != EXEC_FAILED && rec->state != EXEC_TIMEOUT) || rec->origin == ORIGIN_PING)
            continue;
        struct str key = key_of(w, STR("job_failed"), x, bytes, sizeof bytes);
        PROMISE(w, is_quiet(w, find(&w->model, key, view->load), view),
                "%s failed for good, and nobody was told of '%.*s'", exec_label(w, rec->id),
                STR_ARG(key));
    }
    pings_told(w, delta);
}

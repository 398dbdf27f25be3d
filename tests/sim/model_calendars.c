/* model_calendars.c - what calendars say, in the plainest form: spans of time, looked through one by
 * one.
 *
 * A turn that changes a calendar may have decided by the old one or by the new one, depending on what
 * came first in it. About jobs that go by such a calendar nothing is said in that turn; what it left
 * held is checked at its end. */
#include "base/when.h"
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

static struct model_calendar *find(const struct model *m, struct str name)
{
    for (size_t i = 0; i < m->calendars.len; i++) {
        if (str_eq(m->calendars.items[i].name, name))
            return &m->calendars.items[i];
    }
    return NULL;
}

bool model_has_calendar(const struct model *m, struct str name)
{
    const struct model_calendar *calendar = find(m, name);
    return calendar != NULL && calendar->plan != NULL;
}

/* ---- drawing and keeping them: a document says in its description which plan it is of */

struct str calendars_document(const struct model *m, const struct model_plan *plan,
                              struct arena *arena)
{
    char from[WHEN_TEXT_MAX];
    char to[WHEN_TEXT_MAX];
    struct str text =
        arena_printf(arena, "{\"description\":\"%zu\",\"policy\":\"%.*s\",\"windows\":[",
                     m->plans.len - 1, STR_ARG(words_name(&calendar_policy_words, plan->policy)));
    for (size_t i = 0; i < plan->span_count; i++)
        text = arena_printf(arena, "%.*s%s{\"from\":\"%s\",\"to\":\"%s\"}", STR_ARG(text),
                            i > 0 ? "," : "", when_format(from, plan->spans[i].from_ms).ptr,
                            when_format(to, plan->spans[i].to_ms).ptr);
    return arena_printf(arena, "%.*s]}", STR_ARG(text));
}

static const struct model_plan *plan_of(struct world *w, struct str document)
{
    struct str head = STR("{\"description\":\"");
    struct str rest = str_from(document, head.len);
    uint64_t no = UINT64_MAX;
    PROMISE(w, str_to_u64(str_cut(&rest, '"'), &no) && no < w->model.plans.len,
            "a calendar was kept that nobody wanted");
    return w->model.plans.items[no];
}

void calendars_keep(struct world *w, const struct calendar_change *change)
{
    struct model *m = &w->model;
    struct model_calendar *calendar = find(m, change->calendar.name);
    if (calendar == NULL) {
        calendar = VEC_PUSH(m->arena, &m->calendars);
        calendar->name = arena_str(m->arena, change->calendar.name);
    }
    calendar->changed_turn = m->turn;
    calendar->changed_ms = w->boot_ms;
    calendar->version = change->calendar.version;
    calendar->kept_ms = change->calendar.changed_ms;
    calendar->plan = change->forget ? NULL : plan_of(w, change->calendar.document);
    SAY(w, "kept", "calendar %.*s v%" PRIu32, STR_ARG(calendar->name), change->calendar.version);
}

/* ---- what they say */

/* Until when spans of this plan follow one another from that moment on; at_ms: none does. */
static int64_t covered_until(const struct model_plan *plan, int64_t at_ms)
{
    int64_t until_ms = at_ms;
    for (size_t i = 0; i < plan->span_count; i++) {
        if (plan->spans[i].from_ms <= until_ms && until_ms < plan->spans[i].to_ms) {
            until_ms = plan->spans[i].to_ms;
            i = (size_t)-1; /* another may begin there, or before */
        }
    }
    return until_ms;
}

struct model_ruling model_rule(const struct world *w, const struct model_job *job, int64_t at_ms)
{
    const struct rules *rules = &model_wish(&w->model, job)->rules;
    struct model_ruling all = {.verdict = CALENDAR_FREE};
    for (size_t i = 0; i < rules->calendar_count; i++) {
        const struct calendar_wish *wish = &rules->calendars[i];
        const struct model_calendar *calendar = find(&w->model, wish->name);
        const struct model_plan *plan = calendar == NULL ? NULL : calendar->plan;
        int64_t until_ms = plan == NULL ? at_ms : covered_until(plan, at_ms);
        if (until_ms == at_ms)
            continue;
        enum calendar_policy policy = wish->has_policy ? wish->policy : plan->policy;
        enum verdict verdict = policy == CALENDAR_HOLD ? CALENDAR_HOLDS : CALENDAR_SKIPS;
        if (verdict > all.verdict || (verdict == all.verdict && until_ms > all.until_ms))
            all = (struct model_ruling){verdict, until_ms};
    }
    return all;
}

/* The server that tries the turn under way has heard of its newest change. */
static bool is_known(const struct world *w, const struct model_calendar *calendar)
{
    int64_t by_ms = calendar->changed_ms + w->scene.node_lease_ms;
    return !w->cluster || (calendar->plan != NULL && w->door->view->now.boot_ms > by_ms);
}

bool model_calendars_unclear(const struct world *w, const struct model_job *job)
{
    const struct rules *rules = &model_wish(&w->model, job)->rules;
    if (model_edited_now(&w->model, job))
        return true;
    for (size_t i = 0; i < rules->calendar_count; i++) {
        const struct model_calendar *calendar = find(&w->model, rules->calendars[i].name);
        if (calendar == NULL && w->cluster)
            return true; /* it was lost, perhaps */
        if (calendar != NULL && (calendar->changed_turn == w->model.turn || !is_known(w, calendar)))
            return true;
    }
    return false;
}

bool model_is_held_by_calendar(const struct exec_rec *rec)
{
    return rec->state == EXEC_SCHEDULED && rec->ready_ms > 0;
}

/* ---- each step has its reason */

void calendars_step(struct world *w, const struct model_exec *x, enum exec_event event,
                    struct str reason, const struct exec_rec *to, const struct turn_view *view)
{
    struct model_ruling now = model_rule(w, x->job, view->now.wall_ms);
    if (model_calendars_unclear(w, x->job))
        return;
    if (event == EV_HOLD)
        PROMISE(w,
                now.verdict == CALENDAR_HOLDS &&
                    (now.until_ms == to->due_ms || exec_is_final(to->state)), /* replaced at once */
                "%s is held until %" PRId64 ", and nothing says so", exec_label(w, to->id),
                to->due_ms);
    if (event == EV_SKIP && x->rec.origin == ORIGIN_ONCE && str_starts(reason, STR("calendar '"))) {
        PROMISE(w, now.verdict == CALENDAR_SKIPS, "%s is skipped, and no calendar says so",
                exec_label(w, to->id));
        saw(SAW_CALENDAR_SKIP);
    }
    bool starts = event == EV_DUE || event == EV_BLOCK ||
                  (event == EV_SKIP && str_starts(reason, STR("overlap: ")));
    PROMISE(w, !starts || now.verdict == CALENDAR_FREE,
            "%s becomes ready in a time that a calendar excludes", exec_label(w, to->id));
}

bool calendars_let_go(const struct world *w, const struct model_exec *x,
                      const struct turn_view *view)
{
    bool free = model_rule(w, x->job, view->now.wall_ms).verdict != CALENDAR_HOLDS;
    if (!model_is_held_by_calendar(&x->rec) || (!free && !model_calendars_unclear(w, x->job)))
        return false;
    saw(SAW_LET_GO_EARLY);
    return true;
}

/* ---- what holds between turns */

void calendars_check_held(struct world *w, const struct model_exec *x, int64_t now_ms)
{
    struct model_ruling now = model_rule(w, x->job, now_ms);
    if (!model_is_held_by_calendar(&x->rec) || x->job->rec.state == JOB_PAUSED ||
        (!w->cluster && !model_calendars_unclear(w, x->job)))
        return;
    if (w->cluster)
        saw(SAW_CALENDAR_HEARD);
    PROMISE(w, now.verdict == CALENDAR_HOLDS && now.until_ms == x->rec.due_ms,
            "a calendar was changed, and %s is held as it was before", exec_label(w, x->rec.id));
}

static bool goes_by(const struct world *w, const struct model_job *job, struct str name)
{
    const struct rules *rules = &model_wish(&w->model, job)->rules;
    for (size_t i = 0; i < rules->calendar_count; i++) {
        if (str_eq(rules->calendars[i].name, name))
            return true;
    }
    return false;
}

static bool is_needed(const struct world *w, struct str name, bool also_over)
{
    for (size_t i = 0; i < w->model.jobs.len; i++) {
        const struct model_job *job = w->model.jobs.items[i];
        if (goes_by(w, job, name) && (also_over || !job_is_over(job->rec.state)))
            return true;
    }
    return false;
}

bool calendars_are_needed(const struct world *w, struct str name)
{
    return is_needed(w, name, false);
}

void calendars_check_answer(struct world *w, const struct command *cmd, bool kept_nothing)
{
    struct str name = cmd->calendar.name;
    if (!cmd->calendar.forget)
        return;
    bool gone = !model_has_calendar(&w->model, name); /* or put anew in the same turn */
    PROMISE(w, cmd->reply.rc != RC_OK || !gone || !is_needed(w, name, false),
            "the calendar %.*s is deleted, and a job goes by it", STR_ARG(name));
    PROMISE(w, cmd->reply.rc != RC_CONFLICT || !kept_nothing || is_needed(w, name, true),
            "the calendar %.*s is not deleted, though no job ever went by it", STR_ARG(name));
    PROMISE(w,
            cmd->reply.rc != RC_NOT_FOUND || !kept_nothing || !model_has_calendar(&w->model, name),
            "there is a calendar %.*s, and it was not found", STR_ARG(name));
}

/* model_waits.c - jobs that wait for other jobs: whether each is where it should be. */
#include "coverage.h"
#include "model.h"
#include "world.h"

bool model_waits(const struct world *w, const struct model_exec *x)
{
    return x->number == 1 && w->model.wishes.items[x->job->submission].wait_count > 0;
}

void waits_step(struct world *w, struct model_exec *x, enum exec_event event, struct str reason,
                const struct turn_view *view)
{
    enum exec_state from = x->rec.state;
    if (event == EV_BLOCK)
        x->blocked_turn = w->model.turn;
    x->settled_before |= event == EV_PLAN && from == EXEC_BLOCKED && !x->replanned;
    x->replanned &= event != EV_PLAN && event != EV_BLOCK;
    if (event == EV_DUE && from != EXEC_RETRYING && !x->settled_before)
        x->begun_turn = w->model.turn;
    if (event == EV_SKIP && str_starts(reason, STR("it ")))
        x->hopeless_turn = w->model.turn;
    if (event == EV_DUE && from == EXEC_BLOCKED && model_waits(w, x) && !model_recurs(x))
        PROMISE(w, view->now.wall_ms >= x->rec.slot_ms || model_edited_now(&w->model, x->job),
                "%s goes on before its time", exec_label(w, x->rec.id));
}

static bool is_over(const struct model *m, const struct model_job *job)
{
    for (size_t i = 0; i < m->execs.len; i++) {
        if (m->execs.items[i]->job == job && !exec_is_final(m->execs.items[i]->rec.state))
            return false;
    }
    return job_is_over(job->rec.state);
}

/* Somebody runs it again since this very turn: whether what came before that saw its end is a
 * matter of the order in which the turn took its commands. */
static bool runs_again(const struct model *m, const struct model_job *job)
{
    const struct model_exec *last = model_exec(m, job->rec.last_exec);
    return last != NULL && last->number > 1 && last->born_turn == m->turn;
}

/* How it stands after this turn. Once settled it stays so, whatever becomes of the other job. */
static void settle_wait(struct world *w, struct wish *wish, struct model_wait *wait)
{
    const struct model *m = &w->model;
    uint64_t id = wait->job_id != 0 ? wait->job_id : m->wishes.items[wait->wish].job_id;
    const struct model_job *upstream = model_job(m, id);
    if (w->cluster && upstream != NULL && upstream->execs.len > 1)
        wish->unclear = true; /* run again, perhaps before its owner was asked */
    if (w->cluster && upstream == NULL)
        wish->unclear = true; /* deleted, perhaps before its owner was asked about it */
    if (wait->state != 0 && wait->state != DEPENDENCY_WAITING)
        return;
    if (w->cluster && upstream == NULL) {
        wait->state = DEPENDENCY_IMPOSSIBLE;
        return;
    }
    PROMISE(w, upstream != NULL, "a job was kept that waits for one that was not");
    if (wait->state == 0)
        wait->state = DEPENDENCY_WAITING;
    wish->unclear |= runs_again(m, upstream);
    if (!is_over(m, upstream))
        return;
    bool met = wait->type == DEPENDS_COMPLETION ||
               upstream->rec.state == (wait->type == DEPENDS_SUCCESS ? JOB_COMPLETED : JOB_FAILED);
    wait->state = met ? DEPENDENCY_MET : DEPENDENCY_IMPOSSIBLE;
    saw(met ? SAW_DEPENDENCY_MET : SAW_DEPENDENCY_IMPOSSIBLE);
}

/* ---- where a job that recurs is on either end */

/* Also one that was deleted since. */
static const struct model_job *upstream_of(const struct model *m, const struct model_wait *wait)
{
    uint64_t id = wait->job_id != 0 ? wait->job_id : m->wishes.items[wait->wish].job_id;
    return map_get(&m->job_by_id, id);
}

static bool is_per_slot(const struct model *m, const struct model_exec *x)
{
    const struct wish *wish = &m->wishes.items[x->job->submission];
    for (size_t i = 0; i < wish->wait_count; i++) {
        if (x->job->schedule != NULL || upstream_of(m, &wish->waits[i])->schedule != NULL)
            return true;
    }
    return false;
}

/* The slot that counts: the latest at or before the other's own. */
static const struct model_exec *latest(const struct model_job *job, int64_t until_ms)
{
    const struct model_exec *found = NULL;
    for (size_t i = 0; i < job->execs.len; i++) {
        const struct model_exec *x = job->execs.items[i];
        if (x->rec.origin == ORIGIN_SLOT && x->rec.slot_ms <= until_ms &&
            (found == NULL || x->rec.slot_ms >= found->rec.slot_ms)) /* a moment may come again */
            found = x;
    }
    return found;
}

static enum dependency_state as_of_job(const struct model *m, const struct model_job *job,
                                       enum dependency_type type)
{
    if (!is_over(m, job))
        return DEPENDENCY_WAITING;
    bool met = type == DEPENDS_COMPLETION ||
               job->rec.state == (type == DEPENDS_SUCCESS ? JOB_COMPLETED : JOB_FAILED);
    return met ? DEPENDENCY_MET : DEPENDENCY_IMPOSSIBLE;
}

static enum dependency_state as_of_slot(const struct model_exec *slot, enum dependency_type type)
{
    if (slot == NULL)
        return DEPENDENCY_MET; /* there is nothing to wait for */
    enum exec_state state = slot->rec.state;
    if (!exec_is_final(state))
        return DEPENDENCY_WAITING;
    bool success = state == EXEC_COMPLETED || state == EXEC_DEDUPLICATED;
    bool met = type == DEPENDS_COMPLETION || (type == DEPENDS_SUCCESS && success) ||
               (type == DEPENDS_FAILURE && (state == EXEC_FAILED || state == EXEC_TIMEOUT));
    return met ? DEPENDENCY_MET : DEPENDENCY_IMPOSSIBLE;
}

/* Whatever was met for the moment before says nothing about the new one. */
void waits_replanned(struct world *w, struct model_exec *x, const struct wish *edit,
                     const struct turn_view *view)
{
    const struct model *m = &w->model;
    const struct wish *wish = &m->wishes.items[x->job->submission];
    int64_t now_ms = view->now.wall_ms;
    for (size_t i = 0; i < wish->wait_count && x->rec.state == EXEC_BLOCKED; i++) {
        const struct model_job *upstream = upstream_of(m, &wish->waits[i]);
        const struct model_exec *slot = latest(upstream, x->rec.slot_ms);
        if (slot != NULL && as_of_slot(slot, wish->waits[i].type) == DEPENDENCY_MET)
            saw(SAW_MET_MOVED);
    }
    x->settled_before = false;
    x->replanned = x->rec.state == EXEC_BLOCKED &&
                   (edit->when == WHEN_DELAY ? edit->when_ms > 0
                                             : edit->when == WHEN_AT && edit->when_ms > now_ms);
}

/* The turn in which it began to wait. */
static uint64_t waits_since(const struct model_exec *x)
{
    return x->blocked_turn != 0 ? x->blocked_turn : x->born_turn;
}

/* It went on because everything is met, or was skipped because something never will be. */
static void check_slot_waits(struct world *w, const struct model_exec *x)
{
    const struct model *m = &w->model;
    const struct wish *wish = &m->wishes.items[x->job->submission];
    size_t counts[DEPENDENCY_STATES] = {0};
    if (x->rec.retry_of != 0 || x->rec.origin == ORIGIN_REQUEST ||
        (x->begun_turn != m->turn && x->hopeless_turn != m->turn) || model_edited_now(m, x->job))
        return;
    for (size_t i = 0; i < wish->wait_count; i++) {
        const struct model_job *upstream = upstream_of(m, &wish->waits[i]);
        enum dependency_type type = wish->waits[i].type;
        if (upstream->schedule == NULL && upstream->execs.len > 1)
            return; /* it was run again, perhaps after it had settled this */
        if (upstream->schedule == NULL && !partition_has(&w->door->view->owned, upstream->rec.id))
            return; /* how it stood when it was asked is hard to say */
        const struct model_exec *slot = latest(upstream, x->rec.slot_ms);
        if (upstream->forgotten_turn != 0 || (slot != NULL && slot->forgotten_turn != 0))
            return; /* nobody knows any more */
        if (slot != NULL && slot->born_turn > waits_since(x))
            return; /* the clock went back: there was no such slot when it was looked for */
        if (model_edited_now(m, upstream))
            return; /* which slot was the latest depends on the order of commands */
        counts[upstream->schedule == NULL ? as_of_job(m, upstream, type)
                                          : as_of_slot(slot, type)]++;
    }
    if (x->hopeless_turn == m->turn) {
        PROMISE(w, counts[DEPENDENCY_IMPOSSIBLE] > 0,
                "%s was skipped, though all it waits for can be", exec_label(w, x->rec.id));
        saw(SAW_SLOT_IMPOSSIBLE);
        return;
    }
    PROMISE(w, counts[DEPENDENCY_MET] == wish->wait_count,
            "%s went on, and of what it waits for %zu are not over and %zu can never be",
            exec_label(w, x->rec.id), counts[DEPENDENCY_WAITING], counts[DEPENDENCY_IMPOSSIBLE]);
    saw(SAW_SLOT_MET);
}

/* ---- where both run once */

/* It is blocked exactly while something is missing, and skipped exactly when something never
 * comes: in the turn that decides it, not later. */
static void check_waits(struct world *w, const struct model_exec *x)
{
    struct wish *wish = &w->model.wishes.items[x->job->submission];
    size_t counts[DEPENDENCY_STATES] = {0};
    if (wish->wait_count > 0 && is_per_slot(&w->model, x)) {
        check_slot_waits(w, x);
        return;
    }
    if (x->number != 1 || wish->wait_count == 0)
        return;
    bool was_settled = x->changed_turn != w->model.turn && x->rec.state != EXEC_BLOCKED;
    for (size_t i = 0; i < wish->wait_count; i++) {
        if (!was_settled)
            settle_wait(w, wish, &wish->waits[i]);
        counts[wish->waits[i].state]++;
    }
    bool excluded = x->rec.state == EXEC_SKIPPED && str_starts(x->rec.error, STR("calendar '"));
    if (was_settled || wish->unclear || x->rec.state == EXEC_CANCELLED ||
        x->rec.state == EXEC_EXPIRED || excluded)
        return;
    if (w->cluster && x->rec.state == EXEC_BLOCKED)
        return; /* who has ended is elsewhere, and its mail on the way */
    PROMISE(w, (x->rec.state == EXEC_SKIPPED) == (counts[DEPENDENCY_IMPOSSIBLE] > 0),
            "%s is %.*s, and of what it waits for %zu can never be", exec_label(w, x->rec.id),
            STR_ARG(exec_state_name(x->rec.state)), counts[DEPENDENCY_IMPOSSIBLE]);
    PROMISE(w,
            x->rec.state == EXEC_SKIPPED ||
                (x->rec.state == EXEC_BLOCKED) == (counts[DEPENDENCY_WAITING] > 0),
            "%s is %.*s, and %zu that it waits for are not over", exec_label(w, x->rec.id),
            STR_ARG(exec_state_name(x->rec.state)), counts[DEPENDENCY_WAITING]);
}

void model_check_waits(struct world *w)
{
    for (size_t i = 0; i < w->model.execs.len; i++)
        check_waits(w, w->model.execs.items[i]);
}

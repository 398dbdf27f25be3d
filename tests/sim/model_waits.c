/* model_waits.c - jobs that wait for other jobs: whether each is where it should be. */
#include "coverage.h"
#include "model.h"
#include "world.h"

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
    if (wait->state != 0 && wait->state != DEPENDENCY_WAITING)
        return; /* it may have been deleted since */
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

/* It is blocked exactly while something is missing, and skipped exactly when something never
 * comes: in the turn that decides it, not later. */
static void check_waits(struct world *w, const struct model_exec *x)
{
    struct wish *wish = &w->model.wishes.items[x->job->submission];
    size_t counts[DEPENDENCY_STATES] = {0};
    if (x->number != 1 || wish->wait_count == 0)
        return;
    bool was_settled = x->changed_turn != w->model.turn && x->rec.state != EXEC_BLOCKED;
    for (size_t i = 0; i < wish->wait_count; i++) {
        if (!was_settled)
            settle_wait(w, wish, &wish->waits[i]);
        counts[wish->waits[i].state]++;
    }
    if (was_settled || wish->unclear || x->rec.state == EXEC_CANCELLED ||
        x->rec.state == EXEC_EXPIRED)
        return;
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

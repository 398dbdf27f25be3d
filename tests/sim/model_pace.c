/* model_pace.c - who takes much longer than usual: told when that is so, and once for an attempt. */
#include "coverage.h"
#include "job/record/trail.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

/* What completed runs of the job took. *ret_same: all of them had ended by then, so a question since
 * was answered the same. By the boot clock: a step of the other one moves what runs, and not what
 * has ended. */
static struct sketch paces_until(const struct model_job *job, int64_t until_boot_ms, bool *ret_same)
{
    struct sketch took = {0};
    *ret_same = true;
    for (size_t i = 0; i < job->execs.len; i++) {
        const struct exec_rec *rec = &job->execs.items[i]->rec;
        int64_t ms = rec->finished_ms - rec->started_ms;
        if (rec->state != EXEC_COMPLETED)
            continue;
        sketch_add(&took, ms > 0 ? (uint64_t)ms : 0);
        *ret_same = *ret_same && job->execs.items[i]->ended_boot_ms < until_boot_ms;
    }
    return took;
}

bool pace_note(struct world *w, struct model_exec *x, const struct trail_step *step,
               const struct turn_view *view)
{
    const struct alert_rules *rules = &w->scene.engine.alerts;
    const char *label = exec_label(w, x->rec.id);
    int64_t took_ms = view->now.wall_ms - x->rec.started_ms;
    bool same;
    if (!str_eq(step->event, STR("slow")))
        return false;
    int64_t asked_boot_ms = w->boot_ms - took_ms + rules->slow_min_ms;
    struct sketch runs = paces_until(x->job, asked_boot_ms, &same);
    int64_t slow_ms = (int64_t)sketch_quantile(&runs, 950) * rules->slow_pct / 100;
    PROMISE(w, x->rec.state == EXEC_RUNNING && x->job->schedule != NULL,
            "%s is said to be slow, and it does not run, or only once", label);
    PROMISE(w, !x->slow, "%s is said to be slow once more", label);
    PROMISE(w, took_ms >= rules->slow_min_ms, "%s is said to be slow after %" PRId64 " ms", label,
            took_ms);
    PROMISE(w, runs.total >= rules->slow_runs_min,
            "%s is said to be slow, and nobody knows what is usual", label);
    /* Numbers that were deleted since are no longer usual. */
    PROMISE(w, !same || w->scene.engine.tallies_keep_ms != 0 || took_ms >= slow_ms,
            "%s is said to be slow after %" PRId64 " ms, and %" PRId64 " would be", label, took_ms,
            slow_ms);
    x->slow = true;
    saw(SAW_SLOW);
    SAY(w, "kept", "%s slow", label);
    return true;
}

void pace_check(struct world *w, const struct model_exec *x)
{
    PROMISE(w, exec_is_final(x->rec.state) || x->slow == ((x->rec.sla_marks & SLA_SLOW) != 0),
            "%s: what was told about its pace is not what was kept", exec_label(w, x->rec.id));
}

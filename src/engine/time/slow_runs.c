/* slow_runs.c - runs that take much longer than those of their job usually do.
 *
 * The usual time is the p95 of a job that recurs, from its tally (job/record/tally.h), which the
 * store has. Most runs are short, so no question is asked when one starts: a run that has taken
 * slow_min_ms is looked at once, in the turn after that, and from the answer follows when it is
 * slow. So a short run costs a timer, a long one a question, and the alert comes while it runs,
 * when there is still something to be looked at. That it was told is kept with the execution
 * (SLA_SLOW), so a restart does not tell it again; the rest is memory, and after a restart found
 * out anew. */
#include "engine/time/slow_runs.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/alerts.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"

#include <inttypes.h>

enum {
    ASKED_MAX = 16,      /* jobs in one turn: a few milliseconds */
    ROWS_MAX = 500,      /* of a tally, the newest: weeks of a job that runs each hour */
    USUAL_PERMILLE = 950 /* "usual": 95 of 100 runs do not exceed it */
};

bool slow_runs_watches(const struct engine *e, const struct exec *x)
{
    return e->options.alerts.slow_pct > 0 && x->job->v.def->schedule != NULL &&
           x->v.state == EXEC_RUNNING && !(x->v.sla_marks & SLA_SLOW);
}

static int64_t limit_ms(const struct engine *e, const struct exec *x)
{
    const struct alert_rules *rules = &e->options.alerts;
    int64_t slow_ms = x->v.usual_ms * rules->slow_pct / 100;
    return slow_ms > rules->slow_min_ms ? slow_ms : rules->slow_min_ms;
}

int64_t pace_next_ms(const struct engine *e, const struct exec *x)
{
    if (!slow_runs_watches(e, x) || x->v.pace == PACE_ASKING || x->v.pace == PACE_FREE)
        return 0;
    int64_t ms = x->v.started_ms +
                 (x->v.pace == PACE_KNOWN ? limit_ms(e, x) : e->options.alerts.slow_min_ms);
    return ms > 0 ? ms : 1;
}

/* ---- when the moment has come */

static void set_pace(struct engine *e, struct exec *x, enum pace pace, int64_t usual_ms)
{
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.pace = pace;
    to.usual_ms = usual_ms;
    exec_set(e, x, &to);
}

static void tell(struct engine *e, struct exec *x)
{
    char took[WHEN_TEXT_MAX];
    char usual[WHEN_TEXT_MAX];
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.sla_marks |= SLA_SLOW;
    exec_set(e, x, &to);
    int64_t took_ms = e->now_ms - x->v.started_ms;
    struct str why = arena_printf(
        e->turn.arena, "has run for %.*s, and 95 of 100 runs of its job take at most %.*s",
        STR_ARG(duration_format(took, took_ms > 0 ? took_ms : 0)),
        STR_ARG(duration_format(usual, x->v.usual_ms)));
    exec_note(e, x, STR("slow"), SERVER, arena_printf(e->turn.arena, "it %.*s", STR_ARG(why)));
    alert_slow(e, x, why);
}

void slow_runs_due(struct engine *e, struct exec *x)
{
    if (x->v.pace == PACE_KNOWN)
        tell(e, x);
    else
        set_pace(e, x, PACE_ASKING, 0);
}

/* ---- asking */

void slow_runs_ask(struct engine *e, struct question_list *list)
{
    const struct heap_item *first;
    e->turn.paces_asked.len = 0;
    while (e->turn.paces_asked.len < ASKED_MAX && (first = heap_min(&e->pacing)) != NULL) {
        struct exec *x = CONTAINER_OF(first->node, struct exec, ready);
        struct question *q = ARENA_NEW(e->turn.arena, struct question);
        char id[ID_TEXT_MAX];
        *q = (struct question){.kind = ASK_PACE, .limit = ROWS_MAX};
        q->name = arena_str(e->turn.arena, id_format(id, ID_JOB, x->job->id));
        heap_remove(&e->pacing, &x->ready); /* for the moment, so that the next one is first */
        *VEC_PUSH(e->turn.arena, &e->turn.paces_asked) = (struct slow_runs_asked){x->id, q};
        *VEC_PUSH(e->turn.arena, list) = q;
    }
    for (size_t i = 0; i < e->turn.paces_asked.len; i++) {
        struct exec *x = map_get(&e->execs, e->turn.paces_asked.items[i].exec_id);
        heap_push(&e->pacing, &x->ready, x->id, 0);
    }
}

/* Commands came in between: the run that was asked about may be over, or run again. */
void slow_runs_answer(struct engine *e)
{
    for (size_t i = 0; i < e->turn.paces_asked.len; i++) {
        struct exec *x = map_get(&e->execs, e->turn.paces_asked.items[i].exec_id);
        const struct sketch *runs = e->turn.paces_asked.items[i].question->answer.pace;
        if (x == NULL || !slow_runs_watches(e, x) || x->v.pace != PACE_ASKING)
            continue;
        uint64_t runs_min = PLANTED(slow_by_any_run) ? 1 : e->options.alerts.slow_runs_min;
        if (runs == NULL || runs->total < runs_min)
            set_pace(e, x, PACE_FREE, 0);
        else
            set_pace(e, x, PACE_KNOWN, (int64_t)sketch_quantile(runs, USUAL_PERMILLE));
    }
}

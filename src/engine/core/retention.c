/* retention.c - what is too old goes, a little at a time.
 *
 * From time to time a pass goes over what has ended and over alerts, by id, over the dead letters,
 * by their deaths, and over the numbers of reports, by their hours: some rows in a turn, and a
 * pause before the next, so that no submission has to wait for a long deletion. How far a pass has
 * come is not kept: a new server begins a new one. */
#include "engine/core/retention.h"
#include "base/plant.h"
#include "engine/core/letters.h"
#include "engine/core/model.h"
#include "engine/time/steps.h"

enum {
    PASSES = 30, /* in the time that things are kept, so they are gone within a thirtieth more */
    PASS_MIN_MS = 100,
    PASS_MAX_MS = 3600000,
    PUT_OFF_MS = 3600000, /* after one that the store refused */
    SPARE = 3, /* a store may keep the past for a third longer, if it goes more cheaply then */
};

/* The shortest time that anything is kept; 0: all is kept for ever. */
static int64_t keep_min_ms(const struct engine *e)
{
    const struct engine_options *o = &e->options;
    const int64_t all_ms[] = {o->letters_keep_ms, o->history_keep_ms, o->alerts_keep_ms,
                              o->tallies_keep_ms};
    int64_t min_ms = 0;
    for (size_t i = 0; i < COUNT_OF(all_ms); i++) {
        if (all_ms[i] != 0 && (min_ms == 0 || all_ms[i] < min_ms))
            min_ms = all_ms[i];
    }
    return min_ms;
}

static int64_t pass_ms(const struct engine *e)
{
    int64_t ms = keep_min_ms(e) / PASSES;
    return ms < PASS_MIN_MS ? PASS_MIN_MS : ms > PASS_MAX_MS ? PASS_MAX_MS : ms;
}

int64_t retain_wait_ms(const struct engine *e, struct moment now)
{
    int64_t from_ms = engine_deletes_from_ms(e);
    int64_t pass = e->retain.wake_ms - now.boot_ms;
    if (keep_min_ms(e) == 0 || from_ms == INT64_MAX)
        return INT64_MAX;
    return now.wall_ms < from_ms && from_ms - now.wall_ms > pass ? from_ms - now.wall_ms : pass;
}

/* ---- asking */

static struct question *ask(struct engine *e, enum question_kind kind, int64_t until_ms,
                            struct question_list *list)
{
    struct question *q = ARENA_NEW(e->turn.arena, struct question);
    *q = (struct question){
        .kind = kind,
        .until_ms = until_ms,
        .limit = e->options.retain_rows_max,
    };
    *VEC_PUSH(e->turn.arena, list) = q;
    return q;
}

void retain_ask(struct engine *e, struct question_list *list)
{
    const struct engine_options *o = &e->options;
    e->turn.old = (struct retain_asked){0};
    if (keep_min_ms(e) == 0 || e->boot_ms < e->retain.wake_ms || steps_hold_deletions(e) ||
        e->retain.held)
        return;
    if (o->letters_keep_ms != 0)
        e->turn.old.letters = ask(e, ASK_LETTERS, e->now_ms - o->letters_keep_ms - 1, list);
    if (o->history_keep_ms != 0) {
        e->turn.old.execs = ask(e, ASK_OLD, e->now_ms - o->history_keep_ms, list);
        e->turn.old.execs->after_id = e->retain.after_id;
        e->turn.old.execs->spare_ms = o->history_keep_ms / SPARE;
    }
    if (o->alerts_keep_ms != 0) {
        e->turn.old.alerts = ask(e, ASK_OLD_ALERTS, e->now_ms - o->alerts_keep_ms, list);
        e->turn.old.alerts->after_id = e->retain.after_alert;
    }
    if (o->tallies_keep_ms != 0 && e->now_ms > o->tallies_keep_ms) {
        e->turn.old.tallies = ask(e, ASK_OLD_TALLIES, 0, list);
        e->turn.old.tallies->hour = (e->now_ms - o->tallies_keep_ms) / TALLY_HOUR_MS;
    }
}

/* ---- deciding; each says whether there is more to look at soon */

static bool step_letters(struct engine *e)
{
    const struct question *q = e->turn.old.letters;
    for (size_t i = 0; q != NULL && i < q->answer.letter_count; i++)
        letter_take(e, &q->answer.letters[i]);
    return q != NULL && q->answer.more;
}

/* Nothing that somebody still has to decide about, nothing that is not over for long enough, and
 * nothing that others will ask about: a job that recurs waits, slot after slot, for how this one
 * ended. */
static bool may_go(const struct engine *e, const struct old_exec *x)
{
    int64_t keep_ms = e->options.history_keep_ms;
    if (PLANTED(retention_by_birth))
        return !x->is_letter;
    return !x->is_letter && !x->is_named && x->finished_ms < e->now_ms - keep_ms;
}

static bool step_execs(struct engine *e)
{
    if (e->turn.old.execs == NULL)
        return false;
    const struct answer *a = &e->turn.old.execs->answer;
    for (size_t i = 0; i < a->old_count; i++) {
        if (may_go(e, &a->old[i]))
            *VEC_PUSH(e->turn.arena, &e->turn.forgotten) = a->old[i].id;
        else
            *VEC_PUSH(e->turn.arena, &e->turn.stays) = a->old[i].id;
    }
    e->turn.past = (struct past){
        .of = e->owned,
        .after_id = a->after_id,
        .to_id = a->to_id,
        .stays = e->turn.stays.items,
        .stay_count = e->turn.stays.len,
    };
    e->retain.after_id = a->more ? a->old[a->old_count - 1].id : 0;
    return a->more;
}

/* An alert that has yet to be sent is sent first, or given up. */
static bool step_alerts(struct engine *e)
{
    if (e->turn.old.alerts == NULL)
        return false;
    const struct answer *a = &e->turn.old.alerts->answer;
    for (size_t i = 0; i < a->old_alert_count; i++) {
        if (a->old_alerts[i].state != ALERT_PENDING || PLANTED(pending_alert_forgotten))
            *VEC_PUSH(e->turn.arena, &e->turn.alerts.gone) = a->old_alerts[i].id;
    }
    e->retain.after_alert = a->more ? a->old_alerts[a->old_alert_count - 1].id : 0;
    return a->more;
}

/* ---- what the store refuses to delete */

bool engine_looked_for_old(const struct engine *e)
{
    const struct retain_asked *old = &e->turn.old;
    return old->letters != NULL || old->execs != NULL || old->alerts != NULL ||
           old->tallies != NULL;
}

void engine_hold_old(struct engine *e, bool held)
{
    e->retain.held = held;
}

void engine_put_off_old(struct engine *e)
{
    e->retain.wake_ms = e->boot_ms + PUT_OFF_MS;
}

void retain_step(struct engine *e)
{
    const struct retain_asked *old = &e->turn.old;
    if (!engine_looked_for_old(e))
        return;
    bool more = step_letters(e);
    more |= step_execs(e);
    more |= step_alerts(e);
    more |= old->tallies != NULL && old->tallies->answer.more; /* all of them go: see make_delta */
    e->retain.wake_ms = e->boot_ms + (more ? e->options.retain_pause_ms : pass_ms(e));
}

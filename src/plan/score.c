#include "plan/score.h"
#include "base/id.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const int64_t HOUR_MS = 3600000;

struct score_job {
    struct score_row *row;
    struct score_row *queue;
    const struct rules *rules;
};

/* An execution that is not over. */
struct score_live {
    struct score_live *next; /* while it is spare */
    uint64_t id;
    struct score_job *job;
    enum exec_state state;
    int64_t due_ms;
    int64_t started_ms;
    bool counts; /* its moment lies in the window, and has come, and it is asked for */
    bool held;
};

uint64_t counts_skipped(const struct counts *c)
{
    uint64_t sum = 0;
    for (int i = 0; i < SKIP_REASONS; i++)
        sum += c->skips[i];
    return sum;
}

/* ---- opening */

static enum rc check_steps(const struct score_window *w, struct err *err)
{
    if ((w->until_ms - w->from_ms - 1) / w->step_ms < PLAN_STEPS_MAX)
        return RC_OK;
    return err_set(err, RC_INVALID, "--step makes more than %d lines: take a longer one",
                   PLAN_STEPS_MAX);
}

static struct score_row *row_new(struct score *s, struct str name, struct str queue)
{
    struct score_row *row = ARENA_NEW(&s->arena, struct score_row);
    *row = (struct score_row){.name = name, .queue = queue};
    return row;
}

static struct score_row *queue_row(struct score *s, struct str name)
{
    struct score_row *row = strmap_get(&s->queues_by_name, name);
    if (row != NULL)
        return row;
    row = row_new(s, name, name);
    for (size_t i = 0; i < s->world->queues.len; i++)
        row->paused |=
            s->world->queues.items[i].paused && str_eq(s->world->queues.items[i].name, name);
    strmap_put(&s->queues_by_name, row->name, row);
    *VEC_PUSH(&s->arena, &s->queues) = row;
    return row;
}

/* Of many small jobs a line for each would say nothing. */
static struct score_row *nameless_row(struct score *s)
{
    if (s->nameless == NULL) {
        s->nameless = row_new(s, STR("(once, without a name)"), STR("-"));
        strmap_put(&s->rows_by_name, s->nameless->name, s->nameless);
        *VEC_PUSH(&s->arena, &s->rows) = s->nameless;
    }
    return s->nameless;
}

static struct score_row *own_row(struct score *s, uint64_t id, struct str name)
{
    char text[ID_TEXT_MAX];
    struct score_row *row = row_new(
        s, name.len > 0 ? name : arena_str(&s->arena, id_format(text, ID_JOB, id)), STR(""));
    row->id = id;
    strmap_put(&s->rows_by_name, row->name, row);
    *VEC_PUSH(&s->arena, &s->rows) = row;
    return row;
}

void score_define(struct score *s, uint64_t id, struct str name, const struct rules *rules,
                  bool is_new)
{
    struct score_job *job = map_get(&s->jobs, id);
    if (job == NULL) {
        job = ARENA_NEW(&s->arena, struct score_job);
        job->row =
            name.len == 0 && rules->schedule == NULL ? nameless_row(s) : own_row(s, id, name);
        map_put(&s->jobs, id, job);
    }
    job->queue = queue_row(s, rules->queue);
    job->rules = rules;
    job->row->is_new |= is_new && job->row != s->nameless;
    if (job->row != s->nameless)
        job->row->queue = job->queue->name;
}

static void define_world(struct score *s)
{
    for (size_t i = 0; i < s->world->jobs.len; i++) {
        const struct world_job *job = s->world->jobs.items[i];
        if (job_is_over(job->rec.state))
            continue;
        score_define(s, job->rec.id, job->rec.name, &job->rules, false);
        struct score_job *made = map_get(&s->jobs, job->rec.id);
        made->row->paused = job->rec.state == JOB_PAUSED && made->row != s->nameless;
    }
}

enum rc score_open(struct score *s, const struct world *world, const struct score_window *window,
                   struct err *err)
{
    *s = (struct score){.world = world, .window = *window, .now_ms = world->now_ms};
    TRY(check_steps(window, err));
    s->hours_from_ms = window->from_ms / HOUR_MS * HOUR_MS;
    s->hour_count = (size_t)((window->until_ms - 1 - s->hours_from_ms) / HOUR_MS + 1);
    s->hours = ARENA_ARRAY(&s->arena, uint32_t, s->hour_count);
    s->step_count = (size_t)((window->until_ms - window->from_ms - 1) / window->step_ms + 1);
    s->steps = ARENA_ARRAY(&s->arena, struct score_step, s->step_count);
    define_world(s);
    return RC_OK;
}

void score_close(struct score *s)
{
    MAP_EACH(&s->live, slot) free(slot->value);
    while (s->spare != NULL) {
        struct score_live *next = s->spare->next;
        free(s->spare);
        s->spare = next;
    }
    map_free(&s->live);
    map_free(&s->jobs);
    strmap_free(&s->queues_by_name);
    strmap_free(&s->rows_by_name);
    arena_free(&s->arena);
}

/* ---- counting */

static bool is_in_window(const struct score *s, int64_t at_ms)
{
    return at_ms >= s->window.from_ms && at_ms < s->window.until_ms;
}

static bool is_wanted(const struct score *s, const struct score_job *job)
{
    char id[ID_TEXT_MAX];
    if (s->window.queue.len > 0 && !str_eq(s->window.queue, job->queue->name))
        return false;
    return s->window.job.len == 0 || str_eq(s->window.job, job->row->name) ||
           (job->row->id != 0 && str_eq(s->window.job, id_format(id, ID_JOB, job->row->id)));
}

static struct score_step *step_at(struct score *s, int64_t at_ms)
{
    return &s->steps[(at_ms - s->window.from_ms) / s->window.step_ms];
}

/* Everything that a run counts in. */
struct places {
    struct counts *at[4];
};

static struct places places_of(struct score *s, const struct score_job *job, int64_t due_ms)
{
    return (struct places){
        {&job->row->counts, &job->queue->counts, &step_at(s, due_ms)->counts, &s->all}};
}

#define BUMP(s, x, member, by)                                                                     \
    do {                                                                                           \
        struct places places_ = places_of((s), (x)->job, (x)->due_ms);                             \
        for (size_t i_ = 0; i_ < COUNT_OF(places_.at); i_++)                                       \
            places_.at[i_]->member += (by);                                                        \
    } while (0)

static void count_wait(struct score *s, const struct score_live *x, int64_t wait_ms)
{
    struct places places = places_of(s, x->job, x->due_ms);
    for (size_t i = 0; i < COUNT_OF(places.at); i++) {
        struct counts *c = places.at[i];
        if (wait_ms >= PLAN_WAIT_MS) {
            c->waits++;
            c->wait_ms += wait_ms;
        }
        bool is_longest = wait_ms > c->wait_max_ms || (wait_ms > 0 && wait_ms == c->wait_max_ms &&
                                                       x->due_ms < c->wait_max_at_ms);
        if (is_longest) {
            c->wait_max_ms = wait_ms;
            c->wait_max_at_ms = x->due_ms;
        }
    }
}

static int64_t late_after_ms(const struct score_live *x)
{
    int64_t within_ms = x->job->rules->start_within_ms;
    return within_ms > 0 ? within_ms : PLAN_LATE_MS;
}

/* Its moment has come. A moment that the plan began behind counts as its beginning. */
static void fire(struct score *s, struct score_live *x, uint64_t count)
{
    s->firings += count;
    x->counts = is_in_window(s, x->due_ms) && is_wanted(s, x->job);
    if (!x->counts)
        return;
    BUMP(s, x, firings, count);
    s->hours[(x->due_ms - s->hours_from_ms) / HOUR_MS] += (uint32_t)count;
}

/* ---- executions */

static struct score_live *live_new(struct score *s, uint64_t id, struct score_job *job)
{
    struct score_live *x = s->spare;
    if (x == NULL)
        x = MEM_NEW(struct score_live);
    else
        s->spare = x->next;
    *x = (struct score_live){.id = id, .job = job};
    map_put(&s->live, id, x);
    return x;
}

static void live_end(struct score *s, struct score_live *x)
{
    map_remove(&s->live, x->id);
    x->next = s->spare;
    s->spare = x;
}

static bool is_under_way(enum exec_state state)
{
    return state != EXEC_NONE && state != EXEC_SCHEDULED && !exec_is_final(state);
}

static bool says(struct str text, const char *words)
{
    return text.len > 0 && memmem(text.ptr, text.len, words, strlen(words)) != NULL;
}

static enum skip_reason reason_of(struct str error)
{
    if (str_starts(error, STR("overlap: ")))
        return SKIP_OVERLAP;
    if (says(error, "calendar"))
        return SKIP_CALENDAR;
    return str_starts(error, STR("missed")) ? SKIP_MISSED : SKIP_OTHER;
}

static void skipped(struct score *s, struct score_live *x, const struct exec_rec *rec,
                    uint64_t count)
{
    enum skip_reason reason = reason_of(rec->error);
    BUMP(s, x, skips[reason], count);
    if (reason == SKIP_OVERLAP)
        BUMP(s, x, overlaps, count);
}

static void started(struct score *s, struct score_live *x, const struct exec_rec *rec)
{
    int64_t wait_ms = rec->started_ms > x->due_ms ? rec->started_ms - x->due_ms : 0;
    x->started_ms = rec->started_ms;
    if (!x->counts)
        return;
    BUMP(s, x, starts, 1);
    count_wait(s, x, wait_ms);
    if (wait_ms > late_after_ms(x))
        BUMP(s, x, late, 1);
}

static void ended(struct score *s, struct score_live *x, const struct exec_rec *rec)
{
    const struct sla *sla = &x->job->rules->sla;
    int64_t took_ms = rec->finished_ms - x->due_ms;
    if (x->started_ms > 0)
        BUMP(s, x, busy_ms, rec->finished_ms - x->started_ms);
    if (rec->state == EXEC_EXPIRED) {
        BUMP(s, x, expired, 1);
        BUMP(s, x, late, 1);
        count_wait(s, x, took_ms);
    }
    if (x->started_ms > 0 && sla->expected_ms > 0 && took_ms > sla->expected_ms)
        BUMP(s, x, sla_expected, 1);
    if (x->started_ms > 0 && sla->max_ms > 0 && took_ms > sla->max_ms)
        BUMP(s, x, sla_max, 1);
}

/* How it met an earlier run of its job. */
static void met(struct score *s, struct score_live *x, const struct exec_change *change,
                enum exec_state before)
{
    enum overlap overlap = x->job->rules->overlap;
    if (change->exec.state == EXEC_BLOCKED && overlap != OVERLAP_REPLACE &&
        says(change->step, "waits until ")) {
        BUMP(s, x, overlaps, 1);
        BUMP(s, x, queued, 1);
    }
    if (before == EXEC_SCHEDULED && overlap == OVERLAP_PARALLEL &&
        is_under_way(change->exec.state) && x->job->row->under_way > 0 && x->job->row->id != 0) {
        BUMP(s, x, overlaps, 1);
        BUMP(s, x, parallel, 1);
    }
    if (says(change->step, "replaced by ")) {
        BUMP(s, x, overlaps, 1);
        BUMP(s, x, replaced, 1);
    }
}

static void hold(struct score *s, struct score_live *x, const struct exec_rec *rec)
{
    bool was_held = x->held;
    int64_t slot_ms = x->due_ms;
    x->held = rec->ready_ms > 0;
    x->due_ms = rec->due_ms;
    if (!x->held || was_held || !is_in_window(s, slot_ms) || !is_wanted(s, x->job))
        return;
    struct score_live at_slot = {.job = x->job, .due_ms = slot_ms};
    BUMP(s, &at_slot, held, 1);
}

/* Behind a whole delta: its changes are in no order, and one run takes the slot of another. */
static void note_peak(struct score *s)
{
    if (!is_in_window(s, s->now_ms))
        return;
    struct score_step *step = step_at(s, s->now_ms);
    if (s->running > step->peak)
        step->peak = s->running;
    if (s->running > s->peak) {
        s->peak = s->running;
        s->peak_at_ms = s->now_ms;
    }
}

static void set_state(struct score *s, struct score_live *x, enum exec_state state)
{
    x->job->row->under_way += is_under_way(state);
    x->job->row->under_way -= is_under_way(x->state);
    s->running += exec_is_leased(state);
    s->running -= exec_is_leased(x->state);
    x->state = state;
}

static void step_on(struct score *s, struct score_live *x, const struct exec_change *change)
{
    const struct exec_rec *rec = &change->exec;
    enum exec_state before = x->state;
    uint64_t count = rec->state == EXEC_SKIPPED && rec->slot_count > 1 ? rec->slot_count : 1;
    if (rec->state == EXEC_SCHEDULED) {
        hold(s, x, rec);
        set_state(s, x, rec->state);
        return;
    }
    if (before == EXEC_SCHEDULED || before == EXEC_NONE)
        fire(s, x, count);
    if (x->counts)
        met(s, x, change, before);
    set_state(s, x, rec->state);
    if (rec->started_ms > 0 && x->started_ms == 0)
        started(s, x, rec);
    if (x->counts && rec->state == EXEC_SKIPPED)
        skipped(s, x, rec, count);
    if (x->counts && exec_is_final(rec->state))
        ended(s, x, rec);
}

static void take_change(struct score *s, const struct exec_change *change)
{
    const struct exec_rec *rec = &change->exec;
    struct score_job *job = map_get(&s->jobs, rec->job_id);
    struct score_live *x = map_get(&s->live, rec->id);
    if (job == NULL)
        return;
    if (x == NULL) {
        x = live_new(s, rec->id, job);
        x->due_ms = rec->state == EXEC_SCHEDULED && rec->due_ms > 0 ? rec->due_ms
                    : rec->origin == ORIGIN_SLOT                    ? rec->slot_ms
                                                                    : s->now_ms;
    }
    step_on(s, x, change);
    if (exec_is_final(rec->state))
        live_end(s, x);
}

void score_delta(struct score *s, const struct delta *delta)
{
    for (size_t i = 0; i < delta->exec_count; i++)
        take_change(s, &delta->execs[i]);
    note_peak(s);
}

/* ---- along time */

void score_begin(struct score *s)
{
    for (size_t i = 0; i < s->world->runs.len; i++) {
        const struct exec_rec *rec = &s->world->runs.items[i];
        struct score_job *job = map_get(&s->jobs, rec->job_id);
        if (job == NULL)
            continue;
        struct score_live *x = live_new(s, rec->id, job);
        x->due_ms = rec->state == EXEC_SCHEDULED ? rec->due_ms : s->now_ms;
        x->started_ms = exec_is_leased(rec->state) ? rec->started_ms : 0;
        set_state(s, x, rec->state);
        if (is_under_way(rec->state) && !exec_is_leased(rec->state))
            fire(s, x, 1);
    }
    note_peak(s);
}

/* What runs on runs in the next step, too. */
void score_now(struct score *s, int64_t now_ms)
{
    int64_t from_ms = s->now_ms < s->window.from_ms ? s->window.from_ms : s->now_ms;
    int64_t end_ms = now_ms < s->window.until_ms ? now_ms : s->window.until_ms - 1;
    s->now_ms = now_ms;
    if (end_ms < from_ms || s->running == 0)
        return;
    for (struct score_step *step = step_at(s, from_ms); step <= step_at(s, end_ms); step++) {
        if (s->running > step->peak)
            step->peak = s->running;
    }
}

void score_cut(struct score *s, uint64_t exec_id)
{
    struct score_live *x = map_get(&s->live, exec_id);
    if (x != NULL && x->counts)
        BUMP(s, x, cut, 1);
}

void score_end(struct score *s)
{
    MAP_EACH(&s->live, slot)
    {
        struct score_live *x = slot->value;
        if (!x->counts || x->started_ms > 0)
            continue;
        int64_t wait_ms = s->now_ms - x->due_ms;
        BUMP(s, x, never, 1);
        count_wait(s, x, wait_ms);
        if (wait_ms > late_after_ms(x) && !x->job->row->paused && !x->job->queue->paused)
            BUMP(s, x, late, 1);
    }
}

/* ---- without an engine */

void score_firing(struct score *s, uint64_t job_id, int64_t at_ms, enum fate fate)
{
    struct score_live x = {.job = map_get(&s->jobs, job_id), .due_ms = at_ms};
    if (x.job == NULL)
        return;
    fire(s, &x, 1);
    if (!x.counts)
        return;
    if (fate == FATE_SKIPPED)
        BUMP(s, &x, skips[SKIP_CALENDAR], 1);
    if (fate == FATE_HELD)
        BUMP(s, &x, held, 1);
}

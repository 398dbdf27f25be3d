#include "ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void promise(bool holds, const struct ledger *l, const struct planned *p, const char *words)
{
    if (holds)
        return;
    printf("broken promise: job %td, slot %" PRId64 ": %s\n", p - l->jobs, p->newest.at_ms, words);
    exit(1);
}

static void edit_job(struct ledger *l, struct planned *p, const struct job_rec *rec, int64_t now_ms)
{
    promise(rec->version == p->version + 1, l, p, "an edit was kept twice, or over another");
    p->version = rec->version;
    p->old = p->schedule;
    p->schedule = p->wish;
    p->schedule.start_ms = now_ms;
    p->schedule.stagger_ms = schedule_stagger_ms(rec->id, p->wish_stagger_ms);
    p->daily = p->wish_daily;
    p->edited = true;
    l->edits++;
}

static void keep_job(struct ledger *l, const struct job_change *change, int64_t now_ms)
{
    const struct job_rec *rec = &change->job;
    struct planned *known = map_get(&l->by_id, rec->id);
    uint64_t no = 0;
    if (known != NULL && change->redefined)
        edit_job(l, known, rec, now_ms);
    if (known != NULL)
        return;
    if (rec->payload.len < 7 ||
        !str_to_u64(str_of(rec->payload.ptr + 5, rec->payload.len - 6), &no) || no >= JOBS)
        abort();
    struct planned *p = &l->jobs[no];
    promise(p->job_id == 0, l, p, "it was kept twice");
    p->job_id = rec->id;
    p->version = rec->version;
    p->schedule.start_ms = rec->created_ms;
    p->schedule.stagger_ms = schedule_stagger_ms(rec->id, p->stagger_ms);
    map_put(&l->by_id, rec->id, p);
}

static int64_t date_of(const struct slot *slot)
{
    return slot->nominal_ms / (24 * 60 * 60 * 1000);
}

static void walk_on(const struct ledger *l, struct planned *p)
{
    struct slot next;
    bool found = p->recorded == 0 ? schedule_first(&p->schedule, &next)
                                  : schedule_next(&p->schedule, &p->newest, &next);
    promise(found && (p->recorded == 0 || next.at_ms > p->newest.at_ms), l, p,
            "the schedule does not go on");
    promise(!p->daily || p->recorded == 0 || date_of(&next) == date_of(&p->newest) + 1, l, p,
            "the slot after it is not that of the next day");
    if (p->recorded++ == 0)
        p->first = next;
    p->newest = next;
}

static int64_t due_ms(const struct planned *p, int64_t slot_ms)
{
    return slot_ms + p->schedule.stagger_ms;
}

static void keep_range(struct ledger *l, struct planned *p, const struct exec_rec *x)
{
    for (uint64_t i = 1; i < x->slot_count; i++)
        walk_on(l, p);
    promise(x->slot_count < 2 || p->newest.at_ms == x->slot_last_ms, l, p,
            "a range ends at another slot");
    l->skipped += x->slot_count > 1 ? x->slot_count : 1;
    l->ranges += x->slot_count > 1;
}

/* The one ahead becomes the first of the new schedule after now; what was decided before the clock was
 * set back does not come again. */
static void move_ahead(const struct ledger *l, struct planned *p, const struct exec_rec *x,
                       int64_t now_ms)
{
    struct slot first;
    int64_t from_ms = x->created_ms > now_ms ? x->created_ms : now_ms;
    promise(schedule_after(&p->schedule, from_ms, &first) && x->slot_ms == first.at_ms &&
                x->nominal_ms == first.nominal_ms && x->due_ms == due_ms(p, first.at_ms),
            l, p, "an edit moved it to another slot than the next one");
    p->past += p->recorded - 1;
    p->recorded = 1;
    p->first = p->newest = first;
}

/* A start found the clock far behind what was decided, so the one ahead becomes the first after now: moments
 * that were decided by the clock that was ahead come again. Their first outcomes count as past. */
static void return_ahead(const struct ledger *l, struct planned *p, const struct exec_rec *x,
                         int64_t now_ms)
{
    struct slot first;
    promise(schedule_after(&p->schedule, now_ms, &first) && x->slot_ms == first.at_ms &&
                x->nominal_ms == first.nominal_ms && x->due_ms == due_ms(p, first.at_ms),
            l, p, "it came back to another slot than the next one");
    promise(x->created_ms > now_ms, l, p, "it came back though it was planned in the past");
    p->past += p->recorded - 1;
    p->recorded = 1;
    p->first = p->newest = first;
}

/* What has passed of the old schedule, and a stagger held back. */
static void end_old(struct ledger *l, struct planned *p, const struct exec_rec *x, int64_t now_ms)
{
    struct schedule next = p->schedule;
    bool daily = p->daily;
    p->schedule = p->old;
    p->daily = false;
    keep_range(l, p, x);
    promise(x->slot_ms <= now_ms && schedule_count(&p->old, &p->newest, now_ms) == 0, l, p,
            "an edit skipped too many slots, or too few");
    p->schedule = next;
    p->daily = daily;
    p->past += p->recorded;
    p->recorded = 0;
}

static void keep_exec(struct ledger *l, const struct exec_change *change, int64_t now_ms)
{
    const struct exec_rec *x = &change->exec;
    struct planned *p = map_get(&l->by_id, x->job_id);
    if (p == NULL)
        abort();
    if (p->edited && change->kind == CHANGE_UPDATE && x->state == EXEC_SCHEDULED) {
        move_ahead(l, p, x, now_ms);
        return;
    }
    if (change->kind == CHANGE_UPDATE && x->state == EXEC_SCHEDULED &&
        x->slot_ms < p->newest.at_ms) {
        return_ahead(l, p, x, now_ms);
        return;
    }
    if (p->edited && change->kind == CHANGE_FINISH) {
        end_old(l, p, x, now_ms);
        p->unfinished--;
        return;
    }
    if (change->kind == CHANGE_INSERT || change->kind == CHANGE_RECORD) {
        walk_on(l, p);
        promise(x->origin == ORIGIN_SLOT && x->slot_ms == p->newest.at_ms &&
                    x->nominal_ms == p->newest.nominal_ms,
                l, p, "another slot was written down in its place");
    }
    p->unfinished += change->kind == CHANGE_INSERT;
    p->unfinished -= change->kind == CHANGE_FINISH;
    if (x->state == EXEC_SKIPPED)
        keep_range(l, p, x);
    else if (exec_is_final(x->state))
        l->fired++;
    int64_t last_ms = x->slot_count > 1 ? x->slot_last_ms : x->slot_ms;
    promise(x->state == EXEC_SCHEDULED || x->started_ms > 0 || due_ms(p, last_ms) <= now_ms, l, p,
            "it was decided before its time");
}

void ledger_keep(struct ledger *l, const struct delta *delta, int64_t now_ms)
{
    for (size_t i = 0; i < delta->job_count; i++)
        keep_job(l, &delta->jobs[i], now_ms);
    for (size_t i = 0; i < delta->exec_count; i++)
        keep_exec(l, &delta->execs[i], now_ms);
    for (size_t i = 0; i < delta->job_count; i++)
        ((struct planned *)map_get(&l->by_id, delta->jobs[i].job.id))->edited = false;
}

void ledger_close(const struct ledger *l, int64_t now_ms)
{
    uint64_t slots = 0;
    for (size_t i = 0; i < JOBS; i++) {
        const struct planned *p = &l->jobs[i];
        promise(p->recorded > 0 && due_ms(p, p->newest.at_ms) > now_ms, l, p, "it is overdue");
        promise(p->unfinished == 1, l, p, "something beside the slot ahead is unfinished");
        promise(p->recorded == 1 + schedule_count(&p->schedule, &p->first, p->newest.at_ms), l, p,
                "counting finds another number of slots than walking");
        slots += p->past + p->recorded - 1;
    }
    if (slots != l->fired + l->skipped) {
        printf("broken promise: %" PRIu64 " slots have passed, %" PRIu64 " have an outcome\n",
               slots, l->fired + l->skipped);
        exit(1);
    }
}

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

static void keep_job(struct ledger *l, const struct job_rec *rec)
{
    uint64_t no = 0;
    if (map_get(&l->by_id, rec->id) != NULL)
        return;
    if (rec->payload.len < 7 ||
        !str_to_u64(str_of(rec->payload.ptr + 5, rec->payload.len - 6), &no) || no >= JOBS)
        abort();
    struct planned *p = &l->jobs[no];
    promise(p->job_id == 0, l, p, "it was kept twice");
    p->job_id = rec->id;
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

static void keep_exec(struct ledger *l, const struct exec_change *change, int64_t now_ms)
{
    const struct exec_rec *x = &change->exec;
    struct planned *p = map_get(&l->by_id, x->job_id);
    if (p == NULL)
        abort();
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
        keep_job(l, &delta->jobs[i].job);
    for (size_t i = 0; i < delta->exec_count; i++)
        keep_exec(l, &delta->execs[i], now_ms);
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
        slots += p->recorded - 1;
    }
    if (slots != l->fired + l->skipped) {
        printf("broken promise: %" PRIu64 " slots have passed, %" PRIu64 " have an outcome\n",
               slots, l->fired + l->skipped);
        exit(1);
    }
}

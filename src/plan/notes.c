#include "plan/notes.h"
#include "job/time/preview.h"

#include <stdlib.h>

enum {
    DAY_S = 86400,
    BEFORE_S = 7200,  /* a promise that a change touches lies no further before it */
    RUNS_SHOWN = 300, /* enough to pass the change with a run each minute */
};

struct finding {
    struct arena *arena;
    int64_t from_ms;
    int64_t until_ms;
    VEC(struct plan_note) notes;
};

static void look_at_change(struct finding *f, struct str job, const struct schedule *s,
                           struct str zone, int64_t change_s)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct preview preview;
    preview_make(s, zone, (change_s - BEFORE_S) * 1000, RUNS_SHOWN, &scratch, &preview);
    for (size_t i = 0; i < preview.note_count; i++) {
        const struct preview_note *note = &preview.notes[i];
        if (note->at_ms >= f->from_ms && note->at_ms < f->until_ms &&
            note->at_ms < (change_s + DAY_S) * 1000)
            *VEC_PUSH(f->arena, &f->notes) =
                (struct plan_note){note->at_ms, job, arena_str(f->arena, note->text)};
    }
}

static void look_at_job(struct finding *f, struct str job, const struct rules *rules,
                        struct str zone, int64_t now_ms)
{
    bool promises = rules->schedule != NULL && rules->schedule->clock.zone != NULL &&
                    !rules->schedule->cron.real_time; /* else it just goes on */
    if (!promises)
        return;
    struct schedule schedule = *rules->schedule;
    schedule.start_ms = now_ms < f->from_ms ? now_ms : f->from_ms;
    int64_t at_s = f->from_ms / 1000;
    for (;;) {
        struct zone_span span = zone_span(schedule.clock.zone, at_s);
        if (span.end_s >= f->until_ms / 1000)
            return;
        look_at_change(f, job, &schedule, zone, span.end_s);
        at_s = span.end_s;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct plan_note *left = a;
    const struct plan_note *right = b;
    if (left->at_ms != right->at_ms)
        return left->at_ms < right->at_ms ? -1 : 1;
    return str_cmp(left->job, right->job);
}

static void find_all(struct finding *f, const struct world *world, struct changes *changes)
{
    CLEANUP(map_free) struct map changed = {0};
    for (size_t i = 0; changes != NULL && i < changes->items.len; i++) {
        struct change *change = &changes->items.items[i];
        if (change->job != NULL)
            map_put(&changed, change->job->rec.id, change);
        look_at_job(f, change->name, &change->item.rules, change->spec.zone, world->now_ms);
    }
    for (size_t i = 0; i < world->jobs.len; i++) {
        const struct world_job *job = world->jobs.items[i];
        if (job->rec.state == JOB_ACTIVE && map_get(&changed, job->rec.id) == NULL)
            look_at_job(f, world_job_title(job, f->arena), &job->rules, job->zone, world->now_ms);
    }
}

void notes_find(const struct world *world, struct changes *changes, int64_t from_ms,
                int64_t until_ms, struct arena *arena, struct plan_notes *ret_notes)
{
    struct finding f = {.arena = arena, .from_ms = from_ms, .until_ms = until_ms};
    *ret_notes = (struct plan_notes){0};
    find_all(&f, world, changes);
    if (f.notes.len > 0)
        qsort(f.notes.items, f.notes.len, sizeof *f.notes.items, by_time);
    ret_notes->count = f.notes.len < PLAN_NOTES_MAX ? f.notes.len : PLAN_NOTES_MAX;
    ret_notes->left_out = f.notes.len - ret_notes->count;
    for (size_t i = 0; i < ret_notes->count; i++)
        ret_notes->items[i] = f.notes.items[i];
}

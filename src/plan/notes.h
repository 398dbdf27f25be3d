/* notes.h - what changes of the clock do to the firings of a plan. */
#pragma once
#include "plan/changes.h"

enum { PLAN_NOTES_MAX = 100 };

struct plan_note {
    int64_t at_ms;
    struct str job;
    struct str text; /* "the clock goes from 02:00 to 03:00, so …" */
};

struct plan_notes {
    struct plan_note items[PLAN_NOTES_MAX]; /* the first ones, by time */
    size_t count;
    size_t left_out;
};

/* Of all jobs that go by cron, as they would be with these changes (NULL: as they are). */
void notes_find(const struct world *world, struct changes *changes, int64_t from_ms,
                int64_t until_ms, struct arena *arena, struct plan_notes *ret_notes);

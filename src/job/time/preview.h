/* preview.h - what a schedule means, for people: in words, its next runs, and what the clock does
 * to them.
 *
 * Notes are about changes of the clock among the runs that are shown: promises that fall into a
 * gap, and those that come up twice. */
#pragma once
#include "base/arena.h"
#include "job/time/schedule.h"

enum { PREVIEW_RUNS_DEFAULT = 5, PREVIEW_RUNS_MAX = 1000, PREVIEW_NOTES_MAX = 100 };

struct preview_run {
    int64_t at_ms;
    int32_t offset_s; /* of the schedule's zone, then */
};

struct preview_note {
    int64_t at_ms; /* of the run it is about, or of the change when it is about none */
    struct str text;
};

struct preview {
    struct str text; /* "at 03:00 every day (Europe/Berlin)" */
    struct str zone_name;
    struct preview_run *runs;
    size_t run_count;
    struct preview_note *notes; /* the first PREVIEW_NOTES_MAX */
    size_t note_count;
};

/* The words alone. They need no zone but its name. */
struct str preview_words(const struct schedule *s, struct str zone_name, struct arena *arena);

/* The next `count` runs after from_ms, less when there are not so many. All of it lives in arena.
 * zone_name is what the schedule's zone is called. */
void preview_make(const struct schedule *s, struct str zone_name, int64_t from_ms, size_t count,
                  struct arena *arena, struct preview *ret_preview);

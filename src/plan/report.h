/* report.h - what a plan says: tables of 80 columns for people, JSON for programs. */
#pragma once
#include "cli/cli.h"
#include "plan/notes.h"
#include "plan/player.h"

enum report_by { BY_JOB, BY_QUEUE, BY_HOUR };

/* A plan that was made: of things as they are, or as a file would have them. */
struct plan {
    struct score score;
    struct player_end end;
    bool firings_only;
};

struct report {
    struct cli *cli;
    const struct world *world;
    const struct changes *changes; /* NULL: there is no file, and no `after` */
    const struct plan *before;     /* or the only one */
    const struct plan *after;
    const struct plan_notes *notes;
    enum report_by by;
    uint64_t rows_max; /* of the table; 0: all */
    int64_t assume_ms;
    struct str failed; /* why, by --fail-on; empty: it does not fail */
};

void report_print(const struct report *r);
void report_print_json(const struct report *r);

/* ---- failing on purpose */

enum { FAIL_OVERLAP = 1, FAIL_LATE = 2, FAIL_SKIPPED = 4 };

/* "overlap,late,skipped". RC_INVALID. */
enum rc fail_on_parse(const char *text, unsigned *ret_bits, struct err *err);
/* Why the plan fails by these, as one sentence: counted over all jobs, or with a file over those
 * for which it makes things worse. Empty: it does not. */
struct str fail_reason(const struct report *r, unsigned bits, struct arena *arena);

/* ---- parts, for both */

/* Firings by hour, as characters: a line for each day, or for each weekday when there are many. */
void heat_print(const struct score *t, struct buf *out);
/* The row of a job of one plan in another; NULL: it has none. */
const struct score_row *row_like(const struct score *t, const struct score_row *row);
/* Something of the row is worse than before. */
bool row_is_worse(const struct counts *before, const struct counts *after);
/* Rows by how much trouble they are in, then by firings and name; in arena. */
const struct score_row **rows_sorted(const struct score *t, enum report_by by, struct arena *arena,
                                     size_t *ret_count);

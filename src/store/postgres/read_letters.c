/* letters.c - reading dead letters. */
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"

#include <inttypes.h>

/* Rows that are fetched at once: a page of an API call, then as many as a report looks at in a
 * millisecond or two. */
enum { SLICE_FIRST = 200, SLICE = 2000 };

enum rc postgres_read_letter(struct reader *reader, uint64_t exec_id, struct arena *arena,
                             struct letter_rec *ret_letter, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_use *use = pg_use(pg, Q_READ_LETTER);
    pg_u64(use, exec_id);
    TRY(pg_run(pg, err));
    if (pg_rows(use) > 0) {
        struct pg_row row = pg_row_of(use, 0, arena);
        if (pg_row_letter(&row, ret_letter))
            return RC_OK;
    }
    return err_set(err, RC_NOT_FOUND, "there is no dead letter %" PRIu64, exec_id);
}

/* Where a reading stands. */
struct walk {
    const struct letter_filter *filter;
    letter_sink *sink;
    void *arg;
    size_t left;              /* may still be looked at */
    struct letter_place last; /* that was looked at */
    bool enough;
};

static struct letter_place place_of(const struct pg_use *use, size_t i)
{
    struct letter_place place;
    struct pg_row row = pg_row_of(use, i, NULL);
    place.died_ms = pg_row_i64(&row);
    place.exec_id = pg_row_u64(&row);
    return place;
}

/* One slice. A row that makes no sense is left out, and the reading goes on behind it. */
static void walk_slice(struct walk *walk, const struct pg_use *use)
{
    for (size_t i = 0; i < pg_rows(use) && !walk->enough; i++) {
        struct letter_rec letter;
        struct pg_row row = pg_row_of(use, i, NULL);
        if (walk->left == 0 ||
            (pg_row_letter(&row, &letter) && letter_fits(walk->filter, &letter) &&
             !walk->sink(walk->arg, &letter))) {
            walk->enough = true;
            return;
        }
        walk->left--;
        walk->last = place_of(use, i);
    }
}

static struct pg_use *ask_slice(struct pg *pg, struct letter_place before, size_t rows)
{
    struct pg_use *use = pg_use(pg, Q_LIST_LETTERS);
    pg_i64(use, before.died_ms);
    pg_u64(use, before.exec_id);
    pg_u64(use, rows);
    return use;
}

/* How many the next slice may have: one more than may be looked at tells that there is more. */
static size_t slice_rows(size_t left, size_t max)
{
    return left < max ? left + 1 : max;
}

/* Walks one slice that was answered. Behind the first one the next is asked for before that, so that the
 * database reads while we look; *ret_next is NULL when there is none. */
static enum rc walk_on(struct pg *pg, struct walk *walk, const struct pg_use *use, size_t asked,
                       bool ahead, struct pg_use **ret_next, struct err *err)
{
    bool full = pg_rows(use) == asked && asked <= walk->left;
    size_t rows = full ? slice_rows(walk->left - asked, SLICE) : 0;
    struct pg_use *next = NULL;
    if (full && ahead) {
        next = ask_slice(pg, place_of(use, asked - 1), rows);
        pg_push(pg);
    }
    walk_slice(walk, use);
    if (full && !ahead && !walk->enough)
        next = ask_slice(pg, walk->last, rows);
    *ret_next = walk->enough ? NULL : next;
    return next == NULL ? RC_OK : pg_run(pg, err);
}

/* All slices are of one snapshot, so that what goes meanwhile leaves no gap. */
enum rc postgres_read_letters(struct reader *reader, const struct letter_filter *filter,
                              struct letter_place before, size_t scan_max, letter_sink *sink,
                              void *arg, struct letter_place *ret_next, struct err *err)
{
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    struct walk walk = {.filter = filter, .sink = sink, .arg = arg, .left = scan_max};
    struct letter_place from = before;
    if (before.exec_id == 0)
        from = (struct letter_place){.died_ms = INT64_MAX, .exec_id = INT64_MAX};
    pg_begin_snapshot(pg);
    size_t asked = slice_rows(scan_max, SLICE_FIRST);
    struct pg_use *use = ask_slice(pg, from, asked);
    TRY(pg_run(pg, err));
    for (bool ahead = false; use != NULL; ahead = true) {
        size_t left = walk.left;
        TRY(walk_on(pg, &walk, use, asked, ahead, &use, err));
        asked = slice_rows(left - (asked < left ? asked : left), SLICE);
    }
    *ret_next = walk.enough ? walk.last : (struct letter_place){0};
    return RC_OK;
}

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
    struct arena *scratch = pg_scratch(use);
    for (size_t i = 0; i < pg_rows(use) && !walk->enough; i++) {
        struct letter_rec letter;
        struct pg_row row = pg_row_of(use, i, scratch);
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
    size_t slice = SLICE_FIRST;
    pg_begin_snapshot(pg);
    for (;;) {
        size_t rows = walk.left < slice ? walk.left + 1 : slice;
        const struct pg_use *use = ask_slice(pg, from, rows);
        TRY(pg_run(pg, err));
        walk_slice(&walk, use);
        if (walk.enough || pg_rows(use) < rows)
            break;
        from = walk.last;
        slice = SLICE;
        pg_clear(pg);
    }
    *ret_next = walk.enough ? walk.last : (struct letter_place){0};
    return RC_OK;
}

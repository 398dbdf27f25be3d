/* read_letters.c - reading dead letters, operations on many, and what those act upon. */
#include "base/id.h"
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/letters.h"
#include "store/sql/operations.h"

/* Rows that are fetched at once: a page of an API call, then as many as a report looks at in a
 * millisecond or two. */
enum { SLICE_FIRST = 200, SLICE = 2000 };

enum rc postgres_read_letter(struct reader *reader, uint64_t exec_id, struct arena *arena,
                             struct letter_rec *ret_letter, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_LETTER);
    pg_u64(use, exec_id);
    TRY(pg_run(pg, err));
    if (pg_rows(use) > 0) {
        struct row row = pg_row(use, 0, arena);
        if (row_letter(&row, ret_letter))
            return RC_OK;
    }
    return err_set(err, RC_NOT_FOUND, "there is no dead letter %s", ID_TEXT(ID_EXEC, exec_id));
}

static void walk_slice(struct letter_walk *walk, const struct pg_call *use)
{
    for (size_t i = 0; i < pg_rows(use) && !walk->enough; i++)
        letter_walk_row(walk, pg_row(use, i, NULL));
}

/* By the index of what there are fewest of. */
static struct pg_call *ask_slice(struct pg *pg, const struct letter_filter *filter,
                                 struct letter_place before, size_t rows)
{
    static const enum query lists[LETTER_LISTS] = {
        [LETTERS_OF_JOB] = Q_LIST_LETTERS_OF_JOB, [LETTERS_OF_KIND] = Q_LIST_LETTERS_OF_KIND,
        [LETTERS_NAMED] = Q_LIST_LETTERS_NAMED,   [LETTERS_OF_QUEUE] = Q_LIST_LETTERS_OF_QUEUE,
        [LETTERS_ALL] = Q_LIST_LETTERS,
    };
    struct letter_key key = letter_key(filter);
    struct pg_call *use = pg_call(pg, lists[key.list]);
    pg_i64(use, before.died_ms);
    pg_u64(use, before.exec_id);
    pg_i64(use, filter->died_after_ms);
    pg_u64(use, rows);
    if (key.number != 0)
        pg_u64(use, key.number);
    else if (key.text.len > 0)
        pg_text(use, key.text);
    return use;
}

/* How many the next slice may have: one more than may be looked at tells that there is more. */
static size_t slice_rows(size_t left, size_t max)
{
    return left < max ? left + 1 : max;
}

/* Walks one slice that was answered. Behind the first one the next is asked for before that, so
 * that the database reads while we look; *ret_next is NULL when there is none. */
static enum rc walk_on(struct pg *pg, struct letter_walk *walk, const struct pg_call *use,
                       size_t asked, bool ahead, struct pg_call **ret_next, struct err *err)
{
    bool full = pg_rows(use) == asked && asked <= walk->left;
    size_t rows = full ? slice_rows(walk->left - asked, SLICE) : 0;
    struct pg_call *next = NULL;
    if (full && ahead) {
        next = ask_slice(pg, walk->filter, letter_row_place(pg_row(use, asked - 1, NULL)), rows);
        pg_push(pg);
    }
    walk_slice(walk, use);
    if (full && !ahead && !walk->enough)
        next = ask_slice(pg, walk->filter, walk->last, rows);
    *ret_next = walk->enough ? NULL : next;
    return next == NULL ? RC_OK : pg_run(pg, err);
}

/* All slices are of one snapshot, so that what goes meanwhile leaves no gap. */
enum rc postgres_read_letters(struct reader *reader, const struct letter_filter *filter,
                              struct letter_place before, size_t scan_max, letter_sink *sink,
                              void *arg, struct letter_place *ret_next, struct err *err)
{
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    struct letter_walk walk = {.filter = filter, .sink = sink, .arg = arg, .left = scan_max};
    TRY(pg_begin_snapshot(pg, err));
    size_t asked = slice_rows(scan_max, SLICE_FIRST);
    struct pg_call *use = ask_slice(pg, filter, letter_start(filter, before), asked);
    TRY(pg_run(pg, err));
    for (bool ahead = false; use != NULL; ahead = true) {
        size_t left = walk.left;
        TRY(walk_on(pg, &walk, use, asked, ahead, &use, err));
        asked = slice_rows(left - (asked < left ? asked : left), SLICE);
    }
    *ret_next = walk.enough ? walk.last : (struct letter_place){0};
    return RC_OK;
}

/* ---- groups */

static void bind_span(struct pg_call *use, const struct letter_filter *filter, size_t scan_max)
{
    pg_i64(use, filter->died_after_ms);
    pg_i64(use, letter_filter_end(filter).died_ms);
    pg_u64(use, scan_max);
}

/* All of a span of time are counted by the key alone; a filter wants to see the rows. */
static struct pg_call *ask_groups(struct pg *pg, const struct letter_filter *filter,
                                  size_t scan_max, size_t max)
{
    bool all = letter_filter_is_span(filter);
    struct pg_call *use = pg_call(pg, all ? Q_GROUP_LETTERS : Q_GROUP_LETTERS_FITTING);
    bind_span(use, filter, scan_max);
    pg_u64(use, max);
    if (all)
        return use;
    pg_text_or_null(use, filter->queue);
    pg_text_or_null(use, filter->name);
    pg_i64(use, filter->class);
    pg_u64(use, filter->fingerprint);
    pg_u64(use, filter->job_id);
    return use;
}

enum rc postgres_group_letters(struct reader *reader, const struct letter_filter *filter,
                               size_t scan_max, size_t max, struct arena *arena,
                               struct letter_groups *ret_groups, struct err *err)
{
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    VEC(struct letter_group) groups = {0};
    struct pg_call *edge = NULL;
    uint64_t looked = 0;
    TRY(pg_begin_snapshot(pg, err));
    struct pg_call *use = ask_groups(pg, filter, scan_max, max);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct letter_group group;
        struct row row = pg_row(use, i, arena);
        if (row_letter_group(&row, &group))
            *VEC_PUSH(arena, &groups) = group;
        looked = row_u64(&row); /* at how many, when the statement knows it */
    }
    if (looked >= scan_max || !letter_filter_is_span(filter)) {
        edge = pg_call(pg, Q_EDGE_LETTERS);
        bind_span(edge, filter, scan_max);
    }
    TRY(pg_commit(pg, err));
    *ret_groups =
        (struct letter_groups){groups.items, groups.len, edge == NULL || pg_rows(edge) == 0};
    return RC_OK;
}

/* ---- operations */

enum rc postgres_read_operations(struct reader *reader, uint64_t id, struct arena *arena,
                                 struct operation_rec **ret_parts, size_t *ret_count,
                                 struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    VEC(struct operation_rec) parts = {0};
    struct pg_call *use = pg_call(pg, id == 0 ? Q_LIST_OPERATIONS : Q_READ_OPERATION);
    if (id != 0)
        pg_u64(use, id);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, arena);
        struct operation_rec part;
        if (row_operation(&row, &part))
            *VEC_PUSH(arena, &parts) = part;
    }
    *ret_parts = parts.items;
    *ret_count = parts.len;
    return RC_OK;
}

enum rc postgres_read_live(struct reader *reader, uint64_t after, size_t max, bool documents,
                           live_sink *sink, void *arg, uint64_t *ret_next, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_FIND_LIVE_JOBS);
    uint64_t last = after;
    *ret_next = 0;
    pg_u64(use, after);
    pg_i64(use, 1); /* all of the store, as if it were one partition */
    pg_i64(use, 1);
    pg_u64(use, max + 1);
    pg_bool(use, documents);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        if (i == max || !live_tell(pg_row(use, i, NULL), sink, arg, &last)) {
            *ret_next = last;
            return RC_OK;
        }
    }
    return RC_OK;
}

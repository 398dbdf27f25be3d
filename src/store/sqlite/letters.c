/* letters.c - dead letters, and operations on many of them. */
#include "store/sql/letters.h"
#include "base/id.h"
#include "base/vec.h"
#include "job/record/record_fields.h"
#include "store/sqlite/sqlite.h"

/* ---- keeping */

static enum rc keep_letter(struct db *db, const struct letter_rec *letter, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_LETTER);
    stmt_i64(&stmt, letter->place.died_ms);
    stmt_u64(&stmt, letter->place.exec_id);
    stmt_u64(&stmt, letter->job_id);
    stmt_i64(&stmt, letter->state);
    stmt_text(&stmt, letter->queue);
    stmt_text(&stmt, letter->name);
    stmt_i64(&stmt, letter->reason);
    stmt_i64(&stmt, letter->class);
    stmt_u64(&stmt, letter->fingerprint);
    stmt_text(&stmt, letter->line);
    stmt_text(&stmt, letter->error);
    stmt_i64(&stmt, letter->attempts);
    stmt_i64(&stmt, letter->lost);
    return stmt_done(&stmt, err);
}

static enum rc keep_letter_gone(struct db *db, const struct letter_place *place, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_REMOVE_LETTER);
    stmt_i64(&stmt, place->died_ms);
    stmt_u64(&stmt, place->exec_id);
    return stmt_done(&stmt, err);
}

static enum rc keep_operation(struct db *db, const struct operation_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, change->progress ? SQL_MOVE_OPERATION : SQL_PUT_OPERATION);
    if (change->progress) {
        stmt_record(&stmt, &operation_fields, FIELD_PROGRESS | FIELD_TRAIL, &change->operation);
        stmt_record(&stmt, &operation_fields, FIELD_KEY, &change->operation);
    } else {
        stmt_record(&stmt, &operation_fields, FIELD_ANY, &change->operation);
    }
    return stmt_done(&stmt, err);
}

#define KEEP(one, many, type, alone)                                                               \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        TRY(keep_##one(db, &delta->many[i], err));

enum rc sqlite_keep_letters(struct db *db, const struct delta *delta, struct err *err)
{
    DELTA_LETTERS(KEEP)
    return RC_OK;
}

/* ---- asking */

enum rc sqlite_find_letter(struct db *db, enum sql sql, uint64_t exec_id, struct arena *arena,
                           struct letter_rec *ret_letter, bool *ret_found, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, sql);
    stmt_u64(&stmt, exec_id);
    TRY(stmt_next(&stmt, ret_found, err));
    if (!*ret_found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    *ret_found = row_letter(&row, ret_letter);
    return RC_OK;
}

enum rc sqlite_find_letters(struct sqlite_store *s, struct arena *arena, struct question *q,
                            struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_LETTERS);
    struct letters_found letters = {0};
    stmt_i64(&stmt, q->place.died_ms);
    stmt_u64(&stmt, q->place.exec_id);
    stmt_i64(&stmt, q->until_ms);
    for (bool found = true; found;) {
        TRY(stmt_next(&stmt, &found, err));
        if (found && !letters_add(&letters, q, stmt_row(&stmt, NULL), arena))
            break;
    }
    letters_answer(&letters, q);
    return RC_OK;
}

/* ---- reading */

enum rc sqlite_read_letter(struct reader *reader, uint64_t exec_id, struct arena *arena,
                           struct letter_rec *ret_letter, struct err *err)
{
    bool found;
    TRY(sqlite_find_letter(reader_db(reader), SQL_READ_LETTER, exec_id, arena, ret_letter, &found,
                           err));
    if (!found)
        return err_set(err, RC_NOT_FOUND, "there is no dead letter %s", ID_TEXT(ID_EXEC, exec_id));
    return RC_OK;
}

/* By the index of what there are fewest of. */
static struct stmt letters_stmt(struct db *db, const struct letter_filter *filter,
                                struct letter_place before)
{
    static const enum sql lists[LETTER_LISTS] = {
        [LETTERS_OF_JOB] = SQL_LIST_LETTERS_OF_JOB, [LETTERS_OF_KIND] = SQL_LIST_LETTERS_OF_KIND,
        [LETTERS_NAMED] = SQL_LIST_LETTERS_NAMED,   [LETTERS_OF_QUEUE] = SQL_LIST_LETTERS_OF_QUEUE,
        [LETTERS_ALL] = SQL_LIST_LETTERS,
    };
    struct letter_key key = letter_key(filter);
    struct letter_place start = letter_start(filter, before);
    struct stmt stmt = db_stmt(db, lists[key.list]);
    if (key.number != 0)
        stmt_u64(&stmt, key.number);
    else if (key.text.len > 0)
        stmt_text(&stmt, key.text);
    stmt_i64(&stmt, start.died_ms);
    stmt_u64(&stmt, start.exec_id);
    stmt_i64(&stmt, filter->died_after_ms);
    return stmt;
}

enum rc sqlite_read_letters(struct reader *reader, const struct letter_filter *filter,
                            struct letter_place before, size_t scan_max, letter_sink *sink,
                            void *arg, struct letter_place *ret_next, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = letters_stmt(reader_db(reader), filter, before);
    struct letter_walk walk = {.filter = filter, .sink = sink, .arg = arg, .left = scan_max};
    for (bool found = true; found && !walk.enough;) {
        TRY(stmt_next(&stmt, &found, err));
        if (found)
            letter_walk_row(&walk, stmt_row(&stmt, NULL));
    }
    *ret_next = walk.enough ? walk.last : (struct letter_place){0};
    return RC_OK;
}

/* ---- groups */

static void bind_span(struct stmt *stmt, const struct letter_filter *filter, size_t scan_max)
{
    stmt_i64(stmt, filter->died_after_ms);
    stmt_i64(stmt, letter_filter_end(filter).died_ms);
    stmt_u64(stmt, scan_max);
}

/* All of a span of time are counted by an index alone; a filter wants to see the rows. */
static struct stmt groups_stmt(struct db *db, const struct letter_filter *filter, size_t scan_max,
                               size_t max)
{
    bool all = letter_filter_is_span(filter);
    struct stmt stmt = db_stmt(db, all ? SQL_GROUP_LETTERS : SQL_GROUP_LETTERS_FITTING);
    bind_span(&stmt, filter, scan_max);
    stmt_u64(&stmt, max);
    if (all)
        return stmt;
    stmt_text_or_null(&stmt, filter->queue);
    stmt_text_or_null(&stmt, filter->name);
    stmt_i64(&stmt, filter->class);
    stmt_u64(&stmt, filter->fingerprint);
    stmt_u64(&stmt, filter->job_id);
    return stmt;
}

static enum rc read_groups(struct db *db, const struct letter_filter *filter, size_t scan_max,
                           size_t max, struct arena *arena, struct letter_groups *groups,
                           uint64_t *ret_looked, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = groups_stmt(db, filter, scan_max, max);
    VEC(struct letter_group) found = {0};
    for (;;) {
        bool more;
        struct letter_group group;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_letter_group(&row, &group))
            *VEC_PUSH(arena, &found) = group;
        *ret_looked = row_u64(&row); /* at how many, when the statement knows it */
    }
    groups->groups = found.items;
    groups->count = found.len;
    return RC_OK;
}

enum rc sqlite_group_letters(struct reader *reader, const struct letter_filter *filter,
                             size_t scan_max, size_t max, struct arena *arena,
                             struct letter_groups *ret_groups, struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    uint64_t looked = 0;
    bool more;
    TRY(sqlite_snapshot(reader, &db, err));
    TRY(read_groups(db, filter, scan_max, max, arena, ret_groups, &looked, err));
    ret_groups->complete = true;
    if (looked < scan_max && letter_filter_is_span(filter))
        return RC_OK;
    CLEANUP(stmt_end) struct stmt edge = db_stmt(db, SQL_EDGE_LETTERS);
    bind_span(&edge, filter, scan_max);
    TRY(stmt_next(&edge, &more, err));
    ret_groups->complete = !more;
    return RC_OK;
}

/* logs.c - output of commands, and their checkpoints.
 *
 * Output is not a promise, so its commits do not wait for the disk (synchronous_commit off, for
 * that transaction alone); a power cut may take the last lines. Chunks stand in tables by the week
 * of their execution, which go as a whole when all of a week is too old. */
#include "base/id.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <inttypes.h>
#include <stdlib.h>

struct postgres_logs {
    struct logs logs;
    struct pg pg;
};

static struct pg *pg_of(struct logs *logs)
{
    return &((struct postgres_logs *)(void *)logs)->pg;
}

static enum rc append(struct logs *logs, const struct log_chunk *chunks, size_t count,
                      struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = pg_of(logs);
    (void)pg_call(pg, Q_RELAX);
    struct pg_call *use = pg_call(pg, Q_APPEND_CHUNKS);
    pg_columns(use, "iiiiiib", count);
    for (size_t i = 0; i < count; i++) {
        pg_u64(use, chunks[i].exec_id);
        pg_u64(use, chunks[i].token);
        pg_u64(use, chunks[i].seq);
        pg_i64(use, chunks[i].attempt);
        pg_i64(use, chunks[i].stream);
        pg_i64(use, chunks[i].at_ms);
        pg_blob(use, chunks[i].bytes);
    }
    return pg_run(pg, err);
}

/* The statement stops at bytes_max; a row that makes no sense counts there, so a page of nothing
 * else is followed by the next one. */
static enum rc read_page(struct pg *pg, uint64_t exec_id, struct log_place after, size_t bytes_max,
                         const struct pg_call **ret_use, struct err *err)
{
    struct pg_call *use = pg_call(pg, Q_READ_CHUNKS);
    pg_u64(use, exec_id);
    pg_u64(use, after.token);
    pg_u64(use, after.seq);
    pg_u64(use, bytes_max);
    *ret_use = use;
    return pg_run(pg, err);
}

static struct log_place place_of(const struct pg_call *use, size_t i)
{
    struct log_place place;
    struct row row = pg_row(use, i, NULL);
    (void)row_u64(&row);
    place.token = row_u64(&row);
    place.seq = row_u64(&row);
    return place;
}

static enum rc read_chunks(struct logs *logs, uint64_t exec_id, struct log_place after,
                           size_t bytes_max, struct arena *arena, struct log_chunk **ret_chunks,
                           size_t *ret_count, struct err *err)
{
    VEC(struct log_chunk) chunks = {0};
    bool more = true;
    while (more && chunks.len == 0) {
        CLEANUP(pg_clear_at) struct pg *pg = pg_of(logs);
        const struct pg_call *use;
        TRY(read_page(pg, exec_id, after, bytes_max, &use, err));
        size_t rows = pg_rows(use);
        for (size_t i = 0; i < rows; i++) {
            struct log_chunk chunk;
            struct row row = pg_row(use, i, arena);
            if (row_chunk(&row, &chunk))
                *VEC_PUSH(arena, &chunks) = chunk;
        }
        more = rows > 0;
        if (more)
            after = place_of(use, rows - 1);
    }
    *ret_chunks = chunks.items;
    *ret_count = chunks.len;
    return RC_OK;
}

enum { TEND_MS = 3600000, DROPS_MAX = 100 };

/* Makes the weeks ahead, once an hour in the whole cluster. Here, since neither turns nor renewals
 * wait for this connection. */
static enum rc tend(struct pg *pg, struct err *err)
{
    pg_i64(pg_call(pg, Q_TEND), TEND_MS);
    enum rc rc = pg_run(pg, err);
    pg_clear(pg);
    return rc == RC_OK ? RC_OK : err_note(err, "tables of the weeks ahead");
}

/* Drops the weeks that are over, one after the other, until one is in use or none is left. */
static enum rc drop_weeks(struct pg *pg, struct err *err)
{
    for (int i = 0; i < DROPS_MAX; i++) {
        struct pg_call *use = pg_call(pg, Q_DROP_WEEK);
        enum rc rc = pg_run(pg, err);
        struct row row = pg_row(use, 0, NULL);
        bool dropped = rc == RC_OK && row_text_or_null(&row).len > 0;
        pg_clear(pg);
        if (rc != RC_OK)
            return err_note(err, "tables of old weeks");
        if (!dropped)
            break;
    }
    return RC_OK;
}

static enum rc trim(struct logs *logs, int64_t before_ms, size_t max, size_t *ret_count,
                    struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = pg_of(logs);
    TRY(tend(pg, err));
    TRY(drop_weeks(pg, err));
    /* Weeks that are too old as a whole first: they cost nothing, whatever `max` says. */
    struct pg_call *weeks = pg_call(pg, Q_TRIM_WEEKS);
    pg_i64(weeks, before_ms);
    struct pg_call *chunks = pg_call(pg, Q_TRIM_CHUNKS);
    pg_i64(chunks, before_ms);
    pg_u64(chunks, max);
    TRY(pg_run(pg, err));
    struct row row = pg_row(weeks, 0, NULL);
    *ret_count = (size_t)(row_u64(&row) + pg_changed(chunks));
    return RC_OK;
}

/* ---- checkpoints */

static enum rc put_checkpoint(struct logs *logs, const struct checkpoint *checkpoint,
                              struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = pg_of(logs);
    (void)pg_call(pg, Q_RELAX);
    struct pg_call *use = pg_call(pg, Q_PUT_CHECKPOINT);
    pg_u64(use, checkpoint->exec_id);
    pg_u64(use, checkpoint->token);
    pg_i64(use, checkpoint->at_ms);
    pg_blob(use, checkpoint->bytes);
    return pg_run(pg, err);
}

static enum rc read_checkpoint(struct logs *logs, uint64_t exec_id, struct arena *arena,
                               struct checkpoint *ret_checkpoint, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = pg_of(logs);
    struct pg_call *use = pg_call(pg, Q_READ_CHECKPOINT);
    pg_u64(use, exec_id);
    TRY(pg_run(pg, err));
    if (pg_rows(use) == 0)
        return err_set(err, RC_NOT_FOUND, "%s has no checkpoint", ID_TEXT(ID_EXEC, exec_id));
    struct row row = pg_row(use, 0, arena);
    if (!row_checkpoint(&row, ret_checkpoint))
        return err_set(err, RC_CORRUPT, "%s: the checkpoint of execution %" PRIu64 " is corrupt",
                       pg_label(use), exec_id);
    return RC_OK;
}

static enum rc list_checkpoints(struct logs *logs, uint64_t after, size_t max, struct arena *arena,
                                struct checkpoint **ret_checkpoints, size_t *ret_count,
                                struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = pg_of(logs);
    struct pg_call *use = pg_call(pg, Q_LIST_CHECKPOINTS);
    VEC(struct checkpoint) list = {0};
    pg_u64(use, after);
    pg_u64(use, max);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct checkpoint checkpoint;
        struct row row = pg_row(use, i, arena);
        if (row_checkpoint(&row, &checkpoint))
            *VEC_PUSH(arena, &list) = checkpoint;
    }
    *ret_checkpoints = list.items;
    *ret_count = list.len;
    return RC_OK;
}

static enum rc drop_checkpoint(struct logs *logs, uint64_t exec_id, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = pg_of(logs);
    (void)pg_call(pg, Q_RELAX);
    struct pg_call *use = pg_call(pg, Q_DROP_CHECKPOINT);
    pg_u64(use, exec_id);
    return pg_run(pg, err);
}

static void close_logs(struct logs *logs)
{
    pg_close(pg_of(logs));
    free(logs);
}

static const struct logs_ops ops = {
    .append = append,
    .read = read_chunks,
    .trim = trim,
    .put_checkpoint = put_checkpoint,
    .checkpoint = read_checkpoint,
    .checkpoints = list_checkpoints,
    .drop_checkpoint = drop_checkpoint,
    .close = close_logs,
};

/* All of it may be sent again after a loss: chunks that are there stay, a checkpoint is put by its
 * token. */
enum rc postgres_logs(struct store *store, struct logs **ret_logs, struct err *err)
{
    (void)err;
    struct postgres_logs *l = MEM_NEW(struct postgres_logs);
    l->logs.ops = &ops;
    pg_init(&l->pg, &postgres_of(store)->place, true);
    *ret_logs = &l->logs;
    return RC_OK;
}

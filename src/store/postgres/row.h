/* row.h - rows into records, with distrust.
 *
 * A row may come from another version of belfry or from a damaged disk. Columns are read one after
 * the other; whatever makes no sense (a NULL, a negative id, a state that does not exist) marks the
 * row as bad, and a bad row is reported and left out, never acted upon. */
#pragma once
#include "store/postgres/pg.h"
#include "store/store.h"

struct pg_row {
    const struct pg_use *use; /* borrowed: answered */
    int number;               /* which of its rows */
    int at;                   /* the column to be read next */
    struct arena *arena;      /* text is copied there; NULL: it is valid until pg_clear only */
    bool bad;
};

struct pg_row pg_row_of(const struct pg_use *use, size_t number, struct arena *arena);

int64_t pg_row_i64(struct pg_row *row);
uint64_t pg_row_u64(struct pg_row *row);
uint32_t pg_row_u32(struct pg_row *row);
int64_t pg_row_ms(struct pg_row *row); /* a moment that can be printed, or 0 */
bool pg_row_bool(struct pg_row *row);
struct str pg_row_text(struct pg_row *row);
struct str pg_row_text_or_null(struct pg_row *row); /* NULL becomes empty */
struct str pg_row_blob(struct pg_row *row);

/* Whole records, in the order of the views in migrations/. False, and a warning in the log, for a
 * row that is bad. */
bool pg_row_job(struct pg_row *row, struct job_rec *ret_job);
bool pg_row_exec(struct pg_row *row, struct exec_rec *ret_exec);
/* As queries load_live and load_jobs tell them. */
bool pg_row_live(struct pg_row *row, struct exec_rec *ret_exec);
bool pg_row_live_job(struct pg_row *row, struct job_rec *ret_job);
bool pg_row_attempt(struct pg_row *row, struct attempt_rec *ret_attempt);
bool pg_row_worker(struct pg_row *row, struct worker_rec *ret_worker);
bool pg_row_team(struct pg_row *row, struct team_rec *ret_team);
bool pg_row_queue(struct pg_row *row, struct queue_rec *ret_queue);
bool pg_row_inbox(struct pg_row *row, struct inbox_rec *ret_rec);
bool pg_row_waiter(struct pg_row *row, struct waiter_rec *ret_waiter);
bool pg_row_permit(struct pg_row *row, struct permit_rec *ret_permit);
bool pg_row_rejected(struct pg_row *row, struct rejected_rec *ret_rec);
bool pg_row_rate(struct pg_row *row, struct rate_rec *ret_rate);
/* end, bucket, count and sum_ms of rows that were added up. */
bool pg_row_tally(struct pg_row *row, struct tally *ret_tally);
bool pg_row_tally_key(struct pg_row *row, struct tally_key *ret_key);
bool pg_row_alert(struct pg_row *row, struct alert_rec *ret_alert);
bool pg_row_sla_event(struct pg_row *row, struct sla_event_rec *ret_event);
bool pg_row_breaker(struct pg_row *row, struct breaker_rec *ret_breaker);
bool pg_row_dependency(struct pg_row *row, struct dependency_rec *ret_dependency);
bool pg_row_letter(struct pg_row *row, struct letter_rec *ret_letter);
bool pg_row_operation(struct pg_row *row, struct operation_rec *ret_operation);
bool pg_row_calendar(struct pg_row *row, struct calendar_rec *ret_calendar);
bool pg_row_counter(struct pg_row *row, struct counter *ret_counter);
bool pg_row_key(struct pg_row *row, struct key_rec *ret_key);
bool pg_row_chunk(struct pg_row *row, struct log_chunk *ret_chunk);
bool pg_row_checkpoint(struct pg_row *row, struct checkpoint *ret_checkpoint);
/* Its columns are NULL where there is nothing to tell. */
bool pg_row_grant(struct pg_row *row, struct grant *ret_grant);

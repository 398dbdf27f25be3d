/* row.h - rows into records, with distrust.
 *
 * A row may come from another version of belfry or from a damaged disk. Columns are read one after
 * the other; whatever makes no sense (a NULL, a negative id, a state that does not exist) marks the
 * row as bad, and a bad row is reported and left out, never acted upon. */
#pragma once
#include "store/sqlite/db.h"
#include "store/store.h"

struct row {
    const struct stmt *stmt; /* borrowed: stands on this row */
    int at;                  /* the column to be read next */
    struct arena *arena;     /* text is copied there; NULL: it is valid until the next row only */
    bool bad;
};

/* The row that stmt stands on. */
struct row row_of(const struct stmt *stmt, struct arena *arena);

int64_t row_i64(struct row *row);
uint64_t row_u64(struct row *row);
uint32_t row_u32(struct row *row);
int64_t row_ms(struct row *row); /* a moment that can be printed, or 0 */
struct str row_text(struct row *row);
struct str row_text_or_null(struct row *row); /* NULL becomes empty */
struct str row_blob(struct row *row);

/* Whole records, in the order of the views in queries.sql. False, and a warning in the log, for a
 * row that is bad. */
bool row_job(struct row *row, struct job_rec *ret_job);
bool row_exec(struct row *row, struct exec_rec *ret_exec);
bool row_attempt(struct row *row, struct attempt_rec *ret_attempt);
bool row_worker(struct row *row, struct worker_rec *ret_worker);
bool row_team(struct row *row, struct team_rec *ret_team);
bool row_queue(struct row *row, struct queue_rec *ret_queue);
bool row_inbox(struct row *row, struct inbox_rec *ret_rec);
bool row_waiter(struct row *row, struct waiter_rec *ret_waiter);
bool row_permit(struct row *row, struct permit_rec *ret_permit);
bool row_rejected(struct row *row, struct rejected_rec *ret_rec);
bool row_rate(struct row *row, struct rate_rec *ret_rate);
/* end, bucket, count and sum_ms of rows that were added up. */
bool row_tally(struct row *row, struct tally *ret_tally);
bool row_tally_key(struct row *row, struct tally_key *ret_key);
bool row_alert(struct row *row, struct alert_rec *ret_alert);
bool row_sla_event(struct row *row, struct sla_event_rec *ret_event);
bool row_breaker(struct row *row, struct breaker_rec *ret_breaker);
bool row_dependency(struct row *row, struct dependency_rec *ret_dependency);
bool row_letter(struct row *row, struct letter_rec *ret_letter);
bool row_operation(struct row *row, struct operation_rec *ret_operation);
bool row_calendar(struct row *row, struct calendar_rec *ret_calendar);
bool row_counter(struct row *row, struct counter *ret_counter);
bool row_key(struct row *row, struct key_rec *ret_key);
bool row_chunk(struct row *row, struct log_chunk *ret_chunk);
bool row_checkpoint(struct row *row, struct checkpoint *ret_checkpoint);
/* Its columns are NULL where there is nothing to tell. */
bool row_grant(struct row *row, struct grant *ret_grant);

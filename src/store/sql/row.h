/* row.h - rows of a database into records, with distrust.
 *
 * Which columns make up a record, in the order of the views (sqlite/sql/setup.sql,
 * postgres/migrations), and what they may hold: for every store that keeps rows. False, and a
 * warning in the log, for a row that is bad (cell.h); such a one is left out and never acted upon.
 * Columns that could be read, as its id, are in the record also then. */
#pragma once
#include "job/record/fields.h"
#include "store/sql/cell.h"
#include "store/store.h"

/* Any record whose fields are listed. */
bool row_record(struct row *row, const struct fields *fields, void *record);

bool row_job(struct row *row, struct job_rec *job);
/* Behind its place in that order, which is there also when the rest is bad. */
bool row_sorted_job(struct row *row, enum job_sort sort, struct sorted_job *job);
bool row_exec(struct row *row, struct exec_rec *exec);
bool row_ran(struct row *row, struct ran_rec *ran);
/* The column behind those, where executions are loaded. */
void row_charged(struct row *row, struct exec_rec *exec);
bool row_attempt(struct row *row, struct attempt_rec *attempt);
/* The part of it that lists go by. */
bool row_attempt_head(struct row *row, struct attempt_rec *attempt);
bool row_worker(struct row *row, struct worker_rec *worker);
bool row_team(struct row *row, struct team_rec *team);
bool row_queue(struct row *row, struct queue_rec *queue);
bool row_inbox(struct row *row, struct inbox_rec *rec);
bool row_waiter(struct row *row, struct waiter_rec *waiter);
bool row_permit(struct row *row, struct permit_rec *permit);
bool row_rejected(struct row *row, struct rejected_rec *rec);
bool row_rate(struct row *row, struct rate_rec *rate);
/* end, bucket, count and sum_ms of rows that were added up. */
bool row_tally(struct row *row, struct tally *tally);
/* The same behind a key. */
bool row_tally_of_key(struct row *row, enum tally_scope scope, struct tally *tally);
bool row_silence(struct row *row, struct silence_rec *silence);
bool row_alert(struct row *row, struct alert_rec *alert);
bool row_sla_event(struct row *row, struct sla_event_rec *event);
bool row_breaker(struct row *row, struct breaker_rec *breaker);
bool row_dependency(struct row *row, struct dependency_rec *dependency);
bool row_letter(struct row *row, struct letter_rec *letter);
bool row_letter_group(struct row *row, struct letter_group *group);
bool row_version(struct row *row, struct version_rec *version);
bool row_operation(struct row *row, struct operation_rec *op);
bool row_calendar(struct row *row, struct calendar_rec *calendar);
bool row_counter(struct row *row, struct counter *counter);
bool row_key(struct row *row, struct key_rec *key);
bool row_chunk(struct row *row, struct log_chunk *chunk);
bool row_checkpoint(struct row *row, struct checkpoint *checkpoint);
/* Its columns are NULL where there is nothing to tell. */
bool row_grant(struct row *row, struct grant *grant);

/* The end of reading a record: logs a row that is bad. */
bool row_makes_sense(const struct row *row);

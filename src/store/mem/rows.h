/* rows.h - records that own their text, and copies of them.
 *
 * A record in a delta borrows its text from the turn; a record in the memory store must live on.
 * These calls name the texts of each kind of record once, so that keeping, freeing and copying
 * cannot disagree about them. */
#pragma once
#include "store/store.h"

/* A copy on the heap that owns its text; each _free takes it back. */
struct job_rec *kept_job(const struct job_rec *job);
struct exec_rec *kept_exec(const struct exec_rec *exec);
struct worker_rec *kept_worker(const struct worker_rec *worker);
struct queue_rec *kept_queue(const struct queue_rec *queue);
struct team_rec *kept_team(const struct team_rec *team);
struct rate_rec *kept_rate(const struct rate_rec *rate);
/* Room for the key of a tally: numbers and a name. */
enum { TALLY_KEY_MAX = 256 };

/* The key that tells one row of numbers from another, written to bytes. */
struct str tally_name(const struct tally *row, char *bytes);
/* With room for its tally_name behind it. */
struct tally *kept_tally(const struct tally *row);
struct alert_rec *kept_alert(const struct alert_rec *alert);
struct sla_event_rec *kept_sla_event(const struct sla_event_rec *event);
struct breaker_rec *kept_breaker(const struct breaker_rec *breaker);
struct letter_rec *kept_letter(const struct letter_rec *letter);
struct operation_rec *kept_operation(const struct operation_rec *operation);
struct calendar_rec *kept_calendar(const struct calendar_rec *calendar);
struct claim *kept_claim(const struct claim *claim);
void kept_job_free(struct job_rec *job);
void kept_exec_free(struct exec_rec *exec);
void kept_worker_free(struct worker_rec *worker);
void kept_queue_free(struct queue_rec *queue);
void kept_team_free(struct team_rec *team);
void kept_rate_free(struct rate_rec *rate);
void kept_tally_free(struct tally *row);
void kept_alert_free(struct alert_rec *alert);
void kept_sla_event_free(struct sla_event_rec *event);
void kept_breaker_free(struct breaker_rec *breaker);
void kept_letter_free(struct letter_rec *letter);
void kept_operation_free(struct operation_rec *operation);
void kept_calendar_free(struct calendar_rec *calendar);
void kept_claim_free(struct claim *claim);

/* Copies into an arena. */
struct job_rec copy_job(struct arena *arena, struct job_rec job);
struct exec_rec copy_exec(struct arena *arena, struct exec_rec exec);
struct letter_rec copy_letter(struct arena *arena, struct letter_rec letter);
struct calendar_rec copy_calendar(struct arena *arena, struct calendar_rec calendar);

/* Text that is owned by the record it stands in. */
struct str kept_text(struct str text);
void kept_text_free(struct str *text);
void kept_text_set(struct str *text, struct str value);
void kept_text_append(struct str *text, struct str more);

/* Room for one more in an array that doubles: returns the array, moved or not. */
void *kept_rows_grow(void *rows, size_t count, size_t row_bytes);

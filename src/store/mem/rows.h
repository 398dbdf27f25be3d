/* rows.h - records that own their text, and copies of them.
 *
 * A record in a delta borrows its text from the turn; a record in the memory store must live on.
 * Keeping, freeing and copying go by the list of its fields, so that they cannot disagree about its
 * texts. */
#pragma once
#include "job/record/record_fields.h"
#include "store/store.h"

/* A copy on the heap that owns its text; each _free takes it back, or NULL. */
void *kept_record(const struct fields *fields, const void *record);
void kept_record_free(const struct fields *fields, void *record);

/* The same where the record itself stands elsewhere: its texts alone. */
void kept_texts(const struct fields *fields, void *record);
void kept_texts_free(const struct fields *fields, const void *record);

/* Takes the fields of these groups from another record. */
void kept_record_take(const struct fields *fields, unsigned groups, void *record, const void *from);

/* The same by their types: kept_queue, kept_queue_free … */
#define KEPT_RECORD(noun) KEPT_RECORD_OF(noun, &noun##_fields)
#define KEPT_RECORD_OF(noun, fields)                                                               \
    static inline struct noun##_rec *kept_##noun(const struct noun##_rec *record)                  \
    {                                                                                              \
        return kept_record(fields, record);                                                        \
    }                                                                                              \
    static inline void kept_##noun##_free(struct noun##_rec *record)                               \
    {                                                                                              \
        kept_record_free(fields, record);                                                          \
    }

KEPT_RECORD_OF(job, &job_row_fields)
KEPT_RECORD(exec)
KEPT_RECORD(queue)
KEPT_RECORD(team)
KEPT_RECORD(rate)
KEPT_RECORD(worker)
KEPT_RECORD(alert)
KEPT_RECORD(silence)
KEPT_RECORD(breaker)
KEPT_RECORD(calendar)
KEPT_RECORD(sla_event)
KEPT_RECORD(letter)
KEPT_RECORD(operation)
KEPT_RECORD(version)
KEPT_RECORD(permit)
KEPT_RECORD(rejected)

/* Room for the key of a tally: numbers and a name. */
enum { TALLY_KEY_MAX = 256 };

/* The key that tells one row of numbers from another, written to bytes. */
struct str tally_name(const struct tally *row, char *bytes);
/* With room for its tally_name behind it. */
struct tally *kept_tally(const struct tally *row);
struct claim *kept_claim(const struct claim *claim);
void kept_tally_free(struct tally *row);
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

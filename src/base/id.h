/* id.h - 64-bit ids that know when and where they were made.
 *
 *     bit 62 ........ 22 | 21 ...... 12 | 11 ....... 0
 *     milliseconds (41)  | bucket (10)  | sequence (12)
 *
 * Milliseconds count from 2020, which lasts until 2089; the sign bit stays clear because both
 * databases have signed integers only. A partition is a range of buckets, so any server can tell
 * an id's owner. Ids of one generator only grow, also when the clock steps back and after a
 * restart (the floor). Outside they are text, 13 digits of Crockford's base 32 behind a prefix:
 * `job_01k5d2vhc0a00`; text sorts as the numbers do. */
#pragma once
#include "base/str.h"

enum {
    ID_BUCKETS = 1024,
    ID_BUCKET_SHIFT = 12, /* where the bucket begins */
    ID_SEQUENCE_MAX = 4095,
    ID_DIGITS = 13,
    ID_TEXT_MAX = 24, /* longest prefix + digits + NUL */
};

#define ID_EPOCH_MS INT64_C(1577836800000) /* 2020-01-01T00:00:00Z */

struct id_gen {
    int64_t last_ms; /* of the newest id, since ID_EPOCH_MS */
    uint32_t sequence;
    uint32_t bucket;
};

/* The next id, larger than every one before. When the sequence is used up, or the bucket is smaller
 * than the last one's, the next millisecond is borrowed, so generating never waits. */
uint64_t id_next(struct id_gen *gen, int64_t now_ms, uint32_t bucket);

/* No id that was made so far is larger. */
uint64_t id_newest(const struct id_gen *gen);

/* From now on ids are larger than `floor`, whatever the clock says. */
void id_raise_floor(struct id_gen *gen, uint64_t floor);

uint32_t id_bucket(uint64_t id);
int64_t id_time_ms(uint64_t id); /* wall clock */

/* Writes prefix, digits and NUL; ret_text holds ID_TEXT_MAX. Returns the text. */
struct str id_format(char *ret_text, const char *prefix, uint64_t id);
/* The same for a message: good until the end of the block that it stands in. */
#define ID_TEXT(prefix, id) (id_format((char[ID_TEXT_MAX]){0}, (prefix), (id)).ptr)
/* RC_INVALID unless text is exactly prefix and 13 lower-case digits of a possible id. */
enum rc id_parse(struct str text, const char *prefix, uint64_t *ret_id, struct err *err);

/* Whether text is the whole id of anything: then it is no name. */
bool id_is_any(struct str text);

/* A part of an id, which stands for all ids that have it. */
struct id_part {
    uint64_t min; /* ids from here … */
    uint64_t end; /* … up to here, without it, … */
    uint64_t mask;
    uint64_t tail; /* … that have these bits at the end: id & mask == tail */
};

/* Fewer digits would mean too many ids, or be one by accident. */
enum { ID_PART_DIGITS_MIN = 6 };

/* The beginning of an id, "job_01k5d2", or its end behind an ellipsis, "…hc0a00" (or three dots),
 * with or without the prefix in front. False: it is neither. */
bool id_part_parse(struct str text, const char *prefix, struct id_part *ret_part);

#define ID_JOB "job_"
#define ID_EXEC "exec_"
#define ID_WORKER "wrk_"
#define ID_KEY "key_"
#define ID_ALERT "alrt_"
#define ID_OPERATION "op_"
#define ID_SLA_EVENT "sla_"
#define ID_SILENCE "slnc_"

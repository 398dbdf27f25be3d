/* letter.h - dead letters: executions that failed for good, until somebody decides about them.
 *
 * One is written in the commit in which its execution ends, and leaves when it is run again, when
 * somebody discards it, or when it is too old. The order is that of their deaths. Plain values. */
#pragma once
#include "job/failure.h"
#include "job/state.h"

#include <stdint.h>

/* Why there was no further attempt. Kept by number: append only. */
enum letter_reason {
    LETTER_NONE = 0,
    LETTER_EXHAUSTED,   /* all attempts that it had failed */
    LETTER_PERMANENT,   /* trying again cannot help */
    LETTER_NOT_RETRIED, /* its job retries on other classes only */
    LETTER_QUARANTINED, /* its workers were lost, too often */
    LETTER_REASONS
};

/* "exhausted" */
struct str letter_reason_name(enum letter_reason reason);

/* Where one stands among all: earlier deaths first, then smaller ids. */
struct letter_place {
    int64_t died_ms;
    uint64_t exec_id;
};

struct letter_rec {
    struct letter_place place; /* its execution, and when that ended */
    uint64_t job_id;
    enum exec_state state; /* EXEC_FAILED or EXEC_TIMEOUT */
    struct str queue;
    struct str name;  /* of its job; empty: none */
    struct str owner; /* of its job; a store takes it from there when the letter is written */
    enum letter_reason reason;
    enum failure_class class;
    uint64_t fingerprint; /* of the last attempt, */
    struct str line;      /* and the normalised line that it is made of */
    struct str error;     /* that of the execution */
    uint32_t attempts;
    uint32_t lost;
};

/* Which ones. Empty or zero fields do not restrict. */
struct letter_filter {
    struct str queue;
    struct str name;
    enum failure_class class;
    uint64_t fingerprint;
    uint64_t job_id;
    int64_t died_after_ms;  /* inclusive */
    int64_t died_before_ms; /* exclusive */
};

bool letter_fits(const struct letter_filter *filter, const struct letter_rec *letter);
/* The place before which those stand that died in time for it. */
struct letter_place letter_filter_end(const struct letter_filter *filter);
/* It restricts nothing but the time. */
bool letter_filter_is_span(const struct letter_filter *filter);
/* It restricts nothing. */
bool letter_filter_is_empty(const struct letter_filter *filter);
/* Negative when a stands before b, 0 when they are the same. */
int letter_order(struct letter_place a, struct letter_place b);

/* Letters of one kind. */
struct letter_group {
    uint64_t fingerprint;
    enum failure_class class; /* of the newest, */
    struct str line;          /* as is this */
    uint64_t count;
    struct letter_place newest;
    int64_t oldest_ms;
};

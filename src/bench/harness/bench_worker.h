/* bench_worker.h - the worker process of a benchmark: `belfry bench --role worker`.
 *
 * It knows one handler, ROLE_HANDLER, which does nothing and succeeds, unless it is to fail. What
 * it sees it says in notes, a line each on standard output. A job whose payload says when it was
 * sent gets a note of its own, at once, with how long it took to get here; all others are only
 * counted, and told some hundred times a second, so that telling costs nothing. SIGTERM drains
 * it. */
#pragma once
#include "base/buf.h"

#define ROLE_HANDLER "bench"
/* The member of the payload with the moment of sending, on clock_mono_us's clock, which is the same
 * for all processes of one machine. */
#define ROLE_SENT "sent_us"
/* The same for a job with a moment of its own: when it was due. It is told with the counted
 * ones. */
#define ROLE_DUE "due_us"
/* A number of the job's own, from 1 on, for a job that recurs: each of its runs is told with the
 * counted ones, with the slot it is for and how late after that it was called. */
#define ROLE_NUMBER "number"

/* The call is to fail, so that the job's retry policy says what follows. */
#define ROLE_FAIL "fail"
/* The same for the first attempt alone. */
#define ROLE_FAIL_FIRST "fail_first"
/* Says nothing; the payload is there to be carried. */
#define ROLE_FILL "fill"

struct note {
    uint64_t calls;      /* of the handler, so far */
    uint64_t start_us;   /* from sending, or being due, to the call; 0: not asked for */
    uint64_t drained_us; /* when the last result was accepted; 0: it goes on */
    uint64_t number;     /* the job's own; 0: it has none, and what follows means nothing */
    uint64_t slot_ms;    /* wall clock */
    uint64_t retries;    /* of those calls, so far */
};

void note_print(struct buf *out, const struct note *note); /* with its line break */
enum rc note_parse(struct str line, struct note *ret_note, struct err *err);

struct role_options {
    struct str url;
    struct str token;
    uint32_t slots;
};

/* Returns the exit code. */
int role_main(const struct role_options *options);

/* log_reader.h - the thread that reads output as numbered lines.
 *
 * A thread of its own, so that the first look at a long output, which reads it once as a whole,
 * keeps neither turns nor queries nor followers waiting. Its handle on the logs is opened when it
 * is first needed. Those who ask take turns: one that has to count much is put aside after
 * SLICE_BYTES, then after twice as many, and so on, which ends however others push what it knows
 * out of memory. An answer is bounded (LINES_MAX, LINES_ANSWER_BYTES) and says where to go on. */
#pragma once
#include "server/call/request.h"
#include "server/output/log_index.h"

enum {
    LINES_USUAL = 1000,
    LINES_MAX = 10000,
    LINES_ANSWER_BYTES = 4 << 20, /* of printed lines; the last of them may go beyond */
};

#define LINES_TYPE "application/x-ndjson"

/* An execution whose lines are asked for. */
struct lines_run {
    uint64_t exec_id;
    struct str status;
    bool final;          /* it ended … */
    bool settled;        /* … so long ago that no output of it is on its way */
    uint64_t live_token; /* of the lease that it has; 0: none */
    uint64_t last_token; /* of its newest attempt that has ended, … */
    uint64_t last_seq;   /* … and the number of its last chunk */
    /* Attempts that printed something: what is not there any more is told. */
    const struct attempt_rec *attempts;
    size_t attempt_count;
};

/* The lines that are asked for. */
struct lines_call {
    struct lines_run *runs;
    size_t count;
    bool named;       /* each line has the id of its execution */
    uint32_t attempt; /* 0: all */
    unsigned stream;  /* enum log_stream; 0: all */
    bool from_end;    /* the last `tail` lines, … */
    uint64_t tail;
    uint32_t from_attempt; /* … or those from a line of this attempt (0: the first) on */
    uint64_t from;         /* its number */
    size_t limit;
    uint64_t slice; /* bytes to count before others get their turn; 0: not asked yet */
    /* Instead of printing: where the first of these lines begins, or what will be it. */
    bool find_place;
    struct line_place place; /* token 0: nothing was printed */
};

struct log_reader;

/* A line as an object. base is added to its number; exec_id 0 is not shown. */
void log_line_print(struct buf *out, uint64_t exec_id, uint32_t attempt, uint64_t base,
                    const struct log_line *line);

enum rc log_reader_start(struct server *server, struct log_reader **ret_reader, struct err *err);
/* Does what r->own, a struct lines_call, says, prints into r->body, and sends r home. RC_BUSY,
 * RC_SHUTDOWN: not taken. */
enum rc log_reader_send(struct log_reader *reader, struct request *r);
/* Serves what waits, and ends the thread. */
void log_reader_stop(struct log_reader *reader);
/* After stop, when nobody can send any more. NULL is fine. */
void log_reader_free(struct log_reader *reader);

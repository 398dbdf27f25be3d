/* log_lines.h - output cut into numbered lines.
 *
 * Chunks are pieces of what a command printed, and end wherever a read ended. Here the chunks of
 * one token (a lease, so an attempt or a part of one) are fed in order, and lines come out in the
 * order in which they were completed. The rules make a line's number follow from the chunks alone,
 * and every place behind a line one where cutting can begin anew, with nothing to remember:
 *
 * - A line may lie in several chunks, as long as no chunk of another stream stands between them.
 *   One that another stream interrupts is given in pieces, each a line with a number, all but the
 *   last marked `more`. So is a line of more than LOG_LINE_BYTES_MAX bytes.
 * - The break (\n, \r\n) is not part of it. What no break ends is a line when nothing follows.
 * - Where numbers of chunks are missing there is a line that says so, of the stream LOG_NOTE.
 *
 * Plain values, no I/O. Memory is bounded by one line. */
#pragma once
#include "base/buf.h"
#include "job/log.h"

enum { LOG_LINE_BYTES_MAX = 16 << 10 };

/* Behind `skip` bytes of a chunk; `count` lines end before. All zero but the token and seq 1: the
 * beginning. */
struct line_place {
    uint64_t token;
    uint64_t seq;
    uint64_t skip;
    uint64_t count;
};

struct log_line {
    uint64_t number; /* from 1 */
    int64_t at_ms;   /* of the chunk that it begins in */
    enum log_stream stream;
    bool more;        /* the line goes on in the next piece of its stream */
    uint64_t missing; /* instead of a line: so many chunks are not there */
    uint64_t dropped; /* a note: the worker dropped so many bytes here */
    struct str text;  /* valid until the next call */
};

struct line_cutter {
    struct line_place at; /* behind the newest line that was given */
    bool has_gap;         /* chunks were missing */

    uint64_t next_seq; /* of the chunk that is expected */
    struct log_chunk chunk;
    struct str rest;        /* of the chunk */
    uint64_t missing;       /* before the chunk, still to be told */
    bool interrupted;       /* `open` does not go on in the chunk */
    bool given;             /* `open` was given, and is empty from the next call on */
    struct buf open;        /* owned: the line that has begun … */
    int64_t open_ms;        /* … in a chunk of this time … */
    enum log_stream stream; /* … and stream */
};

/* Begins behind the place. The chunks to feed are those with place->seq and higher. */
void line_cutter_init(struct line_cutter *c, const struct line_place *place);
void line_cutter_free(struct line_cutter *c); /* also usable as CLEANUP(line_cutter_free) */

/* The next chunk, which must stay until line_cutter_next has returned false. */
void line_cutter_feed(struct line_cutter *c, const struct log_chunk *chunk);
/* False: more has to be fed. */
bool line_cutter_next(struct line_cutter *c, struct log_line *ret_line);
/* Nothing follows: what is left is a line. False: nothing is. */
bool line_cutter_end(struct line_cutter *c, struct log_line *ret_line);

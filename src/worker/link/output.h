/* output.h - what one attempt printed, on its way to the server, in bounded memory.
 *
 * The beginning is passed on as it comes. Past a limit only the newest part is kept, and passed on
 * when the attempt is over, behind a note that says how much is missing: the start and the end of
 * a long output are what people read. Pieces are numbered over both streams and the worker's own
 * notes. The feeder of an output watches `output_unsent` and stops reading while it is large.
 *
 * No I/O here: `output_sender.h` takes pieces from the front and says when they have arrived. */
#pragma once
#include "base/buf.h"
#include "base/list.h"
#include "job/log.h"
#include "job/poll.h"

struct output {
    uint64_t worker_id; /* whom the lease was given to: we may be called otherwise by now */
    uint64_t exec_id;
    uint64_t token;
    uint32_t attempt;
    uint64_t seq;         /* of the newest piece */
    size_t unsent_bytes;  /* ready, or under way and not yet confirmed */
    uint64_t total_bytes; /* printed */
    uint64_t dropped_bytes;
    size_t head_left_bytes; /* until only the newest part is kept */
    size_t tail_max_bytes;
    size_t tail_bytes;
    struct list ready;     /* of struct piece; owned */
    struct list tail;      /* the same */
    struct list_node node; /* in the output_sender's list of those that have something ready */
    bool left;             /* see output_sender_leave */
    /* Called when pieces have arrived, or never will. NULL: no caller cares any more. */
    void (*on_sent)(void *arg);
    void *arg;
};

/* A piece of output, in no list or in exactly one. */
struct piece {
    struct list_node node;
    struct output *output;
    enum log_stream stream;
    uint64_t seq;
    int64_t at_ms; /* wall clock, of its first byte */
    struct buf bytes;
};

enum { OUTPUT_PIECE_BYTES_MAX = 64 << 10 };

/* Keeps up to bytes_max of what will be printed. */
struct output *output_new(uint64_t worker_id, const struct poll_lease *lease, size_t bytes_max);
/* NULL is fine. No piece may be under way. */
void output_free(struct output *o);

/* More was printed. Neighbours in time and stream share a piece while it has not been taken. */
void output_add(struct output *o, enum log_stream stream, struct str bytes, int64_t now_ms);
/* The worker's own word, one line. */
void output_note(struct output *o, int64_t now_ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Nothing will follow: the newest part is ready now. */
void output_finish(struct output *o, int64_t now_ms);
/* True when the beginning is full: later output needs no room of its own. */
bool output_is_full(const struct output *o);

/* The oldest piece that is ready, the caller's until output_sent, or NULL. */
struct piece *output_take(struct output *o);
/* The server has it, or nobody ever will. */
void output_sent(struct piece *take_piece);
struct log_chunk piece_chunk(const struct piece *piece);

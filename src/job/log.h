/* log.h - the output of commands as values: pieces of it, and places in it.
 *
 * A worker reads what a command prints and cuts it into chunks; a store keeps them; readers ask for
 * what follows a place. `wire/http/log_frame.h` gives chunks their form on the wire. */
#pragma once
#include "base/str.h"

/* Kept by number: append only. */
enum log_stream { LOG_STDOUT = 1, LOG_STDERR = 2, LOG_NOTE = 3 /* the worker's own words */ };

enum { LOG_CHUNK_BYTES_MAX = 1 << 20 }; /* a pipe gives 64 KiB at a time; this is refused beyond */

/* A piece of output. (exec_id, token, seq) is its key: sending one twice is harmless. */
struct log_chunk {
    uint64_t exec_id;
    uint64_t token;
    uint64_t seq; /* 1, 2, 3 … over all streams of an attempt, in the order they were read */
    uint32_t attempt;
    enum log_stream stream;
    int64_t at_ms;
    struct str bytes;
};

/* A place in an execution's output: behind (token, seq). */
struct log_place {
    uint64_t token;
    uint64_t seq;
};

struct str log_stream_name(enum log_stream stream); /* "stdout" */
bool log_stream_parse(struct str name, enum log_stream *ret_stream);

/* The note that a worker leaves where the middle of a long output was dropped. No command can print
 * one: it is of the stream LOG_NOTE. */
#define LOG_DROPPED_NOTE " bytes were dropped here"
/* How many bytes were dropped, as a line of that stream says; 0: it says something else. */
uint64_t log_note_dropped(struct str line);

/* log_index.h - where the lines of an execution's output are.
 *
 * A store keeps chunks and knows no lines. The first look at a token (a lease; an attempt has one,
 * or several when a worker was lost) reads it once and keeps a mark every 64 KiB; later looks read
 * what was added since, and any line is then a page away from a mark. Marks are in memory only,
 * LOG_MARKS_MAX of them, and those that were not used for longest go first: all of it can be made
 * anew from the chunks, and is when the oldest were deleted. What no line break has ended yet is
 * not marked, since it may become longer.
 *
 * Belongs to one thread. */
#pragma once
#include "server/output/log_lines.h"
#include "store/store.h"

enum {
    LOG_MARKS_MAX = 1 << 16, /* 64 bytes each: of 4 GiB of output */
    LOG_TOKENS_MAX = 256,    /* whose marks are kept */
};

struct log_index;

/* How many lines there are: of each stream, and [0] of all. */
struct line_counts {
    uint64_t of[LOG_NOTE + 1];
};

/* One token that has output, … */
struct token_lines {
    uint64_t token;
    uint32_t attempt;
    uint64_t first_seq; /* its oldest chunk */
    bool over;          /* set by the caller: nothing follows, so that what is left is a line … */
    bool settled;       /* … and what is missing will not come */
    /* … and, once it was looked at: */
    bool known;
    struct line_counts counts;
    struct line_place end; /* behind its last line that a break ended */
    uint64_t last_seq;     /* its newest chunk */
};

/* A line, and the places before and behind it. False: enough. */
typedef bool line_sink(void *arg, const struct log_line *line, const struct line_place *before);

struct log_index *log_index_new(struct logs *logs); /* borrowed */
void log_index_free(struct log_index *ix);          /* NULL is fine */

/* The tokens that have output, growing. */
enum rc log_index_tokens(struct log_index *ix, uint64_t exec_id, struct arena *arena,
                         struct token_lines **ret_tokens, size_t *ret_count, struct err *err);
/* From now on log_index_look counts about so many bytes of output, all looks together: one that
 * needs more fails with RC_BUSY and log_index_paused, and goes on when it is called again. */
void log_index_slice(struct log_index *ix, uint64_t bytes);
bool log_index_paused(const struct log_index *ix);

/* Counts the lines of one. */
enum rc log_index_look(struct log_index *ix, uint64_t exec_id, struct token_lines *token,
                       struct err *err);
/* Hands over the lines of a token that is known, behind the first `skip` ones of a stream (0: of
 * all). */
enum rc log_index_read(struct log_index *ix, uint64_t exec_id, const struct token_lines *token,
                       unsigned stream, uint64_t skip, line_sink *sink, void *arg, struct err *err);

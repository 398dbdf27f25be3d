/* buf.h - text under construction, born with a maximum size.
 *
 * Appending never fails visibly: a buffer that would outgrow its maximum keeps what it had, drops
 * the rest, and remembers (`overflow`). So a writer appends freely and the owner asks once at the
 * end. Memory comes from malloc; out of memory ends the process. */
#pragma once
#include "base/str.h"

struct buf {
    char *ptr; /* owned; NULL while empty */
    size_t len;
    size_t cap;
    size_t max;
    bool overflow; /* something was dropped */
};

#define BUF(max_bytes) ((struct buf){.max = (max_bytes)})

void buf_free(struct buf *b);  /* also usable as CLEANUP(buf_free) */
void buf_clear(struct buf *b); /* empties, keeps the memory */

void buf_add(struct buf *b, struct str s);
void buf_add_char(struct buf *b, char c);
void buf_add_u64(struct buf *b, uint64_t value);
void buf_add_i64(struct buf *b, int64_t value);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for `bytes` more and returns where they go, or NULL (and overflow) when that would
 * exceed the maximum. The caller then raises `len` by what it wrote. */
char *buf_reserve(struct buf *b, size_t bytes);

/* Drops the first `bytes` and moves the rest to the front. */
void buf_drop_front(struct buf *b, size_t bytes);

static inline struct str buf_str(const struct buf *b)
{
    return str_of(b->ptr, b->len);
}

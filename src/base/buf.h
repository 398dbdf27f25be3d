/* buf.h - text under construction, born with a maximum size.
 *
 * Appending never fails visibly: a buffer that would outgrow its maximum keeps what it had, drops
 * the rest, and remembers (`overflow`). So a writer appends freely and the owner asks once at the
 * end. Memory comes from malloc; out of memory ends the process. */
#pragma once
#include "base/str.h"

#include <string.h>

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

static inline void buf_add(struct buf *b, struct str s);
static inline void buf_add_char(struct buf *b, char c);
void buf_add_u64(struct buf *b, uint64_t value);
void buf_add_i64(struct buf *b, int64_t value);
/* For a part of a path or a value of a query: all but letters, digits and -._~ percent-encoded. */
void buf_add_encoded(struct buf *b, struct str text);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for `bytes` more and returns where they go, or NULL (and overflow) when that would
 * exceed the maximum. The caller then raises `len` by what it wrote. */
static inline char *buf_reserve(struct buf *b, size_t bytes);

/* Drops the first `bytes` and moves the rest to the front. */
void buf_drop_front(struct buf *b, size_t bytes);

/* ---- inline, since all text that leaves us comes through here */

char *buf_grow(struct buf *b, size_t bytes); /* buf_reserve, when there is no room yet */

static inline char *buf_reserve(struct buf *b, size_t bytes)
{
    return bytes <= b->cap - b->len ? b->ptr + b->len : buf_grow(b, bytes);
}

static inline void buf_add(struct buf *b, struct str s)
{
    if (s.len == 0)
        return;
    char *to = buf_reserve(b, s.len);
    if (to == NULL)
        return;
    memcpy(to, s.ptr, s.len);
    b->len += s.len;
}

static inline void buf_add_char(struct buf *b, char c)
{
    char *to = buf_reserve(b, 1);
    if (to == NULL)
        return;
    *to = c;
    b->len++;
}

static inline struct str buf_str(const struct buf *b)
{
    return str_of(b->ptr, b->len);
}

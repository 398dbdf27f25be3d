/* str.h - text as a pointer and a length.
 *
 * A `struct str` borrows its bytes: it never owns, is passed by value, and is not NUL-terminated.
 * Use it for every text that is finished; text under construction is a `struct buf`. */
#pragma once
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *ptr;
    size_t len;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_INIT(literal)                                                                          \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }                                    /* for static tables */
#define STR_ARG(s) (int)(s).len, (s).ptr /* for "%.*s" */

static inline struct str str_of(const char *ptr, size_t len)
{
    return (struct str){ptr, len};
}

/* A NUL-terminated string as a str; NULL becomes the empty text. */
struct str str_c(const char *z);

bool str_eq(struct str a, struct str b);
bool str_eq_nocase(struct str a, struct str b); /* ASCII only */
int str_cmp(struct str a, struct str b);        /* bytewise, as memcmp with lengths */
bool str_starts(struct str s, struct str prefix);
/* The part from `from` (clamped to the length) on. */
struct str str_from(struct str s, size_t from);
/* Index of the first c, or s.len. */
size_t str_index(struct str s, char c);
/* Cuts at the first sep: returns what stands before it and moves *rest behind it. Without a sep
 * the whole text is returned and *rest becomes empty with a NULL pointer. */
struct str str_cut(struct str *rest, char sep);
/* Cuts c off the front; false when the text begins otherwise, and *rest stays as it was. */
bool str_take_char(struct str *rest, char c);
/* The same for a number of exactly `count` digits, at most 9. */
bool str_take_digits(struct str *rest, size_t count, unsigned *ret_value);
struct str str_trim(struct str s); /* without spaces, tabs, CR and LF at both ends */

/* Decimal, the whole text, no plus sign, no leading spaces. False when it is not a number or does
 * not fit. */
bool str_to_i64(struct str s, int64_t *ret_value);
bool str_to_u64(struct str s, uint64_t *ret_value);

/* True when the bytes are well-formed UTF-8 (no surrogates, no overlong forms). */
bool str_is_utf8(struct str s);
/* Length of the well-formed UTF-8 character that s begins with (1 to 4), or 0. */
size_t str_utf8_len(struct str s);
/* The value of the character that s begins with, which has that length. */
uint32_t str_utf8_value(struct str s, size_t len);
/* Length of the character that s begins with when that is a control character: of ASCII, of the C1
 * set, a separator of lines, or one that turns the direction of text around. A terminal acts upon
 * these, or shows something else than what stands there. 0: it is another one. */
size_t str_control_len(struct str s);
/* The longest part from the start that has at most `max` bytes and cuts no character in two. */
struct str str_head(struct str s, size_t max);

/* A stable 64-bit hash (not secret): the same on every machine and in every version. */
uint64_t str_hash(struct str s);

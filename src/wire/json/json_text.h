/* json_text.h - the inside of JSON strings, for the reader and the writer of JSON.
 *
 * Most bytes of a string stand for themselves, so eight of them are looked at in one step. */
#pragma once
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

/* Marks (by their high bits) the bytes of a word that need a closer look: the quote, the backslash,
 * control characters, everything beyond ASCII. The lowest mark is exact; above it a borrow may
 * have left false ones. */
static inline uint64_t json_marks(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t quote = (word ^ ones * '"') - ones;
    uint64_t backslash = (word ^ ones * '\\') - ones;
    return (word | quote | backslash | (word - ones * ' ')) & ones << 7;
}

/* The first byte from `at` on that does not simply stand for itself, or end. */
static inline const char *json_plain_end(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        uint64_t marks = json_marks(word);
        if (marks != 0)
            return at + __builtin_ctzll(marks) / 8;
        at += sizeof word;
    }
    while (at < end && json_marks((unsigned char)*at | UINT64_C(0x2020202020202000)) == 0)
        at++;
    return at;
}

/* The text between two quotes, unescaped, in arena. *ret_bad is the first escape that stands for
 * no character (a lone surrogate, \u0000, \x): then there is no answer. */
struct str json_unescape(struct str body, struct arena *arena, const char **ret_bad);
/* The first escape in what stands between two quotes that stands for no character; NULL: all do. */
const char *json_bad_escape(struct str body);

#include "store/postgres/text.h"

#include <string.h>

enum { CODED_LEN = 4, CODED_FIRST = 0x10ff00 };

/* Whether s begins with one of our 256 characters: f4 8f bc 80 … f4 8f bf bf. */
static bool starts_coded(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    return s.len >= CODED_LEN && p[0] == 0xf4 && p[1] == 0x8f && p[2] >= 0xbc;
}

/* How many bytes at the start of s can stay as they are; 0: its first byte cannot. */
static size_t plain_len(struct str s)
{
    if (*s.ptr == '\0' || starts_coded(s))
        return 0;
    return str_utf8_len(s);
}

/* ASCII without zero bytes, eight at a time: nearly all text is. */
static bool is_ascii(struct str s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bad = 0;
    size_t at = 0;
    for (; at + sizeof bad <= s.len; at += sizeof bad) {
        uint64_t word;
        memcpy(&word, s.ptr + at, sizeof word);
        bad |= word | (word - ones); /* the second has a top bit where a byte was zero (or large) */
    }
    for (; at < s.len; at++)
        bad |= (uint64_t)(unsigned char)s.ptr[at] | ((uint64_t)(unsigned char)s.ptr[at] - 1);
    return (bad & ones << 7) == 0;
}

static bool is_plain(struct str s)
{
    if (is_ascii(s))
        return true;
    return memchr(s.ptr, '\0', s.len) == NULL && !pg_text_is_coded(s) && str_is_utf8(s);
}

static void put_coded(char *at, unsigned char byte)
{
    uint32_t c = CODED_FIRST + byte;
    at[0] = (char)(0xf0 | c >> 18);
    at[1] = (char)(0x80 | (c >> 12 & 0x3f));
    at[2] = (char)(0x80 | (c >> 6 & 0x3f));
    at[3] = (char)(0x80 | (c & 0x3f));
}

struct str pg_text_encode(struct arena *arena, struct str s)
{
    if (is_plain(s))
        return s;
    char *bytes = arena_bytes(arena, s.len * CODED_LEN);
    size_t len = 0;
    while (s.len > 0) {
        size_t plain = plain_len(s);
        if (plain > 0) {
            memcpy(bytes + len, s.ptr, plain);
            len += plain;
        } else {
            put_coded(bytes + len, (unsigned char)*s.ptr);
            len += CODED_LEN;
            plain = 1;
        }
        s = str_from(s, plain);
    }
    return str_of(bytes, len);
}

bool pg_text_is_coded(struct str s)
{
    const char *at = s.len == 0 ? NULL : memchr(s.ptr, 0xf4, s.len);
    while (at != NULL) {
        struct str rest = str_from(s, (size_t)(at - s.ptr));
        if (starts_coded(rest))
            return true;
        at = rest.len == 1 ? NULL : memchr(at + 1, 0xf4, rest.len - 1);
    }
    return false;
}

struct str pg_text_decode(struct arena *arena, struct str s)
{
    if (!pg_text_is_coded(s))
        return s;
    char *bytes = arena_bytes(arena, s.len);
    size_t len = 0;
    while (s.len > 0) {
        bool coded = starts_coded(s);
        const unsigned char *p = (const unsigned char *)s.ptr;
        bytes[len++] = coded ? (char)((p[2] & 0x03) << 6 | (p[3] & 0x3f)) : *s.ptr;
        s = str_from(s, coded ? CODED_LEN : 1);
    }
    return str_of(bytes, len);
}

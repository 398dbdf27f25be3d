#include "base/str.h"

#include <assert.h>
#include <string.h>

struct str str_c(const char *z)
{
    return z == NULL ? (struct str){NULL, 0} : (struct str){z, strlen(z)};
}

bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    }
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len == 0 ? 0 : memcmp(a.ptr, b.ptr, len);
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_of(s.ptr, prefix.len), prefix);
}

struct str str_from(struct str s, size_t from)
{
    if (from >= s.len)
        return str_of(s.ptr == NULL ? NULL : s.ptr + s.len, 0);
    return str_of(s.ptr + from, s.len - from);
}

size_t str_index(struct str s, char c)
{
    const char *at = s.len == 0 ? NULL : memchr(s.ptr, c, s.len);
    return at == NULL ? s.len : (size_t)(at - s.ptr);
}

struct str str_cut(struct str *rest, char sep)
{
    size_t at = str_index(*rest, sep);
    struct str head = str_of(rest->ptr, at);
    *rest = at < rest->len ? str_from(*rest, at + 1) : (struct str){NULL, 0};
    return head;
}

bool str_take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->ptr[0] != c)
        return false;
    *rest = str_from(*rest, 1);
    return true;
}

bool str_take_digits(struct str *rest, size_t count, unsigned *ret_value)
{
    unsigned value = 0;
    assert(count <= 9);
    for (size_t i = 0; i < count; i++) {
        if (i >= rest->len || rest->ptr[i] < '0' || rest->ptr[i] > '9')
            return false;
        value = value * 10 + (unsigned)(rest->ptr[i] - '0');
    }
    *rest = str_from(*rest, count);
    *ret_value = value;
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && is_space(s.ptr[0]))
        s = str_from(s, 1);
    while (s.len > 0 && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool str_to_u64(struct str s, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)(s.ptr[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret_value = value;
    return true;
}

bool str_to_i64(struct str s, int64_t *ret_value)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    uint64_t magnitude;
    if (!str_to_u64(negative ? str_from(s, 1) : s, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

size_t str_utf8_len(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (s.len == 0)
        return 0;
    unsigned char c = p[0];
    if (c < 0x80)
        return 1;
    size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || s.len < len)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    /* The second byte decides about overlong forms, surrogates and values above U+10FFFF. */
    if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) || (c == 0xf0 && p[1] < 0x90) ||
        (c == 0xf4 && p[1] > 0x8f))
        return 0;
    return len;
}

uint32_t str_utf8_value(struct str s, size_t len)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t value = (unsigned char)s.ptr[0] & first_bits[len];
    for (size_t i = 1; i < len; i++)
        value = value << 6 | ((unsigned char)s.ptr[i] & 0x3f);
    return value;
}

size_t str_control_len(struct str s)
{
    static const struct {
        uint32_t first, last;
    } controls[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
    };
    size_t len = str_utf8_len(s);
    uint32_t value = len == 0 ? 0 : str_utf8_value(s, len);
    for (size_t i = 0; len > 0 && i < COUNT_OF(controls); i++) {
        if (value >= controls[i].first && value <= controls[i].last)
            return len;
    }
    return 0;
}

bool str_is_utf8(struct str s)
{
    while (s.len > 0) {
        size_t len = str_utf8_len(s);
        if (len == 0)
            return false;
        s = str_of(s.ptr + len, s.len - len);
    }
    return true;
}

struct str str_head(struct str s, size_t max)
{
    if (s.len <= max)
        return s;
    size_t len = max;
    while (len > 0 && max - len < 4 && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
        len--;
    return str_of(s.ptr, len);
}

uint64_t str_hash(struct str s)
{
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a, then one strong mix for the low bits */
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * 0x100000001b3U;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93U;
    return hash ^ (hash >> 32);
}

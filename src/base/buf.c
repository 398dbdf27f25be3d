#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(struct buf *b)
{
    free(b->ptr);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflow = false;
}

char *buf_grow(struct buf *b, size_t bytes)
{
    if (bytes > b->max - b->len) {
        b->overflow = true;
        return NULL;
    }
    size_t cap = b->cap < 64 ? 64 : b->cap * 2;
    if (cap < b->len + bytes)
        cap = b->len + bytes;
    if (cap > b->max)
        cap = b->max;
    b->ptr = mem_resize(b->ptr, cap);
    b->cap = cap;
    return b->ptr + b->len;
}

/* Two digits with each division. */
void buf_add_u64(struct buf *b, uint64_t value)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char digits[20];
    size_t at = sizeof digits;
    for (; value >= 100; value /= 100)
        memcpy(&digits[at -= 2], &pairs[value % 100 * 2], 2);
    if (value >= 10)
        memcpy(&digits[at -= 2], &pairs[value * 2], 2);
    else
        digits[--at] = (char)('0' + value);
    buf_add(b, str_of(digits + at, sizeof digits - at));
}

void buf_add_i64(struct buf *b, int64_t value)
{
    if (value < 0) {
        buf_add_char(b, '-');
        buf_add_u64(b, 0 - (uint64_t)value);
    } else {
        buf_add_u64(b, (uint64_t)value);
    }
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void buf_add_encoded(struct buf *b, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (is_unreserved(text.ptr[i]))
            buf_add_char(b, text.ptr[i]);
        else
            buf_printf(b, "%%%02X", (unsigned char)text.ptr[i]);
    }
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char small[256];
    int need = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    assert(need >= 0);
    if ((size_t)need < sizeof small) {
        buf_add(b, str_of(small, (size_t)need));
        return;
    }
    char *large = mem_resize(NULL, (size_t)need + 1);
    va_start(args, format);
    vsnprintf(large, (size_t)need + 1, format, args);
    va_end(args);
    buf_add(b, str_of(large, (size_t)need));
    free(large);
}

void buf_drop_front(struct buf *b, size_t bytes)
{
    assert(bytes <= b->len);
    if (bytes == 0)
        return;
    memmove(b->ptr, b->ptr + bytes, b->len - bytes);
    b->len -= bytes;
}

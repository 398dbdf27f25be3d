#include "wire/json/json_text.h"

/* Four hexadecimal digits as a number, or -1. */
static int32_t hex4(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)at[i];
        unsigned char letter = c | 0x20;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = value << 4 | (letter - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* Reads XXXX, or XXXX\uXXXX for a pair of surrogates, and moves *at behind it; 0 when it is not a
 * character that text may have. */
static uint32_t take_code(const char **at, const char *end)
{
    int32_t code = hex4(*at, end);
    if (code <= 0 || (code >= 0xdc00 && code <= 0xdfff))
        return 0;
    *at += 4;
    if (code < 0xd800 || code > 0xdbff)
        return (uint32_t)code;
    if (end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return 0;
    int32_t low = hex4(*at + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *at += 6;
    return 0x10000 + ((uint32_t)(code - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

static char *add_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes behind the first */
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

/* Writes what the escape at *at (behind the backslash) stands for; NULL when there is no such. */
static char *take_escape(const char **at, const char *end, char *to)
{
    static const char plain[] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                 ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    unsigned char c = (unsigned char)*(*at)++;
    if (c == 'u') {
        uint32_t code = take_code(at, end);
        return code == 0 ? NULL : add_utf8(to, code);
    }
    if (c >= sizeof plain || plain[c] == 0)
        return NULL;
    *to++ = plain[c];
    return to;
}

struct str json_unescape(struct str body, struct arena *arena, const char **ret_bad)
{
    const char *at = body.ptr;
    const char *end = body.ptr + body.len;
    char *text = arena_bytes(arena, body.len); /* unescaped text is never longer */
    char *to = text;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape == NULL ? end : escape) - at);
        memcpy(to, at, plain);
        to += plain;
        at += plain;
        if (escape == NULL)
            break;
        at++;
        to = take_escape(&at, end, to);
        if (to == NULL) {
            *ret_bad = escape;
            return str_of(NULL, 0);
        }
    }
    return str_of(text, (size_t)(to - text));
}

const char *json_bad_escape(struct str body)
{
    const char *end = body.ptr + body.len;
    const char *escape = memchr(body.ptr, '\\', body.len);
    while (escape != NULL) {
        char unused[4];
        const char *at = escape + 1;
        if (take_escape(&at, end, unused) == NULL)
            return escape;
        escape = memchr(at, '\\', (size_t)(end - at));
    }
    return NULL;
}

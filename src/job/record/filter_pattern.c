/* filter_pattern.c - names with a * in them, and the beginnings of names that they stand for. */
#include "job/record/filter_inside.h"

#include <string.h>

/* The next character of a pattern, without the \ of a \*; false: it is a * that stands for text. */
static bool pattern_char(struct str *rest, char *ret_c)
{
    bool escaped = rest->len > 1 && rest->ptr[0] == '\\' && rest->ptr[1] == '*';
    bool literal = escaped || rest->ptr[0] != '*';
    *ret_c = rest->ptr[escaped];
    *rest = str_from(*rest, 1u + escaped);
    return literal;
}

struct str filter_literal_head(struct str pattern, struct arena *arena, struct str *ret_rest)
{
    char *text = arena_bytes(arena, pattern.len + 1);
    size_t len = 0;
    while (pattern.len > 0) {
        char c;
        if (!pattern_char(&pattern, &c)) {
            *ret_rest = pattern;
            return str_of(text, len);
        }
        text[len++] = c;
    }
    *ret_rest = (struct str){0};
    return str_of(text, len);
}

/* Each * takes as little as it can; when the rest does not fit, the last one takes one more. */
bool filter_name_fits(struct str pattern, struct str name)
{
    struct str again_pattern = {0};
    struct str again_name = {0};
    for (;;) {
        char c;
        if (pattern.len == 0 && name.len == 0)
            return true;
        struct str before = pattern;
        bool literal = pattern.len > 0 && pattern_char(&pattern, &c);
        if (before.len > 0 && !literal) {
            again_pattern = before;
            again_name = name;
            continue;
        }
        if (literal && name.len > 0 && name.ptr[0] == c) {
            name = str_from(name, 1);
            continue;
        }
        if (again_pattern.len == 0 || again_name.len == 0)
            return false;
        again_name = str_from(again_name, 1);
        name = again_name;
        pattern = str_from(again_pattern, 1);
    }
}

/* ---- beginnings of names */

bool filter_prefix(const struct filter *f, struct arena *arena, struct str *ret_prefix)
{
    struct str rest;
    if (f->pattern.len == 0)
        return false;
    *ret_prefix = filter_literal_head(f->pattern, arena, &rest);
    return rest.ptr != NULL && rest.len == 0 && ret_prefix->len > 0;
}

/* The next character by its number, in the place of the last one; false: there is none. */
static bool next_char(char *last, size_t *len)
{
    static const unsigned char first_byte[] = {0, 0x80, 0xc0, 0xe0, 0xf0};
    uint32_t code = (unsigned char)last[0];
    if (*len > 1) {
        code &= 0xffu >> (*len + 1);
        for (size_t i = 1; i < *len; i++)
            code = code << 6 | ((unsigned char)last[i] & 0x3f);
    }
    if (code == 0x10ffff)
        return false;
    code = code == 0xd7ff ? 0xe000 : code + 1; /* surrogates are no characters */
    *len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = *len; i-- > 0; code >>= 6)
        last[i] = (char)(i > 0 ? 0x80 | (code & 0x3f) : *len > 1 ? first_byte[*len] | code : code);
    return true;
}

struct str filter_prefix_end(struct str prefix, struct arena *arena)
{
    char *end = arena_bytes(arena, prefix.len + 4);
    memcpy(end, prefix.ptr, prefix.len);
    for (size_t at = prefix.len; at > 0;) {
        do
            at--;
        while (at > 0 && ((unsigned char)end[at] & 0xc0) == 0x80);
        size_t len = prefix.len - at;
        if (next_char(end + at, &len))
            return str_of(end, at + len);
        prefix.len = at;
    }
    return (struct str){0};
}

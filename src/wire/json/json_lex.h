/* json_lex.h - the words of JSON: space, strings, numbers, true, false and null.
 *
 * For the reader that builds a tree (json.c) and the one that only looks (json_scan.c), so that
 * both take and refuse the same. Inline: they are called for every value of every message. */
#pragma once
#include "base/str.h"
#include "wire/json/json_text.h"

/* Where a reader stands. A call that returns false has said in `wrong` what is not JSON at `at`. */
struct json_lex {
    const char *at;
    const char *end;
    const char *wrong;
};

static inline bool json_lex_wrong(struct json_lex *x, const char *at, const char *what)
{
    x->at = at;
    x->wrong = what;
    return false;
}

static inline void json_lex_space(struct json_lex *x)
{
    while (x->at < x->end && (*x->at == ' ' || *x->at == '\n' || *x->at == '\r' || *x->at == '\t'))
        x->at++;
}

/* Takes c, and space in front of it; false, and nothing is wrong, when something else is there. */
static inline bool json_lex_take(struct json_lex *x, char c)
{
    json_lex_space(x);
    if (x->at == x->end || *x->at != c)
        return false;
    x->at++;
    return true;
}

/* ---- strings */

/* Moves from the opening quote behind the closing one. *ret_body is what stands between them, still
 * escaped; the escapes themselves are not looked at. */
static inline bool json_lex_string(struct json_lex *x, struct str *ret_body, bool *ret_escaped)
{
    const char *start = ++x->at;
    *ret_escaped = false;
    for (;;) {
        x->at = json_plain_end(x->at, x->end);
        if (x->at == x->end)
            return json_lex_wrong(x, x->at, "a string has no closing quote");
        unsigned char c = (unsigned char)*x->at;
        size_t len = 1;
        if (c == '"')
            break;
        if (c == '\\') {
            *ret_escaped = true;
            len = x->end - x->at < 2 ? 1 : 2;
        } else if (c < 0x20) {
            return json_lex_wrong(x, x->at, "a control character in a string must be escaped");
        } else {
            len = str_utf8_len(str_of(x->at, (size_t)(x->end - x->at)));
        }
        if (len == 0)
            return json_lex_wrong(x, x->at, "this is not UTF-8");
        x->at += len;
    }
    *ret_body = str_of(start, (size_t)(x->at - start));
    x->at++;
    return true;
}

/* ---- numbers */

static inline bool json_lex_is_digit(const struct json_lex *x)
{
    return x->at < x->end && *x->at >= '0' && *x->at <= '9';
}

static inline bool json_lex_digits(struct json_lex *x)
{
    if (!json_lex_is_digit(x))
        return json_lex_wrong(x, x->at, "a number lacks a digit here");
    while (json_lex_is_digit(x))
        x->at++;
    return true;
}

/* Moves behind a number that begins here, with its sign or a digit. *ret_whole: it has neither a
 * fraction nor an exponent. */
static inline bool json_lex_number(struct json_lex *x, bool *ret_whole)
{
    *ret_whole = true;
    x->at += *x->at == '-';
    const char *digits = x->at;
    if (!json_lex_digits(x))
        return false;
    if (*digits == '0' && x->at - digits > 1)
        return json_lex_wrong(x, digits, "a number has a leading zero");
    if (x->at < x->end && *x->at == '.') {
        *ret_whole = false;
        x->at++;
        if (!json_lex_digits(x))
            return false;
    }
    if (x->at < x->end && (*x->at == 'e' || *x->at == 'E')) {
        *ret_whole = false;
        x->at++;
        x->at += x->at < x->end && (*x->at == '+' || *x->at == '-');
        return json_lex_digits(x);
    }
    return true;
}

/* ---- words */

static inline bool json_lex_word(struct json_lex *x, struct str word)
{
    if (!str_starts(str_of(x->at, (size_t)(x->end - x->at)), word))
        return json_lex_wrong(x, x->at, "expected a value");
    x->at += word.len;
    return true;
}

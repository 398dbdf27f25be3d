#include "wire/json/json_scan.h"
#include "base/mem.h"

#include <stdlib.h>

enum { WORDS_FIRST = 2, WORD_BITS = 64 };

/* The brackets that are open, a bit each: set for an object. */
struct levels {
    size_t depth;
    size_t cap; /* words */
    uint64_t *words;
    uint64_t first[WORDS_FIRST]; /* the words, until there are more */
};

static void free_levels(struct levels *l)
{
    if (l->words != l->first)
        free(l->words);
}

static void open_level(struct levels *l, bool object)
{
    size_t word = l->depth / WORD_BITS;
    uint64_t bit = UINT64_C(1) << l->depth % WORD_BITS;
    if (word == l->cap) {
        uint64_t *old = l->words;
        l->cap *= 2;
        l->words = mem_resize(old == l->first ? NULL : old, l->cap * sizeof *l->words);
        if (old == l->first)
            memcpy(l->words, old, sizeof l->first);
    }
    l->words[word] = object ? l->words[word] | bit : l->words[word] & ~bit;
    l->depth++;
}

static bool in_object(const struct levels *l)
{
    size_t last = l->depth - 1;
    return l->words[last / WORD_BITS] >> last % WORD_BITS & 1;
}

/* ---- errors */

/* Lines and columns are counted only now: text without errors does not pay for them. */
enum rc json_fail(struct str text, const char *at, enum rc rc, const char *what, struct str detail,
                  struct err *err)
{
    size_t line = 1;
    size_t column = 1;
    for (const char *c = text.ptr; c < at; c++) {
        if (*c == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*c & 0xc0) != 0x80) { /* a column is a character, not a byte */
            column++;
        }
    }
    detail = str_head(detail, 64);
    return err_set(err, rc, "line %zu, column %zu: %s%.*s", line, column, what, STR_ARG(detail));
}

enum rc json_lex_fail(struct str text, const struct json_lex *x, struct err *err)
{
    return json_fail(text, x->at, RC_INVALID, x->at == x->end ? "the text ends early: " : "",
                     str_c(x->wrong), err);
}

/* ---- values */

static bool scan_string(struct json_lex *x)
{
    struct str body;
    bool escaped;
    if (!json_lex_string(x, &body, &escaped))
        return false;
    const char *bad = escaped ? json_bad_escape(body) : NULL;
    return bad == NULL || json_lex_wrong(x, bad, "this escape stands for no character");
}

static bool scan_scalar(struct json_lex *x)
{
    bool whole;
    switch (x->at < x->end ? *x->at : '\0') {
    case '"': return scan_string(x);
    case 't': return json_lex_word(x, STR("true"));
    case 'f': return json_lex_word(x, STR("false"));
    case 'n': return json_lex_word(x, STR("null"));
    case '-': return json_lex_number(x, &whole);
    default:
        return json_lex_is_digit(x) ? json_lex_number(x, &whole)
                                    : json_lex_wrong(x, x->at, "expected a value");
    }
}

static bool scan_key(struct json_lex *x)
{
    json_lex_space(x);
    if (x->at == x->end || *x->at != '"')
        return json_lex_wrong(x, x->at, "expected a key in quotes");
    if (!scan_string(x))
        return false;
    return json_lex_take(x, ':') || json_lex_wrong(x, x->at, "expected ':'");
}

/* Opens brackets until a value stands here that has none, or an empty pair was closed again. */
static bool open_brackets(struct json_lex *x, struct levels *l, uint32_t depth_max)
{
    for (;;) {
        json_lex_space(x);
        if (x->at == x->end || (*x->at != '{' && *x->at != '['))
            return scan_scalar(x);
        if (depth_max != JSON_ANY_DEPTH && l->depth == depth_max)
            return json_lex_wrong(x, x->at, "nested too deeply");
        bool object = *x->at++ == '{';
        if (json_lex_take(x, object ? '}' : ']'))
            return true;
        open_level(l, object);
        if (object && !scan_key(x))
            return false;
    }
}

/* Behind a value: closes the brackets that end with it. *ret_more: another value follows. */
static bool close_brackets(struct json_lex *x, struct levels *l, bool *ret_more)
{
    *ret_more = false;
    for (; l->depth > 0; l->depth--) {
        bool object = in_object(l);
        if (json_lex_take(x, ',')) {
            *ret_more = true;
            return !object || scan_key(x);
        }
        if (!json_lex_take(x, object ? '}' : ']'))
            return json_lex_wrong(x, x->at, object ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    return true;
}

bool json_scan(struct json_lex *x, uint32_t depth_max)
{
    CLEANUP(free_levels) struct levels l;
    l.depth = 0;
    l.cap = WORDS_FIRST;
    l.words = l.first;
    memset(l.first, 0, sizeof l.first);
    bool more = true;
    while (more) {
        if (!open_brackets(x, &l, depth_max) || !close_brackets(x, &l, &more))
            return false;
    }
    return true;
}

enum rc json_check(struct str text, uint32_t depth_max, struct err *err)
{
    if (text.len == 0)
        text = STR("");
    struct json_lex x = {.at = text.ptr, .end = text.ptr + text.len};
    if (!json_scan(&x, depth_max))
        return json_lex_fail(text, &x, err);
    json_lex_space(&x);
    if (x.at == x.end)
        return RC_OK;
    x.wrong = "something stands behind the value";
    return json_lex_fail(text, &x, err);
}

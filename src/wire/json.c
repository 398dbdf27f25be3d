#include "wire/json.h"
#include "base/mem.h"
#include "wire/json_text.h"

#include <math.h>
#include <stdlib.h>

enum {
    STACK_FIRST = 32,       /* members of a usual job document, with those of its objects */
    KEYS_COMPARED_MAX = 16, /* so many keys are compared with each other; more are sorted */
    NUMBER_BYTES_MAX = 400, /* of a double: 17 digits say all there is, and strtod wants a copy */
};

struct parser {
    struct str text;
    const char *at;
    const char *end;
    struct arena *arena;
    struct err *err;
    /* Members (and items, without keys) of all containers that are still open. Every value is read
     * in its place here, which is named by number, since the stack may move when it grows. A
     * container that closes moves its own from the top into the arena, contiguous. */
    struct json_member *stack;
    size_t top;
    size_t cap;
    size_t depth;
    size_t values;
    struct json_member first[STACK_FIRST]; /* the stack, until it outgrows this */
};

/* ---- errors */

/* Lines and columns are counted only now: text without errors does not pay for them. */
static enum rc fail_at(const struct parser *p, const char *at, enum rc rc, const char *what,
                       struct str detail)
{
    size_t line = 1;
    size_t column = 1;
    for (const char *c = p->text.ptr; c < at; c++) {
        if (*c == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*c & 0xc0) != 0x80) { /* a column is a character, not a byte */
            column++;
        }
    }
    detail = str_head(detail, 64);
    return err_set(p->err, rc, "line %zu, column %zu: %s%.*s", line, column, what, STR_ARG(detail));
}

static enum rc fail(const struct parser *p, const char *what)
{
    return fail_at(p, p->at, RC_INVALID, p->at == p->end ? "the text ends early: " : "",
                   str_c(what));
}

/* ---- strings */

/* Moves behind the closing quote. *ret_body is what stands between the quotes, still escaped. */
static enum rc scan_string(struct parser *p, struct str *ret_body, bool *ret_escaped)
{
    const char *start = ++p->at;
    *ret_escaped = false;
    for (;;) {
        p->at = json_plain_end(p->at, p->end);
        if (p->at == p->end)
            return fail(p, "a string has no closing quote");
        unsigned char c = (unsigned char)*p->at;
        size_t len = 1;
        if (c == '"')
            break;
        if (c == '\\') {
            *ret_escaped = true;
            len = p->end - p->at < 2 ? 1 : 2; /* json_unescape looks closer */
        } else if (c < 0x20) {
            return fail(p, "a control character in a string must be escaped");
        } else {
            len = str_utf8_len(str_of(p->at, (size_t)(p->end - p->at)));
        }
        if (len == 0)
            return fail(p, "this is not UTF-8");
        p->at += len;
    }
    *ret_body = str_of(start, (size_t)(p->at - start));
    p->at++;
    return RC_OK;
}

static enum rc parse_string(struct parser *p, struct str *ret_text)
{
    struct str body = {NULL, 0};
    bool escaped = false;
    TRY(scan_string(p, &body, &escaped));
    const char *bad = NULL;
    *ret_text = escaped ? json_unescape(body, p->arena, &bad) : body;
    if (bad != NULL)
        return fail_at(p, bad, RC_INVALID, "this escape stands for no character", STR(""));
    return RC_OK;
}

/* ---- numbers */

static bool is_digit(const struct parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static enum rc take_digits(struct parser *p)
{
    if (!is_digit(p))
        return fail(p, "a number lacks a digit here");
    while (is_digit(p))
        p->at++;
    return RC_OK;
}

/* strtod wants a NUL. The process never leaves the C locale, so the point is a point. */
static bool to_double(struct str raw, double *ret_number)
{
    char copy[NUMBER_BYTES_MAX + 1];
    if (raw.len > NUMBER_BYTES_MAX)
        return false;
    memcpy(copy, raw.ptr, raw.len);
    copy[raw.len] = '\0';
    *ret_number = strtod(copy, NULL);
    return isfinite(*ret_number);
}

static enum rc parse_number(struct parser *p, struct json *ret_value)
{
    const char *start = p->at;
    bool whole = true;
    p->at += *p->at == '-';
    bool zero = p->at < p->end && *p->at == '0';
    const char *digits = p->at;
    TRY(take_digits(p));
    if (zero && p->at - digits > 1)
        return fail_at(p, digits, RC_INVALID, "a number has a leading zero", STR(""));
    if (p->at < p->end && *p->at == '.') {
        whole = false;
        p->at++;
        TRY(take_digits(p));
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        whole = false;
        p->at++;
        p->at += p->at < p->end && (*p->at == '+' || *p->at == '-');
        TRY(take_digits(p));
    }
    struct str raw = str_of(start, (size_t)(p->at - start));
    ret_value->kind = whole ? JSON_INT : JSON_DOUBLE;
    if (whole ? str_to_i64(raw, &ret_value->integer) : to_double(raw, &ret_value->number))
        return RC_OK;
    return fail_at(p, start, RC_INVALID, "number out of range", STR(""));
}

/* ---- containers */

static void skip_space(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

/* A place on top of the stack for the next value. */
static enum rc add_slot(struct parser *p, size_t *ret_slot)
{
    if (++p->values > JSON_VALUES_MAX)
        return fail_at(p, p->at, RC_TOO_LARGE, "there are too many values", STR(""));
    if (p->top == p->cap) {
        struct json_member *old = p->stack;
        p->cap *= 2;
        p->stack = mem_resize(old == p->first ? NULL : old, p->cap * sizeof *p->stack);
        if (old == p->first)
            memcpy(p->stack, old, sizeof p->first);
    }
    *ret_slot = p->top++;
    return RC_OK;
}

static void free_stack(struct parser *p)
{
    if (p->stack != p->first)
        free(p->stack);
}

static enum rc parse_value(struct parser *p, size_t slot);

static enum rc parse_array(struct parser *p, size_t slot)
{
    size_t base = p->top;
    if (!take(p, ']')) {
        do {
            size_t item = 0;
            TRY(add_slot(p, &item));
            TRY(parse_value(p, item));
        } while (take(p, ','));
        if (!take(p, ']'))
            return fail(p, "expected ',' or ']'");
    }
    size_t count = p->top - base;
    struct json *items = ARENA_ARRAY(p->arena, struct json, count);
    for (size_t i = 0; i < count; i++)
        items[i] = p->stack[base + i].value;
    p->top = base;
    p->stack[slot].value.count = (uint32_t)count;
    p->stack[slot].value.items = items;
    return RC_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const struct json_member *left = a;
    const struct json_member *right = b;
    return str_cmp(left->key, right->key);
}

static bool find_twin_sorted(const struct json_member *members, size_t count,
                             struct json_member *ret_twin)
{
    bool found = false;
    struct json_member *sorted = mem_dup(members, count * sizeof *members);
    qsort(sorted, count, sizeof *sorted, compare_keys);
    for (size_t i = 1; i < count && !found; i++) {
        found = str_eq(sorted[i - 1].key, sorted[i].key);
        if (found)
            *ret_twin = sorted[i - (sorted[i - 1].value.raw.ptr > sorted[i].value.raw.ptr)];
    }
    free(sorted);
    return found;
}

/* Whether a key stands twice; *ret_twin is the later one of the two. Many keys are sorted, since a
 * table of hashes that are no secret can be made to collide. */
static bool find_twin(const struct json_member *members, size_t count, struct json_member *ret_twin)
{
    if (count > KEYS_COMPARED_MAX)
        return find_twin_sorted(members, count, ret_twin);
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (str_eq(members[i].key, members[k].key)) {
                *ret_twin = members[i];
                return true;
            }
        }
    }
    return false;
}

static enum rc parse_member(struct parser *p)
{
    size_t slot = 0;
    skip_space(p);
    if (p->at == p->end || *p->at != '"')
        return fail(p, "expected a key in quotes");
    TRY(add_slot(p, &slot));
    TRY(parse_string(p, &p->stack[slot].key));
    if (!take(p, ':'))
        return fail(p, "expected ':'");
    return parse_value(p, slot);
}

static enum rc parse_object(struct parser *p, size_t slot)
{
    size_t base = p->top;
    if (!take(p, '}')) {
        do
            TRY(parse_member(p));
        while (take(p, ','));
        if (!take(p, '}'))
            return fail(p, "expected ',' or '}'");
    }
    size_t count = p->top - base;
    struct json_member twin;
    if (find_twin(p->stack + base, count, &twin))
        return fail_at(p, twin.value.raw.ptr, RC_INVALID, "a key stands here twice: ", twin.key);
    struct json_member *members = ARENA_ARRAY(p->arena, struct json_member, count);
    if (count > 0)
        memcpy(members, p->stack + base, count * sizeof *members);
    p->top = base;
    p->stack[slot].value.count = (uint32_t)count;
    p->stack[slot].value.members = members;
    return RC_OK;
}

static enum rc parse_container(struct parser *p, size_t slot)
{
    if (p->depth == JSON_DEPTH_MAX)
        return fail(p, "nested too deeply");
    p->depth++;
    bool object = *p->at++ == '{';
    p->stack[slot].value.kind = object ? JSON_OBJECT : JSON_ARRAY;
    TRY(object ? parse_object(p, slot) : parse_array(p, slot));
    p->depth--;
    return RC_OK;
}

/* ---- values */

static enum rc parse_word(struct parser *p, struct json *ret_value)
{
    static const struct {
        struct str word;
        enum json_kind kind;
        bool boolean;
    } words[] = {
        {STR_INIT("true"), JSON_BOOL, true},
        {STR_INIT("false"), JSON_BOOL, false},
        {STR_INIT("null"), JSON_NULL, false},
    };
    struct str rest = str_of(p->at, (size_t)(p->end - p->at));
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (str_starts(rest, words[i].word)) {
            ret_value->kind = words[i].kind;
            ret_value->boolean = words[i].boolean;
            p->at += words[i].word.len;
            return RC_OK;
        }
    }
    return fail(p, "expected a value");
}

static enum rc parse_any(struct parser *p, size_t slot)
{
    struct json *value = &p->stack[slot].value;
    switch (p->at < p->end ? *p->at : '\0') {
    case '"': value->kind = JSON_STRING; return parse_string(p, &value->string);
    case '{':
    case '[': return parse_container(p, slot);
    case '-': return parse_number(p, value);
    default: return is_digit(p) ? parse_number(p, value) : parse_word(p, value);
    }
}

static enum rc parse_value(struct parser *p, size_t slot)
{
    skip_space(p);
    const char *start = p->at;
    p->stack[slot].value.count = 0;
    TRY(parse_any(p, slot));
    p->stack[slot].value.raw = str_of(start, (size_t)(p->at - start));
    return RC_OK;
}

enum rc json_parse(struct str text, struct arena *arena, struct json *ret_value, struct err *err)
{
    if (text.len == 0)
        text = STR("");
    CLEANUP(free_stack) struct parser p;
    p.text = text; /* one by one: first[] is large and needs no zeroes */
    p.at = text.ptr;
    p.end = text.ptr + text.len;
    p.arena = arena;
    p.err = err;
    p.stack = p.first;
    p.top = p.depth = p.values = 0;
    p.cap = STACK_FIRST;
    size_t root = 0;
    TRY(add_slot(&p, &root));
    TRY(parse_value(&p, root));
    skip_space(&p);
    if (p.at != p.end)
        return fail(&p, "something stands behind the value");
    *ret_value = p.stack[root].value;
    return RC_OK;
}

const struct json *json_get(const struct json *object, struct str key)
{
    if (object == NULL || object->kind != JSON_OBJECT)
        return NULL;
    for (uint32_t i = 0; i < object->count; i++) {
        if (str_eq(object->members[i].key, key))
            return &object->members[i].value;
    }
    return NULL;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",        [JSON_BOOL] = "true or false", [JSON_INT] = "a number",
        [JSON_DOUBLE] = "a number",  [JSON_STRING] = "a string",    [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };
    return names[kind];
}

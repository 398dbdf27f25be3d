#include "wire/json/json.h"
#include "base/mem.h"
#include "wire/json/json_scan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
    STACK_FIRST = 32,       /* members of a usual job document, with those of its objects */
    KEYS_COMPARED_MAX = 16, /* so many keys are compared with each other; more are sorted */
    NUMBER_BYTES_MAX = 400, /* of a double: 17 digits say all there is, and strtod wants a copy */
};

struct parser {
    struct str text;
    struct json_lex lex;
    const struct json_rules *rules;
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

static enum rc fail_at(const struct parser *p, const char *at, enum rc rc, const char *what,
                       struct str detail)
{
    return json_fail(p->text, at, rc, what, detail, p->err);
}

static enum rc fail_lex(const struct parser *p)
{
    return json_lex_fail(p->text, &p->lex, p->err);
}

static enum rc fail(struct parser *p, const char *what)
{
    p->lex.wrong = what;
    return fail_lex(p);
}

/* ---- strings */

static enum rc parse_string(struct parser *p, struct str *ret_text)
{
    struct str body = {NULL, 0};
    bool escaped = false;
    if (!json_lex_string(&p->lex, &body, &escaped))
        return fail_lex(p);
    const char *bad = NULL;
    *ret_text = escaped ? json_unescape(body, p->arena, &bad) : body;
    if (bad != NULL)
        return fail_at(p, bad, RC_INVALID, "this escape stands for no character", STR(""));
    return RC_OK;
}

/* ---- numbers */

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
    const char *start = p->lex.at;
    bool whole;
    if (!json_lex_number(&p->lex, &whole))
        return fail_lex(p);
    struct str raw = str_of(start, (size_t)(p->lex.at - start));
    ret_value->kind = whole ? JSON_INT : JSON_DOUBLE;
    if (whole ? str_to_i64(raw, &ret_value->integer) : to_double(raw, &ret_value->number))
        return RC_OK;
    if (!p->rules->any_number)
        return fail_at(p, start, RC_INVALID, "number out of range", STR(""));
    ret_value->kind = JSON_SPAN;
    return RC_OK;
}

/* ---- containers */

/* A place on top of the stack for the next value. */
static enum rc add_slot(struct parser *p, size_t *ret_slot)
{
    if (++p->values > JSON_VALUES_MAX)
        return fail_at(p, p->lex.at, RC_TOO_LARGE, "there are too many values", STR(""));
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
    if (!json_lex_take(&p->lex, ']')) {
        do {
            size_t item = 0;
            TRY(add_slot(p, &item));
            TRY(parse_value(p, item));
        } while (json_lex_take(&p->lex, ','));
        if (!json_lex_take(&p->lex, ']'))
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

/* Whether the value behind this key is left unread: only what can be large or deep. */
static bool is_span(struct parser *p, struct str key)
{
    for (size_t i = 0; i < p->rules->span_count; i++) {
        struct str span = p->rules->spans[i];
        if (span.len != key.len || memcmp(span.ptr, key.ptr, key.len) != 0)
            continue;
        json_lex_space(&p->lex);
        char c = p->lex.at < p->lex.end ? *p->lex.at : '\0';
        return c == '{' || c == '[' || c == '-' || json_lex_is_digit(&p->lex);
    }
    return false;
}

static enum rc parse_span(struct parser *p, struct json *ret_value)
{
    const char *start = p->lex.at;
    if (!json_scan(&p->lex, p->rules->span_depth_max))
        return fail_lex(p);
    ret_value->kind = JSON_SPAN;
    ret_value->count = 0;
    ret_value->raw = str_of(start, (size_t)(p->lex.at - start));
    return RC_OK;
}

static enum rc parse_member(struct parser *p)
{
    size_t slot = 0;
    json_lex_space(&p->lex);
    if (p->lex.at == p->lex.end || *p->lex.at != '"')
        return fail(p, "expected a key in quotes");
    TRY(add_slot(p, &slot));
    TRY(parse_string(p, &p->stack[slot].key));
    if (!json_lex_take(&p->lex, ':'))
        return fail(p, "expected ':'");
    if (p->rules->span_count > 0 && is_span(p, p->stack[slot].key))
        return parse_span(p, &p->stack[slot].value);
    return parse_value(p, slot);
}

static enum rc parse_object(struct parser *p, size_t slot)
{
    size_t base = p->top;
    if (!json_lex_take(&p->lex, '}')) {
        do
            TRY(parse_member(p));
        while (json_lex_take(&p->lex, ','));
        if (!json_lex_take(&p->lex, '}'))
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
    bool object = *p->lex.at++ == '{';
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
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (json_lex_word(&p->lex, words[i].word)) {
            ret_value->kind = words[i].kind;
            ret_value->boolean = words[i].boolean;
            return RC_OK;
        }
    }
    return fail_lex(p);
}

static enum rc parse_any(struct parser *p, size_t slot)
{
    struct json *value = &p->stack[slot].value;
    switch (p->lex.at < p->lex.end ? *p->lex.at : '\0') {
    case '"': value->kind = JSON_STRING; return parse_string(p, &value->string);
    case '{':
    case '[': return parse_container(p, slot);
    case '-': return parse_number(p, value);
    default: return json_lex_is_digit(&p->lex) ? parse_number(p, value) : parse_word(p, value);
    }
}

static enum rc parse_value(struct parser *p, size_t slot)
{
    json_lex_space(&p->lex);
    const char *start = p->lex.at;
    p->stack[slot].value.count = 0;
    TRY(parse_any(p, slot));
    p->stack[slot].value.raw = str_of(start, (size_t)(p->lex.at - start));
    return RC_OK;
}

enum rc json_parse_by(const struct json_rules *rules, struct str text, struct arena *arena,
                      struct json *ret_value, struct err *err)
{
    if (text.len == 0)
        text = STR("");
    CLEANUP(free_stack) struct parser p;
    p.text = text; /* one by one: first[] is large and needs no zeroes */
    p.lex = (struct json_lex){.at = text.ptr, .end = text.ptr + text.len};
    p.rules = rules;
    p.arena = arena;
    p.err = err;
    p.stack = p.first;
    p.top = p.depth = p.values = 0;
    p.cap = STACK_FIRST;
    size_t root = 0;
    TRY(add_slot(&p, &root));
    TRY(parse_value(&p, root));
    json_lex_space(&p.lex);
    if (p.lex.at != p.lex.end)
        return fail(&p, "something stands behind the value");
    *ret_value = p.stack[root].value;
    return RC_OK;
}

enum rc json_parse(struct str text, struct arena *arena, struct json *ret_value, struct err *err)
{
    static const struct json_rules all = {0};
    return json_parse_by(&all, text, arena, ret_value, err);
}

static const struct str carried[] = {STR_INIT("payload"), STR_INIT("result")};

const struct json_rules json_from_user = {
    .spans = carried, .span_count = COUNT_OF(carried), .span_depth_max = JSON_DEPTH_MAX};

const struct json_rules json_from_server = {.spans = carried, .span_count = COUNT_OF(carried)};

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
    assert(kind != JSON_SPAN);
    return names[kind];
}

const char *json_value_name(const struct json *value)
{
    if (value->kind != JSON_SPAN)
        return json_kind_name(value->kind);
    switch (value->raw.ptr[0]) {
    case '{': return json_kind_name(JSON_OBJECT);
    case '[': return json_kind_name(JSON_ARRAY);
    default: return json_kind_name(JSON_DOUBLE);
    }
}

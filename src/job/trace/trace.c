#include "job/trace/trace.h"
#include "base/rng.h"

#include <assert.h>

/* Lower case only: the standard calls capitals invalid. */
static bool hex_value(char c, unsigned *ret_value)
{
    if (c >= '0' && c <= '9')
        *ret_value = (unsigned)(c - '0');
    else if (c >= 'a' && c <= 'f')
        *ret_value = (unsigned)(c - 'a') + 10;
    else
        return false;
    return true;
}

/* Cuts a number of `digits` digits off the front. */
static bool take_hex(struct str *rest, size_t digits, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (rest->len < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        unsigned digit;
        if (!hex_value(rest->ptr[i], &digit))
            return false;
        value = value << 4 | digit;
    }
    *rest = str_from(*rest, digits);
    *ret_value = value;
    return true;
}

static bool take_trace_id(struct str *rest, struct trace_id *ret_id)
{
    return take_hex(rest, 16, &ret_id->high) && take_hex(rest, 16, &ret_id->low) &&
           trace_id_is_set(*ret_id);
}

bool trace_parent_parse(struct str text, struct trace_parent *ret_parent)
{
    struct trace_parent parent;
    struct str rest = text;
    uint64_t version;
    uint64_t flags;
    if (!take_hex(&rest, 2, &version) || version == 0xff || !str_take_char(&rest, '-') ||
        !take_trace_id(&rest, &parent.trace) || !str_take_char(&rest, '-') ||
        !take_hex(&rest, TRACE_SPAN_DIGITS, &parent.span) || parent.span == 0 ||
        !str_take_char(&rest, '-') || !take_hex(&rest, 2, &flags))
        return false;
    /* A version to come may say more, behind another dash. */
    if (rest.len > 0 && (version == 0 || rest.ptr[0] != '-'))
        return false;
    parent.flags = (unsigned)flags & (version == 0 ? TRACE_FLAGS : TRACE_SAMPLED);
    *ret_parent = parent;
    return true;
}

/* By hand: each lease has one, and printf takes ten times as long. Returns what is behind it. */
static char *put_hex(char *to, uint64_t value, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; value >>= 4)
        to[i] = "0123456789abcdef"[value & 15];
    return to + digits;
}

static struct str finished(char *text, char *end)
{
    *end = '\0';
    return str_of(text, (size_t)(end - text));
}

struct str trace_parent_format(char *ret_text, const struct trace_parent *parent)
{
    assert(trace_id_is_set(parent->trace) && parent->span != 0);
    char *at = put_hex(ret_text, 0, 2); /* the version */
    *at++ = '-';
    at = put_hex(put_hex(at, parent->trace.high, 16), parent->trace.low, 16);
    *at++ = '-';
    at = put_hex(at, parent->span, TRACE_SPAN_DIGITS);
    *at++ = '-';
    return finished(ret_text, put_hex(at, parent->flags & TRACE_FLAGS, 2));
}

struct str trace_id_format(char *ret_text, struct trace_id id)
{
    return finished(ret_text, put_hex(put_hex(ret_text, id.high, 16), id.low, 16));
}

struct str trace_span_format(char *ret_text, uint64_t span)
{
    return finished(ret_text, put_hex(ret_text, span, TRACE_SPAN_DIGITS));
}

bool trace_id_parse(struct str text, struct trace_id *ret_id)
{
    return text.len == TRACE_ID_DIGITS && take_trace_id(&text, ret_id);
}

/* ---- tracestate */

enum { STATE_KEY_MAX = 256, STATE_VALUE_MAX = 256 };

static bool is_key(struct str key)
{
    if (key.len == 0 || key.len > STATE_KEY_MAX)
        return false;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        bool inner = c == '_' || c == '-' || c == '*' || c == '/' || c == '@';
        if (!letter && (i == 0 || !inner))
            return false;
    }
    return true;
}

/* Printable ASCII but for comma and equals sign. Spaces at its end were cut off before. */
static bool is_value(struct str value)
{
    if (value.len == 0 || value.len > STATE_VALUE_MAX)
        return false;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c < 0x20 || c > 0x7e || c == ',' || c == '=')
            return false;
    }
    return true;
}

/* Whether a member with this key is among those that were written. */
static bool has_key(struct str members, struct str key)
{
    while (members.len > 0) {
        struct str member = str_cut(&members, ',');
        if (str_eq(str_cut(&member, '='), key))
            return true;
    }
    return false;
}

static struct str trim_spaces(struct str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = str_from(s, 1);
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

static bool add_member(struct str member, struct buf *out, size_t start)
{
    struct str value = member;
    struct str key = str_cut(&value, '=');
    struct str before = str_from(buf_str(out), start);
    if (!is_key(key) || !is_value(value) || has_key(before, key))
        return false;
    if (before.len > 0)
        buf_add_char(out, ',');
    buf_add(out, member);
    return out->len - start <= TRACE_STATE_MAX && !out->overflow;
}

bool trace_state_read(struct str text, struct buf *out)
{
    size_t start = out->len;
    size_t count = 0;
    while (text.len > 0) {
        struct str member = trim_spaces(str_cut(&text, ','));
        if (member.len == 0) /* allowed, so that headers can be joined blindly */
            continue;
        if (++count > TRACE_STATE_MEMBERS_MAX || !add_member(member, out, start)) {
            out->len = start;
            return false;
        }
    }
    return true;
}

/* ---- derived ids */

/* Never 0, which means that there is none. */
static uint64_t some(uint64_t value)
{
    return value != 0 ? value : 1;
}

struct trace_id trace_of_exec(uint64_t realm, uint64_t exec_id)
{
    /* Two rounds, so that neither ids that follow each other nor realms show in the result. */
    struct rng mixed = {.state = exec_id};
    struct rng r = {.state = rng_next(&mixed) ^ realm};
    uint64_t high = rng_next(&r);
    return (struct trace_id){.high = high, .low = some(rng_next(&r))};
}

uint64_t trace_span_of(uint64_t realm, uint64_t exec_id, enum trace_span_kind kind, uint64_t number)
{
    struct rng mixed = {.state = exec_id};
    struct rng r = {.state = rng_next(&mixed) ^ realm};
    /* The next numbers of r are the trace's: begin elsewhere. */
    r = (struct rng){.state = ~rng_next(&r) ^ (number * TRACE_SPAN_KINDS + kind)};
    return some(rng_next(&r));
}

struct trace_ratio trace_ratio_of(double ratio)
{
    assert(ratio >= 0 && ratio <= 1);
    return (struct trace_ratio){ratio >= 1 ? UINT64_MAX : (uint64_t)(ratio * 0x1p63)};
}

/* ---- the trace of an execution */

struct str trace_context_read(struct str parent, struct str state, struct arena *arena)
{
    char bytes[TRACE_STATE_MAX + TRACE_STATE_MAX / 2];
    struct buf members = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    struct trace_parent read;
    char text[TRACE_TEXT_MAX];
    if (parent.len == 0 || !trace_parent_parse(parent, &read))
        return STR("");
    struct str printed = trace_parent_format(text, &read);
    if (!trace_state_read(state, &members) || members.len == 0)
        return arena_str(arena, printed);
    return arena_printf(arena, "%.*s %.*s", STR_ARG(printed), STR_ARG(buf_str(&members)));
}

struct str trace_id_text(struct str context)
{
    enum { BEFORE = 3 /* the version and a dash */ };
    return context.len < TRACE_PARENT_LEN ? STR("") : str_of(context.ptr + BEFORE, TRACE_ID_DIGITS);
}

bool trace_of(const struct trace_rule *rule, uint64_t exec_id, struct str context,
              struct exec_trace *ret_trace)
{
    struct trace_parent parent;
    struct str state = context;
    if (context.len > 0 && trace_parent_parse(str_cut(&state, ' '), &parent)) {
        *ret_trace = (struct exec_trace){parent.trace, parent.span, parent.flags, state};
        return true;
    }
    if (!rule->on)
        return false;
    struct trace_id id = trace_of_exec(rule->realm, exec_id);
    unsigned flags = trace_ratio_has(rule->ratio, id) ? TRACE_SAMPLED : 0;
    *ret_trace = (struct exec_trace){.id = id, .flags = flags};
    return true;
}

struct trace_parent trace_for_attempt(const struct trace_rule *rule, uint64_t exec_id,
                                      uint64_t token, const struct exec_trace *trace)
{
    uint64_t span = !rule->on && trace->caller != 0
                        ? trace->caller
                        : trace_span_of(rule->realm, exec_id, TRACE_SPAN_ATTEMPT, token);
    return (struct trace_parent){trace->id, span, trace->flags};
}

#include "base/id.h"
#include "base/when.h"
#include "wire/json/json.h"
#include "wire/json/json_text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes what must stand before the next value or key. */
static void begin(struct json_writer *w)
{
    if (w->need_comma && !w->after_key)
        buf_add_char(w->out, ',');
    w->need_comma = true;
    w->after_key = false;
}

static void open_with(struct json_writer *w, char c)
{
    begin(w);
    buf_add_char(w->out, c);
    w->depth++;
    w->need_comma = false;
}

static void close_with(struct json_writer *w, char c)
{
    assert(w->depth > 0 && !w->after_key);
    buf_add_char(w->out, c);
    w->depth--;
    w->need_comma = true;
}

void json_open(struct json_writer *w)
{
    open_with(w, '{');
}

void json_close(struct json_writer *w)
{
    close_with(w, '}');
}

void json_open_array(struct json_writer *w)
{
    open_with(w, '[');
}

void json_close_array(struct json_writer *w)
{
    close_with(w, ']');
}

/* ---- text */

static void add_escaped(struct buf *out, unsigned char c)
{
    static const char shorts[] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r',
                                  ['\t'] = 't', ['"'] = '"',  ['\\'] = '\\'};
    static const char hex[] = "0123456789abcdef";
    char text[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (shorts[c] != 0) {
        text[1] = shorts[c];
        buf_add(out, str_of(text, 2));
    } else {
        buf_add(out, str_of(text, sizeof text));
    }
}

/* The next character that does not simply stand for itself; returns how many bytes it took. */
static size_t add_special(struct buf *out, struct str rest)
{
    size_t len = str_utf8_len(rest);
    unsigned char c = (unsigned char)rest.ptr[0];
    if (len == 0 || c == 0) {
        buf_add(out, STR("\xef\xbf\xbd")); /* U+FFFD */
        return 1;
    }
    if (c < 0x80)
        add_escaped(out, c);
    else
        buf_add(out, str_of(rest.ptr, len));
    return len;
}

static void add_quoted(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    while (text.len > 0) {
        size_t plain = (size_t)(json_plain_end(text.ptr, text.ptr + text.len) - text.ptr);
        buf_add(out, str_of(text.ptr, plain));
        text = str_from(text, plain);
        if (text.len > 0)
            text = str_from(text, add_special(out, text));
    }
    buf_add_char(out, '"');
}

/* Keys of our own need no escaping: the most frequent call is one piece. */
void json_key(struct json_writer *w, const char *key)
{
    assert(w->depth > 0 && !w->after_key);
    struct str name = str_c(key);
    char *to = buf_reserve(w->out, name.len + 4); /* a comma, two quotes, a colon */
    if (to != NULL) {
        char *start = to;
        if (w->need_comma)
            *to++ = ',';
        *to++ = '"';
        memcpy(to, name.ptr, name.len);
        to += name.len;
        *to++ = '"';
        *to++ = ':';
        w->out->len += (size_t)(to - start);
    }
    w->need_comma = w->after_key = true;
}

void json_key_str(struct json_writer *w, struct str key)
{
    assert(w->depth > 0 && !w->after_key);
    begin(w);
    add_quoted(w->out, key);
    buf_add_char(w->out, ':');
    w->after_key = true;
}

void json_str(struct json_writer *w, struct str value)
{
    begin(w);
    add_quoted(w->out, value);
}

/* ---- the other values */

void json_int(struct json_writer *w, int64_t value)
{
    begin(w);
    buf_add_i64(w->out, value);
}

void json_double(struct json_writer *w, double value)
{
    assert(isfinite(value)); /* the reader lets no other in */
    char text[320];          /* some 25 are used; the compiler does not know the precision */
    int digits = 15;         /* always enough to be right; 17 always enough to be exact */
    do
        snprintf(text, sizeof text, "%.*g", digits++, value);
    while (strtod(text, NULL) != value);
    begin(w);
    buf_add(w->out, str_c(text));
    if (strpbrk(text, ".e") == NULL) /* 5 would read back as an integer */
        buf_add(w->out, STR(".0"));
}

void json_bool(struct json_writer *w, bool value)
{
    begin(w);
    buf_add(w->out, value ? STR("true") : STR("false"));
}

void json_null(struct json_writer *w)
{
    begin(w);
    buf_add(w->out, STR("null"));
}

void json_raw(struct json_writer *w, struct str text)
{
    assert(text.len > 0);
    begin(w);
    buf_add(w->out, text);
}

void json_raw_members(struct json_writer *w, struct str object)
{
    assert(w->depth > 0 && !w->after_key);
    object = str_trim(object);
    assert(object.len >= 2 && object.ptr[0] == '{' && object.ptr[object.len - 1] == '}');
    struct str members = str_trim(str_of(object.ptr + 1, object.len - 2));
    if (members.len > 0)
        json_raw(w, members);
}

void json_id(struct json_writer *w, const char *prefix, uint64_t id)
{
    char text[ID_TEXT_MAX];
    json_str(w, id_format(text, prefix, id));
}

void json_when(struct json_writer *w, int64_t at_ms)
{
    char text[WHEN_TEXT_MAX];
    json_str(w, when_format(text, at_ms));
}

/* ---- members */

void json_put_str(struct json_writer *w, const char *key, struct str value)
{
    json_key(w, key);
    json_str(w, value);
}

void json_put_int(struct json_writer *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_int(w, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    json_key(w, key);
    json_bool(w, value);
}

void json_put_null(struct json_writer *w, const char *key)
{
    json_key(w, key);
    json_null(w);
}

void json_put_raw(struct json_writer *w, const char *key, struct str text)
{
    json_key(w, key);
    json_raw(w, text);
}

void json_put_id(struct json_writer *w, const char *key, const char *prefix, uint64_t id)
{
    json_key(w, key);
    json_id(w, prefix, id);
}

void json_put_text(struct json_writer *w, const char *key, struct str text)
{
    json_key(w, key);
    if (text.len == 0)
        json_null(w);
    else
        json_str(w, text);
}

void json_put_when(struct json_writer *w, const char *key, int64_t at_ms)
{
    json_key(w, key);
    if (at_ms == 0)
        json_null(w);
    else
        json_when(w, at_ms);
}

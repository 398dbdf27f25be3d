#include "wire/json/json_keep.h"
#include "wire/json/json_scan.h"

static bool is_kept(struct str key, const struct str *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(keys[i], key))
            return true;
    }
    return false;
}

/* Moves behind "key": and the value; false: it is cut off. Our own keys have no escapes. */
static bool next_member(struct json_lex *x, struct str *ret_key)
{
    bool escaped;
    json_lex_space(x);
    return x->at < x->end && *x->at == '"' && json_lex_string(x, ret_key, &escaped) &&
           json_lex_take(x, ':') && json_scan(x, JSON_ANY_DEPTH);
}

void json_keep(struct buf *out, size_t at, const struct str *keys, size_t count)
{
    struct json_lex x = {.at = out->ptr + at + 1, .end = out->ptr + out->len};
    char *to = out->ptr + at + 1;
    bool is_first = true;
    if (out->overflow)
        return;
    do {
        struct str key;
        json_lex_space(&x);
        const char *from = x.at;
        if (!next_member(&x, &key))
            break; /* an object without members */
        if (!is_kept(key, keys, count))
            continue;
        if (!is_first)
            *to++ = ',';
        is_first = false;
        memmove(to, from, (size_t)(x.at - from));
        to += x.at - from;
    } while (json_lex_take(&x, ','));
    *to++ = '}';
    out->len = (size_t)(to - out->ptr);
}

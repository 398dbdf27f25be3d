#include "worker/run/error_tail.h"
#include "job/failure.h"

enum { ROOM = 2 * FAILURE_TAIL_BYTES_MAX };

void error_tail_add(struct error_tail *tail, struct str bytes)
{
    if (bytes.len > FAILURE_TAIL_BYTES_MAX)
        bytes = str_from(bytes, bytes.len - FAILURE_TAIL_BYTES_MAX);
    tail->bytes.max = ROOM;
    if (tail->bytes.len + bytes.len > ROOM)
        buf_drop_front(&tail->bytes, tail->bytes.len - FAILURE_TAIL_BYTES_MAX);
    buf_add(&tail->bytes, bytes);
}

static bool is_control(struct str text)
{
    return text.ptr[0] != '\n' && text.ptr[0] != '\t' && str_control_len(text) > 0;
}

struct str error_tail_text(const struct error_tail *tail, struct arena *arena)
{
    struct str from = buf_str(&tail->bytes);
    char *text = arena_bytes(arena, from.len);
    struct buf out = {.ptr = text, .cap = from.len, .max = from.len};
    while (from.len > 0) {
        size_t len = str_utf8_len(from);
        if (len == 0)
            buf_add_char(&out, '?');
        else if (!is_control(from))
            buf_add(&out, str_of(from.ptr, len));
        from = str_from(from, len == 0 ? 1 : len);
    }
    return failure_tail(buf_str(&out));
}

void error_tail_free(struct error_tail *tail)
{
    buf_free(&tail->bytes);
}

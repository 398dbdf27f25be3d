#include "job/record/trail.h"

#include <string.h>

/* True when none of the eight bytes is a control character: below 0x20, or 0x7f. */
static bool is_plain(const char *bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    uint64_t delete = word ^ (ones * 0x7f);
    uint64_t found = ((word - ones * 0x20) & ~word) | ((delete - ones) & ~delete);
    return (found & (ones * 0x80)) == 0;
}

static void add_clean(struct buf *trail, struct str text)
{
    text = str_head(text, TRAIL_REASON_MAX);
    char *to = buf_reserve(trail, text.len);
    if (to == NULL || text.len == 0)
        return;
    memcpy(to, text.ptr, text.len);
    for (size_t i = 0; i < text.len;) {
        if (text.len - i >= 8 && is_plain(to + i)) {
            i += 8;
            continue;
        }
        unsigned char c = (unsigned char)to[i];
        to[i++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
    }
    trail->len += text.len;
}

void trail_add(struct buf *trail, const struct trail_step *step)
{
    buf_add_i64(trail, step->at_ms);
    buf_add_char(trail, '\t');
    buf_add(trail, step->event);
    buf_add_char(trail, '\t');
    buf_add(trail, step->state);
    buf_add_char(trail, '\t');
    add_clean(trail, step->actor);
    buf_add_char(trail, '\t');
    add_clean(trail, step->reason);
    buf_add_char(trail, '\n');
}

bool trail_next(struct str *rest, struct trail_step *ret_step)
{
    while (rest->len > 0) {
        struct str line = str_cut(rest, '\n');
        struct trail_step step = {0};
        if (!str_to_i64(str_cut(&line, '\t'), &step.at_ms))
            continue;
        step.event = str_cut(&line, '\t');
        step.state = str_cut(&line, '\t');
        step.actor = str_cut(&line, '\t');
        step.reason = line;
        *ret_step = step;
        return true;
    }
    return false;
}

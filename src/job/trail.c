#include "job/trail.h"

static void add_clean(struct buf *trail, struct str text)
{
    text = str_head(text, TRAIL_REASON_MAX);
    char *to = buf_reserve(trail, text.len);
    if (to == NULL)
        return;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        to[i] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
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

#include "wire/http/sse.h"

/* ---- writing */

static void add_line(struct buf *out, struct str name, struct str value)
{
    buf_add(out, name);
    buf_add(out, STR(": "));
    buf_add(out, value);
    buf_add_char(out, '\n');
}

void sse_print(struct buf *out, struct str id, struct str event, struct str data)
{
    if (id.len > 0)
        add_line(out, STR("id"), id);
    if (event.len > 0)
        add_line(out, STR("event"), event);
    do
        add_line(out, STR("data"), str_cut(&data, '\n'));
    while (data.ptr != NULL);
    buf_add_char(out, '\n');
}

void sse_print_ping(struct buf *out)
{
    buf_add(out, STR(":\n\n"));
}

/* ---- reading */

struct sse_reader sse_reader(size_t event_bytes_max)
{
    return (struct sse_reader){
        .line = BUF(event_bytes_max),
        .id = BUF(event_bytes_max),
        .event = BUF(event_bytes_max),
        .data = BUF(event_bytes_max),
    };
}

void sse_reader_free(struct sse_reader *r)
{
    buf_free(&r->line);
    buf_free(&r->id);
    buf_free(&r->event);
    buf_free(&r->data);
}

static void set(struct buf *b, struct str value)
{
    buf_clear(b);
    buf_add(b, value);
}

static void take_field(struct sse_reader *r, struct str name, struct str value)
{
    if (str_eq(name, STR("data"))) {
        if (r->has_data)
            buf_add_char(&r->data, '\n');
        buf_add(&r->data, value);
        r->has_data = true;
    } else if (str_eq(name, STR("event"))) {
        set(&r->event, value);
    } else if (str_eq(name, STR("id")) && str_index(value, '\0') == value.len) {
        set(&r->id, value);
    } /* others, and comments (an empty name), are nothing to us */
}

/* An empty line ends an event; one without data is none, as the standard has it. */
static void end_event(struct sse_reader *r, sse_sink *on_event, void *arg)
{
    if (r->has_data) {
        const struct sse_event event = {
            .id = buf_str(&r->id),
            .event = r->event.len > 0 ? buf_str(&r->event) : STR("message"),
            .data = buf_str(&r->data),
        };
        on_event(arg, &event);
    }
    buf_clear(&r->event);
    buf_clear(&r->data);
    r->has_data = false;
}

static void end_line(struct sse_reader *r, sse_sink *on_event, void *arg)
{
    struct str line = buf_str(&r->line);
    if (!r->started && str_starts(line, STR("\xef\xbb\xbf")))
        line = str_from(line, 3);
    r->started = true;
    if (line.len == 0) {
        end_event(r, on_event, arg);
    } else {
        struct str name = str_cut(&line, ':');
        if (line.len > 0 && line.ptr[0] == ' ')
            line = str_from(line, 1);
        take_field(r, name, line);
    }
    buf_clear(&r->line);
}

/* How many bytes stand before the first line break. */
static size_t line_len(struct str piece)
{
    size_t len = str_index(piece, '\n');
    return str_index(str_of(piece.ptr, len), '\r');
}

enum rc sse_feed(struct sse_reader *r, struct str piece, sse_sink *on_event, void *arg,
                 struct err *err)
{
    while (piece.len > 0) {
        if (r->after_cr && piece.ptr[0] == '\n')
            piece = str_from(piece, 1);
        r->after_cr = false;
        size_t len = line_len(piece);
        buf_add(&r->line, str_of(piece.ptr, len));
        if (r->line.overflow)
            return err_set(err, RC_TOO_LARGE, "a line of the event stream is over %zu bytes",
                           r->line.max);
        if (len == piece.len)
            break;
        r->after_cr = piece.ptr[len] == '\r';
        piece = str_from(piece, len + 1);
        end_line(r, on_event, arg);
        if (r->data.overflow)
            return err_set(err, RC_TOO_LARGE, "an event of the stream is over %zu bytes",
                           r->data.max);
    }
    return RC_OK;
}

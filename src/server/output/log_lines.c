#include "server/output/log_lines.h"

#include <string.h>

enum { CHARACTER_REST = 3 }; /* bytes of UTF-8 behind the first one */

void line_cutter_init(struct line_cutter *c, const struct line_place *place)
{
    *c = (struct line_cutter){
        .at = *place, .next_seq = place->seq, .open = BUF(LOG_LINE_BYTES_MAX + CHARACTER_REST)};
}

void line_cutter_free(struct line_cutter *c)
{
    buf_free(&c->open);
}

void line_cutter_feed(struct line_cutter *c, const struct log_chunk *chunk)
{
    bool goes_on = chunk->seq == c->at.seq && c->open.len == 0;
    c->chunk = *chunk;
    c->rest = chunk->bytes;
    if (goes_on && c->at.skip > 0)
        c->rest = str_from(c->rest, c->at.skip < c->rest.len ? c->at.skip : c->rest.len);
    c->missing = chunk->seq > c->next_seq ? chunk->seq - c->next_seq : 0;
    c->has_gap = c->has_gap || c->missing > 0;
    c->next_seq = chunk->seq + 1;
    if (c->given)
        buf_clear(&c->open);
    c->given = false;
    c->interrupted = c->open.len > 0 && (c->missing > 0 || c->stream != chunk->stream);
}

/* Counts a line that ends at this place. */
static void give(struct line_cutter *c, uint64_t seq, uint64_t skip, struct log_line *line)
{
    c->at.seq = seq;
    c->at.skip = skip;
    line->number = ++c->at.count;
}

/* What is open, as it is. */
static void give_open(struct line_cutter *c, uint64_t seq, bool more, struct log_line *ret_line)
{
    *ret_line = (struct log_line){
        .at_ms = c->open_ms, .stream = c->stream, .more = more, .text = buf_str(&c->open)};
    c->given = true;
    give(c, seq, 0, ret_line);
}

static void open_more(struct line_cutter *c, struct str bytes)
{
    if (c->open.len == 0) {
        c->open_ms = c->chunk.at_ms;
        c->stream = c->chunk.stream;
    }
    buf_add(&c->open, bytes);
}

/* So much of the chunk belongs to the piece under way at most: until that has LOG_LINE_BYTES_MAX
 * bytes, and the rest of a character that would be cut in two. */
static size_t piece_room(const struct line_cutter *c)
{
    size_t have = c->open.len;
    size_t len = have < LOG_LINE_BYTES_MAX ? LOG_LINE_BYTES_MAX - have : 0;
    while (have + len < LOG_LINE_BYTES_MAX + CHARACTER_REST && len < c->rest.len &&
           ((unsigned char)c->rest.ptr[len] & 0xC0) == 0x80)
        len++;
    return len;
}

/* Takes a line, or a piece of one, off the chunk: `len` bytes, and `gone` with its break. */
static void take(struct line_cutter *c, size_t len, size_t gone, struct log_line *ret_line)
{
    struct str text = str_of(c->rest.ptr, len);
    bool more = len == gone;
    *ret_line = (struct log_line){.at_ms = c->chunk.at_ms, .stream = c->chunk.stream, .more = more};
    if (c->open.len > 0) {
        buf_add(&c->open, text);
        text = buf_str(&c->open);
        ret_line->at_ms = c->open_ms;
        c->given = true;
    }
    if (!more && text.len > 0 && text.ptr[text.len - 1] == '\r')
        text.len--;
    ret_line->text = text;
    if (ret_line->stream == LOG_NOTE && !more)
        ret_line->dropped = log_note_dropped(text);
    c->rest = str_from(c->rest, gone);
    give(c, c->chunk.seq, c->chunk.bytes.len - c->rest.len, ret_line);
}

bool line_cutter_next(struct line_cutter *c, struct log_line *ret_line)
{
    if (c->given)
        buf_clear(&c->open);
    c->given = false;
    if (c->interrupted) {
        c->interrupted = false;
        give_open(c, c->chunk.seq - c->missing, true, ret_line);
        return true;
    }
    if (c->missing > 0) {
        *ret_line =
            (struct log_line){.at_ms = c->chunk.at_ms, .stream = LOG_NOTE, .missing = c->missing};
        c->missing = 0;
        give(c, c->chunk.seq, 0, ret_line);
        return true;
    }
    size_t room = piece_room(c);
    size_t look = c->rest.len > room ? room + 1 : c->rest.len;
    const char *end = look > 0 ? memchr(c->rest.ptr, '\n', look) : NULL;
    if (end != NULL) {
        size_t len = (size_t)(end - c->rest.ptr);
        take(c, len, len + 1, ret_line);
        return true;
    }
    if (c->rest.len > room) {
        take(c, room, room, ret_line);
        return true;
    }
    open_more(c, c->rest);
    c->rest = str_from(c->rest, c->rest.len);
    return false;
}

bool line_cutter_end(struct line_cutter *c, struct log_line *ret_line)
{
    if (c->given)
        buf_clear(&c->open);
    c->given = false;
    if (c->open.len == 0)
        return false;
    give_open(c, c->next_seq, false, ret_line);
    if (ret_line->stream == LOG_NOTE)
        ret_line->dropped = log_note_dropped(ret_line->text);
    return true;
}

#include "wire/http/log_frame.h"
#include "base/id.h"
#include "base/when.h"

enum { LINE_BYTES_MAX = 160 }; /* an id, five numbers of at most 19 digits, a word, the blanks */

void log_frame_print(struct buf *out, const struct log_chunk *chunk)
{
    char id[ID_TEXT_MAX];
    const uint64_t before[] = {chunk->token, chunk->attempt, chunk->seq};
    buf_add(out, id_format(id, ID_EXEC, chunk->exec_id));
    for (size_t i = 0; i < COUNT_OF(before); i++) {
        buf_add_char(out, ' ');
        buf_add_u64(out, before[i]);
    }
    buf_add_char(out, ' ');
    buf_add(out, log_stream_name(chunk->stream));
    buf_add_char(out, ' ');
    buf_add_i64(out, chunk->at_ms);
    buf_add_char(out, ' ');
    buf_add_u64(out, chunk->bytes.len);
    buf_add_char(out, '\n');
    buf_add(out, chunk->bytes);
    buf_add_char(out, '\n');
}

/* Takes a number from min to max off the front of *line. */
static enum rc take_number(struct str *line, const char *what, uint64_t min, uint64_t max,
                           uint64_t *ret_value, struct err *err)
{
    struct str word = str_cut(line, ' ');
    uint64_t value;
    bool padded = word.len > 1 && word.ptr[0] == '0';
    if (padded || !str_to_u64(word, &value) || value < min || value > max)
        return err_set(err, RC_INVALID, "a log frame has no good %s", what);
    *ret_value = value;
    return RC_OK;
}

static enum rc take_line(struct str line, struct log_chunk *chunk, uint64_t *ret_len,
                         struct err *err)
{
    uint64_t attempt = 0;
    uint64_t at_ms = 0;
    TRY(id_parse(str_cut(&line, ' '), ID_EXEC, &chunk->exec_id, err));
    TRY(take_number(&line, "token", 1, INT64_MAX, &chunk->token, err));
    TRY(take_number(&line, "attempt", 1, INT32_MAX, &attempt, err));
    TRY(take_number(&line, "sequence", 1, INT64_MAX, &chunk->seq, err));
    if (!log_stream_parse(str_cut(&line, ' '), &chunk->stream))
        return err_set(err, RC_INVALID, "a log frame has no good stream");
    TRY(take_number(&line, "time", 0, WHEN_MAX_MS, &at_ms, err));
    TRY(take_number(&line, "length", 0, INT64_MAX, ret_len, err));
    if (line.ptr != NULL) /* str_cut leaves NULL when there was nothing more to cut */
        return err_set(err, RC_INVALID, "a log frame has more than seven words");
    chunk->attempt = (uint32_t)attempt;
    chunk->at_ms = (int64_t)at_ms;
    return RC_OK;
}

enum rc log_frame_next(struct str *rest, struct log_chunk *ret_chunk, struct err *err)
{
    struct log_chunk chunk = {.exec_id = 0};
    uint64_t len = 0;
    size_t line_max = rest->len < LINE_BYTES_MAX ? rest->len : LINE_BYTES_MAX;
    size_t line = str_index(str_of(rest->ptr, line_max), '\n');
    if (line == line_max)
        return err_set(err, RC_INVALID, "a log frame has no line to begin with");
    TRY(take_line(str_of(rest->ptr, line), &chunk, &len, err));
    if (len > LOG_CHUNK_BYTES_MAX)
        return err_set(err, RC_TOO_LARGE, "a log frame has more than %d bytes",
                       LOG_CHUNK_BYTES_MAX);
    struct str behind = str_from(*rest, line + 1);
    if (behind.len <= len || behind.ptr[len] != '\n')
        return err_set(err, RC_INVALID, "a log frame does not end where it said");
    chunk.bytes = str_of(behind.ptr, len);
    *rest = str_from(behind, len + 1);
    *ret_chunk = chunk;
    return RC_OK;
}

#include "job/log.h"

#include <assert.h>

static const struct str stream_names[] = {
    [LOG_STDOUT] = STR_INIT("stdout"),
    [LOG_STDERR] = STR_INIT("stderr"),
    [LOG_NOTE] = STR_INIT("note"),
};

struct str log_stream_name(enum log_stream stream)
{
    assert(stream >= LOG_STDOUT && stream <= LOG_NOTE);
    return stream_names[stream];
}

bool log_stream_parse(struct str name, enum log_stream *ret_stream)
{
    for (int i = LOG_STDOUT; i <= LOG_NOTE; i++) {
        if (str_eq(stream_names[i], name)) {
            *ret_stream = (enum log_stream)i;
            return true;
        }
    }
    return false;
}

uint64_t log_note_dropped(struct str line)
{
    uint64_t bytes;
    struct str note = STR(LOG_DROPPED_NOTE);
    if (line.len <= note.len || !str_eq(str_from(line, line.len - note.len), note) ||
        !str_to_u64(str_of(line.ptr, line.len - note.len), &bytes))
        return 0;
    return bytes;
}

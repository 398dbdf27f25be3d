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

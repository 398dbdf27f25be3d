#include "store/usage_text.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_unknown(const struct usage *u)
{
    return u->exit_code == -1 && u->signal == 0 && u->cpu_ms == 0 && u->peak_memory_bytes == 0 &&
           u->output_bytes == 0 && u->dropped_bytes == 0 && u->log_seq == 0;
}

struct str usage_print(const struct usage *u, char *ret_text)
{
    if (is_unknown(u))
        return (struct str){0};
    int len =
        snprintf(ret_text, USAGE_TEXT_MAX,
                 "%" PRId32 " %" PRId32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64,
                 u->exit_code, u->signal, u->cpu_ms, u->peak_memory_bytes, u->output_bytes,
                 u->dropped_bytes, u->log_seq);
    return str_of(ret_text, (size_t)len);
}

static bool take(struct str *rest, int64_t min, int64_t max, int64_t *ret_value)
{
    struct str word = str_cut(rest, ' ');
    return str_to_i64(word, ret_value) && *ret_value >= min && *ret_value <= max;
}

bool usage_parse(struct str text, struct usage *ret_usage)
{
    int64_t exit_code;
    int64_t signal;
    struct usage u = {0};
    struct str rest = text;
    if (!take(&rest, INT32_MIN, INT32_MAX, &exit_code) ||
        !take(&rest, INT32_MIN, INT32_MAX, &signal) ||
        !take(&rest, INT64_MIN, INT64_MAX, &u.cpu_ms) ||
        !take(&rest, INT64_MIN, INT64_MAX, &u.peak_memory_bytes) ||
        !take(&rest, INT64_MIN, INT64_MAX, &u.output_bytes) ||
        !take(&rest, INT64_MIN, INT64_MAX, &u.dropped_bytes) || !str_to_u64(rest, &u.log_seq))
        return false;
    u.exit_code = (int32_t)exit_code;
    u.signal = (int32_t)signal;
    *ret_usage = u;
    return true;
}

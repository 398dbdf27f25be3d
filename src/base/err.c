#include "base/err.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum rc err_vset(struct err *err, enum rc rc, const char *format, va_list args)
{
    assert(rc != RC_OK);
    if (err == NULL)
        return rc;
    err->rc = rc;
    vsnprintf(err->text, sizeof err->text, format, args);
    return rc;
}

enum rc err_set(struct err *err, enum rc rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err_vset(err, rc, format, args);
    va_end(args);
    return rc;
}

enum rc err_note(struct err *err, const char *format, ...)
{
    if (err == NULL)
        return RC_IO;
    char old[ERR_TEXT_MAX];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof err->text) {
        int room = (int)(sizeof err->text) - used - (int)sizeof ": ";
        snprintf(err->text + used, sizeof err->text - (size_t)used, ": %.*s", room > 0 ? room : 0,
                 old);
    }
    return err->rc;
}

const char *rc_name(enum rc rc)
{
    static const char *const names[] = {
        [RC_OK] = "ok",
        [RC_INVALID] = "invalid",
        [RC_TOO_LARGE] = "too_large",
        [RC_NOT_FOUND] = "not_found",
        [RC_CONFLICT] = "conflict",
        [RC_REUSED] = "reused",
        [RC_PENDING] = "in_progress",
        [RC_STOPPING] = "stopping",
        [RC_STALE] = "stale",
        [RC_DENIED] = "denied",
        [RC_BUSY] = "busy",
        [RC_LIMITED] = "limit_reached",
        [RC_FULL] = "full",
        [RC_UNSUPPORTED] = "unsupported",
        [RC_TIMEOUT] = "timeout",
        [RC_UNREACHABLE] = "unreachable",
        [RC_IO] = "io",
        [RC_CORRUPT] = "corrupt",
        [RC_DEPOSED] = "deposed",
        [RC_UNKNOWN] = "unknown",
        [RC_SHUTDOWN] = "shutdown",
    };
    return (size_t)rc < COUNT_OF(names) ? names[rc] : "unnamed";
}

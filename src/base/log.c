#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIELDS_MAX = 24 }; /* of one line, those that its thread adds included */

static _Atomic int level_min = LOG_INFO;
static _Atomic int line_format = LOG_JSON;
static const char *_Atomic who_name = "belfry";

static _Thread_local struct {
    log_about *about;
    void *arg;
} busy;

void log_set_level(enum log_level level)
{
    level_min = (int)level;
}

void log_set_format(enum log_format format)
{
    line_format = (int)format;
}

void log_set_who(const char *who)
{
    who_name = who;
}

void log_set_about(log_about *about, void *arg)
{
    busy.about = about;
    busy.arg = arg;
}

static void write_line(enum log_level level, const char *message,
                       struct log_field fields[FIELDS_MAX], size_t count)
{
    struct timespec now;
    char bytes[LOG_ENTRY_MAX];
    if (busy.about != NULL && count + LOG_ABOUT_MAX <= FIELDS_MAX)
        count += busy.about(busy.arg, fields + count);
    clock_gettime(CLOCK_REALTIME, &now);
    const struct log_entry line = {
        .format = (enum log_format)line_format,
        .level = level,
        .at_ms = now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000,
        .who = who_name,
        .message = message,
        .fields = fields,
        .count = count,
    };
    size_t len = log_entry_print(&line, bytes);
    ssize_t ignored = write(STDERR_FILENO, bytes, len); /* there is no one left to tell */
    (void)ignored;
}

void log_write(enum log_level level, const char *message, ...)
{
    struct log_field fields[FIELDS_MAX];
    size_t count = 0;
    va_list args;
    if ((int)level < level_min)
        return;
    va_start(args, message);
    for (const char *key; count < FIELDS_MAX && (key = va_arg(args, const char *)) != NULL;)
        fields[count++] = (struct log_field){key, str_c(va_arg(args, const char *)), false};
    va_end(args);
    write_line(level, message, fields, count);
}

void log_write_fields(enum log_level level, const char *message, const struct log_field *given,
                      size_t count)
{
    struct log_field fields[FIELDS_MAX];
    if ((int)level < level_min)
        return;
    if (count > FIELDS_MAX)
        count = FIELDS_MAX;
    if (count > 0)
        memcpy(fields, given, count * sizeof fields[0]);
    write_line(level, message, fields, count);
}

const char *log_number(char *ret_text, int64_t number)
{
    snprintf(ret_text, LOG_NUMBER_MAX, "%" PRId64, number);
    return ret_text;
}

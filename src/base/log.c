#include "base/log.h"
#include "base/buf.h"
#include "base/when.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192 };

static _Atomic int level_min = LOG_INFO;
static const char *_Atomic who_name = "belfry";

static const struct str level_names[] = {
    [LOG_DEBUG] = STR_INIT("debug"),
    [LOG_INFO] = STR_INIT("info"),
    [LOG_WARN] = STR_INIT("warn"),
    [LOG_ERROR] = STR_INIT("error"),
};

void log_set_level(enum log_level level)
{
    level_min = (int)level;
}

void log_set_who(const char *who)
{
    who_name = who;
}

/* wire/json's writer lives above base; a log line needs only this much of it. */
static void add_json_text(struct buf *line, struct str text)
{
    bool utf8 = str_is_utf8(text);
    buf_add_char(line, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '"' || c == '\\')
            buf_printf(line, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8))
            buf_printf(line, "\\u%04x", c);
        else
            buf_add_char(line, (char)c);
    }
    buf_add_char(line, '"');
}

static void add_field(struct buf *line, const char *key, struct str value)
{
    buf_add(line, STR(",\""));
    buf_add(line, str_c(key));
    buf_add(line, STR("\":"));
    add_json_text(line, value);
}

void log_write(enum log_level level, const char *message, ...)
{
    if ((int)level < level_min)
        return;
    struct timespec now;
    char when[WHEN_TEXT_MAX];
    clock_gettime(CLOCK_REALTIME, &now);
    char bytes[LINE_MAX_BYTES];
    struct buf line = {.ptr = bytes, .cap = sizeof bytes - 2, .max = sizeof bytes - 2};
    buf_add(&line, STR("{\"time\":\""));
    buf_add(&line, when_format(when, now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000));
    buf_add(&line, STR("\",\"level\":\""));
    buf_add(&line, level_names[level]);
    buf_add_char(&line, '"');
    add_field(&line, "who", str_c(who_name));
    add_field(&line, "message", str_c(message));
    va_list args;
    va_start(args, message);
    for (const char *key; (key = va_arg(args, const char *)) != NULL;) {
        size_t whole = line.len;
        add_field(&line, key, str_c(va_arg(args, const char *)));
        if (line.overflow) /* a field that does not fit is left out whole: the line stays JSON */
            line.len = whole, line.overflow = false;
    }
    va_end(args);
    bytes[line.len++] = '}'; /* cap keeps room for these two */
    bytes[line.len++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, bytes, line.len); /* there is no one left to tell */
    (void)ignored;
}

const char *log_number(char *ret_text, int64_t number)
{
    snprintf(ret_text, LOG_NUMBER_MAX, "%" PRId64, number);
    return ret_text;
}

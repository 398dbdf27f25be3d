/* log_entry.h - a line of the log, in the format that its reader wants.
 *
 * JSON is for collectors, logfmt for those that know it, text for people at a terminal. Whatever
 * stands in a value, a line stays one line of UTF-8 and cannot be taken for two: a control
 * character, a separator of lines, one that turns the direction of text around, and a byte that is
 * no UTF-8 are written as \uXXXX. A field that does not fit is left out whole. Pure. */
#pragma once
#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* In the order of the words of the setting log_format. */
enum log_format { LOG_JSON, LOG_TEXT, LOG_LOGFMT };

const char *log_level_name(enum log_level level);    /* "info" */
const char *log_format_name(enum log_format format); /* "logfmt" */

/* A member of a line. Keys are our own: lower case, with underscores. */
struct log_field {
    const char *key;
    struct str value;
    bool is_number; /* JSON has it without quotes */
};

enum { LOG_ENTRY_MAX = 8192 };

struct log_entry {
    enum log_format format;
    enum log_level level;
    int64_t at_ms;       /* wall clock */
    const char *who;     /* "server", "worker" */
    const char *message; /* a sentence */
    const struct log_field *fields;
    size_t count;
};

/* Returns how many bytes of ret_bytes are the line, the newline at its end included. */
size_t log_entry_print(const struct log_entry *entry, char ret_bytes[LOG_ENTRY_MAX]);

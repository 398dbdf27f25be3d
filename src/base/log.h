/* log.h - one JSON object per line on stderr.
 *
 * The only part of base that does I/O and asks a clock, so that every layer above engine can say
 * something without carrying a logger around; base, job and engine themselves never call it. A
 * line is written with one write(2), so lines of several threads and processes do not mix. */
#pragma once
#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below this level are dropped; LOG_INFO at the start. */
void log_set_level(enum log_level level);
/* "who" of every line of this process: "server", "worker". Borrowed for ever. */
void log_set_who(const char *who);

/* message is a sentence; fields follow as key, value pairs of NUL-terminated text, ended by NULL:
 * log_info("listening", "address", text, NULL). */
void log_write(enum log_level level, const char *message, ...) __attribute__((sentinel));

/* A number as the value of a field; the text lives as long as the block around the call. */
#define LOG_NUMBER(number) log_number((char[LOG_NUMBER_MAX]){0}, (int64_t)(number))
enum { LOG_NUMBER_MAX = 24 };
const char *log_number(char *ret_text, int64_t number);

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

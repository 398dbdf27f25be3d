/* log.h - what a process says about itself: lines on stderr, in a format of base/log_entry.h.
 *
 * The only part of base that does I/O and asks a clock, so that every layer above engine can say
 * something without carrying a logger around; base, job and engine themselves never call it. A
 * line is written with one write(2), so lines of several threads and processes do not mix. */
#pragma once
#include "base/log_entry.h"

/* Lines below this level are dropped; LOG_INFO at the start. */
void log_set_level(enum log_level level);
/* LOG_JSON at the start. */
void log_set_format(enum log_format format);
/* "who" of every line of this process: "server", "worker". Borrowed for ever. */
void log_set_who(const char *who);

/* message is a sentence; fields follow as key, value pairs of NUL-terminated text, ended by NULL:
 * log_info("listening", "address", text, NULL). */
void log_write(enum log_level level, const char *message, ...) __attribute__((sentinel));
/* The same with fields that may be any bytes, or numbers. */
void log_write_fields(enum log_level level, const char *message, const struct log_field *given,
                      size_t count);

/* What this thread is busy with, a request say: its fields end each line that the thread writes
 * until `about` is set anew. They are asked for when there is a line, so what is written seldom
 * costs nothing until then. arg lives as long; NULL: nothing in particular. */
enum { LOG_ABOUT_MAX = 4 };
typedef size_t log_about(void *arg, struct log_field ret_fields[LOG_ABOUT_MAX]);
void log_set_about(log_about *about, void *arg);

/* A number as the value of a field; the text lives as long as the block around the call. */
#define LOG_NUMBER(number) log_number((char[LOG_NUMBER_MAX]){0}, (int64_t)(number))
enum { LOG_NUMBER_MAX = 24 };
const char *log_number(char *ret_text, int64_t number);

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

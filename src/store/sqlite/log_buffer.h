/* log_buffer.h - the write-ahead log's many small writes, made few large ones.
 *
 * SQLite writes its log a page at a time, with a call for the 24 bytes in front of each. A commit
 * that touches rows all over the database, as a storm of retries does, makes thousands of such
 * calls, and they cost more than what they write. Here they are copied together, and reach the file
 * when the buffer is full, or before anything that could tell the difference: a read, a sync, a
 * change of the file's size, its end.
 *
 * And before a commit. Other connections read what the shared index of the log names, and that
 * names a transaction when its last frame was written; so the frame that ends one is never held
 * back, nor what stands before it. Then it makes no difference how durable commits are meant to be.
 * Bytes that are held back belong to a transaction that is still open, of which a crash leaves
 * nothing anyway. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

struct log_buffer {
    const sqlite3_io_methods *real;
    sqlite3_int64 at; /* where in the file its first byte belongs */
    size_t len;
    bool through; /* the frame under way ends a transaction */
    char *bytes;  /* owned; NULL before the first write */
};

/* As the methods of the same names, for a log whose real methods are those of the buffer. */
int log_buffer_write(struct log_buffer *b, sqlite3_file *file, const void *bytes, int len,
                     sqlite3_int64 at);
/* All that was held back is in the file then. Fails as the real write does. */
int log_buffer_flush(struct log_buffer *b, sqlite3_file *file);
void log_buffer_free(struct log_buffer *b);

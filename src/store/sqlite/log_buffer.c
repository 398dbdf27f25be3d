#include "store/sqlite/log_buffer.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_BYTES = 128 << 10, /* 31 frames: one call in place of 62 */
    HEADER_BYTES = 24, /* of a frame; the log's own header has 32, and pages have 512 or more */
};

/* SQLite's file format: bytes 4 to 7 of a frame's header are 0 unless it ends a transaction. */
static bool ends_transaction(const char *header)
{
    static const char zero[4];
    return memcmp(header + 4, zero, sizeof zero) != 0;
}

int log_buffer_flush(struct log_buffer *b, sqlite3_file *file)
{
    size_t len = b->len;
    b->len = 0; /* also when it fails: SQLite gives the transaction up, and writes it anew */
    return len == 0 ? SQLITE_OK : b->real->xWrite(file, b->bytes, (int)len, b->at);
}

int log_buffer_write(struct log_buffer *b, sqlite3_file *file, const void *bytes, int len,
                     sqlite3_int64 at)
{
    size_t room = BUFFER_BYTES - b->len;
    if (len == HEADER_BYTES)
        b->through = ends_transaction(bytes);
    if (b->through || (size_t)len > room || at != b->at + (sqlite3_int64)b->len) {
        int code = log_buffer_flush(b, file);
        if (code != SQLITE_OK)
            return code;
    }
    if (b->through || len > BUFFER_BYTES)
        return b->real->xWrite(file, bytes, len, at);
    if (b->bytes == NULL)
        b->bytes = mem_new(BUFFER_BYTES);
    if (b->len == 0)
        b->at = at;
    memcpy(b->bytes + b->len, bytes, (size_t)len);
    b->len += (size_t)len;
    return SQLITE_OK;
}

void log_buffer_free(struct log_buffer *b)
{
    free(b->bytes);
    *b = (struct log_buffer){0};
}

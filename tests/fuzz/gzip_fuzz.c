/* Bytes from strangers that say they are gzip: what is unpacked never exceeds the limit, and what
 * was unpacked packs and unpacks to the same. */
#include "fuzz.h"
#include "wire/zip/gzip.h"

#include <stdlib.h>

enum { PLAIN_BYTES_MAX = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(buf_free) struct buf plain = BUF(PLAIN_BYTES_MAX);
    CLEANUP(buf_free) struct buf packed = {0};
    CLEANUP(buf_free) struct buf again = BUF(PLAIN_BYTES_MAX);
    struct err err;
    enum rc rc = gzip_unpack(str_of((const char *)data, size), &plain, &err);
    if (plain.len > PLAIN_BYTES_MAX || (rc == RC_TOO_LARGE && plain.len < PLAIN_BYTES_MAX))
        abort();
    if (rc != RC_OK || !gzip_pack(buf_str(&plain), &packed))
        return 0;
    if (gzip_unpack(buf_str(&packed), &again, &err) != RC_OK ||
        !str_eq(buf_str(&again), buf_str(&plain)))
        abort();
    return 0;
}

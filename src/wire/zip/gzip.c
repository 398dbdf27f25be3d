#include "wire/zip/gzip.h"

#include <limits.h>
#include <zlib.h>

enum {
    LEVEL = 1,             /* the next ones cost twice as much and save a tenth */
    WINDOW_BITS = 15 + 16, /* 16 more: gzip's own head and foot */
    MEM_LEVEL = 8,         /* zlib's default */
    STEP_BYTES = 64 << 10, /* by which the result grows */
};

/* zlib only reads through the pointer; its type cannot say so. */
static Bytef *readable(struct str text)
{
    union {
        const char *in;
        Bytef *out;
    } ptr = {.in = text.ptr};
    return ptr.out;
}

bool gzip_pack(struct str plain, struct buf *ret_packed)
{
    z_stream z = {.next_in = readable(plain), .avail_in = (uInt)plain.len};
    if (plain.len > INT_MAX ||
        deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_BITS, MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    *ret_packed = BUF(plain.len); /* what does not fit is not shorter */
    z.next_out = (Bytef *)buf_reserve(ret_packed, plain.len);
    z.avail_out = (uInt)plain.len;
    bool done = z.next_out != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END;
    ret_packed->len = done ? plain.len - z.avail_out : 0;
    (void)deflateEnd(&z);
    return done;
}

/* Up to the end of a member, or of the room that there may be. */
static int inflate_member(z_stream *z, struct buf *plain)
{
    for (;;) {
        size_t left = plain->max - plain->len;
        size_t step = left < STEP_BYTES ? left : STEP_BYTES;
        char one; /* beyond the maximum, to find out whether there is more */
        char *to = step > 0 ? buf_reserve(plain, step) : &one;
        z->next_out = (Bytef *)to;
        z->avail_out = step > 0 ? (uInt)step : 1;
        uInt room = z->avail_out;
        int status = inflate(z, Z_NO_FLUSH);
        size_t got = room - z->avail_out;
        if (step == 0 && got > 0) {
            plain->overflow = true;
            return Z_BUF_ERROR;
        }
        plain->len += got;
        if (status != Z_OK)
            return status;
    }
}

static int inflate_all(z_stream *z, struct buf *plain)
{
    int status;
    do {
        status = inflate_member(z, plain);
    } while (status == Z_STREAM_END && z->avail_in > 0 && inflateReset(z) == Z_OK);
    return status;
}

enum rc gzip_unpack(struct str packed, struct buf *ret_plain, struct err *err)
{
    z_stream z = {.next_in = readable(packed), .avail_in = (uInt)packed.len};
    if (packed.len > INT_MAX)
        return err_set(err, RC_TOO_LARGE, "%zu bytes of gzip are too many", packed.len);
    if (inflateInit2(&z, WINDOW_BITS) != Z_OK)
        return err_set(err, RC_BUSY, "no memory to unpack gzip");
    int status = inflate_all(&z, ret_plain);
    (void)inflateEnd(&z);
    if (ret_plain->overflow)
        return err_set(err, RC_TOO_LARGE, "it has more than %zu bytes when it is unpacked",
                       ret_plain->max);
    if (status == Z_STREAM_END)
        return RC_OK;
    return err_set(err, RC_INVALID, "it is %s",
                   status == Z_BUF_ERROR ? "gzip that is cut off" : "no gzip, or damaged");
}

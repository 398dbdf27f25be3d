/* A frame has one form only: what is accepted prints to the very bytes that were read. */
#include "fuzz.h"
#include "wire/http/log_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(buf_free) struct buf out = BUF(64 << 20);
    struct str rest = fuzz_text(data, size);
    struct err err;
    while (rest.len > 0) {
        struct str before = rest;
        struct log_chunk chunk;
        if (log_frame_next(&rest, &chunk, &err))
            break;
        buf_clear(&out);
        log_frame_print(&out, &chunk);
        assert(str_eq(buf_str(&out), str_of(before.ptr, before.len - rest.len)));
    }
    return 0;
}

/* A stream of events is heard the same whole and in pieces. */
#include "fuzz.h"
#include "wire/http/sse.h"

static void note(void *arg, const struct sse_event *event)
{
    assert(event->event.len > 0);
    sse_print(arg, event->id, event->event, event->data);
}

static enum rc hear(struct str stream, size_t piece, struct buf *heard)
{
    CLEANUP(sse_reader_free) struct sse_reader reader = sse_reader(64);
    while (stream.len > 0) {
        size_t len = stream.len < piece ? stream.len : piece;
        TRY(sse_feed(&reader, str_of(stream.ptr, len), note, heard, NULL));
        stream = str_from(stream, len);
    }
    return RC_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(buf_free) struct buf whole = BUF(64 << 20);
    CLEANUP(buf_free) struct buf pieces = BUF(64 << 20);
    struct str stream = fuzz_text(data, size);
    enum rc rc = hear(stream, SIZE_MAX, &whole);
    enum rc rc_pieces = hear(stream, 1, &pieces);
    assert(rc == rc_pieces && str_eq(buf_str(&whole), buf_str(&pieces)));
    return 0;
}

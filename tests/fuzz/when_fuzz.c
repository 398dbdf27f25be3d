/* A moment or duration that is accepted reads the same in its canonical form. */
#include "base/when.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = fuzz_text(data, size);
    char again[WHEN_TEXT_MAX];
    struct err err;
    int64_t ms;
    int64_t back;
    if (when_parse(text, &ms, &err) == RC_OK) {
        assert(ms >= WHEN_MIN_MS && ms <= WHEN_MAX_MS);
        enum rc rc = when_parse(when_format(again, ms), &back, &err);
        assert(rc == RC_OK && back == ms);
    }
    if (duration_parse(text, &ms, &err) == RC_OK) {
        assert(ms >= 0);
        enum rc rc = duration_parse(duration_format(again, ms), &back, &err);
        assert(rc == RC_OK && back == ms);
    }
    return 0;
}

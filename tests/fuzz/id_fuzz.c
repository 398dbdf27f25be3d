/* An id has one form only, too. */
#include "base/id.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const prefixes[] = {ID_JOB, ID_EXEC, ID_WORKER, ID_KEY};
    struct str text = fuzz_text(data, size);
    char again[ID_TEXT_MAX];
    struct err err;
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        uint64_t id;
        if (id_parse(text, prefixes[i], &id, &err))
            continue;
        assert(id <= INT64_MAX && id_bucket(id) < ID_BUCKETS);
        assert(str_eq(id_format(again, prefixes[i], id), text));
    }
    return 0;
}

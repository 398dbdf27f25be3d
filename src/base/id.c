#include "base/id.h"

#include <assert.h>
#include <string.h>

enum { SEQUENCE_BITS = ID_BUCKET_SHIFT, BUCKET_BITS = 10 };

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

uint64_t id_next(struct id_gen *gen, int64_t now_ms, uint32_t bucket)
{
    assert(bucket < ID_BUCKETS);
    int64_t ms = now_ms - ID_EPOCH_MS;
    if (ms > gen->last_ms) {
        gen->last_ms = ms;
        gen->sequence = 0;
    } else if (gen->sequence < ID_SEQUENCE_MAX && bucket >= gen->bucket) {
        gen->sequence++;
    } else {
        gen->last_ms++;
        gen->sequence = 0;
    }
    gen->bucket = bucket;
    return (uint64_t)gen->last_ms << (SEQUENCE_BITS + BUCKET_BITS) |
           (uint64_t)bucket << SEQUENCE_BITS | gen->sequence;
}

uint64_t id_newest(const struct id_gen *gen)
{
    return (uint64_t)gen->last_ms << (SEQUENCE_BITS + BUCKET_BITS) |
           (uint64_t)gen->bucket << SEQUENCE_BITS | gen->sequence;
}

void id_raise_floor(struct id_gen *gen, uint64_t floor)
{
    int64_t ms = (int64_t)(floor >> (SEQUENCE_BITS + BUCKET_BITS));
    if (ms >= gen->last_ms) {
        gen->last_ms = ms;
        gen->sequence = ID_SEQUENCE_MAX;
    }
}

uint32_t id_bucket(uint64_t id)
{
    return (uint32_t)(id >> SEQUENCE_BITS) & (ID_BUCKETS - 1);
}

int64_t id_time_ms(uint64_t id)
{
    return (int64_t)(id >> (SEQUENCE_BITS + BUCKET_BITS)) + ID_EPOCH_MS;
}

struct str id_format(char *ret_text, const char *prefix, uint64_t id)
{
    size_t len = strlen(prefix);
    assert(len + ID_DIGITS < ID_TEXT_MAX);
    memcpy(ret_text, prefix, len);
    for (size_t i = 0; i < ID_DIGITS; i++)
        ret_text[len + i] = digits[id >> (5 * (ID_DIGITS - 1 - i)) & 31];
    ret_text[len + ID_DIGITS] = '\0';
    return str_of(ret_text, len + ID_DIGITS);
}

enum rc id_parse(struct str text, const char *prefix, uint64_t *ret_id, struct err *err)
{
    struct str want = str_c(prefix);
    uint64_t id = 0;
    if (!str_starts(text, want) || text.len != want.len + ID_DIGITS)
        goto bad;
    for (size_t i = want.len; i < text.len; i++) {
        const char *digit = text.ptr[i] == '\0' ? NULL : strchr(digits, text.ptr[i]);
        if (digit == NULL || id >> 58 != 0) /* the sign bit must stay clear */
            goto bad;
        id = id << 5 | (uint64_t)(digit - digits);
    }
    *ret_id = id;
    return RC_OK;
bad:
    return err_set(err, RC_INVALID, "'%.*s' is not an id: expected %s and %d digits",
                   text.len > 64 ? 64 : (int)text.len, text.ptr, prefix, ID_DIGITS);
}

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

/* The number that text is; false when one of its characters is no digit. */
static bool read_digits(struct str text, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.ptr[i] == '\0' ? NULL : strchr(digits, text.ptr[i]);
        if (digit == NULL || value >> 58 != 0) /* the sign bit must stay clear */
            return false;
        value = value << 5 | (uint64_t)(digit - digits);
    }
    *ret_value = value;
    return true;
}

enum rc id_parse(struct str text, const char *prefix, uint64_t *ret_id, struct err *err)
{
    struct str want = str_c(prefix);
    if (str_starts(text, want) && text.len == want.len + ID_DIGITS &&
        read_digits(str_from(text, want.len), ret_id))
        return RC_OK;
    return err_set(err, RC_INVALID, "'%.*s' is not an id: expected %s and %d digits",
                   text.len > 64 ? 64 : (int)text.len, text.ptr, prefix, ID_DIGITS);
}

bool id_is_any(struct str text)
{
    static const char *const prefixes[] = {ID_JOB,   ID_EXEC,      ID_WORKER,   ID_KEY,
                                           ID_ALERT, ID_OPERATION, ID_SLA_EVENT};
    uint64_t ignored;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (id_parse(text, prefixes[i], &ignored, NULL) == RC_OK)
            return true;
    }
    return false;
}

/* Cuts it off the front. */
static bool take_text(struct str *text, struct str front)
{
    if (!str_starts(*text, front))
        return false;
    *text = str_from(*text, front.len);
    return true;
}

bool id_part_parse(struct str text, const char *prefix, struct id_part *ret_part)
{
    uint64_t value;
    bool is_begin = take_text(&text, str_c(prefix));
    bool is_end = take_text(&text, STR("…")) || take_text(&text, STR("..."));
    if ((!is_begin && !is_end) || text.len < ID_PART_DIGITS_MIN || text.len > ID_DIGITS ||
        !read_digits(text, &value))
        return false;
    unsigned missing = 5 * (unsigned)(ID_DIGITS - text.len);
    if (is_end)
        *ret_part = (struct id_part){
            .end = UINT64_C(1) << 63,
            .mask = missing == 0 ? UINT64_MAX >> 1 : (UINT64_C(1) << (5 * text.len)) - 1,
            .tail = value,
        };
    else if (value >> (63 - missing) != 0)
        return false; /* no id is as large */
    else
        *ret_part = (struct id_part){.min = value << missing, .end = (value + 1) << missing};
    return true;
}

#include "base/id.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum { SEQUENCE_BITS = ID_BUCKET_SHIFT, BUCKET_BITS = 10 };

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* What each of them is worth, and one more, so that 0 is no digit. */
/* clang-format off */
static const uint8_t worth[UCHAR_MAX + 1] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['g'] = 17, ['h'] = 18, ['j'] = 19, ['k'] = 20, ['m'] = 21, ['n'] = 22, ['p'] = 23, ['q'] = 24,
    ['r'] = 25, ['s'] = 26, ['t'] = 27, ['v'] = 28, ['w'] = 29, ['x'] = 30, ['y'] = 31, ['z'] = 32,
};
/* clang-format on */

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
        uint8_t digit = worth[(unsigned char)text.ptr[i]];
        if (digit == 0 || value >> 58 != 0) /* the sign bit must stay clear */
            return false;
        value = value << 5 | (uint64_t)(digit - 1);
    }
    *ret_value = value;
    return true;
}

static bool read_id(struct str text, struct str prefix, uint64_t *ret_id)
{
    return text.len == prefix.len + ID_DIGITS && str_starts(text, prefix) &&
           read_digits(str_from(text, prefix.len), ret_id);
}

enum rc id_parse(struct str text, const char *prefix, uint64_t *ret_id, struct err *err)
{
    if (read_id(text, str_c(prefix), ret_id))
        return RC_OK;
    return err_set(err, RC_INVALID, "'%.*s' is not an id: expected %s and %d digits",
                   text.len > 64 ? 64 : (int)text.len, text.ptr, prefix, ID_DIGITS);
}

bool id_is_any(struct str text)
{
    static const struct str prefixes[] = {
        STR_INIT(ID_JOB),   STR_INIT(ID_EXEC),      STR_INIT(ID_WORKER),    STR_INIT(ID_KEY),
        STR_INIT(ID_ALERT), STR_INIT(ID_OPERATION), STR_INIT(ID_SLA_EVENT), STR_INIT(ID_SILENCE),
    };
    uint64_t ignored;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (read_id(text, prefixes[i], &ignored))
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

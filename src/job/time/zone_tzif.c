/* zone_tzif.c - TZif files (RFC 9636). A file of version 2 and above is two of them and a footer:
 * the first, with times of 32 bits, is for readers of version 1 and is passed over. */
#include "base/mem.h"
#include "job/time/zone_table.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC STR("TZif")

enum {
    HEADER_BYTES = 44,
    TYPE_BYTES = 6, /* offset, daylight saving time or not, name */
    TYPES_MAX = 256,
    NAMES_MAX = 1 << 16,
    RULE_FROM_YEAR = 1900, /* when there is nothing but a rule */
};

/* How many there are of each, in the order of the header. */
struct counts {
    uint32_t is_ut;
    uint32_t is_std;
    uint32_t leaps;
    uint32_t times;
    uint32_t types;
    uint32_t name_bytes;
};

struct block {
    struct counts counts;
    size_t time_bytes; /* of one: 4 or 8 */
    struct str times;
    struct str kinds; /* of each time, a byte */
    struct str types;
};

static int64_t big_endian(const char *bytes, size_t len)
{
    uint64_t value = (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0; /* negative ones stay negative */
    for (size_t i = 0; i < len; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return (int64_t)value;
}

static enum rc take(struct str *rest, uint64_t bytes, struct str *ret_part, struct err *err)
{
    if (bytes > rest->len)
        return err_set(err, RC_CORRUPT, "the file is cut short: %" PRIu64 " bytes are missing",
                       bytes - rest->len);
    *ret_part = str_of(rest->ptr, (size_t)bytes);
    *rest = str_from(*rest, (size_t)bytes);
    return RC_OK;
}

static enum rc check_counts(const struct counts *c, struct err *err)
{
    if (c->types == 0 || c->types > TYPES_MAX)
        return err_set(err, RC_CORRUPT, "%" PRIu32 " types of local time, but it must be 1 to %d",
                       c->types, TYPES_MAX);
    if (c->name_bytes == 0 || c->name_bytes > NAMES_MAX)
        return err_set(err, RC_CORRUPT, "%" PRIu32 " bytes of names, but it must be 1 to %d",
                       c->name_bytes, NAMES_MAX);
    if ((c->is_ut != 0 && c->is_ut != c->types) || (c->is_std != 0 && c->is_std != c->types))
        return err_set(err, RC_CORRUPT, "the indicators do not go with the types of local time");
    return RC_OK;
}

static enum rc take_header(struct str *rest, char *ret_version, struct counts *ret_counts,
                           struct err *err)
{
    struct str head = *rest;
    struct str ignored;
    uint32_t numbers[6];
    TRY(take(rest, HEADER_BYTES, &ignored, err));
    if (!str_starts(head, MAGIC))
        return err_set(err, RC_CORRUPT, "this is no time zone file");
    *ret_version = head.ptr[4];
    if (*ret_version != 0 && *ret_version < '2')
        return err_set(err, RC_CORRUPT, "unknown version of time zone files");
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        numbers[i] = (uint32_t)big_endian(head.ptr + 20 + 4 * i, 4);
    *ret_counts =
        (struct counts){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    return RC_OK;
}

/* Counts have 32 bits each, so sums of 64 do not overflow. */
static enum rc take_block(struct str *rest, size_t time_bytes, struct block *b, struct err *err)
{
    const struct counts *c = &b->counts;
    struct str ignored;
    b->time_bytes = time_bytes;
    TRY(take(rest, (uint64_t)c->times * time_bytes, &b->times, err));
    TRY(take(rest, c->times, &b->kinds, err));
    TRY(take(rest, (uint64_t)c->types * TYPE_BYTES, &b->types, err));
    return take(rest,
                c->name_bytes + (uint64_t)c->leaps * (time_bytes + 4) + c->is_std +
                    (uint64_t)c->is_ut,
                &ignored, err);
}

static int64_t time_of(const struct block *b, size_t i)
{
    return big_endian(b->times.ptr + i * b->time_bytes, b->time_bytes);
}

static int32_t offset_of(const struct block *b, size_t type)
{
    return (int32_t)big_endian(b->types.ptr + type * TYPE_BYTES, 4);
}

static enum rc check_block(const struct block *b, struct err *err)
{
    TRY(check_counts(&b->counts, err));
    if (b->counts.leaps > 0)
        return err_set(err, RC_CORRUPT, "it counts leap seconds, which nothing here does");
    for (size_t i = 0; i < b->counts.types; i++) {
        int32_t offset_s = offset_of(b, i);
        if (offset_s < ZONE_OFFSET_MIN_S || offset_s > ZONE_OFFSET_MAX_S)
            return err_set(err, RC_CORRUPT, "an offset of %" PRId32 " seconds", offset_s);
    }
    for (size_t i = 0; i < b->counts.times; i++) {
        if ((unsigned char)b->kinds.ptr[i] >= b->counts.types)
            return err_set(err, RC_CORRUPT, "change %zu is to a type that is not there", i + 1);
        if (i > 0 && time_of(b, i) <= time_of(b, i - 1))
            return err_set(err, RC_CORRUPT, "change %zu is not after the one before", i + 1);
    }
    return RC_OK;
}

/* A change before the year 0 is the beginning, and changes after 9999 are of no use. */
static void add_changes(struct zone *zone, const struct block *b)
{
    zone->first_offset_s = offset_of(b, 0);
    for (size_t i = 0; i < b->counts.times; i++) {
        int32_t offset_s = offset_of(b, (unsigned char)b->kinds.ptr[i]);
        int64_t at_s = time_of(b, i);
        if (at_s < ZONE_MIN_S)
            zone->first_offset_s = offset_s;
        else if (at_s < ZONE_MAX_S)
            zone_add(zone, at_s, offset_s);
    }
}

/* "\nCET-1CEST,M3.5.0,M10.5.0/3\n"; nothing between the two when nobody knows the future. */
static enum rc take_footer(struct str *rest, struct zone_rule *ret_rule, struct err *err)
{
    struct str text = str_from(*rest, 1);
    *ret_rule = (struct zone_rule){0};
    if (rest->len < 2 || rest->ptr[0] != '\n' || str_index(text, '\n') == text.len)
        return err_set(err, RC_CORRUPT, "the footer is missing");
    text.len = str_index(text, '\n');
    return text.len == 0 ? RC_OK : zone_rule_parse(text, ret_rule, err);
}

static void build(struct zone *zone, const struct block *b, const struct zone_rule *rule)
{
    int64_t after_s = date_to_days(RULE_FROM_YEAR, 1, 1) * 86400;
    add_changes(zone, b);
    /* Changes of the name only are not in the table, but the rule still begins behind them. */
    if (b->counts.times > 0)
        after_s = time_of(b, b->counts.times - 1);
    if (after_s < ZONE_MIN_S)
        after_s = ZONE_MIN_S;
    if (after_s < ZONE_MAX_S)
        zone_rule_extend(rule, zone, after_s);
}

enum rc zone_parse(struct str bytes, struct zone **ret_zone, struct err *err)
{
    struct str rest = bytes;
    struct block block = {0};
    struct zone_rule rule = {0};
    char version = 0;
    char again;
    if (bytes.len > ZONE_BYTES_MAX)
        return err_set(err, RC_CORRUPT, "more than %d bytes", ZONE_BYTES_MAX);
    TRY(take_header(&rest, &version, &block.counts, err));
    TRY(take_block(&rest, 4, &block, err));
    if (version != 0) {
        TRY(take_header(&rest, &again, &block.counts, err));
        TRY(take_block(&rest, 8, &block, err));
    }
    TRY(check_block(&block, err));
    if (version != 0)
        TRY(take_footer(&rest, &rule, err));
    struct zone *zone = zone_new(0);
    build(zone, &block, &rule);
    *ret_zone = zone;
    return RC_OK;
}

/* tzif_test.h - TZif files made by hand, for tests that must not depend on the system's.
 *
 * `tzif_zone` makes a zone of nothing but a footer, which is a rule in POSIX form:
 * "CET-1CEST,M3.5.0,M10.5.0/3". */
#pragma once
#include "base/buf.h"
#include "base/test/test.h"
#include "job/time/zone.h"

struct tzif {
    char version; /* 0, '2', '3' or '4' */
    const int64_t *times;
    const uint8_t *kinds; /* of each time: which of the offsets */
    size_t time_count;
    const int32_t *offsets;
    size_t offset_count;
    uint32_t leaps;
    const char *footer; /* NULL: none at all */
};

static inline void tzif_add(struct buf *out, int64_t value, size_t bytes)
{
    for (size_t i = bytes; i-- > 0;)
        buf_add_char(out, i < 8 ? (char)((uint64_t)value >> (8 * i)) : 0);
}

static inline void tzif_add_block(struct buf *out, const struct tzif *t, size_t time_bytes)
{
    buf_add(out, STR("TZif"));
    buf_add_char(out, t->version);
    tzif_add(out, 0, 15);
    const size_t counts[] = {0, 0, t->leaps, t->time_count, t->offset_count, 4};
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        tzif_add(out, (int64_t)counts[i], 4);
    for (size_t i = 0; i < t->time_count; i++)
        tzif_add(out, t->times[i], time_bytes);
    for (size_t i = 0; i < t->time_count; i++)
        tzif_add(out, t->kinds[i], 1);
    for (size_t i = 0; i < t->offset_count; i++) {
        tzif_add(out, t->offsets[i], 4);
        tzif_add(out, 0, 2);
    }
    buf_add(out, str_of("LMT", 4));
    for (size_t i = 0; i < t->leaps; i++)
        tzif_add(out, 0, time_bytes + 4);
}

/* The bytes of the whole file. */
static inline void tzif_print(struct buf *out, const struct tzif *t)
{
    static const int32_t zero = 0;
    const struct tzif old = {.version = t->version, .offsets = &zero, .offset_count = 1};
    if (t->version == 0) {
        tzif_add_block(out, t, 4);
        return;
    }
    tzif_add_block(out, &old, 4); /* what readers of version 1 get: as little as allowed */
    tzif_add_block(out, t, 8);
    if (t->footer != NULL)
        buf_printf(out, "\n%s\n", t->footer);
}

static inline struct zone *tzif_zone_of(const struct tzif *t)
{
    CLEANUP(buf_free) struct buf bytes = BUF(1 << 20);
    struct zone *zone = NULL;
    struct err err = {0};
    tzif_print(&bytes, t);
    if (zone_parse(buf_str(&bytes), &zone, &err))
        fail_msg("%s", err.text);
    return zone;
}

static inline struct zone *tzif_zone(const char *footer)
{
    static const int32_t zero = 0;
    return tzif_zone_of(
        &(struct tzif){.version = '3', .offsets = &zero, .offset_count = 1, .footer = footer});
}

#include "base/mem.h"
#include "job/time/zone_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct zone *zone_new(int32_t first_offset_s)
{
    struct zone *zone = MEM_NEW(struct zone);
    zone->first_offset_s = first_offset_s;
    zone->cycle_from_s = ZONE_EVER_S;
    return zone;
}

void zone_free(struct zone *zone)
{
    if (zone == NULL)
        return;
    free(zone->at_s);
    free(zone->offset_s);
    free(zone);
}

const struct zone *zone_copy(const struct zone *zone, struct arena *arena)
{
    struct zone *copy = ARENA_NEW(arena, struct zone);
    *copy = *zone;
    copy->cap = zone->count;
    copy->at_s = ARENA_ARRAY(arena, int64_t, zone->count);
    copy->offset_s = ARENA_ARRAY(arena, int32_t, zone->count);
    if (zone->count > 0) {
        memcpy(copy->at_s, zone->at_s, zone->count * sizeof *zone->at_s);
        memcpy(copy->offset_s, zone->offset_s, zone->count * sizeof *zone->offset_s);
    }
    return copy;
}

const struct zone *zone_utc(void)
{
    static const struct zone utc = {.cycle_from_s = ZONE_EVER_S};
    return &utc;
}

void zone_add(struct zone *zone, int64_t at_s, int32_t offset_s)
{
    assert(zone->count == 0 || at_s >= zone->at_s[zone->count - 1]);
    if (zone->count > 0 && zone->at_s[zone->count - 1] == at_s)
        zone->count--;
    int32_t before_s = zone->count > 0 ? zone->offset_s[zone->count - 1] : zone->first_offset_s;
    if (offset_s == before_s)
        return;
    if (zone->count == zone->cap) {
        zone->cap = zone->cap == 0 ? 64 : zone->cap * 2;
        zone->at_s = mem_resize(zone->at_s, zone->cap * sizeof *zone->at_s);
        zone->offset_s = mem_resize(zone->offset_s, zone->cap * sizeof *zone->offset_s);
    }
    zone->at_s[zone->count] = at_s;
    zone->offset_s[zone->count++] = offset_s;
}

/* How many changes there are at or before at_s. */
static size_t changes_until(const struct zone *zone, int64_t at_s)
{
    const int64_t *first = zone->at_s;
    size_t count = zone->count;
    while (count > 0) {
        size_t half = count / 2;
        bool right = first[half] <= at_s;
        first = right ? first + half + 1 : first;
        count = right ? count - half - 1 : half;
    }
    return (size_t)(first - zone->at_s);
}

struct zone_span zone_span(const struct zone *zone, int64_t at_s)
{
    int64_t shift_s = 0;
    if (zone->count == 0)
        return (struct zone_span){-ZONE_EVER_S, ZONE_EVER_S, zone->first_offset_s};
    if (at_s >= zone->cycle_from_s)
        shift_s = (at_s - zone->cycle_from_s) / ZONE_CYCLE_S * ZONE_CYCLE_S;
    size_t i = changes_until(zone, at_s - shift_s);
    return (struct zone_span){
        .begin_s = i > 0 ? zone->at_s[i - 1] + shift_s : -ZONE_EVER_S,
        .end_s = i < zone->count ? zone->at_s[i] + shift_s : ZONE_EVER_S,
        .offset_s = i > 0 ? zone->offset_s[i - 1] : zone->first_offset_s,
    };
}

/* Offsets are bounded, so only what lies between these two can show local_s; usually that is a
 * single stretch. */
struct zone_moments zone_from_local(const struct zone *zone, int64_t local_s)
{
    struct zone_moments found = {.fit = ZONE_GAP};
    struct zone_span span = zone_span(zone, local_s - ZONE_OFFSET_MAX_S);
    bool has_gap = false;
    for (;;) {
        int64_t at_s = local_s - span.offset_s;
        if (at_s >= span.begin_s && at_s < span.end_s) {
            found.first_s = found.fit == ZONE_GAP ? at_s : found.first_s;
            found.fit = found.fit == ZONE_GAP ? ZONE_ONCE : ZONE_FOLD;
            found.last_s = at_s;
        }
        if (span.end_s > local_s - ZONE_OFFSET_MIN_S)
            return found;
        struct zone_span next = zone_span(zone, span.end_s);
        bool jumps =
            span.end_s + span.offset_s <= local_s && local_s < next.begin_s + next.offset_s;
        if (jumps && !has_gap && found.fit == ZONE_GAP) {
            has_gap = true; /* counts only if it is the hour at no other moment */
            found.first_s = found.last_s = next.begin_s;
        }
        span = next;
    }
}

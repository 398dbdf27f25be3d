/* Bytes that are accepted as a zone make one whose stretches follow each other, and in which every
 * expression goes on: a hostile file may tell nonsense about the time, but it stops nobody. */
#include "fuzz.h"
#include "job/time/cron.h"

enum { WALK = 50 };

static void check_spans(const struct zone *zone, int64_t at_s)
{
    struct zone_span span = zone_span(zone, at_s);
    for (int i = 0; i < WALK && span.end_s < ZONE_EVER_S; i++) {
        struct zone_span next = zone_span(zone, span.end_s);
        assert(span.begin_s < span.end_s && next.begin_s == span.end_s);
        assert(next.offset_s >= ZONE_OFFSET_MIN_S && next.offset_s <= ZONE_OFFSET_MAX_S);
        struct zone_moments found = zone_from_local(zone, next.begin_s + next.offset_s);
        assert(found.fit != ZONE_GAP && found.first_s <= next.begin_s &&
               found.last_s >= next.begin_s);
        span = next;
    }
}

static void check_cron(const struct zone *zone, const char *text, int64_t from_s)
{
    struct cron cron;
    struct str ignored;
    struct cron_options options = {0};
    enum rc rc = cron_parse(str_c(text), &options, &cron, &ignored, NULL);
    assert(rc == RC_OK);
    for (int rules = 0; rules < 6; rules++) {
        struct cron_clock clock = {zone, (enum cron_gap)(rules % 2), (enum cron_fold)(rules / 2)};
        struct cron_slot slot = cron_from(from_s);
        struct cron_slot next;
        for (int i = 0; i < WALK && cron_next(&cron, &clock, &slot, &next); i++) {
            assert(next.at_s > slot.at_s);
            assert(cron_count(&cron, &clock, &slot, next.at_s) == 1);
            slot = next;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zone *zone = NULL;
    struct err err = {0};
    if (zone_parse(fuzz_text(data, size), &zone, &err)) {
        assert(err.text[0] != '\0' && zone == NULL);
        return 0;
    }
    static const int64_t starts_s[] = {ZONE_MIN_S, -2000000000, 0, 1774656000, 4102444800};
    for (size_t i = 0; i < COUNT_OF(starts_s); i++) {
        check_spans(zone, starts_s[i]);
        check_cron(zone, "*/20 * * * *", starts_s[i]);
        check_cron(zone, "0,30 1-3 * * *", starts_s[i]);
    }
    zone_free(zone);
    return 0;
}

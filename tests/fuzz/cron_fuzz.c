/* An expression that is accepted has words, comes, and comes again later; counting agrees with
 * walking. The first byte chooses the zone, the rules, and whether there are seconds. */
#include "fuzz.h"
#include "job/time/cron.h"
#include "job/time/schedule.h"

#include <stdlib.h>

enum { WALK = 20 };

/* Three zones of nothing but a rule: an hour, half an hour, and an odd one that changes at midnight. */
static struct zone *zones[3];

static struct zone *rule_zone(const char *rule)
{
    CLEANUP(buf_free) struct buf bytes = BUF(1 << 10);
    struct zone *zone = NULL;
    static const char block[] = "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4"
                                "\0\0\0\0\0\0UTC";
    buf_add(&bytes, str_of(block, sizeof block));
    buf_add(&bytes, str_of(block, sizeof block));
    buf_printf(&bytes, "\n%s\n", rule);
    enum rc rc = zone_parse(buf_str(&bytes), &zone, NULL);
    assert(rc == RC_OK);
    return zone;
}

static void walk(const struct cron *cron, const struct cron_clock *clock, int64_t from_s)
{
    struct cron_slot start = cron_from(from_s);
    struct cron_slot slot = start;
    for (uint64_t count = 1; count <= WALK; count++) {
        struct cron_slot next;
        if (!cron_next(cron, clock, &slot, &next))
            return;
        assert(next.at_s > slot.at_s);
        assert(cron->real_time || next.again || next.nominal_s > slot.nominal_s);
        assert(cron_count(cron, clock, &start, next.at_s) == count);
        assert(cron_count(cron, clock, &start, next.at_s - 1) == count - 1);
        slot = next;
    }
}

static void check_words(const struct cron *cron)
{
    CLEANUP(buf_free) struct buf words = BUF(1 << 16);
    cron_text(cron, &words);
    assert(words.len > 0 && !words.overflow && str_is_utf8(buf_str(&words)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cron cron;
    struct str zone_name;
    struct err err = {0};
    uint8_t choice = size > 0 ? data[0] : 0;
    struct cron_options options = {.seconds = (choice & 1) != 0, .name = STR("fuzz")};
    if (zones[0] == NULL) {
        zones[0] = rule_zone("CET-1CEST,M3.5.0,M10.5.0/3");
        zones[1] = rule_zone("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");
        zones[2] = rule_zone("<-0250>2:50:10<-0150>,M9.1.6/24,M4.1.6/24");
    }
    struct str text = fuzz_text(data, size);
    if (cron_parse(size > 0 ? str_from(text, 1) : text, &options, &cron, &zone_name, &err)) {
        assert(err.text[0] != '\0');
        return 0;
    }
    check_words(&cron);
    if (cron.every_ms > 0)
        return 0;
    struct cron_clock clock = {zones[choice / 2 % 3], (enum cron_gap)(choice / 8 % 2),
                               (enum cron_fold)(choice / 16 % 3)};
    walk(&cron, &clock,
         1774656000 + choice * INT64_C(3600)); /* 28 March 2026, and the days behind */
    walk(&cron, &clock, 1792800000 + choice * INT64_C(600)); /* 24 October */
    return 0;
}

/* A file that is accepted becomes a calendar whose tables are in order, and which says the same about
 * a moment however it is asked: what is covered is covered up to where it says, and not there. */
#include "fuzz.h"
#include "job/time/ical.h"

/* Two zones of nothing but a rule. */
static struct zone *zones[2];

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

static const struct zone *find_zone(void *arg, struct str name)
{
    (void)arg;
    return name.len == 0 || name.ptr[0] == '?' ? NULL : zones[name.len % 2];
}

static void check_table(const struct calendar_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        assert(table->spans[i].begin_s < table->spans[i].end_s);
        assert(i == 0 || table->spans[i - 1].end_s < table->spans[i].begin_s);
    }
}

static void ask(const struct calendar *calendar, int64_t at_s)
{
    int64_t until_s;
    int64_t again_s;
    if (!calendar_covers(calendar, zones[0], at_s, &until_s)) {
        assert(until_s == at_s);
        return;
    }
    assert(until_s > at_s);
    assert(calendar_covers(calendar, zones[0], until_s - 1, &again_s));
    assert(calendar_covers(calendar, zones[0], at_s + (until_s - at_s) / 2, &again_s));
    assert(again_s >= until_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct calendar_draft draft = {.arena = &arena};
    struct ical_facts facts;
    struct err err = {0};
    if (zones[0] == NULL) {
        zones[0] = rule_zone("CET-1CEST,M3.5.0,M10.5.0/3");
        zones[1] = rule_zone("<-0250>2:50:10<-0150>,M9.1.6/24,M4.1.6/24");
    }
    const struct ical_zones finder = {.find = find_zone};
    if (ical_read(fuzz_text(data, size), &finder, &draft, &facts, &err)) {
        assert(err.text[0] != '\0');
        return 0;
    }
    assert(facts.warnings.len <= facts.warning_count && facts.warnings.len <= ICAL_WARNINGS_MAX);
    CLEANUP(arena_free) struct arena other = {0};
    struct calendar calendar = calendar_make(&draft);
    calendar = calendar_copy(&calendar, &other);
    arena_reset(&arena); /* nothing of it is needed any more */
    check_table(&calendar.local);
    check_table(&calendar.moments);
    for (int64_t year = 1950; year < 2100; year += 9) /* some day of each */
        ask(&calendar, (year - 1970) * INT64_C(31556952) + (int64_t)size * 7919);
    for (size_t i = 0; i < calendar.rule_count && i < 20; i++)
        ask(&calendar, calendar.rules[i].start_s);
    return 0;
}

/* A calendar document that is accepted becomes tables that are in order, and agrees with itself. */
#include "fuzz.h"
#include "wire/message/calendar_json.h"

static void check_table(const struct calendar_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        assert(table->spans[i].begin_s < table->spans[i].end_s);
        assert(i == 0 || table->spans[i - 1].end_s < table->spans[i].begin_s);
    }
}

/* Every entry covers its beginning, up to its end at least; what comes before the first does not. */
static void check_covers(const struct calendar *calendar, const struct calendar_table *table)
{
    int64_t until_s;
    for (size_t i = 0; i < table->count && i < 20; i++) {
        bool covered = calendar_covers(calendar, zone_utc(), table->spans[i].begin_s, &until_s);
        assert(covered && until_s >= table->spans[i].end_s);
        covered = calendar_covers(calendar, zone_utc(), table->spans[i].end_s - 1, &until_s);
        assert(covered);
    }
}

static const struct zone *find_zone(void *arg, struct str name)
{
    (void)arg;
    return str_eq(name, STR("UTC")) ? zone_utc() : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct field_errors errors = {.count = 0};
    const struct ical_zones zones = {.find = find_zone};
    struct almanac almanac;
    struct ical_facts facts;
    struct json doc;
    if (json_parse(fuzz_text(data, size), &arena, &doc, NULL))
        return 0;
    if (calendar_parse(&doc, &zones, &arena, &almanac, &facts, &errors)) {
        assert(errors.count > 0);
        return 0;
    }
    struct calendar calendar = almanac.calendar;
    check_table(&calendar.local);
    check_table(&calendar.moments);
    check_table(&calendar.weekly);
    check_covers(&calendar, &calendar.local);
    check_covers(&calendar, &calendar.moments);
    return 0;
}

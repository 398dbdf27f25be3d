/* The next firing, as cron_next finds it, against a walk that tries every minute.
 *
 * For a change of the clock in some zone, a random expression and random rules, the walk looks at
 * every minute (every second, where seconds matter) of the days around it, asks the offset there,
 * takes the date apart with the C library, and compares it with the expression in the plainest way
 * there is. It shares nothing with the code it checks but the offsets, which zones_libc_test has
 * compared with the C library's. What fires, for which nominal time, and how much of it must agree
 * from a random start on.
 *
 * `make check` tries a sample; BELFRY_NIGHT=1 (`make night`) every change of every zone from 1970 to
 * 2037. */
#include "job/time/cron.h"

#include "base/test/test.h"
#include "system_zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SAMPLES = 700,        /* changes that `make check` tries, by the minute */
    SAMPLES_SECONDS = 25, /* and by the second */
    DAY_S = 86400,
    NEAR_S = DAY_S,        /* what is compared: a day before and after the change */
    FAR_S = 5 * DAY_S / 2, /* what is walked: a day can be skipped, or come twice */
    ITEMS_MAX = 3,
    FROM_YEAR_S = 0,
};
#define TO_YEAR_S INT64_C(2145916800) /* 2038 */

static struct rng rng;
static struct system_zones all;

static unsigned below(unsigned n)
{
    return (unsigned)rng_below(&rng, n);
}

/* ---- random expressions, kept as what was meant */

enum item_kind { STAR, VALUE, RANGE, LAST, LAST_WORK, NEAR, NTH, LAST_WEEKDAY };

struct item {
    enum item_kind kind;
    int from;
    int to;
    int step;
};

struct field {
    int min;
    int max;
    struct item items[ITEMS_MAX];
    int count;
};

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

struct expression {
    struct field fields[FIELDS];
    bool seconds;
    char text[256];
    enum cron_gap gap;
    enum cron_fold fold;
};

static struct item random_item(int id, int min, int max)
{
    int from = min + (int)below((unsigned)(max - min + 1));
    int to = from + (int)below((unsigned)(max - from + 1));
    struct item item = {.kind = VALUE, .from = from, .to = to, .step = 1 + (int)below(5)};
    unsigned dice = below(8);
    if (dice == 0)
        item.kind = STAR;
    else if (dice <= 2)
        item.kind = RANGE;
    else if (id == DAY && dice == 3)
        item.kind = (enum item_kind[]){LAST, LAST_WORK, NEAR}[below(3)];
    else if (id == WEEKDAY && dice == 3)
        item.kind = (enum item_kind[]){NTH, LAST_WEEKDAY}[below(2)];
    if (item.kind == NTH)
        item.to = 1 + (int)below(5);
    return item;
}

static int print_item(char *to, size_t room, const struct item *item)
{
    static const char *const days[] = {"sun", "MON", "Tue", "WED", "THU", "FRI", "SAT"};
    switch (item->kind) {
    case STAR: return snprintf(to, room, item->step > 1 ? "*/%d" : "*", item->step);
    case VALUE: return snprintf(to, room, "%d", item->from);
    case RANGE: return snprintf(to, room, "%d-%d/%d", item->from, item->to, item->step);
    case LAST: return snprintf(to, room, "L");
    case LAST_WORK: return snprintf(to, room, "LW");
    case NEAR: return snprintf(to, room, "%dW", item->from);
    case NTH: return snprintf(to, room, "%s#%d", days[item->from], item->to);
    default: return snprintf(to, room, "%s%s", days[item->from], "L");
    }
}

/* Days are mostly stars, so that something fires within two days; hours are often near the change. */
static void random_expression(struct expression *e, bool seconds, int hour)
{
    static const int limits[FIELDS][2] = {{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}};
    static const unsigned stars[FIELDS] = {2, 4, 3,
                                           2, 2, 2}; /* one in this many is no plain star */
    size_t len = 0;
    e->seconds = seconds;
    e->gap = below(3) == 0 ? CRON_GAP_SKIP : CRON_GAP_AFTER;
    e->fold = (enum cron_fold)below(3);
    for (int id = seconds ? SECOND : MINUTE; id < FIELDS; id++) {
        struct field *f = &e->fields[id];
        f->min = limits[id][0];
        f->max = limits[id][1];
        f->count = 1 + (int)below(ITEMS_MAX);
        for (int i = 0; i < f->count; i++)
            f->items[i] = random_item(id, f->min, f->max);
        if (id == HOUR && below(2) == 0) {
            int near = (hour + 23 + (int)below(4)) % 24;
            f->items[0] = (struct item){.kind = VALUE, .from = near};
        }
        if (id >= DAY ? below(stars[id] + 2) > 0 : below(stars[id]) == 0) {
            f->count = 1;
            f->items[0] = (struct item){.kind = STAR, .step = 1};
        }
        for (int i = 0; i < f->count; i++) {
            len += (size_t)print_item(e->text + len, sizeof e->text - len, &f->items[i]);
            e->text[len++] = i + 1 < f->count ? ',' : ' ';
        }
    }
    e->text[len - 1] = '\0';
}

/* ---- what it means, the long way */

static int month_days(const struct tm *tm)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = tm->tm_year + 1900;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return lengths[tm->tm_mon] + (tm->tm_mon == 1 && leap);
}

static int weekday_of(const struct tm *tm, int mday)
{
    return (tm->tm_wday + (mday - tm->tm_mday) % 7 + 7) % 7;
}

static bool is_work(const struct tm *tm, int mday)
{
    return weekday_of(tm, mday) != 0 && weekday_of(tm, mday) != 6;
}

/* Outwards from the day: one back, one on, two back, two on. */
static int nearest_work(const struct tm *tm, int mday)
{
    for (int distance = 0;; distance++) {
        if (mday - distance >= 1 && is_work(tm, mday - distance))
            return mday - distance;
        if (mday + distance <= month_days(tm) && is_work(tm, mday + distance))
            return mday + distance;
    }
}

static bool item_matches(const struct item *item, const struct field *f, int value,
                         const struct tm *tm)
{
    int last = month_days(tm);
    switch (item->kind) {
    case STAR: return (value - f->min) % item->step == 0;
    case VALUE: return value == item->from;
    case RANGE:
        return value >= item->from && value <= item->to && (value - item->from) % item->step == 0;
    case LAST: return value == last;
    case LAST_WORK:
        while (!is_work(tm, last))
            last--;
        return value == last;
    case NEAR: return item->from <= last && value == nearest_work(tm, item->from);
    case NTH: return value == item->from && (tm->tm_mday - 1) / 7 + 1 == item->to;
    default: return value == item->from && tm->tm_mday + 7 > last;
    }
}

static bool field_matches(const struct expression *e, int id, int value, const struct tm *tm)
{
    const struct field *f = &e->fields[id];
    for (int i = 0; i < f->count; i++) {
        if (item_matches(&f->items[i], f, value, tm))
            return true;
    }
    return false;
}

static bool starts_with_star(const struct expression *e, int id)
{
    return e->fields[id].items[0].kind == STAR;
}

static bool matches(const struct expression *e, int64_t local_s)
{
    time_t at = (time_t)local_s;
    struct tm tm;
    gmtime_r(&at, &tm);
    if (e->seconds ? !field_matches(e, SECOND, tm.tm_sec, &tm) : tm.tm_sec != 0)
        return false;
    if (!field_matches(e, MINUTE, tm.tm_min, &tm) || !field_matches(e, HOUR, tm.tm_hour, &tm) ||
        !field_matches(e, MONTH, tm.tm_mon + 1, &tm))
        return false;
    bool day = field_matches(e, DAY, tm.tm_mday, &tm);
    bool weekday = field_matches(e, WEEKDAY, tm.tm_wday, &tm);
    return starts_with_star(e, DAY) || starts_with_star(e, WEEKDAY) ? day && weekday
                                                                    : day || weekday;
}

/* ---- the walk */

struct world {
    const struct zone *zone;
    int64_t begin_s; /* of what is walked, UTC */
    int64_t step_s;
    size_t steps;
    int64_t *local_s; /* at every step */
    bool *matches;    /* whether that local time does */
    /* The first and the last step, plus one, at which clocks show a local time; 0: at none. */
    uint32_t *first_step;
    uint32_t *last_step;
    size_t locals;
    struct cron_slot *slots;
    size_t slot_count;
};

static size_t step_of(const struct world *w, int64_t at_s)
{
    return (size_t)((at_s - w->begin_s) / w->step_s);
}

/* Where a local time stands in first_step and last_step. */
static size_t place_of(const struct world *w, int64_t local_s)
{
    return step_of(w, local_s + 2 * DAY_S);
}

/* Offsets and changes of odd seconds need a closer look. */
static int64_t step_size(const struct zone *zone, int64_t change_s, bool seconds)
{
    struct zone_span span = zone_span(zone, change_s - FAR_S);
    while (!seconds && span.begin_s < change_s + FAR_S) {
        if (span.offset_s % 60 != 0 || (span.end_s < ZONE_MAX_S && span.end_s % 60 != 0))
            return 1;
        if (span.end_s == ZONE_EVER_S)
            break;
        span = zone_span(zone, span.end_s);
    }
    return seconds ? 1 : 60;
}

static struct world world_around(const struct zone *zone, int64_t change_s,
                                 const struct expression *e)
{
    struct world w = {.zone = zone, .step_s = step_size(zone, change_s, e->seconds)};
    w.begin_s = (change_s - FAR_S) / w.step_s * w.step_s;
    w.steps = (size_t)(2 * FAR_S / w.step_s);
    w.local_s = calloc(w.steps, sizeof *w.local_s);
    w.matches = calloc(w.steps, sizeof *w.matches);
    w.slots = calloc(w.steps, sizeof *w.slots);
    w.locals = w.steps + (size_t)(4 * DAY_S / w.step_s);
    w.first_step = calloc(w.locals, sizeof *w.first_step);
    w.last_step = calloc(w.locals, sizeof *w.last_step);
    struct zone_span span = zone_span(zone, w.begin_s);
    for (size_t i = 0; i < w.steps; i++) {
        int64_t at_s = w.begin_s + (int64_t)i * w.step_s;
        if (at_s >= span.end_s)
            span = zone_span(zone, at_s);
        w.local_s[i] = at_s + span.offset_s;
        w.matches[i] = matches(e, w.local_s[i]);
        size_t place = place_of(&w, w.local_s[i]);
        w.last_step[place] = (uint32_t)i + 1;
        if (w.first_step[place] == 0)
            w.first_step[place] = (uint32_t)i + 1;
    }
    return w;
}

static void world_free(struct world *w)
{
    free(w->local_s);
    free(w->matches);
    free(w->first_step);
    free(w->last_step);
    free(w->slots);
}

/* The last promise that the jump before step i made impossible; false when there is none. */
static bool swallowed(const struct world *w, const struct expression *e, size_t i,
                      int64_t *ret_nominal_s)
{
    for (int64_t local_s = w->local_s[i] - w->step_s; local_s > w->local_s[i - 1];
         local_s -= w->step_s) {
        if (matches(e, local_s) && w->first_step[place_of(w, local_s)] == 0) {
            *ret_nominal_s = local_s;
            return true;
        }
    }
    return false;
}

static bool fires(const struct world *w, const struct expression *e, size_t i,
                  struct cron_slot *slot)
{
    bool real_time = starts_with_star(e, MINUTE) || starts_with_star(e, HOUR);
    int64_t local_s = w->local_s[i];
    *slot = (struct cron_slot){w->begin_s + (int64_t)i * w->step_s, local_s, false};
    bool jumps = local_s > w->local_s[i - 1] + w->step_s;
    if (!real_time && jumps && e->gap == CRON_GAP_AFTER && swallowed(w, e, i, &slot->nominal_s)) {
        if (w->matches[i])
            slot->nominal_s = local_s;
        return true;
    }
    if (!w->matches[i] || real_time)
        return w->matches[i];
    slot->again = w->first_step[place_of(w, local_s)] != i + 1;
    bool is_last = w->last_step[place_of(w, local_s)] == i + 1;
    return (e->fold != CRON_FOLD_FIRST || !slot->again) && (e->fold != CRON_FOLD_SECOND || is_last);
}

/* All that fires in the days that are compared. */
static void walk(struct world *w, const struct expression *e, int64_t change_s)
{
    for (size_t i = step_of(w, change_s - NEAR_S); i < step_of(w, change_s + NEAR_S); i++) {
        if (fires(w, e, i, &w->slots[w->slot_count]))
            w->slot_count++;
    }
}

/* ---- comparing */

static void fail_at(const struct system_zone *one, const struct expression *e, int64_t start_s,
                    const struct cron_slot *found, const struct cron_slot *wanted)
{
    fail_msg(
        "%s: '%s' (gap %d, fold %d) after %lld: found %lld for %lld (%d), wanted %lld for %lld "
        "(%d)",
        one->name, e->text, e->gap, e->fold, (long long)start_s, (long long)found->at_s,
        (long long)found->nominal_s, found->again, (long long)wanted->at_s,
        (long long)wanted->nominal_s, wanted->again);
}

static void compare(const struct system_zone *one, const struct expression *e,
                    const struct cron *cron, const struct world *w, int64_t change_s)
{
    const struct cron_clock clock = {w->zone, e->gap, e->fold};
    int64_t start_s = change_s - NEAR_S - 1 + (int64_t)below(NEAR_S);
    int64_t end_s = w->begin_s + (int64_t)step_of(w, change_s + NEAR_S) * w->step_s;
    struct cron_slot slot = cron_from(start_s);
    size_t i = 0;
    while (i < w->slot_count && w->slots[i].at_s <= start_s)
        i++;
    int64_t until_s = start_s + (int64_t)below((unsigned)(end_s - start_s));
    uint64_t count = 0;
    for (; i < w->slot_count; i++) {
        struct cron_slot found = {0};
        const struct cron_slot *wanted = &w->slots[i];
        bool real_time = cron->real_time;
        if (!cron_next(cron, &clock, &slot, &found) || found.at_s != wanted->at_s ||
            found.nominal_s != wanted->nominal_s || (!real_time && found.again != wanted->again))
            fail_at(one, e, slot.at_s, &found, wanted);
        count += found.at_s <= until_s;
        slot = found;
    }
    struct cron_slot beyond = {.at_s = end_s};
    if (cron_next(cron, &clock, &slot, &beyond) && beyond.at_s < end_s)
        fail_at(one, e, slot.at_s, &beyond, &(struct cron_slot){0});
    uint64_t counted = cron_count(
        cron, &clock, &(struct cron_slot){.at_s = start_s, .nominal_s = -ZONE_EVER_S}, until_s);
    if (counted != count)
        fail_msg("%s: '%s' (gap %d, fold %d): counted %llu from %lld to %lld, and there are %llu",
                 one->name, e->text, e->gap, e->fold, (unsigned long long)counted,
                 (long long)start_s, (long long)until_s, (unsigned long long)count);
}

/* The number of firings that were compared. */
static size_t try_change(const struct system_zone *one, int64_t change_s, bool seconds)
{
    struct expression e;
    struct cron cron;
    struct str zone_name;
    struct err err = {0};
    int64_t local_s = change_s + zone_span(one->zone, change_s).offset_s;
    random_expression(&e, seconds, (int)(((local_s / 3600) % 24 + 24) % 24));
    enum rc rc = cron_parse(str_c(e.text), &(struct cron_options){.seconds = seconds}, &cron,
                            &zone_name, &err);
    if (rc != RC_OK && strstr(err.text, "never comes") != NULL)
        return 0;
    if (rc != RC_OK)
        fail_msg("'%s': %s", e.text, err.text);
    struct world w = world_around(one->zone, change_s, &e);
    walk(&w, &e, change_s);
    compare(one, &e, &cron, &w, change_s);
    size_t count = w.slot_count;
    world_free(&w);
    return count;
}

/* ---- which changes */

/* The n-th change of a zone between 1970 and 2037; false when there are not so many. */
static bool change_of(const struct zone *zone, size_t n, int64_t *ret_at_s)
{
    struct zone_span span = zone_span(zone, FROM_YEAR_S);
    for (size_t i = 0; span.end_s < TO_YEAR_S; i++, span = zone_span(zone, span.end_s)) {
        *ret_at_s = span.end_s;
        if (i == n)
            return true;
    }
    return false;
}

static size_t count_changes(const struct zone *zone)
{
    size_t count = 0;
    int64_t ignored;
    while (change_of(zone, count, &ignored))
        count++;
    return count;
}

static size_t sample(size_t tries, bool seconds)
{
    size_t compared = 0;
    for (size_t i = 0; i < tries;) {
        const struct system_zone *one = &all.all.items[below((unsigned)all.all.len)];
        size_t changes = count_changes(one->zone);
        int64_t change_s;
        if (changes == 0 || !change_of(one->zone, below((unsigned)changes), &change_s))
            continue;
        compared += try_change(one, change_s, seconds);
        i++;
    }
    return compared;
}

static size_t try_all(void)
{
    size_t compared = 0;
    for (size_t i = 0; i < all.all.len; i++) {
        int64_t change_s;
        for (size_t n = 0; change_of(all.all.items[i].zone, n, &change_s); n++) {
            compared += try_change(&all.all.items[i], change_s, false);
            compared += try_change(&all.all.items[i], change_s, n % 20 == 0);
        }
    }
    return compared;
}

static bool is_night(void)
{
    const char *night = getenv("BELFRY_NIGHT");
    return night != NULL && strcmp(night, "1") == 0;
}

TEST(around_every_change_the_walk_finds_the_same)
{
    size_t compared = is_night() ? try_all() : sample(SAMPLES, false);
    print_message("%zu firings compared\n", compared);
    assert_true(compared > 10000);
}

TEST(by_the_second_too)
{
    size_t compared = sample(SAMPLES_SECONDS, true);
    print_message("%zu firings compared\n", compared);
    assert_true(compared > 10000);
}

/* The changes that broke other schedulers are tried each time, whatever the dice say. */
TEST(around_the_famous_changes_too)
{
    static const struct {
        const char *name;
        int64_t at_s;
    } famous[] = {
        {"Pacific/Apia", 1325239200},        /* 30 December 2011 did not happen */
        {"Pacific/Kwajalein", 745934400},    /* nor did 21 August 1993 */
        {"Australia/Lord_Howe", 1759591800}, /* half an hour */
        {"Australia/Lord_Howe", 1775314800},
        {"Europe/Dublin", 1774746000}, /* where winter is the exception */
        {"Europe/Dublin", 1792890000},
        {"Africa/Casablanca", 1771120800}, /* twice a year, by the moon */
        {"Africa/Casablanca", 1774144800},
        {"America/New_York", 1772953200},
        {"Europe/Berlin", 1792890000},
        {"Africa/Monrovia", 63593070}, /* 44 minutes and 30 seconds */
        {"Asia/Pyongyang", 1525446000},
    };
    for (size_t i = 0; i < COUNT_OF(famous); i++) {
        struct system_zone one = {famous[i].name, system_zone(&all, famous[i].name)};
        if (zone_span(one.zone, famous[i].at_s).begin_s != famous[i].at_s)
            fail_msg("%s does not change at %lld", one.name, (long long)famous[i].at_s);
        for (int n = 0; n < 24; n++)
            (void)try_change(&one, famous[i].at_s, n % 24 == 23);
    }
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    system_zones_open(&all);
    return 0;
}

static int end(void **state)
{
    (void)state;
    system_zones_close(&all);
    return 0;
}

TEST_GROUP(begin, end)

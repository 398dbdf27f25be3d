#include "job/time/ical_zone.h"
#include "job/time/ical_rule.h"
#include "job/time/zone_table.h"

#include <assert.h>
#include <stdlib.h>

/* ---- reading */

static enum rc read_observance(struct ical_source *source, struct ical_timezones *all,
                               struct ical_timezone *zone, struct err *err)
{
    struct ical_observance o = {.start.number = 0};
    struct ical_line line;
    for (bool more;;) {
        if (ical_next(source, &line, &more, err) != RC_OK) {
            zone->problem = "has a line that is none";
            continue;
        }
        if (!more)
            return ical_fail_end(source, err);
        if (ical_is_end(&line))
            break;
        if (ical_is_begin(&line, NULL))
            TRY(ical_skip(source, err));
        else if (ical_is(&line, "DTSTART"))
            o.start = line;
        else if (ical_is(&line, "TZOFFSETFROM"))
            o.from = line;
        else if (ical_is(&line, "TZOFFSETTO"))
            o.to = line;
        else if (ical_is(&line, "RRULE"))
            o.rule = line;
        else if (ical_is(&line, "RDATE"))
            *VEC_PUSH(all->arena, &o.dates) = line;
    }
    if (zone->observances.len == ICAL_OBSERVANCES_MAX)
        zone->problem = "has too many STANDARD and DAYLIGHT";
    else
        *VEC_PUSH(all->arena, &zone->observances) = o;
    return RC_OK;
}

static struct ical_timezone *find_item(struct ical_timezones *all, struct str tzid)
{
    for (size_t i = 0; i < all->items.len; i++) {
        if (str_eq(all->items.items[i].tzid, tzid))
            return &all->items.items[i];
    }
    return NULL;
}

/* Two of one TZID: the first counts. */
static void keep_item(struct ical_timezones *all, const struct ical_timezone *zone)
{
    if (zone->tzid.len > 0 && all->items.len < ICAL_ZONES_MAX && !find_item(all, zone->tzid))
        *VEC_PUSH(all->arena, &all->items) = *zone;
}

enum rc ical_timezone_read(struct ical_timezones *all, struct ical_source *source, struct err *err)
{
    struct ical_timezone zone = {.number = source->line};
    struct ical_line line;
    for (bool more;;) {
        if (ical_next(source, &line, &more, err) != RC_OK) {
            zone.problem = "has a line that is none";
            continue;
        }
        if (!more)
            return ical_fail_end(source, err);
        if (ical_is_end(&line))
            break;
        if (ical_is_begin(&line, "STANDARD") || ical_is_begin(&line, "DAYLIGHT"))
            TRY(read_observance(source, all, &zone, err));
        else if (ical_is_begin(&line, NULL))
            TRY(ical_skip(source, err));
        else if (ical_is(&line, "TZID"))
            zone.tzid = line.value;
        else if (ical_is(&line, "X-LIC-LOCATION"))
            zone.location = line.value;
    }
    keep_item(all, &zone);
    return RC_OK;
}

/* ---- a zone out of observances */

/* From at_s on clocks are offset_s ahead of UTC. */
struct change {
    int64_t at_s;
    int32_t offset_s;
};

struct changes {
    struct arena *arena;
    VEC(struct change) list;
    int64_t first_s; /* the earliest one, and what was before it */
    int32_t first_offset_s;
    int64_t settled_s; /* from here on endless rules alone speak */
    bool endless;
};

/* An observance, its lines read. */
struct onset {
    struct ical_time start;
    int32_t from_s;
    int32_t to_s;
    bool has_rule;
    struct ical_rule rule; /* in clocks' time before the change, as all of it */
};

static const char *read_onset(const struct ical_observance *o, struct onset *ret)
{
    struct err err;
    *ret = (struct onset){.has_rule = o->rule.number != 0};
    if (!ical_time_parse(o->start.value, &ret->start) || ret->start.kind != ICAL_FLOATING)
        return "has a DTSTART that is no local time";
    if (!ical_offset_parse(o->from.value, &ret->from_s) ||
        !ical_offset_parse(o->to.value, &ret->to_s))
        return "needs TZOFFSETFROM and TZOFFSETTO as in +0100";
    if (!ret->has_rule)
        return NULL;
    struct calendar_rule *rule = &ret->rule.rule;
    if (ical_rule_parse(o->rule.value, &ret->start, &ret->rule, &err) != RC_OK)
        return "has an RRULE that is not understood";
    rule->start_s = ret->start.local_s;
    rule->length_s = 1;
    rule->last_s = ZONE_EVER_S;
    if (ret->rule.has_until)
        rule->last_s =
            ret->rule.until.local_s + (ret->rule.until.kind == ICAL_UTC ? ret->from_s : 0);
    else if (ret->rule.count > 0)
        rule->last_s = calendar_rule_begin(rule, ret->rule.count);
    else if (rule->freq != CALENDAR_YEARLY || rule->interval != 1)
        return "has an RRULE without an end that is not FREQ=YEARLY";
    return NULL;
}

static bool add_change(struct changes *c, const struct onset *onset, int64_t local_s)
{
    int64_t at_s = local_s - onset->from_s;
    if (c->list.len == ICAL_ZONE_CHANGES_MAX)
        return false;
    if (c->list.len == 0 || at_s < c->first_s) {
        c->first_s = at_s;
        c->first_offset_s = onset->from_s;
    }
    *VEC_PUSH(c->arena, &c->list) = (struct change){at_s, onset->to_s};
    return true;
}

static void settle_after(struct changes *c, int64_t local_s)
{
    int64_t days = local_s / 86400 - (local_s % 86400 < 0);
    int64_t settled_s = date_to_days(date_from_days(days).year + 2, 1, 8) * 86400;
    c->settled_s = settled_s > c->settled_s ? settled_s : c->settled_s;
}

/* All but the rules without an end, whose first ones are enough to know when they have begun. */
static const char *add_dates(struct changes *c, const struct ical_observance *o,
                             const struct onset *onset)
{
    bool ok = add_change(c, onset, onset->start.local_s);
    settle_after(c, onset->start.local_s);
    for (size_t i = 0; i < o->dates.len; i++) {
        struct str list = o->dates.items[i].value;
        while (list.ptr != NULL && ok) {
            struct ical_time date;
            if (!ical_time_parse(str_cut(&list, ','), &date) || date.kind == ICAL_DATE)
                return "has an RDATE that is no time";
            date.local_s += date.kind == ICAL_UTC ? onset->from_s : 0;
            ok = add_change(c, onset, date.local_s);
            settle_after(c, date.local_s);
        }
    }
    if (onset->has_rule && onset->rule.rule.last_s < ZONE_MAX_S)
        settle_after(c, onset->rule.rule.last_s);
    c->endless |= onset->has_rule && onset->rule.rule.last_s >= ZONE_MAX_S;
    return ok ? NULL : "changes too often";
}

static const char *add_rule(struct changes *c, const struct onset *onset)
{
    const struct calendar_rule *rule = &onset->rule.rule;
    int64_t end_s = c->settled_s + ZONE_CYCLE_S + 2 * 366 * INT64_C(86400);
    int64_t last_s = rule->last_s < end_s ? rule->last_s : end_s;
    for (int64_t at_s = rule->start_s;;) {
        at_s = calendar_rule_after(rule, at_s);
        if (at_s > last_s)
            return NULL;
        if (!add_change(c, onset, at_s))
            return "changes too often";
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = ((const struct change *)a)->at_s;
    int64_t y = ((const struct change *)b)->at_s;
    return (x > y) - (x < y);
}

static const struct zone *zone_of(const struct changes *c)
{
    struct zone *zone = zone_new(c->first_offset_s);
    for (size_t i = 0; i < c->list.len; i++)
        zone_add(zone, c->list.items[i].at_s, c->list.items[i].offset_s);
    if (c->endless && c->settled_s + ZONE_CYCLE_S < ZONE_MAX_S)
        zone->cycle_from_s = c->settled_s;
    const struct zone *copy = zone_copy(zone, c->arena);
    zone_free(zone);
    return copy;
}

/* The error, or NULL. */
static const char *make_zone(struct ical_timezone *zone, struct arena *arena)
{
    struct changes c = {.arena = arena, .settled_s = ZONE_MIN_S};
    struct onset *onsets = ARENA_ARRAY(arena, struct onset, zone->observances.len);
    const char *problem = zone->problem;
    if (zone->observances.len == 0)
        return "has neither STANDARD nor DAYLIGHT";
    for (size_t i = 0; i < zone->observances.len && problem == NULL; i++) {
        problem = read_onset(&zone->observances.items[i], &onsets[i]);
        if (problem == NULL)
            problem = add_dates(&c, &zone->observances.items[i], &onsets[i]);
    }
    for (size_t i = 0; i < zone->observances.len && problem == NULL; i++) {
        if (onsets[i].has_rule)
            problem = add_rule(&c, &onsets[i]);
    }
    if (problem != NULL)
        return problem;
    qsort(c.list.items, c.list.len, sizeof c.list.items[0], compare);
    zone->zone = zone_of(&c);
    zone->made = true;
    return NULL;
}

/* ---- finding */

/* "/mozilla.org/20070129_1/Europe/Berlin": what follows a slash and still has one in it. */
static const struct zone *find_tail(const struct ical_zones *system, struct str tzid)
{
    for (;;) {
        struct str rest = str_from(tzid, str_index(tzid, '/') + 1);
        if (str_index(rest, '/') == rest.len)
            return NULL;
        const struct zone *zone = system->find(system->arg, rest);
        if (zone != NULL)
            return zone;
        tzid = rest;
    }
}

const struct zone *ical_zone_named(const struct ical_zones *system, struct str tzid)
{
    const struct zone *zone = system->find(system->arg, tzid);
    struct str windows = ical_windows_zone(tzid);
    if (zone == NULL && windows.len > 0)
        zone = system->find(system->arg, windows);
    return zone != NULL ? zone : find_tail(system, tzid);
}

static void look_for(const struct ical_timezones *all, struct ical_timezone *zone)
{
    zone->known = true;
    zone->zone = ical_zone_named(all->system, zone->tzid);
    if (zone->zone == NULL && zone->location.len > 0)
        zone->zone = ical_zone_named(all->system, zone->location);
    if (zone->zone == NULL && zone->number > 0)
        zone->problem = make_zone(zone, all->arena);
}

enum rc ical_timezone_find(struct ical_timezones *all, struct str tzid,
                           struct ical_zone_found *ret_found, struct err *err)
{
    struct str shown = str_head(tzid, 100);
    struct ical_timezone *zone = find_item(all, tzid);
    if (zone == NULL && all->items.len == ICAL_ZONES_MAX)
        return err_set(err, RC_INVALID, "the file names more than %d time zones", ICAL_ZONES_MAX);
    if (zone == NULL) {
        zone = VEC_PUSH(all->arena, &all->items);
        zone->tzid = tzid;
    }
    if (!zone->known)
        look_for(all, zone);
    *ret_found = (struct ical_zone_found){zone->zone, zone->made};
    if (zone->zone != NULL)
        return RC_OK;
    if (zone->problem != NULL)
        return err_set(
            err, RC_INVALID,
            "there is no time zone '%.*s', and the VTIMEZONE of that name in line %zu %s",
            STR_ARG(shown), zone->number, zone->problem);
    return err_set(err, RC_INVALID, "there is no time zone '%.*s'", STR_ARG(shown));
}

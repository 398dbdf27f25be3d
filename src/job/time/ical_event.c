#include "job/time/ical_event.h"
#include "job/time/ical_rule.h"

#include <assert.h>
#include <stdlib.h>

enum {
    DAY_S = 86400,
    COUNTED_MAX = 1000000 /* of a file: steps to the ends of COUNTs, and overrides */
};

/* When something begins or ends, with the zone it was said in. */
struct point {
    struct ical_time time;
    struct ical_zone_found in; /* zone NULL: of who asks */
};

/* Times at which occurrences begin, as the clocks of DTSTART's zone show them. */
struct begins {
    int64_t *items;
    size_t len;
    size_t cap;
};

/* Another event that takes the place of an occurrence. */
struct override {
    struct ical_event *event;
    struct point from; /* the occurrence, as RECURRENCE-ID names it */
};

struct reader {
    struct ical_events *all;
    struct calendar_draft *draft;
    VEC(struct override) overrides; /* by UID */
    struct err *err;
};

/* The facts of an event, before anything of it is added. */
struct plan {
    struct point start;
    struct point end;
    int64_t length_s; /* by the clocks of DTSTART's zone */
    bool has_first;   /* the rule begins at DTSTART, or more_spans does */
    bool has_rule;
    struct calendar_rule rule;
    struct begins except;                 /* ascending */
    VEC(struct calendar_span) more_spans; /* RDATE: as clocks show them */
};

/* ---- lines */

void ical_event_fail(struct ical_events *all, struct ical_event *event, const struct err *err)
{
    if (event->problem.len == 0)
        event->problem = arena_str(all->arena, str_c(err->text));
}

static void keep(struct ical_events *all, struct ical_event *event, struct ical_line *to,
                 const struct ical_line *line)
{
    struct err err;
    if (to->number == 0) {
        *to = *line;
        return;
    }
    (void)err_set(&err, RC_INVALID, "line %zu: %.*s is there twice", line->number,
                  STR_ARG(line->name));
    ical_event_fail(all, event, &err);
}

void ical_event_line(struct ical_events *all, struct ical_event *event,
                     const struct ical_line *line)
{
    struct err err;
    if (ical_is(line, "DTSTART"))
        keep(all, event, &event->start, line);
    else if (ical_is(line, "DTEND"))
        keep(all, event, &event->end, line);
    else if (ical_is(line, "DURATION"))
        keep(all, event, &event->duration, line);
    else if (ical_is(line, "RRULE"))
        keep(all, event, &event->rule, line);
    else if (ical_is(line, "RECURRENCE-ID"))
        keep(all, event, &event->recurrence, line);
    else if (ical_is(line, "RDATE"))
        *VEC_PUSH(all->arena, &event->more) = *line;
    else if (ical_is(line, "EXDATE"))
        *VEC_PUSH(all->arena, &event->except) = *line;
    else if (ical_is(line, "UID"))
        event->uid = line->value;
    else if (ical_is(line, "SUMMARY"))
        event->summary = line->value;
    else if (ical_is(line, "STATUS"))
        event->cancelled = str_eq_nocase(line->value, STR("CANCELLED"));
    else if (ical_is(line, "EXRULE")) {
        (void)err_set(&err, RC_INVALID, "line %zu: EXRULE is not understood", line->number);
        ical_event_fail(all, event, &err);
    }
}

/* ---- points in time */

/* One value of a line, in the zone that the line says. */
static enum rc read_point(struct reader *r, const struct ical_line *line, struct str value,
                          struct point *ret_point)
{
    struct str tzid = ical_param(line, STR("TZID"));
    *ret_point = (struct point){.in.zone = NULL};
    if (!ical_time_parse(value, &ret_point->time))
        return err_set(r->err, RC_INVALID,
                       "line %zu: %.*s must be a time as in 20261225 or 20261120T220000Z",
                       line->number, STR_ARG(line->name));
    if (ret_point->time.kind == ICAL_UTC)
        ret_point->in.zone = zone_utc();
    if (ret_point->time.kind != ICAL_FLOATING || tzid.len == 0)
        return RC_OK;
    ret_point->time.kind = ICAL_ZONED;
    if (ical_timezone_find(&r->all->zones, tzid, &ret_point->in, r->err) == RC_OK)
        return RC_OK;
    return err_note(r->err, "line %zu", line->number);
}

static int64_t to_local(const struct zone *zone, int64_t at_s)
{
    return at_s + zone_span(zone, at_s).offset_s;
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    return a - (a / b - (a % b < 0)) * b;
}

/* A point as the clocks of DTSTART's zone show it. A time without a zone is meant by those clocks;
 * a date beside a time means the occurrence of that day, and a time beside a date its day. */
static enum rc local_of(struct reader *r, const struct ical_line *line, const struct point *start,
                        const struct point *point, int64_t *ret_local_s)
{
    int64_t local_s = point->time.local_s;
    int64_t time_s = floor_mod(start->time.local_s, DAY_S);
    bool is_elsewhere = point->in.zone != NULL && point->in.zone != start->in.zone;
    if (start->time.kind == ICAL_DATE)
        local_s -= floor_mod(local_s, DAY_S);
    else if (point->time.kind == ICAL_DATE)
        local_s += time_s;
    else if (is_elsewhere && start->in.zone == NULL)
        return err_set(r->err, RC_INVALID, "line %zu: %.*s must be of the kind of DTSTART",
                       line->number, STR_ARG(line->name));
    else if (is_elsewhere)
        local_s = to_local(start->in.zone, zone_from_local(point->in.zone, local_s).first_s);
    *ret_local_s = local_s;
    return RC_OK;
}

/* ---- an event */

/* An event lasts from DTSTART until DTEND, or so long, or for its day; without any of them no
 * time. */
static enum rc read_end(struct reader *r, const struct ical_event *event, struct plan *plan)
{
    const struct point *start = &plan->start;
    struct point *end = &plan->end;
    int64_t length_s = start->time.kind == ICAL_DATE ? DAY_S : 0;
    if (event->end.number != 0 && event->duration.number != 0)
        return err_set(r->err, RC_INVALID, "line %zu: DTEND and DURATION exclude each other",
                       event->end.number);
    if (event->end.number != 0) {
        TRY(read_point(r, &event->end, event->end.value, end));
        if ((end->in.zone == NULL) != (start->in.zone == NULL) ||
            (end->time.kind == ICAL_DATE) != (start->time.kind == ICAL_DATE))
            return err_set(r->err, RC_INVALID, "line %zu: DTEND must be of the kind of DTSTART",
                           event->end.number);
        return RC_OK;
    }
    if (event->duration.number != 0 && !ical_duration_parse(event->duration.value, &length_s))
        return err_set(r->err, RC_INVALID, "line %zu: DURATION must be as in P1DT12H or PT30M",
                       event->duration.number);
    *end = *start;
    end->time.local_s += length_s;
    return RC_OK;
}

/* A local end that comes twice is the second one: nothing that was asked for is left out. */
static struct calendar_span moments_of(const struct point *start, const struct point *end)
{
    return (struct calendar_span){
        .begin_s = zone_from_local(start->in.zone, start->time.local_s).first_s,
        .end_s = zone_from_local(end->in.zone, end->time.local_s).last_s,
    };
}

static enum rc read_length(struct reader *r, const struct ical_event *event, struct plan *plan)
{
    const struct point *start = &plan->start;
    const struct point *end = &plan->end;
    int64_t end_s = end->time.local_s;
    if (end->in.zone != start->in.zone)
        end_s = to_local(start->in.zone, moments_of(start, end).end_s);
    plan->length_s = end_s - start->time.local_s;
    if (plan->length_s >= 0)
        return RC_OK;
    return err_set(r->err, RC_INVALID, "line %zu: the event ends before it begins", event->number);
}

/* UNTIL includes its day, and is in UTC when DTSTART has a zone. */
static int64_t last_of(const struct ical_rule *rule)
{
    const struct ical_time *until = &rule->until;
    if (until->kind == ICAL_DATE)
        return until->local_s + DAY_S - 1;
    if (until->kind != ICAL_UTC || rule->rule.zone == NULL)
        return until->local_s;
    return to_local(rule->rule.zone, until->local_s);
}

static enum rc count_on(struct reader *r, uint32_t count)
{
    if (*r->all->counted + count <= COUNTED_MAX) {
        *r->all->counted += count;
        return RC_OK;
    }
    return err_set(r->err, RC_INVALID, "all COUNTs of a file add up to %d at most", COUNTED_MAX);
}

/* The months between a rule's days cost a step each, and those that BYSETPOS counts through. So a
 * rule whose days hardly ever come is not read for ever, nor are many of them. */
static enum rc count_months(struct reader *r, const struct ical_event *event,
                            const struct calendar_rule *rule)
{
    bool by_year = rule->freq == CALENDAR_YEARLY && rule->position_count > 0;
    int64_t last_s = rule->last_s < ZONE_MAX_S ? rule->last_s : ZONE_MAX_S;
    int64_t months = (last_s - rule->start_s) / (30 * DAY_S);
    *r->all->counted += (uint64_t)(months * (by_year ? 12 : 1));
    if (*r->all->counted <= COUNTED_MAX)
        return RC_OK;
    return err_set(r->err, RC_INVALID,
                   "line %zu: RRULE: it takes too long to find the days of all COUNTs of the file",
                   event->rule.number);
}

/* DTSTART is the first one, and counted, also where the rule would not have it. */
static enum rc read_rule(struct reader *r, const struct ical_event *event, struct plan *plan)
{
    struct ical_rule read;
    struct calendar_rule *rule = &plan->rule;
    if (ical_rule_parse(event->rule.value, &plan->start.time, &read, r->err))
        return err_note(r->err, "line %zu: RRULE", event->rule.number);
    if (plan->length_s > CALENDAR_RULE_S_MAX)
        return err_set(r->err, RC_INVALID,
                       "line %zu: an event that comes again lasts %d days at most",
                       event->rule.number, CALENDAR_RULE_S_MAX / DAY_S);
    *rule = read.rule;
    rule->zone = plan->start.in.zone;
    rule->owns_zone = plan->start.in.made;
    rule->start_s = plan->start.time.local_s;
    rule->length_s = plan->length_s;
    rule->last_s = ZONE_EVER_S;
    plan->has_first = true;
    plan->has_rule = true;
    if (read.has_until) {
        read.rule = *rule;
        rule->last_s = last_of(&read);
    }
    bool alone = !calendar_rule_begins(rule, rule->start_s);
    if (alone)
        *VEC_PUSH(r->draft->arena, &plan->more_spans) =
            (struct calendar_span){rule->start_s, rule->start_s + rule->length_s};
    if (read.count == 0)
        return RC_OK;
    if (count_on(r, read.count) != RC_OK)
        return err_note(r->err, "line %zu: RRULE", event->rule.number);
    plan->has_rule = read.count > alone;
    if (!plan->has_rule)
        return RC_OK;
    rule->last_s = calendar_rule_begin(rule, read.count - alone);
    return count_months(r, event, rule);
}

/* "20261225T120000Z/PT1H", or until a time; without a slash as long as the event. */
static enum rc read_more(struct reader *r, const struct ical_line *line, struct str value,
                         struct plan *plan)
{
    struct str to = value;
    struct str from = str_cut(&to, '/');
    struct calendar_span span;
    struct point point;
    int64_t length_s = plan->length_s;
    TRY(read_point(r, line, from, &point));
    TRY(local_of(r, line, &plan->start, &point, &span.begin_s));
    span.end_s = span.begin_s + length_s;
    if (to.ptr != NULL && ical_duration_parse(to, &length_s)) {
        span.end_s = span.begin_s + length_s;
    } else if (to.ptr != NULL) {
        TRY(read_point(r, line, to, &point));
        TRY(local_of(r, line, &plan->start, &point, &span.end_s));
    }
    if (span.end_s < span.begin_s)
        return err_set(r->err, RC_INVALID, "line %zu: RDATE ends before it begins", line->number);
    *VEC_PUSH(r->draft->arena, &plan->more_spans) = span;
    return RC_OK;
}

static enum rc read_lists(struct reader *r, const struct ical_event *event, struct plan *plan)
{
    for (size_t i = 0; i < event->more.len; i++) {
        struct str list = event->more.items[i].value;
        while (list.ptr != NULL)
            TRY(read_more(r, &event->more.items[i], str_cut(&list, ','), plan));
    }
    for (size_t i = 0; i < event->except.len; i++) {
        const struct ical_line *line = &event->except.items[i];
        struct str list = line->value;
        while (list.ptr != NULL) {
            struct point point;
            TRY(read_point(r, line, str_cut(&list, ','), &point));
            TRY(local_of(r, line, &plan->start, &point, VEC_PUSH(r->draft->arena, &plan->except)));
        }
    }
    return RC_OK;
}

static enum rc read_plan(struct reader *r, const struct ical_event *event, struct plan *plan)
{
    *plan = (struct plan){.has_rule = false};
    if (event->start.number == 0)
        return err_set(r->err, RC_INVALID, "line %zu: the event has no DTSTART", event->number);
    TRY(read_point(r, &event->start, event->start.value, &plan->start));
    TRY(read_end(r, event, plan));
    TRY(read_length(r, event, plan));
    if (event->rule.number != 0 && plan->length_s > 0)
        TRY(read_rule(r, event, plan));
    return read_lists(r, event, plan);
}

/* ---- overrides */

static int compare_overrides(const void *a, const void *b)
{
    const struct ical_event *x = ((const struct override *)a)->event;
    const struct ical_event *y = ((const struct override *)b)->event;
    int by_uid = str_cmp(x->uid, y->uid);
    return by_uid != 0 ? by_uid : (x->number > y->number) - (x->number < y->number);
}

static enum rc read_override(struct reader *r, struct ical_event *event)
{
    struct override override = {.event = event};
    struct plan plan;
    if (event->uid.len == 0)
        return RC_OK; /* of nothing that is known */
    struct str range = ical_param(&event->recurrence, STR("RANGE"));
    if (range.len > 0)
        return err_set(r->err, RC_INVALID, "line %zu: RANGE=%.*s is not understood",
                       event->recurrence.number, STR_ARG(str_head(range, 40)));
    TRY(read_point(r, &event->recurrence, event->recurrence.value, &override.from));
    if (!event->cancelled)
        TRY(read_plan(r, event, &plan));
    *VEC_PUSH(r->draft->arena, &r->overrides) = override;
    return RC_OK;
}

/* One that cannot be read leaves the occurrence where it is. */
static void read_overrides(struct reader *r)
{
    for (size_t i = 0; i < r->all->items.len; i++) {
        struct ical_event *event = &r->all->items.items[i];
        bool readable = event->cancelled || event->problem.len == 0;
        if (event->recurrence.number != 0 && readable && read_override(r, event) != RC_OK) {
            event->cancelled = false;
            ical_event_fail(r->all, event, r->err);
        }
    }
    if (r->overrides.len > 0)
        qsort(r->overrides.items, r->overrides.len, sizeof r->overrides.items[0],
              compare_overrides);
}

/* The first one of that UID. */
static size_t first_override(const struct reader *r, struct str uid)
{
    size_t low = 0;
    size_t high = r->overrides.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(r->overrides.items[middle].event->uid, uid) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The occurrences that others take the place of do not begin where they would. Each of them costs a
 * step, and many events may have one UID. */
static enum rc except_overridden(struct reader *r, const struct ical_event *event,
                                 struct plan *plan)
{
    for (size_t i = first_override(r, event->uid);
         i < r->overrides.len && str_eq(r->overrides.items[i].event->uid, event->uid); i++) {
        const struct override *o = &r->overrides.items[i];
        int64_t local_s;
        if (++*r->all->counted > COUNTED_MAX)
            return err_set(r->err, RC_INVALID, "line %zu: too many events of the file have one UID",
                           event->number);
        if (local_of(r, &o->event->recurrence, &plan->start, &o->from, &local_s) == RC_OK)
            *VEC_PUSH(r->draft->arena, &plan->except) = local_s;
        else
            ical_event_fail(r->all, o->event, r->err);
    }
    return RC_OK;
}

/* ---- adding */

static int compare_begins(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_excepted(const struct plan *plan, int64_t begin_s)
{
    return plan->except.len > 0 && bsearch(&begin_s, plan->except.items, plan->except.len,
                                           sizeof begin_s, compare_begins) != NULL;
}

static enum rc add_span(struct reader *r, const struct plan *plan, struct calendar_span local)
{
    struct point start = plan->start;
    struct point end = plan->start;
    if (local.end_s == local.begin_s || is_excepted(plan, local.begin_s))
        return RC_OK;
    if (start.in.zone == NULL)
        return calendar_add_local(r->draft, local, r->err);
    start.time.local_s = local.begin_s;
    end.time.local_s = local.end_s;
    struct calendar_span span = moments_of(&start, &end);
    if (span.end_s <= span.begin_s) /* all of it in a gap */
        return RC_OK;
    return calendar_add_moments(r->draft, span, r->err);
}

/* DTSTART and DTEND may have a zone each: their moments are what counts. */
static enum rc add_first(struct reader *r, const struct plan *plan)
{
    const struct point *start = &plan->start;
    struct calendar_span local = {start->time.local_s, start->time.local_s + plan->length_s};
    if (start->in.zone == plan->end.in.zone || is_excepted(plan, local.begin_s))
        return add_span(r, plan, local);
    struct calendar_span span = moments_of(start, &plan->end);
    return span.end_s > span.begin_s ? calendar_add_moments(r->draft, span, r->err) : RC_OK;
}

/* The days on which its exceptions begin; they are ascending, and some may be twice. */
static void except_days(struct reader *r, struct plan *plan)
{
    struct calendar_rule *rule = &plan->rule;
    int64_t *days = ARENA_ARRAY(r->draft->arena, int64_t, plan->except.len);
    int64_t time_s = floor_mod(rule->start_s, DAY_S);
    for (size_t i = 0; i < plan->except.len; i++) {
        int64_t begin_s = plan->except.items[i];
        bool again = i > 0 && begin_s == plan->except.items[i - 1];
        if (!again && floor_mod(begin_s, DAY_S) == time_s)
            days[rule->except_count++] = (begin_s - time_s) / DAY_S;
    }
    rule->except = days;
}

static enum rc add_plan(struct reader *r, struct plan *plan)
{
    if (plan->except.len > 0)
        qsort(plan->except.items, plan->except.len, sizeof plan->except.items[0], compare_begins);
    if (!plan->has_first)
        TRY(add_first(r, plan));
    for (size_t i = 0; i < plan->more_spans.len; i++)
        TRY(add_span(r, plan, plan->more_spans.items[i]));
    if (!plan->has_rule)
        return RC_OK;
    except_days(r, plan);
    return calendar_add_rule(r->draft, &plan->rule, r->err);
}

static enum rc add_event(struct reader *r, struct ical_event *event)
{
    struct plan plan;
    if (event->cancelled || event->problem.len > 0)
        return RC_OK;
    enum rc rc = read_plan(r, event, &plan);
    if (rc == RC_OK && event->recurrence.number == 0 && event->uid.len > 0)
        rc = except_overridden(r, event, &plan);
    if (rc != RC_OK) {
        ical_event_fail(r->all, event, r->err);
        return RC_OK;
    }
    if (plan.length_s == 0 && plan.more_spans.len == 0)
        return RC_OK;
    event->taken = true;
    return add_plan(r, &plan);
}

/* Those that others take the place of come first: they may find that an override does not fit. */
enum rc ical_events_add(struct ical_events *all, struct calendar_draft *draft, struct err *err)
{
    struct reader r = {.all = all, .draft = draft, .err = err};
    read_overrides(&r);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < all->items.len; i++) {
            struct ical_event *event = &all->items.items[i];
            if ((event->recurrence.number != 0) == (pass == 1))
                TRY(add_event(&r, event));
        }
    }
    return RC_OK;
}

/* cron_next.c - cron expressions and zones: gaps, folds, and what follows what.
 *
 * Time is walked stretch by stretch: within one (`struct zone_span`) the offset is constant and
 * local time is UTC plus a number. For an expression that follows real time that is all. For one
 * that names times of day a stretch has parts whose local times another stretch has too (a fold);
 * `judge` says from where to where they count here. Nothing is assumed about how far apart changes
 * are. */
#include "job/time/cron_match.h"

#include <assert.h>

struct walk {
    const struct cron *cron;
    const struct cron_clock *clock;
    struct cron_slot after;
    struct zone_span span;
    /* Nothing matches in [known_from, known_match), which does. A date that is years away is found
     * once and then kept while the walk passes the changes in between. */
    int64_t known_from;
    int64_t known_match;
};

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t match(struct walk *w, int64_t from)
{
    if (from < w->known_from || from > w->known_match) {
        w->known_from = from;
        w->known_match = cron_match(w->cron, from);
    }
    return w->known_match;
}

/* ---- folds */

/* Whether a stretch shows `local` as well, and how long (*until at most) the answer stays the
 * same. */
static bool shows(const struct zone_span *span, int64_t local, int64_t *until)
{
    int64_t begin = span->begin_s + span->offset_s;
    int64_t end = span->end_s + span->offset_s;
    if (local < begin)
        *until = min(*until, begin);
    else if (local < end)
        *until = min(*until, end);
    return local >= begin && local < end;
}

/* Whether clocks showed `local` before this stretch began. */
static bool shown_before(const struct walk *w, int64_t local, int64_t *until)
{
    for (struct zone_span s = w->span; s.begin_s + ZONE_OFFSET_MAX_S > local;) {
        s = zone_span(w->clock->zone, s.begin_s - 1);
        if (shows(&s, local, until))
            return true;
    }
    return false;
}

/* Whether they will show it after this stretch has ended. */
static bool shown_after(const struct walk *w, int64_t local, int64_t *until)
{
    struct zone_span s = w->span;
    while (s.end_s + ZONE_OFFSET_MIN_S <= local) {
        s = zone_span(w->clock->zone, s.end_s);
        if (shows(&s, local, until))
            return true;
    }
    *until = min(*until, s.end_s + ZONE_OFFSET_MIN_S);
    return false;
}

/* Whether a match at `local` in the present stretch fires. The answer, and *ret_again, hold for all
 * of [local, *ret_until). */
static bool judge(const struct walk *w, int64_t local, bool *ret_again, int64_t *ret_until)
{
    *ret_until = ZONE_EVER_S;
    *ret_again = false;
    if (w->cron->real_time)
        return true;
    *ret_again = shown_before(w, local, ret_until);
    if (w->clock->fold == CRON_FOLD_FIRST && *ret_again)
        return false;
    if (w->clock->fold == CRON_FOLD_SECOND && shown_after(w, local, ret_until))
        return false;
    /* A promise that was kept: by a zone that has other rules now. */
    bool other_pass = w->clock->fold == CRON_FOLD_BOTH && *ret_again && !w->after.again;
    if (local <= w->after.nominal_s && !other_pass) {
        *ret_until = min(*ret_until, w->after.nominal_s + 1);
        return false;
    }
    return true;
}

/* ---- gaps */

/* Whether the present stretch begins with the firing of what a gap before it swallowed. */
static bool gap_fires(struct walk *w, struct cron_slot *ret_slot)
{
    if (w->cron->real_time || w->clock->gap == CRON_GAP_SKIP || w->span.begin_s == -ZONE_EVER_S)
        return false;
    struct zone_span before = zone_span(w->clock->zone, w->span.begin_s - 1);
    int64_t from = w->span.begin_s + before.offset_s;
    int64_t to = w->span.begin_s + w->span.offset_s;
    if (from >= to || match(w, from) >= to)
        return false;
    int64_t nominal = cron_match_last(w->cron, from, to);
    if (zone_from_local(w->clock->zone, nominal).fit != ZONE_GAP)
        return false;
    if (match(w, to) == to)
        nominal = to; /* that instant is a slot of its own: still one firing */
    if (nominal <= w->after.nominal_s)
        return false;
    *ret_slot = (struct cron_slot){.at_s = w->span.begin_s, .nominal_s = nominal};
    return true;
}

/* ---- the walk */

static struct walk walk_from(const struct cron *cron, const struct cron_clock *clock,
                             const struct cron_slot *after)
{
    assert(cron->every_ms == 0);
    return (struct walk){
        .cron = cron,
        .clock = clock,
        .after = *after,
        .span = zone_span(clock->zone, after->at_s + 1),
        .known_from = ZONE_EVER_S, /* nothing is known */
        .known_match = -ZONE_EVER_S,
    };
}

/* The first firing of the present stretch at from_s or later. */
static bool span_fires(struct walk *w, int64_t from_s, struct cron_slot *ret_slot)
{
    int64_t end = w->span.end_s + w->span.offset_s;
    int64_t local = from_s + w->span.offset_s;
    while ((local = match(w, local)) < end) {
        bool again;
        int64_t until;
        if (judge(w, local, &again, &until)) {
            *ret_slot = (struct cron_slot){local - w->span.offset_s, local, again};
            return true;
        }
        local = until;
    }
    return false;
}

bool cron_next(const struct cron *cron, const struct cron_clock *clock,
               const struct cron_slot *after, struct cron_slot *ret_slot)
{
    struct walk w = walk_from(cron, clock, after);
    while (w.span.begin_s < ZONE_MAX_S) {
        int64_t from_s = max(after->at_s + 1, w.span.begin_s);
        if (from_s == w.span.begin_s && gap_fires(&w, ret_slot))
            return true;
        if (span_fires(&w, from_s, ret_slot))
            return true;
        if (w.span.end_s == ZONE_EVER_S)
            return false;
        w.span = zone_span(clock->zone, w.span.end_s);
    }
    return false;
}

/* Firings of the present stretch in [from_s, to_s). */
static uint64_t count_span(const struct walk *w, int64_t from_s, int64_t to_s)
{
    uint64_t count = 0;
    int64_t end = to_s + w->span.offset_s;
    for (int64_t local = from_s + w->span.offset_s; local < end;) {
        bool again;
        int64_t until;
        bool fires = judge(w, local, &again, &until);
        until = min(until, end);
        if (fires)
            count += cron_match_count(w->cron, local, until);
        local = until;
    }
    return count;
}

uint64_t cron_count(const struct cron *cron, const struct cron_clock *clock,
                    const struct cron_slot *after, int64_t until_s)
{
    struct walk w = walk_from(cron, clock, after);
    uint64_t count = 0;
    until_s = min(until_s, ZONE_MAX_S);
    for (int64_t from_s = after->at_s + 1; from_s <= until_s; from_s = w.span.end_s) {
        struct cron_slot ignored;
        w.span = zone_span(clock->zone, from_s);
        int64_t end_s = min(w.span.end_s, until_s + 1);
        if (from_s == w.span.begin_s && gap_fires(&w, &ignored)) {
            count++;
            from_s++; /* the gap's firing is also that of its end */
        }
        count += count_span(&w, from_s, end_s);
    }
    return count;
}

/* bar.c - what limits mean to a track: see ready.h and rung.h. */
#include "engine/ready/ready.h"

/* A team, and a rate of ours, let the same through for all their bars. */
static uint32_t rung_of(const struct bar *bar)
{
    bool same =
        bar->limit->kind == LIMIT_TEAM || (bar->limit->kind == LIMIT_RATE && !bar->limit->remote);
    return same ? 0 : bar->max;
}

static void bar_join(struct bar *bar, struct track *track)
{
    bar->track = track;
    bar->rung = rung_join(&bar->limit->rungs, rung_of(bar));
    list_push_back(&bar->limit->bars, &bar->node);
}

static void set_bar(struct limits *l, struct track *track, struct bar *bar, enum limit_kind kind,
                    const struct limit_rule *rule)
{
    if (rule->key.len == 0)
        return;
    bar->limit = limit_join(l, kind, rule->key);
    bar->max = rule->limit;
    bar->interval_us = kind == LIMIT_RATE ? rule->per_ms * 1000 / rule->limit : 0;
    bar_join(bar, track);
}

void bars_set(struct limits *l, struct track *track, const struct rules *rules)
{
    set_bar(l, track, &track->bars[BAR_CONCURRENCY], LIMIT_CONCURRENCY, &rules->concurrency);
    set_bar(l, track, &track->bars[BAR_RATE], LIMIT_RATE, &rules->rate);
    set_bar(l, track, &track->bars[BAR_TEAM], LIMIT_TEAM, &(struct limit_rule){.key = rules->team});
}

void bars_copy(struct limits *l, const struct track *from, struct track *to)
{
    for (size_t i = 0; i < BARS; i++) {
        const struct bar *bar = &from->bars[i];
        if (bar->limit == NULL)
            continue;
        to->bars[i] = (struct bar){
            .limit = limit_join(l, bar->limit->kind, bar->limit->key),
            .max = bar->max,
            .interval_us = bar->interval_us,
        };
        bar_join(&to->bars[i], to);
    }
}

void bars_leave(struct limits *l, struct track *track)
{
    for (size_t i = 0; i < BARS; i++) {
        struct bar *bar = &track->bars[i];
        if (bar->limit == NULL)
            continue;
        list_remove(&bar->node);
        rung_leave(&bar->limit->rungs, bar->rung);
        limit_leave(l, bar->limit);
    }
}

void bars_wait(struct track *track, bool waits)
{
    for (size_t i = 0; i < BARS; i++) {
        struct bar *bar = &track->bars[i];
        if (bar->limit != NULL && waits)
            list_push_back(&bar->rung->waiting, &bar->on_rung);
        else if (bar->limit != NULL)
            list_remove(&bar->on_rung);
    }
}

bool bar_is_open(const struct bar *bar)
{
    const struct limit *limit = bar->limit;
    if (limit == NULL)
        return true;
    if (limit->kind == LIMIT_TEAM)
        return limit->v.max == 0 || limit->held < limit->v.max;
    if (limit->kind == LIMIT_RATE)
        return limit->remote ? limit->held < bar->max : !limit->v.shut;
    return limit->held < bar->max;
}

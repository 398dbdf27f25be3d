#include "clock_day.h"
#include "coverage.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    WATCH_MS = 250,
    NEAR_MS = 2100,     /* what servers may go by, around the right time */
    SETTLE_MS = 6000,   /* beyond clock_step_ms: samples are a second apart, and others follow */
    AGREE_MS = 2000,    /* beyond a beat */
    SMALL_MS = 300,     /* corrections that are followed at once */
    REPLAN_MS = 600000, /* slots are left alone when the clock is set back by less */
    SECOND_MS = 1000,
    MINUTE_MS = 60000,
};
#define DAY_MS INT64_C(86400000)
#define YEAR_MS (365 * DAY_MS)

/* ---- the day */

void clock_day_draw(struct world *w)
{
    struct scene *s = &w->scene;
    static const int64_t steps_ms[] = {4000, 4000, 10000, 60000};
    s->clocks = true;
    s->clock_step_ms = steps_ms[pick(w, COUNT_OF(steps_ms))];
    s->engine.horizon_ms = 3600000; /* delays and pauses are in memory: a step moves them */
    s->engine.delete_wait_ms = pick_ms(w, 10000, 100000);
    s->engine.breaker.percent = 0;
    s->engine.load_max = 1 + pick(w, 3); /* so that a step takes many turns */
    if (s->deadline_permille == 0)
        s->deadline_permille = 500;
    s->engine.lost_max = 3;
    s->limit_permille = s->calendar_permille = s->once_permille = s->waiting_permille = 0;
    s->lags = false;
    s->sql_gap_ms = 0;
    s->client_gap_ms = 500 + (uint32_t)pick(w, 6000);
    s->run_max_ms = pick_ms(w, 1, 4 * s->engine.lease_ms);
    w->clock_day.events = 3 + pick(w, 5);
}

static int64_t takeover_ms(const struct world *w)
{
    return w->cluster ? w->scene.node_lease_ms + 3000 : 0;
}

/* ---- what a clock does */

enum { SIZES = 8 };

/* Those of different kinds are never near each other. */
static int64_t draw_size_ms(struct world *w, size_t kind)
{
    static const int64_t sizes_ms[SIZES] = {3 * SECOND_MS,  10 * SECOND_MS, 10 * MINUTE_MS,
                                            60 * MINUTE_MS, DAY_MS,         10 * DAY_MS,
                                            YEAR_MS,        20 * YEAR_MS};
    int64_t by_ms = sizes_ms[kind];
    by_ms += pick_ms(w, 0, by_ms / 2);
    return pick(w, 2) == 0 ? by_ms : -by_ms;
}

static int64_t draw_far_ms(struct world *w)
{
    size_t kind = pick(w, SIZES);
    return draw_size_ms(w, kind);
}

/* For good. Every slot in between is written down, so where there are some it is no year; and dates that were
 * passed over once must come again. */
static int64_t draw_step_ms(struct world *w)
{
    int64_t by_ms = draw_far_ms(w);
    int64_t most_ms = w->scene.recurring_max > 0 ? DAY_MS : 2 * YEAR_MS;
    while (llabs(w->clock_day.meant_ms + by_ms) > most_ms)
        by_ms = draw_far_ms(w);
    return by_ms;
}

static void read_wrong(struct world *w, int clock, int64_t wrong_ms)
{
    w->clock_day.wrong_ms[clock] = wrong_ms;
    SAY(w, "clock", "clock %d is wrong by %" PRId64 " ms", clock, wrong_ms);
}

static void set_right(struct world *w, void *what, uint64_t clock)
{
    (void)what;
    read_wrong(w, (int)clock, w->clock_day.meant_ms);
}

static void flap(struct world *w, void *what, uint64_t left)
{
    int clock = clocks_counting(w);
    int64_t for_ms = pick_ms(w, 1, w->scene.clock_step_ms - 1);
    bool wrong = pick(w, 3) > 0;
    if (left == 0) {
        set_right(w, NULL, (uint64_t)clock);
        return;
    }
    read_wrong(w, clock, w->clock_day.meant_ms + (wrong ? draw_size_ms(w, left % SIZES) : 0));
    agenda_add(w, w->boot_ms + for_ms, flap, what, left - 1);
}

/* ---- events; each says how long it takes */

static int64_t glitch(struct world *w, int clock)
{
    int64_t for_ms = pick(w, 2) == 0 ? pick_ms(w, 1, 1500) : w->scene.clock_step_ms - 1;
    saw(SAW_CLOCK_GLITCH);
    read_wrong(w, clock, w->clock_day.meant_ms + draw_far_ms(w));
    agenda_add(w, w->boot_ms + for_ms, set_right, NULL, (uint64_t)clock);
    return for_ms;
}

static int64_t flaps(struct world *w)
{
    int64_t times = pick_ms(w, 3, 8);
    flap(w, NULL, (uint64_t)times);
    return times * w->scene.clock_step_ms;
}

static int64_t step_to(struct world *w, int64_t wrong_ms)
{
    struct clock_day *day = &w->clock_day;
    int64_t takes_ms = w->scene.clock_step_ms + SETTLE_MS + takeover_ms(w);
    int64_t by_ms = wrong_ms - day->meant_ms;
    day->before_ms = day->meant_ms;
    day->meant_ms = wrong_ms;
    day->most_ms = wrong_ms > day->most_ms ? wrong_ms : day->most_ms;
    day->settled_ms = w->boot_ms + takes_ms;
    day->backlog_ms = by_ms <= -REPLAN_MS ? 0 : day->backlog_ms - (by_ms < 0 ? by_ms : 0);
    for (int i = 0; i < CLOCKS; i++)
        day->wrong_ms[i] = i == clocks_counting(w) || pick(w, 2) == 0 ? wrong_ms : day->wrong_ms[i];
    SAY(w, "clock", "is set by %" PRId64 " ms, for good", by_ms);
    return takes_ms;
}

static int64_t step(struct world *w)
{
    saw(SAW_CLOCK_STEP);
    return step_to(w, w->clock_day.meant_ms + draw_step_ms(w));
}

static int64_t slew(struct world *w)
{
    return step_to(w, w->clock_day.meant_ms + pick_ms(w, -SMALL_MS, SMALL_MS));
}

static int64_t draw_sleep_ms(struct world *w)
{
    int64_t lease_ms = w->scene.engine.lease_ms;
    return pick(w, 3) == 0 ? pick_ms(w, 1, 20 * lease_ms)
                           : pick_ms(w, lease_ms / 2, lease_ms * 3 / 2);
}

static void sleeps(struct world *w, struct sim_server *s, int64_t for_ms)
{
    SAY(w, s->name, "sleeps for %" PRId64 " ms", for_ms);
    s->frozen_until_ms = w->boot_ms + for_ms;
}

/* The server and its workers; who wakes up first is anybody's guess. */
static int64_t close_laptop(struct world *w)
{
    int64_t for_ms = draw_sleep_ms(w);
    saw(SAW_CLOCK_SLEEP);
    sleeps(w, w->server, for_ms);
    for (size_t i = 0; i < w->scene.workers; i++)
        sim_worker_sleep(w, &w->workers[i], for_ms + pick_ms(w, 0, 20));
    return for_ms;
}

static int64_t server_sleeps(struct world *w)
{
    int64_t for_ms = draw_sleep_ms(w);
    sleeps(w, w->cluster ? &w->servers[pick(w, w->server_count)] : w->server, for_ms);
    return for_ms;
}

static int64_t worker_sleeps(struct world *w)
{
    int64_t for_ms = draw_sleep_ms(w);
    sim_worker_sleep(w, &w->workers[pick(w, w->scene.workers)], for_ms);
    w->clock_day.merciful_ms = w->boot_ms + for_ms + 2 * w->scene.engine.lease_ms;
    return for_ms;
}

/* One of the servers sleeps while the others accept a step. */
static int64_t sleep_through_step(struct world *w)
{
    int64_t takes_ms = step(w);
    sleeps(w, &w->servers[pick(w, w->server_count)], takes_ms);
    return takes_ms + takeover_ms(w);
}

/* The battery is dead, and somebody may set the clock before it is believed. */
static int64_t start_wrong(struct world *w)
{
    struct clock_day *day = &w->clock_day;
    int64_t takes_ms = 2 * w->scene.clock_step_ms + SETTLE_MS + 5000; /* and until it has started */
    int64_t wrong_ms = day->meant_ms + draw_far_ms(w);
    if (!w->server->up || w->server->in_turn)
        return 0;
    saw(SAW_CLOCK_START);
    day->merciful_ms = w->boot_ms + takes_ms + 2 * w->scene.engine.lease_ms;
    sim_server_crash(w->server);
    read_wrong(w, 0, wrong_ms);
    day->synced = pick(w, 8) == 0;
    day->settled_ms = w->boot_ms + takes_ms;
    return takes_ms;
}

static int64_t ahead_ms(const struct sim_server *s)
{
    const struct world *w = s->world;
    const struct timeline *line = &s->time.timing.line;
    return timeline_offset_us(line, w->boot_ms * 1000) / 1000 - WORLD_BEGIN_MS;
}

/* What a server believes at its start is so from now on. */
static void believe(struct world *w, int64_t wrong_ms)
{
    struct clock_day *day = &w->clock_day;
    if (wrong_ms == day->meant_ms)
        return;
    day->before_ms = day->meant_ms;
    day->meant_ms = wrong_ms;
    day->most_ms = wrong_ms > day->most_ms ? wrong_ms : day->most_ms;
    day->backlog_ms += wrong_ms < day->before_ms ? day->before_ms - wrong_ms : 0;
    day->settled_ms = w->boot_ms + w->scene.clock_step_ms + SETTLE_MS;
}

void clock_day_started(struct sim_server *s)
{
    struct world *w = s->world;
    struct clock_day *day = &w->clock_day;
    const struct timeline *line = &s->time.timing.line;
    int64_t wrong_ms = day->wrong_ms[clocks_counting(w)];
    if (line->shaken_ms != 0)
        day->shaken_ms = line->shaken_ms;
    if (w->cluster || wrong_ms == day->meant_ms)
        return;
    SAY(w, s->name, "starts with a clock that is wrong by %" PRId64 " ms, and is %s", wrong_ms,
        line->sure ? "sure" : "unsure");
    bool lasts = llabs(wrong_ms) <= (w->scene.recurring_max > 0 ? DAY_MS : 2 * YEAR_MS);
    day->unsure_until_ms = line->sure ? 0 : day->settled_ms;
    if (line->sure || (lasts && pick(w, 2) == 0)) {
        believe(w, wrong_ms);
    } else {
        agenda_add(w, w->boot_ms + pick_ms(w, 1, w->scene.clock_step_ms - 1), set_right, NULL, 0);
    }
}

void clock_day_stepped(struct sim_server *s)
{
    struct world *w = s->world;
    const struct timeline *line = &s->time.timing.line;
    SAY(w, s->name, "accepts a step by %" PRId64 " ms", line->steps.by_ms);
    if (line->shaken_ms != 0)
        w->clock_day.shaken_ms = line->shaken_ms;
    saw(SAW_CLOCK_ACCEPTED);
    if (w->boot_ms < w->clock_day.unsure_until_ms) /* it was not, or came to be, too far off */
        believe(w, w->clock_day.wrong_ms[clocks_counting(w)]);
    clocks_set_back(w, ahead_ms(s) + WORLD_BEGIN_MS + w->boot_ms);
}

/* ---- one after the other */

static int64_t strike(struct world *w)
{
    switch (pick(w, 9)) {
    case 0: return glitch(w, clocks_counting(w));
    case 1: return w->cluster ? glitch(w, (int)pick(w, w->server_count)) : start_wrong(w);
    case 2: return flaps(w);
    case 3: return w->cluster ? sleep_through_step(w) : close_laptop(w);
    case 4:
    case 6: return server_sleeps(w);
    case 5: return pick(w, 3) == 0 ? worker_sleeps(w) : slew(w);
    default: return step(w);
    }
}

static void break_out(struct world *w, void *what, uint64_t no)
{
    struct clock_day *day = &w->clock_day;
    day->last = no == 0;
    if (no == 0) { /* all dates that anybody has given have passed then */
        day->over_ms = w->boot_ms + step_to(w, day->most_ms + DAY_MS) + takeover_ms(w);
        return;
    }
    day->over_ms = w->boot_ms + strike(w) + SETTLE_MS + takeover_ms(w);
    agenda_add(w, day->over_ms + pick_ms(w, 1000, 20000), break_out, what, no - 1);
}

/* ---- what is promised */

static bool is_awake(const struct world *w, const struct sim_server *s)
{
    bool here = w->cluster ? s->time.knows : s == w->server;
    return here && s->up && w->boot_ms >= s->frozen_until_ms + SETTLE_MS;
}

static void check_time(struct world *w, const struct sim_server *s)
{
    const struct clock_day *day = &w->clock_day;
    int64_t by_ms = ahead_ms(s);
    bool settled = w->boot_ms >= day->settled_ms;
    PROMISE(w, s->time.timing.line.sure || !settled, "%s still does not know the time", s->name);
    if (!s->time.timing.line.sure)
        return;
    PROMISE(w,
            llabs(by_ms - day->meant_ms) <= NEAR_MS ||
                (!settled && llabs(by_ms - day->before_ms) <= NEAR_MS),
            "%s goes by a time that is ahead by %" PRId64 " ms, and it should be %" PRId64, s->name,
            by_ms, day->meant_ms);
}

static void check_agreement(struct world *w)
{
    const struct sim_server *first = NULL;
    bool agreed = true;
    for (size_t i = 0; i < w->server_count; i++) {
        const struct sim_server *s = &w->servers[i];
        if (!is_awake(w, s) || !s->time.timing.line.sure)
            continue;
        if (first == NULL)
            first = s;
        agreed = agreed && llabs(ahead_ms(s) - ahead_ms(first)) <= NEAR_MS;
    }
    if (agreed)
        w->clock_day.agreed_ms = w->boot_ms;
    PROMISE(w, w->boot_ms - w->clock_day.agreed_ms <= w->scene.node_lease_ms / 5 + AGREE_MS,
            "servers have gone by different times for %" PRId64 " ms",
            w->boot_ms - w->clock_day.agreed_ms);
}

static void watch(struct world *w, void *what, uint64_t no)
{
    for (size_t i = 0; i < w->server_count; i++) {
        if (is_awake(w, &w->servers[i]))
            check_time(w, &w->servers[i]);
    }
    if (w->cluster)
        check_agreement(w);
    if (w->boot_ms > w->clock_day.over_ms && !w->healing)
        clocks_watch(w);
    agenda_add(w, w->boot_ms + WATCH_MS, watch, what, no);
}

void clock_day_begin(struct world *w)
{
    agenda_add(w, w->boot_ms + pick_ms(w, 5000, 20000), break_out, NULL, w->clock_day.events);
    watch(w, NULL, 0);
}

bool clock_day_is_over(const struct world *w)
{
    return w->clock_day.last && w->boot_ms > w->clock_day.over_ms;
}

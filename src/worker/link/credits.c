#include "worker/link/credits.h"

struct demand {
    uint32_t usable;
    uint32_t hungry; /* usable, with a backlog */
    uint64_t backlog;
};

static bool is_hungry(const struct credit *c)
{
    return c->usable && c->backlog > 0;
}

static struct demand add_up(const struct credit *credits, size_t count)
{
    struct demand d = {0};
    for (size_t i = 0; i < count; i++) {
        d.usable += credits[i].usable;
        d.hungry += is_hungry(&credits[i]);
        d.backlog += is_hungry(&credits[i]) ? credits[i].backlog : 0;
    }
    return d;
}

/* One to each that may have one more, from the turn's first on; returns what is left. */
static uint32_t deal_round(struct credit *credits, size_t count, uint32_t left, uint64_t turn,
                           bool hungry_only)
{
    for (size_t i = 0; i < count && left > 0; i++) {
        struct credit *c = &credits[(i + turn) % count];
        if (hungry_only ? !is_hungry(c) || c->share >= c->backlog : !c->usable)
            continue;
        c->share++;
        left--;
    }
    return left;
}

/* Hands out by the length of backlogs, none more than it has; returns what is left. */
static uint32_t deal_by_backlog(struct credit *credits, size_t count, uint32_t left, uint64_t all)
{
    uint32_t dealt = 0;
    for (size_t i = 0; i < count; i++) {
        struct credit *c = &credits[i];
        if (!is_hungry(c))
            continue;
        uint64_t part = (uint64_t)left * c->backlog / all;
        uint32_t more = c->backlog - c->share;
        more = part < more ? (uint32_t)part : more;
        c->share += more;
        dealt += more;
    }
    return left - dealt;
}

void credits_spread(struct credit *credits, size_t count, uint32_t free, uint64_t turn)
{
    const struct demand d = add_up(credits, count);
    for (size_t i = 0; i < count; i++)
        credits[i].share = 0;
    if (d.usable == 0 || free == 0)
        return;
    if (d.hungry == 0 && free < d.usable)
        free = d.usable; /* the exception */
    if (d.hungry > 0) {
        free = deal_round(credits, count, free, turn, true);
        free = deal_by_backlog(credits, count, free, d.backlog);
        for (uint32_t before = 0; free > 0 && free != before;) { /* slots that rounding has left */
            before = free;
            free = deal_round(credits, count, free, turn, true);
        }
    }
    uint32_t each = free / d.usable;
    for (size_t i = 0; i < count; i++)
        credits[i].share += credits[i].usable ? each : 0;
    deal_round(credits, count, free % d.usable, turn, false);
}

/* ---- what is offered, and what should be */

static uint64_t out_elsewhere(const struct credit *credits, size_t count, size_t me)
{
    uint64_t out = 0;
    for (size_t i = 0; i < count; i++)
        out += i == me ? 0 : credits[i].out;
    return out;
}

/* Has less than it should, and it matters. */
static bool is_short(const struct credit *c)
{
    return c->out < c->share && (c->backlog > 0 || c->out == 0);
}

static bool another_is_short(const struct credit *credits, size_t count, size_t me)
{
    for (size_t i = 0; i < count; i++) {
        if (i != me && credits[i].usable && is_short(&credits[i]))
            return true;
    }
    return false;
}

uint32_t credits_offer(const struct credit *credits, size_t count, uint32_t free, size_t me)
{
    const struct demand d = add_up(credits, count);
    uint64_t out = out_elsewhere(credits, count, me);
    uint32_t room = out < free ? (uint32_t)(free - out) : 0;
    uint32_t share = credits[me].share;
    if (d.hungry == 0 && free < d.usable)
        return share; /* the exception */
    if (share > room)
        return room;
    /* Slots that no other server asks for need not wait until one does. */
    bool spare = d.hungry == 0 && credits[me].usable && !another_is_short(credits, count, me);
    return spare ? room : share;
}

bool credits_moved(const struct credit *credits, size_t count, uint32_t free, size_t me)
{
    const struct credit *mine = &credits[me];
    uint64_t others = out_elsewhere(credits, count, me);
    if (is_short(mine))
        return credits_offer(credits, count, free, me) > mine->out;
    if (mine->out <= mine->share)
        return false;
    if (others + mine->out > free)
        return true;
    return another_is_short(credits, count, me);
}

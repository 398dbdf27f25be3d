#include "base/rng.h"

#include "base/str.h"
#include "base/test/test.h"
#include "worker/link/credits.h"

#include <stdio.h>
#include <stdlib.h>

enum { SERVERS_MAX = 9 };

static uint32_t sum(const struct credit *credits, size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += credits[i].share;
    return all;
}

static void assert_shares(struct credit *credits, size_t count, uint32_t free,
                          const uint32_t *shares)
{
    credits_spread(credits, count, free, 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(credits[i].share, shares[i]);
}

TEST(one_server_is_offered_all)
{
    struct credit one = {.usable = true};
    assert_shares(&one, 1, 8, (uint32_t[]){8});
    one.backlog = 3;
    assert_shares(&one, 1, 8, (uint32_t[]){8});
    assert_shares(&one, 1, 0, (uint32_t[]){0});
}

TEST(without_a_backlog_all_get_the_same)
{
    struct credit three[] = {{.usable = true}, {.usable = true}, {.usable = true}};
    assert_shares(three, 3, 9, (uint32_t[]){3, 3, 3});
    assert_shares(three, 3, 8, (uint32_t[]){3, 3, 2});
}

TEST(who_does_not_answer_gets_nothing)
{
    struct credit three[] = {{.usable = true}, {.backlog = 900}, {.usable = true}};
    assert_shares(three, 3, 8, (uint32_t[]){4, 0, 4});
    struct credit none[] = {{.backlog = 5}, {.backlog = 900}};
    assert_shares(none, 2, 8, (uint32_t[]){0, 0});
}

TEST(no_slot_idles_while_work_waits_somewhere)
{
    struct credit three[] = {{.usable = true}, {.usable = true, .backlog = 1000}, {.usable = true}};
    assert_shares(three, 3, 8, (uint32_t[]){0, 8, 0});
    three[1].backlog = 2;
    assert_shares(three, 3, 8, (uint32_t[]){2, 4, 2});
}

TEST(backlogs_share_by_their_length)
{
    struct credit three[] = {{.usable = true, .backlog = 300},
                             {.usable = true, .backlog = 100},
                             {.usable = true, .backlog = 1}};
    credits_spread(three, 3, 43, 0);
    assert_in_range(three[0].share, 30, 32);
    assert_in_range(three[1].share, 10, 12);
    assert_int_equal(three[2].share, 1);
}

TEST(an_idle_worker_with_one_slot_can_be_reached_by_all)
{
    struct credit three[] = {{.usable = true}, {.usable = true}, {.usable = true}};
    assert_shares(three, 3, 1, (uint32_t[]){1, 1, 1});
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(credits_offer(three, 3, 1, i), 1);
        three[i].out = 1;
    }
    for (size_t i = 0; i < 3; i++)
        assert_false(credits_moved(three, 3, 1, i));
    three[2].backlog = 5; /* no more of that once somebody has work */
    credits_spread(three, 3, 1, 0);
    assert_true(credits_moved(three, 3, 1, 0));
    assert_false(credits_moved(three, 3, 1, 2));
}

TEST(what_others_were_offered_is_not_offered_again)
{
    struct credit two[] = {{.usable = true, .out = 6}, {.usable = true, .backlog = 50}};
    credits_spread(two, 2, 8, 0);
    assert_int_equal(two[1].share, 8);
    assert_int_equal(credits_offer(two, 2, 8, 1), 2);
    assert_true(credits_moved(two, 2, 8, 0)); /* the other needs it */
    two[0].out = 0;
    assert_int_equal(credits_offer(two, 2, 8, 1), 8);
}

TEST(a_slot_that_becomes_free_is_offered_at_once)
{
    struct credit three[] = {
        {.usable = true, .out = 2}, {.usable = true}, {.usable = true, .out = 2}};
    credits_spread(three, 3, 8, 0);
    assert_int_equal(credits_offer(three, 3, 8, 1), 4);
    three[2].out = 0; /* who has nothing comes first */
    assert_int_equal(credits_offer(three, 3, 8, 1), 3);
}

TEST(even_shares_are_not_worth_a_poll)
{
    struct credit two[] = {{.usable = true, .out = 6}, {.usable = true, .out = 1}};
    credits_spread(two, 2, 8, 0);
    assert_false(credits_moved(two, 2, 8, 0));
    assert_false(credits_moved(two, 2, 8, 1));
    two[1].out = 0; /* but everybody should be able to reach us */
    assert_true(credits_moved(two, 2, 8, 1));
    two[0].out = 8;
    assert_true(credits_moved(two, 2, 8, 0));
}

/* ---- any servers, any backlogs */

static uint64_t seed(void)
{
    const char *text = getenv("BELFRY_SEED");
    uint64_t value = 1;
    if (text != NULL)
        str_to_u64(str_c(text), &value);
    return value;
}

static size_t draw(struct rng *rng, struct credit *credits)
{
    static const uint32_t lengths[] = {0, 0, 1, 2, 7, 50, 10000, UINT32_MAX};
    size_t count = 1 + rng_below(rng, SERVERS_MAX);
    for (size_t i = 0; i < count; i++)
        credits[i] =
            (struct credit){.usable = rng_below(rng, 5) > 0, .backlog = lengths[rng_below(rng, 8)]};
    return count;
}

static void check_spread(const struct credit *credits, size_t count, uint32_t free)
{
    uint32_t usable = 0;
    uint32_t hungry = 0;
    uint64_t backlog = 0;
    for (size_t i = 0; i < count; i++) {
        const struct credit *c = &credits[i];
        assert_true(c->usable || c->share == 0);
        usable += c->usable;
        hungry += c->usable && c->backlog > 0;
        backlog += c->usable ? c->backlog : 0;
    }
    bool exception = hungry == 0 && free > 0 && free < usable;
    assert_int_equal(sum(credits, count), usable == 0 ? 0 : exception ? usable : free);
    for (size_t i = 0; i < count; i++) {
        const struct credit *c = &credits[i];
        bool is_hungry = c->usable && c->backlog > 0;
        if (is_hungry && free >= hungry)
            assert_true(c->share > 0);
        if (c->usable && !is_hungry && backlog >= free)
            assert_true(c->share == 0 || exception);
    }
}

/* Everybody who has work is first once. */
static void check_turns(struct credit *credits, size_t count, uint32_t free)
{
    uint32_t got[SERVERS_MAX] = {0};
    for (uint64_t turn = 0; turn < count; turn++) {
        credits_spread(credits, count, free, turn);
        for (size_t i = 0; i < count; i++)
            got[i] += credits[i].share;
    }
    for (size_t i = 0; i < count; i++)
        assert_true(got[i] > 0 || !credits[i].usable || credits[i].backlog == 0);
}

/* Polls are sent as they are due, in any order, until nothing moves any more. */
static void check_settles(struct rng *rng, struct credit *credits, size_t count, uint32_t free)
{
    for (unsigned round = 0;; round++) {
        assert_true(round < 100);
        bool moved = false;
        size_t first = rng_below(rng, count);
        for (size_t i = 0; i < count; i++) {
            size_t me = (first + i) % count;
            credits_spread(credits, count, free, 0);
            if (!credits_moved(credits, count, free, me))
                continue;
            credits[me].out = credits_offer(credits, count, free, me);
            moved = true;
        }
        if (!moved)
            break;
    }
    uint32_t out = 0;
    for (size_t i = 0; i < count; i++) {
        out += credits[i].out;
        if (credits[i].usable && credits[i].backlog > 0)
            assert_true(credits[i].out >= credits[i].share);
        else if (credits[i].share > 0)
            assert_true(credits[i].out > 0);
    }
    uint32_t all = sum(credits, count);
    assert_true(out <= (all > free ? all : free));
}

TEST(credits_add_up_whatever_the_servers_say)
{
    struct rng rng = {.state = seed()};
    print_message("seed %llu\n", (unsigned long long)seed());
    for (unsigned i = 0; i < 20000; i++) {
        struct credit credits[SERVERS_MAX];
        size_t count = draw(&rng, credits);
        uint32_t free = (uint32_t)rng_below(&rng, rng_below(&rng, 4) == 0 ? 10000 : 12);
        credits_spread(credits, count, free, rng_below(&rng, 100));
        check_spread(credits, count, free);
        if (free > 0)
            check_turns(credits, count, free);
        for (size_t k = 0; k < count; k++) /* what some other day left */
            credits[k].out = credits[k].usable ? (uint32_t)rng_below(&rng, free + 2) : 0;
        check_settles(&rng, credits, count, free);
    }
}

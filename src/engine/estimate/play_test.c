/* Small plays whose ends can be reckoned by hand. */
#include "base/test/test.h"
#include "engine/estimate/play.h"

#include <string.h>

static struct play play;

static int begin_play(void **state)
{
    (void)state;
    play_free(&play);
    memset(&play, 0, sizeof play);
    play_reset(&play);
    return 0;
}

static int end_play(void **state)
{
    (void)state;
    play_free(&play);
    return 0;
}

static void add_crew(uint64_t slots)
{
    play.crews[play.crew_count++] = (struct play_crew){.slots = slots, .free = slots};
}

/* `len` that wait for the crews, with ranks from key on, and all take as long. */
static struct play_group *add_group(uint32_t crews, uint64_t key, uint64_t len, double mean_ms)
{
    struct play_group *g = &play.groups[play.group_count++];
    *g = (struct play_group){.crews = crews, .len = len, .mean_ms = mean_ms};
    for (size_t i = 0; i < PLAY_BARS; i++)
        g->bars[i].limit = UINT32_MAX;
    for (size_t i = 0; i < USUAL_LENGTHS; i++)
        g->lengths_ms[i] = mean_ms;
    g->sample_count = len < PLAY_SAMPLES ? len : PLAY_SAMPLES;
    for (size_t i = 0; i < g->sample_count; i++)
        g->samples[i] = (struct rank){key + (2 * i + 1) * len / (2 * g->sample_count), 0};
    return g;
}

static uint32_t add_limit(struct play_group *g, uint32_t max, double interval_ms)
{
    uint32_t limit = (uint32_t)play.limit_count++;
    g->bars[0] = (struct play_bar){limit, max, interval_ms};
    play.limits[limit] = (struct play_limit){
        .waiting = g->len, .max = max, .interval_ms = interval_ms, .mean_ms = g->mean_ms};
    return limit;
}

static double turn_of(size_t crew, uint64_t key)
{
    return progress_at_ms(&play.crews[crew].progress, (struct rank){key, 0});
}

static void assert_near(double found, double expected)
{
    if (found < expected * 0.93 - 1 || found > expected * 1.07 + 1)
        fail_msg("%.1f where it should be %.1f", found, expected);
}

TEST(with_free_slots_there_is_no_wait, begin_play, end_play)
{
    add_crew(4);
    add_group(1, 0, 3, 1000);
    play_run(&play);
    assert_near(turn_of(0, 2), 0);
    assert_near(turn_of(0, 100), 0);
}

TEST(those_of_a_burst_start_in_waves, begin_play, end_play)
{
    add_crew(4);
    add_group(1, 0, 12, 1000);
    play_run(&play);
    assert_near(turn_of(0, 3), 0);
    assert_near(turn_of(0, 4), 1000);
    assert_near(turn_of(0, 7), 1000);
    assert_near(turn_of(0, 11), 2000);
    assert_near(turn_of(0, 12), 3000); /* one that comes now */
}

TEST(runs_under_way_hold_their_slots_until_they_end, begin_play, end_play)
{
    struct play_bar none[PLAY_BARS];
    add_crew(2);
    play.crews[0].free = 0;
    add_group(1, 0, 2, 1000);
    memcpy(none, play.groups[0].bars, sizeof none);
    play_add_run(&play, 300, 1, 0, none);
    play_add_run(&play, 5000, 1, 0, none);
    play_run(&play);
    assert_near(turn_of(0, 0), 300);
    assert_near(turn_of(0, 1), 1300);
    assert_near(turn_of(0, 9), 2300);
}

TEST(a_hundred_thousand_cost_few_steps, begin_play, end_play)
{
    add_crew(20);
    add_group(1, 0, 100000, 1000);
    play_run(&play);
    assert_near(turn_of(0, 10000), 500000);
    assert_near(turn_of(0, 90000), 4500000);
    assert_true(play.steps < PLAY_STEPS);
}

TEST(slots_that_serve_two_lanes_are_shared_by_rank, begin_play, end_play)
{
    add_crew(4);
    add_crew(4);
    add_group(3, 0, 32, 1000);   /* served by both … */
    add_group(2, 1000, 8, 1000); /* … and behind it, by the second alone */
    play_run(&play);
    assert_near(turn_of(1, 31), 3000); /* the first has the four before it */
    assert_near(turn_of(1, 1001), 4000);
}

TEST(a_better_rank_passes_all_that_wait, begin_play, end_play)
{
    add_crew(1);
    add_group(1, 1000, 50, 1000);
    play_run(&play);
    assert_near(turn_of(0, 5), 0);
    assert_near(turn_of(0, 1049), 49000);
}

TEST(a_limit_lets_its_group_through_and_others_pass, begin_play, end_play)
{
    add_crew(10);
    uint32_t limit = add_limit(add_group(1, 0, 9, 1000), 2, 0);
    add_group(1, 100, 5, 1000);
    play_run(&play);
    assert_near(progress_at_ms(&play.limits[limit].progress, (struct rank){8, 0}), 4000);
    assert_near(turn_of(0, 104), 0);
}

TEST(a_rate_spaces_starts, begin_play, end_play)
{
    add_crew(10);
    uint32_t limit = add_limit(add_group(1, 0, 30, 100), 0, 2000);
    play_run(&play);
    assert_near(progress_at_ms(&play.limits[limit].progress, (struct rank){29, 0}), 58000);
    assert_near(progress_at_ms(&play.limits[limit].progress, (struct rank){30, 0}), 60000);
}

TEST(what_a_rate_keeps_leaves_its_key_and_its_slot_to_others, begin_play, end_play)
{
    add_crew(1);
    struct play_group *g = add_group(1, 0, 5, 100);
    uint32_t rate = add_limit(g, 0, 2000);
    g->bars[1] = g->bars[0];
    uint32_t key = add_limit(g, 3, 0);
    play_run(&play);
    assert_near(progress_at_ms(&play.limits[rate].progress, (struct rank){4, 0}), 8000);
    assert_near(progress_at_ms(&play.limits[key].progress, (struct rank){100, 0}), 0);
    assert_near(turn_of(0, 100), 100);
}

TEST(what_goes_on_coming_passes_who_has_a_low_priority, begin_play, end_play)
{
    add_crew(1);
    add_group(1, 1000000, 1, 1000); /* a thousand seconds behind what comes now */
    struct play_group *coming = add_group(1, 0, 0, 1000);
    coming->per_ms = 0.0005; /* half of what the slot can do */
    struct play_bar none[PLAY_BARS];
    memcpy(none, coming->bars, sizeof none);
    play.crews[0].free = 0;
    play_add_run(&play, 20000, 1, 0, none); /* ten have come by then, and five more meanwhile … */
    play_run(&play);
    double at_ms = turn_of(0, 1000000);
    assert_true(at_ms > 35000 && at_ms < 45000);
}

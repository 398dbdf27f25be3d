/* player_test.c - small worlds, and what becomes of them. */
#include "base/test/test.h"
#include "plan/count.h"
#include "plan/player.h"

#include <inttypes.h>

#define NOW_MS INT64_C(1767225600000) /* 2026-01-01, a Thursday */
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)

static struct world world;
static struct score score;
static struct player_end end;
static struct player_wish wish;
static uint64_t ids;

static int open_world(void **state)
{
    (void)state;
    world_open(&world);
    world.now_ms = NOW_MS;
    ids = UINT64_C(1) << 40;
    wish = (struct player_wish){.slots = 10, .assume_ms = MINUTE_MS, .firings_max = 1000000};
    score = (struct score){0};
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    score_close(&score);
    world_close(&world);
    return 0;
}

/* members: of the document, behind its name. */
static uint64_t add_job(const char *name, const char *members, int64_t p50_ms)
{
    struct job_rec rec = {
        .id = ids += 4096,
        .version = 1,
        .state = JOB_ACTIVE,
        .name = str_c(name),
        .queue = STR("default"),
        .owner = STR("admin"),
        .priority = 500,
        .created_ms = NOW_MS - HOUR_MS,
        .spec = arena_printf(&world.arena, "{%s%s%s\"command\":[\"true\"],%s}",
                             name[0] != '\0' ? "\"name\":\"" : "", name,
                             name[0] != '\0' ? "\"," : "", members),
    };
    world_add_job(&world, &rec, p50_ms);
    assert_non_null(world_job(&world, rec.id));
    return rec.id;
}

#define EACH_MINUTE "\"queue\":\"default\",\"schedule\":{\"cron\":\"* * * * *\"}"

static void play(int64_t for_ms)
{
    struct err err = {0};
    struct score_window window = {NOW_MS, NOW_MS + for_ms, HOUR_MS, STR(""), STR("")};
    world_settle(&world);
    score_close(&score);
    assert_int_equal(score_open(&score, &world, &window, &err), RC_OK);
    if (player_run(&world, &wish, &score, &end, &err) != RC_OK)
        fail_msg("%s", err.text);
}

static const struct counts *counts_of(const char *name)
{
    struct score_row *row = strmap_get(&score.rows_by_name, str_c(name));
    assert_non_null(row);
    return &row->counts;
}

TEST(a_schedule_fires_at_its_moments_and_runs_as_long_as_it_did, open_world, close_world)
{
    add_job("a", EACH_MINUTE, 2500);
    play(HOUR_MS + 1);
    assert_int_equal(counts_of("a")->firings, 60);
    assert_int_equal(counts_of("a")->starts, 60);
    assert_int_equal(counts_of("a")->waits, 0);
    assert_int_equal(counts_of("a")->busy_ms, 59 * 2500); /* the last one still runs */
    assert_int_equal(score.peak, 1);
    assert_int_equal(end.why, STOP_END);
    assert_int_equal(end.at_ms, NOW_MS + HOUR_MS + 1);
}

TEST(a_run_that_is_too_long_keeps_the_next_one_from_starting, open_world, close_world)
{
    add_job("skip", EACH_MINUTE ",\"overlap\":\"skip\"", 90000);
    add_job("queue", EACH_MINUTE ",\"overlap\":\"queue\"", 61000);
    add_job("replace", EACH_MINUTE ",\"overlap\":\"replace\"", 90000);
    add_job("parallel", EACH_MINUTE ",\"overlap\":\"parallel\"", 90000);
    play(10 * MINUTE_MS + 1);
    assert_int_equal(counts_of("skip")->skips[SKIP_OVERLAP], 5);
    assert_int_equal(counts_of("skip")->starts, 5);
    assert_int_equal(counts_of("queue")->queued, 9);
    assert_int_equal(counts_of("queue")->wait_max_ms, 8000);
    assert_int_equal(counts_of("replace")->replaced, 9);
    assert_int_equal(counts_of("replace")->starts, 10);
    assert_int_equal(counts_of("parallel")->parallel, 9);
    assert_int_equal(score.all.overlaps, 5 + 9 + 9 + 9);
}

TEST(few_slots_make_runs_wait_and_late, open_world, close_world)
{
    wish.slots = 1;
    for (int i = 0; i < 4; i++)
        add_job((const char *[]){"a", "b", "c", "d"}[i],
                "\"queue\":\"default\",\"schedule\":{\"cron\":\"30 * * * *\"}", 40000);
    play(HOUR_MS);
    assert_int_equal(score.all.starts, 4);
    assert_int_equal(score.all.waits, 3);
    assert_int_equal(score.all.wait_max_ms, 120000);
    assert_int_equal(score.all.wait_max_at_ms, NOW_MS + HOUR_MS / 2);
    assert_int_equal(score.all.late, 2); /* a minute is not more than a minute */
    assert_int_equal(score.peak, 1);
    assert_int_equal(score.steps[0].peak, 1);
}

#define HOURLY "\"queue\":\"default\",\"schedule\":{\"cron\":\"0 * * * *\"}"

TEST(limits_rates_and_teams_hold_runs_back, open_world, close_world)
{
    *VEC_PUSH(&world.arena, &world.teams) =
        (struct team_rec){.name = STR("t"), .concurrency = 2, .changed_ms = NOW_MS};
    for (int i = 0; i < 3; i++) {
        add_job((const char *[]){"k1", "k2", "k3"}[i],
                HOURLY ",\"concurrency\":{\"key\":\"k\",\"limit\":1}", 10000);
        add_job((const char *[]){"r1", "r2", "r3"}[i],
                HOURLY ",\"rate\":{\"key\":\"r\",\"limit\":1,\"per\":\"7m\"}", 1000);
        add_job((const char *[]){"t1", "t2", "t3"}[i], HOURLY ",\"team\":\"t\"", 30000);
    }
    play(2 * HOUR_MS);
    assert_int_equal(counts_of("k3")->wait_max_ms, 20000);
    assert_int_equal(counts_of("r3")->wait_max_ms, 14 * MINUTE_MS);
    assert_int_equal(counts_of("t2")->wait_max_ms, 0);
    assert_int_equal(counts_of("t3")->wait_max_ms, 30000);
    assert_int_equal(score.all.starts, 9);
}

TEST(what_must_start_in_time_is_late_or_expires, open_world, close_world)
{
    wish.slots = 1;
    add_job("first", HOURLY, 10 * MINUTE_MS);
    add_job("late", HOURLY ",\"start_within\":\"5m\"", 1000);
    add_job("patient", HOURLY ",\"start_within\":\"30m\"", 1000);
    add_job("gone", HOURLY ",\"expires_in\":\"5m\"", 1000);
    play(2 * HOUR_MS);
    assert_int_equal(counts_of("late")->late, 1);
    assert_int_equal(counts_of("patient")->late, 0);
    assert_int_equal(counts_of("gone")->expired, 1);
    assert_int_equal(counts_of("gone")->late, 1);
    assert_int_equal(counts_of("gone")->starts, 0);
}

TEST(without_workers_nothing_starts, open_world, close_world)
{
    wish.slots = 0;
    add_job("a", EACH_MINUTE, 1000);
    play(5 * MINUTE_MS);
    assert_int_equal(end.slots, 0);
    assert_int_equal(score.all.firings, 4);
    assert_int_equal(score.all.starts, 0);
    assert_int_equal(score.all.never, 1); /* the first; it is in the way of the others */
    assert_int_equal(score.all.skips[SKIP_OVERLAP], 3);
}

TEST(workers_take_what_they_serve, open_world, close_world)
{
    wish.slots = 0;
    *VEC_PUSH(&world.arena, &world.crews) =
        (struct world_crew){.queues = STR("default"), .runs_commands = true, .slots = 100};
    add_job("served", EACH_MINUTE, 1000);
    add_job("not", "\"queue\":\"other\",\"schedule\":{\"cron\":\"* * * * *\"}", 1000);
    play(3 * MINUTE_MS);
    assert_int_equal(end.slots, 100);
    assert_int_equal(counts_of("served")->starts, 2);
    assert_int_equal(counts_of("not")->starts, 0);
}

TEST(a_strict_sla_stops_a_run_and_each_that_follows, open_world, close_world)
{
    add_job("strict",
            "\"queue\":\"default\",\"schedule\":{\"cron\":\"0 * * * *\"},"
            "\"retry\":{\"max_retries\":1,\"policy\":\"fixed\",\"delay\":\"1s\",\"jitter\":0},"
            "\"sla\":{\"max\":\"10s\",\"policy\":\"strict\"}",
            20000);
    play(2 * HOUR_MS);
    assert_int_equal(counts_of("strict")->starts, 1);
    assert_int_equal(counts_of("strict")->sla_max, 1);
    assert_int_equal(counts_of("strict")->busy_ms, 21000); /* twice ten seconds, and the delay */
}

TEST(a_timeout_cuts_a_run_and_an_sla_is_at_risk, open_world, close_world)
{
    add_job("cut",
            "\"queue\":\"default\",\"timeout\":\"10s\",\"schedule\":{\"cron\":\"0 * * * *\"}",
            20000);
    add_job("slow",
            "\"queue\":\"default\",\"schedule\":{\"cron\":\"0 * * * *\"},"
            "\"sla\":{\"expected\":\"5s\",\"max\":\"30s\",\"policy\":\"flexible\"}",
            20000);
    play(2 * HOUR_MS);
    assert_int_equal(counts_of("cut")->cut, 1);
    assert_int_equal(counts_of("cut")->busy_ms, 10000);
    assert_int_equal(counts_of("slow")->sla_expected, 1);
    assert_int_equal(counts_of("slow")->sla_max, 0);
}

TEST(a_slot_waits_for_the_slot_of_another_job, open_world, close_world)
{
    uint64_t up =
        add_job("up", "\"queue\":\"default\",\"schedule\":{\"cron\":\"0 * * * *\"}", 90000);
    uint64_t down =
        add_job("down", "\"queue\":\"default\",\"schedule\":{\"cron\":\"0 * * * *\"}", 1000);
    *VEC_PUSH(&world.arena, &world.dependencies) = (struct dependency_rec){
        .upstream = up, .dependant = down, .type = DEPENDS_SUCCESS, .state = DEPENDENCY_PER_SLOT};
    play(3 * HOUR_MS + 2 * MINUTE_MS);
    assert_int_equal(counts_of("down")->starts, 3);
    assert_int_equal(counts_of("down")->waits, 3);
    assert_int_equal(counts_of("down")->wait_max_ms, 90000);
}

TEST(what_is_under_way_goes_on_and_what_waits_is_played, open_world, close_world)
{
    uint64_t running = add_job("running", EACH_MINUTE ",\"overlap\":\"skip\"", 150000);
    uint64_t waiting = add_job("", "\"queue\":\"default\"", -1);
    wish.slots = 1;
    *VEC_PUSH(&world.arena, &world.runs) = (struct exec_rec){.id = running + 2,
                                                             .job_id = running,
                                                             .state = EXEC_RUNNING,
                                                             .origin = ORIGIN_SLOT,
                                                             .queue = STR("default"),
                                                             .slot_ms = NOW_MS - MINUTE_MS,
                                                             .nominal_ms = NOW_MS - MINUTE_MS,
                                                             .ready_ms = NOW_MS - MINUTE_MS,
                                                             .created_ms = NOW_MS - MINUTE_MS,
                                                             .started_ms = NOW_MS - MINUTE_MS,
                                                             .attempts = 1,
                                                             .token = 1,
                                                             .worker_id = 77};
    *VEC_PUSH(&world.arena, &world.runs) = (struct exec_rec){.id = waiting + 1,
                                                             .job_id = waiting,
                                                             .state = EXEC_QUEUED,
                                                             .origin = ORIGIN_ONCE,
                                                             .queue = STR("default"),
                                                             .slot_ms = NOW_MS - MINUTE_MS,
                                                             .ready_ms = NOW_MS - MINUTE_MS,
                                                             .created_ms = NOW_MS - MINUTE_MS,
                                                             .first = true};
    play(100000);
    const struct counts *once = counts_of("(once, without a name)");
    assert_int_equal(once->firings, 1);
    assert_int_equal(once->wait_max_ms, 90000); /* until the one that runs has taken 150 s */
    assert_int_equal(counts_of("running")->skips[SKIP_OVERLAP], 1);
}

TEST(runs_that_no_job_can_have_are_left_out, open_world, close_world)
{
    uint64_t once = add_job("once", "\"queue\":\"default\"", 1000);
    uint64_t often = add_job("often", EACH_MINUTE, 1000);
    *VEC_PUSH(&world.arena, &world.runs) = (struct exec_rec){.id = once + 1,
                                                             .job_id = once,
                                                             .state = EXEC_SCHEDULED,
                                                             .origin = ORIGIN_SLOT,
                                                             .slot_ms = NOW_MS + MINUTE_MS,
                                                             .due_ms = NOW_MS + MINUTE_MS};
    *VEC_PUSH(&world.arena, &world.runs) = (struct exec_rec){.id = often + 1,
                                                             .job_id = often,
                                                             .state = EXEC_SCHEDULED,
                                                             .origin = ORIGIN_ONCE,
                                                             .due_ms = NOW_MS + MINUTE_MS};
    world_add_job(&world, &world_job(&world, often)->rec, 1000); /* on the next page, too */
    play(HOUR_MS);
    assert_int_equal(end.left_out, 1);
    assert_int_equal(counts_of("once")->firings, 0);
    assert_int_equal(counts_of("often")->firings, 59);
    assert_int_equal(score.all.starts, 59);
}

TEST(it_stops_at_the_most_firings_and_says_where, open_world, close_world)
{
    wish.firings_max = 7;
    add_job("a", EACH_MINUTE, 1000);
    play(HOUR_MS);
    assert_int_equal(end.why, STOP_FIRINGS);
    assert_int_equal(end.at_ms, NOW_MS + 7 * MINUTE_MS);
    assert_int_equal(score.all.firings, 7);
}

TEST(a_paused_job_and_a_paused_queue_do_not_start_and_are_not_late, open_world, close_world)
{
    uint64_t paused = add_job("paused", EACH_MINUTE, 1000);
    world_job(&world, paused)->rec.state = JOB_PAUSED;
    add_job("held-up", "\"queue\":\"q\",\"schedule\":{\"cron\":\"* * * * *\"}", 1000);
    *VEC_PUSH(&world.arena, &world.queues) =
        (struct queue_rec){.name = STR("q"), .paused = true, .paused_ms = NOW_MS};
    play(HOUR_MS);
    assert_int_equal(counts_of("paused")->firings, 0);
    assert_int_equal(counts_of("held-up")->starts, 0);
    assert_int_equal(counts_of("held-up")->never, 1);
    assert_int_equal(score.all.late, 0);
}

static void add_many(void)
{
    static const char *const kinds[] = {"skip", "queue", "parallel", "replace"};
    for (int i = 0; i < 60; i++) {
        const char *name = arena_printf(&world.arena, "job-%d", i).ptr;
        const char *members =
            arena_printf(&world.arena,
                         "\"queue\":\"q%d\",\"schedule\":{\"cron\":\"%d/%d * * * *\"},"
                         "\"overlap\":\"%s\",\"concurrency\":{\"key\":\"k%d\",\"limit\":2}",
                         i % 5, i % 7, 3 + i % 11, kinds[i % 4], i % 3)
                .ptr;
        add_job(name, members, 1000 + 7919 * i % 200000);
    }
}

TEST(the_same_world_gives_the_same_plan, open_world, close_world)
{
    add_many();
    wish.slots = 3;
    play(6 * HOUR_MS);
    struct counts first = score.all;
    uint64_t turns = end.turns;
    uint32_t busiest = score.hours[3];
    assert_true(first.waits > 100 && first.overlaps > 100);
    play(6 * HOUR_MS);
    assert_memory_equal(&score.all, &first, sizeof first);
    assert_int_equal(end.turns, turns);
    assert_int_equal(score.hours[3], busiest);
    assert_true(score.peak <= 3);
}

TEST(counting_finds_the_firings_that_playing_does, open_world, close_world)
{
    struct err err = {0};
    add_many();
    add_job("every", "\"queue\":\"q\",\"schedule\":{\"every\":\"7m\"},\"stagger\":\"20m\"", 1000);
    wish.slots = 200;
    play(30 * HOUR_MS);
    struct score played = score;
    score = (struct score){0};
    assert_int_equal(score_open(&score, &world, &played.window, &err), RC_OK);
    assert_int_equal(count_run(&world, NULL, 1000000, &score, &end, &err), RC_OK);
    for (size_t i = 0; i < played.rows.len; i++) {
        const struct score_row *row = played.rows.items[i];
        const struct score_row *other = strmap_get(&score.rows_by_name, row->name);
        if (row->counts.firings != other->counts.firings)
            fail_msg("%.*s: %" PRIu64 " and %" PRIu64, STR_ARG(row->name), row->counts.firings,
                     other->counts.firings);
    }
    assert_int_equal(score.all.firings, played.all.firings);
    assert_memory_equal(score.hours, played.hours, played.hour_count * sizeof *played.hours);
    score_close(&played);
}

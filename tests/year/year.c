/* year.c - a year of a thousand schedules in ten time zones, in seconds.
 *
 *   year [SEED]
 *
 * Real turns, the real engine and the store in memory, under a virtual clock that leaps from one
 * moment at which the engine wants something to the next. On the way the server dies, stays down for
 * minutes or for weeks, commits are busy or of unknown outcome, and the wall clock is set back and
 * forth. Every slot must have exactly one outcome (ledger.h). Whoever runs the jobs does so at once:
 * what happens between server and workers is for tests/sim. */
#include "base/log.h"
#include "base/rng.h"
#include "base/vec.h"
#include "ledger.h"
#include "loop/zones.h"
#include "server/turn/rules.h"
#include "server/turn/turn.h"
#include "wire/spec/spec_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define BEGIN_MS INT64_C(1767225600000) /* 2026-01-01 UTC */

enum {
    SLOTS = 5000,
    DOWNTIMES = 20,
    CRASHES = 500,
    STEPS = 40,
    EDITS = 1000,
    TROUBLED_COMMITS = 2000,
};

static const char *const zone_names[] = {
    "Europe/Berlin",    "America/New_York",  "Australia/Lord_Howe", "Asia/Kathmandu",
    "America/St_Johns", "Africa/Casablanca", "Pacific/Chatham",     "America/Santiago",
    "Asia/Kolkata",     "Europe/London",
};

struct year {
    struct store store;  /* what turns are given: counts, and fails on purpose */
    struct store *inner; /* owned */
    struct turn turn;
    struct engine_options options;
    struct zones *zones;
    struct rng rng;
    struct arena arena;     /* of the whole year */
    struct arena arenas[2]; /* of a poll and of the one before, whose leases it reports */
    int64_t boot_ms;
    int64_t skew_ms;
    struct ledger ledger;
    uint64_t worker_id;
    uint64_t seq;
    struct poll_reply reply; /* to the newest poll */
    uint64_t daily;          /* jobs that run once a day */
    uint64_t turns;
    uint64_t starts;
};

static uint64_t pick(struct year *y, uint64_t below)
{
    return rng_below(&y->rng, below);
}

static struct moment now_of(const struct year *y)
{
    return (struct moment){.wall_ms = y->boot_ms + y->skew_ms, .boot_ms = y->boot_ms};
}

static void must(enum rc rc, const struct err *err)
{
    if (rc == RC_OK)
        return;
    printf("broken promise: %s: %s\n", rc_name(rc), err->text);
    exit(1);
}

/* ---- the store's door */

static struct year *year_of(struct store *store)
{
    return (struct year *)(void *)store;
}

static enum rc own(struct store *s, struct str node, struct ownership *ret_owned, struct err *err)
{
    return year_of(s)->inner->ops->own(year_of(s)->inner, node, ret_owned, err);
}

static enum rc admit(struct store *s, const struct ownership *owned,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err)
{
    return year_of(s)->inner->ops->admit(year_of(s)->inner, owned, questions, count, arena, err);
}

static enum rc fetch(struct store *s, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                     struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    return year_of(s)->inner->ops->fetch(year_of(s)->inner, job_id, exec_id, arena, ret_spec,
                                         ret_payload, err);
}

static enum rc commit(struct store *s, const struct ownership *owned, const struct delta *delta,
                      struct err *err)
{
    struct year *y = year_of(s);
    uint64_t dice = pick(y, TROUBLED_COMMITS);
    if (dice < 4) {
        y->inner->ops->abort(y->inner);
        return err_set(err, dice < 2 ? RC_BUSY : RC_UNKNOWN, "nothing was kept");
    }
    TRY(y->inner->ops->commit(y->inner, owned, delta, err));
    ledger_keep(&y->ledger, delta, now_of(y).wall_ms);
    return dice < 6 ? err_set(err, RC_UNKNOWN, "it was kept") : RC_OK;
}

static void abort_turn(struct store *s)
{
    year_of(s)->inner->ops->abort(year_of(s)->inner);
}

static enum rc settle(struct store *s, const struct ownership *owned, uint64_t turn,
                      enum settled *ret_settled, struct err *err)
{
    return year_of(s)->inner->ops->settle(year_of(s)->inner, owned, turn, ret_settled, err);
}

static enum rc load(struct store *s, const struct ownership *own, int64_t until_ms,
                    const struct load_sink *sink, struct err *err)
{
    return year_of(s)->inner->ops->load(year_of(s)->inner, own, until_ms, sink, err);
}

static const struct store_ops ops = {
    .own = own,
    .admit = admit,
    .fetch = fetch,
    .commit = commit,
    .abort = abort_turn,
    .settle = settle,
    .load = load,
};

/* ---- the server */

static void start(struct year *y)
{
    char node[32];
    struct err err = {0};
    snprintf(node, sizeof node, "server-%" PRIu64, ++y->starts);
    must(turn_open(&y->turn, &y->store, str_c(node), &y->options, now_of(y), &err), &err);
}

/* A turn that could not be kept is tried again until it is. */
static void run(struct year *y, struct command *cmd)
{
    struct turn_news news;
    struct err err = {0};
    enum rc rc;
    do {
        rc = turn_run(&y->turn, &cmd, cmd == NULL ? 0 : 1, now_of(y), &news, &err);
        y->turns++;
    } while (rc == RC_BUSY);
    must(rc, &err);
    if (cmd != NULL)
        must(cmd->reply.rc, &cmd->reply.err);
}

/* ---- the worker, which does everything at once */

static void register_worker(struct year *y)
{
    struct command cmd = {.kind = CMD_REGISTER, .actor = STR("key:worker"), .arena = &y->arena};
    cmd.hello = (struct hello){.name = STR("worker"), .runs_commands = true, .slots = SLOTS};
    run(y, &cmd);
    y->worker_id = cmd.reply.worker_id;
}

static struct arena *next_arena(struct year *y)
{
    struct arena *arena = &y->arenas[y->seq % 2];
    arena_reset(arena);
    return arena;
}

/* Reports what the poll before was given, and takes what there is. */
static void poll(struct year *y)
{
    struct command cmd = {.kind = CMD_POLL, .actor = STR("key:worker"), .arena = next_arena(y)};
    struct poll_result *results = ARENA_ARRAY(cmd.arena, struct poll_result, y->reply.lease_count);
    for (size_t i = 0; i < y->reply.lease_count; i++)
        results[i] = (struct poll_result){.exec_id = y->reply.leases[i].exec_id,
                                          .token = y->reply.leases[i].token,
                                          .outcome = OUTCOME_SUCCEEDED};
    cmd.poll = (struct poll){.worker_id = y->worker_id,
                             .seq = ++y->seq,
                             .free = SLOTS,
                             .results = results,
                             .result_count = y->reply.lease_count};
    run(y, &cmd);
    y->reply = cmd.reply.poll;
}

static void work(struct year *y)
{
    do
        poll(y);
    while (y->reply.lease_count > 0);
}

/* ---- a thousand schedules */

static bool is_one_bit(uint64_t bits)
{
    return bits != 0 && (bits & (bits - 1)) == 0;
}

/* A time of day that is promised once a day: it is not lost in a gap and does not happen twice. */
static bool is_daily(const struct spec *spec)
{
    const struct cron *cron = &spec->cron;
    bool every_day = cron->days == 0xfffffffe && cron->months == 0x1ffe && cron->weekdays == 0x7f;
    return spec->when == WHEN_CRON && spec->gap == CRON_GAP_AFTER && spec->fold != CRON_FOLD_BOTH &&
           every_day && is_one_bit(cron->minutes) && is_one_bit(cron->hours);
}

static struct str draw_expression(struct year *y)
{
    uint64_t dice = pick(y, 100);
    uint64_t minute = pick(y, 60);
    uint64_t hour = pick(y, 2) == 0 ? pick(y, 4) : pick(y, 24); /* clocks change at night */
    uint64_t day = pick(y, 7);
    if (dice < 72)
        return arena_printf(&y->arena, "%" PRIu64 " %" PRIu64 " * * *", minute, hour);
    if (dice < 84)
        return arena_printf(&y->arena, "%" PRIu64 " %" PRIu64 " * * %" PRIu64, minute, hour, day);
    if (dice < 90)
        return arena_printf(&y->arena, "%" PRIu64 " %" PRIu64 " L * *", minute, hour);
    if (dice < 94)
        return arena_printf(&y->arena, "%" PRIu64 " */6 * * *", minute);
    if (dice < 97)
        return STR("*/20 1-3 * * *");
    if (dice < 99)
        return STR("30 2 29 2 *");
    return arena_printf(&y->arena, "%" PRIu64 " * * * *", minute);
}

static void draw_when(struct year *y, struct spec *spec)
{
    struct err err = {0};
    struct str prefix;
    if (pick(y, 20) == 0) {
        spec->when = WHEN_EVERY;
        spec->when_ms = (int64_t)(30 + pick(y, 3000)) * MINUTE_MS;
        return;
    }
    spec->when = WHEN_CRON;
    spec->cron_text = draw_expression(y);
    spec->timezone = spec->zone = str_c(zone_names[pick(y, COUNT_OF(zone_names))]);
    spec->gap = (enum cron_gap)pick(y, CRON_GAP_SKIP + 1);
    spec->fold = (enum cron_fold)pick(y, CRON_FOLD_BOTH + 1);
    must(cron_parse(spec->cron_text, &(struct cron_options){0}, &spec->cron, &prefix, &err), &err);
}

static struct spec draw_spec(struct year *y)
{
    static const struct str argv[] = {STR_INIT("true")};
    struct spec spec = {
        .work = WORK_ARGV,
        .argv = argv,
        .argc = 1,
        .queue = STR("default"),
        .priority = SPEC_PRIORITY_DEFAULT,
        .retry = retry_default,
        .misfire = misfire_default,
    };
    draw_when(y, &spec);
    spec.overlap = (enum overlap)pick(y, OVERLAP_REPLACE + 1);
    spec.misfire.policy = (enum misfire_policy)pick(y, MISFIRE_SKIP + 1);
    spec.misfire.limit = 1 + (uint32_t)pick(y, 50);
    spec.misfire.grace_ms = pick(y, 2) == 0 ? DAY_MS : 20 * DAY_MS;
    if (pick(y, 4) == 0)
        spec.stagger_ms = 30 * MINUTE_MS;
    return spec;
}

static struct submission item_of(struct year *y, const struct spec *spec, size_t no)
{
    struct err err = {0};
    struct submission item = {
        .owner = STR("admin"),
        .spec = spec_text(spec, &y->arena),
        .payload = arena_printf(&y->arena, "{\"n\":%zu}", no),
        .when = spec->when,
        .when_ms = spec->when_ms,
    };
    must(rules_make(y->zones, spec, &y->arena, &item.rules, &err), &err);
    return item;
}

static void submit(struct year *y, size_t no)
{
    struct planned *p = &y->ledger.jobs[no];
    struct spec spec = draw_spec(y);
    struct submission item = item_of(y, &spec, no);
    p->schedule = *item.rules.schedule;
    p->stagger_ms = spec.stagger_ms;
    p->daily = is_daily(&spec);
    y->daily += p->daily;
    struct command cmd = {.kind = CMD_SUBMIT, .actor = STR("key:admin"), .arena = &y->arena};
    cmd.submit.items = &item;
    cmd.submit.count = 1;
    run(y, &cmd);
    must(item.rc, item.err);
}

/* Somebody wants another schedule for a job. Everything that is due has been decided. */
static void edit(struct year *y)
{
    size_t no = pick(y, JOBS);
    struct planned *p = &y->ledger.jobs[no];
    struct spec spec = draw_spec(y);
    struct submission item = item_of(y, &spec, no);
    p->wish = *item.rules.schedule;
    p->wish_stagger_ms = spec.stagger_ms;
    p->wish_daily = is_daily(&spec);
    struct command cmd = {.kind = CMD_EDIT_JOB, .actor = STR("key:admin"), .arena = &y->arena};
    cmd.edit.id = p->job_id;
    cmd.edit.version = p->version;
    cmd.edit.replan = true;
    cmd.edit.what = STR("schedule");
    cmd.edit.item = &item;
    run(y, &cmd);
}

/* ---- the year */

static void begin(struct year *y, uint64_t seed)
{
    y->store.ops = &ops;
    y->inner = store_mem_open();
    y->rng.state = seed;
    y->skew_ms = BEGIN_MS;
    y->zones = zones_new(NULL);
    y->options = engine_defaults;
    y->options.lease_ms = 60 * DAY_MS; /* the worker is never in doubt */
    y->options.forget_ms = 400 * DAY_MS;
    y->options.alerts_keep_ms = y->options.tallies_keep_ms = 0;
    y->options.history_keep_ms = y->options.letters_keep_ms = 0; /* the ledger looks at all of it */
    y->options.rules_arg = y->zones;
    start(y);
    register_worker(y);
    for (size_t i = 0; i < JOBS; i++)
        submit(y, i);
}

static void end(struct year *y)
{
    turn_close(&y->turn);
    y->inner->ops->close(y->inner);
    zones_free(y->zones);
    map_free(&y->ledger.by_id);
    arena_free(&y->arenas[0]);
    arena_free(&y->arenas[1]);
    arena_free(&y->arena);
}

/* So often in the year, by chance, when it is asked so often. */
static bool strikes(struct year *y, uint64_t times, int64_t passed_ms)
{
    return pick(y, (uint64_t)(365 * DAY_MS)) < times * (uint64_t)passed_ms;
}

static void go_down(struct year *y, int64_t for_ms)
{
    turn_close(&y->turn);
    y->boot_ms += for_ms;
    start(y);
}

static int64_t draw_downtime_ms(struct year *y)
{
    static const int64_t most_ms[] = {HOUR_MS, DAY_MS, 21 * DAY_MS};
    return MINUTE_MS + (int64_t)pick(y, (uint64_t)most_ms[pick(y, COUNT_OF(most_ms))]);
}

static void trouble(struct year *y, int64_t passed_ms)
{
    if (strikes(y, CRASHES, passed_ms))
        go_down(y, (int64_t)pick(y, 5000));
    if (strikes(y, DOWNTIMES, passed_ms))
        go_down(y, draw_downtime_ms(y));
    if (strikes(y, STEPS, passed_ms))
        y->skew_ms += (int64_t)pick(y, (uint64_t)(4 * HOUR_MS)) - 2 * HOUR_MS;
}

static void live(struct year *y)
{
    while (now_of(y).wall_ms < BEGIN_MS + 365 * DAY_MS) {
        int64_t wait_ms = engine_wait_ms(y->turn.engine, now_of(y));
        y->boot_ms += wait_ms;
        work(y);
        if (strikes(y, EDITS, wait_ms))
            edit(y);
        trouble(y, wait_ms);
    }
    while (engine_wait_ms(y->turn.engine, now_of(y)) == 0)
        work(y);
}

int main(int argc, char **argv)
{
    static struct year y;
    uint64_t seed = 1;
    if (argc > 1 && !str_to_u64(str_c(argv[1]), &seed))
        return 2;
    log_set_level((enum log_level)(LOG_ERROR + 1));
    begin(&y, seed);
    live(&y);
    ledger_close(&y.ledger, now_of(&y).wall_ms);
    printf("year %" PRIu64 ": %d schedules (%" PRIu64 " of them daily), %" PRIu64
           " slots fired, %" PRIu64 " skipped (%" PRIu64 " ranges), %" PRIu64 " edits, %" PRIu64
           " turns, %" PRIu64 " starts\n",
           seed, JOBS, y.daily, y.ledger.fired, y.ledger.skipped, y.ledger.ranges, y.ledger.edits,
           y.turns, y.starts);
    end(&y);
    return 0;
}

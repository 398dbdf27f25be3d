#include "bench/measure/measure.h"
#include "bench/harness/backlog.h"
#include "bench/harness/load.h"
#include "bench/measure/commands.h"
#include "bench/measure/due.h"
#include "bench/measure/latency.h"
#include "bench/measure/limits.h"
#include "bench/measure/mixed.h"
#include "bench/measure/rescue.h"
#include "bench/measure/schedules.h"
#include "bench/measure/storm.h"

#include <inttypes.h>

enum {
    /* Enough batches under way that the server always has one to read while it keeps another; more
     * only add to what waits. */
    LIFE_CLIENTS = 4,
    FLOOD_SPAN_MS = 1000,
    /* More than the processors can run at once, so that none waits for the next one; few enough
     * that the bare loop does not measure the scheduler. */
    COMMANDS_AT_ONCE = 16,
};

/* What a measurement saw. */
struct seen {
    uint64_t requests;
    uint64_t jobs; /* acknowledged */
    uint64_t runs; /* of jobs that recur; 0: each ran once, or not at all */
    int64_t wall_us;
    struct hist answer_us;
    struct hist start_us; /* empty where it is not measured, as is the next */
    struct hist late_us;
    int64_t all_started_us;    /* from the first moment that was due; 0: nothing was */
    int64_t bare_us;           /* the same without belfry; 0: there is nothing to compare with */
    struct limits_seen limits; /* empty where there is nothing to compare */
    struct storm storm;        /* the same */
    struct rescue rescue;
    struct mixed mixed;
    uint64_t failed;     /* of the jobs, for good */
    uint64_t more_tries; /* as in struct ledger_truth */
};

enum hands {
    HANDS_NONE,
    HANDS_HANDLER,
    HANDS_LATER, /* the same, started by the measurement itself */
    HANDS_COMMANDS,
};

struct measure {
    const char *name;
    enum hands hands; /* the workers that run the jobs */
    bool by_name;     /* takes a while: only when it is asked for */
    uint64_t jobs;    /* unless the options say otherwise */
    int64_t seconds;
    enum rc (*run)(struct fixture *fixture, const struct measure_options *options,
                   struct seen *ret_seen, struct err *err);
    const char *setting; /* of the server; NULL: none */
};

/* As long as those that people make up: a version 4 UUID. */
static void print_keyed(void *arg, uint64_t number, struct buf *out)
{
    (void)arg;
    uint64_t mixed = number * UINT64_C(0x9e3779b97f4a7c15);
    buf_printf(out,
               "{\"handler\":\"" ROLE_HANDLER "\",\"idempotency_key\":\"%016" PRIx64 "-%019" PRIu64
               "\"}",
               mixed, number);
}

/* ---- life */

struct call_goal {
    const struct fixture *fixture;
    uint64_t calls;
};

static bool all_called(const void *arg)
{
    const struct call_goal *goal = arg;
    return fixture_note(goal->fixture)->calls >= goal->calls;
}

/* Waits for the worker to have run so many jobs, and to have heard that each result is durable. */
static enum rc finish_calls(struct fixture *fixture, uint64_t calls, struct err *err)
{
    struct call_goal goal = {fixture, calls};
    TRY(fixture_wait(fixture, all_called, &goal, "jobs to be run", err));
    TRY(fixture_drain(fixture, err));
    if (fixture_note(fixture)->calls == calls)
        return RC_OK;
    return err_set(err, RC_CORRUPT, "the handler was called %" PRIu64 " times for %" PRIu64 " jobs",
                   fixture_note(fixture)->calls, calls);
}

/* The whole life of jobs that do nothing: submitted in batches, given out, run, reported. */
static enum rc run_life(struct fixture *fixture, const struct measure_options *options,
                        struct seen *ret_seen, struct err *err)
{
    struct load load;
    struct load_plan plan = {
        .clients = LIFE_CLIENTS,
        .batch = options->batch,
        .print = options->keys ? print_keyed : NULL,
        .jobs_max = options->jobs,
        .seconds_max = options->seconds,
    };
    TRY(load_run(fixture, &plan, &load, err));
    TRY(finish_calls(fixture, load.jobs, err));
    ret_seen->requests = load.requests;
    ret_seen->jobs = load.jobs;
    ret_seen->wall_us = (int64_t)fixture_note(fixture)->drained_us - load.begun_us;
    ret_seen->answer_us = load.answer_us;
    return RC_OK;
}

/* ---- submit */

/* One job per request, each durable before it is answered. They are not run. */
static enum rc run_submit(struct fixture *fixture, const struct measure_options *options,
                          struct seen *ret_seen, struct err *err)
{
    struct load load;
    struct load_plan plan = {
        .clients = options->clients,
        .print = options->keys ? print_keyed : NULL,
        .jobs_max = options->jobs,
        .seconds_max = options->seconds,
    };
    TRY(load_run(fixture, &plan, &load, err));
    ret_seen->requests = load.requests;
    ret_seen->jobs = load.jobs;
    ret_seen->wall_us = load.ended_us - load.begun_us;
    ret_seen->answer_us = load.answer_us;
    return RC_OK;
}

/* ---- latency */

static enum rc run_latency(struct fixture *fixture, const struct measure_options *options,
                           struct seen *ret_seen, struct err *err)
{
    struct latency latency;
    struct latency_plan plan = {.jobs_max = options->jobs, .seconds_max = options->seconds};
    TRY(latency_run(fixture, &plan, &latency, err));
    TRY(finish_calls(fixture, latency.jobs, err));
    ret_seen->requests = ret_seen->jobs = latency.jobs;
    ret_seen->wall_us = latency.ended_us - latency.begun_us;
    ret_seen->answer_us = latency.answer_us;
    ret_seen->start_us = latency.start_us;
    return RC_OK;
}

/* ---- moments */

static enum rc run_due(struct fixture *fixture, const struct measure_options *options,
                       int64_t span_ms, struct seen *ret_seen, struct err *err)
{
    struct due due;
    struct due_plan plan = {.jobs = options->jobs, .batch = options->batch, .span_ms = span_ms};
    TRY(due_run(fixture, &plan, &due, err));
    TRY(finish_calls(fixture, due.load.jobs, err));
    ret_seen->requests = due.load.requests;
    ret_seen->jobs = due.load.jobs;
    ret_seen->wall_us = due.all_us - due.load.begun_us;
    ret_seen->late_us = due.late_us;
    ret_seen->all_started_us = due.all_us - due.first_us;
    return RC_OK;
}

/* All due at the same millisecond. */
static enum rc run_burst(struct fixture *fixture, const struct measure_options *options,
                         struct seen *ret_seen, struct err *err)
{
    return run_due(fixture, options, 0, ret_seen, err);
}

/* All due within one second. */
static enum rc run_flood(struct fixture *fixture, const struct measure_options *options,
                         struct seen *ret_seen, struct err *err)
{
    return run_due(fixture, options, FLOOD_SPAN_MS, ret_seen, err);
}

/* ---- schedules */

static enum rc run_schedules(struct fixture *fixture, const struct measure_options *options,
                             struct seen *ret_seen, struct err *err)
{
    struct schedules schedules;
    struct schedules_plan plan = {
        .jobs = options->jobs,
        .batch = options->batch,
        .minutes = options->seconds > 60 ? (uint32_t)(options->seconds / 60) : 1,
    };
    TRY(schedules_run(fixture, &plan, &schedules, err));
    ret_seen->requests = schedules.load.requests;
    ret_seen->jobs = schedules.load.jobs;
    ret_seen->runs = schedules.runs;
    ret_seen->wall_us = schedules.ended_us - schedules.load.begun_us;
    ret_seen->late_us = schedules.late_us;
    return RC_OK;
}

/* ---- limits */

static enum rc run_limits(struct fixture *fixture, const struct measure_options *options,
                          struct seen *ret_seen, struct err *err)
{
    struct limits_plan plan = {.jobs = options->jobs, .batch = options->batch};
    TRY(limits_run(fixture, &plan, &ret_seen->limits, err));
    ret_seen->requests = ret_seen->limits.requests;
    ret_seen->jobs = ret_seen->limits.with.jobs + ret_seen->limits.without.jobs;
    TRY(finish_calls(fixture, ret_seen->jobs, err));
    ret_seen->wall_us = (int64_t)fixture_note(fixture)->drained_us - ret_seen->limits.begun_us;
    return RC_OK;
}

/* ---- commands */

static enum rc run_commands(struct fixture *fixture, const struct measure_options *options,
                            struct seen *ret_seen, struct err *err)
{
    struct commands commands;
    struct commands_plan plan = {
        .jobs = options->jobs, .batch = options->batch, .at_once = options->slots};
    TRY(commands_run(fixture, &plan, &commands, err));
    ret_seen->requests = commands.load.requests;
    ret_seen->jobs = commands.load.jobs;
    ret_seen->wall_us = commands.ended_us - commands.load.begun_us;
    ret_seen->bare_us = commands.bare_us;
    return RC_OK;
}

/* ---- storm */

static enum rc run_storm(struct fixture *fixture, const struct measure_options *options,
                         struct seen *ret_seen, struct err *err)
{
    struct storm *storm = &ret_seen->storm;
    struct storm_plan plan = {.jobs = options->jobs, .batch = options->batch};
    TRY(storm_run(fixture, &plan, storm, err));
    TRY(finish_calls(fixture, storm->succeeded + storm->failed * STORM_ATTEMPTS, err));
    ret_seen->requests = storm->requests;
    ret_seen->jobs = storm->succeeded + storm->failed;
    ret_seen->failed = storm->failed;
    ret_seen->more_tries = storm->failed * STORM_ATTEMPTS;
    ret_seen->wall_us = (int64_t)fixture_note(fixture)->drained_us - storm->begun_us;
    return RC_OK;
}

/* ---- rescue */

static enum rc run_rescue(struct fixture *fixture, const struct measure_options *options,
                          struct seen *ret_seen, struct err *err)
{
    struct rescue *rescue = &ret_seen->rescue;
    struct rescue_plan plan = {.jobs = options->jobs, .slots = options->slots};
    TRY(rescue_run(fixture, &plan, rescue, err));
    TRY(finish_calls(fixture, rescue->jobs, err));
    ret_seen->requests = rescue->requests;
    ret_seen->jobs = ret_seen->more_tries = rescue->jobs; /* each was lost once */
    ret_seen->wall_us = (int64_t)fixture_note(fixture)->drained_us - rescue->begun_us;
    return RC_OK;
}

/* ---- mixed */

static enum rc run_parts(struct fixture *fixture, const struct measure_options *options, bool hold,
                         struct seen *ret_seen, struct err *err)
{
    struct mixed *mixed = &ret_seen->mixed;
    struct mixed_plan plan = {
        .jobs = options->jobs, .seconds = options->seconds, .batch = options->batch, .hold = hold};
    TRY(mixed_run(fixture, &plan, mixed, err));
    ret_seen->jobs = mixed->jobs;
    TRY(finish_calls(fixture, ret_seen->jobs + mixed->retries, err));
    ret_seen->requests = mixed->requests;
    ret_seen->more_tries = mixed->retries;
    ret_seen->wall_us = (int64_t)fixture_note(fixture)->drained_us - mixed->begun_us;
    return RC_OK;
}

static enum rc run_mixed(struct fixture *fixture, const struct measure_options *options,
                         struct seen *ret_seen, struct err *err)
{
    return run_parts(fixture, options, false, ret_seen, err);
}

static enum rc run_held(struct fixture *fixture, const struct measure_options *options,
                        struct seen *ret_seen, struct err *err)
{
    return run_parts(fixture, options, true, ret_seen, err);
}

/* ---- all of them */

static const struct measure measures[] = {
    {"life", HANDS_HANDLER, false, 200000, 60, run_life, NULL},
    {"submit", HANDS_NONE, false, 100000, 10, run_submit, NULL},
    {"latency", HANDS_HANDLER, false, 1000, 30, run_latency, NULL},
    {"burst", HANDS_HANDLER, false, 2000, 0, run_burst, NULL},
    {"flood", HANDS_HANDLER, false, 50000, 0, run_flood, NULL},
    {"limits", HANDS_HANDLER, false, 200000, 0, run_limits, NULL},
    {"commands", HANDS_COMMANDS, false, 5000, 0, run_commands, NULL},
    {"schedules", HANDS_HANDLER, true, 100000, 120, run_schedules, NULL},
    /* Breakers would do what they are for. */
    {"storm", HANDS_HANDLER, true, 100000, 0, run_storm, "breaker_percent=0"},
    {"rescue", HANDS_LATER, true, 10000, 0, run_rescue, NULL},
    {"mixed", HANDS_HANDLER, true, 200000, 120, run_mixed, "breaker_percent=0"},
    {"held", HANDS_HANDLER, true, 200000, 120, run_held, "breaker_percent=0"},
};

const struct measure *measure_at(size_t place)
{
    return place < COUNT_OF(measures) && !measures[place].by_name ? &measures[place] : NULL;
}

const struct measure *measure_find(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(measures); i++) {
        if (str_eq(str_c(measures[i].name), name))
            return &measures[i];
    }
    return NULL;
}

/* ---- what is told */

static void report_hist(struct report *r, const char *const names[3], const struct hist *us)
{
    if (us->total == 0)
        return;
    report_figure(r, names[0], (double)hist_quantile(us, 500) / 1e3, 3);
    report_figure(r, names[1], (double)hist_quantile(us, 990) / 1e3, 3);
    report_figure(r, names[2], (double)us->max / 1e3, 3);
}

/* How much of the speed without limits is left with them. */
static void report_limits(struct report *r, const struct limits_seen *seen)
{
    const struct limits_cost *with = &seen->with;
    const struct limits_cost *without = &seen->without;
    if (with->jobs == 0)
        return;
    double with_us = (double)with->wall_us / (double)with->jobs;
    double without_us = (double)without->wall_us / (double)without->jobs;
    report_figure(r, "limited_per_s", 1e6 / with_us, 0);
    report_figure(r, "unlimited_per_s", 1e6 / without_us, 0);
    report_figure(r, "part_of_unlimited", without_us / with_us, 3);
    report_figure(r, "server_cpu_us_limited", (double)with->server_us / (double)with->jobs, 1);
    report_figure(r, "server_cpu_us_unlimited", (double)without->server_us / (double)without->jobs,
                  1);
}

static void report_part(struct report *r, const char *per_s, const char *database_us,
                        const struct mixed_part *part)
{
    double jobs = (double)part->jobs;
    report_figure(r, per_s, jobs * 1e6 / (double)part->wall_us, 0);
    if (part->store_us > 0)
        report_figure(r, database_us, (double)part->store_us / jobs, 1);
}

static void report_mixed(struct report *r, const struct mixed *mixed)
{
    if (mixed->second.jobs == 0)
        return;
    report_part(r, "first_per_s", "first_database_cpu_us_per_job", &mixed->first);
    report_part(r, "second_per_s", "second_database_cpu_us_per_job", &mixed->second);
    report_figure(r, "second_last_round_part_of_its_first",
                  mixed->second.last_per_s / mixed->second.first_per_s, 3);
}

/* Retries by the second, and what an attempt that fails costs against one that succeeds. */
static void report_storm(struct report *r, const struct storm *storm)
{
    if (storm->failed == 0)
        return;
    double good_us = (double)storm->success_us / (double)storm->succeeded;
    double bad_us = (double)storm->failures_us / (double)(storm->failed * STORM_ATTEMPTS);
    report_count(r, "retries", storm->retries);
    report_figure(r, "retries_per_s_mean", storm->second_mean, 0);
    report_count(r, "retries_per_s_max", storm->second_max);
    report_figure(r, "max_by_mean", (double)storm->second_max / storm->second_mean, 2);
    report_figure(r, "server_cpu_us_success", good_us, 1);
    report_figure(r, "server_cpu_us_failed_attempt", bad_us, 1);
    report_figure(r, "failed_by_success", bad_us / good_us, 2);
}

static void report_rescue(struct report *r, const struct rescue *rescue)
{
    static const char *const beyond[] = {"beyond_lease_p50_ms", "beyond_lease_p99_ms",
                                         "beyond_lease_max_ms"};
    if (rescue->jobs == 0)
        return;
    report_count(r, "lease_ms", (uint64_t)rescue->lease_ms);
    report_hist(r, beyond, &rescue->beyond_us);
}

static void report_seen(struct report *r, const struct seen *seen)
{
    static const char *const start[] = {"start_p50_ms", "start_p99_ms", "start_max_ms"};
    static const char *const answer[] = {"answer_p50_ms", "answer_p99_ms", "answer_max_ms"};
    static const char *const late[] = {"late_p50_ms", "late_p99_ms", "late_max_ms"};
    double seconds = (double)seen->wall_us / 1e6;
    bool pauses = seen->start_us.total + seen->late_us.total + seen->failed + seen->rescue.jobs > 0;
    if (!pauses) /* else there is no rate */
        report_figure(r, "jobs_per_s", (double)seen->jobs / seconds, 0);
    report_limits(r, &seen->limits);
    report_storm(r, &seen->storm);
    report_mixed(r, &seen->mixed);
    report_rescue(r, &seen->rescue);
    if (seen->bare_us > 0) {
        report_figure(r, "bare_per_s", (double)seen->jobs / ((double)seen->bare_us / 1e6), 0);
        report_figure(r, "part_of_bare", (double)seen->bare_us / (double)seen->wall_us, 2);
    }
    report_hist(r, start, &seen->start_us);
    report_hist(r, late, &seen->late_us);
    if (seen->all_started_us > 0)
        report_figure(r, "all_started_s", (double)seen->all_started_us / 1e6, 3);
    report_hist(r, answer, &seen->answer_us);
    report_figure(r, "seconds", seconds, 3);
    report_count(r, "requests", seen->requests);
    report_count(r, "jobs_acknowledged", seen->jobs);
    if (seen->runs > 0)
        report_count(r, "runs", seen->runs);
}

static void report_ledger(struct report *r, const struct ledger *ledger)
{
    report_count(r, "rows_job", ledger->jobs);
    report_count(r, "rows_waiting", ledger->live);
    report_count(r, "rows_completed", ledger->history[EXEC_COMPLETED]);
    report_count(r, "rows_attempt", ledger->attempts);
    report_figure(r, "database_bytes_per_job", (double)ledger->bytes / (double)ledger->jobs, 0);
}

static void report_cost(struct report *r, const struct store_cost *cost, uint64_t jobs)
{
    report_count(r, "commits", cost->commits);
    report_count(r, "syncs", cost->syncs);
    report_figure(r, "sync_s", (double)cost->sync_us / 1e6, 3);
    report_figure(r, "jobs_per_commit", (double)jobs / (double)cost->commits, 1);
}

static void report_usage(struct report *r, const struct fixture_usage *usage, uint64_t jobs)
{
    int64_t own_us = usage->server_us + usage->worker_us + usage->client_us;
    int64_t others_us = usage->machine_us - own_us - usage->store_us;
    if (others_us < 0) /* the machine counts in ticks, which are coarse */
        others_us = 0;
    report_figure(r, "server_cpu_s", (double)usage->server_us / 1e6, 2);
    report_figure(r, "worker_cpu_s", (double)usage->worker_us / 1e6, 2);
    report_figure(r, "client_cpu_s", (double)usage->client_us / 1e6, 2);
    if (usage->store_us > 0)
        report_figure(r, "database_cpu_s", (double)usage->store_us / 1e6, 2);
    report_figure(r, "others_cpu_s", (double)others_us / 1e6, 2);
    report_figure(r, "server_cpu_us_per_job", (double)usage->server_us / (double)jobs, 1);
    if (usage->store_us > 0)
        report_figure(r, "database_cpu_us_per_job", (double)usage->store_us / (double)jobs, 1);
    report_figure(r, "all_cpu_us_per_job", (double)(own_us + usage->store_us) / (double)jobs, 1);
}

/* ---- the frame */

static struct fixture_usage usage_since(const struct fixture *fixture,
                                        const struct fixture_usage *before)
{
    struct fixture_usage now = fixture_usage(fixture);
    return (struct fixture_usage){
        .server_us = now.server_us - before->server_us,
        .worker_us = now.worker_us - before->worker_us,
        .client_us = now.client_us - before->client_us,
        .store_us = now.store_us - before->store_us,
        .machine_us = now.machine_us - before->machine_us,
    };
}

static struct measure_options with_defaults(const struct measure *m,
                                            const struct measure_options *options)
{
    struct measure_options full = *options;
    /* A user that limits one of the two does not want to run into the other. */
    if (full.jobs == 0)
        full.jobs = options->seconds == 0 ? m->jobs : UINT64_MAX;
    if (full.seconds == 0)
        full.seconds = options->jobs == 0 ? m->seconds : INT32_MAX;
    return full;
}

/* What is asked before and after. */
struct state {
    struct ledger ledger;
    struct stats stats;
    struct fixture_usage usage;
};

static enum rc look(struct fixture *fixture, struct state *ret_state, struct err *err)
{
    TRY(fixture_ledger(fixture, &ret_state->ledger, err));
    TRY(fixture_ask(fixture, &ret_state->stats, err));
    ret_state->usage = fixture_usage(fixture);
    return RC_OK;
}

static struct ledger_truth truth_of(const struct measure *m, const struct seen *seen,
                                    uint64_t planned)
{
    if (seen->runs > 0)
        return (struct ledger_truth){.completed = seen->runs, .recurring = seen->jobs + planned};
    bool completes = m->hands != HANDS_NONE;
    return (struct ledger_truth){
        .completed = completes ? seen->jobs - seen->failed : 0,
        .failed = seen->failed,
        .more_tries = seen->more_tries,
        .waiting = planned + (completes ? 0 : seen->jobs),
    };
}

static struct store_cost cost_since(const struct store_cost *now, const struct store_cost *before)
{
    return (struct store_cost){
        .commits = now->commits - before->commits,
        .syncs = now->syncs - before->syncs,
        .sync_us = now->sync_us - before->sync_us,
    };
}

static enum rc run_on_stage(const struct measure *m, const struct measure_options *options,
                            struct fixture *fixture, struct report *report, struct err *err)
{
    struct load backlog = {0};
    struct state before;
    struct stats after;
    struct ledger ledger;
    struct seen seen = {0};

    TRY(backlog_make(fixture, options->backlog, &backlog, err));
    TRY(look(fixture, &before, err));
    TRY(m->run(fixture, options, &seen, err));
    struct fixture_usage usage = usage_since(fixture, &before.usage);
    TRY(fixture_ask(fixture, &after, err));
    TRY(fixture_leave(fixture, err));
    TRY(fixture_ledger(fixture, &ledger, err));
    struct ledger_truth truth = truth_of(m, &seen, backlog.jobs);
    TRY(ledger_check(&ledger, &truth, err));

    struct store_cost cost = cost_since(&after.cost, &before.stats.cost);
    uint64_t runs = seen.runs > 0 ? seen.runs : seen.jobs;
    report_section(report, m->name);
    report_seen(report, &seen);
    report_cost(report, &cost, runs);
    report_ledger(report, &ledger);
    report_usage(report, &usage, runs);
    report_count(report, "server_peak_memory_mib", (uint64_t)fixture_peak_bytes(fixture) >> 20);
    return RC_OK;
}

static uint32_t slots_of(const struct measure *m, uint32_t slots)
{
    switch (m->hands) {
    case HANDS_NONE: return 0;
    case HANDS_LATER:
    case HANDS_HANDLER: return slots;
    case HANDS_COMMANDS: return COMMANDS_AT_ONCE;
    }
    return 0;
}

enum rc measure_run(const struct measure *m, const struct measure_options *options,
                    struct report *report, struct err *err)
{
    struct measure_options full = with_defaults(m, options);
    full.slots = slots_of(m, full.slots);
    struct fixture_options fixture_options = {
        .tmp_root = full.tmp_root,
        .store = full.store,
        .here = full.here,
        .servers = full.servers,
        .durability = full.durability,
        .slots = m->hands == HANDS_LATER ? 0 : full.slots,
        .setting = m->setting,
        .runs_commands = m->hands == HANDS_COMMANDS,
    };
    CLEANUP(fixture_free) struct fixture *fixture = NULL;
    enum rc rc = fixture_open(&fixture_options, &fixture, err);
    if (rc == RC_OK)
        rc = run_on_stage(m, &full, fixture, report, err);
    return rc == RC_OK ? RC_OK : err_note(err, "%s", m->name);
}

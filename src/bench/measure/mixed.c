#include "bench/measure/mixed.h"
#include "loop/clock.h"

#include <inttypes.h>

enum {
    CLIENTS = 4, /* as in life */
    ROUNDS = 4,  /* of each part */
    QUEUES = 7,
    PRIORITIES = 5,
    TENANTS = 50,    /* keys of concurrency */
    FAIL_EVERY = 10, /* the first time */
    KINDS = 4,       /* of keys, none being one */
};

static const uint32_t fills[] = {0, 0, 40, 300, 0, 4000}; /* bytes of payload */

struct goal {
    const struct fixture *fixture;
    uint64_t calls;
};

static bool fails_first(uint64_t number)
{
    return number % FAIL_EVERY == 3;
}

static void add_key(uint64_t number, struct buf *out)
{
    switch (number % KINDS) {
    case 1: buf_printf(out, ",\"idempotency_key\":\"mixed-%019" PRIu64 "\"", number); break;
    case 2: buf_printf(out, ",\"unique\":{\"key\":\"mixed-%" PRIu64 "\"}", number); break;
    case 3:
        buf_printf(out, ",\"concurrency\":{\"key\":\"tenant-%" PRIu64 "\",\"limit\":1000000}",
                   number % TENANTS);
        break;
    default: break;
    }
}

static void add_payload(uint64_t number, struct buf *out)
{
    uint32_t fill = fills[number % COUNT_OF(fills)];
    if (fill == 0 && !fails_first(number))
        return;
    buf_printf(out, ",\"payload\":{\"%s\":\"", fails_first(number) ? ROLE_FAIL_FIRST : ROLE_FILL);
    for (uint32_t i = 0; i < fill; i++)
        buf_add_char(out, 'x');
    buf_add(out, STR("\"}"));
}

/* arg: how many there were before this round, since keys are used once. */
static void print_mixed(void *arg, uint64_t number, struct buf *out)
{
    const uint64_t *first = arg;
    uint64_t at = *first + number;
    buf_printf(out,
               "{\"handler\":\"" ROLE_HANDLER "\",\"queue\":\"q%" PRIu64 "\",\"priority\":%" PRIu64,
               at % QUEUES, 300 + 100 * (at % PRIORITIES));
    if (fails_first(at))
        buf_add(out, STR(",\"retry\":{\"policy\":\"fixed\",\"delay\":\"100ms\",\"jitter\":0}"));
    add_key(at, out);
    add_payload(at, out);
    buf_add_char(out, '}');
}

static uint64_t count_failing(uint64_t first, uint64_t count)
{
    uint64_t failing = 0;
    for (uint64_t i = first; i < first + count; i++)
        failing += fails_first(i);
    return failing;
}

static bool all_called(const void *arg)
{
    const struct goal *goal = arg;
    return fixture_note(goal->fixture)->calls >= goal->calls;
}

static enum rc run_round(struct fixture *fixture, struct load_plan *plan, struct mixed *mixed,
                         struct mixed_part *part, struct err *err)
{
    struct load load;
    uint64_t first = mixed->jobs;
    struct goal goal = {fixture, fixture_note(fixture)->calls};
    int64_t store_us = fixture_usage(fixture).store_us;
    plan->arg = &first;
    TRY(load_run(fixture, plan, &load, err));
    uint64_t failing = count_failing(first, load.jobs);
    goal.calls += load.jobs + failing;
    TRY(fixture_wait(fixture, all_called, &goal, "jobs to be run", err));
    int64_t wall_us = clock_mono_us() - load.begun_us;
    part->last_per_s = (double)load.jobs * 1e6 / (double)wall_us;
    if (part->jobs == 0)
        part->first_per_s = part->last_per_s;
    part->jobs += load.jobs;
    part->wall_us += wall_us;
    part->store_us += fixture_usage(fixture).store_us - store_us;
    mixed->jobs += load.jobs;
    mixed->requests += load.requests;
    mixed->retries += failing;
    return RC_OK;
}

static enum rc run_part(struct fixture *fixture, struct load_plan *plan, struct mixed *mixed,
                        struct mixed_part *part, struct err *err)
{
    TRY(fixture_analyze(fixture, err));
    for (int i = 0; i < ROUNDS; i++)
        TRY(run_round(fixture, plan, mixed, part, err));
    return RC_OK;
}

enum rc mixed_run(struct fixture *fixture, const struct mixed_plan *plan, struct mixed *ret_mixed,
                  struct err *err)
{
    struct mixed_part warm = {0};
    struct load_plan load = {
        .clients = CLIENTS,
        .batch = plan->batch,
        .print = print_mixed,
        .jobs_max = plan->batch,
        .seconds_max = INT32_MAX,
    };
    *ret_mixed = (struct mixed){.begun_us = clock_mono_us()};
    TRY(run_round(fixture, &load, ret_mixed, &warm, err));
    load.jobs_max = plan->jobs / (2 * ROUNDS) + 1;
    load.seconds_max = plan->seconds < INT32_MAX ? plan->seconds / (2 * ROUNDS) + 1 : INT32_MAX;
    TRY(run_part(fixture, &load, ret_mixed, &ret_mixed->first, err));
    if (plan->hold)
        TRY(fixture_hold(fixture, err));
    return run_part(fixture, &load, ret_mixed, &ret_mixed->second, err);
}

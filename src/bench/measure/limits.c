#include "bench/measure/limits.h"
#include "loop/clock.h"

#include <inttypes.h>

enum {
    CLIENTS = 4, /* as in life */
    PAIRS = 10,
    CUSTOMERS = 100, /* keys of concurrency */
    RATES = 10,
};

/* The most that the API takes. */
#define MANY "1000000"

struct goal {
    const struct fixture *fixture;
    uint64_t calls;
};

static void print_limited(void *arg, uint64_t number, struct buf *out)
{
    (void)arg;
    buf_printf(out,
               "{\"handler\":\"" ROLE_HANDLER "\",\"queue\":\"limited\","
               "\"concurrency\":{\"key\":\"customer-%" PRIu64 "\",\"limit\":" MANY "},"
               "\"rate\":{\"key\":\"rate-%" PRIu64 "\",\"limit\":" MANY ",\"per\":\"1s\"}}",
               number % CUSTOMERS, number % RATES);
}

static void print_free(void *arg, uint64_t number, struct buf *out)
{
    (void)arg;
    (void)number;
    buf_add(out, STR("{\"handler\":\"" ROLE_HANDLER "\",\"queue\":\"free\",\"description\":\""
                     "as long as the names and the numbers of the limits of the others, as nearly "
                     "as may be in plain words\"}"));
}

static bool all_called(const void *arg)
{
    const struct goal *goal = arg;
    return fixture_note(goal->fixture)->calls >= goal->calls;
}

static enum rc run_round(struct fixture *fixture, struct load_plan *plan, bool limited,
                         struct limits_seen *seen, struct err *err)
{
    struct load load;
    struct limits_cost *cost = limited ? &seen->with : &seen->without;
    struct goal goal = {fixture, fixture_note(fixture)->calls};
    int64_t server_us = fixture_usage(fixture).server_us;
    plan->print = limited ? print_limited : print_free;
    TRY(load_run(fixture, plan, &load, err));
    goal.calls += load.jobs;
    TRY(fixture_wait(fixture, all_called, &goal, "jobs to be run", err));
    seen->requests += load.requests;
    cost->jobs += load.jobs;
    cost->wall_us += clock_mono_us() - load.begun_us;
    cost->server_us += fixture_usage(fixture).server_us - server_us;
    return RC_OK;
}

enum rc limits_run(struct fixture *fixture, const struct limits_plan *plan,
                   struct limits_seen *ret_seen, struct err *err)
{
    struct load_plan load = {
        .clients = CLIENTS,
        .batch = plan->batch,
        .jobs_max = (plan->jobs + 2 * PAIRS - 1) / (2 * PAIRS),
        .seconds_max = INT32_MAX,
    };
    *ret_seen = (struct limits_seen){.begun_us = clock_mono_us()};
    TRY(fixture_put(fixture, STR("/api/v1/queues/limited"), STR("{\"concurrency\":" MANY "}"),
                    err));
    for (int i = 0; i < PAIRS; i++) {
        bool limited_first = i % 2 != 0;
        TRY(run_round(fixture, &load, limited_first, ret_seen, err));
        TRY(run_round(fixture, &load, !limited_first, ret_seen, err));
    }
    return RC_OK;
}

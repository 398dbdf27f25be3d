#include "bench/measure/storm.h"
#include "loop/clock.h"

enum {
    CLIENTS = 4, /* as in life */
    SECONDS_MAX = 3600,
    SECOND_US = 1000000,
};

struct watch {
    const struct fixture *fixture;
    uint64_t calls; /* to wait for */
    uint64_t retries;
    int64_t first_us; /* when the first of them was heard of; 0: none was */
    int64_t last_us;
    uint64_t by_second[SECONDS_MAX]; /* since the first */
};

static void print_failing(void *arg, uint64_t number, struct buf *out)
{
    (void)arg;
    (void)number;
    buf_add(out, STR("{\"handler\":\"" ROLE_HANDLER "\",\"payload\":{\"" ROLE_FAIL "\":1}}"));
}

/* Some hundred times a second. */
static void on_note(void *arg, const struct note *note)
{
    struct watch *w = arg;
    int64_t now_us = clock_mono_us();
    uint64_t more = note->retries - w->retries;
    if (more == 0)
        return;
    if (w->first_us == 0)
        w->first_us = now_us;
    int64_t second = (now_us - w->first_us) / SECOND_US;
    w->by_second[second < SECONDS_MAX ? second : SECONDS_MAX - 1] += more;
    w->retries = note->retries;
    w->last_us = now_us;
}

static bool all_called(const void *arg)
{
    const struct watch *w = arg;
    return fixture_note(w->fixture)->calls >= w->calls;
}

/* Submits so many and waits for their calls; what that cost the server. */
static enum rc run_jobs(struct fixture *fixture, const struct storm_plan *plan, load_print *print,
                        uint64_t attempts, struct watch *watch, struct load *ret_load,
                        int64_t *ret_server_us, struct err *err)
{
    struct load_plan load = {
        .clients = CLIENTS,
        .batch = plan->batch,
        .print = print,
        .jobs_max = plan->jobs,
        .seconds_max = INT32_MAX,
    };
    int64_t before_us = fixture_usage(fixture).server_us;
    TRY(load_run(fixture, &load, ret_load, err));
    watch->calls += ret_load->jobs * attempts;
    TRY(fixture_wait(fixture, all_called, watch, "jobs to be tried", err));
    *ret_server_us = fixture_usage(fixture).server_us - before_us;
    return RC_OK;
}

static void count_seconds(const struct watch *w, struct storm *storm)
{
    int64_t span_us = w->last_us - w->first_us;
    for (size_t i = 0; i < SECONDS_MAX; i++) {
        if (w->by_second[i] > storm->second_max)
            storm->second_max = w->by_second[i];
    }
    storm->retries = w->retries;
    if (span_us < SECOND_US)
        span_us = SECOND_US;
    storm->second_mean = (double)w->retries / ((double)span_us / SECOND_US);
}

enum rc storm_run(struct fixture *fixture, const struct storm_plan *plan, struct storm *ret_storm,
                  struct err *err)
{
    static struct watch watch; /* too large for a stack; there is one measurement at a time */
    struct load good;
    struct load bad;
    watch = (struct watch){.fixture = fixture};
    *ret_storm = (struct storm){.begun_us = clock_mono_us()};
    fixture_listen(fixture, on_note, &watch);
    TRY(run_jobs(fixture, plan, NULL, 1, &watch, &good, &ret_storm->success_us, err));
    TRY(run_jobs(fixture, plan, print_failing, STORM_ATTEMPTS, &watch, &bad,
                 &ret_storm->failures_us, err));
    ret_storm->requests = good.requests + bad.requests;
    ret_storm->succeeded = good.jobs;
    ret_storm->failed = bad.jobs;
    count_seconds(&watch, ret_storm);
    return RC_OK;
}

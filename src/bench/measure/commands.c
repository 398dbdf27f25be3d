#include "bench/measure/commands.h"
#include "bench/harness/child.h"
#include "bench/measure/forks.h"
#include "loop/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
    CLIENTS = 1,
    ASK_EVERY_MS = 10, /* which is how exact the end is */
};

static void print_job(void *arg, uint64_t number, struct buf *out)
{
    (void)arg, (void)number;
    buf_add(out, STR("{\"command\":[\"" FORKS_PROGRAM "\"]}"));
}

/* ---- the bare loop, for half of the plan's jobs */

struct bare {
    struct child *child;
    uint64_t us;
};

static void on_bare_line(void *arg, struct str line)
{
    struct bare *bare = arg;
    if (!str_to_u64(line, &bare->us))
        bare->us = 0;
}

static bool bare_done(const void *arg)
{
    const struct bare *bare = arg;
    return !child_runs(bare->child);
}

static void bare_free(struct bare *bare)
{
    child_free(bare->child);
}

static enum rc run_bare(struct fixture *fixture, const struct commands_plan *plan, int64_t *us,
                        struct err *err)
{
    CLEANUP(bare_free) struct bare bare = {0};
    char jobs[24];
    char at_once[24];
    snprintf(jobs, sizeof jobs, "%" PRIu64, plan->jobs / 2);
    snprintf(at_once, sizeof at_once, "%" PRIu32, plan->at_once);
    const char *argv[] = {"belfry", "bench",   "--role", "forks", "--jobs",
                          jobs,     "--slots", at_once,  NULL};
    struct child_options child = {
        .argv = argv,
        .lines_fd = STDOUT_FILENO,
        .on_line = on_bare_line,
        .arg = &bare,
    };
    TRY(child_start(fixture_loop(fixture), &child, &bare.child, err));
    TRY(fixture_wait(fixture, bare_done, &bare, "bare commands to be run", err));
    *us += (int64_t)bare.us;
    if (bare.us > 0 && child_complaint(bare.child) == NULL)
        return RC_OK;
    return err_set(err, RC_IO, "cannot run %s", FORKS_PROGRAM);
}

/* ---- the same as jobs */

static enum rc await_jobs(struct fixture *fixture, uint64_t jobs, struct err *err)
{
    struct stats stats = {0};
    uint64_t before = 0;
    for (int quiet_ms = 0; quiet_ms < SILENCE_S * 1000; quiet_ms += ASK_EVERY_MS) {
        TRY(fixture_ask(fixture, &stats, err));
        if (stats.completed >= jobs)
            return RC_OK;
        if (stats.completed > before)
            quiet_ms = 0;
        before = stats.completed;
        TRY(fixture_pause(fixture, ASK_EVERY_MS, err));
    }
    return err_set(err, RC_TIMEOUT, "no command ended for %d s", SILENCE_S);
}

enum rc commands_run(struct fixture *fixture, const struct commands_plan *plan,
                     struct commands *ret_commands, struct err *err)
{
    struct load_plan load = load_of_jobs(CLIENTS, plan->batch, plan->jobs, print_job);
    *ret_commands = (struct commands){0};
    TRY(run_bare(fixture, plan, &ret_commands->bare_us, err));
    TRY(load_run(fixture, &load, &ret_commands->load, err));
    TRY(await_jobs(fixture, ret_commands->load.jobs, err));
    ret_commands->ended_us = clock_mono_us();
    TRY(run_bare(fixture, plan, &ret_commands->bare_us, err));
    return fixture_drain(fixture, err);
}

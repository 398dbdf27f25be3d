#include "plan/command.h"
#include "base/id.h"
#include "base/log.h"
#include "base/when.h"
#include "loop/clock.h"
#include "plan/count.h"
#include "plan/read.h"
#include "plan/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
    FIRINGS_MAX = 2000000,
    COUNT_MAX = 50000000, /* with --firings-only: a year of 1,000 schedules is 4 million */
    ROWS_SHOWN = 20,
    SLOTS_MAX = 100000,
    YEARS_MAX = 20, /* ids end in 2089 */
    PROGRESS_US = 200000,
    SKEW_TOLD_MS = 60000,
};

static const int64_t MINUTE_MS = 60000;
static const int64_t HOUR_MS = 3600000;
static const int64_t DAY_MS = 24 * 3600000;

struct plan_args {
    struct cli_common common;
    const char *from;
    const char *until;
    const char *step;
    const char *queue;
    const char *job;
    const char *assume;
    const char *file;
    const char *fail_on;
    int64_t slots;
    int64_t firings_max;
    int64_t rows;
    unsigned by; /* enum report_by */
    bool firings_only;
};

#define AT(member) offsetof(struct plan_args, member)
static const struct opt table[] = {
    {"from", 0, OPT_TEXT, "TIME", AT(from), "from then on; or so long from now, as in 2h (now)"},
    {"until", 0, OPT_TEXT, "TIME", AT(until), "up to then; or for so long, as in 7d (1d)"},
    {"file", 'f', OPT_TEXT, "FILE", AT(file), "as if this file had been applied, beside as it is"},
    {"fail-on", 0, OPT_TEXT, "LIST", AT(fail_on), "exit with 1 for any of overlap,late,skipped"},
    {"slots", 0, OPT_NUMBER, "N", AT(slots), "so many that run anything (those of the workers)"},
    {"assume", 0, OPT_TEXT, "DURATION", AT(assume), "how long runs without history take (1m)"},
    {"queue", 0, OPT_TEXT, "QUEUE", AT(queue), "count what is in this queue alone"},
    {"job", 0, OPT_TEXT, "JOB", AT(job), "count what is of this job alone: its name or id"},
    {"by", 0, OPT_CHOICE, "job|queue|hour", AT(by), "what the table has a line for (job)"},
    {"step", 0, OPT_TEXT, "DURATION", AT(step), "how long a line of --by hour is (1h)"},
    {"rows", 0, OPT_NUMBER, "N", AT(rows), "lines of the table; 0: all (20)"},
    {"firings-only", 0, OPT_FLAG, NULL, AT(firings_only), "count moments only, by schedules"},
    {"firings-max", 0, OPT_NUMBER, "N", AT(firings_max), "stop after so many (2000000)"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "plan", "[options]",
    "Says what will run between two moments, and how it will fare: reads jobs, calendars, limits,\n"
    "workers and how long runs take from the server, and plays it here, with the rules of a real\n"
    "server, under a clock of its own. Nothing fails, and nothing is changed on the server.\n"
    "\n"
    "  FIRINGS  moments at which something is to run\n"
    "  WAIT     runs that start later, for want of a slot or by a limit; LONGEST of them\n"
    "  LATE     runs that start more than start_within (1m) after they were due, or never\n"
    "  OVERLAP  firings that meet a run of the same job that is not over\n"
    "  SKIPPED  firings that do not run: by overlap, calendar or misfire policy\n"
    "  SLA      runs that are over later than the SLA says, counted from when they were due\n"
    "\n"
    "With -f it plays both, and --fail-on counts only what the file makes worse. Other jobs\n"
    "play along with --queue and --job, too: they take slots. Moments are in UTC.",
    table, COUNT_OF(table)};

/* ---- the window */

static enum rc moment_of(const char *text, int64_t base_ms, int64_t *ret_ms, struct err *err)
{
    int64_t ms;
    if (duration_parse(str_c(text), &ms, NULL) == RC_OK) {
        *ret_ms = ms < WHEN_MAX_MS - base_ms ? base_ms + ms : WHEN_MAX_MS;
        return RC_OK;
    }
    return when_parse(str_c(text), ret_ms, err);
}

static enum rc read_step(const char *text, int64_t *ret_ms, struct err *err)
{
    *ret_ms = HOUR_MS;
    if (text != NULL && duration_parse(str_c(text), ret_ms, err) != RC_OK)
        return err_note(err, "--step");
    if (*ret_ms < MINUTE_MS)
        return err_set(err, RC_INVALID, "--step must be 1m at least");
    return RC_OK;
}

/* The minute that has begun is not over yet. */
static enum rc check_window(const struct world *world, struct score_window *w, struct err *err)
{
    char now[WHEN_TEXT_MAX];
    (void)when_format(now, world->now_ms);
    if (w->from_ms < world->now_ms && w->from_ms >= world->now_ms - MINUTE_MS)
        w->from_ms = world->now_ms;
    if (w->from_ms < world->now_ms)
        return err_set(err, RC_INVALID,
                       "--from lies in the past: by the server it is %s. `belfry slots` and "
                       "`belfry executions` tell what was",
                       now);
    if (w->until_ms <= w->from_ms)
        return err_set(err, RC_INVALID, "--until must be later than --from%s%s",
                       w->until_ms < world->now_ms ? "; by the server it is " : "",
                       w->until_ms < world->now_ms ? now : "");
    if (w->until_ms - world->now_ms > YEARS_MAX * 366 * DAY_MS)
        return err_set(err, RC_INVALID, "a plan reaches %d years ahead at most", YEARS_MAX);
    return RC_OK;
}

static enum rc read_window(const struct plan_args *args, const struct world *world,
                           struct score_window *ret_window, struct err *err)
{
    struct score_window w = {.queue = str_c(args->queue), .job = str_c(args->job)};
    w.from_ms = world->now_ms;
    if (args->from != NULL && moment_of(args->from, world->now_ms, &w.from_ms, err) != RC_OK)
        return err_note(err, "--from");
    w.until_ms = w.from_ms + DAY_MS;
    if (args->until != NULL && moment_of(args->until, w.from_ms, &w.until_ms, err) != RC_OK)
        return err_note(err, "--until");
    TRY(read_step(args->step, &w.step_ms, err));
    TRY(check_window(world, &w, err));
    *ret_window = w;
    return RC_OK;
}

/* A name that nobody has would give an empty plan. */
static enum rc check_filter(const struct score *before, const struct score *after,
                            const struct score_window *w, struct err *err)
{
    const struct score *all[] = {before, after};
    bool job = w->job.len == 0;
    bool queue = w->queue.len == 0;
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        uint64_t id = 0;
        (void)id_parse(w->job, ID_JOB, &id, NULL);
        job |=
            strmap_get(&all[i]->rows_by_name, w->job) != NULL || map_get(&all[i]->jobs, id) != NULL;
        queue |= strmap_get(&all[i]->queues_by_name, w->queue) != NULL;
    }
    if (!job)
        return err_set(err, RC_NOT_FOUND, "no unfinished job has the name or id '%.*s'",
                       STR_ARG(w->job));
    if (!queue)
        return err_set(err, RC_NOT_FOUND, "no unfinished job is in the queue '%.*s'",
                       STR_ARG(w->queue));
    return RC_OK;
}

/* ---- progress, on a terminal */

struct progress {
    int64_t from_ms;
    int64_t until_ms;
    int64_t told_us;
    const char *what;
};

static void tell_progress(void *arg, int64_t at_ms, uint64_t firings)
{
    struct progress *p = arg;
    int64_t now_us = clock_mono_us();
    char text[WHEN_TEXT_MAX];
    if (now_us - p->told_us < PROGRESS_US)
        return;
    p->told_us = now_us;
    (void)when_format(text, at_ms);
    fprintf(stderr, "\r%s%.16sZ, %" PRIu64 " firings (%d %%)\033[K", p->what, text, firings,
            (int)((at_ms - p->from_ms) * 100 / (p->until_ms - p->from_ms)));
}

static void end_progress(const struct progress *p)
{
    if (p->told_us != 0)
        fprintf(stderr, "\r\033[K");
}

/* ---- making plans */

static enum rc make_plan(const struct world *world, const struct plan_args *args,
                         struct changes *changes, int64_t assume_ms, struct plan *plan,
                         struct err *err)
{
    const struct score_window *w = &plan->score.window;
    struct progress progress = {world->now_ms, w->until_ms, 0, changes != NULL ? "after: " : ""};
    uint64_t usual_max = args->firings_only ? COUNT_MAX : FIRINGS_MAX;
    struct player_wish wish = {
        .slots = (uint64_t)args->slots,
        .assume_ms = assume_ms,
        .firings_max = args->firings_max > 0 ? (uint64_t)args->firings_max : usual_max,
        .changes = changes,
        .on_progress = isatty(STDERR_FILENO) ? tell_progress : NULL,
        .arg = &progress,
    };
    plan->firings_only = args->firings_only;
    enum rc rc = args->firings_only
                     ? count_run(world, changes, wish.firings_max, &plan->score, &plan->end, err)
                     : player_run(world, &wish, &plan->score, &plan->end, err);
    end_progress(&progress);
    return rc;
}

/* Everything of a run; what is not open is zero. */
struct planning {
    struct world world;
    struct changes changes;
    struct plan before;
    struct plan after;
    struct plan_notes notes;
};

static void planning_free(struct planning *p)
{
    score_close(&p->before.score);
    score_close(&p->after.score);
    changes_free(&p->changes);
    world_close(&p->world);
}

static void tell_skew(const struct world *world)
{
    char text[WHEN_TEXT_MAX];
    int64_t ahead_ms = clock_wall_ms() - world->now_ms;
    int64_t by_ms = ahead_ms < 0 ? -ahead_ms : ahead_ms;
    if (by_ms > SKEW_TOLD_MS)
        fprintf(stderr, "this machine's clock is %.*s %s the server's; the plan goes by that\n",
                STR_ARG(duration_format(text, by_ms / 1000 * 1000)),
                ahead_ms < 0 ? "behind" : "ahead of");
}

static enum rc plan_both(struct planning *p, const struct plan_args *args, int64_t assume_ms,
                         const struct score_window *window, struct err *err)
{
    TRY(score_open(&p->before.score, &p->world, window, err));
    TRY(make_plan(&p->world, args, NULL, assume_ms, &p->before, err));
    if (args->file == NULL)
        return check_filter(&p->before.score, &p->before.score, window, err);
    TRY(score_open(&p->after.score, &p->world, window, err));
    TRY(make_plan(&p->world, args, &p->changes, assume_ms, &p->after, err));
    return check_filter(&p->before.score, &p->after.score, window, err);
}

static void tell(struct planning *p, const struct plan_args *args, struct cli *cli,
                 int64_t assume_ms, unsigned fail_on)
{
    struct report report = {
        .cli = cli,
        .world = &p->world,
        .changes = args->file != NULL ? &p->changes : NULL,
        .before = &p->before,
        .after = args->file != NULL ? &p->after : NULL,
        .notes = &p->notes,
        .by = (enum report_by)args->by,
        .rows_max = (uint64_t)args->rows,
        .assume_ms = assume_ms,
    };
    report.failed = fail_reason(&report, fail_on, &cli->arena);
    if (cli->format == CLI_JSON)
        report_print_json(&report);
    else
        report_print(&report);
    if (report.failed.len == 0)
        return;
    cli_flush();
    fprintf(stderr, "--fail-on: %.*s\n", STR_ARG(report.failed));
    cli->exit_code = CLI_FAILED;
}

static enum rc check_args(const struct cli *cli, const struct plan_args *args,
                          int64_t *ret_assume_ms, unsigned *ret_fail_on, struct err *err)
{
    TRY(cli_no_words(cli, err));
    if (duration_parse(str_c(args->assume), ret_assume_ms, err) != RC_OK)
        return err_note(err, "--assume");
    if (args->slots > SLOTS_MAX)
        return err_set(err, RC_INVALID, "--slots must be %d at most", SLOTS_MAX);
    *ret_fail_on = 0;
    if (args->fail_on != NULL)
        TRY(fail_on_parse(args->fail_on, ret_fail_on, err));
    if (args->firings_only && *ret_fail_on != 0)
        return err_set(err, RC_INVALID, "--firings-only does not look at what --fail-on asks for");
    return RC_OK;
}

static enum rc run(struct cli *cli, const void *arg, struct err *err)
{
    CLEANUP(planning_free) struct planning p = {0};
    const struct plan_args *args = arg;
    struct world_wish wish = {.without_workers = args->slots > 0,
                              .definitions = args->firings_only};
    struct score_window window;
    int64_t assume_ms;
    unsigned fail_on;
    TRY(check_args(cli, args, &assume_ms, &fail_on, err));
    log_set_level((enum log_level)(LOG_ERROR + 1)); /* what the engine leaves out is told below */
    world_open(&p.world);
    TRY(world_read(&p.world, cli, &wish, err));
    TRY(read_window(args, &p.world, &window, err));
    if (args->file != NULL)
        TRY(changes_read(&p.changes, cli, &p.world, args->file, err));
    tell_skew(&p.world);
    TRY(plan_both(&p, args, assume_ms, &window, err));
    notes_find(&p.world, args->file != NULL ? &p.changes : NULL, window.from_ms, window.until_ms,
               &cli->arena, &p.notes);
    tell(&p, args, cli, assume_ms, fail_on);
    return RC_OK;
}

int plan_command(int argc, char **argv)
{
    struct plan_args args = {.assume = "1m", .rows = ROWS_SHOWN};
    return cli_main(&opts, argc, argv, &args.common, run);
}

/* cron.c - what a cron expression means. Needs no server: the zones are this machine's. */
#include "base/date.h"
#include "base/when.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "loop/clock.h"
#include "loop/zones.h"
#include "wire/message/preview_json.h"

enum { OUT_BYTES_MAX = 1 << 20 };

struct cron_args {
    struct cli_common common;
    const char *timezone;
    const char *from;
    const char *name;
    int64_t count;
    unsigned gap;  /* enum cron_gap */
    unsigned fold; /* enum cron_fold */
    bool seconds;
};

#define AT(member) offsetof(struct cron_args, member)
static const struct opt table[] = {
    {"tz", 0, OPT_TEXT, "ZONE", AT(timezone), "the time zone, as in Europe/Berlin (UTC)"},
    {"count", 0, OPT_NUMBER, "N", AT(count), "how many runs to show (5)"},
    {"from", 0, OPT_TEXT, "TIME", AT(from), "show the runs after this moment (now)"},
    {"seconds", 0, OPT_FLAG, NULL, AT(seconds), "six fields, the first one is seconds"},
    {"name", 0, OPT_TEXT, "NAME", AT(name), "of the job, which decides what H stands for"},
    {"gap", 0, OPT_CHOICE, "after|skip", AT(gap), "times that clocks jump over (after)"},
    {"fold", 0, OPT_CHOICE, "first|second|both", AT(fold), "times that come up twice (first)"},
    CLI_PRINT_OPTS,
};

static const struct opts opts = {
    "cron", "EXPR [options]",
    "Tells what a cron expression means and when it runs next, here and in UTC. Five fields\n"
    "(minute, hour, day of month, month, day of week), or @daily and the like, or @every 90s.",
    table, COUNT_OF(table)};

/* ---- reading */

/* The words of the command line, so that `belfry cron @every 90s` needs no quotes. */
static enum rc expression_of(struct cli *cli, struct str *ret_text, struct err *err)
{
    struct str text = {0};
    if (cli->words.count == 0)
        return err_set(err, RC_INVALID, "needs a cron expression, as in '0 3 * * *'");
    for (size_t i = 0; i < cli->words.count; i++)
        text = arena_printf(&cli->arena, "%.*s%s%s", STR_ARG(text), i > 0 ? " " : "",
                            cli->words.items[i]);
    *ret_text = text;
    return RC_OK;
}

static enum rc read_preview(struct cli *cli, const struct cron_args *args, struct zones *zones,
                            struct preview *ret_preview, struct err *err)
{
    struct cron_options options = {.seconds = args->seconds, .name = str_c(args->name)};
    struct cron_clock clock = {.gap = (enum cron_gap)args->gap, .fold = (enum cron_fold)args->fold};
    struct cron cron;
    struct str text = {0};
    struct str zone;
    int64_t from_ms = clock_wall_ms();
    if (args->count < 1 || args->count > PREVIEW_RUNS_MAX)
        return err_set(err, RC_INVALID, "--count must be between 1 and %d", PREVIEW_RUNS_MAX);
    if (args->from != NULL)
        TRY(when_parse(str_c(args->from), &from_ms, err));
    TRY(expression_of(cli, &text, err));
    TRY(cron_parse(text, &options, &cron, &zone, err));
    TRY(schedule_zone_name(zone, str_c(args->timezone), &zone, err));
    TRY(zones_find(zones, zone, &clock.zone, err));
    struct schedule schedule = schedule_cron(from_ms, &cron, &clock);
    preview_make(&schedule, zone, from_ms, (size_t)args->count, &cli->arena, ret_preview);
    return RC_OK;
}

/* ---- printing */

static void print_json(const struct preview *preview)
{
    CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    preview_print(&w, preview);
    cli_print_line(buf_str(&out));
}

/* "2026-11-17 03:00:00+01:00": without the T, and without milliseconds when there are none. */
static struct str for_people(struct str when, struct arena *arena)
{
    struct str date = str_cut(&when, 'T');
    struct str time = str_of(when.ptr, 8);
    struct str rest = str_from(when, 8);
    if (str_starts(rest, STR(".000")))
        rest = str_from(rest, 4);
    return arena_printf(arena, "%.*s %.*s%.*s", STR_ARG(date), STR_ARG(time), STR_ARG(rest));
}

static struct str weekday_of(const struct preview_run *run)
{
    static const char names[] = "SunMonTueWedThuFriSat";
    int64_t local_ms = run->at_ms + (int64_t)run->offset_s * 1000;
    int64_t days = local_ms / 86400000 - (local_ms % 86400000 < 0);
    return str_of(names + (size_t)3 * date_weekday(days), 3);
}

static void print_runs(const struct preview *preview, struct arena *arena, struct buf *out)
{
    static const struct column columns[] = {{.title = "DAY"}, {.title = "LOCAL"}, {.title = "UTC"}};
    CLEANUP(table_free) struct table runs = TABLE(columns, COUNT_OF(columns));
    char text[WHEN_TEXT_MAX];
    for (size_t i = 0; i < preview->run_count; i++) {
        const struct preview_run *run = &preview->runs[i];
        table_add(&runs, weekday_of(run));
        table_add(&runs, for_people(when_format_local(text, run->at_ms, run->offset_s), arena));
        table_add(&runs, for_people(when_format(text, run->at_ms), arena));
    }
    table_print(&runs, table_paper(), out);
}

static void print_page(const struct preview *preview, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
    char text[WHEN_TEXT_MAX];
    buf_printf(&out, "%.*s\n\n", STR_ARG(preview->text));
    print_runs(preview, arena, &out);
    for (size_t i = 0; i < preview->note_count; i++) {
        struct str at = for_people(when_format(text, preview->notes[i].at_ms), arena);
        buf_printf(&out, "%s%.*s: %.*s\n", i == 0 ? "\n" : "", STR_ARG(at),
                   STR_ARG(preview->notes[i].text));
    }
    cli_print(buf_str(&out));
}

static void drop_zones(struct zones **zones)
{
    zones_free(*zones);
}

static enum rc cron_run(struct cli *cli, const void *args, struct err *err)
{
    CLEANUP(drop_zones) struct zones *zones = zones_new(NULL);
    struct preview preview = {0};
    TRY(read_preview(cli, args, zones, &preview, err));
    if (cli->format == CLI_JSON)
        print_json(&preview);
    else
        print_page(&preview, &cli->arena);
    return RC_OK;
}

int cron_command(int argc, char **argv)
{
    struct cron_args args = {.count = PREVIEW_RUNS_DEFAULT};
    return cli_main(&opts, argc, argv, &args.common, cron_run);
}

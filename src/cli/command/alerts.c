/* alerts.c - `belfry alerts` lists, `belfry ack` acknowledges one. */
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

enum { QUERY_BYTES_MAX = 1 << 16, BODY_BYTES_MAX = 1 << 14 };

/* ---- the list */

struct alert_args {
    struct list_args list; /* first: cli_main and list_print know only this */
    struct opt_list state;
    struct opt_list kind;
    struct opt_list level;
    const char *key;
    const char *queue;
    bool acknowledged;
    bool open;
};

#define AT(member) offsetof(struct alert_args, member)
static const struct opt table[] = {
    {"state", 0, OPT_LIST, "STATE", AT(state), "kept, pending, sent, given_up or silenced"},
    {"kind", 0, OPT_LIST, "KIND", AT(kind), "of this kind: job_failed, queue_old, ..."},
    {"level", 0, OPT_LIST, "LEVEL", AT(level), "warning or critical"},
    {"key", 0, OPT_TEXT, "KEY", AT(key), "of this key; PREFIX* for all that begin so"},
    {"queue", 0, OPT_TEXT, "Q", AT(queue), "about this queue"},
    {"job", 0, OPT_TEXT, "ID", LIST_AT(job), "about this job"},
    {"created-after", 0, OPT_TEXT, "TIME", LIST_AT(created_after), "raised then or later"},
    {"created-before", 0, OPT_TEXT, "TIME", LIST_AT(created_before), "raised before that"},
    {"acknowledged", 0, OPT_FLAG, NULL, AT(acknowledged), "those that somebody looks after"},
    {"open", 0, OPT_FLAG, NULL, AT(open), "those that nobody has acknowledged"},
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "ALERT"}, VIEW_TEXT, "alert_id"},
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "LEVEL"}, VIEW_TEXT, "level"},
    {{.title = "KIND"}, VIEW_TEXT, "kind"},
    {{.title = "WHAT", .flexible = true}, VIEW_TEXT, "text"},
    {{.title = "MORE", .right = true, .optional = true}, VIEW_TEXT, "repeats"},
    {{.title = "TOLD", .optional = true}, VIEW_TEXT, "state"},
    {{.title = "SEEN BY", .optional = true}, VIEW_TEXT, "acknowledged_by"},
};

static const struct listing listing = {
    .opts = {"alerts", "[options]",
             "Lists events that need attention, newest first: jobs that failed for good,\n"
             "workers that vanished, targets that keep failing, queues that are old or long.\n"
             "`belfry ack` says that one is looked after, `belfry silence` keeps some from being\n"
             "sent for a while.",
             table, COUNT_OF(table)},
    .path = "/alerts",
    .key = "alerts",
    .nothing = "no alerts",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

static enum rc run_list(struct cli *cli, const void *arg, struct err *err)
{
    const struct alert_args *args = arg;
    struct list_args list = args->list;
    CLEANUP(buf_free) struct buf own = BUF(QUERY_BYTES_MAX);
    TRY(cli_no_words(cli, err));
    if (args->acknowledged && args->open)
        return err_set(err, RC_INVALID, "--acknowledged and --open cannot both be given");
    list_add_params(&own, "state", &args->state, &cli->arena);
    list_add_params(&own, "kind", &args->kind, &cli->arena);
    list_add_params(&own, "level", &args->level, &cli->arena);
    api_add_param(&own, "key", args->key);
    api_add_param(&own, "queue", args->queue);
    if (args->acknowledged || args->open)
        api_add_param(&own, "acknowledged", args->acknowledged ? "true" : "false");
    list.own = buf_str(&own);
    return list_print(cli, &listing, &list, err);
}

int alerts_command(int argc, char **argv)
{
    struct alert_args args = {.list = {.limit = LIST_LIMIT_DEFAULT}};
    return cli_main(&listing.opts, argc, argv, &args.list.common, run_list);
}

/* ---- acknowledging one */

struct ack_args {
    struct cli_common common;
    const char *note;
};

static const struct opt ack_table[] = {
    {"note", 0, OPT_TEXT, "TEXT", offsetof(struct ack_args, note), "kept with the alert"},
    CLI_COMMON_OPTS,
};

static const struct opts ack_opts = {
    "ack", "ALERT [options]",
    "Acknowledges an alert: somebody looks after it. One that waits to be sent is not sent any\n"
    "more. The first to acknowledge it stays, and any other is told who that was.",
    ack_table, COUNT_OF(ack_table)};

static enum rc run_ack(struct cli *cli, const void *arg, struct err *err)
{
    const struct ack_args *args = arg;
    CLEANUP(buf_free) struct buf path = BUF(QUERY_BYTES_MAX);
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json answer;
    if (cli->words.count != 1 || cli->words.items[0][0] == '\0')
        return err_set(err, RC_INVALID, "one alert is wanted, as `belfry alerts` shows its id");
    buf_add(&path, STR("/alerts/"));
    api_add_encoded(&path, cli->words.items[0]);
    buf_add(&path, STR("/ack"));
    struct json_writer w = JSON_WRITER(&body);
    json_open(&w);
    if (args->note != NULL)
        json_put_str(&w, "note", str_c(args->note));
    json_close(&w);
    if (body.overflow)
        return err_set(err, RC_TOO_LARGE, "the note is too long");
    TRY(api_call(cli, "POST", buf_str(&path), buf_str(&body), &answer, err));
    struct str by = api_text(&answer, STR("acknowledged_by"));
    cli_print_line(cli->format == CLI_JSON ? answer.raw
                                           : arena_printf(&cli->arena, "%s acknowledged by %.*s",
                                                          cli->words.items[0], STR_ARG(by)));
    return RC_OK;
}

int ack_command(int argc, char **argv)
{
    struct ack_args args = {0};
    return cli_main(&ack_opts, argc, argv, &args.common, run_ack);
}

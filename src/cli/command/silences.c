/* silences.c - `belfry silence` makes one, `belfry silences` lists and lifts them. */
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

enum { BODY_BYTES_MAX = 1 << 14, PATH_BYTES_MAX = 1 << 16 };

/* ---- making one */

struct silence_args {
    struct cli_common common;
    const char *duration;
    const char *until;
    const char *reason;
};

#define AT(member) offsetof(struct silence_args, member)
static const struct opt silence_table[] = {
    {"for", 0, OPT_TEXT, "DURATION", AT(duration), "from now on: 2h"},
    {"until", 0, OPT_TEXT, "TIME", AT(until), "instead of --for"},
    {"reason", 0, OPT_TEXT, "TEXT", AT(reason), "why; shown with the silence"},
    CLI_COMMON_OPTS,
};

static const struct opts silence_opts = {
    "silence", "KEY --for DURATION|--until TIME [--reason TEXT]",
    "Keeps alerts of this key from being sent for a while; PREFIX* means all keys that begin so.\n"
    "They are raised and listed as always, in the state silenced. `belfry alerts -o json` shows\n"
    "keys, and `belfry silences lift ID` ends a silence before its time.",
    silence_table, COUNT_OF(silence_table)};

static enum rc run_silence(struct cli *cli, const void *arg, struct err *err)
{
    const struct silence_args *args = arg;
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json answer;
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "one key is wanted, or the beginning of keys with *");
    if ((args->duration == NULL) == (args->until == NULL))
        return err_set(err, RC_INVALID, "either --for or --until is wanted");
    struct json_writer w = JSON_WRITER(&body);
    json_open(&w);
    json_put_str(&w, "key", str_c(cli->words.items[0]));
    if (args->duration != NULL)
        json_put_str(&w, "for", str_c(args->duration));
    else
        json_put_str(&w, "until", str_c(args->until));
    if (args->reason != NULL)
        json_put_str(&w, "reason", str_c(args->reason));
    json_close(&w);
    if (body.overflow)
        return err_set(err, RC_TOO_LARGE, "that is too long");
    TRY(api_call(cli, "POST", STR("/alerts/silences"), buf_str(&body), &answer, err));
    cli_print_line(cli->format == CLI_JSON ? answer.raw : api_text(&answer, STR("silence_id")));
    return RC_OK;
}

int silence_command(int argc, char **argv)
{
    struct silence_args args = {0};
    return cli_main(&silence_opts, argc, argv, &args.common, run_silence);
}

/* ---- those there are */

static const struct opt table[] = {
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "SILENCE"}, VIEW_TEXT, "silence_id"},
    {{.title = "KEY", .flexible = true}, VIEW_TEXT, "key"},
    {{.title = "UNTIL"}, VIEW_WHEN, "until"},
    {{.title = "REASON", .flexible = true}, VIEW_TEXT, "reason"},
    {{.title = "BY", .optional = true}, VIEW_TEXT, "actor"},
    {{.title = "SINCE", .optional = true}, VIEW_WHEN, "created_at"},
};

static const struct listing listing = {
    .opts =
        {"silences", "[options]   or   belfry silences lift ID",
         "Lists silences: alerts that are not sent for a while. `lift` ends one before its time.",
         table, COUNT_OF(table)},
    .path = "/alerts/silences",
    .key = "silences",
    .whole = true,
    .nothing = "no silences: all alerts are sent",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

static enum rc lift(struct cli *cli, struct err *err)
{
    CLEANUP(buf_free) struct buf path = BUF(PATH_BYTES_MAX);
    struct json answer;
    if (!str_eq(str_c(cli->words.items[0]), STR("lift")))
        return err_set(err, RC_INVALID, "unknown action '%s': lift is known", cli->words.items[0]);
    if (cli->words.count != 2 || cli->words.items[1][0] == '\0')
        return err_set(err, RC_INVALID, "lift takes a silence, as `belfry silences` shows its id");
    buf_add(&path, STR("/alerts/silences/"));
    api_add_encoded(&path, cli->words.items[1]);
    TRY(api_call(cli, "DELETE", buf_str(&path), STR(""), &answer, err));
    cli_print_line(cli->format == CLI_JSON
                       ? answer.raw
                       : arena_printf(&cli->arena, "%s lifted", cli->words.items[1]));
    return RC_OK;
}

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    return cli->words.count > 0 ? lift(cli, err) : list_print(cli, &listing, args, err);
}

int silences_command(int argc, char **argv)
{
    struct list_args args = {.limit = LIST_LIMIT_DEFAULT};
    return cli_main(&listing.opts, argc, argv, &args.common, run);
}

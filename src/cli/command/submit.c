#include "cli/command/submit.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/follow.h"

#define AT(member) offsetof(struct submit_args, member)
static const struct opt table[] = {
    {"name", 0, OPT_TEXT, "TEXT", AT(name), "what people call it"},
    {"queue", 0, OPT_TEXT, "Q", AT(queue), "where it waits (default)"},
    {"team", 0, OPT_TEXT, "T", AT(team), "whose it is"},
    {"priority", 0, OPT_NUMBER, "N", AT(priority), "0 to 1000, higher first (500)"},
    {"at", 0, OPT_TEXT, "TIME", AT(at), "run then: 2026-11-16T08:00:00Z"},
    {"in", 0, OPT_TEXT, "DURATION", AT(in), "run after this: 90s, 15m, 1h30m, 2d"},
    {"cron", 0, OPT_TEXT, "EXPR", AT(cron), "run by this, again and again: '0 3 * * *'"},
    {"every", 0, OPT_TEXT, "DURATION", AT(every), "run again and again, this long apart"},
    {"tz", 0, OPT_TEXT, "ZONE", AT(tz), "the time zone of --cron (UTC)"},
    {"seconds", 0, OPT_FLAG, NULL, AT(seconds), "--cron has six fields, the first is seconds"},
    {"overlap", 0, OPT_TEXT, "HOW", AT(overlap),
     "while it still runs: skip|queue|parallel|replace"},
    {"misfire", 0, OPT_TEXT, "HOW", AT(misfire), "after downtime: latest|all|skip"},
    {"stagger", 0, OPT_TEXT, "DURATION", AT(stagger), "start up to this late, always the same"},
    {"after", 0, OPT_LIST, "[TYPE:]JOB", AT(after), "when JOB had success, failure or completion"},
    {"retries", 0, OPT_NUMBER, "N", AT(retries), "how often to try again when it fails (0)"},
    {"timeout", 0, OPT_TEXT, "DURATION", AT(timeout), "end an attempt after this (none)"},
    {"sla-expected", 0, OPT_TEXT, "DURATION", AT(sla_expected), "warn when a run takes longer"},
    {"sla-max", 0, OPT_TEXT, "DURATION", AT(sla_max),
     "a run must not take longer; see --sla-policy"},
    {"sla-policy", 0, OPT_TEXT, "HOW", AT(sla_policy),
     "then: strict (stop it)|flexible|warning_only"},
    {"concurrency", 0, OPT_TEXT, "KEY=N", AT(concurrency), "at most N with this key at once"},
    {"rate", 0, OPT_TEXT, "KEY=N/DURATION", AT(rate), "N starts of this key in such a time"},
    {"breaker", 0, OPT_TEXT, "NAME|none", AT(breaker),
     "wait while what this names keeps failing (its handler)"},
    {"env", 0, OPT_LIST, "K=V", AT(env), "a variable of the command; many times"},
    {"tag", 0, OPT_LIST, "K=V", AT(tags), "a tag to find it by; many times"},
    {"payload", 0, OPT_TEXT, "JSON|@FILE", AT(payload), "data for the command, on its stdin"},
    {"handler", 0, OPT_TEXT, "NAME", AT(handler), "for workers that know this, not a command"},
    {"working-dir", 0, OPT_TEXT, "DIR", AT(working_dir), "where the command runs"},
    {"file", 'f', OPT_TEXT, "FILE|-", AT(file), "a job document, or one on each line"},
    {"wait", 0, OPT_FLAG, NULL, AT(wait), "stream its output and exit with its exit code"},
    {"idempotency-key", 0, OPT_TEXT, "K", AT(idempotency_key),
     "submitted again with K, it is made once"},
    {"unique", 0, OPT_TEXT, "KEY", AT(unique), "not while another job with this key is unfinished"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "submit", "[options] -- COMMAND [ARG...]   or   belfry submit -f FILE|-",
    "Submits a job and prints its id. The command is run as it is, without a shell. With -f the\n"
    "job is a JSON document as the API takes it; a file with one document on each line (NDJSON)\n"
    "submits many, and prints an id per line.",
    table, COUNT_OF(table)};

static bool recurs(struct str document, struct arena *arena)
{
    struct json job;
    if (json_parse_by(&json_from_user, document, arena, &job, NULL) != RC_OK)
        return false; /* the server says it better */
    const struct json *schedule = json_get(&job, STR("schedule"));
    return schedule != NULL &&
           (json_get(schedule, STR("cron")) != NULL || json_get(schedule, STR("every")) != NULL);
}

enum rc submit_one(struct cli *cli, const struct submit_args *args, struct str document,
                   struct err *err)
{
    struct json answer;
    if (args->wait && recurs(document, &cli->arena))
        return err_set(err, RC_INVALID,
                       "--wait is for a job that runs once; this one runs again and again");
    TRY(api_call(cli, "POST", STR("/jobs"), document, &answer, err));
    if (args->wait)
        return follow_to_exit(cli, api_text(&answer, STR("execution_id")), err);
    cli_print_line(cli->format == CLI_JSON ? answer.raw : api_text(&answer, STR("job_id")));
    return RC_OK;
}

static enum rc submit(struct cli *cli, const void *arg, struct err *err)
{
    const struct submit_args *args = arg;
    struct str document;
    if (args->file != NULL)
        return submit_file(cli, args, err);
    TRY(submit_document(cli, args, &document, err));
    return submit_one(cli, args, document, err);
}

int submit_command(int argc, char **argv)
{
    struct submit_args args = {.priority = -1};
    return cli_main(&opts, argc, argv, &args.common, submit);
}

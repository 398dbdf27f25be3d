/* exec.c - `belfry exec` runs a command here and pings a job with how it went; `belfry ping` only
 * pings. */
#include "base/when.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/exec/tee.h"
#include "job/ping.h"
#include "loop/usage.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
    PATIENCE_MS = 15000, /* a ping that meets no server, or a busy one, is repeated for so long */
    PAUSE_MS = 500,      /* between two tries */
    CALL_MS = 10000,     /* one of them */
    BODY_BYTES_MAX = 8 << 20,   /* PING_OUTPUT_MAX, each byte escaped sixfold, and a little */
    BRIEF_BYTES_MAX = 64 << 10, /* of output, where the server or a proxy takes no more */
    OUTPUT_BYTES_MAX = 64 << 20,
    KEY_BYTES = 16,
};

static int64_t clock_ms(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* ---- a ping */

struct report {
    const char *job;
    bool failed;
    int64_t started_ms; /* 0: not known */
    int64_t exit_code;  /* -1: not known */
    struct str output;
    const char *key; /* of the request; so that it counts once, however often it is sent */
};

/* A report, ready to be sent. */
struct call {
    const char *key;
    struct str path;
    struct str body;
};

static struct str report_body(const struct report *report, struct arena *arena)
{
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    json_open(&w);
    json_put_str(&w, "outcome", report->failed ? STR("failure") : STR("success"));
    if (report->started_ms > 0)
        json_put_when(&w, "started_at", report->started_ms);
    if (report->exit_code >= 0)
        json_put_int(&w, "exit_code", report->exit_code);
    if (report->output.len > 0)
        json_put_str(&w, "output", report->output);
    json_close(&w);
    return arena_str(arena, buf_str(&body));
}

static struct str job_path(const char *job, const char *rest, struct arena *arena)
{
    CLEANUP(buf_free) struct buf path = BUF(1 << 16);
    buf_add(&path, STR("/jobs/"));
    api_add_encoded(&path, job);
    buf_add(&path, str_c(rest));
    return arena_str(arena, buf_str(&path));
}

static struct call call_of(const struct report *report, struct arena *arena)
{
    return (struct call){report->key, job_path(report->job, "/ping", arena),
                         report_body(report, arena)};
}

static enum rc send(struct cli *cli, const struct call *call, struct json *ret_answer,
                    struct err *err)
{
    return api_call_once(cli, call->key, call->path, call->body, CALL_MS, ret_answer, err);
}

/* For a server, or a proxy before it, that takes no body of this size. False: it is the output no
 * more that makes it large. */
static bool shorten(struct report *report)
{
    size_t len = report->output.len > BRIEF_BYTES_MAX ? BRIEF_BYTES_MAX : 0;
    if (report->output.len == 0)
        return false;
    report->output = str_from(report->output, report->output.len - len);
    return true;
}

/* So that what is sent again counts once. Without chance the time has to do. */
static const char *new_key(struct arena *arena)
{
    unsigned char bytes[KEY_BYTES];
    CLEANUP(buf_free) struct buf key = BUF(64);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        int64_t now[2] = {clock_ms(CLOCK_REALTIME), clock_ms(CLOCK_MONOTONIC)};
        memcpy(bytes, now, sizeof bytes);
    }
    buf_add(&key, STR("exec-"));
    for (size_t i = 0; i < sizeof bytes; i++)
        buf_printf(&key, "%02x", bytes[i]);
    return arena_zstr(arena, buf_str(&key));
}

/* ---- belfry exec */

struct exec_args {
    struct cli_common common;
    const char *job;
    const char *every;
    const char *grace;
    const char *patience;
};

#define AT(member) offsetof(struct exec_args, member)
static const struct opt exec_table[] = {
    {"job", 0, OPT_TEXT, "NAME", AT(job), "the job that is told how it went: its name or id"},
    {"every", 0, OPT_TEXT, "DURATION", AT(every),
     "make the job if it is not there: a ping is expected this often"},
    {"grace", 0, OPT_TEXT, "DURATION", AT(grace), "… or so much later (0s)"},
    {"patience", 0, OPT_TEXT, "DURATION", AT(patience),
     "how long to try to ping when no server answers (15s)"},
    {"url", 0, OPT_TEXT, "URL", CLI_COMMON_AT(url),
     "the server (BELFRY_URL, http://127.0.0.1:7420)"},
    {"token-file", 0, OPT_TEXT, "FILE", CLI_COMMON_AT(token_file),
     "the key (BELFRY_TOKEN, admin.key in the data directory)"},
    OPT_HELP(struct cli_common, help),
};

static const struct opts exec_opts = {
    "exec", "--job NAME [options] -- COMMAND [ARG...]",
    "Runs COMMAND here, then tells the job NAME, which expects pings, how it went: when it began,\n"
    "its exit code, and up to 1 MiB of what it printed last. For crontabs:\n"
    "\n"
    "    0 3 * * *  belfry exec --job backup -- /usr/local/bin/backup --all\n"
    "\n"
    "COMMAND is run in any case. Its input, output and exit code are its own, signals reach it, and\n"
    "when no server takes the ping, that is only a warning on standard error.",
    exec_table, COUNT_OF(exec_table)};

static void warn(const struct cli *cli, const struct err *err)
{
    fprintf(stderr, "belfry exec: the command has run, and its job was not told: %s\n%.*s",
            err->text, STR_ARG(cli->details));
}

/* So does what a proxy says while the server behind it is away: RC_IO, RC_CORRUPT. What was done
 * all the same counts once. */
static bool may_pass(enum rc rc)
{
    return rc == RC_UNREACHABLE || rc == RC_TIMEOUT || rc == RC_BUSY || rc == RC_IO ||
           rc == RC_CORRUPT || rc == RC_FULL;
}

/* Another call may have made it at the same moment. */
static enum rc make_job(struct cli *cli, const struct exec_args *args, struct err *err)
{
    CLEANUP(buf_free) struct buf body = BUF(1 << 16);
    struct json_writer w = JSON_WRITER(&body);
    struct json ignored;
    json_open(&w);
    json_put_str(&w, "name", str_c(args->job));
    json_key(&w, "expect");
    json_open(&w);
    json_put_str(&w, "every", str_c(args->every));
    if (args->grace != NULL)
        json_put_str(&w, "grace", str_c(args->grace));
    json_close(&w);
    json_close(&w);
    enum rc rc = api_call(cli, "POST", STR("/jobs"), buf_str(&body), &ignored, err);
    return rc == RC_CONFLICT ? RC_OK : rc;
}

static enum rc try_once(struct cli *cli, const struct exec_args *args, const struct call *call,
                        struct err *err)
{
    struct json ignored;
    enum rc rc = send(cli, call, &ignored, err);
    if (rc != RC_NOT_FOUND || args->every == NULL)
        return rc;
    cli->details = (struct str){0};
    TRY(make_job(cli, args, err));
    return send(cli, call, &ignored, err);
}

static enum rc try_on(struct cli *cli, const struct exec_args *args, int64_t until_ms,
                      const struct call *call, struct err *err)
{
    enum rc rc;
    while (may_pass(rc = try_once(cli, args, call, err)) &&
           clock_ms(CLOCK_MONOTONIC) + PAUSE_MS < until_ms)
        (void)poll(NULL, 0, PAUSE_MS);
    return rc;
}

static enum rc tell(struct cli *cli, const struct exec_args *args, int64_t patience_ms,
                    struct report *report, struct err *err)
{
    int64_t until_ms = clock_ms(CLOCK_MONOTONIC) + patience_ms;
    enum rc rc;
    TRY(cli_start(cli, &args->common, err));
    do {
        struct call call = call_of(report, &cli->arena);
        rc = try_on(cli, args, until_ms, &call, err);
    } while (rc == RC_TOO_LARGE && shorten(report));
    return rc;
}

static enum rc check(const struct exec_args *args, const struct opt_words *words,
                     int64_t *ret_patience_ms, struct err *err)
{
    *ret_patience_ms = PATIENCE_MS;
    if (args->job == NULL || args->job[0] == '\0')
        return err_set(err, RC_INVALID, "--job is required: the job that is told how it went");
    if (args->grace != NULL && args->every == NULL)
        return err_set(err, RC_INVALID, "--grace belongs to --every");
    if (args->patience != NULL &&
        duration_parse(str_c(args->patience), ret_patience_ms, err) != RC_OK)
        return err_note(err, "--patience");
    if (words->count == 0)
        return err_set(err, RC_INVALID, "nothing to run: the command goes behind --");
    return RC_OK;
}

static char **command_of(const struct opt_words *words, struct arena *arena)
{
    char **argv = ARENA_ARRAY(arena, char *, words->count + 1);
    for (size_t i = 0; i < words->count; i++)
        argv[i] = arena_zstr(arena, str_c(words->items[i]));
    argv[words->count] = NULL;
    return argv;
}

int exec_command(int argc, char **argv)
{
    CLEANUP(cli_end) struct cli cli = {0};
    struct exec_args args = {0};
    struct err err = {0};
    int64_t patience_ms;
    enum rc rc = opts_parse(&exec_opts, argc, argv, &args, &cli.words, &cli.arena, &err);
    if (rc == RC_OK && args.common.help)
        return usage_help(&exec_opts, NULL);
    if (rc == RC_OK)
        rc = check(&args, &cli.words, &patience_ms, &err);
    if (rc != RC_OK)
        return usage_refuse(&exec_opts, &err);
    int64_t started_ms = clock_ms(CLOCK_REALTIME);
    struct tee_end end = tee_run(command_of(&cli.words, &cli.arena), &cli.arena);
    struct report report = {
        .job = args.job,
        .failed = end.exit_code != 0,
        .started_ms = started_ms,
        .exit_code = end.exit_code,
        .output = end.output,
        .key = new_key(&cli.arena),
    };
    if (tell(&cli, &args, patience_ms, &report, &err) != RC_OK)
        warn(&cli, &err);
    return end.exit_code;
}

/* ---- belfry ping */

struct ping_args {
    struct cli_common common;
    bool failure;
    int64_t exit_code;
    const char *output;
    const char *key;
};

#undef AT
#define AT(member) offsetof(struct ping_args, member)
static const struct opt ping_table[] = {
    {"failure", 0, OPT_FLAG, NULL, AT(failure), "it has failed"},
    {"exit-code", 0, OPT_NUMBER, "N", AT(exit_code), "its exit code; other than 0 it has failed"},
    {"output-file", 0, OPT_TEXT, "FILE", AT(output), "what it printed; the last MiB is kept"},
    {"idempotency-key", 0, OPT_TEXT, "K", AT(key), "pinging again with K counts once"},
    CLI_COMMON_OPTS,
};

static const struct opts ping_opts = {
    "ping", "JOB [options]",
    "Tells a job that expects pings that what it stands for has run, elsewhere and just now.\n"
    "`belfry exec` runs a command and does this for it.",
    ping_table, COUNT_OF(ping_table)};

static enum rc ping(struct cli *cli, const void *arg, struct err *err)
{
    const struct ping_args *args = arg;
    struct json answer;
    struct report report = {
        .failed = args->failure || args->exit_code > 0,
        .exit_code = args->exit_code,
        .key = args->key != NULL ? args->key : new_key(&cli->arena),
    };
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "needs one job: an id, or a job's name");
    report.job = cli->words.items[0];
    if (args->output != NULL)
        TRY(cli_read_file(cli, args->output, OUTPUT_BYTES_MAX, &report.output, err));
    if (report.output.len > PING_OUTPUT_MAX)
        report.output = str_from(report.output, report.output.len - PING_OUTPUT_MAX);
    struct call call = call_of(&report, &cli->arena);
    TRY(send(cli, &call, &answer, err));
    api_print_status(cli, api_text(&answer, STR("execution_id")), &answer);
    return RC_OK;
}

int ping_command(int argc, char **argv)
{
    struct ping_args args = {.exit_code = -1};
    return cli_main(&ping_opts, argc, argv, &args.common, ping);
}

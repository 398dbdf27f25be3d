#include "cli/submit/submit.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "job/spec.h"

/* ---- options */

#define AT(member) offsetof(struct submit_args, member)

/* Flags of which a field has several, or which set a part of it. Help shows them where the field
 * stands in the list. */
struct own_flag {
    enum job_field_id field;
    struct opt opt;
    const struct words *words; /* that help adds; NULL: none */
};

/* clang-format off */
#define FLAG(name, words_, ...) {.field = JOB_FIELD_##name, .words = words_, .opt = {__VA_ARGS__}}
static const struct own_flag own_flags[] = {
    FLAG(schedule, NULL, "at", 0, OPT_TEXT, "TIME", AT(at),
         "run once, at this time: 2026-11-16T08:00:00Z"),
    FLAG(schedule, NULL, "in", 0, OPT_TEXT, "DURATION", AT(in),
         "run once, after this: 90s, 15m, 1h30m, 2d"),
    FLAG(schedule, NULL, "cron", 0, OPT_TEXT, "EXPR", AT(cron),
         "run by this schedule: '0 3 * * *'"),
    FLAG(schedule, NULL, "every", 0, OPT_TEXT, "DURATION", AT(every),
         "run again and again, this long apart"),
    FLAG(schedule, NULL, "tz", 0, OPT_TEXT, "ZONE", AT(tz), "time zone of --cron (UTC)"),
    FLAG(schedule, NULL, "seconds", 0, OPT_FLAG, NULL, AT(seconds),
         "--cron has six fields, the first is seconds"),
    FLAG(retry, NULL, "retries", 0, OPT_NUMBER, "N", AT(retries),
         "how often to try again when it fails (0)"),
    FLAG(sla, NULL, "sla-expected", 0, OPT_TEXT, "DURATION", AT(sla_expected),
         "warn when a run takes longer"),
    FLAG(sla, NULL, "sla-max", 0, OPT_TEXT, "DURATION", AT(sla_max),
         "a run must not take longer; see --sla-policy"),
    FLAG(sla, &sla_policy_words, "sla-policy", 0, OPT_TEXT, "HOW", AT(sla_policy),
         "what to do with a run that takes longer"),
    FLAG(misfire, &misfire_policy_words, "misfire", 0, OPT_TEXT, "HOW", AT(misfire),
         "runs to make up for after downtime"),
    FLAG(expect, NULL, "expect-every", 0, OPT_TEXT, "DURATION", AT(expect_every),
         "nothing runs: a ping is expected this often; see belfry exec"),
    FLAG(expect, NULL, "expect-grace", 0, OPT_TEXT, "DURATION", AT(expect_grace),
         "… or so much later (0s)"),
    FLAG(unique, NULL, "unique-keep", 0, OPT_TEXT, "DURATION", AT(unique_keep),
         "keep the key of --unique this long after success"),
};
/* clang-format on */

static const struct opt other_flags[] = {
    {"file", 'f', OPT_TEXT, "FILE|-", AT(file), "a job document, or one on each line"},
    {"wait", 0, OPT_FLAG, NULL, AT(wait), "stream its output and exit with its exit code"},
    CLI_COMMON_OPTS,
};

enum { FLAGS_MAX = JOB_FIELD_COUNT + COUNT_OF(own_flags) + COUNT_OF(other_flags) };

static enum opt_kind option_kind(enum job_kind kind)
{
    switch (kind) {
    case JOB_KIND_INT: return OPT_NUMBER;
    case JOB_KIND_BOOL: return OPT_FLAG;
    case JOB_KIND_OWN_MANY: return OPT_LIST;
    default: return OPT_TEXT;
    }
}

static struct opt option_of(size_t id)
{
    const struct job_field *field = &job_fields[id];
    return (struct opt){
        .name = field->flag,
        .kind = option_kind(field->kind),
        .value = field->kind == JOB_KIND_BOOL ? NULL : field->value,
        .offset = AT(fields) + id * sizeof(union submit_value),
        .help = field->help,
    };
}

static struct opt with_words(struct opt opt, const struct words *words, struct arena *arena)
{
    if (words != NULL)
        opt.help = arena_printf(arena, "%s: %s", opt.help, words_choices(words, arena).ptr).ptr;
    return opt;
}

/* The options that describe a job; ret_table has room for FLAGS_MAX. */
static size_t job_options(struct opt *ret_table, struct arena *arena)
{
    size_t count = 0;
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].flag != NULL)
            ret_table[count++] = with_words(option_of(i), job_fields[i].words, arena);
        for (size_t k = 0; k < COUNT_OF(own_flags); k++) {
            if (own_flags[k].field == i)
                ret_table[count++] = with_words(own_flags[k].opt, own_flags[k].words, arena);
        }
    }
    return count;
}

struct submit_args submit_nothing(void)
{
    struct submit_args args = {.retries = -1};
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].kind == JOB_KIND_INT)
            args.fields[i].number = -1;
    }
    return args;
}

static bool is_given(const struct opt *opt, const struct submit_args *args)
{
    const void *at = (const char *)args + opt->offset;
    switch (opt->kind) {
    case OPT_FLAG: return *(const bool *)at;
    case OPT_NUMBER: return *(const int64_t *)at >= 0;
    case OPT_LIST: return ((const struct opt_list *)at)->count > 0;
    default: return *(const char *const *)at != NULL;
    }
}

bool submit_describes(struct cli *cli, const struct submit_args *args)
{
    struct opt table[FLAGS_MAX];
    size_t count = job_options(table, &cli->arena);
    for (size_t i = 0; i < count; i++) {
        if (is_given(&table[i], args))
            return true;
    }
    return false;
}

/* ---- the command */

static bool recurs(struct str document, struct arena *arena)
{
    struct json job;
    if (json_parse_by(&json_from_user, document, arena, &job, NULL) != RC_OK)
        return false; /* the server says it better */
    const struct json *schedule = json_get(&job, STR("schedule"));
    if (json_get(&job, STR("expect")) != NULL)
        return true;
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

static const char about[] =
    "Submits a job and prints its id. The command is run as it is, without a shell. With -f the\n"
    "job is a JSON document as the API takes it; a file with one document on each line (NDJSON)\n"
    "submits many, and prints an id per line.";

int submit_command(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena texts = {0}; /* of the help page */
    struct opt table[FLAGS_MAX];
    size_t count = job_options(table, &texts);
    for (size_t i = 0; i < COUNT_OF(other_flags); i++)
        table[count++] = other_flags[i];
    const struct opts opts = {"submit",
                              "[options] -- COMMAND [ARG...]   or   belfry submit -f FILE|-", about,
                              table, count};
    struct submit_args args = submit_nothing();
    return cli_main(&opts, argc, argv, &args.common, submit);
}

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

static const struct opt table[] = {
    {"from", 0, OPT_TEXT, "TIME", LIST_AT(from), "slots from this time on (a day ago)"},
    {"until", 0, OPT_TEXT, "TIME", LIST_AT(until), "slots before this time (a day ahead)"},
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "SLOT"}, VIEW_WHEN, "slot"},
    {{.title = "OUTCOME"}, VIEW_TEXT, "outcome"},
    {{.title = "STATUS", .optional = true}, VIEW_STATUS, "status"},
    {{.title = "COUNT", .right = true}, VIEW_TEXT, "count"},
    {{.title = "LAST", .optional = true}, VIEW_WHEN, "slot_last"},
    {{.title = "EXECUTION", .optional = true}, VIEW_TEXT, "execution_id"},
    {{.title = "REASON", .flexible = true, .optional = true}, VIEW_TEXT, "reason"},
};

static const struct listing listing = {
    .opts =
        {"slots", "JOB [options]",
         "Lists the slots of a job's schedule, the newest first, with what became of each: fired,\n"
         "with its execution, skipped, planned, or unknown when that is kept no longer. Slots that\n"
         "were skipped for one reason are one line, from the first of them on. Without --until a\n"
         "hundred of those ahead are listed.",
         table, COUNT_OF(table)},
    .key = "slots",
    .nothing = "no slots",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    struct listing of_job = listing;
    struct str id;
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "takes one job");
    TRY(api_job_id(cli, str_c(cli->words.items[0]), &id, err));
    of_job.path = arena_printf(&cli->arena, "/jobs/%.*s/slots", STR_ARG(id)).ptr;
    return list_print(cli, &of_job, args, err);
}

int slots_command(int argc, char **argv)
{
    struct list_args args = {.limit = LIST_LIMIT_DEFAULT};
    return cli_main(&listing.opts, argc, argv, &args.common, run);
}

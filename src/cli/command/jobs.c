#include "cli/commands.h"
#include "cli/list.h"

static const struct opt table[] = {
    LIST_JOBS_OPTS{"sort", 0, OPT_TEXT, "ORDER", LIST_AT(sort),
                   "newest (the default), name, or next_run_at: those with a run ahead"},
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "JOB"}, VIEW_TEXT, "job_id"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "NAME", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "PHASE", .optional = true}, VIEW_TEXT, "phase"},
    {{.title = "NEXT RUN", .optional = true}, VIEW_WHEN, "next_run_at"},
    {{.title = "SCHEDULE", .flexible = true, .optional = true}, VIEW_TEXT, "schedule_text"},
    {{.title = "CREATED", .optional = true}, VIEW_WHEN, "created_at"},
    {{.title = "QUEUE", .flexible = true, .optional = true}, VIEW_TEXT, "queue"},
    {{.title = "COMMAND", .flexible = true, .optional = true}, VIEW_WORK, ""},
};

static const struct listing listing = {
    .opts =
        {"jobs", "[options]",
         "Lists jobs, the newest first or in another order (--sort). The status of a job is active,\n"
         "paused, completed, failed or cancelled; its phase says more: running, retrying, blocked,\n"
         "waiting, scheduled.\n"
         "A name may have a * for any text: --name 'nightly-*'.",
         table, COUNT_OF(table)},
    .path = "/jobs",
    .key = "jobs",
    .nothing = "no jobs",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

int jobs_command(int argc, char **argv)
{
    return list_main(&listing, argc, argv);
}

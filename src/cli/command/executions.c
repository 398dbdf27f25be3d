#include "cli/commands.h"
#include "cli/list.h"

static const struct opt table[] = {
    LIST_EXECUTIONS_OPTS LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "EXECUTION"}, VIEW_TEXT, "execution_id"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "TOOK", .right = true}, VIEW_DURATION, "duration_ms"},
    {{.title = "STARTED", .optional = true}, VIEW_WHEN, "started_at"},
    {{.title = "ERROR", .flexible = true, .optional = true}, VIEW_WHY, ""},
    {{.title = "SLOT", .optional = true}, VIEW_WHEN, "slot"},
    {{.title = "JOB", .optional = true}, VIEW_TEXT, "job_id"},
    {{.title = "NAME", .flexible = true, .optional = true}, VIEW_TEXT, "job_name"},
    {{.title = "TRIES", .right = true, .optional = true}, VIEW_TEXT, "attempt_count"},
    {{.title = "QUEUE", .flexible = true, .optional = true}, VIEW_TEXT, "queue"},
};

static const struct listing listing = {
    .opts =
        {"executions", "[options]",
         "Lists runs of jobs, the newest first. The status of a run is scheduled, blocked, queued,\n"
         "running, retrying, completed, failed, timeout, cancelled, skipped or expired. Slots that were\n"
         "skipped for one reason are one line, from the first of them on.",
         table, COUNT_OF(table)},
    .path = "/executions",
    .key = "executions",
    .nothing = "no executions",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

int executions_command(int argc, char **argv)
{
    return list_main(&listing, argc, argv);
}

#include "cli/commands.h"
#include "cli/list.h"

static const struct opt table[] = {
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "LEVEL"}, VIEW_TEXT, "level"},
    {{.title = "KIND"}, VIEW_TEXT, "kind"},
    {{.title = "WHAT", .flexible = true}, VIEW_TEXT, "text"},
    {{.title = "MORE", .right = true, .optional = true}, VIEW_TEXT, "repeats"},
    {{.title = "TOLD", .optional = true}, VIEW_TEXT, "state"},
};

static const struct listing listing = {
    .opts = {"alerts", "[options]",
             "Lists events that need attention, newest first: jobs that failed for good,\n"
             "workers that vanished, targets that keep failing, queues that are old or long.",
             table, COUNT_OF(table)},
    .path = "/alerts",
    .key = "alerts",
    .nothing = "no alerts",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

int alerts_command(int argc, char **argv)
{
    return list_main(&listing, argc, argv);
}

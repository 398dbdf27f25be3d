#include "cli/commands.h"
#include "cli/list.h"

static const struct opt table[] = {
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "SUBMISSION", .right = true}, VIEW_TEXT, "submission"},
    {{.title = "TEAM", .optional = true}, VIEW_TEXT, "team"},
    {{.title = "BY", .optional = true}, VIEW_TEXT, "actor"},
    {{.title = "WHY", .flexible = true}, VIEW_TEXT, "reason"},
};

static const struct listing listing = {
    .opts =
        {"rejected", "[options]",
         "Lists what was submitted out of SQL transactions (belfry.submit) and could not be\n"
         "made a job, newest first, with the number that belfry.submit returned and the reason.",
         table, COUNT_OF(table)},
    .path = "/submissions/rejected",
    .key = "rejected",
    .nothing = "nothing was rejected",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

int rejected_command(int argc, char **argv)
{
    return list_main(&listing, argc, argv);
}

#include "cli/commands.h"
#include "cli/list.h"

static const struct opt table[] = {
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "WORKER"}, VIEW_TEXT, "worker_id"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "BUSY", .right = true}, VIEW_TEXT, "busy"},
    {{.title = "SLOTS", .right = true}, VIEW_TEXT, "slots"},
    {{.title = "NAME", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "SEEN", .optional = true}, VIEW_WHEN, "seen_at"},
    {{.title = "QUEUES", .flexible = true, .optional = true}, VIEW_WORDS, "queues"},
    {{.title = "HANDLERS", .flexible = true, .optional = true}, VIEW_WORDS, "handlers"},
};

static const struct listing listing = {
    .opts = {"workers", "[options]", "Lists the workers that the server knows.", table,
             COUNT_OF(table)},
    .path = "/workers",
    .key = "workers",
    .whole = true,
    .nothing = "no workers",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

int workers_command(int argc, char **argv)
{
    return list_main(&listing, argc, argv);
}

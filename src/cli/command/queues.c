#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

#include <inttypes.h>

enum { PATH_BYTES_MAX = 1 << 16 };

static const struct opt table[] = {
    {"limit", 0, OPT_NUMBER, "N", LIST_AT(limit), "how many to list, by name (50)"},
    {"all", 0, OPT_FLAG, NULL, LIST_AT(all), "all of them"},
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "QUEUE", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "QUEUED", .right = true}, VIEW_TEXT, "queued"},
    {{.title = "RUNNING", .right = true}, VIEW_TEXT, "running"},
    {{.title = "LIMIT", .right = true}, VIEW_TEXT, "concurrency"},
    {{.title = "PAUSED SINCE"}, VIEW_WHEN, "paused_at"},
    {{.title = "OLDEST", .right = true, .optional = true}, VIEW_DURATION, "oldest_age_ms"},
    {{.title = "SCHEDULED", .right = true, .optional = true}, VIEW_TEXT, "scheduled"},
    {{.title = "RETRYING", .right = true, .optional = true}, VIEW_TEXT, "retrying"},
    {{.title = "PAUSED BY", .flexible = true, .optional = true}, VIEW_TEXT, "paused_by"},
};

static const struct listing listing = {
    .opts =
        {"queues", "[options]   or   belfry queues pause|resume|delete NAME, limit NAME N|none",
         "Lists queues: executions that wait and run, pauses and limits.\n"
         "`pause` keeps everything in a queue from starting until `resume`, while what runs goes\n"
         "on and jobs are still taken. `limit` says how many run at once, at most. `delete` forgets\n"
         "one that has neither unfinished jobs nor dead letters, with its pause and its limit.",
         table, COUNT_OF(table)},
    .path = "/queues",
    .key = "queues",
    .nothing = "no queues",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

static struct str path_of(const char *name, const char *action, struct arena *arena)
{
    CLEANUP(buf_free) struct buf path = BUF(PATH_BYTES_MAX);
    buf_add(&path, STR("/queues/"));
    api_add_encoded(&path, name);
    buf_add(&path, str_c(action));
    return arena_str(arena, buf_str(&path));
}

/* The state of the queue, in a line. */
static void print_queue(struct cli *cli, const struct json *queue)
{
    const struct json *paused = json_get(queue, STR("paused"));
    const struct json *limit = json_get(queue, STR("concurrency"));
    bool is_paused = paused != NULL && paused->kind == JSON_BOOL && paused->boolean;
    struct str about = STR("no limit");
    if (cli->format == CLI_JSON) {
        cli_print_line(queue->raw);
        return;
    }
    if (limit != NULL && limit->kind == JSON_INT)
        about = arena_printf(&cli->arena, "at most %" PRId64 " at once", limit->integer);
    struct str name = api_text(queue, STR("name"));
    cli_print_line(arena_printf(&cli->arena, "%.*s %s, %.*s", STR_ARG(name),
                                is_paused ? "paused" : "open", STR_ARG(about)));
}

static enum rc delete_one(struct cli *cli, const char *name, struct err *err)
{
    struct json deleted;
    TRY(api_call(cli, "DELETE", path_of(name, "", &cli->arena), STR(""), &deleted, err));
    cli_print_line(cli->format == CLI_JSON ? deleted.raw
                                           : arena_printf(&cli->arena, "%s deleted", name));
    return RC_OK;
}

static enum rc change(struct cli *cli, struct err *err)
{
    enum { PAUSE, RESUME, LIMIT, DELETE };
    const char **words = cli->words.items;
    int action = opts_choice("pause|resume|limit|delete", str_c(words[0]));
    struct str body = STR("");
    struct json queue;
    if (action < 0)
        return err_set(err, RC_INVALID,
                       "unknown action '%s': pause, resume, limit and delete are known", words[0]);
    if (cli->words.count != (action == LIMIT ? 3 : 2) || words[1][0] == '\0')
        return err_set(err, RC_INVALID, "%s takes the name of a queue%s", words[0],
                       action == LIMIT ? " and a number, or none" : "");
    if (action == LIMIT)
        TRY(api_limit_body(cli, words[2], &body, err));
    if (action == DELETE)
        return delete_one(cli, words[1], err);
    const char *tail = action == PAUSE ? "/pause" : action == RESUME ? "/resume" : "";
    TRY(api_call(cli, action == LIMIT ? "PUT" : "POST", path_of(words[1], tail, &cli->arena), body,
                 &queue, err));
    print_queue(cli, &queue);
    return RC_OK;
}

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    return cli->words.count > 0 ? change(cli, err) : list_print(cli, &listing, args, err);
}

int queues_command(int argc, char **argv)
{
    struct list_args args = {.limit = LIST_LIMIT_DEFAULT};
    return cli_main(&listing.opts, argc, argv, &args.common, run);
}

/* dead_letters.c - what failed for good: lists, and running again or discarding one or many. */
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/list.h"
#include "cli/many.h"

#include <inttypes.h>
#include <stdio.h>

enum { BODY_BYTES_MAX = 1 << 16 };

struct letter_args {
    struct list_args list; /* first: cli_main and list_print know only this */
    const char *queue;     /* of the list's filters, these two are one each */
    const char *name;
    bool dry_run;
    bool yes;
    const char *payload;
};

#define AT(member) offsetof(struct letter_args, member)
static const struct opt table[] = {
    {"queue", 0, OPT_TEXT, "Q", AT(queue), "only of this queue"},
    {"name", 0, OPT_TEXT, "NAME", AT(name), "only of jobs with this name"},
    {"class", 0, OPT_TEXT, "CLASS", LIST_AT(class), "only failures of this class"},
    {"fingerprint", 0, OPT_TEXT, "F", LIST_AT(fingerprint), "only failures of this kind"},
    {"job", 0, OPT_TEXT, "ID", LIST_AT(job), "only of this job"},
    LIST_LIMIT_OPTS,
    {"dry-run", 0, OPT_FLAG, NULL, AT(dry_run), "retry, discard: only say how many"},
    {"yes", 'y', OPT_FLAG, NULL, AT(yes), "retry, discard: do not ask"},
    {"payload", 0, OPT_TEXT, "JSON|@FILE", AT(payload),
     "retry ID: run with this instead of its payload"},
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "EXECUTION"}, VIEW_TEXT, "execution_id"},
    {{.title = "NAME", .flexible = true, .optional = true}, VIEW_TEXT, "name"},
    {{.title = "QUEUE", .flexible = true, .optional = true}, VIEW_TEXT, "queue"},
    {{.title = "DIED"}, VIEW_WHEN, "died_at"},
    {{.title = "REASON"}, VIEW_TEXT, "reason"},
    {{.title = "CLASS"}, VIEW_TEXT, "error_class"},
    {{.title = "FINGERPRINT", .optional = true}, VIEW_TEXT, "fingerprint"},
    {{.title = "ATTEMPTS", .right = true, .optional = true}, VIEW_TEXT, "attempt_count"},
    {{.title = "ERROR", .flexible = true}, VIEW_TEXT, "error"},
};

static const struct listing listing = {
    .opts =
        {"dead-letters", "[options]   or   belfry dead-letters show|retry|discard ID, fingerprints",
         "Lists executions that failed for good. `retry` runs one again, or all that the options\n"
         "name; `discard` takes them off the list, and their history stays. Both ask before they\n"
         "do it to many, and say how far they have come. `fingerprints` counts failures of one\n"
         "kind.",
         table, COUNT_OF(table)},
    .path = "/dead-letters",
    .key = "dead_letters",
    .nothing = "no dead letters",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

static const struct view_field lines[] = {
    {{.title = "execution"}, VIEW_TEXT, "execution_id"},
    {{.title = "job"}, VIEW_TEXT, "job_id"},
    {{.title = "name"}, VIEW_TEXT, "name"},
    {{.title = "queue"}, VIEW_TEXT, "queue"},
    {{.title = "owner"}, VIEW_TEXT, "owner"},
    {{.title = "status"}, VIEW_STATUS, "status"},
    {{.title = "died"}, VIEW_WHEN, "died_at"},
    {{.title = "reason"}, VIEW_TEXT, "reason"},
    {{.title = "error"}, VIEW_TEXT, "error"},
    {{.title = "class"}, VIEW_TEXT, "error_class"},
    {{.title = "fingerprint"}, VIEW_TEXT, "fingerprint"},
    {{.title = "which is"}, VIEW_TEXT, "fingerprint_text"},
    {{.title = "attempts"}, VIEW_TEXT, "attempt_count"},
    {{.title = "lost workers"}, VIEW_COUNT, "lost_count"},
};

static const struct view_field group_fields[] = {
    {{.title = "FINGERPRINT"}, VIEW_TEXT, "fingerprint"},
    {{.title = "COUNT", .right = true}, VIEW_TEXT, "count"},
    {{.title = "CLASS"}, VIEW_TEXT, "error_class"},
    {{.title = "NEWEST"}, VIEW_WHEN, "newest_at"},
    {{.title = "EXAMPLE", .optional = true}, VIEW_TEXT, "newest_execution_id"},
    {{.title = "FAILURE", .flexible = true}, VIEW_TEXT, "fingerprint_text"},
};

static int64_t number(const struct json *object, struct str key)
{
    const struct json *value = json_get(object, key);
    return value != NULL && value->kind == JSON_INT ? value->integer : 0;
}

static struct str path_of(struct cli *cli, const char *id, const char *action)
{
    CLEANUP(buf_free) struct buf path = BUF(BODY_BYTES_MAX);
    buf_add(&path, STR("/dead-letters/"));
    api_add_encoded(&path, id);
    buf_add(&path, str_c(action));
    return arena_str(&cli->arena, buf_str(&path));
}

/* ---- one of them, and groups */

static enum rc show(struct cli *cli, const char *id, struct err *err)
{
    struct json letter;
    TRY(api_get(cli, path_of(cli, id, ""), &letter, err));
    if (cli->format == CLI_JSON)
        cli_print_line(letter.raw);
    else
        view_print_page(lines, COUNT_OF(lines), &letter, &cli->arena);
    return RC_OK;
}

static enum rc do_one(struct cli *cli, const char *action, const char *id, const char *payload,
                      struct err *err)
{
    bool retry = str_eq(str_c(action), STR("retry"));
    struct json answer;
    struct str body;
    TRY(follow_retry_body(cli, payload, &body, err));
    TRY(api_call(cli, retry ? "POST" : "DELETE", path_of(cli, id, retry ? "/retry" : ""), body,
                 &answer, err));
    if (cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else if (retry)
        cli_print_line(api_text(&answer, STR("execution_id")));
    else
        cli_print_line(arena_printf(&cli->arena, "%s discarded", id));
    return RC_OK;
}

static enum rc show_groups(struct cli *cli, const struct letter_args *args, struct err *err)
{
    CLEANUP(buf_free) struct buf query = BUF(BODY_BYTES_MAX);
    CLEANUP(view_free) struct view view;
    struct json answer;
    api_add_param(&query, "queue", args->queue);
    api_add_param(&query, "name", args->name);
    api_add_param(&query, "class", args->list.class);
    api_add_param(&query, "job", args->list.job);
    struct str text = buf_str(&query);
    view_start(&view, group_fields, COUNT_OF(group_fields), &cli->arena);
    TRY(api_get(cli,
                arena_printf(&cli->arena, "/dead-letters/fingerprints%s%.*s",
                             text.len > 0 ? "?" : "", STR_ARG(text)),
                &answer, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    const struct json *groups = json_get(&answer, STR("fingerprints"));
    for (size_t i = 0; groups != NULL && i < groups->count; i++)
        view_add_row(&view, &groups->items[i]);
    view_print(&view, listing.nothing);
    return RC_OK;
}

/* ---- many of them */

static void put(struct json_writer *w, const char *key, const char *value)
{
    if (value != NULL)
        json_put_str(w, key, str_c(value));
}

/* No filter at all is all of them, and has to be said. */
static struct str body_of(struct cli *cli, const struct letter_args *args, bool dry_run)
{
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    const struct list_args *list = &args->list;
    json_open(&w);
    json_key(&w, "filter");
    json_open(&w);
    put(&w, "queue", args->queue);
    put(&w, "name", args->name);
    put(&w, "class", list->class);
    put(&w, "fingerprint", list->fingerprint);
    put(&w, "job", list->job);
    json_close(&w);
    if (list->all)
        json_put_bool(&w, "all", true);
    json_put_bool(&w, "dry_run", dry_run);
    json_close(&w);
    return arena_str(&cli->arena, buf_str(&body));
}

static void print_outcome(struct cli *cli, bool retry, const struct json *operation)
{
    int64_t refused = number(operation, STR("refused"));
    struct str why = api_text(operation, STR("last_refusal"));
    if (refused > 0)
        cli->exit_code = CLI_FAILED;
    if (cli->format == CLI_JSON) {
        cli_print_line(operation->raw);
        return;
    }
    cli_print_line(arena_printf(&cli->arena, "%" PRId64 " %s", number(operation, STR("done")),
                                retry ? "run again" : "discarded"));
    if (refused > 0)
        cli_print_line(arena_printf(&cli->arena, "%" PRId64 " refused, the last one since %.*s",
                                    refused, STR_ARG(why)));
}

static enum rc do_many(struct cli *cli, const char *action, const struct letter_args *args,
                       struct err *err)
{
    struct str path = arena_printf(&cli->arena, "/dead-letters/%s", action);
    struct json answer;
    bool go = args->yes;
    TRY(api_call(cli, "POST", path, body_of(cli, args, true), &answer, err));
    int64_t count = number(&answer, STR("count"));
    if (args->dry_run) {
        cli_print_line(cli->format == CLI_JSON ? answer.raw
                                               : arena_printf(&cli->arena, "%" PRId64, count));
        return RC_OK;
    }
    char question[100];
    (void)snprintf(question, sizeof question, "%s %" PRId64 " dead letters", action, count);
    if (!go && count > 0)
        TRY(many_ask(question, &go, err));
    if (!go && count > 0) {
        cli->exit_code = CLI_FAILED;
        cli_print_line(STR("nothing was done"));
        return RC_OK;
    }
    TRY(api_call(cli, "POST", path, body_of(cli, args, false), &answer, err));
    TRY(many_follow(cli, &answer, err));
    print_outcome(cli, str_eq(str_c(action), STR("retry")), &answer);
    return RC_OK;
}

static bool has_filter(const struct letter_args *args)
{
    return args->queue != NULL || args->name != NULL || args->list.class != NULL ||
           args->list.fingerprint != NULL || args->list.job != NULL;
}

static enum rc act(struct cli *cli, const struct letter_args *args, struct err *err)
{
    enum { SHOW, RETRY, DISCARD, FINGERPRINTS };
    const char **words = cli->words.items;
    int action = opts_choice("show|retry|discard|fingerprints", str_c(words[0]));
    bool filtered = has_filter(args) || args->list.all;
    if (action < 0)
        return err_set(err, RC_INVALID,
                       "unknown action '%s': show, retry, discard and fingerprints are known",
                       words[0]);
    if (args->payload != NULL && (action != RETRY || filtered))
        return err_set(err, RC_INVALID, "--payload is for `retry` of a single one");
    if (action == FINGERPRINTS && cli->words.count == 1)
        return show_groups(cli, args, err);
    if (cli->words.count == 2 && !filtered && action != FINGERPRINTS)
        return action == SHOW ? show(cli, words[1], err)
                              : do_one(cli, words[0], words[1], args->payload, err);
    if (cli->words.count == 1 && filtered && action != SHOW)
        return do_many(cli, words[0], args, err);
    if (action == SHOW || action == FINGERPRINTS)
        return err_set(err, RC_INVALID, "%s takes %s", words[0],
                       action == SHOW ? "the id of an execution" : "no id");
    return err_set(err, RC_INVALID,
                   "%s takes the id of an execution, or options that say which; "
                   "--all means every one",
                   words[0]);
}

static enum rc run(struct cli *cli, const void *given, struct err *err)
{
    const struct letter_args *args = given;
    struct letter_args one = *args;
    struct list_args list = args->list;
    if (cli->words.count > 0)
        return act(cli, args, err);
    list.queue = (struct opt_list){&one.queue, args->queue != NULL};
    list.name = (struct opt_list){&one.name, args->name != NULL};
    return list_print(cli, &listing, &list, err);
}

int dead_letters_command(int argc, char **argv)
{
    struct letter_args args = {.list.limit = LIST_LIMIT_DEFAULT};
    return cli_main(&listing.opts, argc, argv, &args.list.common, run);
}

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

#include <inttypes.h>
#include <stdio.h>

enum { PATH_BYTES_MAX = 1 << 16, FILE_BYTES_MAX = 2 << 20, BODY_BYTES_MAX = 16 << 20 };

struct calendar_args {
    struct list_args list;
    const char *policy;
    const char *timezone;
};

#define AT(member) offsetof(struct calendar_args, member)
static const struct opt table[] = {
    {"policy", 0, OPT_TEXT, "WORD", AT(policy), "import: hold, or skip (the default)"},
    {"tz", 0, OPT_TEXT, "ZONE", AT(timezone), "import: for dates and times without a zone"},
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "CALENDAR", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "POLICY"}, VIEW_TEXT, "policy"},
    {{.title = "ENTRIES", .right = true}, VIEW_TEXT, "entry_count"},
    {{.title = "VERSION", .right = true}, VIEW_TEXT, "version"},
    {{.title = "CHANGED"}, VIEW_WHEN, "changed_at"},
    {{.title = "BY", .flexible = true, .optional = true}, VIEW_TEXT, "changed_by"},
};

static const struct listing listing = {
    .opts =
        {"calendars",
         "[options]   or   belfry calendars import NAME FILE.ics, put NAME FILE.json,\n"
         "       show NAME, delete NAME",
         "Lists calendars: times at which the jobs that name them are not to run. `import` takes\n"
         "the events of an iCalendar file and says which of them it left out, `put` a document;\n"
         "both take the place of what is there. `show` prints the document. One that jobs still\n"
         "go by is not deleted.",
         table, COUNT_OF(table)},
    .path = "/calendars",
    .key = "calendars",
    .whole = true,
    .nothing = "no calendars",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

static struct str path_of(const char *name, struct arena *arena)
{
    CLEANUP(buf_free) struct buf path = BUF(PATH_BYTES_MAX);
    buf_add(&path, STR("/calendars/"));
    api_add_encoded(&path, name);
    return arena_str(arena, buf_str(&path));
}

static struct str ical_document(struct cli *cli, const struct calendar_args *args, struct str file)
{
    CLEANUP(buf_free) struct buf out = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    if (args->policy != NULL)
        json_put_str(&w, "policy", str_c(args->policy));
    if (args->timezone != NULL)
        json_put_str(&w, "timezone", str_c(args->timezone));
    json_put_str(&w, "ical", file);
    json_close(&w);
    return arena_str(&cli->arena, buf_str(&out));
}

static int64_t number_of(const struct json *object, struct str key)
{
    const struct json *value = json_get(object, key);
    return value != NULL && value->kind == JSON_INT ? value->integer : 0;
}

/* Events that were left out: on stderr, since the calendar is in place nevertheless. */
static void print_warnings(struct cli *cli, const struct json *answer)
{
    const struct json *warnings = json_get(answer, STR("warnings"));
    int64_t more = number_of(answer, STR("warning_count"));
    for (size_t i = 0; warnings != NULL && i < warnings->count; i++, more--) {
        const struct json *warning = &warnings->items[i];
        struct str name = api_text(warning, STR("summary"));
        if (name.len == 0)
            name = api_text(warning, STR("uid"));
        name = view_one_line(name, &cli->arena);
        struct str message = view_one_line(api_text(warning, STR("message")), &cli->arena);
        fprintf(stderr, "left out: event '%.*s' (line %" PRId64 "): %.*s\n", STR_ARG(name),
                number_of(warning, STR("line")), STR_ARG(message));
    }
    if (more > 0)
        fprintf(stderr, "left out: %" PRId64 " more events\n", more);
}

static enum rc put(struct cli *cli, const struct calendar_args *args, bool ical, struct err *err)
{
    struct str body;
    struct json answer;
    TRY(cli_read_file(cli, cli->words.items[2], FILE_BYTES_MAX, &body, err));
    if (ical)
        body = ical_document(cli, args, body);
    else if (args->policy != NULL || args->timezone != NULL)
        return err_set(err, RC_INVALID, "--policy and --tz are for import: a document says both");
    TRY(api_call(cli, "PUT", path_of(cli->words.items[1], &cli->arena), body, &answer, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    print_warnings(cli, &answer);
    cli_print_line(arena_printf(&cli->arena, "%.*s: %" PRId64 " entries, version %" PRId64,
                                STR_ARG(api_text(&answer, STR("name"))),
                                number_of(&answer, STR("entry_count")),
                                number_of(&answer, STR("version"))));
    return RC_OK;
}

static enum rc show(struct cli *cli, struct err *err)
{
    struct json answer;
    TRY(api_get(cli, path_of(cli->words.items[1], &cli->arena), &answer, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    const struct json *document = json_get(&answer, STR("document"));
    cli_print_line(document == NULL ? answer.raw : document->raw);
    return RC_OK;
}

static enum rc delete (struct cli *cli, struct err *err) {
    struct json answer;
    TRY(api_call(cli, "DELETE", path_of(cli->words.items[1], &cli->arena), STR(""), &answer, err));
    if (cli->format == CLI_JSON) cli_print_line(answer.raw);
    else cli_print_line(arena_printf(&cli->arena, "%s deleted", cli->words.items[1]));
    return RC_OK;
}

static enum rc act(struct cli *cli, const struct calendar_args *args, struct err *err)
{
    enum { IMPORT, PUT, SHOW, DELETE };
    const char **words = cli->words.items;
    int action = opts_choice("import|put|show|delete", str_c(words[0]));
    bool from_file = action == IMPORT || action == PUT;
    if (action < 0)
        return err_set(err, RC_INVALID,
                       "unknown action '%s': import, put, show and delete are known", words[0]);
    if (cli->words.count != (from_file ? 3 : 2) || words[1][0] == '\0')
        return err_set(err, RC_INVALID, "%s takes the name of a calendar%s", words[0],
                       from_file ? " and a file, or - for stdin" : "");
    if (from_file)
        return put(cli, args, action == IMPORT, err);
    return action == SHOW ? show(cli, err) : delete (cli, err);
}

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    const struct calendar_args *given = args;
    return cli->words.count > 0 ? act(cli, given, err)
                                : list_print(cli, &listing, &given->list, err);
}

int calendars_command(int argc, char **argv)
{
    struct calendar_args args = {.list = {.limit = LIST_LIMIT_DEFAULT, .all = true}};
    return cli_main(&listing.opts, argc, argv, &args.list.common, run);
}

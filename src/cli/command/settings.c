#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

enum { QUERY_BYTES_MAX = 1 << 10, JSON_BYTES_MAX = 4 << 20 };

struct settings_args {
    struct cli_common common;
    const char *server;
    bool changed;
    bool different;
};

#define AT(member) offsetof(struct settings_args, member)
static const struct opt table[] = {
    {"server", 0, OPT_TEXT, "NAME", AT(server),
     "of this server of the cluster (the one that answers)"},
    {"changed", 0, OPT_FLAG, NULL, AT(changed), "only those that are not the default's"},
    {"different", 0, OPT_FLAG, NULL, AT(different), "only those that servers disagree about"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "settings", "[NAME] [options]",
    "Lists the settings in force, or one of them, and where each value comes from. A line that\n"
    "names a server tells that it has another value. Of secrets it says only that they are set.",
    table, COUNT_OF(table)};

static const struct view_field columns[] = {
    {{.title = "SETTING"}, VIEW_TEXT, "name"},
    {{.title = "SERVER"}, VIEW_TEXT, "server"},
    {{.title = "VALUE", .flexible = true}, VIEW_TEXT, "value"},
    {{.title = "SOURCE"}, VIEW_TEXT, "source"},
    {{.title = "FROM", .flexible = true, .optional = true}, VIEW_TEXT, "from"},
    {{.title = "DEFAULT", .flexible = true, .optional = true}, VIEW_TEXT, "default"},
};

static bool is_true(const struct json *object, struct str key)
{
    const struct json *value = json_get(object, key);
    return value != NULL && value->kind == JSON_BOOL && value->boolean;
}

/* What the command line asks for. */
static bool is_wanted(const struct cli *cli, const struct settings_args *args,
                      const struct json *setting)
{
    bool is_default = str_eq(api_text(setting, STR("source")), STR("default"));
    if (cli->words.count > 0 && !str_eq(api_text(setting, STR("name")), str_c(cli->words.items[0])))
        return false;
    if (args->changed && is_default && !is_true(setting, STR("adjusted")))
        return false;
    return !args->different || is_true(setting, STR("differs"));
}

static void print_table(struct cli *cli, const struct json *const *settings, size_t count)
{
    CLEANUP(view_free) struct view view = {0};
    view_start(&view, columns, COUNT_OF(columns), &cli->arena);
    for (size_t i = 0; i < count; i++) {
        const struct json *elsewhere = json_get(settings[i], STR("elsewhere"));
        view_add_row(&view, settings[i]);
        for (size_t k = 0;
             elsewhere != NULL && elsewhere->kind == JSON_ARRAY && k < elsewhere->count; k++)
            view_add_row(&view, &elsewhere->items[k]);
    }
    view_print(&view, "no such settings");
}

static void print_json(const struct json *answer, const struct json *const *settings, size_t count)
{
    CLEANUP(buf_free) struct buf out = BUF(JSON_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    for (size_t i = 0; i < answer->count; i++) {
        const struct json_member *m = &answer->members[i];
        json_key_str(&w, m->key);
        if (!str_eq(m->key, STR("settings"))) {
            json_raw(&w, m->value.raw);
            continue;
        }
        json_open_array(&w);
        for (size_t k = 0; k < count; k++)
            json_raw(&w, settings[k]->raw);
        json_close_array(&w);
    }
    json_close(&w);
    cli_print_line(buf_str(&out));
}

static enum rc get(struct cli *cli, const struct settings_args *args, struct json *ret_answer,
                   struct err *err)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    api_add_param(&query, "server", args->server);
    return api_get(cli,
                   arena_printf(&cli->arena, "/settings%s%.*s", query.len > 0 ? "?" : "",
                                STR_ARG(buf_str(&query))),
                   ret_answer, err);
}

static enum rc settings(struct cli *cli, const void *arg, struct err *err)
{
    const struct settings_args *args = arg;
    struct json answer;
    size_t count = 0;
    if (cli->words.count > 1)
        return err_set(err, RC_INVALID, "settings takes at most one name");
    TRY(get(cli, args, &answer, err));
    const struct json *all = json_get(&answer, STR("settings"));
    size_t most = all != NULL && all->kind == JSON_ARRAY ? all->count : 0;
    const struct json **wanted = ARENA_ARRAY(&cli->arena, const struct json *, most + 1);
    for (size_t i = 0; i < most; i++) {
        if (is_wanted(cli, args, &all->items[i]))
            wanted[count++] = &all->items[i];
    }
    if (cli->words.count > 0 && count == 0 && !args->changed && !args->different)
        return err_set(err, RC_NOT_FOUND, "there is no setting called '%s'", cli->words.items[0]);
    if (cli->format == CLI_JSON)
        print_json(&answer, wanted, count);
    else
        print_table(cli, wanted, count);
    return RC_OK;
}

int settings_command(int argc, char **argv)
{
    struct settings_args args = {.server = NULL};
    return cli_main(&opts, argc, argv, &args.common, settings);
}

#include "cli/api.h"
#include "cli/commands.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct dashboard_args {
    struct cli_common common;
    bool no_open;
};

#define AT(member) offsetof(struct dashboard_args, member)
static const struct opt table[] = {
    {"no-open", 0, OPT_FLAG, NULL, AT(no_open), "only print the link"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "dashboard", "[options]",
    "Prints a link that signs a browser in to the pages of the server, and opens it where there\n"
    "is a browser. It is good once, for two minutes.",
    table, COUNT_OF(table)};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

/* Somebody sits in front of it: output that goes elsewhere opens nothing. */
static bool has_browser(void)
{
    return isatty(STDOUT_FILENO) && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"));
}

/* In a child that outlives us; whether it works is for the eye to see. */
static void open_browser(const char *url)
{
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0)
        (void)waitpid(child, NULL, 0);
}

static enum rc dashboard(struct cli *cli, const void *arg, struct err *err)
{
    const struct dashboard_args *args = arg;
    struct json answer;
    TRY(cli_no_words(cli, err));
    TRY(api_call(cli, "POST", STR("/sessions/codes"), STR(""), &answer, err));
    struct str url = api_text(&answer, STR("url"));
    cli_print_line(cli->format == CLI_JSON ? answer.raw : url);
    cli_flush();
    if (cli->format == CLI_TABLE && !args->no_open && has_browser())
        open_browser(arena_zstr(&cli->arena, url));
    return RC_OK;
}

int dashboard_command(int argc, char **argv)
{
    struct dashboard_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, dashboard);
}

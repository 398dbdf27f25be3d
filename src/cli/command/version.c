#include "cli/cli.h"
#include "cli/commands.h"

static const struct opt table[] = {CLI_PRINT_OPTS};

static const struct opts opts = {"version", "[-o json]", "Prints the version of this program.",
                                 table, COUNT_OF(table)};

static enum rc version(struct cli *cli, const void *args, struct err *err)
{
    (void)args;
    TRY(cli_no_words(cli, err));
    cli_print_line(cli->format == CLI_JSON ? STR("{\"version\":\"" BELFRY_VERSION "\"}")
                                           : STR("belfry " BELFRY_VERSION));
    return RC_OK;
}

int version_command(int argc, char **argv)
{
    struct cli_common args = {0};
    return cli_main(&opts, argc, argv, &args, version);
}

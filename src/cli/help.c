#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "job/later.h"

#include <stdio.h>
#include <string.h>

static const char intro[] =
    "usage: belfry COMMAND [options]\n"
    "\n"
    "Belfry runs commands at the right time and tells you what became of them.\n"
    "\n"
    "commands:\n";

static const char outro[] =
    "\n"
    "`belfry help COMMAND` tells more. The server is found by --url or BELFRY_URL\n"
    "(http://127.0.0.1:7420), the key by --token-file, BELFRY_TOKEN, or admin.key in the data\n"
    "directory (BELFRY_DATA, ./belfry-data). A stream that is silent for BELFRY_STREAM_IDLE (60s)\n"
    "is taken for lost and begun anew.\n"
    "\n"
    "Exit codes:"
#define EXIT_WORDS(name, number, brief, words) " " #number " " brief ","
    CLI_EXITS(EXIT_WORDS) "\nand with --wait that of the command.\n";
#undef EXIT_WORDS

void cli_exits_print(struct buf *out)
{
#define EXIT_ROW(name, number, brief, words) "| " #number " | " words " |\n"
    buf_add(out, STR("| code | |\n|---|---|\n" CLI_EXITS(EXIT_ROW)));
#undef EXIT_ROW
}

const struct command *command_find(const struct command *commands, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

int help_unknown(const char *name)
{
    if (opts_choice(LATER_COMMANDS, str_c(name)) >= 0)
        fprintf(stderr, "belfry: %s " LATER_WORDS "\n", name);
    else
        fprintf(stderr, "belfry: unknown command '%s'\ntry 'belfry help'\n", name);
    return CLI_USAGE;
}

/* A command knows its own help page best. */
static int help_about(const struct command *command)
{
    char name[32];
    char flag[] = "--help";
    snprintf(name, sizeof name, "%s", command->name);
    return command->run(2, (char *[]){name, flag, NULL});
}

int help_command(const struct command *commands, size_t count, int argc, char **argv)
{
    if (argc > 1 && argv[1][0] != '-') {
        const struct command *command = command_find(commands, count, argv[1]);
        return command == NULL ? help_unknown(argv[1]) : help_about(command);
    }
    fputs(intro, stdout);
    for (size_t i = 0; i < count; i++) {
        if (commands[i].summary != NULL)
            printf("  %-12s %s\n", commands[i].name, commands[i].summary);
    }
    fputs(outro, stdout);
    return CLI_OK;
}

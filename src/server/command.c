#include "server/command.h"
#include "base/log.h"
#include "server/options.h"
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    EXIT_USAGE = 2,
    HELP_BYTES_MAX = 1 << 16,
};

static int print_help(void)
{
    CLEANUP(buf_free) struct buf page = BUF(HELP_BYTES_MAX);
    server_options_help(&page);
    fwrite(page.ptr, 1, page.len, stdout);
    return EXIT_SUCCESS;
}

/* getenv's own type lacks the const. */
static const char *variable(const char *name)
{
    return getenv(name);
}

int server_command(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct server_options options;
    struct err err;
    bool help = false;
    if (server_options_parse(argc, argv, variable, &arena, &options, &help, &err)) {
        fprintf(stderr, "belfry server: %s\ntry 'belfry help server'\n", err.text);
        return EXIT_USAGE;
    }
    if (help)
        return print_help();
    log_set_who("server");
    log_set_level((enum log_level)options.log_level);
    return server_main(&options);
}

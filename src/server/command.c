#include "server/command.h"
#include "base/log.h"
#include "loop/guard.h"
#include "loop/usage.h"
#include "server/config/settings.h"
#include "server/server.h"

#include <stdlib.h>

/* getenv's own type lacks the const. */
static const char *variable(const char *name)
{
    return getenv(name);
}

int server_command(int argc, char **argv, server_pages *pages)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct server_options options;
    struct err err;
    bool help = false;
    guard_process();
    argv = usage_take_args(argc, argv, &arena);
    if (server_options_parse(argc, argv, variable, &arena, &options, &help, &err))
        return usage_refuse(&server_opts, &err);
    if (help)
        return usage_help(&server_opts, settings_help);
    options.pages = pages;
    log_set_who("server");
    log_set_level((enum log_level)options.log_level);
    log_set_format((enum log_format)options.log_format);
    guard_warn_of_root();
    return server_main(&options);
}

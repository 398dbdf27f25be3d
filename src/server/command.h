/* command.h - `belfry server`: arguments in, a running server until it ends. */
#pragma once

#include "server/config/pages.h"

/* Returns the exit code: what server_main says, or 2 when the arguments make no sense. `pages`
 * answers browsers; NULL: nobody does. */
int server_command(int argc, char **argv, server_pages *pages);

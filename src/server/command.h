/* command.h - `belfry server`: arguments in, a running server until it ends. */
#pragma once

/* Returns the exit code: what server_main says, or 2 when the arguments make no sense. */
int server_command(int argc, char **argv);

/* command.h - `belfry worker`: arguments in, a working worker until it ends. */
#pragma once

/* Returns the exit code: what worker_main says, or 2 when the arguments make no sense. */
int worker_command(int argc, char **argv);
